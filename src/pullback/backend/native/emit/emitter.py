"""The statements of one function as C: names, declarations, lines, and what every handler needs.

A handler (`taken.HANDLERS`) emits one kind of call.  It asks here for the C names of operands and results and for
checks; a check that fails leaves the function by its label `fail` with an error code and the place in the user's source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pullback.backend.native.emit.element import Term, literal
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import (
    ArrayLeaf,
    Leaf,
    ListLeaf,
    Number,
    c_type,
    code_of,
    declared,
    leaves_of,
    operand_style,
)
from pullback.backend.numpy.naming import Names
from pullback.errors import NOWHERE, Loc
from pullback.ir.nodes import ABSENT, UNDEF, Const, Operand, Pack, Var
from pullback.styles.style import Array, Scalar, Static, numeric

if TYPE_CHECKING:
    from pullback.backend.native.emit.module import ModuleEmitter

INDEX_ERROR, VALUE_ERROR, ZERO_DIVISION, OVERFLOW, MEMORY, UNBOUND, ASSERTION, TYPE_ERROR, HOST = range(1, 10)
INT64 = np.dtype(np.int64)


@dataclass(frozen=True, slots=True)
class ArrayRef:
    """An array by its C name."""

    name: str
    dtype: np.dtype[Any]
    rank: int

    @property
    def ctype(self) -> str:
        """The C type of an item."""
        return c_type(self.dtype)

    @property
    def size(self) -> int:
        """Bytes of an item."""
        return self.dtype.itemsize

    def shape(self) -> list[str]:
        """The lengths of its axes."""
        return [f"{self.name}.n[{k}]" for k in range(self.rank)]


@dataclass(slots=True)
class Emitter:
    """What is emitted of one function so far."""

    module: ModuleEmitter
    names: Names
    lines: list[str] = field(default_factory=list)
    locals: dict[str, Leaf] = field(default_factory=dict)  # C names that are released at the end
    loc: Loc = NOWHERE
    depth: int = 1
    fails: bool = False
    _leaves: dict[Var, tuple[str, ...]] = field(default_factory=dict)
    _spelled: dict[tuple[str, tuple[Leaf, ...]], tuple[str, ...]] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    # ------------------------------------------------------------------------------------------------- lines

    def line(self, text: str) -> None:
        """One line."""
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def block(self, head: str, tail: str = "}") -> Iterator[None]:
        """Lines in braces."""
        self.line(f"{head} {{" if head else "{")
        self.depth += 1
        yield
        self.depth -= 1
        self.line(tail)

    def temporary(self, hint: str) -> str:
        """A C name that nothing else has: all of ours begin with `pb_`."""
        count = self._counts[hint] = self._counts.get(hint, 0) + 1
        return f"pb_{hint}{count}"

    # ------------------------------------------------------------------------------------------------- checks

    def fail(self, code: int, message: str = "") -> str:
        """The statement that leaves with an error."""
        self.fails = True
        return f"PB_FAIL({code}, {self.module.place(self.loc)}, {_quoted(message)});"

    def check(self, condition: str, code: int, message: str = "") -> None:
        """Leave with an error unless a condition holds."""
        self.line(f"if (PB_RARE(!({condition}))) {self.fail(code, message)}")

    def attempt(self, call: str) -> None:
        """A C function that returns non-zero after it has set an error itself."""
        self.fails = True
        self.line(f"if (PB_RARE({call})) goto fail;")

    # ------------------------------------------------------------------------------------------------- values

    def leaves(self, var: Var) -> tuple[str, ...]:
        """The C names of a value's leaves."""
        found = self._leaves.get(var)
        if found is None:
            found = self._leaves[var] = self._spell(var)
        return found

    def _spell(self, var: Var) -> tuple[str, ...]:
        leaves = leaves_of(var.style)
        name = self.names.of.get(var)
        if name is None:  # nothing reads it, but it is computed
            return tuple(
                self._declare(self.temporary(var.hint if var.hint.isidentifier() else "t"), x) for x in leaves
            )
        key = (name, tuple(_plain(x) for x in leaves))
        if key not in self._spelled:
            other = any(k[0] == name for k in self._spelled)
            base = self.names.unique(name) if other else name
            made = [base] if len(leaves) == 1 else [f"{base}_{k}" for k in range(len(leaves))]
            self._spelled[key] = tuple(
                self._declare(_safe(x), leaf) for x, leaf in zip(made, leaves, strict=True)
            )
        return self._spelled[key]

    def _declare(self, name: str, leaf: Leaf) -> str:
        self.locals[name] = leaf
        return name

    def declare_array(self, hint: str, dtype: np.dtype[Any], rank: int) -> ArrayRef:
        """A local array of ours, released at the end."""
        name = self._declare(self.temporary(hint), ArrayLeaf(dtype, rank))
        return ArrayRef(name, dtype, rank)

    def used(self, var: Var) -> bool:
        """Whether anything reads a value."""
        return var in self.names.used

    def term(self, operand: Operand) -> Term:
        """A number as an expression; an array of rank 0 as its item."""
        if isinstance(operand, Const):
            return self._constant(operand.value)
        if isinstance(operand, Var):
            style = operand.style
            if isinstance(style, Static):
                return self._constant(style.value)
            (leaf,), (name,) = leaves_of(style), self.leaves(operand)
            if isinstance(leaf, Number):
                return Term(name, leaf.dtype)
            if isinstance(leaf, ArrayLeaf) and leaf.rank == 0:
                return Term(f"(*({c_type(leaf.dtype)} *){name}.data)", leaf.dtype)
        raise Untaken("a number is needed here")

    def _constant(self, value: Any) -> Term:
        style = numeric(Static(value))
        if not isinstance(style, Scalar) or style.dtype is None:
            raise Untaken(f"the constant {value!r}")
        return Term(literal(value, style.dtype), style.dtype)

    def number(self, operand: Operand, dtype: np.dtype[Any]) -> str:
        """A number as an expression of a dtype; constants are converted here."""
        value = operand.value if isinstance(operand, Const) else None
        if isinstance(value, int | float | complex | np.generic):
            return literal(dtype.type(value) if dtype.kind != "b" else bool(value), dtype)
        return self.term(operand).to(dtype)

    def integer(self, operand: Operand) -> str:
        """An integer as an expression of type int64_t."""
        return self.number(operand, INT64)

    def array(self, operand: Operand) -> ArrayRef:
        """An array by name."""
        if isinstance(operand, Var):
            (leaf,), (name,) = leaves_of(operand.style), self.leaves(operand)
            if isinstance(leaf, ArrayLeaf):
                return ArrayRef(name, leaf.dtype, leaf.rank)
        if isinstance(operand, Const) and isinstance(operand.value, np.ndarray):
            return self.module.constant(operand.value)
        raise Untaken("an array is needed here")

    def passed(self, leaf: Number, slot: str) -> str:
        """A number that came in a `pb_arg`."""
        kind = leaf.dtype.kind
        if kind == "c":
            part = "float" if leaf.dtype.name == "complex64" else "double"
            return f"PB_COMPLEX({part}, {slot}.c[0], {slot}.c[1])"
        return f"({c_type(leaf.dtype)}){slot}.{'f' if kind == 'f' else 'i'}"

    def is_array(self, operand: Operand) -> bool:
        """Whether an operand is an array (of rank 0 included)."""
        if isinstance(operand, Const):
            return isinstance(operand.value, np.ndarray)
        return isinstance(operand_style(operand), Array)

    def integers(self, operand: Operand) -> list[str]:
        """A shape: one integer, or a tuple of them."""
        if isinstance(operand, Pack):
            return [self.integer(x) for x in operand.items]
        if isinstance(operand, Const):
            values = operand.value if isinstance(operand.value, tuple | list) else (operand.value,)
            return [literal(int(v), INT64) for v in values]
        names, leaves = self.leaves(operand), leaves_of(operand.style)
        if all(isinstance(x, Number) and x.dtype.kind in "iu" for x in leaves):
            return list(names)
        raise Untaken("a shape is needed here")

    # ------------------------------------------------------------------------------------------------ results

    def set_number(self, var: Var, term: Term) -> None:
        """Assign a number."""
        (leaf,) = leaves_of(var.style)
        (name,) = self.leaves(var)
        if isinstance(leaf, ArrayLeaf) and leaf.rank == 0:
            self.fresh(var, [])
            self.line(f"*({c_type(leaf.dtype)} *){name}.data = {term.to(leaf.dtype)};")
            return
        if not isinstance(leaf, Number):
            raise Untaken("a number where an array is expected")
        self.line(f"{name} = {term.to(leaf.dtype)};")

    def set_array(self, to: str, source: str) -> None:
        """Another name of an array."""
        if to != source:
            self.line(f"PB_SET({to}, {source});")

    def put_array(self, target: Var, array: ArrayRef) -> None:
        """Make an array the value of a target, which may be a number."""
        (leaf,) = leaves_of(target.style)
        if isinstance(leaf, ArrayLeaf):
            if (leaf.dtype, leaf.rank) != (array.dtype, array.rank):
                raise Untaken("an array of another rank or dtype than expected")
            self.set_array(self.array(target).name, array.name)
        elif array.rank == 0:
            self.set_number(target, Term(f"(*({array.ctype} *){array.name}.data)", array.dtype))
        else:
            raise Untaken("an array where a number is expected")

    def drop(self, ref: ArrayRef) -> None:
        """Give back what a local of ours holds."""
        self.line(f"PB_RELEASE({ref.name}); {ref.name}.owner = NULL;")

    def fresh(self, var: Var, shape: Sequence[str]) -> ArrayRef:
        """Make a result a new array of a shape, its items not set."""
        ref = self.array(var)
        self.fresh_array(ref, shape)
        return ref

    def fresh_array(self, ref: ArrayRef, shape: Sequence[str]) -> None:
        """Make a local a new array."""
        n = self.temporary("n")
        with self.block(""):
            self.line(f"const int64_t {n}[] = {{{', '.join(shape) or '1'}}};")
            self.line(
                f"PB_NEW({ref.name}, {code_of(ref.dtype)}, {ref.size}, {ref.rank}, {n}, {self.module.place(self.loc)});"
            )
        self.fails = True

    # ---------------------------------------------------------------------------------------------- moves

    def moves(self, targets: Sequence[Var], sources: Sequence[Operand]) -> None:
        """Parallel assignment."""
        pairs: list[tuple[str, str, Leaf]] = []
        for var, operand in zip(targets, sources, strict=True):
            if self.used(var):
                pairs += self._pairs(var, operand)
        pairs = [p for p in pairs if p[0] != p[1]]
        reads = {source for _, source, _ in pairs}
        if not any(target in reads for target, _, _ in pairs):
            for target, source, leaf in pairs:
                self._move(target, source, leaf)
            return
        with self.block(""):
            held = []
            for target, source, leaf in pairs:
                name = self.temporary("old")
                self.line(f"{declared(leaf)} {name} = {source};")
                if not isinstance(leaf, Number):
                    self.line(f"{_retain(leaf)}({name});")
                held.append((target, name, leaf))
            for target, name, leaf in held:
                if isinstance(leaf, Number):
                    self.line(f"{target} = {name};")
                else:
                    self.line(f"{_release(leaf)}({target}); {target} = {name};")

    def _move(self, target: str, source: str, leaf: Leaf) -> None:
        if isinstance(leaf, Number):
            self.line(f"{target} = {source};")
        elif isinstance(leaf, ArrayLeaf):
            self.set_array(target, source)
        else:
            self.line(f"PB_SET_LIST({target}, {source});")

    def _pairs(self, target: Var, source: Operand) -> list[tuple[str, str, Leaf]]:
        names, leaves = self.leaves(target), leaves_of(target.style)
        if isinstance(source, Const) and source.value is ABSENT:
            return []
        if isinstance(source, Const) and source.value is UNDEF:
            raise Untaken("a name that may not be bound")
        return [
            (n, self.leaf_text(x, leaf), leaf)
            for n, leaf, x in zip(names, leaves, flat(source, len(leaves)), strict=True)
        ]

    def leaf_text(self, source: tuple[Operand, int], leaf: Leaf) -> str:
        """The expression of one leaf of an operand, as another leaf needs it."""
        operand, k = source
        if isinstance(leaf, Number):
            if isinstance(operand, Var) and len(leaves_of(operand.style)) > 1:
                own = leaves_of(operand.style)[k]
                assert isinstance(own, Number)
                return Term(self.leaves(operand)[k], own.dtype).to(leaf.dtype)
            return self.number(operand, leaf.dtype)
        if isinstance(operand, Var):
            own = leaves_of(operand.style)[k]
            if _plain(own) == _plain(leaf):
                return self.leaves(operand)[k]
        if isinstance(leaf, ListLeaf) and isinstance(operand, Pack) and not operand.items:
            return "NULL"
        raise Untaken("values of different kinds meet here")


def flat(operand: Operand, count: int) -> list[tuple[Operand, int]]:
    """The leaves of an operand, each with the place it has in the Var that holds it."""
    if (
        isinstance(operand, Pack)
        and operand.kind in ("tuple", "list")
        and not (operand.kind == "list" and not operand.items)
    ):
        out: list[tuple[Operand, int]] = []
        for item in operand.items:
            out += flat(item, len(leaves_of(operand_style(item))) if not isinstance(item, Const) else 1)
        return out
    if isinstance(operand, Const) and isinstance(operand.value, tuple):
        return [(Const(v), 0) for v in operand.value]
    return [(operand, k) for k in range(count)]


def _plain(leaf: Leaf) -> Leaf:
    """A leaf without what C does not tell apart."""
    if isinstance(leaf, Number):
        return Number(leaf.dtype, None)
    if isinstance(leaf, ListLeaf):
        return ListLeaf(tuple(_plain(x) for x in leaf.items))
    return leaf


def _retain(leaf: Leaf) -> str:
    return "PB_RETAIN_LIST" if isinstance(leaf, ListLeaf) else "PB_RETAIN"


def _release(leaf: Leaf) -> str:
    return "PB_RELEASE_LIST" if isinstance(leaf, ListLeaf) else "PB_RELEASE"


def _safe(name: str) -> str:
    """A name that is not one of ours."""
    return f"v_{name}" if name.startswith("pb_") else name


def _quoted(text: str) -> str:
    if not text:
        return "NULL"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
