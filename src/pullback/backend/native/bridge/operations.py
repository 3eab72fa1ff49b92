"""Numbers and arrays between Python and `pb_arg`, for the bridge by ctypes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import index
from typing import Any

import numpy as np

from pullback.backend.native.interface import ArgSpec, ArraySpec, ScalarSpec

Writer = Callable[[Iterator[Any], dict[int, Any]], Any]


def packed_as(spec: ArgSpec) -> str:
    """How `struct` writes a `pb_arg`; an array is address of data, lengths, strides, and handle."""
    if isinstance(spec, ArraySpec):
        return "QQQQ"
    unsigned = spec.dtype is not None and spec.dtype.kind == "u"
    return {"float": "d24x", "complex": "dd16x"}.get(spec.kind, "Q24x" if unsigned else "q24x")


def writer(spec: ArgSpec) -> Writer:
    """A function that makes a result from the fields of a `pb_arg`."""
    if isinstance(spec, ArraySpec):
        return _array_of
    kinds: dict[str, Callable[[Any], Any]] = {"bool": bool, "float": _same, "int": _same, "complex": _same}
    wrap: Callable[[Any], Any] = kinds[spec.kind] if spec.dtype is None else spec.dtype.type
    if spec.kind == "complex":
        return lambda values, _: wrap(complex(next(values), next(values)))
    return lambda values, _: wrap(next(values))


def _array_of(values: Iterator[Any], arrays: dict[int, Any]) -> Any:
    handle, _, _, _ = next(values), next(values), next(values), next(values)
    return arrays[handle]


def _same(value: Any) -> Any:
    return value


def fresh(spec: ArraySpec, value: Any) -> Any:
    """A result of an operation as an array of its own, in C order."""
    array = np.asarray(value)
    if array.dtype != spec.dtype or array.ndim != spec.rank:
        raise TypeError(
            f"an operation gave {array.dtype} of rank {array.ndim}, not {spec.dtype} of rank {spec.rank}"
        )
    return np.array(array, dtype=spec.dtype, order="C", copy=True)


def numbers(spec: ScalarSpec, value: Any) -> tuple[Any, ...]:
    """A number that an operation gave as the fields of a `pb_arg`; one that does not fit is an error, never cut."""
    if spec.kind == "float":
        return (float(value),)
    if spec.kind == "complex":
        number = complex(value)
        return (number.real, number.imag)
    if spec.kind == "bool":
        return (bool(value),)
    integer = index(value)
    if not (0 <= integer < 2**64 if packed_as(spec)[0] == "Q" else -(2**63) <= integer < 2**63):
        raise OverflowError(f"an operation gave {integer}, which has more than 64 bits")
    return (integer,)
