"""A kernel as C: a row function, a table of its operands, and a function that calls them.

The row function takes rows of items that stand side by side; the compiler vectorises it.  The table goes to `pb_run`
(c/kernels.h), which walks the space, packs what does not stand side by side, and stores through a temporary where
another operand could see too early what is stored, as NumPy does.  A kernel of one axis is mostly run at once
(`lines`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pullback.backend.native.emit.element import ufunc_of
from pullback.backend.native.emit.elements import Parts, analyse
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import ArrayLeaf, c_type, code_of, leaves_of
from pullback.backend.native.emit.lines import CHEAP, Line, line_of
from pullback.backend.native.emit.rows import Operand, Row
from pullback.ir.kernel import Kernel
from pullback.ir.mapped import mapped_of
from pullback.ir.nodes import Var
from pullback.styles.style import Array, same_length

if TYPE_CHECKING:
    from pullback.backend.native.emit.module import ModuleEmitter

_CALL_COST = 10  # of a function, where a sum costs one


@dataclass(slots=True)
class KernelEmitter:
    """The C text of one kernel."""

    module: ModuleEmitter
    kernel: Kernel
    name: str
    place: int
    often: bool = False  # it stands in a loop: what runs it at once stands there too
    lines: list[str] = field(default_factory=list)
    parts: Parts = field(init=False)
    rank: int = field(init=False)
    operands: list[Operand] = field(init=False)
    row: Row = field(init=False)
    line: Line | None = field(init=False)

    def text(self) -> list[str]:
        """All of it."""
        self.parts = analyse(self.kernel, self.module)
        self.rank = max(len(self.kernel.space), 1)
        self.operands = [*self._inputs(), *self._outputs()]
        if not self.operands or (self._unshaped() and self.kernel.space):
            raise Untaken("a kernel that makes its own shape")
        self.row = Row(self.name, self.rank, self.parts, self.operands)
        self.line = line_of(self)
        self.lines += self.row.text(self.line.functions() if self.line is not None else [])
        self._fold()
        self._table()
        self._function()
        if self.line is not None:
            self._at_once(self.line)
        return self.lines

    def passed(self, name: str) -> str:
        """An array as an argument: its address, or itself to what runs a kernel of one axis."""
        return name if self.line is not None else f"&{name}"

    @property
    def makes_shape(self) -> bool:
        """Whether the shape of the space is an operand of its own."""
        return self.parts.shape is not None and not any(map(self._spans, self.parts.arrays))

    def _unshaped(self) -> bool:
        """Whether nothing tells the shape of the space."""
        return (
            not self.makes_shape
            and not self.parts.arrays
            and not any(x.sink and x.spans for x in self.operands)
        )

    def _spans(self, var: Var) -> bool:
        axes, space = var.style.axes, self.kernel.space  # type: ignore[union-attr]
        return axes is not None and len(axes) == len(space) > 0 and all(map(same_length, axes, space))

    # ------------------------------------------------------------------------------------------- operands

    def _inputs(self) -> list[Operand]:
        return [self._operand(f"pb_x{k}", f"x{k}", v, "PB_READ") for k, v in enumerate(self.parts.arrays)]

    def _operand(self, name: str, array: str, var: Var, role: str) -> Operand:
        (leaf,) = leaves_of(var.style)
        assert isinstance(leaf, ArrayLeaf) and isinstance(var.style, Array) and var.style.axes is not None
        axes, space = var.style.axes, self.kernel.space
        spread = not axes or (axes[-1] == 1 and space[-1] != 1)
        inner = 0 if spread else leaf.dtype.itemsize
        return Operand(name, array, role, leaf.dtype, leaf.rank, inner, self._spans(var))

    def _outputs(self) -> list[Operand]:
        out = [self._operand(f"pb_o{k}", f"o{k}", v, "PB_MADE") for k, v in enumerate(self.parts.made)]
        for k, sink in enumerate(self.parts.sinks):
            alone = k == 0 and not self.parts.arrays and not self.makes_shape
            tells = alone and sink.rank == len(self.kernel.space)
            role = "PB_ADDED" if sink.adds else "PB_STORED"
            out.append(Operand(f"pb_w{k}", f"d{k}", role, sink.dtype, sink.rank, sink.dtype.itemsize, tells))
        for k, r in self.parts.along():
            inner = 0 if self.rank - 1 in r.axes else r.dtype.itemsize
            out.append(Operand(f"pb_a{k}", f"a{k}", "PB_REDUCED", r.dtype, r.rank, inner, False, r))
        return out

    # ------------------------------------------------------------------------------------------------- sums

    def _fold(self) -> None:
        """What a block has summed up goes to the rest."""
        if not self.parts.whole():
            return
        self._add(f"static void {self.name}_fold(void *pb_all, const void *pb_part) {{")
        self._add(f"    {self.name}_all *all = pb_all; const {self.name}_part *part = pb_part;")
        for _, r in self.parts.whole():
            if self.row.holder(r) == "pb_total":
                self._add(f"    pb_add_total(&all->{r.name}, part->{r.name});")
            else:
                self._add(f"    all->{r.name} = {r.combine(f'all->{r.name}', f'part->{r.name}')};")
        self._add("}")

    # ------------------------------------------------------------------------------------------------ the table

    def _table(self) -> None:
        for x in self.operands:
            if x.reduction is not None:
                self._add(f"static const {x.ctype} {self.name}_{x.name} = {x.reduction.identity()};")
        self._add(f"static const pb_role {self.name}_roles[] = {{")
        for x in self.operands:
            tail = ", 0, 0, NULL"
            if x.reduction is not None:
                mask = sum(1 << k for k in x.reduction.axes)
                tail = f", {int(x.reduction.keepdims)}, {mask}, &{self.name}_{x.name}"
            self._add(
                f"    {{{x.role}, {x.rank}, {code_of(x.dtype)}, {x.dtype.itemsize}, {x.inner}, {int(x.spans)}{tail}}},"
            )
        self._add("};")
        whole = bool(self.parts.whole())
        fold, part = (f"{self.name}_fold", f"sizeof({self.name}_part)") if whole else ("NULL", "0")
        nonzero = int(any(r.needs_items for r in self.parts.reductions) or self._needs_elements())
        self._add(
            f"static const pb_kernel {self.name}_table = {{{self.name}_row, {fold}, {self.name}_roles, {len(self.operands)}, "
            f"{self.rank}, {len(self.kernel.space)}, {self.place}, {part}, {self._cost()}, {nonzero}, {int(self._ordered())}}};"
        )

    def _needs_elements(self) -> bool:
        """Whether NumPy would make something of another dtype of no elements."""
        calls = self.parts.mapped.calls if self.parts.mapped is not None else ()
        return any(mapped_of(c) is not None and c.targets[0].style.dtype != np.float64 for c in calls)  # type: ignore[union-attr]

    def _ordered(self) -> bool:
        """Whether rows must be taken one after the other: several may change one item."""
        return bool(self.parts.along() or self.parts.mixed())

    def _cost(self) -> int:
        """What an item costs, about."""
        cost = len(self.operands) + (0 if self.parts.mapped is None else self.parts.mapped.cost())
        for call in self.parts.elementwise:
            ufunc = ufunc_of(call)
            cost += 1 if ufunc is None or ufunc.__name__ in CHEAP else _CALL_COST
        return cost

    # --------------------------------------------------------------------------------------------- the function

    def _parameters(self, values: bool = False) -> list[str]:
        """The parameters of the kernel's function; arrays that are not made as `values`, or by address."""
        star = " " if values else " *"
        out = ["pb_host *host"]
        out += [f"const pb_array{x.rank}{star}{x.array}" for x in self.operands if x.read]
        out += [f"{c_type(n.dtype)} {name}" for name, n in self.parts.numbers.items()]
        out += ["const int64_t *shape"] * self.makes_shape
        out += [f"const pb_array{x.rank}{star}{x.array}" for x in self.operands if x.sink]
        out += [f"pb_array{x.rank} *{x.array}" for x in self.operands if x.role == "PB_MADE"]
        out += [f"{r.declared()} *a{r.index}" for r in self.parts.reductions]
        return out

    def _function(self) -> None:
        name = f"{self.name}_walk" if self.line is not None else self.name
        self._add(f"PB_ONCE int32_t {name}({', '.join(self._parameters())}) {{")
        numbers, all_ = "NULL", "NULL"
        if self.parts.mapped is not None:
            self._add("    int32_t stopped = 0;")
        if self.row.has_numbers:
            given = ["host", "&stopped"] if self.parts.mapped is not None else []
            self._add(
                f"    const {self.name}_numbers numbers = {{{', '.join([*given, *self.parts.numbers])}}};"
            )
            numbers = "&numbers"
        if self.parts.whole():
            starts = ", ".join(
                "{0, 0}" if self.row.holder(r) == "pb_total" else r.identity() for _, r in self.parts.whole()
            )
            self._add(f"    {self.name}_all all = {{{starts}}};")
            all_ = "&all"
        self._add("    int64_t total;")
        arrays = ", ".join(f"(void *){x.array}" for x in self.operands)
        shape = self._shape()
        run = f"pb_run(host, &{self.name}_table, (void *[]){{{arrays}}}, {shape}, {numbers}, &total, {all_})"
        self._add(f"    if (PB_RARE({run})) return 1;")
        if self.parts.mapped is not None:
            self._add("    if (PB_RARE(stopped)) return 1;")
        self._after()
        self._add("    return 0;")
        self._add("}")

    def _at_once(self, line: Line) -> None:
        """What runs a kernel of one axis: at once, or by the walk, which gets copies of the arrays' structs."""
        kind = "PB_FORCED" if self.often else "PB_ONCE"
        self._add(f"{kind} int32_t {self.name}({', '.join(self._parameters(True))}) {{")
        values = [x for x in self.operands if x.read or x.sink]
        given = ["host"]
        given += [f"(pb_array{x.rank}[]){{{x.array}}}" for x in values if x.read]
        given += self.parts.numbers
        given += ["shape"] * self.makes_shape
        given += [f"(pb_array{x.rank}[]){{{x.array}}}" for x in values if x.sink]
        given += [x.array for x in self.operands if x.role == "PB_MADE"]
        given += [f"a{r.index}" for r in self.parts.reductions]
        self.lines += line.body(f"{self.name}_walk({', '.join(given)})")
        self._add("}")

    def _shape(self) -> str:
        """The shape that the walk begins with, where one is told or known."""
        if self.makes_shape:
            return "shape"
        known = [str(axis) if isinstance(axis, int) else "1" for axis in self.kernel.space]
        if not self.parts.arrays or any(map(self._spans, self.parts.arrays)) or set(known) <= {"1"}:
            return "NULL"
        return f"(const int64_t[]){{{', '.join(known)}}}"

    def _after(self) -> None:
        """Results of whole reductions, and means."""
        for k, r in self.parts.whole():
            value = f"pb_total_of(&all.{r.name})" if self.row.holder(r) == "pb_total" else f"all.{r.name}"
            if r.mean:
                value = f"({value} / total)"
            self._add(f"    *a{k} = ({c_type(r.dtype)}){value};")
        for k, r in self.parts.along():
            if r.mean:
                self._add(f"    const int64_t left{k} = pb_count({r.rank}, a{k}->n);")
                self._add(
                    f"    for (int64_t i = 0; i < left{k}; i++) (({c_type(r.dtype)} *)a{k}->data)[i] /= ({c_type(r.dtype)})(total / left{k});"
                )
        self._add("    (void)total;")

    def _add(self, line: str) -> None:
        self.lines.append(line)
