"""The C files of a module, and C alone.

loss_grad.h           one function for each gradient, with typed parameters under the user's names
loss_grad.c           all that it needs: our routines, the entries, these functions
loss_grad_example.c   a program that calls them on some numbers
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pullback.aot.c_example import example_text
from pullback.aot.c_functions import CFunction, Parts
from pullback.aot.c_header import header_text
from pullback.aot.c_names import signature_of
from pullback.aot.c_source import code, source_text
from pullback.aot.entries import Entry
from pullback.aot.header import made
from pullback.aot.natives import Natives, natives_of
from pullback.aot.outputs import Output, write_all
from pullback.aot.units import GRADIENTS, Unit, compile_entry
from pullback.dispatch.collector import paused
from pullback.errors import NativeError


class CFiles(Parts):
    """The C files of a module, but for its name: `texts` has them."""

    def texts(self, stem: str) -> dict[str, str]:
        """The text of each file of a module that is called so."""
        found = {f"{stem}.c": source_text(self, stem), f"{stem}.h": header_text(self, stem)}
        if self.functions:
            found[f"{stem}_example.c"] = example_text(self, stem)
        return found


def c_module(entries: Sequence[Entry], command: str, check: str = "") -> CModule:
    """The C files of some entries, alone.  Raises NativeError for what C does not take without NumPy."""
    with paused():
        units = [compile_entry(e) for e in entries]
        natives = natives_of(units, alone=True)
        if natives.left:
            left = natives.left[0]
            raise NativeError(f"C alone does not take {left.reason}", loc=left.loc, hint=_WAY_OUT)
        files = c_files(units, natives, made(units, command, check, "These files were"))
    return CModule(files)


_WAY_OUT = "--native writes C beside a Python module, and leaves to NumPy what C does not take"


@dataclass(frozen=True, slots=True)
class CModule:
    """Gradients as C alone."""

    c: CFiles

    @property
    def names(self) -> tuple[str, ...]:
        """The functions."""
        return tuple(f.name for f in self.c.functions)

    def outputs(self, path: str | os.PathLike[str]) -> list[Output]:
        """The files; `path` is that of the C text."""
        target = Path(path)
        return [Output(target.with_name(name), text) for name, text in self.c.texts(target.stem).items()]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the files, each whole or not at all.  Raises ArgumentError where that cannot be."""
        write_all(self.outputs(path))

    def is_current(self, path: str | os.PathLike[str]) -> bool:
        """Whether all files are there as they would be written."""
        return all(output.status() == "current" for output in self.outputs(path))


def c_files(units: Sequence[Unit], natives: Natives, made: Sequence[str]) -> CFiles:
    """The C files of some units.  `made` are lines that say how."""
    functions = []
    for unit in units:
        native = natives.entries.get(unit.label)
        if native is not None and not native.needs:
            signature = signature_of(unit, native)
            forms = [form for form in GRADIENTS if form in unit.entry.forms]
            functions += [CFunction(unit, form, signature) for form in forms]
    files = Parts(natives, tuple(functions), tuple(made), "")
    digest = hashlib.sha256(code(files).encode()).hexdigest()
    return CFiles(natives, tuple(functions), tuple(made), digest)
