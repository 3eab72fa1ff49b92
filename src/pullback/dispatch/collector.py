"""Compiling without the cyclic garbage collector.

Compiling makes hundreds of objects a statement that live until it ends and hold hardly any cycles.  The collector would
go through all of them again and again: for long functions that takes as long as all the rest.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Pauses:
    """How many compilations are under way, in all threads, and whether the collector was on before the first."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count = 0
        self.enabled = False

    def forked(self) -> None:
        """This process is a fork: the threads that were compiling are not there."""
        if self.count and self.enabled:
            gc.enable()
        self.lock = threading.Lock()
        self.count = 0


_pauses = _Pauses()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pauses.forked)


@contextmanager
def paused() -> Iterator[None]:
    """A block during which the collector is off; the last block to end turns it on again, if it was on."""
    with _pauses.lock:
        _pauses.count += 1
        if _pauses.count == 1:
            _pauses.enabled = gc.isenabled()
            gc.disable()
    try:
        yield
    finally:
        with _pauses.lock:
            _pauses.count -= 1
            if _pauses.count == 0 and _pauses.enabled:
                gc.enable()
