"""Running a compiler: no shell, a time limit, nothing of it left running; and locks for what is done once."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pullback.backend.native import cache

# Compilers write files where these say, or speak another language than we read.
_DROPPED = ("DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES")
_SAID = {"LC_ALL": "C", "LANGUAGE": "C"}
FIRST_LINES = 12
SPINS = "5000"  # some ten microseconds: what there is between two loops of one function


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: its exit code (None: it did not start, or not end in time), and what it said."""

    code: int | None
    said: str

    @property
    def fine(self) -> bool:
        """Whether it did what it was asked."""
        return self.code == 0

    def first_lines(self) -> str:
        """How it ended, and the first lines of what it said."""
        how = self.said if self.code is None else _how(self.code)
        lines = [] if self.code is None else [line for line in self.said.splitlines() if line.strip()]
        return "\n".join([how, *(f"    {line[:200]}" for line in lines[:FIRST_LINES])])


def _how(code: int) -> str:
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"it was killed by {signal.Signals(-code).name}"
    return f"it ended with exit code {code}"


def run(command: Sequence[str], folder: Path, seconds: float) -> Outcome:
    """Run a command in a folder, at most so long; its children end with it."""
    environment = {k: v for k, v in os.environ.items() if k not in _DROPPED} | _SAID
    # zig keeps what it makes for itself where we know that it can: where it cannot, it waits for ever
    environment.setdefault("ZIG_GLOBAL_CACHE_DIR", str(cache.place() / cache.ZIG))
    environment.setdefault("ZIG_LOCAL_CACHE_DIR", str(folder / cache.ZIG))
    try:
        process = subprocess.Popen(
            list(command),
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=sys.platform != "win32",
        )
    except (OSError, ValueError) as error:
        return Outcome(None, f"it does not start: {getattr(error, 'strerror', None) or error}")
    try:
        said, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        _end(process)
        return Outcome(None, f"it did not end within {seconds:g} seconds")
    except BaseException:  # the user interrupts: the compiler, in a session of its own, does not hear of it
        _end(process)
        raise
    return Outcome(process.returncode, said.decode("utf-8", "replace"))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and its children."""
    with contextlib.suppress(OSError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(OSError, ValueError):
        process.communicate(timeout=5)


@contextlib.contextmanager
def patient_threads() -> Iterator[None]:
    """A block that loads libraries; where GCC's OpenMP comes with one, its threads soon sleep when there is no work.

    By default they spin for milliseconds, and where other processes want the cores everything waits for them.  OpenMP
    reads this once, when it is loaded.  A user who has said something about it is obeyed.
    """
    if any(name in os.environ for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")):
        yield
        return
    os.environ["GOMP_SPINCOUNT"] = SPINS
    try:
        yield
    finally:
        os.environ.pop("GOMP_SPINCOUNT", None)


class Locks:
    """A lock for each name.  They are free in a fork, where the thread that held one is not there."""

    def __init__(self) -> None:
        self._forget()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._first = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}

    def of(self, name: str) -> threading.Lock:
        """The lock of a name."""
        with self._first:
            return self._locks.setdefault(name, threading.Lock())
