"""One random program against its compiled gradient: what is compared, and how a failure is told from a draw that
cannot be judged.
"""

from __future__ import annotations

import copy
import itertools
import linecache
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from tests.fuzz.generate import program

import pullback as pb

WRT = (0, 1, 2)
TOLERANCE = 1e-6
_STENCIL = ((1, 3 / 4, 15 / 20), (2, -3 / 20, -6 / 20), (3, 1 / 60, 1 / 20))  # for the slope, for the middle
_numbers = itertools.count()


class Mismatch(AssertionError):
    """A compiled program that does something else than the plain one."""


class _Loader:
    """Gives the text of a module that is in no file."""

    def __init__(self, text: str) -> None:
        self.text = text

    def get_source(self, name: str) -> str:
        return self.text


def load(text: str) -> ModuleType:
    """The module of a text, as if it had been imported from a file."""
    name = f"fuzzed_{next(_numbers)}"
    filename = f"<{name}>"
    module = ModuleType(name)
    module.__file__ = filename
    module.__loader__ = _Loader(text)  # type: ignore[assignment]
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec"), module.__dict__)
    return module


def unload(module: ModuleType) -> None:
    """Forget the text."""
    linecache.cache.pop(str(module.__file__), None)


def arguments(seed: int) -> tuple[Any, ...]:
    """Arguments for the program of a seed."""
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=4) * 0.7,
        rng.normal(size=(4, 4)) * 0.5,
        float(rng.normal() * 0.6),
        int(rng.integers(0, 5)),
    )


def bits(value: Any) -> list[bytes]:
    """What must agree to the last bit."""
    parts = value if isinstance(value, tuple) else (value,)
    return [np.asarray(x, dtype=np.float64).tobytes() for x in parts]


def moved(args: Sequence[Any], direction: Sequence[Any], step: float) -> tuple[Any, ...]:
    """The arguments some way along a direction."""
    return (*(a + step * d for a, d in zip(args[:3], direction, strict=True)), args[3])


def differences(
    f: Callable[..., Any], args: Sequence[Any], direction: Sequence[Any], step: float
) -> tuple[float, float]:
    """The derivative along a direction, of sixth order, and what the value should be in the middle."""
    derivative = middle = 0.0
    for k, weight, share in _STENCIL:
        ahead, behind = (float(f(*moved(args, direction, sign * k * step))) for sign in (1, -1))
        derivative += weight * (ahead - behind) / step
        middle += share * (ahead + behind)
    return derivative, middle


def judged(f: Callable[..., Any], args: Sequence[Any], direction: Sequence[Any]) -> float | None:
    """The derivative along a direction; None where differences do not settle (a jump, a kink, a wild function)."""
    value = float(f(*args))
    for step in (2e-3, 3e-4, 5e-5):
        (a, middle), (b, _) = (differences(f, args, direction, h) for h in (step, step * 0.6))
        smooth = abs(middle - value) < 0.2 * TOLERANCE * max(1.0, abs(value))
        if smooth and abs(a - b) < 0.2 * TOLERANCE * max(1.0, abs(b)):
            return b
    return None


def check(seed: int, counts: Counter[str], text: str | None = None) -> None:
    """Check the program of a seed; raises Mismatch, and counts what was refused or could not be judged."""
    text = program(seed) if text is None else text
    module = load(text)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            _Check(module.f, arguments(seed), seed, counts).run()
    except Mismatch as error:
        raise Mismatch(f"seed {seed}: {error}\n{text}") from error
    finally:
        unload(module)


class _Check:
    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], seed: int, counts: Counter[str]) -> None:
        self.f = f
        self.args = args
        self.seed = seed
        self.counts = counts
        self.counts["programs"] += 1

    def run(self) -> None:
        """Compare value, gradients, both forms, and with every write copied."""
        try:
            value = self.f(*copy.deepcopy(self.args))
        except Exception as error:
            self._raises(error)
            return
        if not abs(value) <= 1e6:
            self.counts["skipped: not finite, or large"] += 1
            return
        try:
            found = self._joint()
        except pb.UnsupportedError as error:
            self.counts["refused"] += 1
            self.counts[f"refused: {error.reason}"] += 1
            return
        except Exception as error:
            raise Mismatch(f"{type(error).__name__}: {error}") from error
        self._agree(value, found)

    def _raises(self, error: Exception) -> None:
        """What raises in plain Python raises the same when compiled."""
        self.counts["raises"] += 1
        try:
            self._joint()
        except pb.UnsupportedError:
            self.counts["refused"] += 1
        except type(error):
            return
        except Exception as other:
            raise Mismatch(
                f"{type(other).__name__} ({other}) where Python raises {type(error).__name__}"
            ) from other
        else:
            raise Mismatch(f"nothing raised where Python raises {type(error).__name__}: {error}")

    def _joint(self, **options: bool) -> tuple[Any, tuple[Any, ...]]:
        args = copy.deepcopy(self.args)
        fn = pb.differentiable(**options)(self.f) if options else self.f
        value, grads = pb.value_and_grad(fn, argnums=WRT)(*args)
        self._unchanged(args)
        self._owned(grads, args)
        return value, grads

    def _owned(self, grads: Sequence[Any], args: Sequence[Any]) -> None:
        arrays = [x for x in (*grads, *args) if isinstance(x, np.ndarray)]
        if any(np.shares_memory(a, b) for a, b in itertools.combinations(arrays, 2)):
            raise Mismatch("a cotangent shares memory")
        if not all(x.flags.writeable for x in arrays):
            raise Mismatch("a cotangent cannot be written")

    def _unchanged(self, args: Sequence[Any]) -> None:
        if any(bits(a) != bits(b) for a, b in zip(args, self.args, strict=True)):
            raise Mismatch("the caller's array was changed")

    def _agree(self, value: Any, found: tuple[Any, tuple[Any, ...]]) -> None:
        got, grads = found
        if bits(got) != bits(value):
            raise Mismatch(f"value {got!r}, not {value!r}")
        for primal, bar in zip(self.args, grads, strict=False):
            if np.shape(bar) != np.shape(primal) or type(bar) is not type(primal):
                raise Mismatch(f"a cotangent {bar!r} of {primal!r}")
        if not all(np.all(np.isfinite(g)) for g in grads):
            self._against_differences(grads)
            return
        try:
            self._other_forms(value, grads)
        except Mismatch:
            raise
        except Exception as error:
            raise Mismatch(f"other form: {type(error).__name__}: {error}") from error
        self._against_differences(grads)

    def _other_forms(self, value: Any, grads: tuple[Any, ...]) -> None:
        args = copy.deepcopy(self.args)
        got, pullback = pb.vjp(self.f, *args, argnums=WRT)
        for a in args[:2]:
            a[...] = np.nan  # the caller writes on
        first = pullback(type(got)(1.0))
        self._owned(first, args)
        kept = copy.deepcopy(first)
        for g in first[:2]:
            g[...] = np.nan  # and uses the cotangents as working space
        if bits(got) != bits(value) or bits(kept) != bits(pullback(type(got)(1.0))):
            raise Mismatch("the pair: another value, or a pullback that changes")
        self._close(kept, grads, "pair and joint form differ")
        if self.seed % 2 == 0 and "mix" in self.f.__code__.co_names:
            self._redefined()
        if self.seed % 2:
            copying = self._joint(bufferize=False)
            if bits(copying[0]) != bits(value):
                raise Mismatch("other bits with every write copied")
            # a matrix product rounds otherwise on an array of other strides
            self._close(copying[1], grads, "other gradients with every write copied", 1e-13)
        if self.seed % 4 == 0:
            plain = self._joint(optimize=False)
            if bits(plain[0]) != bits(value):
                raise Mismatch("another value without passes")
            self._close(plain[1], grads, "other gradients without passes")

    def _redefined(self) -> None:
        """A helper that is defined anew between two calls counts from then on."""
        helper = self.f.__globals__["mix"]
        gradient = pb.value_and_grad(self.f, argnums=WRT)
        gradient(*copy.deepcopy(self.args))
        code = helper.__code__
        helper.__code__ = self.f.__globals__["mixed_anew"].__code__
        try:
            wanted = self.f(*copy.deepcopy(self.args))
            if bits(gradient(*copy.deepcopy(self.args))[0]) != bits(wanted):
                raise Mismatch("a stale gradient of a helper that was defined anew")
        except pb.UnsupportedError:
            self.counts["refused anew"] += 1
        finally:
            helper.__code__ = code

    def _close(self, a: Sequence[Any], b: Sequence[Any], what: str, tolerance: float = 1e-9) -> None:
        largest = max(1.0, *(float(np.max(np.abs(g))) for g in b))
        near = [np.max(np.abs(np.asarray(x) - y)) <= tolerance * largest for x, y in zip(a, b, strict=True)]
        if not all(near):  # nor is anything near to what is not a number
            raise Mismatch(f"{what}: {a} and {b}")

    def _against_differences(self, grads: tuple[Any, ...]) -> None:
        rng = np.random.default_rng(self.seed + 1)
        plain = lambda *args: self.f(*copy.deepcopy(args))  # noqa: E731
        largest = max(1.0, *(float(np.max(np.abs(g))) for g in grads))
        for _ in range(2):
            direction = [rng.normal(size=np.shape(g)) for g in grads]
            try:
                wanted = judged(plain, self.args, direction)
            except Exception:  # a branch that raises lies within a step
                wanted = None
            if wanted is None:
                self.counts["skipped: differences"] += 1
                return
            got = sum(float(np.sum(g * d)) for g, d in zip(grads, direction, strict=True))
            if not abs(got - wanted) <= TOLERANCE * max(largest, abs(wanted)):
                raise Mismatch(f"slope {got}, differences {wanted}; gradients {grads}")
