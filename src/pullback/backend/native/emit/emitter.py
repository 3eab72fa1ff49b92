"""The statements of one function as C: names, declarations, lines, and what every handler needs.

A handler (`taken.HANDLERS`) emits one kind of call.  It asks here for the C names of operands and results and for
checks; a check that fails leaves the function by its label `fail` with an error code and the place in the user's source.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
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
    plain,
)
from pullback.backend.native.emit.values import parts, release, retain
from pullback.backend.numpy.naming import Names
from pullback.errors import NOWHERE, Loc
from pullback.ir.nodes import ABSENT, UNDEF, Const, Operand, Pack, Var
from pullback.ir.walk import variables, variables_in
from pullback.styles.style import Array, Scalar, Static, numeric

if TYPE_CHECKING:
    from pullback.backend.native.emit.module import ModuleEmitter

INDEX_ERROR, VALUE_ERROR, ZERO_DIVISION, OVERFLOW, MEMORY, UNBOUND, ASSERTION, TYPE_ERROR, HOST = range(1, 10)
FLOATING_POINT = 10
INT64 = np.dtype(np.int64)
FLAG = Number(np.dtype(np.bool_), True)
_WORD = re.compile(r"[A-Za-z_]\w*")


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
    loops: int = 0  # how many stand around what is emitted
    near: bool = True  # kernels of one axis in loops run where they stand
    borrowed: Collection[Var] = ()  # views that need not hold what they show
    unbound: Collection[Var] = ()  # values that may not be bound
    scratch: list[tuple[str, Leaf]] = field(default_factory=list)  # made for a moment
    _leaves: dict[Var, tuple[str, ...]] = field(default_factory=dict)
    _spelled: dict[tuple[str, tuple[Leaf, ...]], tuple[str, ...]] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)
    _spent: frozenset[str] = frozenset()

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
        key = (name, tuple(plain(x) for x in leaves))
        if key not in self._spelled:
            other = any(k[0] == name for k in self._spelled)
            base = self.names.unique(name) if other else name
            several = [self.names.unique(f"{base}_{k}") for k in range(len(leaves) if len(leaves) > 1 else 0)]
            made = several or [base] * len(leaves)
            self._spelled[key] = tuple(
                self._declare(_safe(x), leaf) for x, leaf in zip(made, leaves, strict=True)
            )
        return self._spelled[key]

    def _declare(self, name: str, leaf: Leaf) -> str:
        self.locals[name] = leaf
        return name

    def declare(self, hint: str, leaf: Leaf) -> str:
        """A local of ours, given back at the end."""
        return self._declare(self.temporary(hint), leaf)

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
            if not isinstance(style, Scalar | Array):
                raise Untaken("a number is needed here")
            leaf, name = leaves_of(style)[0], self.leaves(operand)[0]
            if isinstance(leaf, Number):
                return Term(name, leaf.dtype)
            if isinstance(leaf, ArrayLeaf) and leaf.rank == 0 and not leaf.loose:
                return Term(f"(*({c_type(leaf.dtype)} *){name}.data)", leaf.dtype)
        raise Untaken("a number is needed here")

    def truth(self, operand: Operand) -> str:
        """A test as an expression."""
        if isinstance(operand, Const):
            return "1" if operand.value else "0"
        self.require([operand])
        return self.term(operand).text + " != 0"

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
        if isinstance(operand, Var) and isinstance(operand.style, Array):
            (leaf,), (name,) = leaves_of(operand.style), self.leaves(operand)
            if isinstance(leaf, ArrayLeaf) and leaf.loose:
                raise Untaken("an array that may be zero")
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

    def assign(self, target: str, source: str, leaf: Leaf) -> None:
        """Assign one leaf."""
        if isinstance(leaf, Number):
            self.line(f"{target} = {source};")
        elif isinstance(leaf, ArrayLeaf):
            self.line(f"PB_SET({target}, {source});")
        else:
            self.line(f"PB_SET_LIST({target}, {source});")

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

    def name_view(self, var: Var, view: ArrayRef) -> bool:
        """Let a view be known by the name of its struct, if it may be."""
        if var not in self.borrowed:
            return False
        self._leaves[var] = (view.name,)
        return True

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

    def moves(self, targets: Sequence[Var], sources: Sequence[Operand], spent: Collection[Var] = ()) -> None:
        """Parallel assignment.  Values that are `spent` are not read again: an array changes places with the old value,
        whose memory serves when it is made anew."""
        mark = len(self.scratch)
        self._spent = self._lone_names(spent, sources)
        pairs: list[tuple[str, str, Leaf]] = []
        for var, operand in zip(targets, sources, strict=True):
            if self.used(var):
                pairs += self._pairs(var, operand)
        pairs = [p for p in dict.fromkeys(pairs) if p[0] != p[1]]
        reads = [set(_WORD.findall(source)) for _, source, _ in pairs]
        while pairs:
            free = [
                k for k, p in enumerate(pairs) if not any(p[0] in r for j, r in enumerate(reads) if j != k)
            ]
            if not free:
                break
            self._move(*pairs.pop(free[0]))
            reads.pop(free[0])
        if pairs:
            self._all_at_once(pairs)
        self._spent = frozenset()
        self.settle(mark)

    def _lone_names(self, spent: Collection[Var], sources: Sequence[Operand]) -> frozenset[str]:
        """The C names of values that are spent, of those that nothing else has."""
        names = [
            name for v in variables_in(sources) if not isinstance(v.style, Static) for name in self.leaves(v)
        ] if spent else []  # fmt: skip
        own = {
            name for v in spent if v not in self.borrowed and v in self._leaves for name in self._leaves[v]
        }
        return frozenset(name for name in own if names.count(name) == 1)

    def _all_at_once(self, pairs: Sequence[tuple[str, str, Leaf]]) -> None:
        with self.block(""):
            old = []
            for target, source, leaf in pairs:
                name = self.temporary("old")
                self.line(f"{declared(leaf)} {name} = {source};")
                if not isinstance(leaf, Number):
                    self.line(f"{retain(leaf)}({name});")
                old.append((target, name, leaf))
            for target, name, leaf in old:
                if not isinstance(leaf, Number):
                    self.line(f"{release(leaf)}({target});")
                self.line(f"{target} = {name};")

    def _move(self, target: str, source: str, leaf: Leaf) -> None:
        if isinstance(leaf, Number):
            self.line(f"{target} = {source};")
        elif isinstance(leaf, ArrayLeaf) and source in self._spent:
            self.line(f"PB_SWAP({target}, {source});")
        elif isinstance(leaf, ArrayLeaf):
            self.set_array(target, source)
        else:
            self.line(f"PB_SET_LIST({target}, {source});")

    def _pairs(self, target: Var, source: Operand) -> list[tuple[str, str, Leaf]]:
        out: list[tuple[str, str, Leaf]] = []
        undefined = isinstance(source, Const) and source.value is UNDEF
        if target in self.unbound:
            out.append((self.flag(target), "0" if undefined else self._bound(source), FLAG))
        if undefined or (isinstance(source, Const) and source.value is ABSENT):
            return out
        if isinstance(source, Pack):
            self.require(variables(source))
        names, leaves = self.leaves(target), leaves_of(target.style)
        return out + list(zip(names, parts(self, source, target.style), leaves, strict=True))

    # ------------------------------------------------------------------------------- names that may not be bound

    def _bound(self, source: Operand) -> str:
        return self.flag(source) if isinstance(source, Var) and source in self.unbound else "1"

    def flag(self, var: Var) -> str:
        """The C name of whether a value is bound."""
        name = f"pb_has_{self.names.of[var]}"
        self.locals[name] = FLAG
        return name

    def require(self, operands: Iterable[Operand]) -> None:
        """Leave where a name that is read is not bound."""
        for var in dict.fromkeys(v for x in operands for v in variables(x)):
            if var in self.unbound:
                self.check(self.flag(var), UNBOUND, "a local variable is not associated with a value")

    # ------------------------------------------------------------------------------------------- what is made

    def declare_list(self, leaf: ListLeaf) -> str:
        """An empty list of ours, given back by `settle`."""
        name = self._declare(self.temporary("list"), leaf)
        self.line(f"PB_RELEASE_LIST({name}); {name} = NULL;")
        self.scratch.append((name, leaf))
        return name

    def settle(self, mark: int) -> None:
        """Give back what was made for a moment since `mark`."""
        for name, leaf in self.scratch[mark:]:
            empty = f"{name} = NULL" if isinstance(leaf, ListLeaf) else f"{name}.owner = NULL"
            self.line(f"{release(leaf)}({name}); {empty};")
        del self.scratch[mark:]


def _safe(name: str) -> str:
    """A name that is not one of ours."""
    return f"v_{name}" if name.startswith("pb_") else name


def _quoted(text: str) -> str:
    if not text:
        return "NULL"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
