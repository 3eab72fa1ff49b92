"""Specs as the text of a signature: what `grammar` reads back as the same."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pullback.aot.scope import Scope
from pullback.errors import SignatureError
from pullback.frontend.signature import Node, Spec
from pullback.styles.style import Anything, Array, Scalar, Static

_NUMBERS = {"f": "float", "i": "int", "c": "complex", "b": "bool"}


def describe(spec: Spec, scope: Scope, name: str) -> str:
    """The text of a spec.  Raises SignatureError where it has none; `name` is how the message calls it."""
    if isinstance(spec, Node):
        return _node(spec, scope, name)
    if isinstance(spec, Static):
        return _static(spec.value, scope, name)
    if isinstance(spec, Scalar) and spec.dtype is not None:
        return _NUMBERS[spec.kind] if spec.weak else dtype_text(spec.dtype)
    if isinstance(spec, Array) and spec.dtype is not None and spec.axes is not None:
        axes = [scope.axis_name(axis) for axis in spec.axes]
        if axes and spec.contiguous:
            axes[-1] = f"{axes[-1].removesuffix(':')}::1"
        return f"{dtype_text(spec.dtype)}[{', '.join(axes)}]"
    if isinstance(spec, Anything):
        return "any"
    raise SignatureError(
        f"`{name}` is of a kind that has no text in a signature", hint="pass arrays and numbers"
    )


def dtype_text(dtype: np.dtype[Any]) -> str:
    """The short name of a dtype.

    >>> dtype_text(np.dtype("float64")), dtype_text(np.dtype("bool"))
    ('f8', 'b1')
    """
    return f"{'' if dtype.isnative else dtype.str[0]}{dtype.kind}{dtype.itemsize}"


def _node(spec: Node, scope: Scope, name: str) -> str:
    if spec.kind == "tuple":
        texts = [describe(item, scope, f"{name}[{i}]") for i, item in enumerate(spec.items)]
        return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"
    if spec.kind == "list":
        return f"[{', '.join(describe(item, scope, f'{name}[{i}]') for i, item in enumerate(spec.items))}]"
    if spec.kind == "dict":
        texts = []
        for key, item in zip(spec.meta, spec.items, strict=True):
            texts.append(f"{_key(key, name)}: {describe(item, scope, f'{name}[{key!r}]')}")
        return f"{{{', '.join(texts)}}}"
    cls, fields = spec.meta
    names = cls._fields if fields is None else fields
    texts = [f"{n}: {describe(v, scope, f'{name}.{n}')}" for n, v in zip(names, spec.items, strict=True)]
    found = scope.name_of(cls)
    if found is None:
        raise SignatureError(
            f"`{name}` is a {cls.__module__}.{cls.__qualname__}, a class that cannot be reached by name",
            hint="define the class in a module",
        )
    return f"{found}({', '.join(texts)})"


def _key(key: Any, name: str) -> str:
    if type(key) in (str, int):
        return repr(key)
    raise SignatureError(f"`{name}` has the key {key!r}", hint="keys of a dict must be texts or integers")


def _static(value: Any, scope: Scope, name: str) -> str:
    if value is None or type(value) in (bool, int, str):
        return repr(value)
    if type(value) is float and math.isfinite(value):
        return repr(value)
    if type(value) is complex and value.real == 0 and math.isfinite(value.imag):
        return f"{value.imag!r}j"
    found = None if isinstance(value, type) else scope.name_of(value)
    if found is not None:
        return found
    what = getattr(value, "__qualname__", None) or f"a {type(value).__name__}"
    raise SignatureError(
        f"`{name}` is {what}, which has no text in a signature",
        hint="give it a name in the module of the function, or make it the parameter's default",
    )
