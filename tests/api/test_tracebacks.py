"""The traceback of an error is the user's own frames; on demand it is whole."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.errors import CompilerError, PullbackError

PACKAGE = str(Path(pb.__file__).parent)
X = np.array([1.0, 2.0])


def refused(x):
    try:
        return np.sum(x * x)
    except ValueError:
        return 0.0


def deep(x):
    return refused(x) * 2.0


def keywords(x, *, k=2.0):
    return np.sum(x) * k


class Model:
    def loss(self, x):
        return refused(x)

    @pb.differentiable
    def decorated(self, x):
        return refused(x)


def recompiled() -> Any:
    """An entry is there, for a float; then comes an integer."""
    gradient = pb.grad(lambda x: x * x)
    gradient(2.0)
    return gradient(3)


CALLS: dict[str, Callable[[], Any]] = {
    "grad": lambda: pb.grad(refused)(X),
    "grad by keyword": lambda: pb.grad(refused)(x=X),
    "value_and_grad": lambda: pb.value_and_grad(refused)(X),
    "has_aux": lambda: pb.grad(lambda x: x, has_aux=True)(X),
    "a helper": lambda: pb.grad(deep)(X),
    "vjp": lambda: pb.vjp(refused, X),
    "argnums": lambda: pb.grad(keywords, argnums="missing"),
    "an integer": lambda: pb.grad(keywords)(3),
    "no source": lambda: pb.grad(len),
    "method grad": lambda: pb.differentiable(refused).grad(X),
    "method vjp": lambda: pb.differentiable(refused).vjp(X),
    "primal": lambda: pb.differentiable(refused).primal(X),
    "source": lambda: pb.differentiable(refused).source(X),
    "explain": lambda: pb.grad(refused).explain(X),
    "a bound method": lambda: pb.grad(Model().loss)(X),
    "a decorated method": lambda: Model().decorated.grad(X),
    "another signature": recompiled,
    "compile": lambda: pb.compile(refused, "x: f8[n]"),
    "compile, a wrong signature": lambda: pb.compile(keywords, "x: f8[n"),
    "a wrong seed": lambda: pb.vjp(lambda x: x * 2.0, X)[1](np.ones(3)),
    "check_gradients": lambda: pb.check_gradients(lambda x: np.sum(x * pb.stop_gradient(x)), X),
    "debug": lambda: pb.differentiable(debug=True)(lambda x: np.sum(np.log(x) * 0.0)).grad(X * 0.0),
}


def frames(call: Callable[[], Any]) -> tuple[PullbackError, list[str]]:
    """The error of a call and the files of its traceback below this function."""
    try:
        with np.errstate(all="ignore"):
            call()
    except PullbackError as error:
        return error, [f.filename for f in traceback.extract_tb(error.__traceback__)][1:]
    raise AssertionError("no error")


@pytest.mark.parametrize("name", CALLS)
def test_one_frame_of_the_package_at_most(name: str) -> None:
    error, files = frames(CALLS[name])
    ours = [file for file in files if file.startswith((PACKAGE, "<pullback"))]
    assert len(ours) <= 1
    assert set(files) - set(ours) == {__file__}
    assert files[-1] in (*ours, __file__)
    shown = "".join(traceback.format_exception(error))
    assert "During handling of the above" not in shown
    assert len(shown.splitlines()) < 25


@pytest.mark.parametrize("name", ["grad", "vjp", "argnums", "another signature"])
def test_the_whole_traceback_on_demand(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULLBACK_TRACEBACK", "full")
    _, files = frames(CALLS[name])
    assert len([file for file in files if file.startswith(PACKAGE)]) > 3


def test_a_defect_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise KeyError("inside")

    monkeypatch.setattr("pullback.pipeline.joint", broken)
    error, files = frames(lambda: pb.grad(lambda x: x * x)(2.0))
    assert isinstance(error, CompilerError)
    assert len([file for file in files if file.startswith(PACKAGE)]) > 3
    assert "KeyError: 'inside'" in "".join(traceback.format_exception(error))


def test_the_users_frames_in_between_stay() -> None:
    def inner(x):
        return pb.grad(refused)(x)

    @pb.opaque(inner)
    def _(x):
        return inner(x), lambda bar: (bar,)

    _, files = frames(lambda: pb.grad(lambda x: np.sum(inner(x)))(X))
    assert files.count(__file__) >= 3


def test_the_errors_of_the_users_code_are_not_touched() -> None:
    with pytest.raises(ZeroDivisionError) as info:
        pb.grad(lambda x: x / 0.0 * 1.0)(2.0)
    assert any("<pullback" in str(entry.path) for entry in info.traceback)
