"""What goes into a standalone module: a function, the types of its arguments, the forms asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pullback.aot.declared import Declared
from pullback.api.argnums import Argnums
from pullback.errors import ArgumentError

FORMS = ("value_and_grad", "grad", "pair", "vjp")


@dataclass(frozen=True, slots=True)
class Entry:
    """One function of a module.

    fn        the function
    declared  the types of its arguments
    argnums   which arguments, as for `pullback.value_and_grad`; None: all positional ones
    has_aux   the function returns (value, aux)
    forms     some of "value_and_grad", "grad", "pair" (the primal and the pullback), "vjp"
    label     what the public names begin with: the function's own name where it is ""
    """

    fn: Any
    declared: Declared
    argnums: Argnums | None = 0
    has_aux: bool = False
    forms: tuple[str, ...] = ("value_and_grad",)
    label: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "forms", tuple(form.replace("-", "_") for form in self.forms)
        )  # as options are
        wrong = [form for form in self.forms if form not in FORMS]
        if wrong or not self.forms:
            raise ArgumentError(
                f"there is no form {wrong[0]!r}" if wrong else "no form is asked for",
                hint=f"the forms are {', '.join(map(repr, FORMS))}",
            )
        if self.label and not self.label.isidentifier():
            raise ArgumentError(f"the label {self.label!r} is no name", hint="take letters, digits and _")

    def public_names(self, name: str) -> tuple[str, ...]:
        """The public functions, for a function called `name`."""
        label = self.label or name
        found: list[str] = []
        for form in FORMS:
            if form in self.forms:
                found += [f"{label}_primal", f"{label}_pullback"] if form == "pair" else [f"{label}_{form}"]
        return tuple(found)
