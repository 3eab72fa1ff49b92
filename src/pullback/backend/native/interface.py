"""What a compiled entry takes and gives: the description by which the bridge checks and converts.

The numbers here are those of `c/pullback.h`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from pullback.errors import Loc

ABI = 1

# The dtypes that compiled code knows; the position is the code.
DTYPES: tuple[np.dtype[Any], ...] = tuple(
    np.dtype(name)
    for name in (
        *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
        *("float32", "float64", "complex64", "complex128"),
    )
)
_CODES = {dtype: code for code, dtype in enumerate(DTYPES)}

Kind = Literal["float", "int", "bool", "complex"]
KINDS: tuple[Kind, ...] = ("float", "int", "bool", "complex")
_KIND_OF_CHAR: dict[str, Kind] = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}

# What an entry raises, by code; `HOST_ERROR` says that an exception is set already.
HOST_ERROR = 9
ERRORS: dict[int, type[Exception]] = {
    1: IndexError,
    2: ValueError,
    3: ZeroDivisionError,
    4: OverflowError,
    5: MemoryError,
    6: UnboundLocalError,
    7: AssertionError,
    8: TypeError,
    10: FloatingPointError,
}


def known(dtype: np.dtype[Any]) -> bool:
    """Whether compiled code knows a dtype: numbers of NumPy in native byte order."""
    return dtype in _CODES


def code_of(dtype: np.dtype[Any]) -> int:
    """The code of a dtype; of one that is not `known`, a `ValueError`."""
    if dtype not in _CODES:
        raise ValueError(f"compiled code has no dtype {dtype}")
    return _CODES[dtype]


def kind_of(dtype: np.dtype[Any]) -> Kind:
    """As which kind of number a scalar of a dtype passes."""
    return _KIND_OF_CHAR[DTYPES[code_of(dtype)].kind]


@dataclass(frozen=True, slots=True)
class ScalarSpec:
    """A number: of Python if `dtype` is None, else a NumPy scalar of that dtype.  A Python bool is not an int.

    code    that of the dtype, or -1
    """

    kind: Kind
    dtype: np.dtype[Any] | None = field(default=None, compare=False)  # to NumPy, None is a way to say float64
    code: int = field(init=False, repr=False, default=-1)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"no kind of number: {self.kind!r}")
        if self.dtype is not None:
            object.__setattr__(self, "code", code_of(self.dtype))
            if kind_of(self.dtype) != self.kind:
                raise ValueError(f"a scalar of {self.dtype} is no {self.kind}")


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """An array of exactly `np.ndarray`, aligned and in native byte order.

    ones    for each axis: True if its length must be 1, False if it must not, None if it may be anything
    equal   for each axis a number: axes with one number, over all arguments, must have one length; -1: any length
    writes  whether the entry writes into it: then it must be writeable
    """

    dtype: np.dtype[Any]
    rank: int
    ones: tuple[bool | None, ...] = ()
    equal: tuple[int, ...] = ()
    writes: bool = False

    def __post_init__(self) -> None:
        code_of(self.dtype)
        object.__setattr__(self, "ones", self.ones or (None,) * self.rank)
        object.__setattr__(self, "equal", self.equal or (-1,) * self.rank)
        if len(self.ones) != self.rank or len(self.equal) != self.rank:
            raise ValueError(f"an array of rank {self.rank} has as many `ones` and `equal`")


ArgSpec = ScalarSpec | ArraySpec
ResultSpec = ScalarSpec | ArraySpec


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation that an entry asks of NumPy: `fn` of the arguments; with one result that, else a tuple of them.

    Arrays come to `fn` as views: read-only ones, except where `ArraySpec.writes` says that `fn` writes into them.  One
    whose memory is the entry's own (no handle) is copied, unless it is written.  Results are converted to their specs:
    an array of another dtype or rank is an error; one that is not fresh or not in C order is copied.
    """

    fn: Callable[..., Any]
    args: tuple[ArgSpec, ...]
    results: tuple[ResultSpec, ...]


@dataclass(frozen=True, slots=True)
class Interface:
    """A compiled entry: its symbol, arguments, results, the places its errors name, the operations it asks for."""

    name: str
    args: tuple[ArgSpec, ...]
    results: tuple[ResultSpec, ...]
    places: tuple[Loc, ...] = ()
    operations: tuple[Operation, ...] = ()
