"""The row function of a kernel: some rows of items that stand side by side, in loops that the compiler vectorises.

Sums into places of one buffer that may overlap are taken one after the other, each by a loop of its own over the row:
what is added waits in a stretch of memory of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pullback.backend.native.emit.elements import Elements, Parts, Reduction
from pullback.backend.native.emit.leaves import ArrayLeaf, Number, c_type, leaves_of
from pullback.backend.native.emit.stages import Stage, Stages, stages_of
from pullback.ir.nodes import Var


@dataclass(slots=True)
class Operand:
    """A pointer that walks the space.

    name     in the row function; `array` is its parameter of the kernel's function
    role     as c/kernels.h has it
    inner    its stride along the last axis as the row function takes it: the size of an item, or 0
    spans    it has the shape of the space
    """

    name: str
    array: str
    role: str
    dtype: Any
    rank: int
    inner: int
    spans: bool
    reduction: Reduction | None = None

    @property
    def ctype(self) -> str:
        """The C type of an item."""
        return c_type(self.dtype)

    @property
    def sink(self) -> bool:
        """Whether it is stored into."""
        return self.role in ("PB_STORED", "PB_ADDED")

    @property
    def read(self) -> bool:
        """Whether it is only read."""
        return self.role == "PB_READ"


@dataclass(slots=True)
class Row:
    """The C text of a row function, with the structs of what it is given and gives."""

    name: str  # of the kernel
    rank: int
    parts: Parts
    operands: list[Operand]
    lines: list[str] = field(default_factory=list)

    def text(self, loops: Sequence[str]) -> list[str]:
        """All of it.  `loops` are the functions of those along one axis, if it is one of them that it calls."""
        self._structs()
        self.lines += loops
        if loops:
            self._over_loop()
        else:
            self._row()
        return self.lines

    # -------------------------------------------------------------------------------------- loops along one axis

    def loop_name(self, strided: bool) -> str:
        """The C name of the loop along one axis."""
        return f"{self.name}_{'any' if strided else 'line'}"

    def loop(self, strided: bool) -> list[str]:
        """The loop along one axis: for items that stand side by side, or for any strides."""
        given = ["int64_t pb_n"]
        for x in self.operands:
            given.append(f"{'const ' if x.read else ''}char *{x.name}")
            given += [f"int64_t {x.name}_s"] * (strided and x.inner > 0)
        given += [f"{c_type(n.dtype)} {name}" for name, n in self.parts.numbers.items()]
        sums = [r for _, r in self.parts.whole()]
        given += [f"{self.accumulator(r)} *pb_to_{r.name}" for r in sums]
        before, stages, after = self._body(self._apart if strided else self._item)
        out = [f"PB_ONCE void {self.loop_name(strided)}({', '.join(given)}) {{"]
        out += [f"    {self.accumulator(r)} pb_acc_{r.name} = {r.identity()};" for r in sums]
        out += [f"    {line}" for line in before]
        out += [f"    {ctype} pb_kept_{name}[{stages.stretch}];" for name, ctype in stages.kept.items()]
        out += [f"    {line}" for line in self._stages(stages, " ".join(map(self._clause, sums)))]
        out += [f"    PB_ROW() for (int64_t pb_k = 0; pb_k < pb_n; pb_k++) {line}" for line in after]
        out += [f"    *pb_to_{r.name} = pb_acc_{r.name};" for r in sums]
        return [*out, "}"]

    def _over_loop(self) -> None:
        """The row function of a kernel of one axis."""
        self._add(
            f"PB_ONCE void {self.name}_row(int64_t pb_m, int64_t pb_n, char *const *pb_p, const int64_t *pb_s, const void *pb_c, void *pb_part) {{"
        )
        self._add("    (void)pb_m; (void)pb_s; (void)pb_c; (void)pb_part;")
        given = ["pb_n", *(f"pb_p[{k}]" for k in range(len(self.operands)))]
        given += [f"((const {self.name}_numbers *)pb_c)->{name}" for name in self.parts.numbers]
        given += [f"&(({self.name}_part *)pb_part)->{r.name}" for _, r in self.parts.whole()]
        self._add(f"    {self.loop_name(False)}({', '.join(given)});")
        self._add("}")

    def _structs(self) -> None:
        """The numbers of a call, and what a block of rows sums up."""
        if self.has_numbers:
            own = ["pb_host *host;", "int32_t *stopped;"] if self.parts.mapped is not None else []
            fields = " ".join(
                [*own, *(f"{c_type(n.dtype)} {name};" for name, n in self.parts.numbers.items())]
            )
            self._add(f"typedef struct {{ {fields} }} {self.name}_numbers;")
        if self.parts.whole():
            fields = " ".join(f"{self.accumulator(r)} {r.name};" for _, r in self.parts.whole())
            self._add(f"typedef struct {{ {fields} }} {self.name}_part;")
            fields = " ".join(f"{self.holder(r)} {r.name};" for _, r in self.parts.whole())
            self._add(f"typedef struct {{ {fields} }} {self.name}_all;")
        for r in self.parts.reductions:
            if self.local(r) and r.needs_items:
                t, name = self.accumulator(r), f"{self.name}_{r.name}"
                self._add(
                    f"PB_PRAGMA(omp declare reduction({name} : {t} : omp_out = {r.combine('omp_out', 'omp_in')}) "
                    f"initializer(omp_priv = {r.identity()}))"
                )

    @property
    def has_numbers(self) -> bool:
        """Whether the row function is told more than where its operands are."""
        return bool(self.parts.numbers) or self.parts.mapped is not None

    def _row(self) -> None:
        """Some rows of items."""
        self._head()
        sums = [r for r in self.parts.reductions if self.local(r)]
        for r in sums:
            self._add(f"    {self.accumulator(r)} pb_acc_{r.name} = {r.identity()};")
        self._loops(sums)
        if self.parts.mapped is not None:
            self._add("pb_left:")
            self._add("    pb_end_lists();")
            self._add("    if (PB_RARE(pb_stopped)) pb_stop(pb_told->host, &pb_own, pb_told->stopped);")
        for _, r in self.parts.whole():
            self._add(f"    (({self.name}_part *)pb_part)->{r.name} = pb_acc_{r.name};")
        self._add("}")

    def _head(self) -> None:
        """What a row function is given, by name."""
        self._add(
            f"PB_ONCE void {self.name}_row(int64_t pb_m, int64_t pb_n, char *const *pb_p, const int64_t *pb_s, const void *pb_c, void *pb_part) {{"
        )
        self._add("    (void)pb_s; (void)pb_c; (void)pb_part;")
        for k, x in enumerate(self.operands):
            self._add(f"    {'const ' if x.read else ''}char *{x.name} = pb_p[{k}];")
        for name, n in self.parts.numbers.items():
            self._add(f"    const {c_type(n.dtype)} {name} = ((const {self.name}_numbers *)pb_c)->{name};")
        if self.parts.mapped is not None:
            self._add(f"    const {self.name}_numbers *pb_told = pb_c;")
            self._add("    pb_host pb_own = *pb_told->host, *const host = &pb_own;")
            self._add("    int pb_stopped = 0;")

    def _loops(self, sums: list[Reduction]) -> None:
        """The loops over rows and their items; one that calls functions is not vectorised."""
        before, stages, after = self._body(self._item)
        self.lines += [f"    {line}" for line in before]
        for name, ctype in stages.kept.items():
            self._add(f"    {ctype} pb_kept_{name}[{stages.stretch}];")
        self._add("    for (int64_t pb_r = 0; pb_r < pb_m; pb_r++) {")
        clauses = " ".join(filter(None, map(self._clause, sums)))
        self.lines += [f"        {line}" for line in self._stages(stages, clauses)]
        for line in after:
            self._add(f"        PB_ROW() for (int64_t pb_k = 0; pb_k < pb_n; pb_k++) {line}")
        self._row_ends(sums)
        if self.rank > 1:
            for k, x in enumerate(self.operands):
                self._add(f"        {x.name} += pb_s[{k}];")
        self._add("    }")

    def _row_ends(self, sums: list[Reduction]) -> None:
        """What a row was reduced to goes to its place."""
        for r in sums:
            if not r.whole:
                at = f"*({c_type(r.dtype)} *)pb_a{r.index}"
                self._add(
                    f"        {at} = {r.combine(at, f'pb_acc_{r.name}')}; pb_acc_{r.name} = {r.identity()};"
                )

    def _stages(self, stages: Stages, clauses: str) -> list[str]:
        """The loops over a row: one, or one for each stage over stretches of it."""
        several = len(stages.stages) > 1
        low, high = ("pb_from", "pb_to") if several else ("0", "pb_n")
        out: list[str] = []
        if several:
            stretch = stages.stretch
            out.append(f"for (int64_t pb_from = 0; pb_from < pb_n; pb_from += {stretch}) {{")
            out.append(f"const int64_t pb_to = pb_from + {stretch} < pb_n ? pb_from + {stretch} : pb_n;")
        for stage in stages.stages:
            if self.parts.mapped is None:
                out.append(f"PB_ROW({clauses if stage is stages.stages[-1] else ''})")
            out.append(f"for (int64_t pb_k = {low}; pb_k < {high}; pb_k++) {{")
            out += [f"    {line}" for line in stage.lines]
            out += [f"    pb_kept_{name}[pb_k - pb_from] = {name};" for name in stage.keeps]
            out.append("}")
        return [*out, "}"] if several else out

    def _clause(self, r: Reduction) -> str:
        """The clause that lets the compiler reduce in an order of its own."""
        sign = {"add": "+", "multiply": "*", "or": "|", "and": "&"}.get(r.kind, f"{self.name}_{r.name}")
        return f"reduction({sign} : pb_acc_{r.name})"

    def _item(self, x: Operand) -> str:
        """The item of an operand at this step of a row."""
        return f"(({'const ' if x.read else ''}{x.ctype} *){x.name})[{'pb_k' if x.inner else 0}]"

    def _apart(self, x: Operand) -> str:
        """The same, where items are any distance apart."""
        at = f"{x.name} + pb_k * {x.name}_s" if x.inner else x.name
        return f"(*({'const ' if x.read else ''}{x.ctype} *)({at}))"

    def local(self, r: Reduction) -> bool:
        """Whether a row's items are all reduced to one."""
        return r.whole or self.rank - 1 in r.axes

    def accumulator(self, r: Reduction) -> str:
        """The C type in which a row is reduced."""
        return "double" if r.adds and r.dtype.name == "float32" else c_type(r.dtype)

    def _body(self, item: Callable[[Operand], str]) -> tuple[list[str], Stages, list[str]]:
        """What stands before the loop, the statements for an item in stages, and the loops that follow."""
        at = {x.name: item(x) for x in self.operands}
        texts = {var: at[x.name] for var, x in zip(self.parts.arrays, self.operands, strict=False)}
        elements = Elements(self.parts, texts)
        lines = elements.statements()
        before: list[str] = []
        out: list[str] = []
        after: list[str] = []
        for k, var in enumerate(self.parts.made):
            out.append(f"{at[f'pb_o{k}']} = {elements.of(var, _dtype(var))};")
        waiting = {f"x{k}": at[f"pb_x{k}"] for k in range(len(self.parts.arrays))}
        for k, sink in enumerate(self.parts.sinks):
            ctype, value, place = c_type(sink.dtype), elements.stored(sink), at[f"pb_w{k}"]
            if sink in self.parts.mixed():
                if value not in waiting:
                    waiting[value] = f"pb_v{k}[pb_k]"
                    before.append(f"{ctype} pb_v{k}[PB_BLOCK];")
                    out.append(f"pb_v{k}[pb_k] = {value};")
                after.append(f"{place} = ({ctype})({place} + {waiting[value]});")
            else:
                out.append(f"{place} = ({ctype})({place} + {value});" if sink.adds else f"{place} = {value};")
        for r in self.parts.reductions:
            acc = f"pb_acc_{r.name}" if self.local(r) else at[f"pb_a{r.index}"]
            out.append(f"{acc} = {elements.added(acc, r)};")
        if self.parts.mapped is not None:
            return before, Stages([Stage([*lines, *out, *elements.done()])], {}), after
        return before, stages_of(lines, elements.cuts, len(self.parts.arrays), out), after

    def holder(self, r: Reduction) -> str:
        """The C type in which all rows are."""
        return "pb_total" if r.adds and r.dtype.kind == "f" else self.accumulator(r)

    def _add(self, line: str) -> None:
        self.lines.append(line)


def _dtype(var: Var) -> Any:
    (leaf,) = leaves_of(var.style)
    assert isinstance(leaf, ArrayLeaf | Number)
    return leaf.dtype
