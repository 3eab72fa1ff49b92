"""How many threads compiled code may use."""

from __future__ import annotations

import os


def _cores() -> int:
    """The cores that this process may use, or fewer if OMP_NUM_THREADS says so."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return min(int(asked), cores) if asked.isdigit() and int(asked) > 0 else cores


class _Limit:
    """The most threads a call may use: all cores, and one in a process that was forked.

    The team of threads that a process has started is not there in its fork, and OpenMP would wait for it.
    """

    def __init__(self) -> None:
        self.most = _cores()

    def forked(self) -> None:
        """This process is a fork."""
        self.most = 1


_limit = _Limit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_limit.forked)


def allowed(asked: int = 0) -> int:
    """How many threads a call may use that was asked to use so many; 0 asks for all cores."""
    return min(asked, _limit.most) if asked > 0 and _limit.most == 1 else asked or _limit.most
