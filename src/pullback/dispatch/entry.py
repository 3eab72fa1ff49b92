"""The specialised entry: one generated function that checks a call against one variant and runs it.

It has the user's own parameters.  The checks are those of the key and of the guards, spelled out; where one fails, the
values go the long way, which finds or compiles the right variant.  Made for functions whose parameters are arrays,
numbers and constants.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from pullback.dispatch.binding import Header, define
from pullback.dispatch.checks import part_of
from pullback.dispatch.notes import note_place
from pullback.dispatch.outside import MISSING
from pullback.dispatch.variants import Variant
from pullback.frontend.environment import Guard, Path
from pullback.ir.nodes import Const, Operand, Var
from pullback.rules.tables import tables
from pullback.styles.style import Array, Scalar, Static, numeric
from pullback.transform.gradient import Request

SHORT = 16
_PYTHON_TYPES = {"f": float, "i": int, "c": complex, "b": bool}


class NoEntry(Exception):
    """This variant cannot be served by a specialised entry."""


def make_entry(
    fn: FunctionType,
    header: Header,
    variant: Variant,
    request: Request,
    slow: Callable[[tuple[Any, ...]], Any],
    strong: Callable[[Variant, tuple[Any, ...]], Any],
) -> Callable[..., Any]:
    """The entry of a variant.

    `slow(values)` serves a call that is not the variant's; `strong(variant, values)` one whose cotangents are not
    finite.  Raises NoEntry where values or guards are of a kind that the entry cannot check.
    """
    if not header.plain or variant.written:
        raise NoEntry
    return _Entry(header, variant, request).define(fn, slow, strong)


class _Entry:
    """Collects the conditions and the objects they name."""

    def __init__(self, header: Header, variant: Variant, request: Request) -> None:
        self.header = header
        self.variant = variant
        self.request = request
        self.names: dict[str, Any] = {}
        self.conditions: list[str] = []

    def bind(self, obj: Any, stem: str) -> str:
        """A name for an object."""
        name = f"_pb_{stem}{len(self.names)}"
        self.names[name] = obj
        return name

    def define(
        self,
        fn: FunctionType,
        slow: Callable[[tuple[Any, ...]], Any],
        strong: Callable[[Variant, tuple[Any, ...]], Any],
    ) -> Callable[..., Any]:
        """The function."""
        tables_name = self.bind(tables, "tables")
        self.conditions.append(f"{tables_name}.generation == {self.variant.generation}")
        self.unchanged(fn)
        for param, name in zip(self.variant.params, self.header.names, strict=False):
            self.value(param.tree, name, name)
        outside = self.outside()
        for watch in self.variant.watches:
            if watch.root is not None:
                raise NoEntry
            self.guard(watch.guard)
        arguments = ", ".join([*self.header.names, *outside])
        run, used = (
            self.bind(self.variant.function("value_and_grad"), "run"),
            self.bind(self.variant, "variant"),
        )
        pack = f"({arguments},)" if arguments else "()"
        taken, test = self.bars()
        lines = [
            "try:",
            f"    _pb_hit = {self.joined()}",
            f"except {self.bind(MISSING, 'missing')}:",
            "    _pb_hit = False",
            "if not _pb_hit:",
            f"    return {self.bind(slow, 'slow')}({self.header.values()})",
            "try:",
            f"    _pb_out = {run}({arguments})",
            "except Exception as _pb_error:",
            f"    {self.bind(note_place, 'note')}(_pb_error, {used}, {pack})",
            "    raise",
            taken,
            f"if not ({test}):",
            f"    return {self.bind(strong, 'strong')}({used}, {pack})",
            "return _pb_out",
        ]
        return define(fn, self.header, lines, self.names, f"<pullback entry of {self.header.name}>")

    def unchanged(self, fn: FunctionType) -> None:
        """Conditions that the function is what it was: its code, and the defaults that the entry has from it."""
        name = self.bind(fn, "fn")
        for attribute in ("__code__", "__defaults__", "__kwdefaults__"):
            part = getattr(fn, attribute)
            if part is not None:  # without a default every argument was given
                self.conditions.append(f"{name}.{attribute} is {self.bind(part, 'part')}")

    def joined(self) -> str:
        """All conditions."""
        return "(" + "\n        and ".join(self.conditions) + ")"

    # --------------------------------------------------------------------------------------------------- values

    def value(self, tree: Operand, expression: str, name: str) -> None:
        """The condition that a value is of the kind that the variant was compiled for."""
        if isinstance(tree, Const):
            self.constant(tree.value, expression)
            return
        style = tree.style if isinstance(tree, Var) else None
        if isinstance(style, Array) and style.axes is not None:
            self.array(style, expression, name)
        elif isinstance(style, Scalar) and style.weak and style.kind in _PYTHON_TYPES:
            self.conditions.append(f"type({expression}) is {self.bind(_PYTHON_TYPES[style.kind], 'type')}")
        elif isinstance(style, Scalar) and style.dtype is not None:
            self.conditions.append(f"type({expression}) is {self.bind(style.dtype.type, 'type')}")
        else:
            raise NoEntry

    def constant(self, value: Any, expression: str) -> None:
        if value is None or isinstance(value, bool | type | np.ufunc):
            self.conditions.append(f"{expression} is {self.bind(value, 'object')}")
        elif isinstance(value, int | str | float):
            kind, same = self.bind(type(value), "type"), self.bind(value, "object")
            self.conditions.append(f"type({expression}) is {kind} and {expression} == {same}")
        else:
            raise NoEntry

    def array(self, style: Array, expression: str, name: str) -> None:
        assert style.axes is not None and style.dtype is not None
        ndarray, dtype = self.bind(np.ndarray, "ndarray"), self.bind(style.dtype, "dtype")
        shape = f"_pb_shape_{name}"
        self.conditions += [
            f"type({expression}) is {ndarray}",
            f"{name}.dtype is {dtype}",
            f"len({shape} := {name}.shape) == {len(style.axes)}",
            *(f"{shape}[{i}] {'==' if axis == 1 else '!='} 1" for i, axis in enumerate(style.axes)),
            f"{'' if style.contiguous else 'not '}{name}.flags.c_contiguous",
        ]

    # ------------------------------------------------------------------------------------------- what is outside

    def outside(self) -> list[str]:
        """Conditions on implicit parameters; the names that hold them."""
        names: list[str] = []
        count = len(self.header.names)
        for outside, param in zip(self.variant.outside, self.variant.params[count:], strict=True):
            if outside.root is not None:
                raise NoEntry
            name = f"_pb_outside_{len(names)}"
            names.append(name)
            self.value(param.tree, f"({name} := {self.path(outside.path)})", name)
        return names

    def path(self, path: Path) -> str:
        """The expression that fetches what a path leads to."""
        if path.kind == "global":
            text = f"{self.bind(path.fn.__globals__, 'globals')}[{path.name!r}]"
        elif path.kind == "cell":
            cell = path.fn.__closure__[path.fn.__code__.co_freevars.index(path.name)]
            text = f"{self.bind(cell, 'cell')}.cell_contents"
        else:
            text = f"{self.bind(Path(path.fn, path.kind, path.name), 'path')}.fetch()"
        for kind, key in path.steps:
            text += f".{key}" if kind == "attr" else f"[{self.bind(key, 'key')}]"
        return text

    def guard(self, guard: Guard) -> None:
        """The condition that a guard holds."""
        expected = self.bind(guard.expected, "object")
        if isinstance(guard.expected, FunctionType):
            found = f"_pb_fn_{len(self.conditions)}"
            self.conditions.append(f"({found} := {self.path(guard.path)}) is {expected}")
            parts = {
                "__code__": guard.code,
                "__defaults__": guard.defaults,
                "__kwdefaults__": guard.kwdefaults,
            }
            self.conditions += [
                f"{found}.{attribute} is {self.bind(part, 'part')}"
                for attribute, part in parts.items()
                if part is not None  # where there was no default, every argument was given
            ]
        else:
            self.conditions.append(f"{self.path(guard.path)} is {expected}")

    # -------------------------------------------------------------------------------------------------- results

    def bars(self) -> tuple[str, str]:
        """The statement that takes the cotangents out of the result, and the test that they are finite."""
        trees = [part_of(self.variant.params[path[0]].tree, path[1:]) for path in self.request.wrt]
        names = [f"_pb_bar_{i}" for i in range(len(trees))]
        tests = [self.finite(tree, name) for tree, name in zip(trees, names, strict=True)]
        left = names[0] if self.request.single and len(trees) == 1 else ", ".join(names) + ","
        return f"{left} = _pb_out[1]", " and ".join(tests)

    def finite(self, tree: Operand, bar: str) -> str:
        """The test that a cotangent is finite.  It may fail where squares or a sum overflow: `strong` looks closer."""
        style = numeric(tree.style) if isinstance(tree, Var) else Static(None)
        isfinite = self.bind(math.isfinite, "isfinite")
        if isinstance(style, Scalar) and style.kind == "f":
            return f"{isfinite}({bar})"
        if isinstance(style, Array) and style.kind == "f":
            if style.rank != 1:
                return f"{isfinite}({self.bind(np.vdot, 'vdot')}({bar}, {bar}))"
            # The sum of a short list is quicker than a call into NumPy.
            total = f"{self.bind(sum, 'sum')}({bar}.tolist())"
            return f"{isfinite}({total} if {bar}.size < {SHORT} else {bar}.dot({bar}))"
        raise NoEntry
