"""The statements with which a public function checks its arguments.

Types (classes, dtypes, numbers of axes, keys) raise TypeError, values and lengths ValueError.  A number for a `float`
or `complex` is converted, so the statements also rebind a parameter where they must.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable
from typing import Any

from pullback.aot.baked import NotBakedError, literal
from pullback.aot.declared import Place
from pullback.aot.hints import PYTHON, Axes, describe
from pullback.aot.text import INDENT
from pullback.backend.numpy.wrap import quoted
from pullback.errors import ArgumentError
from pullback.frontend.instances import slots
from pullback.frontend.signature import Node, Spec, steps_of
from pullback.styles.style import Array, Scalar, Static, not_one


class Checks:
    """Writes the checks of one public function.

    use        says that a helper is used, and returns its name
    reference  the expression for an object that must be imported
    of_class   what the function took from the class of an object, or found absent there
    wide       an `np.float64` does what a Python float does
    """

    def __init__(
        self,
        function: str,
        axes: Axes,
        use: Callable[[str], str],
        reference: Callable[[Any], str],
        of_class: Callable[[type], tuple[str, ...]],
        wide: bool,
    ) -> None:
        self.function = function
        self.axes = axes
        self.use = use
        self.reference = reference
        self.of_class = of_class
        self.wide = wide
        self.lines: list[str] = []

    def parameter(self, name: str, spec: Spec) -> None:
        """Check a parameter."""
        found = self._check(name, spec)
        if found != name:
            self.lines.append(f"{INDENT}{name} = {found}")

    def lengths(self) -> None:
        """Check that axes of one name have one length."""
        for dim, name in self.axes.of.items():
            first, *others = [(_expression(place), axis) for place, axis in self.axes.places[dim]]
            ours = f"{first[0]}.shape[{first[1]}]"
            for at, axis in others:
                theirs = f"{at}.shape[{axis}]"
                whose = f"{name} of {at}" if at == first[0] else f"{name} of {first[0]} and {at}"
                said = f"{self.function!r}, {whose!r}, {ours}, {theirs}"
                self._raise(f"{theirs} != {ours}", "_lengths", said)

    def _raise(self, test: str, helper: str, arguments: str) -> None:
        said = _double_quoted(arguments)
        self.lines += [f"{INDENT}if {test}:", f"{INDENT * 2}raise {self.use(helper)}({said})"]

    def _mismatch(self, test: str, at: str, spec: Spec) -> None:
        expected = describe(spec, self.axes)
        self._raise(test, "_mismatch", f"{self.function!r}, {at!r}, {expected!r}, {at}")

    def _wrong(self, test: str, at: str, expected: str, got: str) -> None:
        self._raise(test, "_wrong_value", f"{self.function!r}, {at!r}, {expected!r}, {got}")

    # --------------------------------------------------------------------------------------------- by spec

    def _check(self, at: str, spec: Spec, fixed: bool = False) -> str:
        """Check what is at an expression; the expression of what is passed on.

        fixed  it stands in an object, and cannot be replaced
        """
        if isinstance(spec, Node):
            return self._structure(at, spec)
        if isinstance(spec, Static):
            self._static(at, spec)
        elif isinstance(spec, Array):
            self._array(at, spec)
        elif isinstance(spec, Scalar):
            return self._number(at, spec, fixed)
        return at

    def _array(self, at: str, spec: Array) -> None:
        if spec.dtype is None or spec.axes is None:
            raise ArgumentError(f"`{at}` is an array of unknown dtype or rank", hint="give both")
        dtype = f"np.{_scalar_type(spec)}" if spec.dtype.isnative else repr(spec.dtype.str)
        test = f"not {self.use('_is_array')}({at}, {_double_quoted(dtype)}, {len(spec.axes)})"
        self._mismatch(test, at, spec)
        expected = describe(spec, self.axes)
        got = f"{self.use('_describe')}({at})"
        for i, axis in enumerate(spec.axes):
            if isinstance(axis, int):
                self._wrong(f"{at}.shape[{i}] != {axis}", at, expected, got)
            elif not_one(axis):
                self._wrong(f"{at}.shape[{i}] == 1", at, expected, got)
        if spec.contiguous and spec.axes:
            other = repr("an array in another order")
            self._wrong(f"not {at}.flags.c_contiguous", at, f"{expected} in C order", other)

    def _number(self, at: str, spec: Scalar, fixed: bool) -> str:
        assert spec.dtype is not None
        if fixed or not spec.weak or spec.kind != "f":
            kind = PYTHON[spec.kind] if spec.weak else f"np.{_scalar_type(spec)}"
            self._mismatch(f"not {self.use('_is_a')}({at}, {kind})", at, spec)
            return at
        also = ", np.float64" if self.wide else ""
        return f"{self.use('_as_float')}({_double_quoted(f'{self.function!r}, {at!r}')}, {at}{also})"

    def _static(self, at: str, spec: Static) -> None:
        value = spec.value
        try:
            text = literal(value)
        except NotBakedError:
            text = ""
        if value is None:
            self._wrong(f"{at} is not None", at, "None", f"{self.use('_describe')}({at})")
        elif text:
            test = f"not {self.use('_is_literal')}({at}, {text})"
            self._wrong(test, at, describe(spec, self.axes), f"repr({at})")
        else:
            expected = describe(spec, self.axes)
            self._wrong(f"{at} is not {self.reference(value)}", at, expected, f"repr({at})")

    def _structure(self, at: str, spec: Node) -> str:
        if spec.kind == "new":
            return self._object(at, spec)
        if spec.kind == "dict":
            keys = literal(spec.meta)
            self._mismatch(f"not {self.use('_has_keys')}({at}, {keys})", at, spec)
        else:
            self._mismatch(f"not {self.use('_is_sequence')}({at}, {spec.kind}, {len(spec.items)})", at, spec)
        places = [f"{at}[{literal(key)}]" for _, key in steps_of(spec)]
        items = [self._check(p, x) for p, x in zip(places, spec.items, strict=True)]
        if items == places:
            return at
        if spec.kind == "dict":
            return f"{{{', '.join(f'{literal(k)}: {x}' for k, x in zip(spec.meta, items, strict=True))}}}"
        if spec.kind == "list":
            return f"[{', '.join(items)}]"
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"

    def _object(self, at: str, spec: Node) -> str:
        cls = self.reference(spec.meta[0])
        self._mismatch(f"not {self.use('_is_a')}({at}, {cls})", at, spec)
        self._attributes(at, spec)
        if spec.meta[1] is not None:
            for name, item in zip(spec.meta[1], spec.items, strict=True):
                self._check(f"{at}.{name}", item, fixed=True)
            return at
        places = [f"{at}[{i}]" for i in range(len(spec.items))]
        items = [self._check(p, x) for p, x in zip(places, spec.items, strict=True)]
        return at if items == places else f"{cls}({', '.join(items)})"

    def _attributes(self, at: str, spec: Node) -> None:
        """An object has the attributes it was compiled for; a dataclass others too, which none of its methods sees."""
        cls, names = spec.meta
        said = _double_quoted(f"{self.function!r}, {at!r}")
        empty = tuple(n for n in slots(cls) if n not in (names or ()))
        if empty:
            self.lines.append(f"{INDENT}{self.use('_empty')}({said}, {at}, {literal(empty)})")
        if names is None and not cls.__dictoffset__:
            return  # a named tuple that has room for nothing else
        names = names or ()
        of_class = self.of_class(cls)
        helper = "_no_other_attributes"
        if dataclasses.is_dataclass(cls):
            helper, names = "_not_set", tuple(n for n in of_class if n not in names)
        if names or helper == "_no_other_attributes":
            self.lines.append(f"{INDENT}{self.use(helper)}({said}, {at}, {literal(names)})")


def _scalar_type(spec: Array | Scalar) -> str:
    assert spec.dtype is not None
    return "bool_" if spec.dtype.kind == "b" else spec.dtype.name


def _expression(place: Place) -> str:
    """The expression of a part of an argument."""
    name, *steps = place
    for kind, key in steps:
        name += f".{key}" if kind == "attr" else f"[{literal(key)}]"
    return str(name)


def _double_quoted(text: str) -> str:
    """An expression whose strings are in double quotes where that needs no more escapes."""
    return _STRING.sub(lambda match: quoted(ast.literal_eval(match[0])), text)


_STRING = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")
