"""The primal and the pullback as compiled functions: what passes between them, and what is left to NumPy."""

from __future__ import annotations

import copy
import os
import pickle
import threading
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.native.against import agree, laid_out, same_bits, unchanged
from tests.native.subjects import need_compiler

import pullback as pb
from differences import numerical_gradients, seed_for
from programs import Program, all_programs, leaves
from pullback.api.argnums import Given
from pullback.api.seeds import shape_of
from pullback.backend.native.bridge import MISS
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.load import load
from pullback.dispatch import background, promotion
from pullback.dispatch.pairs import NativePullback, PairPromotion, Raced
from pullback.errors import NativeError

need_compiler()
PROGRAMS = [p for p in all_programs() if not p.refused]
CHUNKS = 4
TAKEN = 0.75  # at least this share of the corpus is compiled in this form
X = np.linspace(-1.0, 1.2, 7)
LEAVES = {"lists.items_of_different_lengths_meet", "lists.pieces_of_a_comprehension_meet"}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Native where it is asked for, compiled quickly."""
    monkeypatch.delenv("PULLBACK_TARGET", raising=False)
    monkeypatch.setenv("PULLBACK_CFLAGS", os.environ.get("PULLBACK_CFLAGS", "-O0"))


def pair_of(d: Any, *args: Any) -> PairPromotion:
    """The promotion of the signature that serves a call."""
    found = d._gradient(Given(len(args)))
    promotion: PairPromotion = found.find(found.bind(args, {}))[0].pair
    return promotion


def both(fn: Callable[..., Any], *args: Any, seed: Any = 1.0) -> None:
    """A value and its cotangents by both targets; native serves."""
    made, numpy = pb.differentiable(target="native")(fn), pb.differentiable(target="numpy")(fn)
    (value, residuals), (wanted, others) = made.primal(*args), numpy.primal(*args)
    assert isinstance(residuals.variant, NativePullback)
    agree(value, wanted)
    bars = others.pull(seed)
    for _ in range(2):
        agree(residuals.pull(seed), bars)
    assert residuals.variant._functions == {}, "NumPy has pulled back"
    again = pickle.loads(pickle.dumps(residuals))
    agree(again.pull(seed), bars)
    agree(copy.deepcopy(residuals).pull(seed), bars)


# ------------------------------------------------------------------------------------------------- the corpus


def run(program: Program, counts: Counter[str]) -> None:
    """Compare a program's primal and pullback, by C and by what C leaves them to."""
    found = pb.differentiable(target="numpy")(program.fn)._gradient(program.wrt)
    args, untouched = laid_out(program.args, np.copy), laid_out(program.args, np.copy)
    variant, values = found.find(found.bind(args, {}))
    left: list[Any] = []

    def failed(*what: Any) -> Any:
        left.append(what)
        return MISS

    try:
        made = variant.compiled.native_pair()
    except Untaken:
        counts["not taken"] += 1
        return
    counts["taken"] += 1
    primal, pull = load(made.primal, failed=failed)[0], load(made.pullback, failed=failed, any_float=True)[0]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        got = primal(*values)
        unchanged(args, untouched)
        value, residuals = variant.function("primal")(*values)
        if got is MISS:
            assert program.name in LEAVES, f"left to NumPy: {left}"
            return
        agree(got[0], value)
        printed = variant.compiled.printed((made.function,), True)
        pullback = NativePullback(variant.compiled, pull, made.restore, lambda _: printed, variant.pair)
        seed = shape_of(got[0]).check(seed_for(got[0]))
        kept = [np.copy(x) for x in leaves(got[1]) if isinstance(x, np.ndarray)]
        wanted = variant.function("pullback", True)(residuals, seed)
        agree(pullback.pull(got[1], seed), wanted)
        assert pullback._functions == {}, f"left to NumPy: {left}"
        agree(pullback.function("pullback", True)(pullback.restore(got[1]), seed), wanted)
    held = [x for x in leaves(got[1]) if isinstance(x, np.ndarray)]
    assert all(same_bits(a, b) for a, b in zip(held, kept, strict=True)), "what was saved was changed"


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_corpus(chunk: int, pytestconfig: pytest.Config) -> None:
    """Programs that are compiled to C give what NumPy gives, in this form too; a twelfth of them, or all (--long)."""
    counts: Counter[str] = Counter()
    faults = []
    for program in PROGRAMS[chunk :: CHUNKS if pytestconfig.getoption("long") else 12 * CHUNKS]:
        try:
            run(program, counts)
        except Exception as error:
            faults.append(f"{program.name}: {type(error).__name__}: {str(error)[:400]}")
    print(dict(counts))
    assert not faults, "\n".join(faults)
    assert counts["taken"] >= TAKEN * (counts["taken"] + counts["not taken"]) - 3, counts


# ------------------------------------------------------------------------------------------------ what is saved


def scan(x: Any, n: Any) -> Any:
    h = x
    for k in range(n):
        h = np.tanh(h * 1.1 + x)
        if k % 2:
            h = h * 1.5
    return np.sum(h)


def vector(x: Any, b: Any) -> Any:
    return np.exp(x * b) / (1.0 + x * x)


def structure(x: Any, b: Any) -> Any:
    y = x * b
    return {"y": y, "parts": (np.sum(y), [y * y, b * b])}


def numbers(x: Any) -> Any:
    total, count = 0.0, 0
    for k in range(len(x)):
        if x[k] > 0.0:
            total = total + x[k] ** 3
            count += 1
    return total / (count + 1)


def nested(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        h = x[i]
        for j in range(i):
            h = h * x[j] + np.sin(h)
        total = total + h
    return total


def rows(x: Any) -> Any:
    pieces = [x[: k + 1] * x[k] for k in range(len(x))]
    total = 0.0
    for piece in pieces:
        total = total + np.sum(np.exp(piece))
    return total


def test_arrays_numbers_and_lists_pass() -> None:
    both(scan, X, 5)
    both(scan, X, 0)
    both(numbers, X)
    both(nested, X)
    both(rows, X)
    both(vector, X, 0.4, seed=np.linspace(0.0, 1.0, 7))
    both(vector, X.astype(np.float32), np.float32(0.5), seed=np.ones(7, np.float32))
    seed = {"y": X, "parts": (2.0, [X + 1, 0.5])}
    both(structure, X, 0.3, seed=seed)
    both(lambda z: z * z * np.conj(z), np.exp(1j * X), seed=np.exp(2j * X))


def test_it_is_the_derivative() -> None:
    d = pb.differentiable(target="native")(nested)
    value, residuals = d.primal(X)
    assert isinstance(residuals.variant, NativePullback)
    ((wanted,),) = numerical_gradients(nested, (X,), (0,), 1.0)
    np.testing.assert_allclose(residuals.pull(1.0)[0], wanted, rtol=1e-6, atol=1e-8)
    assert np.isclose(value, nested(X))


def test_arguments_may_change_before_the_pullback() -> None:
    def product(x: Any, y: Any) -> Any:
        return np.sum(x * y) + x[0]

    d = pb.differentiable(target="native")(product)
    x, y = X.copy(), X + 2.0
    _, residuals = d.primal(x, y)
    wanted = [np.copy(b) for b in residuals.pull(1.0)]
    x[:], y[:] = 100.0, -100.0
    agree(list(residuals.pull(1.0)), wanted)
    _, trusting = d.primal(x, y, copy=False)
    assert any(v is x or v is y for v in trusting.values)


def test_a_value_may_change_before_the_pullback() -> None:
    d = pb.differentiable(target="native")(lambda x: np.exp(x))
    value, residuals = d.primal(X)
    assert isinstance(residuals.variant, NativePullback)
    value[:] = 0.0
    np.testing.assert_allclose(residuals.pull(np.ones(7))[0], np.exp(X), rtol=1e-14)


def test_strong_zeros_and_cotangents_that_are_not_finite() -> None:
    def root(x: Any) -> Any:
        return np.sum(np.where(x > 0.0, np.sqrt(np.abs(x)), 0.0))

    both(root, np.array([0.0, 1.0, 4.0]))
    both(root, np.array([0.0, 1.0, 4.0]), seed=np.inf)
    both(scan, X, 3, seed=np.nan)


def test_a_cotangent_of_another_kind() -> None:
    d, other = (pb.differentiable(target=t)(vector) for t in ("native", "numpy"))
    (_, mine), (_, theirs) = d.primal(X, 0.4), other.primal(X, 0.4)
    for seed in ([1] * 7, np.ones(7, np.int64), np.ones(14)[::2], np.ones(7, np.float32)):
        agree(mine.pull(seed), theirs.pull(seed))
    agree(d.primal(X, 0.4)[1].pull(X), theirs.pull(X))
    for seed in (1, 1.0, np.float64(1.0), np.float32(1.0), np.array(1.0)):
        agree(pb.vjp(pb.differentiable(target="native")(scan), X, 3)[1](seed), pb.vjp(scan, X, 3)[1](seed))


def test_what_was_saved_is_damaged() -> None:
    """Bytes that are not what was saved are seen before they are read."""
    _, residuals = pb.differentiable(target="native")(nested).primal(X)
    pull = residuals.variant
    assert isinstance(pull, NativePullback)
    values = list(residuals.values)
    for cut in (0, 8, 64, len(values[-1]) - 8):
        assert pull._run((*values[:-1], values[-1][:cut].copy()), np.float64(1.0)) is MISS
    assert pull._run((*values[:-1], np.full_like(values[-1], 255)), np.float64(1.0)) is MISS


# --------------------------------------------------------------------------------------------------- the choice


def told(x: Any) -> Any:
    print("told")
    return np.sum(x * x)


def test_what_c_does_not_take() -> None:
    d = pb.differentiable(target="native")(told)
    with pytest.raises(NativeError, match="more than compute"):
        d.primal(X)
    agree(pb.vjp(told, X)[1](1.0), (2 * X,))

    def factorial(x: Any, n: Any) -> Any:
        return x if n == 0 else factorial(x, n - 1) * (x + n)

    report = pb.differentiable(factorial).explain(0.5, 3).target
    if report.pair:
        assert "residual" in report.pair[0].reason
        assert "primal and pullback stay with NumPy" in str(report)


def test_auto_changes_to_native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promotion, "ENOUGH", 0.0)
    monkeypatch.setattr(promotion, "SLOWER", 1e9)
    d = pb.differentiable(lambda x, n: scan(x, n) * 2.0)
    wanted = pb.vjp(pb.differentiable(target="numpy")(scan), X, 4)[1](2.0)
    value, first = d.primal(X, 4)
    assert not isinstance(first.variant, NativePullback)
    agree(first.pull(1.0), wanted)
    assert background.wait() and pair_of(d, X, 4).status == "native"
    for k in range(promotion.RACES + 2):
        again, residuals = d.primal(X, 4)
        assert isinstance(residuals.variant, NativePullback)
        assert isinstance(residuals.values, Raced) == (k < promotion.RACES)
        agree(again, value)
        for each in (residuals, copy.deepcopy(residuals), pickle.loads(pickle.dumps(residuals))):
            agree(each.pull(1.0), wanted)
            agree(each.pull(1.0), wanted)
    agree(first.pull(1.0), wanted)


def test_native_is_given_up_where_it_is_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promotion, "ENOUGH", 0.0)
    monkeypatch.setattr(promotion, "SLOWER", 0.0)
    d = pb.differentiable(lambda x, n: scan(x, n) * 3.0)
    wanted = pb.vjp(pb.differentiable(target="numpy")(scan), X, 4)[1](3.0)
    agree(d.primal(X, 4)[1].pull(1.0), wanted)
    assert background.wait()
    for _ in range(promotion.RACES + 1):
        agree(d.primal(X, 4)[1].pull(1.0), wanted)
    assert pair_of(d, X, 4).status == "numpy"


def test_threads_get_their_own_residuals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promotion, "ENOUGH", 0.0)
    d = pb.differentiable(lambda x, n: scan(x, n) * 4.0)
    inputs = [X + k for k in range(4)]
    wanted = [pb.vjp(pb.differentiable(target="numpy")(scan), x, 4)[1](4.0) for x in inputs]
    wrong: list[Any] = []

    def call(k: int) -> None:
        for _ in range(200):
            found = d.primal(inputs[k], 4)[1].pull(1.0)
            if not np.allclose(found[0], wanted[k][0], rtol=1e-12, atol=1e-14):
                wrong.append(found)

    threads = [threading.Thread(target=call, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert background.wait() and not wrong


def test_failed_assumptions_are_served_by_numpy() -> None:
    def product(x: Any, y: Any, n: Any) -> Any:
        return np.sum(x[:n] * y)

    native, numpy = (pb.differentiable(target=t)(product) for t in ("native", "numpy"))
    for n in (7, 1):
        (value, mine), (wanted, theirs) = native.primal(X, X + 1, n), numpy.primal(X, X + 1, n)
        agree(value, wanted)
        agree(mine.pull(1.0), theirs.pull(1.0))
    with pytest.raises(ValueError, match="broadcast"):
        native.primal(X, X + 1, 3)
