"""The primal and the pullback by the native target.

What a compiled primal saves is for the compiled pullback.  Where that leaves a call to NumPy, or where residuals are
pickled, the pullback that was compiled is printed for NumPy, and takes what was saved (`NativePair.restore`).  Where C
takes parts of the two only, what calls these is NumPy's, and so are the residuals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from pullback.backend.native.bridge import MISS
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.load import load
from pullback.backend.native.pair import NativePair
from pullback.backend.native.regions import Regions, load_regions
from pullback.backend.numpy.load import load as load_source
from pullback.backend.numpy.module import Generated
from pullback.dispatch.finite import finite
from pullback.dispatch.promotion import RACES, Driven, Promotion, raised, regions_for
from pullback.pipeline import Compiled


def pulled(function: Callable[[str, bool], Callable[..., Any]], residuals: Any, seed: Any) -> Any:
    """The cotangents by `function(form, guarded)`, the plain one and, where it must be, the guarded one."""
    bars = function("pullback", False)(residuals, seed)
    return bars if finite(bars) else function("pullback", True)(residuals, seed)


@dataclass(slots=True)
class Raced:
    """What both targets have saved of one call.  NumPy's is used once, to compare the times of the pullbacks."""

    native: Any
    numpy: Any


class PairPromotion(Promotion):
    """The native target of the primal and the pullback.  `run` is the primal; `puller` pulls back what it saves."""

    __slots__ = ("_pulls", "puller")

    def __init__(self, compiled: Compiled) -> None:
        super().__init__(compiled, "primal")
        self.puller: NativePullback | None = None
        self._pulls: list[tuple[float, float]] = []  # of races: native's, NumPy's

    def _load(self) -> tuple[Callable[..., Any], Any]:
        made: NativePair | Regions
        try:
            made = self.compiled.native_pair()
        except Untaken as untaken:
            made = regions_for(self.compiled, "pair", untaken)
        return self._of_regions(made) if isinstance(made, Regions) else self._of_pair(made)

    def _of_pair(self, made: NativePair) -> tuple[Callable[..., Any], Any]:
        threads = self.compiled.options.threads or 0
        run, bound = load(made.primal, threads=threads, failed=self._failed)
        pull, _ = load(made.pullback, threads=threads, failed=_left, any_float=True)

        def printed(guarded: bool) -> Generated:
            return self.compiled.printed((made.function,), guarded)

        self.puller = NativePullback(self.compiled, pull, made.restore, printed, self)
        return run, bound

    def _of_regions(self, made: Regions) -> tuple[Callable[..., Any], Any]:
        """What calls the regions is NumPy's, with residuals as NumPy has them."""
        names = [f"{self.compiled.name}_{form}" for form in ("primal", "pullback")]
        run, pull = load_regions(made, names, self.compiled.options.threads or 0)
        self.puller = NativePullback(self.compiled, pull, tuple, lambda _: made.generated, self)
        return run if self.compiled.has_effects else Driven(run), None

    def _serve(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """What has effects is not run twice."""
        return run if self.compiled.has_effects else super()._serve(run)

    def _race(self, *values: Any) -> Any:
        """A primal that both run; native's result is returned."""
        both = self._by_both(values)
        if both is MISS:
            return MISS
        result, (_, residuals) = both
        if len(self._times) >= RACES:
            self._decide(*(min(x) + min(y) for x, y in self._both_times()))
        return result[0], Raced(result[1], residuals)

    def _both_times(self) -> list[tuple[Sequence[float], Sequence[float]]]:
        """Of each target the times of the primal and of the pullback."""
        pulls = self._pulls or [(0.0, 0.0)]
        return list(zip(zip(*self._times, strict=True), zip(*pulls, strict=True), strict=True))

    def pulls(self, native: float, numpy: float) -> None:
        """A race of the pullbacks has taken so long."""
        self._pulls.append((native, numpy))


class NativePullback:
    """What pulls back the residuals of a compiled primal."""

    def __init__(
        self,
        compiled: Compiled,
        run: Callable[..., Any],
        restored: Callable[[Any], tuple[Any, ...]],
        printed: Callable[[bool], Generated],
        promotion: PairPromotion,
    ) -> None:
        self.compiled = compiled
        self._run = run
        self._restored = restored
        self._printed = printed
        self._promotion = promotion
        self._functions: dict[bool, Callable[..., Any]] = {}

    @property
    def name(self) -> str:
        """The name of the user's function."""
        return self.compiled.name

    def pull(self, residuals: Any, seed: Any) -> Any:
        """The cotangents of the arguments."""
        if isinstance(residuals, Raced):
            return self._race(residuals, seed)
        bars = self._run(residuals, seed)
        return bars if bars is not MISS else pulled(self.function, self.restore(residuals), seed)

    def _race(self, residuals: Raced, seed: Any) -> Any:
        other, residuals.numpy = residuals.numpy, None
        start = perf_counter()
        bars = self.pull(residuals.native, seed)
        if other is not None:
            middle = perf_counter()
            pulled(self.compiled.function, other, seed)
            self._promotion.pulls(middle - start, perf_counter() - middle)
        return bars

    def restore(self, residuals: Any) -> tuple[Any, ...]:
        """The residuals as the function of `generated` takes them."""
        return self._restored(residuals.native if isinstance(residuals, Raced) else residuals)

    def generated(self, guarded: bool) -> Generated:
        """The function that was compiled, for NumPy."""
        return self._printed(guarded)

    def function(self, form: str, guarded: bool) -> Callable[..., Any]:
        """The pullback for NumPy."""
        if guarded not in self._functions:
            self._functions[guarded] = load_source(self.generated(guarded), f"{self.name}_{form}")
        return self._functions[guarded]


def _left(code: int, line: int, detail: Any, message: str | None, pending: BaseException | None) -> Any:
    """A pullback ended with an error: NumPy is to raise it."""
    return raised(pending)
