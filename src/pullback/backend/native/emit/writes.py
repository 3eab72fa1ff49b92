"""Arrays stored into views, or added to them: broadcast, converted, and through a copy where memory overlaps."""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.backend.native.emit.element import Term, element
from pullback.backend.native.emit.emitter import VALUE_ERROR, ArrayRef, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import DTYPES, c_type, code_of
from pullback.ir.nodes import Operand

MISFIT = "could not broadcast input array into this shape"


def write(e: Emitter, view: ArrayRef, value: Operand, adds: bool) -> None:
    """`view[...] = value`, or `+=`."""
    with e.block(""):
        source = source_of(e, view, value)
        walk = e.temporary("walk")
        e.line(f"int64_t {walk}[{max(view.rank, 1)}];")
        fits = f"pb_fits({view.rank}, {view.name}.n, {source.rank}, {source.name}.n, {source.name}.s, {walk})"
        e.check(fits, VALUE_ERROR, MISFIT)
        e.line(
            f"{writer(e, view.dtype, source.dtype, adds)}({view.rank}, {view.name}.n, {view.name}.data, {view.name}.s, "
            f"{source.name}.data, {walk});"
        )


def source_of(e: Emitter, base: ArrayRef, value: Operand) -> ArrayRef:
    """What is stored as an array that shares no memory with where it goes; a number as an array of rank 0."""
    if not e.is_array(value):
        term, held, ref = e.term(value), e.temporary("value"), e.temporary("from")
        e.line(f"const {c_type(term.dtype)} {held} = {term.text};")
        e.line(f"const pb_array0 {ref} = {{(char *)&{held}, NULL, {{1}}, {{0}}}};")
        return ArrayRef(ref, term.dtype, 0)
    given = e.array(value)
    out = e.declare_array("from", given.dtype, given.rank)
    ours = f"{base.rank}, {base.size}, {base.name}.data, {base.name}.n, {base.name}.s"
    theirs = f"{given.rank}, {given.size}, {given.name}.data, {given.name}.n, {given.name}.s"
    with e.block(f"if (PB_RARE(pb_may_overlap({ours}, {theirs})))", "} else {"):
        lengths = e.temporary("n")
        e.line(f"const int64_t {lengths}[] = {{{', '.join(given.shape()) or '1'}}};")
        e.line(
            f"PB_NEW({out.name}, {code_of(given.dtype)}, {given.size}, {given.rank}, {lengths}, {e.module.place(e.loc)});"
        )
        e.line(
            f"pb_copy_items({given.rank}, {lengths}, {given.size}, {out.name}.data, {out.name}.s, {given.name}.data, {given.name}.s);"
        )
    e.depth += 1
    e.set_array(out.name, given.name)
    e.depth -= 1
    e.line("}")
    e.fails = True
    return out


def writer(e: Emitter, to: np.dtype[Any], source: np.dtype[Any], adds: bool) -> str:
    """The C function that writes the items of one walk into those of another."""
    name = f"pb_{'add' if adds else 'put'}_{to.name}_{source.name}"
    if name not in e.module.helpers:
        e.module.helpers.add(name)
        e.module.definitions += _writer(name, to, source, adds)
    return name


def _writer(name: str, to: np.dtype[Any], source: np.dtype[Any], adds: bool) -> list[str]:
    ctype, stype = c_type(to), c_type(source)
    here, there = f"*({ctype} *)(to + i * t)", f"*(const {stype} *)(from + i * f)"
    near, far = f"(({ctype} *)to)[i]", f"((const {stype} *)from)[i]"
    walk = "int32_t rank, const int64_t *n, char *to, const int64_t *st, const char *from, const int64_t *sf"
    return [
        f"/* {'Add' if adds else 'Copy'} the items of one walk of a space to those of another. */",
        f"PB_ONCE void {name}({walk}) {{",
        "    if (rank > 1) {",
        f"        for (int64_t i = 0; i < n[0]; i++) {name}(rank - 1, n + 1, to + i * st[0], st + 1, from + i * sf[0], sf + 1);",
        "        return;",
        "    }",
        "    const int64_t m = rank ? n[0] : 1, t = rank ? st[0] : 0, f = rank ? sf[0] : 0;",
        f"    if (t == {to.itemsize} && f == {source.itemsize}) {{",
        f"        for (int64_t i = 0; i < m; i++) {near} = {written(near, far, to, source, adds)};",
        "        return;",
        "    }",
        f"    for (int64_t i = 0; i < m; i++) {here} = {written(f'({here})', f'({there})', to, source, adds)};",
        "}",
        "",
    ]


def written(old: str, new: str, to: np.dtype[Any], source: np.dtype[Any], adds: bool) -> str:
    """What is written where `old` stands.  Raises Untaken for a sum that NumPy does not put there."""
    value = Term(new, source)
    if not adds:
        return value.to(to)
    computed = np.result_type(to, source)
    if computed.name not in DTYPES or not np.can_cast(computed, to, "same_kind"):
        raise Untaken(f"{source} added to {to}")
    return Term(
        element(
            np.add,
            (computed,) * 3,
            [Term(Term(old, to).to(computed), computed), Term(value.to(computed), computed)],
        ).text,
        computed,
    ).to(to)
