"""One compiled signature: its functions, what it takes from outside, what must still hold for it to serve."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pullback.backend.native.bridge import MISS
from pullback.dispatch.collector import paused
from pullback.dispatch.debug import debug_function
from pullback.dispatch.floating import quiet
from pullback.dispatch.keys import outside_key
from pullback.dispatch.notes import note_place
from pullback.dispatch.outside import MISSING, Outside, Watch
from pullback.dispatch.pairs import NativePullback, PairPromotion, pulled
from pullback.dispatch.promotion import Promotion
from pullback.ir.nodes import Param
from pullback.pipeline import Compiled
from pullback.rules.registry import generation


@dataclass(slots=True)
class Variant:
    """One compiled signature.  `written` are the positions of the parameters whose storage the function writes."""

    compiled: Compiled
    outside: tuple[Outside, ...]
    outside_keys: tuple[Any, ...]
    watches: tuple[Watch, ...]
    generation: int
    written: tuple[int, ...]
    effects: bool  # the function does more than compute: it may run once only
    promotion: Promotion  # of its value and gradient to the native target
    pair: PairPromotion  # of its primal and its pullback
    scalar: bool | None = (
        None  # its result is a real scalar: proved, to be looked at in each call; None: not asked yet
    )
    functions: dict[tuple[str, bool], Callable[..., Any]] = field(default_factory=dict)
    lock: Any = field(default_factory=threading.RLock)  # held while a function is made
    number: int = field(default_factory=itertools.count(1).__next__)  # of all variants, in order

    @property
    def name(self) -> str:
        """The name of the user's function."""
        return self.compiled.name

    @property
    def params(self) -> tuple[Param, ...]:
        """The parameters: the user's, then the implicit ones."""
        return self.compiled.lowered.function.params

    def function(self, form: str, guarded: bool = False) -> Callable[..., Any]:
        """A generated function."""
        key = (form, guarded)
        found = self.functions.get(key)
        return found if found is not None else self._make(form, guarded)

    def _make(self, form: str, guarded: bool) -> Callable[..., Any]:
        key = (form, guarded)
        with self.lock, paused():
            if key not in self.functions:
                debug = self.compiled.options.debug
                self.functions[key] = (
                    debug_function(self.compiled, form) if debug else self.compiled.function(form, guarded)
                )
        return self.functions[key]

    def fresh(self) -> bool:
        """Whether the rule table is as it was at compile time."""
        return self.generation == generation()

    def extend(self, values: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The arguments and what is fetched from outside; None where something outside is of another kind by now."""
        if not self.outside:
            return values if all([w.holds(values) for w in self.watches]) else None
        try:
            found = [o.fetch(values) for o in self.outside]
        except MISSING:
            return None
        if tuple([outside_key(v) for v in found]) != self.outside_keys:
            return None
        return (*values, *found) if all([w.holds(values) for w in self.watches]) else None

    def run(self, form: str, values: Sequence[Any], guarded: bool = False) -> Any:
        """Call a generated function; an exception in it gets a note that shows the user's line."""
        function = self.function(form, guarded)
        counted = form == "value_and_grad" and self.promotion.counting
        try:
            return self.promotion.timed(function, values) if counted else function(*values)
        except Exception as error:
            note_place(error, self, values)
            raise

    def residuals_of(self, values: Sequence[Any]) -> Any:
        """The residuals of a call; None where it may not be made, or fails."""
        if self.effects:
            return None
        try:
            with np.errstate(all="ignore"):
                return self.function("primal")(*values)[1]
        except Exception:
            return None

    def forward(self, values: Sequence[Any]) -> tuple[Any, Any, Variant | NativePullback]:
        """The value of a call, its residuals, and what pulls these back."""
        pair = self.pair
        pair.insist()
        if pair.run is not None and quiet():
            found: Any = pair.run(*values)
            if found is not MISS:
                assert pair.puller is not None
                return (*found, pair.puller)
        if not pair.counting:
            return (*self.run("primal", values), self)
        self.function("primal")
        return (*pair.timed(self.run, ("primal", values)), self)

    def pull(self, residuals: Any, seed: Any) -> Any:
        """Run the pullback; again with strong zeros spelled out where a cotangent is not finite."""
        if not self.pair.counting:
            return pulled(self.function, residuals, seed)
        self.function("pullback")
        return self.pair.timed(pulled, (self.function, residuals, seed))
