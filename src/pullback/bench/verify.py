"""Is a gradient right?  Differences of the plain function and the other contenders say.

A gradient passes if, along random directions (through all arguments, and through each one), it agrees with differences
of the plain function to `RTOL` of its size and four times the differences' own estimated error, and if each of its
arrays agrees with those of the others that passed to `RTOL` of the array's largest entry.  Where two that passed
disagree, the difference at the worst entry decides.  Where differences are only good to `VAGUE`, as of functions that
round to single precision inside, what agrees with them and with another contender passes, with a remark.  In single
precision the tolerance is `RTOL_SINGLE`, and the differences are those of the function at the arguments widened to
double precision.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pullback.bench.differences import Derivative, derivative, direction, noise_of, terms
from pullback.bench.peers import Result
from pullback.bench.suite import Case
from pullback.bench.trees import copied, floats, is_float, leaves, map_leaves

RTOL = 1e-6
RTOL_SINGLE = 2e-3
VALUE_RTOL = 1e-9
SHARP = 1e-4  # differences with a larger estimated error, relative to the gradient, say nothing
VAGUE = 0.1  # as SHARP, but enough where another contender agrees
OVERALL = 3  # directions through all arguments


@dataclass(frozen=True)
class Verdict:
    """What was found about one gradient: its status is ok, wrong or unverified."""

    status: str
    reason: str = ""
    error: float = 0.0  # the largest deviation from differences, relative to the gradient's size
    vague: bool = False  # unverified, but as differences have it as far as they go


@dataclass(frozen=True)
class Probe:
    """A direction, the combination of seeds that is differentiated, and the derivative that was found."""

    along: list[Any]
    weights: Any
    found: Derivative
    argument: str = ""  # the only argument that moves


class Judge:
    """Verifies the gradients of one case."""

    def __init__(self, case: Case, args: tuple[Any, ...], value: Any, seeds: Sequence[Any]) -> None:
        self.case = case
        self.args = args
        self.value = np.asarray(value)
        self.seeds = [np.asarray(seed) for seed in seeds]
        self.rng = np.random.default_rng(7)
        kernel = case.kernel
        self.function: Callable[..., Any] = getattr(kernel.module(), kernel.objective)
        self.wrt = [args[k] for k in kernel.argnums]
        self.moving = floats(self.wrt)
        self.names = [
            f"{name}{place}"
            for name, value in zip(kernel.wrt, self.wrt, strict=True)
            for place, leaf in leaves(value)
            if is_float(leaf)
        ]
        single = any(
            np.asarray(leaf).dtype.itemsize <= (8 if np.iscomplexobj(leaf) else 4) for leaf in self.moving
        )
        self.rtol = RTOL_SINGLE if single else RTOL
        self.noise: float | None = None
        self.deadline = 0.0  # when to give up looking for the place of an error
        self.size = _largest(self.value)

    # ------------------------------------------------------------------------------------------------- verdicts

    def verdicts(self, results: dict[str, Result], seconds: float = 30.0) -> dict[str, Verdict]:
        """The verdict on each contender's result.

        seconds  how long to look for further directions
        """
        self.deadline = time.perf_counter() + 2 * seconds
        found = {name: self._form(result) for name, result in results.items()}
        sound = {name: results[name] for name, verdict in found.items() if verdict is None}
        probes = self._probes(list(sound.values()), seconds) if sound else []
        judged = {name: self._against(result, probes) for name, result in sound.items()}
        found.update(self._together(sound, judged))
        return {name: verdict for name, verdict in found.items() if verdict is not None}

    def _form(self, result: Result) -> Verdict | None:
        """What is wrong with a result before any number is compared with differences."""
        if len(result.bars) != max(len(self.seeds), 1):
            return Verdict("wrong", f"{len(result.bars)} gradients for {max(len(self.seeds), 1)} seeds")
        for bars in result.bars:
            shapes = [np.shape(bar) for bar in bars]
            wanted = [np.shape(leaf) for leaf in self.moving]
            if shapes != wanted:
                return Verdict("wrong", f"gradients of shapes {shapes} for arguments of shapes {wanted}")
            for name, bar in zip(self.names, bars, strict=True):
                if not np.all(np.isfinite(bar)):
                    return Verdict("wrong", f"not finite at {name}{_index(~np.isfinite(bar))}")
        return self._value(result)

    def _value(self, result: Result) -> Verdict | None:
        value = np.asarray(result.value)
        if value.shape != self.value.shape:
            return Verdict("wrong", f"a value of shape {value.shape}, NumPy's has shape {self.value.shape}")
        off = np.abs(value - self.value)
        size = np.max(np.abs(self.value), initial=0.0)
        if self.case.kernel.scalar:  # the size of what a relative error of the arguments does to it
            size = max(
                size,
                sum(
                    float(np.sum(np.abs(np.multiply(b, x))))
                    for b, x in zip(result.bars[0], self.moving, strict=True)
                ),
            )
        allowed = (VALUE_RTOL if self.rtol == RTOL else RTOL_SINGLE) * size
        if np.all(off <= allowed):
            return None
        at = _index(~(off <= allowed))
        return Verdict(
            "wrong", f"value off by {np.max(off):.3g}{' at ' + at if at else ''} (allowed {allowed:.3g})"
        )

    def _against(self, result: Result, probes: list[Probe]) -> Verdict:
        """A result against differences: ok, wrong, or unverified where they are not sharp enough."""
        best, worst = np.inf, 0.0
        for probe in probes:
            parts = terms(self._combined(result, probe.weights), probe.along)
            size = _size(parts, probe.found.value) or self.size  # a gradient of zeros: beside the value
            if not probe.found.error <= VAGUE * size:
                continue
            off = abs(sum(float(np.sum(part)) for part in parts) - probe.found.value)
            if off > self.rtol * size + 4 * probe.found.error:
                return Verdict("wrong", self._where(result, probe), off / size)
            if not probe.argument or len(self.moving) == 1:
                best = min(best, probe.found.error / size if size else 0.0)
            worst = max(worst, off / size if size else 0.0)
        if best <= max(SHARP, self.rtol):
            return Verdict("ok", "", worst)
        if not np.isfinite(best):
            return Verdict("unverified", "differences of the plain function say nothing here", worst)
        return Verdict(
            "unverified", f"differences of the plain function are only good to {best:.1g}", worst, vague=True
        )

    def _together(self, results: dict[str, Result], judged: dict[str, Verdict]) -> dict[str, Verdict]:
        """The verdicts, once the contenders have been compared with one another."""
        pairs = list(itertools.combinations(results, 2))
        alike = {pair: self._distance(results[pair[0]], results[pair[1]])[0] <= 1 for pair in pairs}
        if pairs and all(alike.values()) and all(v.status == "wrong" for v in judged.values()):
            text = f"all {len(results)} contenders agree, differences of the plain function do not: "
            return {n: Verdict("unverified", text + v.reason, v.error) for n, v in judged.items()}
        for (a, b), agree in alike.items():
            if judged[a].status == judged[b].status == "ok" and not agree:
                loser, text = self._decide(a, b, results)
                judged[loser] = Verdict("wrong", text)
        found = dict(judged)
        for name, verdict in judged.items():
            friends = [n for n in results if n != name and judged[n].status != "wrong"]
            if verdict.status == "wrong":
                found[name] = self._beside(
                    name, verdict, [n for n in friends if judged[n].status == "ok"], results
                )
            elif verdict.vague:
                like_it = [n for n in friends if alike.get((name, n), alike.get((n, name)))]
                if like_it:
                    found[name] = Verdict(
                        "ok", f"{verdict.reason}; agrees with {', '.join(like_it)}", verdict.error
                    )
        return found

    def _beside(self, name: str, verdict: Verdict, right: list[str], results: dict[str, Result]) -> Verdict:
        """The verdict on a wrong gradient, with its worst entry beside a right one."""
        if not right:
            return verdict
        place, mine, theirs = self._distance(results[name], results[right[0]])[1:]
        text = f"{place}: {mine:.6g}, {right[0]} (as differences) has {theirs:.6g}"
        return Verdict("wrong", text, verdict.error)

    def _decide(self, a: str, b: str, results: dict[str, Result]) -> tuple[str, str]:
        """Which of two is wrong, by the difference at the entry at which they disagree most."""
        _, place, mine, theirs = self._distance(results[a], results[b])
        seed, which, index = self._spot(results[a], results[b])
        along = [np.zeros(np.shape(leaf)) for leaf in self.moving]
        along[which][index] = np.abs(np.asarray(self.moving[which])[index]) or 1.0
        weights = np.eye(len(self.seeds))[seed] if self.seeds else None
        found = self._derivative(along, weights, 0.0).value / float(along[which][index])
        loser = a if abs(np.real(mine) - found) > abs(np.real(theirs) - found) else b
        return loser, f"{place}: {a} {mine:.6g}, {b} {theirs:.6g}, differences {found:.6g}"

    # ---------------------------------------------------------------------------------------------- comparisons

    def _distance(self, first: Result, second: Result) -> tuple[float, str, Any, Any]:
        """The largest deviation of two results, in units of what is allowed, and where it is."""
        seed, which, index = self._spot(first, second)
        if which < 0:
            return 0.0, "", 0.0, 0.0
        a, b = first.bars[seed][which], second.bars[seed][which]
        allowed = self.rtol * max(_largest(a), _largest(b))
        off = float(np.abs(a[index] - b[index]))
        place = self.names[which] + (f"[{', '.join(map(str, index))}]" if index else "")
        if self.seeds:
            place += f" of seed {seed}"
        return (off / allowed if allowed else 0.0), place, a[index], b[index]

    def _spot(self, first: Result, second: Result) -> tuple[int, int, tuple[int, ...]]:
        """The seed, array and entry at which two results differ most, relative to the array's largest entry."""
        worst = -1.0
        spot: tuple[int, int, tuple[int, ...]] = (0, -1, ())
        for seed, (ours, theirs) in enumerate(zip(first.bars, second.bars, strict=True)):
            for which, (a, b) in enumerate(zip(ours, theirs, strict=True)):
                scale = max(_largest(a), _largest(b))
                if not scale:
                    continue
                off = np.abs(a - b)
                index = np.unravel_index(int(np.argmax(off)), off.shape)
                if off[index] / scale > worst:
                    worst, spot = float(off[index] / scale), (seed, which, tuple(int(i) for i in index))
        return spot

    def _where(self, result: Result, probe: Probe) -> str:
        """The entry that is wrong, found by halving the direction."""
        masks = [np.ones(np.shape(leaf), dtype=bool) for leaf in self.moving]
        counts = np.cumsum([0, *(mask.size for mask in masks)])
        low, high = 0, int(counts[-1])
        bars = self._combined(result, probe.weights)

        def part(start: int, stop: int) -> list[Any]:
            flat = [
                np.where(_between(move, start - base, stop - base), move, 0)
                for move, base in zip(probe.along, counts, strict=False)
            ]
            return flat

        def off(start: int, stop: int) -> float:
            along = part(start, stop)
            mine = sum(float(np.sum(term)) for term in terms(bars, along))
            found = self._derivative(along, probe.weights, 0.0)
            return abs(mine - found.value) - found.error

        while high - low > 1:
            if time.perf_counter() > self.deadline:
                return f"somewhere in {', '.join(self.names[k] for k in _within(counts, low, high))}"
            middle = (low + high) // 2
            low, high = (low, middle) if off(low, middle) > off(middle, high) else (middle, high)
        which = int(np.searchsorted(counts, low, side="right")) - 1
        index = np.unravel_index(low - int(counts[which]), np.shape(self.moving[which]))
        along = part(low, high)
        size = float(np.real(along[which][index])) or 1.0
        found = self._derivative(along, probe.weights, 0.0).value / size
        mine = float(np.sum(terms(bars, along)[which])) / size
        place = self.names[which] + (f"[{', '.join(str(int(i)) for i in index)}]" if index else "")
        return f"{place}: {mine:.6g}, differences give {found:.6g}"

    def _combined(self, result: Result, weights: Any) -> list[Any]:
        """The gradient of the combination of seeds that a probe looks at."""
        if weights is None:
            return result.bars[0]
        return [
            sum(w * bars[which] for w, bars in zip(weights, result.bars, strict=True))
            for which in range(len(self.moving))
        ]

    # ---------------------------------------------------------------------------------------------- differences

    def _probes(self, results: list[Result], seconds: float) -> list[Probe]:
        """Derivatives along random directions: all arguments together first, then one after the other."""
        start = time.perf_counter()
        found: list[Probe] = []
        plan = ["", *(self.names if len(self.names) > 1 else []), *[""] * (OVERALL - 1)]
        for argument in plan:
            if found and time.perf_counter() - start > seconds * len(found) / (len(found) + 1):
                break
            along = direction(self.moving, self.rng)
            if argument:
                along = [
                    a if n == argument else np.zeros_like(a) for n, a in zip(self.names, along, strict=True)
                ]
            weights = self.rng.standard_normal(len(self.seeds)) if self.seeds else None
            sizes = sorted(_size(terms(self._combined(r, weights), along), 0.0) for r in results)
            wanted = 1e-2 * self.rtol * sizes[len(sizes) // 2]
            found.append(Probe(along, weights, self._derivative(along, weights, wanted), argument))
        return found

    def _derivative(self, along: list[Any], weights: Any, wanted: float) -> Derivative:
        seed = None if weights is None else sum(w * s for w, s in zip(weights, self.seeds, strict=True))

        def at(step: float) -> float:
            moves = iter(along)
            wrt = [map_leaves(lambda leaf: _moved(leaf, moves, step), copied(value)) for value in self.wrt]
            args = copied(list(self.args))
            for place, value in zip(self.case.kernel.argnums, wrt, strict=True):
                args[place] = value
            with np.errstate(all="ignore"):
                value = self.function(*args)
            return float(np.real(value if seed is None else np.sum(np.conj(seed) * value)))

        if self.noise is None:
            noise = noise_of(at)
            self.noise = noise if np.isfinite(noise) else 0.0
        return derivative(at, wanted, self.noise)


def _moved(leaf: Any, moves: Any, step: float) -> Any:
    """A leaf moved along its part of the direction; in double precision."""
    if not is_float(leaf):
        return leaf
    moved = np.asarray(leaf, dtype=complex if np.iscomplexobj(leaf) else float) + step * next(moves)
    return moved if isinstance(leaf, np.ndarray) else moved[()].item()


def _between(array: Any, start: int, stop: int) -> Any:
    """Which entries of an array, counted in order, lie in a range."""
    count = np.arange(np.size(array)).reshape(np.shape(array))
    return (count >= start) & (count < stop)


def _within(counts: Any, low: int, high: int) -> list[int]:
    """Which of some arrays, laid end to end at `counts`, a range of entries touches."""
    return [k for k in range(len(counts) - 1) if counts[k] < high and counts[k + 1] > low]


def _size(parts: list[Any], found: float) -> float:
    """How large a sum of terms is that need not have one sign."""
    return max(abs(found), float(np.sqrt(sum(float(np.sum(np.square(part))) for part in parts))))


def _largest(array: Any) -> float:
    return float(np.max(np.abs(array), initial=0.0))


def _index(where: Any) -> str:
    """The first place at which a mask is true, as it is written."""
    if not np.ndim(where):
        return ""
    return f"[{', '.join(str(int(i[0])) for i in np.nonzero(where))}]"
