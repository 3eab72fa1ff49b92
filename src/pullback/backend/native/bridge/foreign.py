"""The bridge without Python's headers: calls by `ctypes`.

The fields of an array (data, shape, strides, dtype, flags) are read in one piece where NumPy's C interface has them, as
every extension that was compiled against NumPy does.  That this is right here is tried once, on arrays with known
fields.  Where it is not, they are asked for by name, which takes longer.

A call uses a frame, which holds the C side's view of the host and what one call owns.  Frames are used again, but never
by two calls at once: an operation may call the same entry, and so may another thread.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from pullback.backend.native.bridge import memory
from pullback.backend.native.bridge.raising import MISS, fail
from pullback.backend.native.bridge.threads import allowed
from pullback.backend.native.interface import (
    DTYPES,
    HOST_ERROR,
    ArgSpec,
    ArraySpec,
    Interface,
    ResultSpec,
    ScalarSpec,
)

_ARG = 32  # bytes of a `pb_arg`
_INT64 = range(-(2**63), 2**63)

_New = ctypes.CFUNCTYPE(
    ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p
)
_Drop = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_Call = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)


class _Host(ctypes.Structure):
    """`pb_host`."""

    _fields_ = (
        ("context", ctypes.c_void_p),
        ("new_array", _New),
        ("drop_array", _Drop),
        ("call", _Call),
        ("threads", ctypes.c_int64),
        ("error", ctypes.c_int32),
        ("line", ctypes.c_int32),
        ("detail", ctypes.c_int64 * 4),
        ("message", ctypes.c_char_p),
    )


class Bound:
    """A compiled entry as a callable."""

    def __init__(self, address: int, interface: Interface, threads: int, keep: object) -> None:
        self.interface = interface
        self.threads = threads
        self._keep = keep
        kind = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        self._entry = kind(address)
        self._readers = tuple(map(_reader, interface.args))
        self._equal = tuple(_equal_axes(interface.args))
        self._in = struct.Struct("=" + "".join(map(_packed, interface.args)))
        self._out = struct.Struct("=" + "".join(map(_packed, interface.results)))
        self._writers = tuple(map(_writer, interface.results))
        self._frames: list[_Frame] = []

    def __repr__(self) -> str:
        return f"<compiled {self.interface.name}>"

    def __call__(self, *args: Any) -> Any:
        """The results, or MISS if an argument is not what the interface says."""
        packed: list[Any] = []
        if len(args) != len(self._readers):
            raise TypeError(f"{self.interface.name} takes {len(self._readers)} arguments, not {len(args)}")
        for reader, arg in zip(self._readers, args):  # noqa: B905  (counted above)
            if not reader(arg, packed):
                return MISS
        for i, axis, j, other in self._equal:
            if args[i].shape[axis] != args[j].shape[other]:
                return MISS
        frame = self._frames.pop() if self._frames else _Frame(self)
        try:
            return self._run(frame, self._in.pack(*packed), args)
        finally:
            frame.clear()
            self._frames.append(frame)

    def _run(self, frame: _Frame, packed: bytes, args: Sequence[Any]) -> tuple[Any, ...]:
        frame.args = args
        host = frame.host
        host.threads = allowed(self.threads)
        failed = self._entry(frame.address, packed, frame.out_address)
        if failed or frame.error is not None:
            message = host.message
            text = message.decode("utf-8", "replace") if message and frame.error is None else None
            code = HOST_ERROR if frame.error is not None else host.error
            fail(self.interface, code, host.line, list(host.detail), text, frame.error)
        values = iter(self._out.unpack(frame.out))
        return tuple([write(values, frame.arrays) for write in self._writers])


class _Frame:
    """What one call owns: the host that C sees, room for results, the arrays that it made, an error of an operation."""

    def __init__(self, bound: Bound) -> None:
        self.bound = bound
        self.arrays: dict[int, Any] = {}
        self.args: Sequence[Any] = ()
        self.error: BaseException | None = None
        self.out = (ctypes.c_char * (_ARG * max(len(bound.interface.results), 1)))()
        self.out_address = ctypes.addressof(self.out)
        self.host = _Host(
            None, _New(self._new_array), _Drop(self._drop_array), _Call(self._operation), 1, 0, -1
        )
        self.address = ctypes.addressof(self.host)

    def clear(self) -> None:
        """Forget the call."""
        self.args = ()
        if self.arrays:
            self.arrays = {}
        if self.error is not None or self.host.error:
            self.error = None
            self.host.error, self.host.line, self.host.message = 0, -1, None

    def _new_array(self, _: int, dtype: int, rank: int, shape: int, data: int) -> int | None:
        try:
            array = np.empty(memory.integers(shape, rank), DTYPES[dtype])
            memory.store_pointer(data, memory.address_of(array))
        except BaseException as error:
            self.error = error
            return None
        handle = id(array)
        self.arrays[handle] = array
        return handle

    def _drop_array(self, _: int, handle: int) -> None:
        self.arrays.pop(handle, None)

    def _operation(self, _: int, number: int, given: int, results: int) -> int:
        try:
            operation = self.bound.interface.operations[number]
            args = [self._taken(spec, given + _ARG * k) for k, spec in enumerate(operation.args)]
            value = operation.fn(*args)
            values = (value,) if len(operation.results) == 1 else tuple(value)
            for k, (spec, item) in enumerate(zip(operation.results, values, strict=True)):
                self._give(spec, item, results + _ARG * k)
        except BaseException as error:
            self.error = error
            return 1
        return 0

    def _taken(self, spec: ArgSpec, address: int) -> Any:
        """An argument of an operation, from a `pb_arg`."""
        if isinstance(spec, ScalarSpec):
            values = struct.unpack(f"={_packed(spec)}", ctypes.string_at(address, _ARG))
            return _writer(spec)(iter(values), {})
        data, shape, strides, handle = struct.unpack("=QQQQ", ctypes.string_at(address, _ARG))
        owner = self.arrays.get(handle) if handle else None
        if owner is None and handle:
            owner = next(arg for arg in self.args if id(arg) == handle)
        lengths, steps = memory.integers(shape, spec.rank), memory.integers(strides, spec.rank)
        view = memory.view(data, spec.dtype, lengths, steps, owner, writable=spec.writes)
        return view if owner is not None or spec.writes else view.copy()

    def _give(self, spec: ResultSpec, value: Any, address: int) -> None:
        """Put a result of an operation into a `pb_arg`."""
        if isinstance(spec, ScalarSpec):
            packed = struct.pack(f"={_packed(spec)}", *_numbers(spec, value))
        else:
            array = _fresh(spec, value)
            self.arrays[id(array)] = array
            data, shape, strides = memory.pointers(array)
            packed = struct.pack("=QQQQ", data, shape, strides, id(array))
        ctypes.memmove(address, packed, _ARG)


def _fresh(spec: ArraySpec, value: Any) -> Any:
    """A result of an operation as an array of its own, in C order."""
    array = np.asarray(value)
    if array.dtype != spec.dtype or array.ndim != spec.rank:
        raise TypeError(
            f"an operation gave {array.dtype} of rank {array.ndim}, not {spec.dtype} of rank {spec.rank}"
        )
    return np.array(array, dtype=spec.dtype, order="C", copy=True)


def _numbers(spec: ScalarSpec, value: Any) -> tuple[Any, ...]:
    """A number as the fields of a `pb_arg`; one that does not fit is an error, never cut."""
    if spec.kind == "float":
        return (float(value),)
    if spec.kind == "complex":
        number = complex(value)
        return (number.real, number.imag)
    if spec.kind == "bool":
        return (bool(value),)
    return (value.__index__(),)


# -- arguments --

_Reader = Callable[[Any, list[Any]], bool]


def _packed(spec: ArgSpec | ResultSpec) -> str:
    """How `struct` writes a `pb_arg`."""
    if isinstance(spec, ArraySpec):
        return "QQQQ"
    unsigned = spec.dtype is not None and spec.dtype.kind == "u"
    return {"float": "d24x", "complex": "dd16x"}.get(spec.kind, "Q24x" if unsigned else "q24x")


def _reader(spec: ArgSpec) -> _Reader:
    """A function that puts an argument's fields into a list, or says that it is not as specified."""
    return _array_reader(spec) if isinstance(spec, ArraySpec) else _number_reader(spec)


def _number_reader(spec: ScalarSpec) -> _Reader:
    kinds: dict[str, type] = {"float": float, "int": int, "bool": bool, "complex": complex}
    wanted: Any = kinds[spec.kind] if spec.dtype is None else spec.dtype.type

    def read(value: Any, packed: list[Any]) -> bool:
        if type(value) is not wanted:
            return False
        packed.append(value)
        return True

    def read_int(value: Any, packed: list[Any]) -> bool:
        if type(value) is not int or value not in _INT64:
            return False
        packed.append(value)
        return True

    def read_complex(value: Any, packed: list[Any]) -> bool:
        if type(value) is not wanted:
            return False
        packed += (value.real, value.imag)
        return True

    if spec.kind == "complex":
        return read_complex
    return read_int if spec.kind == "int" and spec.dtype is None else read


def _array_reader(spec: ArraySpec) -> _Reader:
    dtype, rank, fields = spec.dtype, spec.rank, memory.fields
    ones = tuple((axis, one) for axis, one in enumerate(spec.ones) if one is not None)
    needed = memory.ALIGNED | (memory.WRITEABLE if spec.writes else 0)
    seen = id(dtype)  # almost every array has the one dtype object of its kind; `dtype` keeps it alive

    def read(value: Any, packed: list[Any]) -> bool:
        if type(value) is not np.ndarray:
            return False
        data, found, shape, strides, kind, flags = fields(value)
        if found != rank or flags & needed != needed or (kind != seen and value.dtype != dtype):
            return False
        if ones:
            lengths = value.shape
            for axis, one in ones:
                if (lengths[axis] == 1) is not one:
                    return False
        packed += (data, shape, strides, id(value))
        return True

    return read


def _equal_axes(specs: Sequence[ArgSpec]) -> Iterator[tuple[int, int, int, int]]:
    """Pairs of axes, as argument and axis, that must have one length."""
    groups: dict[int, list[tuple[int, int]]] = {}
    for i, spec in enumerate(specs):
        for axis, number in enumerate(spec.equal if isinstance(spec, ArraySpec) else ()):
            if number >= 0:
                groups.setdefault(number, []).append((i, axis))
    for axes in groups.values():
        yield from ((*first, *second) for first, second in pairwise(axes))


# -- results --

_Writer = Callable[[Iterator[Any], dict[int, Any]], Any]


def _writer(spec: ResultSpec) -> _Writer:
    """A function that makes a result from the fields of a `pb_arg`."""
    if isinstance(spec, ArraySpec):
        return _array_of
    wrap: Callable[[Any], Any] = bool if spec.kind == "bool" else _same
    wrap = wrap if spec.dtype is None else spec.dtype.type
    if spec.kind == "complex":
        return lambda values, _: wrap(complex(next(values), next(values)))
    return lambda values, _: wrap(next(values))


def _array_of(values: Iterator[Any], arrays: dict[int, Any]) -> Any:
    handle, _, _, _ = next(values), next(values), next(values), next(values)
    return arrays[handle]


def _same(value: Any) -> Any:
    return value
