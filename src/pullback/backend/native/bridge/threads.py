"""How many threads compiled code may use."""

from __future__ import annotations

import os

_MANY = 1 << 20


class _Limits:
    """So many threads where nothing is asked, and so many at most.

    A fork may use one: the team of threads that its parent has started is not there, and OpenMP would wait for it.
    """

    def __init__(self) -> None:
        self.usual, self.most = _cores(), _MANY

    def forked(self) -> None:
        """This process is a fork."""
        self.usual = self.most = 1


def _cores() -> int:
    """The cores that this process may use, or fewer if OMP_NUM_THREADS says so."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return min(int(asked), cores) if asked.isdecimal() and int(asked) > 0 else cores


LIMITS = _Limits()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=LIMITS.forked)


def allowed(asked: int = 0) -> int:
    """How many threads a call may use that was asked to use so many; 0 asks for all cores."""
    return min(asked or LIMITS.usual, LIMITS.most)
