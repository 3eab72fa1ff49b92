"""One contender at work: opens cases, times and measures its own calls."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pullback.bench.peers import PEERS, Peer, Program, Result
from pullback.bench.suite import Case
from pullback.bench.timing import batch_size, peak_bytes, seconds_of
from pullback.bench.trees import copied, megabytes, same
from pullback.bench.verify import Judge, Verdict

PLAIN = "numpy"
LONG = 10.0  # seconds of a first call that is not repeated before the rounds
SETTLE = 20.0  # seconds in which calls come to cost what they will
FRESH = "its gradient is in fresh arrays each time"
SPARE = 64.0  # megabytes of fresh arguments that are made ahead of a batch


@dataclass(frozen=True)
class Opened:
    """What the first calls of a case gave."""

    result: Result
    first: float  # seconds of the first call
    once: float  # seconds of the second
    changed: tuple[str, ...]  # parameters that the call changed
    remark: str = ""


class Contender:
    """A peer, or the plain function, at work on one case."""

    def __init__(self, name: str, threads: int) -> None:
        self.peer: Peer | None = None if name == PLAIN else PEERS[name]
        if self.peer is not None:
            self.peer.start(threads)
        self.case: Case | None = None
        self.program: Program
        self.args: tuple[Any, ...]
        self.seeds: list[Any]
        self.fresh = False  # whether each call needs arguments of its own

    def version(self) -> str:
        """The version of the library."""
        return np.__version__ if self.peer is None else self.peer.version()

    def open(self, case: Case) -> Opened:
        """Take up a case: the first call, and a second one."""
        self.case, self.fresh = case, False
        self.args = case.inputs()
        pristine = copied(self.args)
        self.seeds = [] if case.kernel.scalar else self._seeds(case)
        buffers = self._buffers(case)
        self.program = self._program(case, buffers)
        start = time.perf_counter()
        raw = self.program.call()
        first = time.perf_counter() - start
        changed = tuple(
            name
            for name, before, after in zip(case.kernel.parameters, pristine, self.args, strict=False)
            if not same(before, after)
        )
        result = self.program.unpack(raw)
        self.program.settle(SETTLE)
        if changed:
            self.args, self.fresh = pristine, self.peer is None
        once = first if first > LONG else self.batch(1)
        remark = self.program.remark
        if any(np.isnan(buffer).any() for buffer in buffers.values()):
            remark = "; ".join(filter(None, (remark, FRESH)))
        return Opened(result, first, once, changed, remark)

    def _buffers(self, case: Case) -> dict[str, Any]:
        """Where the gradient is to go: for a case into reused arrays."""
        if not case.reused or self.peer is None:
            return {}
        values = dict(zip(case.kernel.parameters, self.args, strict=True))
        return {
            name: np.full_like(values[name], np.nan)
            for name in case.kernel.wrt
            if isinstance(values[name], np.ndarray)
        }

    def _program(self, case: Case, buffers: dict[str, Any]) -> Program:
        if self.peer is None:
            return self._plain()
        if buffers:
            return self.peer.reusing(case.kernel, self.args, self.seeds, buffers)
        return self.peer.program(case.kernel, self.args, self.seeds)

    def _seeds(self, case: Case) -> list[Any]:
        module = case.kernel.module()
        return list(module.seeds(module.residuals(*copied(self.args))))

    def _function(self) -> Callable[..., Any]:
        """The plain function."""
        assert self.case is not None
        function: Callable[..., Any] = getattr(self.case.kernel.module(), self.case.kernel.objective)
        return function

    def _plain(self) -> Program:
        function = self._function()
        return Program(lambda: function(*self.args), lambda value: Result(value, []))

    def batch(self, count: int) -> float:
        """Seconds of one of so many calls."""
        if not self.fresh:
            return seconds_of([self.program.call] * count, count)
        function = self._function()
        total, left = 0.0, count
        most = max(1, int(SPARE / max(megabytes(self.args), 1e-3)))
        while left:
            several = min(left, most)
            calls = [_bound(function, copied(self.args)) for _ in range(several)]
            total += seconds_of(calls, 1)
            left -= several
        return total / count

    def served(self) -> str:
        """By which of its ways of running, if it has several, it was served last."""
        return self.program.served()

    def peak(self) -> int | None:
        """Bytes that one call takes at most."""
        if not self.fresh:
            return peak_bytes(self.program.call)
        return peak_bytes(_bound(self._function(), copied(self.args)))

    def judge(self, results: dict[str, Result], seconds: float) -> dict[str, Verdict]:
        """Verify the results of all contenders.  (The plain function's process.)"""
        assert self.case is not None
        value = self.program.unpack(
            _bound(getattr(self.case.kernel.module(), self.case.kernel.objective), copied(self.args))()
        ).value
        return Judge(self.case, self.args, value, self.seeds).verdicts(results, seconds)

    def compile_seconds(self, case: Case) -> float:
        """The first call of a case less a steady one."""
        opened = self.open(case)
        steady = min([opened.once, *(self.batch(batch_size(opened.once)) for _ in range(2))])
        return max(opened.first - steady, 0.0)


def _bound(function: Callable[..., Any], args: tuple[Any, ...]) -> Callable[[], Any]:
    return lambda: function(*args)
