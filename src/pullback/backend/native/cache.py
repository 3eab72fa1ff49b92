"""Compiled objects on disk, shared by the processes of one user.

The cache is a folder of the user's alone.  An entry is a library and a record: the library's name holds the sum of its
own content, and the record, whose name is the key, holds the library's name, sum and size.  A record is written last
and by renaming, so an entry is whole or not there.  What is read is checked: an entry that is damaged, or that another
user owns, is as none.  Where the folder cannot be written, a temporary one of this process takes its place.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import shutil
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = "native"  # below the cache's place; it is the user's only, whatever the folder above is
ZIG = "zig"  # the folder where that compiler keeps what it makes for itself
DEFAULT_SIZE = 512 << 20
OLD = 3600.0  # seconds after which a workshop, or a library without a record, was left by a process that died
KEPT = 0.9  # of the limit, when entries had to go: the next builds need not look again
SUFFIX = ".dll" if sys.platform == "win32" else ".so"
PART = ".o"  # what libraries are linked with
_UNFINISHED = ("build-", "write-", "trial-")
_UNITS = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_FOREIGN_WRITERS = stat.S_IWGRP | stat.S_IWOTH


# -- the place --

_places: dict[tuple[str | None, str, int], Path] = {}
_temporary_places: set[Path] = set()


def place() -> Path:
    """The folder of compiled objects: on disk for all processes, or else a temporary one of this process."""
    size = os.environ.get("PULLBACK_CACHE_SIZE", "")
    asked = (os.environ.get("PULLBACK_CACHE_DIR") or None, size, os.getpid())
    if asked not in _places:
        wanted = wanted_place()
        usable = wanted is not None and limit() > 0 and _usable(wanted)
        _places[asked] = wanted if wanted is not None and usable else _temporary()
    return _places[asked]


def wanted_place() -> Path | None:
    """Where compiled objects should be kept; None where nothing tells a place for them."""
    asked = os.environ.get("PULLBACK_CACHE_DIR")
    if asked:
        return Path(os.path.expanduser(asked)).absolute() / FOLDER
    try:
        from platformdirs import user_cache_path
    except ImportError:
        return None
    return Path(user_cache_path("pullback", appauthor=False)) / FOLDER


def is_temporary() -> bool:
    """Whether compiled objects go when this process ends."""
    return place() in _temporary_places


def _usable(folder: Path) -> bool:
    """Whether a folder is there, or can be made, is the user's only, and can be written."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_own(folder):
            return False
        if stat.S_IMODE(folder.stat().st_mode) & 0o077 and sys.platform != "win32":
            folder.chmod(0o700)
        with tempfile.NamedTemporaryFile(dir=folder, prefix="trial-"):
            return True
    except OSError:
        return False


def _is_own(path: Path) -> bool:
    """Whether a file or folder belongs to this user, and no one else may write it."""
    if sys.platform == "win32":
        return True
    found = path.lstat()
    return (
        found.st_uid == os.geteuid()
        and not stat.S_ISLNK(found.st_mode)
        and (stat.S_ISDIR(found.st_mode) or not found.st_mode & _FOREIGN_WRITERS)
    )


def _temporary() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="pullback-"))
    _temporary_places.add(folder)
    atexit.register(_remove_temporary, folder, os.getpid())
    return folder


def _remove_temporary(folder: Path, owner: int) -> None:
    """Remove the folder of this process; a fork of it leaves the folder alone."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


# -- files --


def read(path: Path) -> bytes:
    """The content of a file of this user; `OSError` if it is missing, or another user's."""
    if not _is_own(path):
        raise PermissionError(f"{path} is another user's")
    return path.read_bytes()


def write(path: Path, content: bytes) -> None:
    """Write a file whole, or not at all: what cannot be kept is no error."""
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix="write-")
        try:
            with open(handle, "wb") as file:
                file.write(content)
            os.replace(name, path)
        except OSError:
            os.unlink(name)
            raise


@contextmanager
def workshop() -> Iterator[Path]:
    """A folder to build in, beside the entries; it goes afterwards."""
    place().mkdir(mode=0o700, parents=True, exist_ok=True)  # somebody may have removed it
    folder = Path(tempfile.mkdtemp(dir=place(), prefix="build-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# -- entries --


@dataclass(frozen=True, slots=True)
class Entry:
    """A compiled object as its record tells: file, sizes in bytes, seconds since it was used, compiler, name."""

    key: str
    library: Path
    size: int
    age: float
    compiler: str
    name: str


def lookup(key: str) -> Path | None:
    """The library of a key, if it is there and whole.  It is the most recently used then."""
    try:
        record = place() / f"{key}.json"
        data = json.loads(read(record))
        library = record.with_name(data["library"])
        content = read(library)
        whole = len(content) == data["size"] and hashlib.sha256(content).hexdigest() == data["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not whole or library.parent != record.parent:
        return None
    with contextlib.suppress(OSError):
        os.utime(record)
    return library


def keep(key: str, built: Path, about: dict[str, Any]) -> Path:
    """Move a library that was built into the cache; returns its place there."""
    content = built.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    folder = place()
    library = folder / f"{key[:16]}-{digest[:16]}{built.suffix}"
    built.chmod(0o700)
    _settle(built, library, digest)
    record = {**about, "library": library.name, "size": len(content), "sha256": digest}
    write(folder / f"{key}.json", json.dumps(record, indent=1).encode())
    shrink(library)
    return library


def _settle(built: Path, library: Path, digest: str) -> None:
    """Put a library into its place.  One with the same content may be there, and in use: it stays."""
    with contextlib.suppress(OSError):
        if hashlib.sha256(read(library)).hexdigest() == digest:
            return
    os.replace(built, library)


def entries() -> list[Entry]:
    """All entries, the most recently used first."""
    now = time.time()
    found = []
    for record in place().glob("*.json"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            data = json.loads(read(record))
            used = record.stat()
            size = int(data["size"]) + used.st_size
            library = record.with_name(data["library"])
            names = str(data["compiler"]), str(data["name"])
            found.append(Entry(record.stem, library, size, max(now - used.st_mtime, 0.0), *names))
    return sorted(found, key=lambda entry: entry.age)


def limit() -> int:
    """How many bytes the cache may have: `PULLBACK_CACHE_SIZE`, as 100000000, 100M or 2GB; 0 is no cache."""
    text = os.environ.get("PULLBACK_CACHE_SIZE", "").strip().upper()
    if not text:
        return DEFAULT_SIZE
    number = text.removesuffix("B").removesuffix("I")
    unit = number[-1:] if number[-1:] in _UNITS else ""
    try:
        return max(int(float(number.removesuffix(unit)) * _UNITS[unit]), 0)
    except (ValueError, OverflowError):
        warnings.warn(
            f"PULLBACK_CACHE_SIZE={text!r} is no size (100000000, 100M, 2GB): the cache may have 512 MB",
            RuntimeWarning,
            stacklevel=2,
        )
        return DEFAULT_SIZE


def shrink(spared: Path | None = None) -> None:
    """Remove what processes that died left, and if there is too much, the least recently used entries."""
    total = 0
    for path in place().iterdir():
        with contextlib.suppress(OSError):
            total += path.stat().st_size
            if path.name.startswith(_UNFINISHED) and not _is_new(path):
                _remove(path)
    if total > limit():
        _evict(int(limit() * KEPT), spared)


def _evict(most: int, spared: Path | None) -> None:
    """Keep the most recently used entries, so many bytes of them; libraries without a record go too, in time."""
    total, known = 0, {spared}
    for entry in entries():
        total += entry.size
        if total <= most or entry.library == spared:
            known.add(entry.library)
        else:
            _remove(entry.library.with_name(f"{entry.key}.json"))
            _remove(entry.library)
    for path in place().iterdir():
        if path.suffix in (SUFFIX, PART) and path not in known and not _is_new(path):
            _remove(path)


def clear() -> int:
    """Remove everything but what another process may be building; returns how many entries there were."""
    number = len(entries())
    for path in place().iterdir():
        if not (path.name.startswith(_UNFINISHED) and _is_new(path)):
            _remove(path)
    return number


def _is_new(path: Path) -> bool:
    """Whether a file or folder is so new that a process may still work with it."""
    with contextlib.suppress(OSError):
        return time.time() - path.stat().st_mtime <= OLD
    return True


def _remove(path: Path) -> None:
    """Remove a file or folder; on systems where a loaded library cannot be removed, it stays."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()
