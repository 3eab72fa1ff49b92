"""What stands at the head of made files: of what they are, how they are made anew, for which types of arguments."""

from __future__ import annotations

from collections.abc import Sequence

from pullback.aot.baked import Baked
from pullback.aot.imports import Imports, needs_compiler
from pullback.aot.natives import Natives
from pullback.aot.text import INDENT, command_lines, docstring, paragraph
from pullback.aot.units import Unit


def made(units: Sequence[Unit], command: str, check: str, what: str) -> list[str]:
    """Of which functions files are, how they were made, the types of the arguments.  `what`: "This file was"."""
    from pullback import __version__

    said = " and ".join(
        f"`{u.compiled.name}` ({str(u.compiled.lowered.function.loc).split(':')[0]})" for u in units
    )
    lines = [*paragraph(f"Gradients of {said}, compiled ahead of time by pullback {__version__}."), ""]
    again = "is" if what.startswith("This") else "are"
    lines += [f"{what} made, and {again} made anew, by", ""]
    lines += [*[INDENT + line for line in command_lines(command)], ""]
    if check:
        lines += [*paragraph(check), ""]
    lines.append("The types of the arguments:")
    for u in units:
        lines += paragraph(f"{u.place}: {u.entry.declared.text}".replace("`", "").rstrip(), INDENT, INDENT)
    return lines


def header(
    units: Sequence[Unit], baked: Baked, imports: Imports, command: str, check: str, natives: Natives | None
) -> str:
    """The docstring of a module."""
    lines = made(units, command, check, "This file was")
    values = [*baked.said, *dict.fromkeys(text for u in units for text in u.folded())]
    if values:
        lines += ["", "Values from outside the functions, as they were when this file was made:"]
        lines += [line for text in values for line in paragraph(text, INDENT, INDENT)]
    if natives is not None:
        lines += ["", *_of_library(natives)]
    if imports.of_users:
        lines += ["", *paragraph(f"It imports NumPy and {', '.join(imports.of_users)}.")]
        ours = [m for m in imports.of_users if needs_compiler(m)]
        lines += [f"It needs pullback where it runs, for {', '.join(ours)} imports that."] if ours else []
    else:
        lines += ["", "It needs NumPy alone."]
    lines.append("It runs under Python 3.10 and later.")
    for text in dict.fromkeys(text for u in units for text in u.versions()):
        lines += paragraph(f"It is for {text}.")
    return "\n".join(docstring(lines))


def _of_library(natives: Natives) -> list[str]:
    """What the library of C beside a module does, and what it does not."""
    lines = []
    if natives.entries:
        names = " and ".join(natives.entries)
        lines += paragraph(
            f"Where the library of C beside this file can be used, it computes the gradient of {names}: "
            "`native_status()` tells. Else NumPy does, with the functions below."
        )
    for left in natives.left:
        lines += paragraph(f"Left to NumPy: {left.said}.")
    return lines
