"""What the compiler specialises on in a value: the key of its spec, read off quickly.

Two values with equal keys have the same spec, but for the identities of functions: one made anew at each call from the
same code, over the same kinds of variables, is the same to the compiler, which takes what it captures as parameters.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from pullback.frontend.instances import field_names
from pullback.frontend.signature import Node, Spec, spec_of
from pullback.styles.style import Array, Static

_PLAIN = frozenset({float, int, complex})


def key_of(value: Any) -> Any:
    """The key of an argument."""
    cls = type(value)
    if cls is np.ndarray:
        shape = value.shape
        ones = tuple([n == 1 for n in shape]) if 1 in shape else len(shape)
        return (value.dtype, ones, value.flags.c_contiguous)
    if cls in _PLAIN:
        return cls
    if cls is tuple or cls is list:
        return (cls, *map(key_of, value))
    if cls is dict or cls is OrderedDict:
        return (cls, *value, *map(key_of, value.values()))
    return _other_key(value, cls)


def _other_key(value: Any, cls: type) -> Any:
    if cls is FunctionType:
        return (cls, value.__code__)
    if cls is functools.partial:
        names = tuple(value.keywords)
        return (
            cls,
            key_of(value.func),
            names,
            *map(key_of, value.args),
            *map(key_of, value.keywords.values()),
        )
    if cls is MethodType:
        return (cls, value.__func__, key_of(value.__self__))
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        return (np.generic, value.dtype)
    return _spec_key(spec_of(value, "an argument"))


def _spec_key(spec: Spec) -> Any:
    """The key of a spec: axes are told apart only by being one or not."""
    if isinstance(spec, Node):
        return (spec.kind, spec.meta, *map(_spec_key, spec.items))
    if isinstance(spec, Array):
        axes = None if spec.axes is None else tuple(a == 1 for a in spec.axes)
        return (spec.dtype, axes, spec.contiguous)
    if isinstance(spec, Static):
        return _value_key(spec.value)
    return spec


def _value_key(value: Any) -> Any:
    if isinstance(value, slice):  # not hashable before Python 3.12
        return (slice, *map(_value_key, (value.start, value.stop, value.step)))
    return (type(value), value)


def outside_key(value: Any) -> Any:
    """The key of a datum found outside: as an argument's, but functions in it are themselves."""
    cls = type(value)
    if cls is np.ndarray or cls in _PLAIN:
        return key_of(value)
    return (key_of(value), *functions_in(value))


def functions_in(value: Any) -> list[Any]:
    """The functions in a structure."""
    if isinstance(value, FunctionType | MethodType | functools.partial):
        return [value]
    if isinstance(value, tuple | list):
        return [f for x in value for f in functions_in(x)]
    if isinstance(value, dict):
        return [f for x in value.values() for f in functions_in(x)]
    if isinstance(value, np.ndarray | np.generic | str | int | float | None):
        return []
    return [f for name in field_names(value) or () for f in functions_in(getattr(value, name, None))]
