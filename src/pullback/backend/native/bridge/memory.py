"""Arrays as addresses, without Python's headers: reading an array's fields, and making an array over memory."""

from __future__ import annotations

import ctypes
import struct
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

ALIGNED = 0x100
WRITEABLE = 0x400

# An array after the head that every object has: data, rank, lengths, strides, base, dtype, flags.
_FIELDS = struct.Struct("PiPPPPi")
_HEAD = object.__basicsize__

Fields = tuple[
    int, int, int, int, int, int
]  # data, rank, address of lengths, address of strides, id of dtype, flags


def _read_fields(array: Any) -> Fields:
    """The fields where NumPy's C interface has them."""
    data, rank, shape, strides, _, dtype, flags = _FIELDS.unpack(
        ctypes.string_at(id(array) + _HEAD, _FIELDS.size)
    )
    return data, rank, shape, strides, dtype, flags


def _asked_fields(array: Any) -> Fields:
    """The fields by name; lengths and strides are copied, and live as long as the array."""
    lengths = (ctypes.c_int64 * (2 * array.ndim or 1))(*array.shape, *array.strides)
    weakref.finalize(array, _let_go, lengths)
    at = ctypes.addressof(lengths)
    flags = array.flags.aligned * ALIGNED | array.flags.writeable * WRITEABLE
    return array.ctypes.data, array.ndim, at, at + 8 * array.ndim, id(array.dtype), flags


def _let_go(_: Any) -> None:
    """What a finaliser holds until its array goes."""


def _readable() -> bool:
    """Whether arrays have their fields where they are looked for."""
    if ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    base = np.arange(60, dtype=np.int32).reshape(3, 4, 5)
    frozen = base[1:, ::-2, 1:4]
    frozen.setflags(write=False)
    return all(map(_is_read, (base, frozen, np.zeros(()), np.ones((2, 0), np.complex64).T)))


def _is_read(array: Any) -> bool:
    head = ctypes.string_at(id(array), 16)
    if struct.unpack("PP", head)[1] != id(np.ndarray):  # the object is not at its id, or its head is longer
        return False
    data, rank, shape, strides, dtype, flags = _read_fields(array)
    if rank != array.ndim or dtype != id(array.dtype) or data != array.ctypes.data:
        return False
    said = flags & ALIGNED == ALIGNED, flags & WRITEABLE == WRITEABLE
    return (
        said == (array.flags.aligned, array.flags.writeable)
        and integers(shape, rank) == array.shape
        and integers(strides, rank) == array.strides
    )


_VECTORS = tuple(ctypes.c_int64 * rank for rank in range(65))


def integers(address: int, number: int) -> tuple[int, ...]:
    """So many 64-bit integers that stand at an address."""
    return tuple(_VECTORS[number].from_address(address)) if number else ()


def store_pointer(address: int, value: int) -> None:
    """Write a pointer to an address."""
    ctypes.c_void_p.from_address(address).value = value


def address_of(array: Any) -> int:
    """Where an array's first element is."""
    return fields(array)[0]


def pointers(array: Any) -> tuple[int, int, int]:
    """Addresses of an array's first element, lengths and strides."""
    data, _, shape, strides, _, _ = fields(array)
    return data, shape, strides


class _Memory:
    """Memory as NumPy's array interface tells it; it keeps the owner alive."""

    def __init__(self, told: dict[str, Any], owner: Any) -> None:
        self.__array_interface__ = told
        self.owner = owner


def view(
    data: int,
    dtype: np.dtype[Any],
    shape: Sequence[int],
    strides: Sequence[int],
    owner: Any,
    *,
    writable: bool,
) -> Any:
    """An array over memory that an owner keeps."""
    if 0 in shape:
        return np.empty(shape, dtype)
    told = {
        "version": 3,
        "data": (data, not writable),
        "typestr": dtype.str,
        "shape": tuple(shape),
        "strides": tuple(strides),
    }
    return np.asarray(_Memory(told, owner))


fields: Callable[[Any], Fields] = _read_fields if _readable() else _asked_fields
