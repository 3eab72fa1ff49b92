"""Arguments of every kind through the public interface: the right answer by one of the targets, or NumPy's error."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.native.against import agree, backwards, frozen, strided, turned
from tests.native.subjects import need_compiler

import pullback as pb
from pullback.dispatch import background, promotion

need_compiler()
X = np.linspace(0.2, 1.4, 6)
A = np.outer(X, X[::-1]) + 0.1


class Own(np.ndarray):
    """An array of a class of one's own."""


def misaligned(array: Any) -> Any:
    raw = np.zeros(array.nbytes + 1, np.uint8)
    made = raw[1:].view(array.dtype).reshape(array.shape)
    made[...] = array
    return made


def repeated(array: Any) -> Any:
    """All elements are one: strides of zero."""
    return np.broadcast_to(array.dtype.type(0.7), array.shape)


def overlapping(array: Any) -> Any:
    """Windows of one vector."""
    if array.ndim < 2:
        return array
    return np.lib.stride_tricks.sliding_window_view(np.linspace(0.2, 1.4, 11), 6)


def with_last(value: float) -> Callable[[Any], Any]:
    def made(array: Any) -> Any:
        out = array.copy()
        out[..., -1] = value
        return out

    return made


KINDS: dict[str, Callable[[Any], Any]] = {
    "as it is": np.copy,
    "strided": strided,
    "backwards": backwards,
    "fortran": turned,
    "frozen": frozen,
    "misaligned": misaligned,
    "zero strides": repeated,
    "overlapping": overlapping,
    "swapped": lambda a: a.astype(a.dtype.newbyteorder()),
    "single": lambda a: a.astype(np.float32),
    "half": lambda a: a.astype(np.float16),
    "long double": lambda a: a.astype(np.longdouble),
    "complex": lambda a: a.astype(complex),
    "integers": lambda a: np.arange(a.size).reshape(a.shape) + 1,
    "truth": lambda a: a > 0.5,
    "objects": lambda a: a.astype(object),
    "text": lambda a: a.astype(str),
    "empty": lambda a: np.zeros((0,) * a.ndim),
    "one": lambda a: a[(slice(1),) * a.ndim],
    "no axes": lambda a: np.array(0.7),
    "a NumPy number": lambda a: np.float64(0.7),
    "a number": lambda a: 0.7,
    "an int": lambda a: 3,
    "a huge int": lambda a: 10**40,
    "more axes": lambda a: a[None],
    "own class": lambda a: a.view(Own),
    "masked": lambda a: np.ma.masked_array(a, a > 1),
    "list": lambda a: a.tolist(),
    "None": lambda a: None,
    "nan": with_last(np.nan),
    "inf": with_last(np.inf),
    "denormal": with_last(5e-324),
    "shorter": lambda a: a[:-1],
}


def wave(x: Any, a: Any, k: Any) -> Any:
    return np.sum(np.tanh(x * 0.5) * x) + np.sum(a @ x) * k


def carried(x: Any, a: Any, k: Any) -> Any:
    h = x
    for i in range(3):
        h = np.sin(h * x[i]) + a[i]
    return np.sum(h) + x[k]


def outcome(fn: Any, args: tuple[Any, ...]) -> tuple[Any, Any]:
    """The result of a call, or the class of its error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return fn(*args), None
        except Exception as error:
            return None, error


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PULLBACK_TARGET", raising=False)
    monkeypatch.setenv("PULLBACK_CFLAGS", "-O0")
    monkeypatch.setattr(promotion, "ENOUGH", 0.0)


def check(fn: Callable[..., Any], numpy: Any, auto: Any, args: tuple[Any, ...]) -> None:
    """NumPy's outcome, by both of the other targets, at each of three calls."""
    wanted, error = outcome(numpy, copy.copy(args))
    single = any(getattr(x, "dtype", None) == np.float32 for x in args)  # a part of it at least is rounded so
    for _ in range(3):
        got, other = outcome(auto, args)
        assert type(other) is type(error), (other, error)
        if error is None:
            agree(got, wanted, lambda: 1e-6 if single else 0.0)
        background.wait()


@pytest.mark.parametrize("fn", [wave, carried])
@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_arguments(fn: Callable[..., Any], kind: str) -> None:
    numpy = pb.value_and_grad(fn, (0, 1), target="numpy")
    auto = pb.value_and_grad(fn, (0, 1), target="auto")
    change = KINDS[kind]
    good = (X, A, 2)
    for args in (good, (change(X), A, 2), (X, change(A), 2), (change(X), change(A), 2), good):
        check(fn, numpy, auto, args)


@pytest.mark.parametrize(
    "k",
    [-1, -6, -7, 6, 2**62, 2**63, -(2**63) - 1, 10**30, True, 2.5, np.int8(3), np.uint64(2**63), None, "2"],
)
@pytest.mark.parametrize("fn", [wave, carried])
def test_numbers(fn: Callable[..., Any], k: Any) -> None:
    numpy = pb.value_and_grad(fn, (0, 1), target="numpy")
    auto = pb.value_and_grad(fn, (0, 1), target="auto")
    for args in ((X, A, 2), (X, A, k), (X, A, 2)):
        check(fn, numpy, auto, args)


def test_arguments_that_share_memory_and_change_between_calls() -> None:
    numpy = pb.value_and_grad(wave, (0, 1), target="numpy")
    native = pb.value_and_grad(wave, (0, 1), target="native")
    a = A.copy()
    kept = []
    for step in range(4):
        args = (a[step % 3], a.T if step % 2 else a, 2)
        found = native(*args)
        agree(found, numpy(*args))
        kept.append((found, copy.deepcopy(found)))
        a *= 1.1
    for found, held in kept:
        agree(found, held)
