"""The specialised entry: generated code that checks a call against one variant and runs it.

It has the user's parameters, by position, and takes whatever else a call gives.  The checks are those of the key and
of the guards, spelled out; where one fails, the call goes the long way, which finds or compiles the right variant.
Made for functions whose parameters are arrays, numbers and constants.

A call should cost little more than the generated function, so each check is the cheapest one that is sound: the
lengths and strides of the arrays are compared with those seen last, all at once, before they are looked at one by one,
and one sum tells whether all short cotangents are finite.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from time import perf_counter
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from pullback.backend.native.bridge import MISS
from pullback.dispatch.binding import ABSENT, Header, entry_code
from pullback.dispatch.checks import part_of
from pullback.dispatch.floating import known, quiet
from pullback.dispatch.floating import setting as now_set
from pullback.dispatch.notes import note_place
from pullback.dispatch.outside import MISSING
from pullback.dispatch.variants import Variant
from pullback.frontend.environment import Guard, Path
from pullback.ir.nodes import Const, Operand, Pack, Var
from pullback.rules.tables import tables
from pullback.styles.style import Array, Scalar, numeric
from pullback.transform.gradient import Request

SHORT = 16  # the sum of a list that short is quicker than a call into NumPy
_PYTHON_TYPES = {"f": float, "i": int, "c": complex, "b": bool}
_PARTS = ("__code__", "__defaults__", "__kwdefaults__")


class NoEntry(Exception):
    """This variant cannot be served by a specialised entry."""


def make_entry(
    fn: FunctionType,
    header: Header,
    variant: Variant,
    request: Request,
    miss: Callable[..., Any],
    strong: Callable[[Variant, tuple[Any, ...], Any], Any],
    names: dict[str, Any],
) -> CodeType:
    """The code of the entry of a variant; the objects it needs are added to `names`, its global namespace.

    `miss(values, rest, keywords)` serves a call that is not the variant's; `strong(variant, values, result)` one whose
    cotangents may not be finite.  Raises NoEntry where values or guards are of a kind that the entry cannot check.
    """
    if not header.plain or variant.written:
        raise NoEntry
    return _Entry(header, variant, request, names).code(fn, miss, strong)


class _Entry:
    """Collects the conditions and the objects they name."""

    def __init__(self, header: Header, variant: Variant, request: Request, names: dict[str, Any]) -> None:
        self.header = header
        self.variant = variant
        self.request = request
        self.names = names
        self.types: list[str] = []  # conditions on the kinds of values
        self.arrays: list[tuple[str, Array]] = []
        self.found: list[str] = []  # conditions on what is found outside
        self.typeof = self.bind(type, "typeof")  # a parameter may be called `type`
        self.short = ""  # the name of what tells whether all arrays are short
        self.parts: list[str] = []  # conditions that functions are what they were
        self.constants: list[str] = []  # conditions on values that are known when compiling
        self.fetched: list[str] = []  # conditions that hold, and fetch what is outside

    def bind(self, obj: Any, stem: str) -> str:
        """A name for an object."""
        name = f"_pb_{stem}{len(self.names)}"
        self.names[name] = obj
        return name

    def code(
        self,
        fn: FunctionType,
        miss: Callable[..., Any],
        strong: Callable[[Variant, tuple[Any, ...], Any], Any],
    ) -> CodeType:
        """The code of the function."""
        params = self.variant.params
        for param, name in zip(params, self.header.names, strict=False):
            self.value(param.tree, name, name)
        outside = self.outside()
        self.part(fn, fn.__code__, fn.__defaults__, fn.__kwdefaults__)
        for watch in self.variant.watches:
            if watch.root is not None:
                raise NoEntry
            self.guard(watch.guard)
        arguments = ", ".join([*self.header.names, *outside])
        used = self.bind(self.variant, "variant")
        pack = f"({arguments},)" if arguments else "()"
        missed = [
            "    try:",
            f"        return {self.bind(miss, 'miss')}({self.header.values()}, _pb_rest, _pb_keywords)",
            "    except _pb_refusal as _pb_error:",
            "        raise _pb_shortened(_pb_error)",
        ]
        lines = [
            *self.defaults(fn, missed),
            *self.native(arguments),
            "try:",
            f"    _pb_hit = {self.joined()}",
            f"except {self.bind((*MISSING, TypeError), 'missing')}:",  # no array of rank 0 has a length
            "    _pb_hit = False",
            "if not _pb_hit:",
            *missed,
            "try:",
            *self.run(arguments),
            "except Exception as _pb_error:",
            f"    {self.bind(note_place, 'note')}(_pb_error, {used}, {pack})",
            "    raise",
        ]
        test = self.finite()
        if test:
            lines += [*test, f"    return {self.bind(strong, 'strong')}({used}, {pack}, _pb_out)"]
        return entry_code(self.header, [*lines, "return _pb_out"])

    def joined(self) -> str:
        """All conditions, those first on which others rest."""
        return _all([*self.called(), *self.types, *self.seen(), *self.found, *self.parts])

    def called(self) -> list[str]:
        """Conditions on the call and on the rules."""
        generation = f"{self.bind(tables, 'tables')}.generation == {self.variant.generation}"
        return ["not _pb_rest", "not _pb_keywords", generation]

    def native(self, arguments: str) -> list[str]:
        """Statements that have compiled code serve, where it does.

        It looks at the arguments itself; what only calls compiled regions does not.
        """
        if not self.variant.promotion.possible:
            return []
        promotion = self.bind(self.variant.promotion, "promotion")
        state, setting = self.bind(known, "known"), self.bind(now_set, "setting")
        settings = f"({setting}() is {state}.setting or {self.bind(quiet, 'quiet')}())"
        serves = ["_pb_native is not None", *self.called(), settings]
        looks = [f"({promotion}.looks or {_all(kinds)})"] if (kinds := [*self.types, *self.seen()]) else []
        return [
            f"_pb_native = {promotion}.run",
            "try:",
            f"    _pb_hit = {_all([*serves, *self.constants, *self.fetched, *self.found, *self.parts, *looks])}",
            f"except {self.bind((*MISSING, TypeError), 'missing')}:",
            "    _pb_hit = False",
            "while _pb_hit:",
            f"    _pb_out = _pb_native({arguments})",
            f"    if _pb_out is not {self.bind(MISS, 'missed')}:",
            "        return _pb_out",
            f"    _pb_hit, _pb_native = _pb_native, {promotion}.run",
            "    _pb_hit = _pb_native is not None and _pb_native is not _pb_hit",  # it was compiled anew
        ]

    def run(self, arguments: str) -> list[str]:
        """Statements that run the generated function, and count its time where that is of interest."""
        run = self.bind(self.variant.function("value_and_grad"), "run")
        call = f"_pb_out = {run}({arguments})"
        if not self.variant.promotion.counting:
            return [f"    {call}"]
        promotion, clock = self.bind(self.variant.promotion, "promotion"), self.bind(perf_counter, "clock")
        return [
            f"    if {promotion}.counting:",
            f"        _pb_start = {clock}()",
            f"        {call}",
            f"        {promotion}.add({clock}() - _pb_start)",
            "    else:",
            f"        {call}",
        ]

    def defaults(self, fn: FunctionType, missed: list[str]) -> list[str]:
        """Statements that put in the defaults of parameters that were not given, if they are still the defaults."""
        positional = self.header.positional
        given = dict(zip(reversed(positional), reversed(fn.__defaults__ or ()), strict=False))
        if not given:
            return []
        name, absent = self.bind(fn, "fn"), self.bind(ABSENT, "absent")
        changed = [
            f"{name}.__code__ is not {self.bind(fn.__code__, 'part')}",
            f"{name}.__defaults__ is not {self.bind(fn.__defaults__, 'part')}",
        ]
        lines = [f"if _pb_rest or _pb_keywords or {' or '.join(changed)}:", *missed]
        for param in filter(given.__contains__, positional):
            lines += [f"if {param} is {absent}:", f"    {param} = {self.bind(given[param], 'default')}"]
        return lines

    # --------------------------------------------------------------------------------------------------- values

    def value(self, tree: Operand, expression: str, name: str) -> None:
        """The condition that a value is of the kind that the variant was compiled for."""
        if isinstance(tree, Const):
            self.constant(tree.value, expression)
            return
        style = tree.style if isinstance(tree, Var) else None
        if isinstance(style, Array) and style.axes is not None and style.dtype is not None:
            self.types.append(f"{self.typeof}({expression}) is {self.bind(np.ndarray, 'ndarray')}")
            self.arrays.append((name, style))
        elif isinstance(style, Scalar) and style.weak and style.kind in _PYTHON_TYPES:
            self.types.append(
                f"{self.typeof}({expression}) is {self.bind(_PYTHON_TYPES[style.kind], 'type')}"
            )
        elif isinstance(style, Scalar) and style.dtype is not None:
            self.types.append(f"{self.typeof}({expression}) is {self.bind(style.dtype.type, 'type')}")
        else:
            raise NoEntry

    def constant(self, value: Any, expression: str) -> None:
        if value is None or isinstance(value, bool | type | np.ufunc):
            condition = f"{expression} is {self.bind(value, 'object')}"
        elif isinstance(value, int | str | float):
            kind, same = self.bind(type(value), "type"), self.bind(value, "object")
            condition = f"{self.typeof}({expression}) is {kind} and {expression} == {same}"
        else:
            raise NoEntry
        self.types.append(condition)
        self.constants.append(condition)

    def seen(self) -> list[str]:
        """The condition that arrays are what they were last time, or fit as well."""
        if not self.arrays:
            return []
        seen, short = self.bind((), "seen"), self.bind(False, "short")
        self.short = short
        styles, names = [style for _, style in self.arrays], self.names

        def fits(*arrays: Any) -> bool:
            if not all(map(_fits, arrays, styles)):
                return False
            names[seen] = tuple([x for a in arrays for x in (a.dtype, _extent(a), a.strides)])
            names[short] = all(a.size < SHORT for a in arrays)
            return True

        length = self.bind(len, "len")
        extents = [f"{length}({name})" if style.rank == 1 else f"{name}.shape" for name, style in self.arrays]
        facts = "".join(
            f"{name}.dtype, {extent}, {name}.strides, "
            for (name, _), extent in zip(self.arrays, extents, strict=True)
        )
        arguments = ", ".join(name for name, _ in self.arrays)
        return [f"(({facts}) == {seen} or {self.bind(fits, 'fits')}({arguments}))"]

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
            found = f"({name} := {self.path(outside.path)})"
            self.fetched.append(f"{found} is not {self.bind(ABSENT, 'absent')}")
            self.value(param.tree, found, name)
        return names

    def path(self, path: Path) -> str:
        """The expression that fetches what a path leads to."""
        if path.kind == "global":
            text = f"{self.bind(path.fn.__globals__, 'globals')}[{path.name!r}]"
        elif path.kind == "cell":
            cell = path.fn.__closure__[path.fn.__code__.co_freevars.index(path.name)]
            text = f"{self.bind(cell, 'cell')}.cell_contents"
        elif path.kind == "builtin":
            found = f"{self.bind(builtins, 'builtins')}.{path.name}"
            text = f"{self.bind(path.fn.__globals__, 'globals')}.get({path.name!r}, {found})"
        elif path.kind == "object":
            text = self.bind(path.fn, "object")
        else:
            text = f"{self.bind(Path(path.fn, path.kind, path.name), 'path')}.fetch()"
        for kind, key in path.steps:
            text = self.step(text, kind, key)
        return text

    def step(self, text: str, kind: str, key: Any) -> str:
        """The expression for one step further."""
        if kind == "attr":
            return f"{text}.{key}"
        if kind == "item":
            return f"{text}[{self.bind(key, 'key')}]"
        if kind == "has":
            return f"{self.bind(hasattr, 'hasattr')}({text}, {key!r})"
        if kind == "super":
            return f"{self.bind(super, 'super')}({self.bind(key, 'base')}, {text})"
        raise NoEntry

    def guard(self, guard: Guard) -> None:
        """The condition that a guard holds."""
        if not (guard.path.kind == "object" and not guard.path.steps and guard.path.fn is guard.expected):
            self.found.append(f"{self.path(guard.path)} is {self.bind(guard.expected, 'object')}")
        if isinstance(guard.expected, FunctionType):
            self.part(guard.expected, guard.code, guard.defaults, guard.kwdefaults)

    def part(self, fn: FunctionType, code: Any, defaults: Any, kwdefaults: Any) -> None:
        """The code and the defaults that a function must still have."""
        name = self.bind(fn, "fn")
        for attribute, part in zip(_PARTS, (code, defaults, kwdefaults), strict=True):
            if part is not None:  # where there was no default, every argument was given
                self.parts.append(f"{name}.{attribute} is {self.bind(part, 'part')}")

    # -------------------------------------------------------------------------------------------------- results

    def finite(self) -> list[str]:
        """Statements that have the call done over where a cotangent may not be finite; none where all are sure to be.

        The test may fail where squares or a sum overflow: `strong` looks closer.
        """
        generated = self.variant.compiled.generated("value_and_grad")
        if not generated.has_products:
            return []
        bars = generated.results[1]
        single = self.request.single and len(self.request.wrt) == 1
        assert single or isinstance(bars, Pack)
        items = bars.items if isinstance(bars, Pack) and not single else (bars,)
        names = [f"_pb_bar_{i}" for i in range(len(items))]
        test = self.all_finite(dict(zip(names, items, strict=True)))
        left = names[0] if single else ", ".join(names) + ","
        return [f"{left} = _pb_out[1]", f"if not ({test}):"] if test else []

    def all_finite(self, bars: dict[str, Operand]) -> str:
        """The test of named cotangents; "" where all are known."""
        isfinite, total = self.bind(math.isfinite, "isfinite"), self.bind(sum, "sum")
        vdot = self.bind(np.vdot, "vdot")
        floats, lists, each = [], [], []
        for (name, bar), path in zip(bars.items(), self.request.wrt, strict=True):
            tree = part_of(self.variant.params[path[0]].tree, path[1:])
            style = numeric(tree.style) if isinstance(tree, Var) else None
            if isinstance(bar, Const) and type(bar.value) is float and math.isfinite(bar.value):
                continue
            if isinstance(style, Scalar) and style.kind == "f":
                if style.weak:
                    floats.append(name)
                else:
                    each.append(f"{isfinite}({name})")
            elif isinstance(style, Array) and style.kind == "f" and style.dtype is not None:
                square = f"{name}.dot({name})" if style.rank == 1 else f"{vdot}({name}, {name})"
                if style.dtype.itemsize > 8:  # longdouble, of which a list is no list of floats
                    each.append(f"{isfinite}({square})")
                else:
                    flat = name if style.rank == 1 else f"{name}.ravel()"
                    lists.append((f"{flat}.tolist()", f"{isfinite}({square})"))
            else:
                raise NoEntry
        one_sum = " + ".join(floats) or "0.0"
        if lists:
            for items, _ in lists:
                one_sum = f"{total}({items}, {one_sum})"
            long = " and ".join([f"{isfinite}({' + '.join(floats)})"] * bool(floats) + [x for _, x in lists])
            each.insert(0, f"({isfinite}({one_sum}) if {self.short} else {long})")
        elif floats:
            each.insert(0, f"{isfinite}({one_sum})")
        return " and ".join(each)


def _all(conditions: list[str]) -> str:
    """The expression that all conditions hold."""
    return "(" + "\n        and ".join(conditions) + ")"


def _extent(array: Any) -> Any:
    """The shape, or the length, which is quicker to ask for; with the strides, either tells which it is."""
    return len(array) if array.ndim == 1 else array.shape


def _fits(array: Any, style: Array) -> bool:
    """Whether an array is of a style: its dtype, its rank, which axes have length one, the order of its items."""
    axes = style.axes
    assert axes is not None
    return (
        array.dtype is style.dtype
        and array.ndim == len(axes)
        and all((n == 1) == (axis == 1) for n, axis in zip(array.shape, axes, strict=True))
        and array.flags.c_contiguous == style.contiguous
    )
