"""A kernel as C: a row function, a table of its operands, and a function that calls them.

The row function takes rows of items that stand side by side; the compiler vectorises it.  The table goes to `pb_run`
(c/kernels.h), which walks the space, packs what does not stand side by side, and stores through a temporary where
another operand could see too early what is stored, as NumPy does.  A kernel of one axis whose operands all stand side
by side and whose results have room is run at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pullback.backend.native.emit.element import ufunc_of
from pullback.backend.native.emit.elements import Elements, Parts, Reduction, Sink, analyse
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import ArrayLeaf, Number, c_type, code_of, leaves_of
from pullback.ir.kernel import Kernel
from pullback.ir.nodes import Var
from pullback.styles.style import Array, same_length

if TYPE_CHECKING:
    from pullback.backend.native.emit.module import ModuleEmitter

_CHEAP = frozenset({
    "add", "subtract", "multiply", "negative", "positive", "absolute", "square", "maximum", "minimum", "less", "greater",
    "less_equal", "greater_equal", "equal", "not_equal", "logical_and", "logical_or", "logical_not", "fabs", "conjugate",
})  # fmt: skip
_CALL_COST = 10  # of a function, where a sum costs one


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
class KernelEmitter:
    """The C text of one kernel."""

    module: ModuleEmitter
    kernel: Kernel
    name: str
    place: int
    lines: list[str] = field(default_factory=list)
    parts: Parts = field(init=False)
    rank: int = field(init=False)
    operands: list[Operand] = field(init=False)

    def text(self) -> list[str]:
        """All of it."""
        self.parts = analyse(self.kernel)
        self.rank = max(len(self.kernel.space), 1)
        self.operands = [*self._inputs(), *self._outputs()]
        if not self.operands or (self._unshaped() and self.kernel.space):
            raise Untaken("a kernel that makes its own shape")
        self._structs()
        self._row()
        self._fold()
        self._table()
        self._function()
        return self.lines

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

    # ------------------------------------------------------------------------------------------------ a row

    def _structs(self) -> None:
        """The numbers of a call, and what a block of rows sums up."""
        if self.parts.numbers:
            fields = " ".join(f"{c_type(n.dtype)} {name};" for name, n in self.parts.numbers.items())
            self._add(f"typedef struct {{ {fields} }} {self.name}_numbers;")
        if self.parts.whole():
            fields = " ".join(f"{self._accumulator(r)} {r.name};" for _, r in self.parts.whole())
            self._add(f"typedef struct {{ {fields} }} {self.name}_part;")
            fields = " ".join(f"{self._holder(r)} {r.name};" for _, r in self.parts.whole())
            self._add(f"typedef struct {{ {fields} }} {self.name}_all;")
        for r in self.parts.reductions:
            if self._local(r) and r.needs_items:
                t, name = self._accumulator(r), f"{self.name}_{r.name}"
                self._add(
                    f"PB_PRAGMA(omp declare reduction({name} : {t} : omp_out = {r.combine('omp_out', 'omp_in')}) "
                    f"initializer(omp_priv = {r.identity()}))"
                )

    def _row(self) -> None:
        """Some rows of items."""
        self._add(
            f"PB_ONCE void {self.name}_row(int64_t pb_m, int64_t pb_n, char *const *pb_p, const int64_t *pb_s, const void *pb_c, void *pb_part) {{"
        )
        self._add("    (void)pb_c; (void)pb_part;")
        for k, x in enumerate(self.operands):
            self._add(f"    {'const ' if x.read else ''}char *{x.name} = pb_p[{k}];")
        for name, n in self.parts.numbers.items():
            self._add(f"    const {c_type(n.dtype)} {name} = ((const {self.name}_numbers *)pb_c)->{name};")
        sums = [r for r in self.parts.reductions if self._local(r)]
        for r in sums:
            self._add(f"    {self._accumulator(r)} pb_acc_{r.name} = {r.identity()};")
        self._add("    for (int64_t pb_r = 0; pb_r < pb_m; pb_r++) {")
        self._add(f"        PB_ROW({' '.join(filter(None, map(self._clause, sums)))})")
        self._add("        for (int64_t pb_k = 0; pb_k < pb_n; pb_k++) {")
        self.lines += [f"            {line}" for line in self._body()]
        self._add("        }")
        for r in sums:
            if not r.whole:
                at = f"*({c_type(r.dtype)} *)pb_a{r.index}"
                self._add(
                    f"        {at} = {r.combine(at, f'pb_acc_{r.name}')}; pb_acc_{r.name} = {r.identity()};"
                )
        if self.rank > 1:
            for k, x in enumerate(self.operands):
                self._add(f"        {x.name} += pb_s[{k}];")
        self._add("    }")
        for _, r in self.parts.whole():
            self._add(f"    (({self.name}_part *)pb_part)->{r.name} = pb_acc_{r.name};")
        self._add("}")

    def _clause(self, r: Reduction) -> str:
        """The clause that lets the compiler reduce in an order of its own."""
        sign = {"add": "+", "multiply": "*", "or": "|", "and": "&"}.get(r.kind, f"{self.name}_{r.name}")
        return f"reduction({sign} : pb_acc_{r.name})"

    def _item(self, x: Operand) -> str:
        """The item of an operand at this step of a row."""
        return f"(({'const ' if x.read else ''}{x.ctype} *){x.name})[{'pb_k' if x.inner else 0}]"

    def _local(self, r: Reduction) -> bool:
        """Whether a row's items are all reduced to one."""
        return r.whole or self.rank - 1 in r.axes

    def _accumulator(self, r: Reduction) -> str:
        return "double" if r.adds and r.dtype.name == "float32" else c_type(r.dtype)

    def _body(self) -> list[str]:
        at = {x.name: self._item(x) for x in self.operands}
        texts = {var: at[x.name] for var, x in zip(self.parts.arrays, self.operands, strict=False)}
        elements = Elements(self.parts, texts)
        out = elements.statements()
        for k, var in enumerate(self.parts.made):
            out.append(f"{at[f'pb_o{k}']} = {elements.of(var, _dtype(var))};")
        for k, sink in enumerate(self.parts.sinks):
            out.append(self._stored(sink, elements, at[f"pb_w{k}"]))
        for r in self.parts.reductions:
            acc = f"pb_acc_{r.name}" if self._local(r) else at[f"pb_a{r.index}"]
            out.append(f"{acc} = {r.combine(acc, elements.reduced(r))};")
        return out

    def _stored(self, sink: Sink, elements: Elements, at: str) -> str:
        ctype, value = c_type(sink.dtype), elements.stored(sink)
        return f"{at} = ({ctype})({at} + {value});" if sink.adds else f"{at} = {value};"

    # ------------------------------------------------------------------------------------------------- sums

    def _holder(self, r: Reduction) -> str:
        return "pb_total" if r.adds and r.dtype.kind == "f" else self._accumulator(r)

    def _fold(self) -> None:
        """What a block has summed up goes to the rest."""
        if not self.parts.whole():
            return
        self._add(f"static void {self.name}_fold(void *pb_all, const void *pb_part) {{")
        self._add(f"    {self.name}_all *all = pb_all; const {self.name}_part *part = pb_part;")
        for _, r in self.parts.whole():
            if self._holder(r) == "pb_total":
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
            tail = ""
            if x.reduction is not None:
                mask = sum(1 << k for k in x.reduction.axes)
                tail = f", {int(x.reduction.keepdims)}, {mask}, &{self.name}_{x.name}"
            self._add(
                f"    {{{x.role}, {x.rank}, {code_of(x.dtype)}, {x.dtype.itemsize}, {x.inner}, {int(x.spans)}{tail}}},"
            )
        self._add("};")
        whole = bool(self.parts.whole())
        fold, part = (f"{self.name}_fold", f"sizeof({self.name}_part)") if whole else ("NULL", "0")
        nonzero = int(any(r.needs_items for r in self.parts.reductions))
        self._add(
            f"static const pb_kernel {self.name}_table = {{{self.name}_row, {fold}, {self.name}_roles, {len(self.operands)}, "
            f"{self.rank}, {len(self.kernel.space)}, {self.place}, {part}, {self._cost()}, {nonzero}, {int(bool(self.parts.along()))}}};"
        )

    def _cost(self) -> int:
        """What an item costs, about."""
        cost = len(self.operands)
        for call in self.parts.elementwise:
            ufunc = ufunc_of(call)
            cost += 1 if ufunc is None or ufunc.__name__ in _CHEAP else _CALL_COST
        return cost

    # --------------------------------------------------------------------------------------------- the function

    def _parameters(self) -> list[str]:
        out = ["pb_host *host"]
        out += [f"pb_array{x.rank} *{x.array}" for x in self.operands if x.read]
        out += [f"{c_type(n.dtype)} {name}" for name, n in self.parts.numbers.items()]
        out += ["const int64_t *shape"] * self.makes_shape
        out += [f"pb_array{x.rank} *{x.array}" for x in self.operands if x.sink]
        out += [f"pb_array{x.rank} *{x.array}" for x in self.operands if x.role == "PB_MADE"]
        out += [f"{r.declared()} *a{r.index}" for r in self.parts.reductions]
        return out

    def _function(self) -> None:
        self._add(f"static int32_t {self.name}({', '.join(self._parameters())}) {{")
        numbers, all_ = "NULL", "NULL"
        if self.parts.numbers:
            self._add(f"    const {self.name}_numbers numbers = {{{', '.join(self.parts.numbers)}}};")
            numbers = "&numbers"
        if self.parts.whole():
            starts = ", ".join(
                "{0, 0}" if self._holder(r) == "pb_total" else r.identity() for _, r in self.parts.whole()
            )
            self._add(f"    {self.name}_all all = {{{starts}}};")
            all_ = "&all"
        self._add("    int64_t total;")
        arrays = ", ".join(x.array for x in self.operands)
        shape = self._shape()
        run = f"pb_run(host, &{self.name}_table, (void *[]){{{arrays}}}, {shape}, {numbers}, &total, {all_})"
        test = self._at_once()
        if test:
            self._add(f"    if (PB_OFTEN({' && '.join(test)})) {{")
            self._direct(numbers)
            self._add(f"    }} else if (PB_RARE({run})) return 1;")
        else:
            self._add(f"    if (PB_RARE({run})) return 1;")
        self._after()
        self._add("    return 0;")
        self._add("}")

    def _shape(self) -> str:
        """The shape that the walk begins with, where one is told or known."""
        if self.makes_shape:
            return "shape"
        known = [str(axis) if isinstance(axis, int) else "1" for axis in self.kernel.space]
        if not self.parts.arrays or any(map(self._spans, self.parts.arrays)) or set(known) <= {"1"}:
            return "NULL"
        return f"(const int64_t[]){{{', '.join(known)}}}"

    def _at_once(self) -> list[str]:
        """The tests under which a kernel of one axis is run at once; none where it never is."""
        kinds = {x.role for x in self.operands}
        first = next((x for x in self.operands if x.read and x.spans and x.inner), None)
        first = first or next((x for x in self.operands if x.spans and x.sink), None)
        if len(self.kernel.space) != 1 or "PB_REDUCED" in kinds or first is None or self._needs():
            return []
        self._add(f"    const int64_t n = {first.array}->n[0];")
        tests = ["n <= PB_BLOCK"]
        for x in self.operands:
            if not x.rank or not x.inner:
                continue
            if x.role == "PB_MADE":
                tests.append(f"pb_ready({x.array}, {x.dtype.itemsize}, n)")
                tests += [f"{x.array}->owner != {y.array}->owner" for y in self.operands if y.sink]
                continue
            tests += [f"{x.array}->n[0] == n"] * (x is not first)
            tests.append(f"{x.array}->s[0] == {x.inner}")
        for x in self.operands:
            if x.sink:
                for y in self.operands:
                    if y.read:
                        size = f"n * {y.inner}" if y.inner else str(y.dtype.itemsize)
                        tests.append(
                            f"pb_apart({x.array}->data, n * {x.inner}, {y.array}->data, {size}, {int(x.inner == y.inner)})"
                        )
        return tests

    def _needs(self) -> bool:
        return any(r.needs_items for r in self.parts.reductions) or any(
            x.rank > 1 or (x.rank == 0 and not x.read) for x in self.operands
        )

    def _direct(self, numbers: str) -> None:
        """Run the row function at once."""
        for x in self.operands:
            if x.role == "PB_MADE":
                self._add(f"        {x.array}->n[0] = n; {x.array}->s[0] = {x.inner};")
        at = ", ".join(f"{x.array}->data" for x in self.operands)
        part = "NULL"
        if self.parts.whole():
            self._add(f"        {self.name}_part part;")
            part = "&part"
        self._add(f"        {self.name}_row(1, n, (char *[]){{{at}}}, NULL, {numbers}, {part});")
        if self.parts.whole():
            self._add(f"        {self.name}_fold(&all, &part);")
        self._add("        total = n;")

    def _after(self) -> None:
        """Results of whole reductions, and means."""
        for k, r in self.parts.whole():
            value = f"pb_total_of(&all.{r.name})" if self._holder(r) == "pb_total" else f"all.{r.name}"
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


def _dtype(var: Var) -> Any:
    (leaf,) = leaves_of(var.style)
    assert isinstance(leaf, ArrayLeaf | Number)
    return leaf.dtype
