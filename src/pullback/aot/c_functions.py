"""The functions of a C header, and what all C files of a module are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pullback.aot.c_names import Result, Signature
from pullback.aot.natives import Natives
from pullback.aot.units import Unit

WIDTH = 100


@dataclass(frozen=True, slots=True)
class CFunction:
    """One function of the header.  `form`: "value_and_grad" or "grad"."""

    unit: Unit
    form: str
    signature: Signature

    @property
    def name(self) -> str:
        """Its name."""
        return f"{self.unit.label}_{self.form}"

    @property
    def results(self) -> list[Result]:
        """What it gives: of `grad` not the value."""
        signature = self.signature
        values = signature.values[1:] if self.form == "grad" else signature.values
        return [*values, *signature.gradients]

    @property
    def parameters(self) -> list[str]:
        """Its parameters, declared."""
        signature = self.signature
        return [
            *(f"int64_t {name}" for name in signature.lengths),
            *(argument.declared for argument in signature.arguments),
            *(text for result in self.results for text in result.declared),
            "pb_error *error",
        ]

    @property
    def makes(self) -> bool:
        """Whether it makes arrays, which the caller gives back."""
        return any(result.lengths == "made" for result in self.results)

    @property
    def prototype(self) -> str:
        """Its head."""
        return "\n".join(filled(f"PB_EXPORT int32_t {self.name}(", self.parameters, ")"))


@dataclass(frozen=True, slots=True)
class Parts:
    """What the C files of a module are made of.

    made    lines that say how the module was made
    digest  the sum of all that its library is made from
    """

    natives: Natives
    functions: tuple[CFunction, ...]
    made: tuple[str, ...]
    digest: str

    @property
    def makers(self) -> list[str]:
        """The labels of the units whose functions make arrays."""
        return list(dict.fromkeys(f.unit.label for f in self.functions if f.makes))


def filled(start: str, items: Sequence[str], end: str, indent: int = 4) -> Iterator[str]:
    """A list in lines that fit."""
    line = start
    for k, item in enumerate(items):
        text = item + ("," if k < len(items) - 1 else end)
        if line.strip() and len(line) + len(text) + 1 > WIDTH and not line.endswith("("):
            yield line.rstrip()
            line = " " * indent
        line += text + (" " if k < len(items) - 1 else "")
    yield line
