"""The text of a signature, read into specs.

signature = [parameter {"," parameter} [","]]
parameter = ["*" | "**"] name ":" type
type      = "float" | "int" | "complex" | "bool"     a Python number
          | dtype                                    a NumPy scalar: f8, float64, c16, i8, >f8
          | dtype "[" [axis {"," axis}] "]"          an array; `f8[]` has no axis
          | literal                                  a text, None, True, False, a number: by value
          | "(" types ")" | "[" types "]"            a tuple, a list, of such items
          | "{" literal ":" type, ... "}"            a dict with such keys
          | name "(" name ":" type, ... ")"          an object of that class: the name is the module's
          | name                                     a class whose annotations say the types of its fields;
                                                     a function, a constant of the module: by value
          | "any"                                    carried, and not looked at
          | "default"                                the parameter's default, by value
axis      = ":" | name | integer                     any length; one length for one name; this length
            and "::1" instead of, or after, the last one: the array is C-contiguous
"""

from __future__ import annotations

import ast
import dataclasses
import difflib
import enum
import re
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from pullback.aot.scope import MISSING, Scope
from pullback.aot.tokens import Token, tokens_of
from pullback.errors import SignatureError
from pullback.frontend.signature import CALLABLES, Node, Spec
from pullback.styles.style import (
    PY_BOOL,
    PY_COMPLEX,
    PY_FLOAT,
    PY_INT,
    Anything,
    Array,
    Axis,
    Scalar,
    Static,
    fresh_dim,
    kind_of,
)

PYTHON_NUMBERS = {"float": PY_FLOAT, "int": PY_INT, "complex": PY_COMPLEX, "bool": PY_BOOL}
_DTYPE_NAMES = (
    *("bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "longdouble", "complex64", "complex128", "clongdouble"),
    *("intp", "uintp", "int_", "uint", "intc", "uintc", "longlong", "ulonglong"),
    *("half", "single", "double", "csingle", "cdouble"),
)
_CODE = re.compile(r"[<>]?[biufc]\d+")
_CONSTANTS = {"None": None, "True": True, "False": False}
_WORDS = {  # types of Python that say too little, and what to write
    "str": "a text is compiled for by value: write it, as in mode: 'fast'",
    "list": "write its items, as in xs: [f8[:], f8[:]]",
    "tuple": "write its items, as in xs: (f8[:], float)",
    "dict": "write its items, as in p: {'w': f8[:], 'b': float}",
    "object": "write its class and its fields, as in p: Params(w: f8[:])",
    "ndarray": "write dtype and axes, as in f8[n, k]",
    "array": "write dtype and axes, as in f8[n, k]",
    "np.ndarray": "write dtype and axes, as in f8[n, k]",
}
_DEPTH = 40  # of structures inside structures


class Parser:
    """Reads one text.

    `default` gives the spec of a parameter's default; `of_class` that of an instance whose class says its types.
    """

    def __init__(
        self,
        text: str,
        scope: Scope,
        default: Callable[[], Spec | None] = lambda: None,
        of_class: Callable[[type], Spec | None] = lambda cls: None,
    ) -> None:
        self.text = " ".join(text.splitlines())
        self.scope = scope
        self.default = default
        self.of_class = of_class
        self.tokens = list(tokens_of(self.text))
        self.at = 0
        self.depth = 0

    @property
    def now(self) -> Token:
        """The token that comes next."""
        return self.tokens[self.at]

    def take(self) -> Token:
        """Go on by one token."""
        token = self.now
        self.at += token.kind != "end"
        return token

    def accept(self, mark: str) -> bool:
        """Go on over a mark, if it is what comes next."""
        found = self.now.kind == "mark" and self.now.text == mark
        self.at += found
        return found

    def expect(self, mark: str, hint: str = "") -> None:
        """Go on over a mark that must come next."""
        if not self.accept(mark):
            shown = f"{self.now.text!r}" if self.now.text else "the end"
            self.refuse(f"`{mark}` is missing before {shown}", hint or f"write `{mark}`")

    def refuse(self, reason: str, hint: str, token: Token | None = None) -> NoReturn:
        """Raise the error of a place in the text."""
        token = token or self.now
        raise SignatureError(
            reason, text=self.text, start=token.start, end=max(token.end, token.start + 1), hint=hint
        )

    # ---------------------------------------------------------------------------------------------- parameters

    def parameters(self) -> Iterator[tuple[Token, Callable[[], Spec]]]:
        """The names, each with what reads its type; that must be called before the next name is asked for."""
        while self.now.kind != "end":
            _ = self.accept("**") or self.accept("*")
            name = self.take()
            if name.kind != "name" or not name.text.isidentifier():
                self.refuse(f"{name.text!r} is not the name of a parameter", "write name: type, ...", name)
            self.expect(":", f"write {name.text}: and its type; a signature names each parameter")
            yield name, self.one
            if self.now.kind != "end":
                self.expect(",")

    def whole(self) -> Spec:
        """The type that is the whole text."""
        spec = self.one()
        if self.now.kind != "end":
            self.refuse(f"{self.now.text!r} is left over after the type", "write one type")
        return spec

    # --------------------------------------------------------------------------------------------------- types

    def one(self) -> Spec:
        """One type."""
        self.depth += 1
        if self.depth > _DEPTH:
            self.refuse(f"structures are nested more than {_DEPTH} deep", "flatten the argument")
        token = self.take()
        if token.kind in ("text", "number"):
            spec: Spec = Static(ast.literal_eval(token.text))
        elif token.kind == "name":
            spec = self.named(token)
        elif token.text == "(":
            spec = self.parenthesis()
        elif token.text == "[":
            spec = Node("list", tuple(self.items("]")))
        elif token.text == "{":
            spec = self.mapping()
        else:
            shown = f"not {token.text!r}" if token.text else "not the end"
            self.refuse(
                f"a type is needed here, {shown}", "write a type, as in f8[n, k], float, 'fast'", token
            )
        self.depth -= 1
        return spec

    def items(self, close: str) -> Iterator[Spec]:
        """Types up to a closing mark."""
        while not self.accept(close):
            yield self.one()
            if not self.accept(","):
                self.expect(close)
                return

    def parenthesis(self) -> Spec:
        """A tuple; one type in parentheses, without a comma, is that type."""
        first = self.at
        items = tuple(self.items(")"))
        single = len(items) == 1 and self.tokens[self.at - 2].text != "," and self.at - 2 >= first
        return items[0] if single else Node("tuple", items)

    def mapping(self) -> Spec:
        """A dict with keys that are literals."""
        found: dict[Any, Spec] = {}
        while not self.accept("}"):
            token = self.take()
            if token.kind not in ("text", "number"):
                self.refuse(
                    f"a key must be a literal, not {token.text!r}", "write it as in {'w': f8[:]}", token
                )
            key = ast.literal_eval(token.text)
            if key in found:
                self.refuse(f"the key {token.text} is there twice", "write each key once", token)
            self.expect(":")
            found[key] = self.one()
            if not self.accept(","):
                self.expect("}")
                break
        return Node("dict", tuple(found.values()), tuple(found))

    # --------------------------------------------------------------------------------------------------- names

    def named(self, token: Token) -> Spec:
        """A type that begins with a name."""
        name = token.text
        if self.accept("["):
            return self.array(token)
        if self.accept("("):
            return self.instance_of(token)
        if name in PYTHON_NUMBERS:
            return PYTHON_NUMBERS[name]
        if name in _CONSTANTS:
            return Static(_CONSTANTS[name])
        if name == "any":
            return Anything()
        if name == "default":
            spec = self.default()
            return (
                spec if spec is not None else self.refuse("there is no default here", "write a type", token)
            )
        dtype = dtype_of(name)
        return Scalar(dtype) if dtype is not None else self.resolved(token)

    def resolved(self, token: Token) -> Spec:
        """What a name means in the function's module."""
        name = token.text
        if name in _WORDS:
            self.refuse(f"`{name}` says too little", _WORDS[name], token)
        value = self.scope.look_up(name)
        if isinstance(value, type):
            spec = self.of_class(value)
            if spec is None:
                self.refuse(
                    f"the class `{name}` does not say the types of its fields", _FIELDS.format(name), token
                )
            return spec
        if isinstance(value, (*CALLABLES, enum.Enum)):
            return Static(value)
        if value is None or type(value) in (bool, int, float, str):
            return Static(value)
        self.unknown(token, value is not MISSING)

    def unknown(self, token: Token, found: bool = False) -> NoReturn:
        """The error of a name that is no type."""
        name = token.text
        known = [*PYTHON_NUMBERS, *_DTYPE_NAMES, "f8", "f4", "i8", "i4", "c16", "c8", "u1", "b1"]
        near = difflib.get_close_matches(name, known, 1, 0.5)
        hint = f"did you mean `{near[0]}`?" if near else "types are f8[n, k], f8, float, int, 'fast', ..."
        if found:
            hint = "write a type, or a value"
        self.refuse(f"`{name}` is no type", hint, token)

    def array(self, token: Token) -> Spec:
        """An array: the bracket is open."""
        name = token.text
        if name in PYTHON_NUMBERS:
            code = {"float": "f8", "int": "i8", "complex": "c16", "bool": "b1"}[name]
            self.refuse(
                f"`{name}` is a Python number, which has no axes", f"write {code}[...] for an array", token
            )
        dtype = dtype_of(name)
        if dtype is None:
            self.unknown(token)
        axes: list[Axis] = []
        contiguous = False
        while not self.accept("]"):
            if contiguous:
                self.refuse(
                    "`::1` stands on the last axis only", "move it, or leave it out", self.tokens[self.at - 2]
                )
            axis, contiguous = self.axis()
            axes.append(axis)
            if not self.accept(","):
                self.expect("]")
                break
        return Array(dtype, tuple(axes), contiguous or not axes)

    def axis(self) -> tuple[Axis, bool]:
        """One axis, and whether `::1` says that the array is contiguous."""
        token = self.take()
        axis: Axis
        if token.text == ":":
            axis = fresh_dim()
        elif token.text == "::":
            self.at -= 1
            axis = fresh_dim()
        elif token.kind == "name" and token.text.isidentifier():
            axis = self.scope.axis(token.text)
        elif token.kind == "number" and token.text.isdigit():
            axis = int(token.text)
        else:
            hint = "an axis is `:`, a name, a length, or `::1`"
            self.refuse(
                f"{token.text!r} is no axis" if token.text else "the bracket is not closed", hint, token
            )
        return axis, self.stride()

    def stride(self) -> bool:
        """Whether `::1` follows."""
        if not self.accept("::"):
            return False
        one = self.take()
        if one.text != "1":
            self.refuse(
                f"{one.text!r} is no stride that can be compiled for", "write ::1, or leave it out", one
            )
        return True

    def instance_of(self, token: Token) -> Spec:
        """An object: the parenthesis is open."""
        cls = self.scope.look_up(token.text)
        if not isinstance(cls, type):
            self.refuse(
                f"`{token.text}` is no class in the module `{self.scope.fn.__module__}`",
                "write the name of the class as the module has it",
                token,
            )
        fields: dict[str, Spec] = {}
        places = {}
        while not self.accept(")"):
            name = self.take()
            if name.kind != "name" or not name.text.isidentifier():
                self.refuse(f"{name.text!r} is not the name of a field", _FIELDS.format(token.text), name)
            if name.text in fields:
                self.refuse(f"the field `{name.text}` is there twice", "write each field once", name)
            self.expect(":")
            places[name.text] = name
            fields[name.text] = self.one()
            if not self.accept(","):
                self.expect(")")
                break
        return self.instance(cls, fields, token, places)

    def instance(self, cls: type, fields: dict[str, Spec], token: Token, places: dict[str, Token]) -> Spec:
        """An instance with such fields, in the order that the class gives them."""
        names = declared_fields(cls)
        if names is None:
            return Node("new", tuple(fields.values()), (cls, tuple(fields)))
        for name in fields:
            if name not in names:
                near = difflib.get_close_matches(name, names, 1)
                hint = (
                    f"did you mean `{near[0]}`?" if near else f"its fields are {', '.join(names) or 'none'}"
                )
                self.refuse(f"`{cls.__name__}` has no field `{name}`", hint, places[name])
        missing = [name for name in names if name not in fields]
        if missing:
            self.refuse(f"the type of the field `{missing[0]}` is missing", _FIELDS.format(token.text), token)
        meta = (cls, None) if issubclass(cls, tuple) else (cls, names)
        return Node("new", tuple(fields[name] for name in names), meta)


_FIELDS = "write the types of its fields, as in {}(w: f8[:], b: float)"


def declared_fields(cls: type) -> tuple[str, ...] | None:
    """The fields of a dataclass or named tuple; None for other classes."""
    if dataclasses.is_dataclass(cls):
        return tuple(f.name for f in dataclasses.fields(cls))
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return tuple(cls._fields)
    return None


def dtype_of(name: str) -> np.dtype[Any] | None:
    """The dtype of a name such as `f8`, `float64`, `np.float64`, `>f8`; None where it is none."""
    bare = name.removeprefix("np.").removeprefix("numpy.")
    if not (_CODE.fullmatch(name) or bare in _DTYPE_NAMES):
        return None
    try:
        dtype = np.dtype(bare)
    except TypeError:
        return None
    return dtype if kind_of(dtype) != "O" else None
