"""The choice of the target: compiled code from the first call on, or once it repays compiling, or never."""

from __future__ import annotations

import copy
import os
import pickle
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.native.subjects import need_compiler

import pullback as pb
from pullback import pipeline
from pullback.backend.native import bridge, toolchain
from pullback.dispatch import background, promotion
from pullback.dispatch.promotion import Promotion
from pullback.errors import ArgumentError, NativeError, NoCompiler

need_compiler()
X = np.linspace(-1.0, 1.2, 7)
SCALE = 0.7


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PULLBACK_TARGET", raising=False)


def promotion_of(function: Any, *args: Any) -> Promotion:
    """The promotion of the signature that serves a call of a gradient function."""
    gradient = function.of._gradient(function.argnums, function.has_aux)
    variant, _ = gradient.find(gradient.bind(args, {}))
    return variant.promotion


def same(got: Any, wanted: Any) -> None:
    """Equal in structure and types, and to rounding in numbers."""
    assert type(got) is type(wanted) or (isinstance(got, float) and isinstance(wanted, float))
    if isinstance(wanted, dict):
        assert list(got) == list(wanted)
        for key in wanted:
            same(got[key], wanted[key])
    elif isinstance(wanted, tuple | list):
        assert len(got) == len(wanted)
        for a, b in zip(got, wanted, strict=True):
            same(a, b)
    elif isinstance(wanted, Model):
        same((got.w, got.b, got.name), (wanted.w, wanted.b, wanted.name))
    elif isinstance(wanted, float | np.floating | np.ndarray):
        single = np.asarray(wanted).dtype == np.float32
        np.testing.assert_allclose(got, wanted, rtol=1e-5 if single else 1e-12, atol=1e-14, strict=True)
    else:
        assert got == wanted


def wave(x: Any, b: Any) -> Any:
    return np.sum(np.tanh(x * b) * np.exp(-x * x))


def with_aux(x: Any, b: Any) -> Any:
    return np.sum(x * x * b), {"size": len(x), "given": x, "twice": 2.0 * x}


def of_dict(params: Any, x: Any) -> Any:
    return np.sum(np.tanh(params["w"] * x + params["b"]))


class Line(NamedTuple):
    slope: Any
    offset: Any


@dataclass
class Model:
    w: Any
    b: Any
    name: str


def of_objects(line: Any, model: Any) -> Any:
    return np.sum(np.exp(line.slope * model.w) + line.offset) * model.b


def with_option(x: Any, axis: Any = 0, keep: Any = False) -> Any:
    return np.sum(np.sum(x * x, axis=axis, keepdims=keep) ** 2)


def loop(x: Any, n: Any) -> Any:
    h = x
    for _ in range(n):
        h = np.tanh(h * 1.1 + x)
    return np.sum(h)


CASES: list[tuple[Callable[..., Any], tuple[Any, ...], Any, bool]] = [
    (wave, (X, SCALE), 0, False),
    (wave, (X, SCALE), (0, 1), False),
    (wave, (X, np.float64(SCALE)), ("b",), False),
    (wave, (X.astype(np.float32), np.float32(SCALE)), (0, 1), False),
    (with_aux, (X, SCALE), "x", True),
    (of_dict, ({"w": X, "n": 3, "b": 0.2}, X + 1), 0, False),
    (of_dict, ({"w": X, "n": 3, "b": 0.2}, X + 1), (0, 1), False),
    (of_objects, (Line(0.3, 1.0), Model(X, 2.0, "m")), (0, 1), False),
    (with_option, (np.outer(X, X), 1), 0, False),
    (loop, (X, 4), 0, False),
]


@pytest.mark.parametrize(("fn", "args", "argnums", "aux"), CASES)
def test_native_gives_what_numpy_gives(
    fn: Callable[..., Any], args: tuple[Any, ...], argnums: Any, aux: bool
) -> None:
    native = pb.value_and_grad(fn, argnums, aux, target="native")
    numpy = pb.value_and_grad(fn, argnums, aux, target="numpy")
    for _ in range(2):  # the second call is served by the entry
        same(native(*args), numpy(*args))
    assert promotion_of(native, *args).status == "native"
    assert promotion_of(numpy, *args).status == "numpy"


def test_the_forms_of_the_joint_function() -> None:
    made = pb.differentiable(target="native")(wave)
    value, bar = made.value_and_grad(X, SCALE)
    same(made.grad(X, SCALE), bar)
    same(pb.grad(made)(X, SCALE), bar)
    same(pb.value_and_grad(wave, target="native")(X, SCALE), (value, bar))
    same(pb.vjp(made, X, SCALE)[1](1.0)[0], bar)
    assert pb.grad(made).of is made is pb.grad(made, target="native").of


def test_a_method() -> None:
    class Holder:
        scale = 2.0

        @pb.differentiable
        def loss(self, x: Any) -> Any:
            return np.sum(np.sin(x)) * self.scale

    held = Holder()
    same(pb.grad(held.loss, target="native")(X), 2.0 * np.cos(X))
    held.scale = 3.0
    same(pb.grad(held.loss, target="native")(X), 3.0 * np.cos(X))


def test_arguments_of_other_kinds_are_served() -> None:
    grad = pb.grad(lambda x: np.sum(x * x), target="native")
    strided = np.arange(20.0)[::3]
    raw = np.zeros(8 * 5 + 1, np.uint8)
    misaligned = raw[1:].view(np.float64)
    frozen = X.copy()
    frozen.setflags(write=False)
    for x in (X, strided, strided[:1], misaligned, frozen, np.zeros(0), X.astype(np.float32)):
        same(grad(x), 2 * x)
    for x in (X, np.outer(X, X), np.outer(X, X).T):
        same(grad(x), 2 * x)
    swapped = X.astype(X.dtype.newbyteorder())
    same(np.asarray(pb.grad(wave)(swapped, SCALE), np.float64), pb.grad(wave)(X, SCALE))


# ----------------------------------------------------------------------------------------- what native leaves


def uneven(x: Any, y: Any) -> Any:
    return np.sum(x * y)


def test_a_failed_assumption_is_served_by_numpy() -> None:
    grad = pb.grad(uneven, (0, 1), target="native")
    same(grad(X, X + 1), (X + 1, X))
    with pytest.raises(ValueError, match="broadcast"):
        grad(X, X[:3])
    same(grad(X, X + 1), (X + 1, X))


def element(x: Any, i: Any) -> Any:
    return x[i] * x[i]


def test_an_error_is_that_of_numpy() -> None:
    native, numpy = (pb.grad(element, target=t) for t in ("native", "numpy"))
    same(native(X, 2), numpy(X, 2))
    said = []
    for grad in (native, numpy):
        with pytest.raises(IndexError) as caught:
            grad(X, 70)
        said.append((str(caught.value), getattr(caught.value, "__notes__", None)))
    assert said[0] == said[1]


def test_native_is_given_up_where_it_fails_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promotion, "ENOUGH", 0.0)
    grad = pb.grad(lambda x, i: x[i] * x[i])
    grad(X, 1)
    assert background.wait()
    found = promotion_of(grad, X, 1)
    for k in range(promotion.RECENT):
        grad(X, 1)
        if k % 4 == 0:
            with pytest.raises(IndexError):
                grad(X, 70)
    assert found.status == "native"
    for _ in range(promotion.TOO_MANY):
        with pytest.raises(IndexError):
            grad(X, 70)
    assert found.status == "numpy" and found.run is None
    assert "IndexError" in str(found.error) and "x[i]" in str(found.error)
    same(grad(X, 1)[1], 2 * X[1])


def test_a_caller_who_insists_keeps_native() -> None:
    grad = pb.grad(element, target="native")
    for _ in range(2 * promotion.TOO_MANY):
        with pytest.raises(IndexError):
            grad(X, 70)
    assert promotion_of(grad, X, 1).status == "native"


def quotient(x: Any) -> Any:
    return np.sum(1.0 / x)


@pytest.mark.parametrize("how", ["raise", "call"])
def test_settings_for_floating_point_errors_hold(how: Any) -> None:
    grad = pb.grad(quotient, target="native")
    x = np.array([0.0, 1.0])
    called: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grad(x)  # native never warns
    with np.errstate(divide=how, call=lambda *what: called.append(what)):
        if how == "raise":
            with pytest.raises(FloatingPointError):
                grad(x)
        else:
            grad(x)
            assert called
    with np.errstate(all="ignore"):
        grad(x)
        grad(x)


def test_auto_stays_on_numpy_where_warnings_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promotion, "ENOUGH", 0.0)
    grad = pb.grad(lambda x: np.sum(1.0 / x))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grad(X)
        with pytest.raises(RuntimeWarning):
            grad(np.zeros(3))
    assert background.wait()
    found = promotion_of(grad, X)
    assert found.status == "numpy" and "warnings" in str(found.error)


# ------------------------------------------------------------------------------------------------ the choice


def test_auto_changes_to_native_once_it_has_run_long_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    grad = pb.grad(lambda x, b: wave(x, b) * 2.0)
    first = grad(X, SCALE)
    found = promotion_of(grad, X, SCALE)
    assert (found.status, found.run) == ("waiting", None) and found.spent > 0
    for _ in range(3):
        grad(X, SCALE)
    monkeypatch.setattr(promotion, "ENOUGH", found.spent)
    same(grad(X, SCALE), first)
    assert background.wait()
    assert found.status == "native" and not found.counting
    for k in range(promotion.RACES + 2):
        assert (found.run == found._race) == (k < promotion.RACES)
        same(grad(X, SCALE), first)
    assert found.bound.calls == promotion.RACES + 2


def test_native_is_given_up_where_it_is_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promotion, "ENOUGH", 0.0)
    grad = pb.grad(lambda x, b: wave(x, b) * 3.0)
    first = grad(X, SCALE)
    assert background.wait()
    found = promotion_of(grad, X, SCALE)
    monkeypatch.setattr(promotion, "SLOWER", 0.0)
    for _ in range(promotion.RACES + 1):
        assert found.status == "native"
        same(grad(X, SCALE), first)
        if found.run is None:
            break
    assert found.status == "numpy" and "NumPy" in str(found.error)
    assert "C took" in grad.explain(X, SCALE).target.reason


def test_auto_of_structures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promotion, "ENOUGH", 0.0)
    params = {"w": X, "b": 0.5}
    grad = pb.grad(lambda params, x: of_dict(params, x))
    first = grad(params, X)
    assert background.wait() and promotion_of(grad, params, X).status == "native"
    same(grad(params, X), first)


def test_what_c_does_not_take_stays_on_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promotion, "ENOUGH", 0.0)

    def told(x: Any) -> Any:
        print("called")
        return np.sum(x * x)

    grad = pb.grad(told)
    same(grad(X), 2 * X)
    same(grad(X), 2 * X)
    with pytest.raises(NativeError, match=r"way out: .*auto"):
        pb.grad(told, target="native")(X)


def test_one_compilation_for_all_that_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that call while the function is compiled and swapped in get their results, all of them right."""
    monkeypatch.setattr(promotion, "ENOUGH", 0.0)
    grad = pb.grad(lambda x, n: loop(x, n))
    wanted = pb.grad(loop, target="numpy")(X, 5)
    wrong: list[Any] = []

    def call() -> None:
        for _ in range(300):
            found = grad(X, 5)
            if not np.allclose(found, wanted, rtol=1e-12, atol=1e-14):
                wrong.append(found)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert background.wait() and not wrong
    assert promotion_of(grad, X, 5).status == "native"
    call()
    assert not wrong


def test_the_environment_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULLBACK_TARGET", "numpy")
    grad = pb.grad(lambda x: np.sum(x * x * x), target="native")
    same(grad(X), 3 * X * X)
    assert promotion_of(grad, X).status == "numpy"
    monkeypatch.setenv("PULLBACK_TARGET", "native")
    grad = pb.grad(lambda x: np.sum(x * x * x * x), target="numpy")
    same(grad(X), 4 * X**3)
    assert promotion_of(grad, X).status == "native"
    monkeypatch.setenv("PULLBACK_TARGET", "fast")
    with pytest.raises(ArgumentError, match="PULLBACK_TARGET=fast"):
        pb.grad(lambda x: np.sum(x))(X)


def test_options_that_make_no_sense() -> None:
    with pytest.raises(ArgumentError, match="no target"):
        pb.grad(wave, target="c")
    with pytest.raises(ArgumentError, match="no target"):
        pb.differentiable(target="fast")(wave)
    for threads in (0, -1, True, 1.5):
        with pytest.raises(ArgumentError, match="threads"):
            pb.value_and_grad(wave, threads=threads)  # type: ignore[arg-type]


def test_debug_stays_on_numpy() -> None:
    made = pb.differentiable(debug=True, target="native")(wave)
    with pytest.raises(NativeError, match="debug"):
        made.grad(X, SCALE)
    auto = pb.differentiable(debug=True)(wave)
    same(auto.grad(X, SCALE), pb.grad(wave, target="numpy")(X, SCALE))
    assert promotion_of(pb.grad(auto), X, SCALE).status == "numpy"


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("CC", "/nowhere/cc")
    yield
    toolchain.find.__globals__["_found"].clear()


@pytest.mark.usefixtures("no_compiler")
def test_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promotion, "ENOUGH", 0.0)
    grad = pb.grad(lambda x: np.sum(np.cos(x)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for _ in range(3):
            same(grad(X), -np.sin(X))
            assert background.wait()
    found = promotion_of(grad, X)
    assert found.status == "numpy" and isinstance(found.error, NoCompiler)
    insisting = pb.grad(lambda x: np.sum(np.cos(x)), target="native")
    for _ in range(2):
        with pytest.raises(NoCompiler, match="CC"):
            insisting(X)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_compiles_nothing_and_waits_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promotion, "ENOUGH", 0.0)
    served, other = pb.grad(wave, target="native"), pb.grad(lambda x, n: np.sum(x**n))
    wanted = served(X, SCALE)
    child = os.fork()
    if child == 0:
        try:
            same(served(X, SCALE), wanted)
            other(X, 3)
            other(X, 3)
            os._exit(0 if promotion_of(other, X, 3).status == "numpy" else 2)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# ------------------------------------------------------------------------------------------ copies and pickles

wave_grad = pb.value_and_grad(wave, target="native", threads=1)
differentiable_loop = pb.differentiable(target="native")(loop)


def test_copies_and_pickles_keep_the_target() -> None:
    wanted = wave_grad(X, SCALE)
    for other in (pickle.loads(pickle.dumps(wave_grad)), copy.copy(wave_grad), copy.deepcopy(wave_grad)):
        assert other.of.options.target == "native" and other.of.options.threads == 1
        same(other(X, SCALE), wanted)
        assert promotion_of(other, X, SCALE).status == "native"
    again = pickle.loads(pickle.dumps(differentiable_loop))
    assert again.options.target == "native"
    same(again.grad(X, 2), differentiable_loop.grad(X, 2))


# ----------------------------------------------------------------------------------------------- what is told


def partly(x: Any) -> Any:
    y = np.tanh(x) * x
    print("told")
    return np.sum(y)


def told_alone(x: Any) -> Any:
    print("told")
    return np.sum(x)


def test_explain_tells_the_target_and_what_is_fused() -> None:
    native = pb.value_and_grad(wave, target="native")
    native(X, SCALE)
    told = native.explain(X, SCALE).target
    assert (told.asked, told.serves, told.reason, told.untaken) == ("native", "native", "", ())
    assert told.bridge == bridge.kind() and told.compiler == toolchain.find().version
    assert [k.space for k in told.fused] == [("n",)] and "np.tanh" in told.fused[0].operations
    assert str(told).startswith("target: native, called through ")
    auto = pb.value_and_grad(wave).explain(X, SCALE)
    assert auto.target.serves == "numpy" and "takes over" in auto.target.reason
    assert auto.target.fused == told.fused and auto.as_dict()["target"]["fused"]
    assert f"\n{auto.target}\n" in str(auto)
    assert str(pb.value_and_grad(wave, target="numpy").explain(X, SCALE).target) == "target: numpy"


def test_explain_names_the_line_that_c_does_not_take() -> None:
    (line,) = pb.value_and_grad(partly).explain(X).target.untaken
    assert line.file == __file__ and line.reason and line.line


def test_the_c_source() -> None:
    text = pb.value_and_grad(wave).source(X, SCALE, target="native")
    assert text == pb.differentiable(wave).source(X, SCALE, target="c")
    assert '#include "pullback.h"' in text and "wave_value_and_grad(pb_host" in text
    assert "print(" in pb.grad(partly).source(X, target="c")
    with pytest.raises(NativeError, match="more than compute"):
        pb.grad(told_alone).source(X, target="c")
    with pytest.raises(ArgumentError, match="neither"):
        pb.grad(wave).source(X, SCALE, target="rust")
    own = pb.grad(lambda x, target: np.sum(x * target))
    assert "def " in own.source(X, target=2.0)


def test_stages_are_told() -> None:
    seen = []
    with pipeline.observing(lambda stage, _: seen.append(stage)):
        pb.grad(lambda x: np.sum(x * 3.0), target="native")(X)
    wanted = [
        "native/lengths",
        "native/lengths-optimized",
        "native/joint",
        "native/joint-optimized",
        "fused",
        "c",
    ]
    assert [s for s in seen if s in wanted] == wanted


def test_explain_tells_what_numpy_does_inside() -> None:
    def f(x: Any) -> Any:
        s = np.linalg.svd(x)[1]
        return np.sum(s * s) / np.sum(x)

    told = pb.value_and_grad(f).explain(np.outer(X, X) + np.eye(7)).target
    assert any("svd" in h.operation and h.line for h in told.hosted)
    assert "called from C" in str(told)


def test_what_numpy_does_inside_does_not_warn() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.linalg.norm(x, "nuc") + np.linalg.svd(x)[1] / 0.0 * 0.0) + np.sum(np.cumprod(x))

    x = np.zeros((3, 3))
    grad = pb.grad(f, target="native")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grad(x)
