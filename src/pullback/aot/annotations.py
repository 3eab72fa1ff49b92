"""Annotations as specs: Python's and NumPy's types, texts in our grammar, classes whose fields are annotated."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
import sys
import types
import typing
from typing import Annotated, Any, Literal, NoReturn, Union

import numpy as np

from pullback.aot.grammar import PYTHON_NUMBERS, Parser, declared_fields
from pullback.aot.scope import Scope
from pullback.errors import SignatureError
from pullback.frontend.signature import CALLABLES, Node, Spec
from pullback.styles.style import Array, Scalar, Static, fresh_dim, kind_of

_BUILTINS = {float: "float", int: "int", complex: "complex", bool: "bool"}
_ABSTRACT = (
    *(np.generic, np.number, np.inexact, np.floating, np.complexfloating),
    *(np.integer, np.signedinteger, np.unsignedinteger, np.flexible, np.character),
)
_VALUES = (tuple, list, dict, int, float, complex, enum.Enum, *CALLABLES)
_ITEMS: dict[Any, str] = {list: "[f8[:], f8[:]]", dict: "{'w': f8[:], 'b': float}"}
_TUPLE = "write the type of each item, as in tuple[float, float]"


class Unclear(SignatureError):
    """An annotation that says nothing, or too little."""


class Annotations:
    """Reads the annotations of one function's parameters."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.open: list[type] = []  # classes being read: one inside itself has no end

    def spec(self, hint: Any, name: str, namespace: dict[str, Any] | None = None) -> Spec:
        """The spec of an annotation; `name` is how messages call what it is the annotation of.

        Raises Unclear where it says too little, SignatureError where its text is wrong.
        """
        if isinstance(hint, typing.ForwardRef):
            hint = hint.__forward_arg__
        if isinstance(hint, str):
            return self._text(hint, name, namespace if namespace is not None else self.scope.fn.__globals__)
        if hint is None or hint is type(None):
            return Static(None)
        if isinstance(hint, type) and not isinstance(hint, types.GenericAlias):
            return self._plain(hint, name)
        return self._generic(hint, name, namespace)

    def _text(self, text: str, name: str, namespace: dict[str, Any]) -> Spec:
        """An annotation that is a text: of Python (as `from __future__ import annotations` makes them), or ours."""
        try:
            meant = eval(text, dict(namespace))
        except Exception:
            meant = text
        if isinstance(meant, str):
            return self._ours(meant, name)
        if isinstance(meant, _VALUES):  # of our grammar, and Python's too: "[float, float]", "3"
            return self._ours(text, name)
        return self.spec(meant, name, namespace)

    def _ours(self, text: str, name: str) -> Spec:
        try:
            return Parser(text, self.scope, of_class=self.instance).whole()
        except SignatureError as error:
            error.args = (f"the annotation of `{name}`: {error.args[0]}",)
            error.reason = f"the annotation of `{name}`: {error.reason}"
            raise

    def _plain(self, cls: type, name: str) -> Spec:
        if cls in _BUILTINS:
            return PYTHON_NUMBERS[_BUILTINS[cls]]
        if issubclass(cls, np.generic):
            return self._scalar(cls, name)
        if issubclass(cls, np.ndarray):
            self._no_rank(name, "np.ndarray")
        if hasattr(cls, "dim_str") and hasattr(cls, "dtypes"):  # as jaxtyping writes them
            return self._dims(cls, name)
        spec = self.instance(cls, name)
        if spec is None:
            shown = "a text" if cls is str else f"a {cls.__name__}"
            why = f"{shown} is compiled for by value, or by what is in it"
            self._unclear(
                name, why, example=_ITEMS.get(cls, "'fast'" if cls is str else f"{cls.__name__}(w: f8[:])")
            )
        return spec

    def _scalar(self, cls: type[Any], name: str) -> Spec:
        dtype = None if cls in _ABSTRACT else np.dtype(cls)
        if dtype is None or kind_of(dtype) == "O":
            self._unclear(name, f"`{cls.__name__}` is no dtype of numbers")
        return Scalar(dtype)

    def _dims(self, cls: Any, name: str) -> Spec:
        if len(cls.dtypes) != 1:
            self._unclear(name, f"`{cls.__name__}` does not say one dtype")
        return self._ours(f"{cls.dtypes[0]}[{', '.join(cls.dim_str.replace('_', ':').split())}]", name)

    def _generic(self, hint: Any, name: str, namespace: dict[str, Any] | None) -> Spec:
        origin, args = typing.get_origin(hint), typing.get_args(hint)
        if hasattr(origin or hint, "__value__"):  # `type Name = ...`, as NumPy's NDArray is on newer Pythons
            return self.spec(origin.__value__[args] if args else hint.__value__, name, namespace)
        if origin is Annotated:
            for note in args[1:]:
                if isinstance(note, str):
                    return self._ours(note, name)
            return self.spec(args[0], name, namespace)
        if origin is Literal and len(args) == 1:
            return Static(args[0])
        if origin in (Union, types.UnionType, Literal):
            self._unclear(name, "it may be one of several types or values")
        if isinstance(origin, type) and issubclass(origin, np.ndarray):
            return self._array(args, name)
        if origin is tuple:
            return self._tuple(hint, name, namespace)
        if isinstance(hint, typing.NewType):
            return self.spec(hint.__supertype__, name, namespace)
        self._unclear(name, f"`{hint}` says too little", example=_ITEMS.get(origin or hint, "f8[n, k]"))

    def _tuple(self, hint: Any, name: str, namespace: dict[str, Any] | None) -> Spec:
        args = typing.get_args(hint)
        if Ellipsis in args or (not args and hint is typing.Tuple):  # noqa: UP006 - what is written
            self._unclear(name, "it does not say how many items there are", _TUPLE)
        items = args if args != ((),) else ()
        return Node("tuple", tuple(self.spec(a, f"{name}[{i}]", namespace) for i, a in enumerate(items)))

    def _array(self, args: tuple[Any, ...], name: str) -> Spec:
        """np.ndarray[tuple[int, int], np.dtype[np.float64]]: the shape's type says the rank."""
        shape, dtype = args if len(args) == 2 else (Any, Any)
        lengths = typing.get_args(shape)
        if typing.get_origin(shape) is not tuple or Ellipsis in lengths:
            self._no_rank(name, "NDArray[...]")
        (scalar,) = typing.get_args(dtype) or (np.generic,)
        if not isinstance(scalar, type) or not issubclass(scalar, np.generic):
            self._unclear(name, "it does not say the dtype")
        found = self._scalar(scalar, name)
        assert isinstance(found, Scalar)
        axes = [one for one in lengths if one != ()]
        return Array(found.dtype, tuple(_axis(one) for one in axes), not axes)

    def instance(self, cls: type, name: str = "") -> Spec | None:
        """An instance of a class whose annotations say the types of its fields; None where they do not."""
        name = name or cls.__name__
        fields = declared_fields(cls)
        hints = _class_hints(cls)
        typed_dict = typing.is_typeddict(cls)
        if cls in self.open or not hints or (fields is None and not typed_dict and not _is_plain(cls)):
            return None
        names = fields if fields is not None else tuple(hints)
        if not set(names) <= hints.keys():
            return None
        self.open.append(cls)
        try:
            items = tuple(self.spec(hints[n][0], f"{name}.{n}", hints[n][1]) for n in names)
        finally:
            self.open.pop()
        if typed_dict:
            return Node("dict", items, names)
        return Node("new", items, (cls, None) if issubclass(cls, tuple) else (cls, names))

    def _no_rank(self, name: str, what: str) -> NoReturn:
        self._unclear(name, f"`{what}` does not say how many axes there are")

    def _unclear(self, name: str, why: str, hint: str = "", example: str = "f8[n, k]") -> NoReturn:
        parameter = re.split(r"[.\[]", name)[0]
        raise Unclear(
            f"the annotation of `{name}` is not enough: {why}",
            hint=hint or f'give its type: --sig "{parameter}: {example}", or annotate it so',
        )


def _axis(length: Any) -> Any:
    """An axis of the length that a type says: `Literal[3]` is 3."""
    values = typing.get_args(length) if typing.get_origin(length) is Literal else ()
    return values[0] if len(values) == 1 and type(values[0]) is int else fresh_dim()


def _is_plain(cls: type) -> bool:
    """Whether instances of a class are made up of the attributes that its annotations name."""
    return cls.__module__ != "builtins" and not issubclass(cls, tuple | list | dict | set | str)


def _class_hints(cls: type) -> dict[str, tuple[Any, dict[str, Any]]]:
    """The annotations of a class and its bases, each with the names it may use."""
    found: dict[str, tuple[Any, dict[str, Any]]] = {}
    for base in reversed(cls.__mro__):
        namespace = dict(vars(sys.modules.get(base.__module__, typing)))
        for name, hint in inspect.get_annotations(base).items():
            if not _is_class_variable(hint):
                found[name] = (hint, namespace)
    if dataclasses.is_dataclass(cls):
        found = {n: h for n, h in found.items() if n in declared_fields(cls)}  # type: ignore[operator]
    return found


def _is_class_variable(hint: Any) -> bool:
    return "ClassVar" in hint if isinstance(hint, str) else typing.get_origin(hint) is typing.ClassVar
