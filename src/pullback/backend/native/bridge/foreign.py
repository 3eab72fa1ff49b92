"""The bridge without Python's headers: calls by `ctypes`.

`foreign.c` checks arrays and runs entries; here numbers are checked, and results made.  A callback into Python costs as
much as a small entry, so the arrays that the last call asked for are made before the next one: C takes them as long as
they are the ones that it asks for again.

A call uses a frame, which holds the C side's view of the host and what the call owns.  Frames are used again, but never
by two calls at once: an operation may call the same entry, and so may another thread.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np

from pullback.backend.native import build, toolchain
from pullback.backend.native.bridge import memory
from pullback.backend.native.bridge.operations import fresh, numbers, packed_as, writer
from pullback.backend.native.bridge.raising import MISS, Failed
from pullback.backend.native.bridge.threads import LIMITS, allowed
from pullback.backend.native.interface import (
    DTYPES,
    HOST_ERROR,
    ArgSpec,
    ArraySpec,
    Interface,
    ScalarSpec,
)

SLOT = 16  # bytes of an argument
ARG = 32  # bytes of a `pb_arg`
MOST_READY = 16  # arrays that are made before a call
_FINE, _MISSED, _OTHER_DTYPE = range(3)

_Pointer = ctypes.c_void_p
_New = ctypes.CFUNCTYPE(_Pointer, _Pointer, ctypes.c_int32, ctypes.c_int32, _Pointer, _Pointer)
_Drop = ctypes.CFUNCTYPE(None, _Pointer, _Pointer)
_Call = ctypes.CFUNCTYPE(ctypes.c_int32, _Pointer, ctypes.c_int32, _Pointer, _Pointer)


class _FrameFields(ctypes.Structure):
    """`Frame` of `foreign.c`; the first of it is `pb_host`."""

    _fields_ = (
        ("context", _Pointer),
        ("asked_array", _Pointer),
        ("drop_array", _Drop),
        ("call", _Call),
        ("threads", ctypes.c_int64),
        ("error", ctypes.c_int32),
        ("line", ctypes.c_int32),
        ("detail", ctypes.c_int64 * 4),
        ("message", ctypes.c_char_p),
        ("new_array", _New),
        ("bound", _Pointer),
        ("args", _Pointer),
        ("results", _Pointer),
        ("lengths", _Pointer),
        ("ready", _Pointer),
        ("number_ready", ctypes.c_int64),
        ("used", ctypes.c_int64),
    )


class _SpecFields(ctypes.Structure):
    """`Spec` of `foreign.c`."""

    _fields_ = (
        ("is_array", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("flags", ctypes.c_int32),
        ("unused", ctypes.c_int32),
        ("dtype", _Pointer),
        ("ones", _Pointer),
        ("equal", _Pointer),
    )


class _BoundFields(ctypes.Structure):
    """`Bound` of `foreign.c`."""

    _fields_ = (
        ("entry", _Pointer),
        ("specs", _Pointer),
        ("number_args", ctypes.c_int64),
        ("number_lengths", ctypes.c_int64),
        ("array_type", _Pointer),
        ("dtypes", _Pointer * len(DTYPES)),
    )


@lru_cache(maxsize=1)
def load() -> Any:
    """The function of `foreign.c` that runs entries; `NativeError` where it cannot be built."""
    text = (files("pullback.backend.native.bridge") / "foreign.c").read_text(encoding="utf-8")
    flags = ("-O2", *toolchain.SHARED)
    library = build.compiled(text, flags, (), toolchain.find(), "pullback_foreign")
    call = ctypes.PyDLL(str(library)).pb_foreign_call
    call.argtypes = (_Pointer, ctypes.c_char_p)
    return call


class Bound:
    """A compiled entry as a callable."""

    def __init__(
        self, address: int, interface: Interface, threads: int, keep: object, failed: Failed
    ) -> None:
        self.interface = interface
        self.threads = threads
        self.calls = 0
        self._keep = keep
        self._failed = failed
        self._call = load()
        self._takers = tuple(map(_taker, interface.args))
        self._slots = "=QQ" + "".join(map(_slot, interface.args))
        self._out = struct.Struct("=" + "".join(map(packed_as, interface.results)))
        self._writers = tuple(map(writer, interface.results))
        self._fields, self._owned = _bound_fields(address, interface)
        self._frames: list[_Frame] = []
        self._expect(())

    def __repr__(self) -> str:
        return f"<compiled {self.interface.name}>"

    def __call__(self, *args: Any) -> Any:
        """The results, or MISS if an argument is not what the interface says."""
        if len(args) != len(self._takers):
            raise TypeError(f"{self.interface.name} takes {len(self._takers)} arguments, not {len(args)}")
        try:
            slots = [take(arg) for take, arg in zip(self._takers, args)]  # noqa: B905  (counted above)
        except _Missed:
            return MISS
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = _Frame(self)
        try:
            return self._run(frame, slots, args)
        finally:
            frame.clear()
            self._frames.append(frame)

    def into(self, buffers: tuple[Any, ...], *args: Any) -> Any:
        """A call whose new arrays may be those of `buffers`; here they never are."""
        return self(*args)

    def _run(self, frame: _Frame, slots: list[Any], args: Sequence[Any]) -> Any:
        expected, pack = self._expected
        frame.slots, frame.args = slots, args
        frame.arrays = ready = {_address(a): a for a in [_empty(*wanted) for wanted in expected]}
        if frame.most_threads != LIMITS.most:  # this process is a fork
            frame.set_threads(self.threads)
        ended = self._call(frame.address, pack(len(expected), False, *slots, *ready))
        if ended == _OTHER_DTYPE:
            ended = _MISSED
            if self._dtypes_are_equal(args):
                ended = self._call(frame.address, pack(len(expected), True, *slots, *ready))
        if ended == _MISSED:
            return MISS
        self.calls += 1
        if frame.made:
            self._expect((*expected[: frame.fields.used], *frame.made)[:MOST_READY])
        if ended or frame.error is not None:
            return self._fail(frame)
        values = iter(self._out.unpack(frame.out))
        return tuple([write(values, frame.arrays) for write in self._writers])

    def _expect(self, wanted: Sequence[tuple[tuple[int, ...], np.dtype[Any]]]) -> None:
        """Have such arrays ready at the next call."""
        self._expected = wanted, struct.Struct(self._slots + "Q" * len(wanted)).pack

    def _dtypes_are_equal(self, args: Sequence[Any]) -> bool:
        """Whether the dtypes of arrays are as specified, though they are other objects."""
        specs = self.interface.args
        return all(s.dtype == a.dtype for s, a in zip(specs, args, strict=True) if isinstance(s, ArraySpec))

    def _fail(self, frame: _Frame) -> Any:
        fields = frame.fields
        if frame.error is not None:
            return self._failed(HOST_ERROR, fields.line, (), None, frame.error)
        text = fields.message.decode("utf-8", "replace") if fields.message is not None else None
        return self._failed(fields.error, fields.line, tuple(fields.detail), text, None)


_address = memory.address
_empty = np.empty


class _Frame:
    """What one call owns: the host that C sees, room for arguments and results, arrays, an error of an operation."""

    def __init__(self, bound: Bound) -> None:
        interface = bound.interface
        self.operations = interface.operations
        self.args: Sequence[Any] = ()
        self.slots: Sequence[Any] = ()  # of arrays, their addresses
        self.arrays: dict[int, Any] = {}  # by address
        self.made: list[tuple[tuple[int, ...], np.dtype[Any]]] = []  # what Python was asked to make
        self.error: BaseException | None = None
        self.out = (ctypes.c_char * (ARG * len(interface.results)))()
        self.room = (ctypes.c_char * (ARG * len(interface.args)))()
        self.lengths = (ctypes.c_int64 * max(bound._fields.number_lengths, 1))()
        self.fields = _FrameFields(
            drop_array=_Drop(self._drop_array),
            call=_Call(self._operation),
            new_array=_New(self._new_array),
            bound=ctypes.addressof(bound._fields),
            args=ctypes.addressof(self.room),
            results=ctypes.addressof(self.out),
            lengths=ctypes.addressof(self.lengths),
        )
        self.address = ctypes.addressof(self.fields)
        self.set_threads(bound.threads)

    def set_threads(self, asked: int) -> None:
        """Tell how many threads the entry may use."""
        self.most_threads = LIMITS.most
        self.fields.threads = allowed(asked)

    def clear(self) -> None:
        """Forget the call."""
        self.args = self.slots = ()
        self.arrays = {}
        if self.made:
            self.made = []
        self.error = None

    def _new_array(self, _: int, dtype: int, rank: int, shape: int, data: int) -> int | None:
        try:
            wanted = memory.integers(shape, rank), DTYPES[dtype]
            array = np.empty(*wanted)
        except BaseException as error:
            self.error = error
            return None
        self.made.append(wanted)
        address = _address(array)
        self.arrays[address] = array
        memory.store_pointer(data, memory.Fields.from_address(address).data)
        return address

    def _drop_array(self, _: int, handle: int) -> None:
        self.arrays.pop(handle, None)

    def _operation(self, _: int, number: int, given: int, results: int) -> int:
        try:
            operation = self.operations[number]
            args = [self._taken(spec, given + ARG * k) for k, spec in enumerate(operation.args)]
            value = operation.fn(*args)
            values = (value,) if len(operation.results) == 1 else tuple(value)
            made = [self._given(s, v) for s, v in zip(operation.results, values, strict=True)]
        except BaseException as error:
            self.error = error
            return HOST_ERROR
        ctypes.memmove(results, b"".join(made), ARG * len(made))
        return 0

    def _taken(self, spec: ArgSpec, address: int) -> Any:
        """An argument of an operation, from a `pb_arg`."""
        values = struct.unpack(f"={packed_as(spec)}", ctypes.string_at(address, ARG))
        if isinstance(spec, ScalarSpec):
            return writer(spec)(iter(values), {})
        data, shape, strides, handle = values
        owner = self._owner(handle) if handle else None
        lengths, steps = memory.integers(shape, spec.rank), memory.integers(strides, spec.rank)
        view = memory.view(data, spec.dtype, lengths, steps, owner, writable=spec.writes)
        return view if owner is not None or spec.writes else view.copy()

    def _owner(self, handle: int) -> Any:
        """The array of a handle: one that the call made, or an argument."""
        found = self.arrays.get(handle)
        if found is not None:
            return found
        given = zip(self.slots, self.args, strict=True)
        return next(arg for slot, arg in given if slot == handle and type(arg) is np.ndarray)

    def _given(self, spec: ArgSpec, value: Any) -> bytes:
        """A result of an operation as a `pb_arg`."""
        if isinstance(spec, ScalarSpec):
            return struct.pack(f"={packed_as(spec)}", *numbers(spec, value))
        array = fresh(spec, value)
        address = _address(array)
        self.arrays[address] = array
        fields = memory.Fields.from_address(address)
        return struct.pack("=QQQQ", fields.data or 0, fields.shape or 0, fields.strides or 0, address)


# -- arguments --


class _Missed(Exception):
    """A number is not as specified."""


def _slot(spec: ArgSpec) -> str:
    """How `struct` writes an argument."""
    if isinstance(spec, ArraySpec):
        return "Q8x"
    return "16s" if spec.kind == "complex" else packed_as(spec).replace("24x", "8x")


def _taker(spec: ArgSpec) -> Callable[[Any], Any]:
    """A function that makes of an argument what its slot takes; arrays are checked in C."""
    if isinstance(spec, ArraySpec):
        return _address
    kinds: dict[str, type] = {"float": float, "int": int, "bool": bool, "complex": complex}
    wanted: Any = kinds[spec.kind] if spec.dtype is None else spec.dtype.type

    def take(value: Any) -> Any:
        if type(value) is not wanted:
            raise _Missed
        return value

    def take_integer(value: Any) -> int:
        if type(value) is not wanted or not (wanted is not int or -(2**63) <= value < 2**63):
            raise _Missed
        return int(value)

    def take_complex(value: Any) -> bytes:
        if type(value) is not wanted:
            raise _Missed
        return struct.pack("=dd", value.real, value.imag)

    return {"float": take, "complex": take_complex}.get(spec.kind, take_integer)


def _bound_fields(address: int, interface: Interface) -> tuple[_BoundFields, object]:
    """What C knows of an entry, and what must live as long."""
    specs = (_SpecFields * max(len(interface.args), 1))()
    owned: list[object] = [specs, interface]
    indices: dict[int, int] = {-1: -1}
    for fields, spec in zip(specs, interface.args, strict=False):
        if isinstance(spec, ArraySpec):
            ones = [-1 if one is None else int(one) for one in spec.ones]
            equal = [indices.setdefault(number, len(indices) - 1) for number in spec.equal]
            fields.is_array, fields.rank, fields.dtype = 1, spec.rank, id(DTYPES[DTYPES.index(spec.dtype)])
            fields.flags = memory.ALIGNED | (memory.WRITEABLE if spec.writes else 0)
            fields.ones = _axes(ctypes.c_int8, ones, owned)
            fields.equal = _axes(ctypes.c_int32, equal, owned)
    bound = _BoundFields(
        address, ctypes.addressof(specs), len(interface.args), len(indices) - 1, id(np.ndarray)
    )
    bound.dtypes[:] = [id(dtype) for dtype in DTYPES]
    return bound, owned


def _axes(kind: Any, items: Sequence[int], owned: list[object]) -> int | None:
    """The address of a table of an item for each axis; None if no item asks for anything."""
    if all(item == -1 for item in items):
        return None
    table = (kind * len(items))(*items)
    owned.append(table)
    return ctypes.addressof(table)
