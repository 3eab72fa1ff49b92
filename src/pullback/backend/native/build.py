"""From C text to a shared library, through the cache on disk.

What makes an entry's key: the text with the headers of ours that it includes, the flags, the compiler and its version,
the CPU, and the version of the ABI.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from pullback.backend.native import cache, toolchain
from pullback.backend.native.interface import ABI
from pullback.backend.native.process import Locks, run
from pullback.errors import BuildFailed

SECONDS = 300.0  # for one text
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_FOLDERS = ("c", "bridge")  # where our headers are
_RUNTIME = "runtime.h"  # what is compiled once, and linked with every text that includes it
_locks = Locks()


def shared_library(source: str, *, flags: Sequence[str] = (), name: str = "") -> Path:
    """The library that a C text makes; compiled if the cache has none.

    The text may include headers of `c/` in quotes.  After the standard flags come `flags`, then those that
    PULLBACK_CFLAGS names; `name` is what listings of the cache show.  Raises `NoCompiler` or `BuildFailed`.
    """
    compiler = toolchain.find()
    return compiled(source, (*compiler.flags, *flags, *_asked()), compiler.libraries, compiler, name)


def _asked() -> list[str]:
    """The flags that PULLBACK_CFLAGS names."""
    text = os.environ.get("PULLBACK_CFLAGS", "")
    try:
        return shlex.split(text, posix=os.name == "posix")
    except ValueError:
        raise BuildFailed(f"PULLBACK_CFLAGS={text!r} is no list of flags", hint="unset it") from None


def compiled(
    source: str,
    flags: Sequence[str],
    libraries: Sequence[str],
    compiler: toolchain.Toolchain,
    name: str,
    *,
    part: bool = False,
) -> Path:
    """The library that a text makes with exactly these flags; as a `part` the object that others are linked with."""
    work = _Work(source, _headers(source), tuple(flags), tuple(libraries), compiler, name, part)
    key = work.key()
    with _locks.of(key):  # threads that want the same text wait for the one that compiles it
        return cache.lookup(key) or _build(work, key)


@dataclass(frozen=True, slots=True)
class _Work:
    """What is to be compiled, and how."""

    source: str
    headers: dict[str, str]
    flags: tuple[str, ...]
    libraries: tuple[str, ...]
    compiler: toolchain.Toolchain
    name: str
    part: bool

    def key(self) -> str:
        """The sum of all that the result depends on."""
        digest = hashlib.sha256()
        files = (text for pair in sorted(self.headers.items()) for text in pair)
        parts = (str(ABI), str(self.part), self.source, *files, *self.flags, *self.libraries)
        machine = (*self.compiler.command, self.compiler.version, toolchain.cpu(), *platform.libc_ver())
        for text in (*parts, *machine):
            content = text.encode("utf-8", "surrogateescape")
            digest.update(f"{len(content)} ".encode())
            digest.update(content)
        return digest.hexdigest()

    def command(self, target: str) -> list[str]:
        """The command that makes the target from `module.c`."""
        start = [*self.compiler.command, *toolchain.QUIET]
        if self.part:
            return [
                *start,
                *(flag for flag in self.flags if flag != "-shared"),
                "-c",
                "module.c",
                "-o",
                target,
            ]
        return [*start, *self.flags, "module.c", *self.shared(), "-o", target, *self.libraries]

    def shared(self) -> tuple[str, ...]:
        """Arguments that link with the routines that all texts share, compiled once for these flags."""
        if _RUNTIME not in self.headers:
            return ()
        text = f'#define PB_MAKES_RUNTIME\n#include "{_RUNTIME}"\n'
        return "-DPB_LINKED", str(compiled(text, self.flags, (), self.compiler, "what all share", part=True))


def _headers(source: str) -> dict[str, str]:
    """The headers of ours that a text includes, and those that they include."""
    found: dict[str, str] = {}
    pending = list(_included(source))
    while pending:
        name = pending.pop()
        text = None if name in found else header(name)
        if text is not None:
            found[name] = text
            pending += _included(text)
    return found


def _included(text: str) -> Iterator[str]:
    return (match[1] for match in _INCLUDE.finditer(text))


@lru_cache(maxsize=64)
def header(name: str) -> str | None:
    """The text of a header of ours, if there is one of that name."""
    if "/" in name or "\\" in name:
        return None
    places = [files("pullback.backend.native") / folder / name for folder in _FOLDERS]
    return next((file.read_text(encoding="utf-8") for file in places if file.is_file()), None)


def _build(work: _Work, key: str) -> Path:
    try:
        with cache.workshop() as folder:
            for file, text in {**work.headers, "module.c": work.source}.items():
                (folder / file).write_text(text, encoding="utf-8", errors="surrogateescape")
            target = folder / f"module{cache.PART if work.part else cache.SUFFIX}"
            done = run(work.command(target.name), folder, SECONDS)
            if not done.fine or not target.is_file():
                raise BuildFailed(
                    f"the C compiler `{shlex.join(work.compiler.command)}` makes no library: {done.first_lines()}",
                    hint="PULLBACK_TARGET=numpy does without it; please report a text of ours that it does not take",
                )
            about = {"abi": ABI, "name": work.name, "compiler": work.compiler.version, "flags": work.flags}
            return cache.keep(key, target, about)
    except OSError as error:
        place = f" ({os.fspath(error.filename)})" if error.filename else ""
        raise BuildFailed(f"nothing can be built: {error.strerror or error}{place}") from error
