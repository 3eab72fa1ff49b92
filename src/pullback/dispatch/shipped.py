"""A pullback as text, which can be pickled: its residuals may be pulled back in another process, or another day."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pullback.backend.numpy.load import load
from pullback.backend.numpy.module import Generated
from pullback.dispatch.pairs import NativePullback, pulled
from pullback.dispatch.variants import Variant


@dataclass(slots=True)
class Shipped:
    """The generated source of the pullback of `name`, plain and guarded, and the objects that it refers to."""

    name: str
    parts: tuple[tuple[str, dict[str, Any]], ...]
    _functions: dict[bool, Callable[..., Any]] = field(default_factory=dict, compare=False, repr=False)

    def __reduce__(self) -> Any:
        return Shipped, (self.name, self.parts)

    def function(self, form: str, guarded: bool) -> Callable[..., Any]:
        """The pullback."""
        if guarded not in self._functions:
            source, namespace = self.parts[guarded]
            self._functions[guarded] = load(Generated(source, namespace), f"{self.name}_{form}")
        return self._functions[guarded]

    def pull(self, residuals: Any, seed: Any) -> Any:
        """The cotangents of the arguments."""
        return pulled(self.function, residuals, seed)


def shipped(variant: Variant | NativePullback | Shipped, residuals: Any) -> tuple[Shipped, Any]:
    """What pulls residuals back as text, and the residuals that the text takes.

    Raises PicklingError where it is no text but an interpreter's.
    """
    if isinstance(variant, Shipped):
        return variant, residuals
    if variant.compiled.options.debug:
        raise pickle.PicklingError(
            f"residuals of `{variant.name}` under debug=True cannot be pickled; compile it without debug=True"
        )
    if isinstance(variant, NativePullback):
        residuals = variant.restore(residuals)
        made = [variant.generated(guarded) for guarded in (False, True)]
    else:
        made = [variant.compiled.generated("pullback", guarded) for guarded in (False, True)]
    return Shipped(variant.name, tuple((g.source, g.namespace) for g in made)), residuals
