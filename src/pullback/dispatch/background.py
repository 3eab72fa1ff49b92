"""What is compiled in the background: one job after another, in one thread, which is there only while there are jobs.

The thread ends with the last job, so that a process that forks later has one thread.  A fork compiles nothing in the
background, and waits for nothing that its parent had begun.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable

Job = Callable[[], None]


class _Worker:
    """The jobs that wait, and the thread that does them."""

    def __init__(self, forked: bool = False) -> None:
        self.forked = forked
        self.lock = threading.Lock()  # held only to look at the jobs
        self.jobs: deque[Job] = deque()
        self.thread: threading.Thread | None = None

    def submit(self, job: Job) -> bool:
        """Have a job done; False where that is not possible."""
        if self.forked:
            return False
        with self.lock:
            self.jobs.append(job)
            if self.thread is not None:
                return True
            thread = threading.Thread(target=self.run, name="pullback", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the interpreter is ending
                self.jobs.clear()
                return False
            self.thread = thread
        return True

    def run(self) -> None:
        """Do all jobs."""
        while True:
            with self.lock:
                if not self.jobs:
                    self.thread = None
                    return
                job = self.jobs.popleft()
            job()


_worker = [_Worker()]


def submit(job: Job) -> bool:
    """Have a job done in the background; it must raise nothing.  False where that is not possible: in a fork."""
    return _worker[0].submit(job)


def wait(seconds: float = 60.0) -> bool:
    """Wait until there are no jobs; whether that is so."""
    thread = _worker[0].thread
    if thread is not None:
        thread.join(seconds)
    return _worker[0].thread is None


def _forked() -> None:
    _worker[0] = _Worker(forked=True)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
