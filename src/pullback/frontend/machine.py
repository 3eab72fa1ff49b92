"""The core of the abstract machine: calls of operations, and what is known of values at compile time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pullback.frontend.environment import NeedStatic
from pullback.frontend.storages import READ_ONLY, Storages
from pullback.frontend.values import (
    ArrayRef,
    BoundMethod,
    Cell,
    CellRef,
    DictCell,
    FrozenRef,
    FunctionValue,
    GrowingCell,
    IterValue,
    Known,
    ListCell,
    Num,
    ObjectCell,
    SliceValue,
    TupleValue,
    Value,
)
from pullback.ir import core_ops as core
from pullback.ir.nodes import Alias, Call, Op, Operand, Pack, Var
from pullback.rules.registry import op_of
from pullback.styles.style import Array, Scalar, Tup, numeric

SAFE: dict[str, np.ufunc] = {"/": np.true_divide, "//": np.floor_divide, "%": np.remainder, "**": np.power}


def _computes(op: Op, args: Sequence[Value]) -> bool:
    """Whether an operator of compile-time numbers has a value in Python."""
    try:
        op.impl(*[v.obj for v in args if isinstance(v, Known)])
    except (ArithmeticError, TypeError):  # a division by zero; not all of them are at hand
        return False
    return True


class Unroll(Exception):
    """The index of the loop `token` is needed at compile time."""

    def __init__(self, token: object) -> None:
        self.token = token
        super().__init__("a loop must be unrolled")


class Unreachable(Exception):
    """The rest of the current statement is never reached."""


class Core(Storages):
    """State, builder and everything that needs no syntax."""

    # ------------------------------------------------------------------------------------------------ calls

    def call(
        self, op: Op, args: Sequence[Value], kwargs: Mapping[str, Value] | None = None, hint: str = "t"
    ) -> Value:
        """Emit an operation and wrap its result as its alias class says; fold it where everything is known."""
        named = dict(kwargs or {})
        folded = self._fold(op, args, named)
        if folded is not None:
            return folded
        viewed = self._as_view(op, args, named)
        if viewed is not None:
            return viewed
        operands = tuple(self.operand(v) for v in args)
        named_operands = {k: self.operand(v) for k, v in named.items()}
        targets = self.builder.call_many(op, operands, named_operands, (hint,))
        self._note_integers(targets, operands)
        shares = self._shares(op, targets, operands, named_operands, [*args, *named.values()])
        values = tuple(self.wrap(t, shares) for t in targets)
        if not values:
            return Known(None)
        return values[0] if len(values) == 1 else TupleValue(values)

    def _fold(self, op: Op, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value | None:
        if op.effect or op.writes or not all(is_plain(v) for v in [*args, *kwargs.values()]):
            return None
        self.check_constant([*args, *kwargs.values()])
        plain = [self.known(v) for v in args]
        named = {k: self.known(v) for k, v in kwargs.items()}
        if any(isinstance(x, _Sized) for x in [*plain, *named.values()]):
            return None
        try:
            with np.errstate(all="raise"):
                out = op.impl(*plain, **named)
        except Exception:
            return None  # it raises or warns: at run time, as the user's would
        return Known(out) if _is_foldable(out) else None

    def _as_view(self, op: Op, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value | None:
        """A view of a reference is a reference with a longer path."""
        if not args or not isinstance(args[0], ArrayRef) or op.alias == Alias() or op.fn in READ_ONLY:
            return None  # NumPy lets nobody write through a read-only view, its cotangent neither
        positional = _positional(op, args, kwargs)
        if positional is None:
            return None
        operands = tuple(self.operand(v) for v in positional[1:])
        step = Pack("view", operands, op)
        style = op.style(self.style(args[0]), *map(core.style_of, operands))
        if not isinstance(style, Array) or style.axes is None:
            return None
        if self._alias(op, (Var("t", style),), (Var("x", self.style(args[0])), *operands), {}) != Alias(
            "view", (0,)
        ):
            return None
        return ArrayRef(args[0].cell, (*args[0].path, step))

    @staticmethod
    def _alias(
        op: Op, targets: Sequence[Var], args: Sequence[Operand], kwargs: Mapping[str, Operand]
    ) -> Alias:
        if isinstance(op.alias, Alias):
            return op.alias
        return op.alias(Call(tuple(targets), op, tuple(args), tuple(kwargs.items())))

    def _shares(
        self,
        op: Op,
        targets: Sequence[Var],
        operands: Sequence[Operand],
        named: Mapping[str, Operand],
        values: Sequence[Value],
    ) -> list[Value]:
        alias = self._alias(op, targets, operands, named)
        if alias.kind == "fresh":
            return []
        return [values[i] for i in alias.operands if i < len(values)]

    def _note_integers(self, targets: Sequence[Var], operands: Sequence[Operand]) -> None:
        """Remember which integers are computed from loop indices and integer parameters alone."""
        if len(targets) != 1 or not isinstance(targets[0].style, Scalar) or targets[0].style.kind not in "bi":
            return
        found: frozenset[Any] = frozenset()
        for operand in operands:
            if isinstance(operand, Var):
                if operand not in self.sources:
                    return
                found |= self.sources[operand]
        if found:
            self.sources[targets[0]] = found

    def operator(self, symbol: str, *args: Value, hint: str = "t") -> Value:
        """A Python operator on values."""
        op = core.OPERATORS[symbol]
        if self.safe_arithmetic and symbol in SAFE and not _computes(op, args):
            styles = [numeric(self.style(v)) for v in args]
            if all(isinstance(s, Scalar) and s.weak is not False for s in styles):
                op = op_of(SAFE[symbol]) or op
        return self.call(op, args, hint=hint)

    # ------------------------------------------------------------------------------------------------ knowledge

    def is_known(self, value: Value) -> bool:
        """Whether the value is a compile-time object."""
        return isinstance(value, Known)

    def known(self, value: Value) -> Any:
        """The compile-time object; asks for it where a parameter or a loop could provide it."""
        match value:
            case Known(obj):
                return obj
            case TupleValue(items, cls):
                plain = [self.known(v) for v in items]
                return tuple(plain) if cls is None else cls(*plain)
            case SliceValue(start, stop, step):
                return slice(self.known(start), self.known(stop), self.known(step))
            case CellRef(number):
                cell = self.content(number)
                if isinstance(cell, ListCell):
                    return [self.known(v) for v in cell.items]
                if isinstance(cell, DictCell):
                    return {k: self.known(v) for k, v in cell.items.items()}
            case Num(operand) if isinstance(operand, Var):
                self._ask(self.sources.get(operand, frozenset()))
        self.refuse(
            "this must be known at compile time, but is computed at run time",
            "use a constant, an int parameter, or a value that follows from shapes and types",
        )

    def settle(self, value: Value) -> None:
        """Ask for an integer, or those in a tuple, where a parameter or a loop could provide it."""
        match value:
            case TupleValue(items):
                for item in items:
                    self.settle(item)
            case Num(operand) if isinstance(operand, Var):
                self._ask(self.sources.get(operand, frozenset()))

    def _ask(self, sources: frozenset[Any]) -> None:
        for token in self.unrollable:
            if token in sources:
                raise Unroll(token)
        for name in sorted(s for s in sources if isinstance(s, str)):
            raise NeedStatic(name)

    def iterate(self, value: Value) -> list[Value] | None:
        """The items of a value whose length is known at compile time and small."""
        match value:
            case TupleValue(items):
                return list(items)
            case CellRef(number):
                cell = self.content(number)
                if isinstance(cell, ListCell):
                    return list(cell.items)
                if isinstance(cell, DictCell):
                    return [Known(k) for k in cell.items]
            case Known(obj) if isinstance(obj, tuple | list | str | frozenset | set | dict | range):
                return [
                    Known(x) for x in (sorted(obj, key=repr) if isinstance(obj, set | frozenset) else obj)
                ]
            case Num(Var(style=Tup(items, kind))) | FrozenRef(Var(style=Tup(items, kind))) if kind in (
                "tuple",
                "list",
            ):
                return [self.call(core.list_get, [value, Known(i)], hint="item") for i in range(len(items))]
        return None

    def truth(self, value: Value) -> Value:
        """Python's bool() of a value."""
        match value:
            case Known(obj):
                return self._known_truth(value, obj)
            case TupleValue(items):
                return Known(bool(items))
            case FunctionValue() | BoundMethod() | SliceValue():
                return Known(True)
            case IterValue(length):
                return Known(bool(length)) if isinstance(length, int) else self.truth(Num(length))
            case CellRef(number):
                return self._container_truth(value, self.content(number))
        style = self.style(value)
        if isinstance(style, Scalar) and style.kind == "b" and style.weak is True:
            return value
        return self.call(core.truth, [value], hint="test")

    def _known_truth(self, value: Known, obj: Any) -> Value:
        """An object found outside may be true at one call and false at another."""
        for name in ("__bool__", "__len__"):
            special = self.special(value, name)
            if special is not None:
                return self.truth(self.call_value(special, (), {}))
        return Known(bool(obj))

    def _container_truth(self, value: Value, cell: Cell) -> Value:
        match cell:
            case ListCell(items) | DictCell(items):
                return Known(bool(items))
            case GrowingCell(operand):
                return self.call(
                    core.truth, [Num(self.builder.call(core.list_len, operand, hint="n"))], hint="test"
                )
            case ObjectCell(cls):
                if hasattr(cls, "__bool__"):
                    return self.call_value(self.asked(value, "__bool__"), (), {})
                if hasattr(cls, "__len__"):
                    return self.truth(self.call_value(self.asked(value, "__len__"), (), {}))
        return Known(True)

    def test(self, value: Value) -> Known | Operand:
        """The condition of a branch: known, or an operand whose truth Python takes."""
        style = numeric(self.style(value)) if isinstance(value, Num) else None
        if isinstance(style, Scalar):
            return self.operand(value)
        found = self.truth(value)
        return found if isinstance(found, Known) else self.operand(found)


_FOLDABLE = (bool, int, float, complex, str, bytes, type(None), np.generic, np.dtype, type)
_Sized = (np.ndarray, list, dict, set)


def _is_foldable(out: Any) -> bool:
    if isinstance(out, tuple):
        return all(_is_foldable(x) for x in out)
    return isinstance(out, _FOLDABLE)


def is_plain(value: Value) -> bool:
    """Known all through."""
    match value:
        case Known():
            return True
        case TupleValue(items):
            return all(is_plain(v) for v in items)
        case SliceValue(start, stop, step):
            return is_plain(start) and is_plain(stop) and is_plain(step)
    return False


def _positional(op: Op, args: Sequence[Value], kwargs: Mapping[str, Value]) -> list[Value] | None:
    """All arguments as positional ones; None where that cannot be."""
    if not kwargs:
        return list(args)
    signature = signature_of(op.fn if op.fn is not None else op.impl)
    if signature is None:
        return None
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return None
    bound.apply_defaults()
    if bound.kwargs:
        return None
    return [v if isinstance(v, _VALUES) else Known(v) for v in bound.args]


_VALUES = (
    Known,
    Num,
    ArrayRef,
    FrozenRef,
    TupleValue,
    CellRef,
    FunctionValue,
    BoundMethod,
    SliceValue,
    IterValue,
)
_signatures: dict[Callable[..., Any], Any] = {}


def signature_of(fn: Callable[..., Any]) -> Any:
    """`inspect.signature`, or None where there is none."""
    import inspect

    if fn not in _signatures:
        try:
            _signatures[fn] = inspect.signature(fn)
        except (TypeError, ValueError):
            _signatures[fn] = None
    return _signatures[fn]
