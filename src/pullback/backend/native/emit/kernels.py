"""A kernel as two C functions: one for a row of its space, one that walks the rows.

The row function is inlined twice: with the strides of contiguous items, which the compiler vectorises, and with any
strides.  What is stored goes straight to its place where no other operand could see it too early, else through a
temporary, as NumPy does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pullback.backend.native.emit.elements import Elements, Parts, Reduction, Sink, analyse
from pullback.backend.native.emit.emitter import VALUE_ERROR
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import ArrayLeaf, Number, c_type, code_of, leaves_of
from pullback.ir.kernel import Kernel
from pullback.ir.nodes import Var
from pullback.styles.style import Array, same_length

if TYPE_CHECKING:
    from pullback.backend.native.emit.module import ModuleEmitter

CHUNK = 2048  # items whose sum is taken at once; their sums are added with what rounding loses


@dataclass(slots=True)
class Operand:
    """A pointer that walks the space.

    inner    its stride along the last axis where it is contiguous: the size of an item, or 0
    """

    name: str
    ctype: str
    size: int
    inner: int
    written: bool = False


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
        """Its two functions."""
        self.parts = analyse(self.kernel)
        self.rank = max(len(self.kernel.space), 1)
        self.operands = [*self._inputs(), *self._outputs()]
        self._row(unit=True)
        self._row(unit=False)
        self._walk()
        return self.lines

    @property
    def makes_shape(self) -> bool:
        """Whether the shape of the space is an operand of its own."""
        return self.parts.shape is not None and not any(map(self._spans, self.parts.arrays))

    # ------------------------------------------------------------------------------------------- operands

    def _inputs(self) -> list[Operand]:
        return [self._operand(f"pb_x{k}", v) for k, v in enumerate(self.parts.arrays)]

    def _operand(self, name: str, var: Var, written: bool = False) -> Operand:
        (leaf,) = leaves_of(var.style)
        assert isinstance(leaf, ArrayLeaf) and isinstance(var.style, Array) and var.style.axes is not None
        axes = var.style.axes
        spread = not axes or (axes[-1] == 1 and self.kernel.space[-1] != 1)
        size = leaf.dtype.itemsize
        return Operand(name, c_type(leaf.dtype), size, 0 if spread else size, written)

    def _outputs(self) -> list[Operand]:
        out = []
        for k, var in enumerate(self.parts.made):
            out.append(self._operand(f"pb_o{k}", var, True))
        for k, sink in enumerate(self.parts.sinks):
            dtype = sink.dtype
            out.append(Operand(f"pb_w{k}", c_type(dtype), dtype.itemsize, dtype.itemsize, True))
            if sink.adds:
                out.append(Operand(f"pb_r{k}", c_type(dtype), dtype.itemsize, dtype.itemsize))
        for k, reduction in self.parts.along():
            size = reduction.dtype.itemsize
            inner = 0 if self.rank - 1 in reduction.axes else size
            out.append(Operand(f"pb_a{k}", c_type(reduction.dtype), size, inner, True))
        return out

    # ------------------------------------------------------------------------------------------------ a row

    def _row(self, unit: bool) -> None:
        """One row: of contiguous items, or (`_any`) of items at any strides."""
        arguments = ["int64_t pb_n"]
        for x in self.operands:
            arguments.append(f"{'' if x.written else 'const '}char *{x.name}")
            if not unit:
                arguments.append(f"int64_t {x.name}_s")
        arguments += [f"{c_type(n.dtype)} {name}" for name, n in self.parts.numbers.items()]
        if not unit:
            arguments += [f"int {sink.name}_adds" for sink in self.parts.sinks if sink.adds]
        arguments += [f"{self._accumulator(r)} *{r.name}" for _, r in self.parts.whole()]
        kind, name = ("PB_ONCE", "row") if unit else ("PB_SMALL", "any")
        self._add(f"{kind} void {self.name}_{name}({', '.join(arguments)}) {{")
        sums = [r for r in self.parts.reductions if self._local(r)]
        for r in sums:
            self._add(f"    {self._accumulator(r)} pb_acc_{r.name} = {r.identity()};")
        if unit:
            simd = [f"pb_acc_{r.name}" for r in sums if r.adds]
            self._add("    PB_ROW(" + (f"reduction(+ : {', '.join(simd)})" if simd else "") + ")")
        self._add("    for (int64_t pb_k = 0; pb_k < pb_n; pb_k++) {")
        for line in self._body(unit):
            self._add(f"        {line}")
        self._add("    }")
        for r in sums:
            self._add(f"    {self._finish(r)}")
        self._add("}")
        self._add("")

    def _item(self, x: Operand, unit: bool) -> str:
        """The item of an operand at this step of a row."""
        const = "" if x.written else "const "
        if not unit:
            return f"*({const}{x.ctype} *)({x.name} + pb_k * {x.name}_s)"
        return f"(({const}{x.ctype} *){x.name})[{'pb_k' if x.inner else 0}]"

    def _local(self, r: Reduction) -> bool:
        """Whether a row's items are all reduced to one."""
        return r.whole or self.rank - 1 in r.axes

    def _accumulator(self, r: Reduction) -> str:
        return "double" if r.adds and r.dtype.name == "float32" else c_type(r.dtype)

    def _finish(self, r: Reduction) -> str:
        acc = f"pb_acc_{r.name}"
        if r.whole:
            return f"*{r.name} = {acc};"
        at = f"*({c_type(r.dtype)} *)pb_a{r.index}"
        return f"{at} = {r.combine(at, acc)};"

    def _body(self, unit: bool) -> list[str]:
        at = {x.name: self._item(x, unit) for x in self.operands}
        texts = {var: at[x.name] for var, x in zip(self.parts.arrays, self.operands, strict=False)}
        elements = Elements(self.parts, texts)
        out = elements.statements()
        for k, var in enumerate(self.parts.made):
            out.append(f"{at[f'pb_o{k}']} = {elements.of(var, _dtype(var))};")
        for k, sink in enumerate(self.parts.sinks):
            out += self._stored(k, sink, elements, at, unit)
        for r in self.parts.reductions:
            acc = f"pb_acc_{r.name}" if self._local(r) else at[f"pb_a{r.index}"]
            out.append(f"{acc} = {r.combine(acc, elements.reduced(r))};")
        return out

    def _stored(self, k: int, sink: Sink, elements: Elements, at: dict[str, str], unit: bool) -> list[str]:
        ctype, value = c_type(sink.dtype), elements.stored(sink)
        if not sink.adds:
            return [f"{at[f'pb_w{k}']} = {value};"]
        added = f"({ctype})({at[f'pb_r{k}']} + {sink.name}_v)"
        return [
            f"const {ctype} {sink.name}_v = {value};",
            f"{at[f'pb_w{k}']} = {added if unit else f'{sink.name}_adds ? {added} : {sink.name}_v'};",
        ]

    # ----------------------------------------------------------------------------------------------- the walk

    def _walk(self) -> None:
        self._add(f"static int32_t {self.name}({', '.join(self._parameters())}) {{")
        self._space()
        self._add(f"    int64_t pb_total_n = pb_count({self.rank}, n);")
        self._checks()
        self._results()
        self._sinks()
        self._strides()
        self._loops()
        self._after()
        self._end()
        self._add("}")

    def _parameters(self) -> list[str]:
        out = ["pb_host *host"]
        out += [f"const {_array_type(v)} *x{k}" for k, v in enumerate(self.parts.arrays)]
        out += [f"{c_type(n.dtype)} {name}" for name, n in self.parts.numbers.items()]
        out += ["const int64_t *shape"] * self.makes_shape
        out += [f"const pb_array{s.rank} *d{k}" for k, s in enumerate(self.parts.sinks)]
        out += [f"{_array_type(v)} *o{k}" for k, v in enumerate(self.parts.made)]
        out += [f"{r.declared()} *a{r.index}" for r in self.parts.reductions]
        return out

    def _fail(self, code: int, message: str) -> str:
        return (
            f'{{ host->error = {code}; host->line = {self.place}; host->message = "{message}"; return 1; }}'
        )

    def _error(self, code: int, message: str) -> str:
        """Leave after something has been made."""
        return f'{{ host->error = {code}; host->message = "{message}"; goto fail; }}'

    def _space(self) -> None:
        """The lengths of the space, from the operands; they are checked as NumPy does."""
        rank = self.rank
        known = next((k for k, v in enumerate(self.parts.arrays) if self._spans(v)), None)
        if known is not None:
            lengths = ", ".join(f"x{known}->n[{k}]" for k in range(rank))
        elif self.makes_shape:
            self._add(
                f"    if (PB_RARE(!pb_shape_is_fine({rank}, shape))) {self._fail(VALUE_ERROR, 'negative dimensions are not allowed')}"
            )
            lengths = ", ".join(f"shape[{k}]" for k in range(rank))
        elif self._is_filled():
            lengths = ", ".join(f"d0->n[{k}]" for k in range(rank))
        elif not self.parts.arrays and self.kernel.space:
            raise Untaken("a kernel that makes its own shape")
        else:
            lengths = ", ".join(str(a) if isinstance(a, int) else "1" for a in self.kernel.space) or "1"
        self._add(f"    int64_t n[{rank}] = {{{lengths}}};")
        for k, var in enumerate(self.parts.arrays):
            if k == known:
                continue
            if known is not None and self._spans(var):
                self._add(
                    f"    if (PB_RARE(!pb_same_shape({rank}, n, x{k}->n))) {self._fail(VALUE_ERROR, 'operands could not be broadcast together')}"
                )
                continue
            own = len(var.style.axes)  # type: ignore[union-attr, arg-type]
            if own:
                self._add(
                    f"    if (PB_RARE(!pb_broadcast({rank}, n, {own}, x{k}->n))) {self._fail(VALUE_ERROR, 'operands could not be broadcast together')}"
                )

    def _is_filled(self) -> bool:
        """Whether all that tells the shape is the place that a number goes to."""
        sinks = self.parts.sinks
        return not self.parts.arrays and bool(sinks) and len(self.kernel.space) == sinks[0].rank

    def _spans(self, var: Var) -> bool:
        axes = var.style.axes  # type: ignore[union-attr]
        space = self.kernel.space
        return (
            bool(space)
            and axes is not None
            and len(axes) == len(space)
            and all(map(same_length, axes, space))
        )

    def _results(self) -> None:
        """New arrays for results; the buffer that a result had before serves again where nothing else uses it."""
        for k, var in enumerate(self.parts.made):
            self._new(f"o{k}", _dtype(var), len(var.style.axes), "n", reuse=True)  # type: ignore[union-attr, arg-type]
        for k, r in self.parts.along():
            kept = r.kept(self.rank)
            self._add(f"    const int64_t m{k}[] = {{{', '.join(kept) or '1'}}};")
            self._new(f"a{k}", r.dtype, r.rank, f"m{k}")
            self._add(
                f"    for (int64_t i = 0, c = pb_count({r.rank}, m{k}); i < c; i++) (({c_type(r.dtype)} *)new_a{k}.data)[i] = {r.identity()};"
            )

    def _checks(self) -> None:
        """What may not be reduced over nothing."""
        for r in self.parts.reductions:
            if r.needs_items:
                reduced = " && ".join([f"n[{k}] == 0" for k in r.axes]) if not r.whole else "pb_total_n == 0"
                any_result = " && ".join(f"n[{k}] != 0" for k in range(self.rank) if k not in r.axes) or "1"
                test = "pb_total_n == 0" if r.whole else f"({reduced}) && ({any_result})"
                self._add(
                    f"    if (PB_RARE({test})) {self._fail(VALUE_ERROR, f'zero-size array to reduction operation {r.function} which has no identity')}"
                )

    def _new(self, name: str, dtype: Any, rank: int, shape: str, reuse: bool = False) -> None:
        new, code, size = f"new_{name}", code_of(dtype), dtype.itemsize
        self._add(f"    pb_array{rank} {new} = {{0}};")
        head = (
            f"if (pb_reusable({name}->owner, {name}->data, {code}, {size}, {rank}, {name}->n, {name}->s, {shape})) {new} = *{name}; else "
            if reuse
            else ""
        )
        self._add(f"    {head}{{")
        self._add(f"        {new}.owner = pb_new_buffer(host, {code}, {size}, {rank}, {shape});")
        self._add(f"        if (PB_RARE(!{new}.owner)) goto fail;")
        self._add(f"        {new}.data = {new}.owner->data;")
        self._add(
            f"        memcpy({new}.n, {shape}, sizeof {new}.n); pb_c_strides({rank}, {size}, {new}.n, {new}.s);"
        )
        self._add("    }")

    def _kept(self) -> list[str]:
        """The results that are arrays."""
        return [f"o{k}" for k in range(len(self.parts.made))] + [f"a{k}" for k, _ in self.parts.along()]

    def _end(self) -> None:
        """Hand results over; after an error give back what was made."""
        for name in self._kept():
            self._add(f"    if (new_{name}.owner != {name}->owner) pb_release(host, {name}->owner);")
            self._add(f"    *{name} = new_{name};")
        self._add("    return 0;")
        self._add("fail:")
        self._add(f"    host->line = {self.place};")
        for name in self._kept():
            self._add(f"    if (new_{name}.owner != {name}->owner) pb_release(host, new_{name}.owner);")
        for k in range(len(self.parts.sinks)):
            self._add(f"    pb_release(host, t{k}.owner);")
        self._add("    return 1;")

    def _sinks(self) -> None:
        """Where stored items go: straight to their places, or to a temporary."""
        for k, sink in enumerate(self.parts.sinks):
            rank, size = sink.rank, sink.dtype.itemsize
            fits = f"pb_same_shape({rank}, n, d{k}->n)" if rank == len(self.kernel.space) else "0"
            if not self.kernel.space and rank == 0:
                fits = "1"
            tests = [f"!{fits}"]
            for j, var in enumerate(self.parts.arrays):
                own, dtype = len(var.style.axes), _dtype(var)  # type: ignore[union-attr, arg-type]
                tests.append(
                    f"pb_clash({rank}, {size}, d{k}->data, d{k}->n, d{k}->s, {own}, {dtype.itemsize}, x{j}->data, x{j}->n, x{j}->s)"
                )
            self._add(f"    pb_array{max(len(self.kernel.space), 0)} t{k} = {{0}};")
            self._add(f"    const int apart{k} = {' || '.join(tests)};")
            self._add(f"    if (PB_RARE(apart{k})) {{")
            self._add(
                f"        t{k}.owner = pb_new_buffer(host, {code_of(sink.dtype)}, {size}, {len(self.kernel.space)}, n);"
            )
            self._add(f"        if (PB_RARE(!t{k}.owner)) goto fail;")
            self._add(
                f"        t{k}.data = t{k}.owner->data; memcpy(t{k}.n, n, sizeof t{k}.n); pb_c_strides({len(self.kernel.space)}, {size}, t{k}.n, t{k}.s);"
            )
            self._add("    }")

    def _strides(self) -> None:
        """How each operand walks the space."""
        rank = self.rank
        for x in self.operands:
            self._add(f"    int64_t {x.name}_s[{rank}];")
        for k, var in enumerate(self.parts.arrays):
            own = len(var.style.axes)  # type: ignore[union-attr, arg-type]
            self._add(
                f"    const char *pb_x{k} = x{k}->data; pb_walk({rank}, n, {own}, x{k}->n, x{k}->s, pb_x{k}_s);"
            )
        for k, var in enumerate(self.parts.made):
            own = len(var.style.axes)  # type: ignore[union-attr, arg-type]
            self._add(
                f"    char *pb_o{k} = new_o{k}.data; pb_walk({rank}, n, {own}, new_o{k}.n, new_o{k}.s, pb_o{k}_s);"
            )
        for k, sink in enumerate(self.parts.sinks):
            own = len(self.kernel.space)
            self._add(f"    char *pb_w{k} = apart{k} ? t{k}.data : d{k}->data;")
            direct = (
                f"pb_walk({rank}, n, {sink.rank}, d{k}->n, d{k}->s, pb_w{k}_s)"
                if sink.rank <= rank
                else "(void)0"
            )
            self._add(
                f"    if (apart{k}) pb_walk({rank}, n, {own}, t{k}.n, t{k}.s, pb_w{k}_s); else {direct};"
            )
            if sink.adds:
                self._add(
                    f"    const char *pb_r{k} = pb_w{k}; memcpy(pb_r{k}_s, pb_w{k}_s, sizeof pb_r{k}_s);"
                )
        for k, r in self.parts.along():
            self._add(f"    char *pb_a{k} = new_a{k}.data;")
            self._add(f"    {{ int64_t s = {r.dtype.itemsize};")
            for axis in reversed(range(rank)):
                if axis in r.axes:
                    self._add(f"      pb_a{k}_s[{axis}] = 0;")
                else:
                    self._add(f"      pb_a{k}_s[{axis}] = s; s *= n[{axis}];")
            self._add("    }")

    def _loops(self) -> None:
        rank = self.rank
        names = ", ".join(f"{x.name}_s" for x in self.operands)
        if rank > 1 and self.operands:
            self._add(
                f"    {{ int64_t *const all[] = {{{names}}}; pb_coalesce({rank}, n, {len(self.operands)}, all, {int(not self.parts.along())}); }}"
            )
        for _, r in self.parts.whole():
            self._add(f"    {self._holder(r)} {r.name}_all = {self._start(r)};")
        last = rank - 1
        unit = " && ".join(f"{x.name}_s[{last}] == {x.inner}" for x in self.operands) or "1"
        apart = "".join(f" && !apart{k}" for k, s in enumerate(self.parts.sinks) if s.adds)
        self._add(f"    const int unit = ({unit}){apart};")
        self._add("    if (pb_total_n != 0) {")
        indent = "        "
        offsets = {x.name: x.name for x in self.operands}
        for axis in range(last):
            self._add(f"{indent}for (int64_t i{axis} = 0; i{axis} < n[{axis}]; i{axis}++)")
            for name in offsets:
                offsets[name] += f" + i{axis} * {name}_s[{axis}]"
        chunked = any(r.adds for _, r in self.parts.whole())
        if chunked:
            self._add(f"{indent}for (int64_t c = 0; c < n[{last}]; c += {CHUNK}) {{")
            self._add(f"{indent}    const int64_t m = n[{last}] - c < {CHUNK} ? n[{last}] - c : {CHUNK};")
        else:
            self._add(f"{indent}{{")
            self._add(f"{indent}    const int64_t m = n[{last}];")
        for _, r in self.parts.whole():
            self._add(f"{indent}    {self._accumulator(r)} {r.name};")
        for at_unit in (True, False):
            self._add(f"{indent}    {self._row_call(at_unit, offsets, chunked)}")
        for _, r in self.parts.whole():
            self._add(f"{indent}    {self._gather(r)}")
        self._add(f"{indent}}}")
        self._add("    }")

    def _row_call(self, unit: bool, offsets: Mapping[str, str], chunked: bool) -> str:
        """The call of a row function."""
        last, arguments = self.rank - 1, ["m"]
        for x in self.operands:
            arguments.append(offsets[x.name] + (f" + c * {x.name}_s[{last}]" if chunked else ""))
            if not unit:
                arguments.append(f"{x.name}_s[{last}]")
        arguments += list(self.parts.numbers)
        if not unit:
            arguments += [f"!apart{k}" for k, s in enumerate(self.parts.sinks) if s.adds]
        arguments += [f"&{r.name}" for _, r in self.parts.whole()]
        return f"{'if (unit)' if unit else 'else'} {self.name}_{'row' if unit else 'any'}({', '.join(arguments)});"

    def _holder(self, r: Reduction) -> str:
        return "pb_total" if r.adds and r.dtype.kind == "f" else self._accumulator(r)

    def _start(self, r: Reduction) -> str:
        return "{0, 0}" if self._holder(r) == "pb_total" else r.identity()

    def _gather(self, r: Reduction) -> str:
        if self._holder(r) == "pb_total":
            return f"pb_add_total(&{r.name}_all, {r.name});"
        return f"{r.name}_all = {r.combine(f'{r.name}_all', r.name)};"

    def _after(self) -> None:
        """Results of whole reductions, means, and what went through temporaries."""
        for k, r in self.parts.whole():
            value = f"pb_total_of(&{r.name}_all)" if self._holder(r) == "pb_total" else f"{r.name}_all"
            if r.mean:
                value = f"({value} / pb_total_n)"
            self._add(f"    *a{k} = ({c_type(r.dtype)}){value};")
        for k, r in self.parts.along():
            if r.mean:
                self._add(f"    {{ const int64_t all = pb_count({r.rank}, new_a{k}.n);")
                self._add(
                    f"      for (int64_t i = 0; i < all; i++) (({c_type(r.dtype)} *)new_a{k}.data)[i] /= ({c_type(r.dtype)})(pb_total_n / all); }}"
                )
        for k, sink in enumerate(self.parts.sinks):
            self._settle(k, sink)

    def _settle(self, k: int, sink: Sink) -> None:
        """Copy a temporary to where it belongs, broadcast."""
        ctype, own = c_type(sink.dtype), len(self.kernel.space)
        self._add(f"    if (PB_RARE(apart{k})) {{")
        self._add(f"        int64_t s[{max(sink.rank, 1)}], b[{max(sink.rank, own, 1)}];")
        self._add(f"        for (int32_t j = 0; j < {sink.rank}; j++) b[j] = d{k}->n[j];")
        lead = own - sink.rank
        for j in range(lead):
            self._add(
                f"        if (t{k}.n[{j}] != 1) {self._error(VALUE_ERROR, 'could not broadcast input array')}"
            )
        start, left = (lead, sink.rank) if lead > 0 else (0, own)
        self._add(
            f"        int fits = pb_broadcast({sink.rank}, b, {left}, t{k}.n + {start}) && pb_same_shape({sink.rank}, b, d{k}->n);"
        )
        self._add(f"        if (!fits) {self._error(VALUE_ERROR, 'could not broadcast input array')}")
        self._add(f"        pb_walk({sink.rank}, d{k}->n, {left}, t{k}.n + {start}, t{k}.s + {start}, s);")
        at, to, head = f"t{k}.data", f"d{k}->data", ""
        for j in range(sink.rank):
            head += f"for (int64_t i{j} = 0; i{j} < d{k}->n[{j}]; i{j}++) "
            at += f" + i{j} * s[{j}]"
            to += f" + i{j} * d{k}->s[{j}]"
        self._add(
            f"        (void)s; {head}*({ctype} *)({to}) {'+=' if sink.adds else '='} *({ctype} *)({at});"
        )
        self._add(f"        pb_release(host, t{k}.owner); t{k}.owner = NULL;")
        self._add("    }")

    def _add(self, line: str) -> None:
        self.lines.append(line)


def _array_type(var: Var) -> str:
    (leaf,) = leaves_of(var.style)
    assert isinstance(leaf, ArrayLeaf)
    return f"pb_array{leaf.rank}"


def _dtype(var: Var) -> Any:
    (leaf,) = leaves_of(var.style)
    assert isinstance(leaf, ArrayLeaf | Number)
    return leaf.dtype
