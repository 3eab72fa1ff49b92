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

    The text may include headers of `c/` in quotes.  `flags` come after the standard ones; `name` is what listings of
    the cache show.  Raises `NoCompiler` or `BuildFailed`.
    """
    compiler = toolchain.find()
    return compiled(source, (*compiler.flags, *flags), compiler.libraries, compiler, name)


def compiled(
    source: str,
    flags: Sequence[str],
    libraries: Sequence[str],
    compiler: toolchain.Toolchain,
    name: str,
    *,
    part: bool = False,
) -> Path:
    """The library that a text makes with exactly these flags; as a `part`, what others are linked with."""
    headers = _headers(source)
    key = _key(source, headers, (*flags, *libraries), compiler)
    with _locks.of(key):  # threads that want the same text wait for the one that compiles it
        found = cache.lookup(key)
        return found or _build(key, source, headers, flags, libraries, compiler, name, part)


def _runtime(headers: dict[str, str], flags: Sequence[str], compiler: toolchain.Toolchain) -> tuple[str, ...]:
    """Arguments that link a text with the routines that all texts share, which are compiled once."""
    if _RUNTIME not in headers:
        return ()
    text = f'#define PB_MAKES_RUNTIME\n#include "{_RUNTIME}"\n'
    return "-DPB_LINKED", os.fspath(compiled(text, flags, (), compiler, "what all share", part=True))


def _key(source: str, headers: dict[str, str], flags: Sequence[str], compiler: toolchain.Toolchain) -> str:
    digest = hashlib.sha256()
    parts = [str(ABI), source, *(text for pair in sorted(headers.items()) for text in pair), *flags]
    for text in (*parts, *compiler.command, compiler.version, toolchain.cpu(), *platform.libc_ver()):
        content = text.encode("utf-8", "surrogateescape")
        digest.update(f"{len(content)} ".encode())
        digest.update(content)
    return digest.hexdigest()


def _headers(source: str) -> dict[str, str]:
    """The headers of ours that a text includes, and those that they include."""
    found: dict[str, str] = {}
    pending = list(_included(source))
    while pending:
        name = pending.pop()
        text = None if name in found else _header(name)
        if text is not None:
            found[name] = text
            pending += _included(text)
    return found


def _included(text: str) -> Iterator[str]:
    return (match[1] for match in _INCLUDE.finditer(text))


@lru_cache(maxsize=64)
def _header(name: str) -> str | None:
    """The text of a header of ours, if there is one of that name."""
    if "/" in name or "\\" in name:
        return None
    places = [files("pullback.backend.native") / folder / name for folder in _FOLDERS]
    return next((file.read_text(encoding="utf-8") for file in places if file.is_file()), None)


def _build(
    key: str,
    source: str,
    headers: dict[str, str],
    flags: Sequence[str],
    libraries: Sequence[str],
    compiler: toolchain.Toolchain,
    name: str,
    part: bool,
) -> Path:
    try:
        with cache.workshop() as folder:
            for file, text in {**headers, "module.c": source}.items():
                (folder / file).write_text(text, encoding="utf-8", errors="surrogateescape")
            target = folder / f"module{cache.SUFFIX}"
            ends = ["module.c", "-o", target.name, *libraries]
            done = run([*compiler.command, *flags, *toolchain.QUIET, *ends], folder, SECONDS)
            if not done.fine or not target.is_file():
                raise BuildFailed(
                    f"the C compiler `{shlex.join(compiler.command)}` makes no library: {done.first_lines()}",
                    hint="PULLBACK_TARGET=numpy does without it; please report a text of ours that it does not take",
                )
            about = {"abi": ABI, "name": name, "compiler": compiler.version, "flags": list(flags)}
            return cache.keep(key, target, about)
    except OSError as error:
        place = f" ({os.fspath(error.filename)})" if error.filename else ""
        raise BuildFailed(f"nothing can be built: {error.strerror or error}{place}") from error
