"""The files of a module: what belongs into each, whether it is there, how it is written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from pullback.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class Output:
    """One file.

    content  its text, or its bytes, or what makes them
    marks    bytes that a current file has in it; without them it must be its text
    mode     its permissions, where it is new and these are not the usual ones
    """

    path: Path
    content: str | Callable[[], bytes]
    marks: tuple[bytes, ...] = ()
    mode: int | None = None

    def status(self) -> str:
        """Whether the file is "current", "stale" or "missing"."""
        try:
            data = self.path.read_bytes()
        except OSError:
            return "stale" if self.path.exists() else "missing"
        if isinstance(self.content, str):
            current = data.replace(b"\r\n", b"\n") == self.content.encode()
        else:
            current = all(mark in data for mark in self.marks)
        return "current" if current else "stale"

    def data(self) -> bytes:
        """What belongs into the file."""
        return self.content.encode() if isinstance(self.content, str) else self.content()


def write_all(outputs: Iterable[Output]) -> list[Output]:
    """Write the files that are not current, each whole or not at all; gives these.

    What may fail, a library that is to be compiled, is made before anything is written.  Raises ArgumentError where a
    file cannot be written.
    """
    stale = [output for output in outputs if output.status() != "current"]
    found = [(output, output.data()) for output in stale]
    for output, data in found:
        try:
            _write(output.path, data, output.mode)
        except OSError as error:
            raise ArgumentError(
                f"cannot write {os.fspath(output.path)}: {error.strerror or error}",
                hint="name a file in a folder that is there and may be written to",
            ) from None
    return stale


def _write(target: Path, data: bytes, mode: int | None) -> None:
    """Write a file by way of another one beside it."""
    target = target.resolve()
    beside = target.with_name(f".{target.name}.{os.urandom(4).hex()}.tmp")
    try:
        with beside.open("xb") as file:
            file.write(data)
        if target.exists():
            beside.chmod(target.stat().st_mode & 0o777)
        elif mode is not None:
            beside.chmod(mode)
        os.replace(beside, target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
