"""Kernels of one axis, run where they stand.

A kernel of one axis is one loop, a function of its own: base pointers in, and strides where these are not known.  It
is there twice, for items that stand side by side, which the compiler vectorises, and for any strides.  What calls it
checks lengths, makes room for results, and sees whether something is read that the loop writes elsewhere; all that is
odd goes to the walk (`pb_run`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pullback.backend.native.emit.element import ufunc_of
from pullback.backend.native.emit.leaves import c_type, code_of

if TYPE_CHECKING:
    from pullback.backend.native.emit.kernels import KernelEmitter
    from pullback.backend.native.emit.rows import Operand

CHEAP = frozenset({
    "add", "subtract", "multiply", "negative", "positive", "absolute", "square", "maximum", "minimum", "less", "greater",
    "less_equal", "greater_equal", "equal", "not_equal", "logical_and", "logical_or", "logical_not", "fabs", "conjugate",
})  # fmt: skip
_SINGLY = CHEAP | {"divide", "sqrt", "reciprocal"}  # as fast item by item as packed and vectorised


@dataclass(frozen=True, slots=True)
class Line:
    """The C text of a kernel of one axis, and of what calls it."""

    kernel: KernelEmitter
    length: str  # of its loop
    first: Operand | None  # the operand that tells it

    def functions(self) -> list[str]:
        """The loops: for items side by side, for any strides."""
        row = self.kernel.row
        return [*row.loop(False), *(row.loop(True) if self._strided() else [])]

    def _strided(self) -> bool:
        """Whether the loop is there for any strides: else what is strided is packed first."""
        ufuncs = [ufunc_of(call) for call in self.kernel.parts.elementwise]
        moves = any(x.rank and x.inner and x.role != "PB_MADE" for x in self.kernel.operands)
        return moves and all(u is None or u.__name__ in _SINGLY for u in ufuncs)

    def body(self, otherwise: str) -> list[str]:
        """The statements that run it; `otherwise` is what is called where something is odd."""
        out = [f"    const int64_t n = {self.length};"]
        out.append(f"    if (PB_OFTEN({' && '.join(self._tests())})) {{")
        out += [f"        {line}" for line in self._run()]
        out += ["        return 0;", "    }"]
        return [*out, f"    return {otherwise};"]

    def _tests(self) -> list[str]:
        operands = self.kernel.operands
        nonzero = any(r.needs_items for r in self.kernel.parts.reductions)
        tests = ["n <= PB_BLOCK && n > 0" if nonzero else "(uint64_t)n <= PB_BLOCK"]
        moving = [x for x in operands if x.rank and x.inner and x.role != "PB_MADE"]
        tests += [f"{x.array}.n[0] == n" for x in moving if x is not self.first]
        if not self._strided():
            tests += [f"{x.array}.s[0] == {x.inner}" for x in moving]
        for made in (x for x in operands if x.role == "PB_MADE"):
            for x in operands:
                if x.sink or (x.read and not x.inner):
                    tests.append(f"{x.array}.owner != {made.array}->owner")
                elif x.read and self._strided():
                    tests.append(f"({x.array}.owner != {made.array}->owner || {x.array}.s[0] == {x.inner})")
        for sink in (x for x in operands if x.sink):
            for x in (x for x in operands if x.read):
                there, step = f"{x.array}.data", f"{x.array}.s[0]" if x.inner else "0"
                tests.append(
                    f"(PB_OFTEN({sink.array}.owner != {x.array}.owner) || "
                    f"pb_clear(n, {sink.array}.data, {sink.array}.s[0], {sink.dtype.itemsize}, {there}, {step}, {x.dtype.itemsize}))"
                )
        return tests

    def _run(self) -> list[str]:
        made = [x for x in self.kernel.operands if x.role == "PB_MADE"]
        out: list[str] = []
        olds: list[str] = []
        for x in made:
            old = f"pb_old_{x.array}"
            back = "".join(f"pb_release(host, {y}); " for y in olds)
            out.append(f"pb_buffer *{old} = NULL;")
            out.append(
                f"if (PB_RARE(!pb_ready({x.array}, {x.dtype.itemsize}, n)) && PB_RARE(!pb_replace(host, {x.array}, "
                f"{code_of(x.dtype)}, {x.dtype.itemsize}, n, &{old}))) {{ {back}host->line = {self.kernel.place}; return 1; }}"
            )
            out.append(f"{x.array}->n[0] = n; {x.array}->s[0] = {x.inner};")
            olds.append(old)
        for _, r in self.kernel.parts.whole():
            out.append(f"{self.kernel.row.accumulator(r)} pb_part{r.index};")
        moving = [x for x in self.kernel.operands if x.rank and x.inner and x.role != "PB_MADE"]
        if self._strided():
            side = " && ".join(f"{x.array}.s[0] == {x.inner}" for x in moving)
            out += [f"if ({side})", f"    {self._call(False)}", "else", f"    {self._call(True)}"]
        else:
            out.append(self._call(False))
        out += [f"pb_release(host, {old});" for old in olds]
        for k, r in self.kernel.parts.whole():
            value = f"(pb_part{r.index} / n)" if r.mean else f"pb_part{r.index}"
            out.append(f"*a{k} = ({c_type(r.dtype)}){value};")
        return out

    def _call(self, strided: bool) -> str:
        given = ["n"]
        for x in self.kernel.operands:
            name = f"{x.array}{'->' if x.role == 'PB_MADE' else '.'}"
            given.append(f"{name}data")
            if strided and x.inner:
                given.append(f"{name}s[0]" if x.rank else str(x.inner))
        given += self.kernel.parts.numbers
        given += [f"&pb_part{r.index}" for _, r in self.kernel.parts.whole()]
        return f"{self.kernel.row.loop_name(strided)}({', '.join(given)});"


def line_of(kernel: KernelEmitter) -> Line | None:
    """How a kernel runs where it stands; None for one of several axes, or that calls functions for its items."""
    operands = kernel.operands
    odd = any(x.rank > 1 or x.role == "PB_REDUCED" or (x.rank == 0 and not x.read) for x in operands)
    if len(kernel.kernel.space) != 1 or odd or kernel.parts.mapped is not None:
        return None
    if kernel.makes_shape:
        return Line(kernel, "shape[0]", None)
    moving = [x for x in operands if x.inner and x.role != "PB_MADE"]
    first = next((x for x in moving if x.spans), None) or next((x for x in moving if x.sink), None)
    first = first or next(iter(moving), None)  # where all have one length, it is that of the space
    return None if first is None else Line(kernel, f"{first.array}.n[0]", first)
