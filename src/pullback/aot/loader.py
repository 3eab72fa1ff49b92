"""What a module with a library of C carries: `_Library`, which loads the library and calls its entries.

The text of the class is copied into such modules: it needs NumPy and Python's own library alone, and no line is longer
than 88 columns.  Everything that stands against the library ends in `None`, and the module's NumPy functions serve.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from typing import Any

import numpy as np


class _Library:
    """The library of C beside this module: it runs what it can, and tells why not.

    `PULLBACK_TARGET=numpy` leaves it alone; with `native` it must be usable.
    """

    KINDS = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64"
    DTYPES = tuple(map(np.dtype, [*KINDS.split(), "complex64", "complex128"]))
    HOST = "4Qq2i4qQ8x"  # pb_host: it is first in the memory of a call
    OUTSET = struct.calcsize("=" + HOST)
    ITEM = 32  # bytes of a pb_arg
    QUIET = frozenset({"ignore", "warn"})

    def __init__(self, file: Any, digest: str, entries: Any, operations: Any) -> None:
        self.file, self.digest = file, digest
        self.entries, self.operations = entries, operations
        self.why = ""  # why it cannot be used
        self.ready: Any = None  # by entry: the function, the layout of its memory
        self.calls: Any = {}  # of each by its address: arrays, what was raised
        self.process = os.getpid()
        asked = os.environ.get("OMP_NUM_THREADS", "")
        self.threads = int(asked) if asked.isdigit() else os.cpu_count() or 1
        self.numbers = {"float": float, "int": int, "bool": bool, "complex": complex}

    def status(self) -> str:
        """Which file serves, or why NumPy does."""
        if self.ready is None:
            self.start()
        return f"NumPy: {self.why}" if self.why else self.path()

    def start(self) -> None:
        """Load the library, if it can be used."""
        target = os.environ.get("PULLBACK_TARGET", "auto")
        self.why = "PULLBACK_TARGET=numpy" if target == "numpy" else self.load()
        if self.why:
            if target == "native":
                raise RuntimeError(f"PULLBACK_TARGET=native, but {self.why}")
            self.ready = {}

    def path(self) -> str:
        """Where the library is looked for: it is called as this module is."""
        folder, name = os.path.split(os.path.abspath(self.file or ""))
        suffix = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
        name = name.partition(".")[0] + suffix
        return os.path.join(folder, name if sys.platform == "win32" else "lib" + name)

    def load(self) -> str:
        """Load the library; why it cannot be used, if so."""
        if not self.file:
            return "this module has no file"
        if struct.calcsize("P") != 8:
            return "this Python has 32 bits"
        path = self.path()
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError as error:
            return f"{path}: {error.strerror or error}"
        if self.digest.encode() not in data:
            return f"{path} was not built from the C text of this module"
        if data[:4] == b"\x7fELF":  # its table of sections is at the end
            at, size, count = struct.unpack("<40xQ10x2H", data[:62])[:3]
            if at + size * count > len(data):
                return f"{path} is cut off"
        try:
            library = ctypes.CDLL(path)
            fits = getattr(library, f"pb_cpu_{self.digest[:16]}")()
            functions = {k: library[entry[0]] for k, entry in self.entries.items()}
        except (OSError, AttributeError) as error:
            return f"{path} cannot be loaded: {error}"
        if not fits:
            return f"{path} was compiled for another CPU"
        self.prepare(functions)
        return ""

    def prepare(self, functions: Any) -> None:
        """Make ready what calls need: callbacks, and how their memory is laid out."""
        pointer, number = ctypes.c_void_p, ctypes.c_int32
        new = ctypes.CFUNCTYPE(pointer, pointer, number, number, pointer, pointer)
        drop = ctypes.CFUNCTYPE(None, pointer, pointer)
        do = ctypes.CFUNCTYPE(number, pointer, number, pointer, pointer)
        self.callbacks = new(self.new_array), drop(self.drop_array), do(self.operate)
        addresses = [ctypes.cast(each, pointer).value for each in self.callbacks]
        self.head = (0, *addresses)
        ready: Any = {}
        for name, function in functions.items():
            _, given, results = self.entries[name]
            function.argtypes, function.restype = (pointer,) * 3, number
            ranks = [self.rank(spec) for spec in given]
            layout = "=" + self.HOST + "".join(map(self.packed, given))
            out = struct.calcsize(layout)
            layout += f"{self.ITEM * len(results)}x{2 * sum(r or 0 for r in ranks)}q"
            found = "".join(self.packed(spec, True) for spec in results)
            made = struct.Struct("=" + found)
            values = [self.maker(spec) for spec in results]
            ready[name] = function, ranks, struct.Struct(layout), out, made, values, []
        self.ready = ready

    def run(self, name: str, *args: Any) -> Any:
        """What an entry gives for arguments; None where NumPy must serve."""
        if self.ready is None:
            self.start()
        if name not in self.ready or not self.QUIET.issuperset(np.geterr().values()):
            return None
        function, ranks, layout, out, made, values, frames = self.ready[name]
        try:
            memory, at, arrays = frames.pop()  # no two calls at once have the same
        except IndexError:
            memory = ctypes.create_string_buffer(layout.size)
            at, arrays = ctypes.addressof(memory), {}
        free = at + out + made.size  # where lengths and strides go
        numbers: Any = [*self.head, 1 if os.getpid() != self.process else self.threads]
        numbers += (0, -1, 0, 0, 0, 0, 0)
        lengths: Any = []
        for arg, rank in zip(args, ranks, strict=True):
            if rank is None:
                numbers += (arg.real, arg.imag) if isinstance(arg, complex) else (arg,)
            elif not arg.flags.aligned:
                return None
            else:
                numbers += (arg.ctypes.data, free, free + 8 * rank, 0)
                lengths += arg.shape
                lengths += arg.strides
                free += 16 * rank
        try:
            layout.pack_into(memory, 0, *numbers, *lengths)
        except struct.error:  # an integer of more than 64 bits
            return None
        self.calls[at] = arrays
        try:
            failed = function(at, at + self.OUTSET, at + out)
            raised = arrays.pop("raised", None)
            if raised is not None and not isinstance(raised, Exception):
                raise raised
            if failed:
                return None
            found = iter(made.unpack_from(memory, out))
            return [value(found, arrays) for value in values]
        finally:
            arrays.clear()
            frames.append((memory, at, arrays))

    def maker(self, spec: str) -> Any:
        """What makes a result of the numbers in its pb_arg."""
        if "[" in spec:
            return lambda found, arrays: arrays[next(found)]
        kind = np.dtype(spec[3:]).type if spec.startswith("np.") else self.numbers[spec]
        if spec.removeprefix("np.").startswith("complex"):
            return lambda found, _: kind(complex(next(found), next(found)))
        return lambda found, _: kind(next(found))

    def rank(self, spec: str) -> int | None:
        """The number of axes of `float64[2]`; None of a number."""
        return int(spec.partition("[")[2][0]) if "[" in spec else None

    def packed(self, spec: str, result: bool = False) -> str:
        """How `struct` writes a value into a pb_arg; of a result, an array's handle."""
        if "[" in spec:
            return "Q24x" if result else "4Q"
        kind = spec.removeprefix("np.")
        packed = {"c": "2d16x", "f": "d24x"}.get(kind[0], "q24x")
        return "Q24x" if kind == "uint64" else packed

    def new_array(self, host: int, dtype: int, rank: int, shape: Any, data: int) -> Any:
        """A fresh array for a call; the handle is its `id`."""
        arrays = self.calls[host]
        try:
            lengths = (ctypes.c_int64 * rank).from_address(shape) if rank else ()
            made = np.empty(tuple(lengths), self.DTYPES[dtype])
        except BaseException as error:
            arrays["raised"] = error
            return None
        ctypes.c_void_p.from_address(data).value = made.ctypes.data
        arrays[id(made)] = made
        return id(made)

    def drop_array(self, host: int, handle: int) -> None:
        """A call does not need an array any more."""
        self.calls[host].pop(handle, None)

    def operate(self, host: int, number: int, given: int, out: int) -> int:
        """An operation of NumPy's, for a call."""
        arrays = self.calls[host]
        function, args, results = self.operations[number]
        try:
            at = range(given, given + self.ITEM * len(args), self.ITEM)
            with np.errstate(all="ignore"):
                made = function(*map(self.view, args, at))
            values = (made,) if len(results) == 1 else made
            pairs = zip(results, values, strict=True)
            packed = [self.given(*pair, arrays) for pair in pairs]
        except BaseException as error:
            arrays["raised"] = error
            return 9
        texts = [struct.pack("=q24x", 1), *packed]
        ctypes.memmove(out, b"".join(texts), self.ITEM * len(texts))
        return 0

    def view(self, spec: str, at: int) -> Any:
        """An argument of an operation; one that may be kept is copied."""
        rank = self.rank(spec)
        if rank is None:
            item = ctypes.string_at(at, self.ITEM)
            found = struct.unpack("=" + self.packed(spec), item)
            return self.maker(spec)(iter(found), None)
        data, shape, strides, _ = struct.unpack("=4Q", ctypes.string_at(at, self.ITEM))
        dtype = np.dtype(spec.partition("[")[0])
        lengths = tuple((ctypes.c_int64 * rank).from_address(shape)) if rank else ()
        steps = tuple((ctypes.c_int64 * rank).from_address(strides)) if rank else ()
        if 0 in lengths:
            return np.empty(lengths, dtype)
        ends = [(n - 1) * s for n, s in zip(lengths, steps, strict=True)]
        low = data + sum(min(end, 0) for end in ends)
        top = data + sum(max(end, 0) for end in ends)
        room = (ctypes.c_char * (top - low + dtype.itemsize)).from_address(low)
        made = np.ndarray(lengths, dtype, room, data - low, steps)
        made.flags.writeable = False
        return made.copy() if spec.endswith("copy") else made

    def given(self, spec: str, value: Any, arrays: Any) -> bytes:
        """A result of an operation as a pb_arg; one of another kind is an error."""
        rank = self.rank(spec)
        kind = spec.partition("[")[0].removeprefix("np.")
        wanted = self.numbers.get(kind)
        if rank is None and wanted is not None:
            fits = isinstance(value, wanted)
        else:
            fits = isinstance(value, np.ndarray | np.generic) and value.dtype == kind
            fits = fits and value.ndim == (rank or 0)
        if not fits:
            raise TypeError(f"{type(value).__name__} where {spec} was expected")
        if rank is None:
            parts = (value.real, value.imag) if kind[0] == "c" else (value,)
            return struct.pack("=" + self.packed(spec), *parts)
        made = np.array(value, order="C")
        room = (ctypes.c_int64 * (2 * rank or 1))(*made.shape, *made.strides)
        arrays[id(made)] = made
        arrays[-id(made)] = room  # as long as the call
        shape = ctypes.addressof(room)
        return struct.pack("=4Q", made.ctypes.data, shape, shape + 8 * rank, id(made))
