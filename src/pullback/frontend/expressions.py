"""Expressions: what Python's syntax means on the values at hand, decided while it is lowered."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from numbers import Number
from types import FunctionType
from typing import Any

from pullback.errors import defect, is_defect
from pullback.frontend import subclassed
from pullback.frontend.library import iteration, prelude
from pullback.frontend.members import is_instance
from pullback.frontend.refusals import refuse
from pullback.frontend.sharing import Sharing
from pullback.frontend.values import (
    ArrayRef,
    BoundMethod,
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
from pullback.ir.nodes import Const
from pullback.styles.style import Anything, Array, ListOf, Scalar, Static, numeric

BINARY: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
COMPARE: dict[type[ast.AST], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
UNARY: dict[type[ast.AST], str] = {ast.USub: "u-", ast.UAdd: "u+", ast.Invert: "~"}
DUNDER = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "**": "pow",
    "@": "matmul",
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
    "==": "eq",
    "!=": "ne",
    "u-": "neg",
    "u+": "pos",
    "~": "invert",
    "&": "and",
    "|": "or",
    "^": "xor",
    "<<": "lshift",
    ">>": "rshift",
}
MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_RAISES = "Python or NumPy raises TypeError here"


def _method(symbol: str, position: int) -> str:
    """The method that an operator calls of its operand at a position."""
    name = MIRROR[symbol] if position and symbol in MIRROR else symbol
    reflected = "r" if position and symbol not in MIRROR else ""
    return f"__{reflected}{DUNDER[name]}__"


_REFERENCES = (ArrayRef, FrozenRef, CellRef, TupleValue, BoundMethod, IterValue, FunctionValue)
_CONVERSIONS = {-1: "", 115: "!s", 114: "!r", 97: "!a"}


class Expressions(Sharing):
    """Evaluates expressions."""

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression; references stay known as held until the statement ends."""
        visit: Callable[[Any], Value] | None = getattr(self, f"visit_{type(node).__name__}", None)
        if visit is None:
            self.refuse(f"this expression ({type(node).__name__}) is not supported", node=node)
        try:
            value = visit(node)
        except Exception as error:
            if not is_defect(error):
                raise
            raise defect(error, self.place(node)) from error
        if isinstance(value, _REFERENCES):
            self.temps.append(value)
        return value

    def choose(self, test: Value, then: Callable[[], Value], orelse: Callable[[], Value]) -> Value:
        """`then() if test else orelse()`."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------------- simple

    def visit_Constant(self, node: ast.Constant) -> Value:
        """A literal."""
        return Known(node.value)

    def visit_Name(self, node: ast.Name) -> Value:
        """A name."""
        return self.read(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> Value:
        """`owner.name`."""
        return self.attribute(self.evaluate(node.value), node.attr)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Value:
        """`name := value`."""
        value = self.evaluate(node.value)
        self.bind(node.target.id, value)
        return value

    def visit_Lambda(self, node: ast.Lambda) -> Value:
        """A lambda captures variables."""
        return self.function_value(node, "<lambda>")

    def function_value(self, node: ast.FunctionDef | ast.Lambda, name: str) -> FunctionValue:
        """A function defined here."""
        assert self.frame is not None
        self.frame.kept = True
        defaults = tuple(self.evaluate(d) for d in node.args.defaults)
        pairs = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        named = {a.arg: self.evaluate(d) for a, d in pairs if d is not None}
        return FunctionValue(node, self.frame, None, defaults, named, name)

    def visit_Subscript(self, node: ast.Subscript) -> Value:
        """`owner[index]`."""
        owner = self.evaluate(node.value)
        return self.subscript(owner, self.evaluate(node.slice))

    def visit_Slice(self, node: ast.Slice) -> Value:
        """`start:stop:step`."""
        parts = (node.lower, node.upper, node.step)
        start, stop, step = (Known(None) if p is None else self.evaluate(p) for p in parts)
        return SliceValue(start, stop, step)

    def visit_Call(self, node: ast.Call) -> Value:
        """A call."""
        fn = self.evaluate(node.func)
        named = {k.arg for k in node.keywords}
        args = self.sequence(node.args, None if None in named else self._positions(fn, named))
        kwargs: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            if keyword.arg is None:
                kwargs.update(self._mapping(value))
            else:
                kwargs[keyword.arg] = value
        previous, self.builder.loc = self.builder.loc, self.place(node)
        try:
            return self.call_value(fn, args, kwargs)
        finally:
            self.builder.loc = previous

    def _mapping(self, value: Value) -> dict[str, Value]:
        cell = self.cell(value) if isinstance(value, CellRef) else None
        if isinstance(cell, DictCell):
            return {str(k): v for k, v in cell.items.items()}
        if isinstance(value, Known) and isinstance(value.obj, dict):
            return {str(k): Known(v) for k, v in value.obj.items()}
        self.refuse(
            "`**` of something that is not a dict with keys known at compile time", "name the arguments"
        )

    def _positions(self, fn: Value, named: set[str | None]) -> int | None:
        """How many positional arguments a call of a user's function takes, where that is no choice of the caller's."""
        first, found = 0, fn
        if isinstance(fn, BoundMethod):
            cls = self.instance_class(fn.owner)
            found, first = Known(getattr(cls, fn.name, None)), 1
        elif isinstance(fn, CellRef):
            found, first = Known(getattr(self.instance_class(fn), "__call__", None)), 1  # noqa: B004 (the method itself)
        if isinstance(found, FunctionValue):
            spec, defaults = found.node.args, len(found.defaults)
            names = [a.arg for a in [*spec.posonlyargs, *spec.args]]
            several = spec.vararg is not None
        elif isinstance(found, Known) and isinstance(found.obj, FunctionType):
            code = found.obj.__code__
            names, defaults = list(code.co_varnames[: code.co_argcount]), len(found.obj.__defaults__ or ())
            several = bool(code.co_flags & inspect.CO_VARARGS) or hasattr(found.obj, "__wrapped__")
        else:
            return None
        free = [n for n in names[len(names) - defaults :] if n not in named] if defaults else []
        return None if several or free else len([n for n in names if n not in named]) - first

    def sequence(self, nodes: Sequence[ast.expr], count: int | None = None) -> list[Value]:
        """The values of displays and arguments, stars spread out; `count` values in all where that is known."""
        out: list[Value] = []
        for i, node in enumerate(nodes):
            if not isinstance(node, ast.Starred):
                out.append(self.evaluate(node))
                continue
            value, after = self.evaluate(node.value), nodes[i + 1 :]
            only = not any(isinstance(n, ast.Starred) for n in after)
            if count is not None and only and self.items_of(value) is None:
                wanted = max(count - len(out) - len(after), 0)
                self.check_length(value, wanted, node)
                out += [self.subscript(value, Known(k)) for k in range(wanted)]
                continue
            out += self.spread(value, node)
        return out

    def check_length(self, value: Value, count: int, node: ast.AST, at_least: bool = False) -> None:
        """Python's ValueError where a value of run-time length has not so many items."""
        style = self.style(value)
        if not isinstance(style, Array | ListOf) or (isinstance(style, Array) and not style.axes):
            self.refuse_unknown(
                value, "the number of items is not known at compile time", "index the items one by one", node
            )
        body = prelude.check_at_least if at_least else prelude.check_length
        self.call_value(Known(body), [value, Known(count)], {})

    def spread(self, value: Value, node: ast.AST) -> list[Value]:
        """The items of a value whose number is known."""
        items = self.items_of(value)
        if items is None:
            self.refuse(
                "the number of items of this value is not known at compile time",
                "index the items one by one, or loop over them",
                node,
            )
        return items

    def items_of(self, value: Value) -> list[Value] | None:
        """The items where their number is known: of arrays with an exact first axis too."""
        cell = self.cell(value) if isinstance(value, CellRef) else None
        if isinstance(cell, ObjectCell) and hasattr(cell.cls, "__iter__"):
            value = iteration.needed(self, value, "for")
        items = self.iterate(value)
        if items is None and isinstance(value, IterValue) and isinstance(value.length, int):
            items = [value.item(Known(i)) for i in range(value.length)]
        if items is None and isinstance(value, ArrayRef | FrozenRef):
            style = self.style(value)
            if isinstance(style, Array) and style.axes and isinstance(style.axes[0], int):
                items = [self.subscript(value, Known(i)) for i in range(style.axes[0])]
        return items

    # ------------------------------------------------------------------------------------------------ displays

    def visit_Tuple(self, node: ast.Tuple) -> Value:
        """`a, b`."""
        return TupleValue(tuple(self.sequence(node.elts)))

    def visit_List(self, node: ast.List) -> Value:
        """`[a, b]`, `[*a, b]`: lists of run-time length are joined."""
        if not any(isinstance(n, ast.Starred) for n in node.elts):
            return self.new_cell(ListCell(tuple(self.sequence(node.elts))))
        parts: list[Value] = []  # lists to be joined; what is known of neighbours is one
        known: list[Value] = []
        for item in node.elts:
            value = self.evaluate(item.value if isinstance(item, ast.Starred) else item)
            items = self.items_of(value) if isinstance(item, ast.Starred) else [value]
            if items is None:
                parts += [self.new_cell(ListCell(tuple(known))), self.call_value(Known(list), [value], {})]
                known = []
            else:
                known += items
        out: Value = self.new_cell(ListCell(tuple(known)))
        for part in reversed(parts):
            out = self.binary("+", part, out, node) if self.iterate(part) != [] else out
        return out

    def visit_Set(self, node: ast.Set) -> Value:
        """`{a, b}` of compile-time objects."""
        return Known(frozenset(self.known(v) for v in self.sequence(node.elts)))

    def visit_Dict(self, node: ast.Dict) -> Value:
        """`{key: value}` with keys known at compile time."""
        items: dict[Any, Value] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                found = self.evaluate(value)
                cell = self.cell(found) if isinstance(found, CellRef) else None
                if not isinstance(cell, DictCell):
                    self.refuse("`**` of something that is not a dict with known keys", node=value)
                items.update(cell.items)
            else:
                name = self.known(self.evaluate(key))
                items[name] = self.evaluate(value)
        return self.new_cell(DictCell(items))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Value:
        """An f-string."""
        template, values = "", []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                template += "{" + _CONVERSIONS[part.conversion] + self._format_spec(part.format_spec) + "}"
                values.append(self.evaluate(part.value))
            else:
                assert isinstance(part, ast.Constant)
                template += str(part.value).replace("{", "{{").replace("}", "}}")
        if all(isinstance(v, Known) and not is_instance(v.obj) for v in values):
            return Known(template.format(*[self.known(v) for v in values]))
        operands = [self.operand(v) for v in values]
        return Num(self.builder.call(core.format_, Const(template), *operands, hint="text"))

    def _format_spec(self, spec: ast.expr | None) -> str:
        return "" if spec is None else ":" + str(self.known(self.evaluate(spec)))

    # ----------------------------------------------------------------------------------------------- operators

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Value:
        """`-a`, `not a`."""
        value = self.evaluate(node.operand)
        if isinstance(node.op, ast.Not):
            truth = self.truth(value)
            return (
                Known(not truth.obj)
                if isinstance(truth, Known)
                else self.call(core.not_, [truth], hint="not_")
            )
        symbol = UNARY[type(node.op)]
        special = self._object_operator(symbol, [value])
        return special if special is not None else self._numeric_operator(symbol, [value], node)

    def visit_BinOp(self, node: ast.BinOp) -> Value:
        """`a + b`."""
        left = self.evaluate(node.left)
        return self.binary(BINARY[type(node.op)], left, self.evaluate(node.right), node)

    def binary(self, symbol: str, left: Value, right: Value, node: ast.AST | None = None) -> Value:
        """A binary operator, of sequences and objects too."""
        special = self._object_operator(symbol, [left, right])
        if special is None:
            special = self._sequence_operator(symbol, left, right)
        return special if special is not None else self._numeric_operator(symbol, [left, right], node)

    def _numeric_operator(self, symbol: str, args: Sequence[Value], node: ast.AST | None) -> Value:
        args = subclassed.operands(self, symbol, DUNDER[symbol], args, node)
        for value in args:
            style = numeric(self.style(value))
            if isinstance(style, Static) or isinstance(
                value, FunctionValue | BoundMethod | IterValue | SliceValue
            ):
                what = repr(style.value) if isinstance(style, Static) else type(value).__name__
                if all(isinstance(v, Known) for v in args):
                    break
                is_number = isinstance(style, Static) and isinstance(style.value, Number)
                hint = "use a plain number: float(...)" if is_number else _RAISES
                self.refuse(f"`{symbol.lstrip('u')}` on {what}", hint, node)
        previous, self.builder.loc = self.builder.loc, self.place(node)
        try:
            return self.operator(symbol, *args)
        finally:
            self.builder.loc = previous

    def _sequence_operator(self, symbol: str, left: Value, right: Value) -> Value | None:
        """`list + list`, `tuple * n`, `text % values`."""
        if symbol == "%" and isinstance(left, Known) and isinstance(left.obj, str):
            return self._percent(left.obj, right)
        if symbol == "+":
            return self._concatenate(left, right)
        if symbol == "*":
            for sequence, count in ((left, right), (right, left)):
                items = self._display(sequence)
                if items is not None and not isinstance(count, ArrayRef | FrozenRef | CellRef | TupleValue):
                    return self._like(sequence, items * int(self.known(count)))
        return None

    def _percent(self, template: str, right: Value) -> Value:
        values = right.items if isinstance(right, TupleValue) else (right,)
        if all(isinstance(v, Known) for v in values):
            self.check_constant(values)
            return Known(template % tuple(self.known(v) for v in values))
        self.refuse("`%` formatting of run-time values", 'use an f-string or "...".format(...)')

    def _display(self, value: Value) -> list[Value] | None:
        """The items of a tuple or of a list of known length."""
        if isinstance(value, TupleValue):
            return list(value.items)
        cell = self.cell(value) if isinstance(value, CellRef) else None
        return list(cell.items) if isinstance(cell, ListCell) else None

    def _like(self, model: Value, items: Sequence[Value]) -> Value:
        if isinstance(model, TupleValue):
            return TupleValue(tuple(items))
        return self.new_cell(ListCell(tuple(items)))

    def _concatenate(self, left: Value, right: Value) -> Value | None:
        first, second = self._display(left), self._display(right)
        if first is not None and second is not None and type(left) is type(right):
            return self._like(left, first + second)
        if isinstance(left, TupleValue) and isinstance(right, Known) and isinstance(right.obj, tuple):
            return TupleValue((*left.items, *(Known(x) for x in right.obj)))
        if isinstance(right, TupleValue) and isinstance(left, Known) and isinstance(left.obj, tuple):
            return TupleValue((*(Known(x) for x in left.obj), *right.items))
        if isinstance(left, CellRef) and isinstance(right, CellRef):
            cells = self.cell(left), self.cell(right)
            if any(isinstance(c, GrowingCell) for c in cells) and all(
                isinstance(c, GrowingCell | ListCell) for c in cells
            ):
                out = self.builder.call(core.list_join, self.operand(left), self.operand(right), hint="items")
                return self.wrap(out, [left, right])
        return None

    def _object_operator(self, symbol: str, args: Sequence[Value]) -> Value | None:
        """An operator that a user's class defines."""
        for position in self._order(symbol, args):
            value = args[position]
            if self.instance_class(value) is None:
                continue
            method = _method(symbol, position)
            special = self.special(value, method)
            if special is not None:
                if position:
                    self._check_asked(symbol, args[0], value)
                others = [v for i, v in enumerate(args) if i != position]
                found = self.call_value(special, others, {})
                if not (isinstance(found, Known) and found.obj is NotImplemented):
                    return found
            elif hasattr(tuple, method) and all(isinstance(v, TupleValue) for v in args):
                return None  # as tuples have it
        return None

    def _check_asked(self, symbol: str, left: Value, right: Value) -> None:
        """Refuse an array beside an object that does not say that NumPy shall leave the operator to it."""
        cls = self.instance_class(right)
        left_to_it = getattr(cls, "__array_ufunc__", 0) is None or getattr(cls, "__array_priority__", 0) > 0
        if not left_to_it and isinstance(self.style(left), Array):
            assert cls is not None
            self.refuse(
                f"`{symbol}` of an array and a {cls.__name__}, which NumPy takes item by item",
                f"write the object first, or set __array_ufunc__ = None in {cls.__name__}",
            )

    def _order(self, symbol: str, args: Sequence[Value]) -> Sequence[int]:
        """Which operand is asked first: the left one, or the right one where it is of a class made from the left's."""
        classes = [self.instance_class(v) or (tuple if isinstance(v, TupleValue) else None) for v in args]
        if len(args) == 2 and None not in classes and classes[0] is not classes[1]:
            left, right = classes
            method = _method(symbol, 1)
            own = symbol in MIRROR or getattr(left, method, None) is not getattr(right, method, None)
            if own and issubclass(right, left):  # type: ignore[arg-type]
                return (1, 0)
        return range(len(args))

    # ---------------------------------------------------------------------------------------------- conditions

    def visit_IfExp(self, node: ast.IfExp) -> Value:
        """`a if test else b`."""
        test = self.evaluate(node.test)
        return self.choose(test, lambda: self.evaluate(node.body), lambda: self.evaluate(node.orelse))

    def visit_BoolOp(self, node: ast.BoolOp) -> Value:
        """`a and b`, `a or b`: the value that decides."""
        return self._decide(isinstance(node.op, ast.And), node.values)

    def _decide(self, conjunction: bool, nodes: Sequence[ast.expr]) -> Value:
        first = self.evaluate(nodes[0])
        if len(nodes) == 1:
            return first
        if conjunction:
            return self.choose(first, lambda: self._decide(True, nodes[1:]), lambda: first)
        return self.choose(first, lambda: first, lambda: self._decide(False, nodes[1:]))

    def visit_Compare(self, node: ast.Compare) -> Value:
        """`a < b`, `a < b < c`, `a in b`, `a is b`."""
        return self._compare(
            self.evaluate(node.left), list(zip(node.ops, node.comparators, strict=True)), node
        )

    def _compare(self, left: Value, rest: Sequence[tuple[ast.cmpop, ast.expr]], node: ast.Compare) -> Value:
        op, right_node = rest[0]
        right = self.evaluate(right_node)
        first = self.comparison(op, left, right, node)
        if len(rest) == 1:
            return first
        return self.choose(first, lambda: self._compare(right, rest[1:], node), lambda: first)

    def comparison(self, op: ast.cmpop, left: Value, right: Value, node: ast.AST) -> Value:
        """One comparison."""
        if isinstance(op, ast.Is | ast.IsNot):
            return self._identity(left, right, isinstance(op, ast.IsNot), node)
        if isinstance(op, ast.In | ast.NotIn):
            found = self._membership(left, right)
            if not isinstance(op, ast.NotIn):
                return found
            return (
                Known(not found.obj)
                if isinstance(found, Known)
                else self.call(core.not_, [found], hint="not_")
            )
        symbol = COMPARE[type(op)]
        special = self._object_operator(symbol, [left, right])
        if special is None:
            special = self._structural(symbol, left, right)
        return special if special is not None else self._comparison_of_numbers(symbol, left, right, node)

    def _comparison_of_numbers(self, symbol: str, left: Value, right: Value, node: ast.AST) -> Value:
        left, right = subclassed.operands(self, symbol, DUNDER[symbol], (left, right), node)
        plain = [isinstance(v, Known) and isinstance(numeric(self.style(v)), Static) for v in (left, right)]
        if symbol in ("==", "!=") and any(plain):
            other = right if plain[0] else left
            may_be_equal = isinstance(other, ArrayRef | FrozenRef | Known)
            is_number = not isinstance(other, Num) or isinstance(self.style(other), Scalar)
            if is_number and not may_be_equal:
                self._check_unequal(left if plain[0] else right, symbol, node)
                return Known(symbol == "!=")
            if isinstance(other, Num):
                return self.call(core.OPERATORS[symbol], [left, right], hint="same")
        return self._numeric_operator(symbol, [left, right], node)

    def _check_unequal(self, value: Value, symbol: str, node: ast.AST) -> None:
        """An object that is never equal to a number may be compared with one at compile time."""
        obj = self.known(value)
        if not subclassed.never_equals_a_number(obj):
            self.refuse(f"`{symbol}` of a number and {obj!r}", "compare with a plain number", node)

    def _structural(self, symbol: str, left: Value, right: Value) -> Value | None:
        """Equality of tuples and of lists of known length."""
        if symbol not in ("==", "!="):
            return None
        first, second = self._display(left), self._display(right)
        if first is None and isinstance(left, Known) and isinstance(left.obj, tuple):
            first = [Known(x) for x in left.obj]
        if second is None and isinstance(right, Known) and isinstance(right.obj, tuple):
            second = [Known(x) for x in right.obj]
        if first is None or second is None or isinstance(left, CellRef) != isinstance(right, CellRef):
            return None
        same: Value = Known(len(first) == len(second))
        if len(first) == len(second):
            for a, b in zip(first, second, strict=True):
                same = self._both(same, a, b)
        if symbol == "==":
            return same
        return Known(not same.obj) if isinstance(same, Known) else self.call(core.not_, [same], hint="not_")

    def _both(self, same: Value, a: Value, b: Value) -> Value:
        if isinstance(a, ArrayRef | FrozenRef) or isinstance(b, ArrayRef | FrozenRef):
            self.refuse(
                "a comparison of tuples or lists with arrays in them", "compare the arrays one by one"
            )
        return self.choose(same, lambda: self.comparison(ast.Eq(), a, b, ast.Eq()), lambda: same)

    def _identity(self, left: Value, right: Value, negated: bool, node: ast.AST) -> Value:
        """`is`: decided at compile time, or on an opaque value at run time."""
        if isinstance(left, Known) and isinstance(right, Known):
            return Known((left.obj is right.obj) != negated)
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Known):
                style = numeric(self.style(other))
                if isinstance(other, Num | FrozenRef) and isinstance(style, Anything):
                    return self.call(core.is_not if negated else core.is_, [left, right], hint="same")
                if isinstance(one.obj, bool) and isinstance(style, Scalar) and style.kind == "b":
                    return self.call(core.is_not if negated else core.is_, [left, right], hint="same")
                return Known(negated)
        if isinstance(left, CellRef) and isinstance(right, CellRef):
            return Known((left.cell == right.cell) != negated)
        refuse("is-array", self.place(node))

    def _membership(self, item: Value, container: Value) -> Value:
        """`item in container`."""
        if isinstance(container, CellRef) and isinstance(self.cell(container), DictCell):
            cell = self.cell(container)
            assert isinstance(cell, DictCell)
            return Known(self.known(item) in cell.items)
        if isinstance(container, IterValue) and container.reusable:
            container = TupleValue(tuple(self.items_of(container) or ()))
        contains = self.special(container, "__contains__")
        if contains is not None:
            return self.truth(self.call_value(contains, [item], {}))
        items = self.iterate(container)
        if items is not None and isinstance(item, Known) and all(isinstance(v, Known) for v in items):
            if isinstance(container, Known):
                return Known(item.obj in container.obj)
            return Known(any(item.obj == self.known(v) for v in items))
        if isinstance(container, IterValue):
            self.refuse("`in` of an iterator", "compare with its bounds")
        return self.call(core.contains, [item, container], hint="found")
