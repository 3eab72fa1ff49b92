"""The parent's side of a contender's process: started when needed, killed when it hangs."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

from pullback.bench.messages import receive, send
from pullback.bench.timing import thread_environment

BINDS = sys.platform == "linux"  # whether the system binds processes to cores
STARTUP = 120.0  # seconds for importing the library
UNWANTED = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")  # they change what matrix products cost


class Failed(Exception):
    """A request that was not answered; `status` is absent, raised, crashed or hung."""

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@contextlib.contextmanager
def bound_to(cores: int) -> Iterator[None]:
    """What is started meanwhile runs on so many cores, the same ones for every contender.

    That holds for all libraries and all their threads; what each reads of counts of threads differs between versions.
    Where the system cannot do it (it is Linux's), counts of threads are all there is.
    """
    if sys.platform != "linux":
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(
        0, sorted(before)[-cores:]
    )  # the last ones: the system's own work is rather on the first
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Process:
    """One contender in a process of its own."""

    def __init__(self, name: str, threads: int, extra: Mapping[str, str] | None = None) -> None:
        self.name = name
        self.threads = threads
        self.extra = dict(extra or {})
        self.version = ""
        self._child: subprocess.Popen[bytes] | None = None
        self._answers: queue.Queue[Any] = queue.Queue()
        self._errors: Any = None

    def start(self) -> None:
        """Start it, if it is not running.  Raises Failed."""
        if self._child is not None and self._child.poll() is None:
            return
        self.stop()
        environment = {k: v for k, v in os.environ.items() if k not in UNWANTED}
        environment.update(thread_environment(self.threads), **self.extra)
        source = str(Path(__file__).parents[2])
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [source, environment.get("PYTHONPATH", "")]))
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the child)
        with bound_to(self.threads):
            self._child = subprocess.Popen(
                [sys.executable, "-m", "pullback.bench.worker", self.name, str(self.threads)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=environment,
            )
        self._answers = queue.Queue()
        threading.Thread(target=_read, args=(self._child.stdout, self._answers), daemon=True).start()
        self.version = self._answer(STARTUP)

    def ask(self, method: str, *arguments: Any, timeout: float) -> Any:
        """The answer to a request.  Raises Failed; after a crash or a timeout the next request starts it anew."""
        self.start()
        assert self._child is not None and self._child.stdin is not None
        with contextlib.suppress(OSError):  # if it is gone, the reader's end of file says so
            send(cast(BinaryIO, self._child.stdin), (method, arguments))
        return self._answer(timeout)

    def _answer(self, timeout: float) -> Any:
        try:
            status, content = self._answers.get(timeout=timeout)
        except queue.Empty:
            self.stop()
            raise Failed("hung", f"no answer in {timeout:.0f} s") from None
        if status in ("done", "ready"):
            return content
        if status == "gone":
            reason = self._last_words()
            self.stop()
            raise Failed("crashed", reason)
        raise Failed(status, content)

    def _last_words(self) -> str:
        assert self._child is not None
        try:
            code = self._child.wait(timeout=5.0)
        except subprocess.TimeoutExpired:
            self._child.kill()
            return "it closed its stream, or what it sent cannot be read"
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
        return how + (f": {lines[-1].strip()}" if lines else "")

    def stop(self) -> None:
        """End it."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            for stream in filter(None, (self._child.stdin, self._child.stdout, self._errors)):
                with contextlib.suppress(OSError):
                    stream.close()
        self._child = None


def _read(stream: Any, answers: queue.Queue[Any]) -> None:
    """Hand on what a child says until it says no more."""
    try:
        while True:
            answers.put(receive(stream))
    except Exception:  # the end of the stream, or what a dying process left in it
        answers.put(("gone", ""))
