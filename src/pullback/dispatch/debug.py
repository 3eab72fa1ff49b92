"""`debug=True`: gradient functions run in the IR's interpreter, where every value is held against its style.

A value that is not of its inferred style is a DebugError.  So is a result or a cotangent that is not finite: the error
names the first line where such a value appeared (one that nothing uses, as in a branch of `np.where`, is no error).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from pullback.dispatch.finite import finite
from pullback.errors import NOWHERE, DebugError, Loc
from pullback.ir.core_ops import begin_reverse
from pullback.ir.interp import Machine
from pullback.ir.nodes import UNDEF, Call, Function, Stmt, Var
from pullback.ir.walk import targets
from pullback.pipeline import Compiled
from pullback.styles.style import Array, ListOf, Scalar, Static, Style, Tup, not_one

_KIND_OF_TYPE = {bool: "b", int: "i", float: "f", complex: "c"}


def debug_function(compiled: Compiled, form: str) -> Callable[..., Any]:
    """The gradient function `form` of a compilation, interpreted and checked."""
    functions = compiled.gradient_functions("joint" if form == "value_and_grad" else "pair")
    function = functions[-1] if form == "pullback" else functions[0]

    def checked(*args: Any) -> Any:
        return _run(function, args)

    return checked


def _run(function: Function, args: tuple[Any, ...]) -> Any:
    machine = _Checker()
    results = machine.results(function, args)
    pair = function.kind == "primal"
    shown = results[:1] if pair else results  # residuals may be anything
    if machine.first is not None and not finite(shown):
        raise machine.first
    owned = _copied(results[-1])  # residuals, or cotangents
    return owned if len(results) == 1 else (*results[:-1], owned)


def _copied(tree: Any) -> Any:
    """A structure whose arrays share nothing with the caller's, nor with one another."""
    if isinstance(tree, np.ndarray):
        return tree.copy()
    if type(tree) in (tuple, list):
        return type(tree)(_copied(x) for x in tree)
    if isinstance(tree, tuple):
        return type(tree)(*map(_copied, tree))
    if type(tree) is dict:
        return {key: _copied(x) for key, x in tree.items()}
    if is_dataclass(tree) and not isinstance(tree, type):
        return replace(tree, **{f.name: _copied(getattr(tree, f.name)) for f in fields(tree) if f.init})
    return tree


class _Checker(Machine):
    """Runs statements and checks what they define."""

    def __init__(self) -> None:
        super().__init__()
        self.first: DebugError | None = None  # for the first value that is not finite
        self.reverse = False

    def results(self, function: Function, args: Sequence[object]) -> tuple[Any, ...]:
        """Run a function; all of a pullback is reverse sweep."""
        self.reverse = function.kind == "pullback"
        return super().results(function, args)

    def enter(self, function: Function, args: Sequence[object]) -> Any:
        """Call a function compiled apart, with the same checks."""
        inner = _Checker()
        results = inner.results(function, args)
        self.first = self.first or inner.first
        return results[0] if len(results) == 1 else results

    def statement(self, stmt: Stmt) -> None:
        """Run a statement, then check its results."""
        super().statement(stmt)
        if isinstance(stmt, Call) and stmt.op is begin_reverse:
            self.reverse = True
        for var in targets(stmt):
            self._check(var, stmt.loc)

    def _check(self, var: Var, loc: Loc) -> None:
        value = self.values.get(var, UNDEF)
        if value is UNDEF or value is None:  # not bound, or not used, on this path
            return
        complaint = mismatch(var.style, value, self.reverse)
        if complaint:
            raise DebugError(
                f"`{var.hint}` was inferred to be {describe(var.style)}, but {complaint}",
                loc=loc,
                hint="this is a fault of pullback: please report it with this program",
            )
        if self.first is None and _is_number(value) and not finite(value):
            what = "cotangent" if self.reverse else "value"
            where = loc if loc.line else NOWHERE
            self.first = DebugError(f"the first {what} that is not finite is `{var.hint}`", loc=where)


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, np.ndarray | np.generic | float | complex) and np.asarray(value).dtype.kind in "fc"
    )


def mismatch(style: Style, value: Any, loose: bool = False) -> str:
    """What is wrong with a value of a style; "" where nothing is.

    `loose`: numbers and arrays of rank 0 may stand for one another, as in cotangents, which are cast at the end.
    """
    if (
        loose
        and isinstance(value, np.ndarray | np.generic | float | int)
        and np.ndim(value) == 0
        and _is_point(style)
    ):
        return ""
    match style:
        case Static(known):
            same = value is known or (isinstance(value, type(known)) and not isinstance(value, np.ndarray))
            return "" if same else f"is {value!r}"
        case Scalar():
            return _scalar_mismatch(style, value)
        case Array():
            return _array_mismatch(style, value)
        case Tup(items):
            if not isinstance(value, tuple | list) or len(value) != len(items):
                return f"is {value!r}"
            return next(filter(None, (mismatch(s, v) for s, v in zip(items, value, strict=True))), "")
        case ListOf(elem):
            if not isinstance(value, list):
                return f"is a {type(value).__name__}"
            return next(filter(None, (mismatch(elem, v) for v in value if v is not None)), "")
    return ""


def _is_point(style: Style) -> bool:
    return isinstance(style, Scalar) or (isinstance(style, Array) and style.axes == ())


def _scalar_mismatch(style: Scalar, value: Any) -> str:
    if isinstance(value, np.generic):
        if style.weak:
            return f"is a NumPy scalar ({value.dtype})"
        return "" if style.dtype in (None, value.dtype) else f"has dtype {value.dtype}"
    kind = _KIND_OF_TYPE.get(type(value))
    if kind is None:
        return f"is a {type(value).__name__}"
    if style.weak is False:
        return f"is a Python {type(value).__name__}"
    return "" if style.dtype is None or kind == style.kind else f"is a Python {type(value).__name__}"


def _array_mismatch(style: Array, value: Any) -> str:
    if not isinstance(value, np.ndarray):
        if style.axes is None and isinstance(value, np.generic | float | int | complex):
            return ""
        return f"is a {type(value).__name__}"
    if style.dtype is not None and value.dtype != style.dtype:
        return f"has dtype {value.dtype}"
    if style.axes is None:
        return ""
    if len(style.axes) != value.ndim:
        return f"has rank {value.ndim}"
    for i, (axis, n) in enumerate(zip(style.axes, value.shape, strict=True)):
        if (isinstance(axis, int) and axis != n) or (n == 1 and not_one(axis)):
            return f"has length {n} along axis {i}"
    return "is not contiguous" if style.contiguous and not value.flags.c_contiguous else ""


def describe(style: Style) -> str:
    """A style in words."""
    match style:
        case Scalar(dtype, weak):
            return f"{'a Python' if weak else 'a NumPy'} number of {dtype or 'unknown dtype'}"
        case Array(dtype, axes):
            shape = (
                "unknown rank"
                if axes is None
                else f"rank {len(axes)} {[a if isinstance(a, int) else '?' for a in axes]}"
            )
            return f"an array of {dtype or 'unknown dtype'} and {shape}"
        case Static(value):
            return f"the constant {value!r}"
    return str(style)
