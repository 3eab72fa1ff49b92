"""What stands in a module for its library of C: the class that loads it, and the table of its entries."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

from pullback.aot.c_api import CFiles
from pullback.aot.loader import _Library
from pullback.aot.natives import passed_text, spec_text
from pullback.backend.numpy.wrap import quoted, wrapped

LOADER_IMPORTS = ("ctypes", "os", "struct", "sys")
LOADER_NAMES = ("_Library", "_LIBRARY", "native_status")
STATUS = "native_status"
STATUS_TEXT = '''\
def native_status() -> str:
    """The library of C that computes the gradients here, or why NumPy does.

    `PULLBACK_TARGET=numpy` in the environment, before the first call, leaves the
    library alone; `PULLBACK_TARGET=native` is an error where it cannot be used.
    """
    return _LIBRARY.status()'''


def library_text(c: CFiles, operations: Sequence[str]) -> list[str]:
    """The class, and its one object.  `operations` are the functions that NumPy does for the library."""
    entries, table = [], []
    for label, native in c.natives.entries.items():
        given = _texts([spec_text(s) for s in native.interface.args])
        made = _texts([spec_text(s) for s in native.interface.results])
        entries.append(f"{quoted(label)}: ({quoted(native.interface.name)}, {given}, {made})")
        numbered = zip(operations, native.interface.operations, strict=True)
        table = [
            f"({name}, {_texts([passed_text(s) for s in o.args])}, {_texts([spec_text(s) for s in o.results[1:]])})"
            for name, o in numbered
        ]
    named = f"{{{', '.join(entries)}}}"
    given = f'globals().get("__file__"), {quoted(c.digest)}, {named}, {_tuple(table)}'
    return [inspect.getsource(_Library).rstrip(), "\n".join(wrapped(f"_LIBRARY = _Library({given})"))]


def _texts(texts: Sequence[str]) -> str:
    return _tuple([quoted(text) for text in texts])


def _tuple(items: Sequence[str]) -> str:
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
