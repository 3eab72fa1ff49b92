"""Timing in the child, statistics in the parent."""

from __future__ import annotations

import ctypes
import gc
import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

BATCH = 2e-3  # seconds that a batch of calls takes at least, if it is more than one call


def seconds_of(calls: Iterable[Callable[[], Any]], count: int) -> float:
    """Seconds that one of some calls takes."""
    start = time.perf_counter()
    for call in calls:
        call()
    return (time.perf_counter() - start) / count


def batch_size(once: float) -> int:
    """How many calls make a batch."""
    return max(1, math.ceil(BATCH / max(once, 1e-8)))


def peak_bytes(call: Callable[[], Any]) -> int | None:
    """By how much resident memory rises at most during a call; None where the system does not say."""
    gc.collect()
    try:
        ctypes.CDLL("libc.so.6").malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
        before = _status("VmRSS")
        call()
        return max(_status("VmHWM") - before, 0)
    except (OSError, AttributeError, KeyError):
        return None


def _status(field: str) -> int:
    """A field of the process's status, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(fields[field].split()[0]) * 1024


def thread_environment(threads: int) -> dict[str, str]:
    """What limits the libraries that NumPy, JAX, torch and numba compute with."""
    names = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM", "BLIS", "NUMBA")
    found = {
        f"{name}_NUM_THREADS" if name != "VECLIB_MAXIMUM" else f"{name}_THREADS": str(threads)
        for name in names
    }
    eigen = "false" if threads == 1 else "true"
    found["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={eigen} intra_op_parallelism_threads={threads}"
    found["NPROC"] = str(threads)
    return found


@dataclass(frozen=True)
class Times:
    """The median of the rounds, the quartiles, and how much was measured."""

    median: float
    low: float
    high: float
    rounds: int
    calls: int  # in a round


def times(samples: Sequence[float], calls: int) -> Times:
    """The statistics of the rounds."""
    low, median, high = (float(q) for q in np.quantile(samples, [0.25, 0.5, 0.75]))
    return Times(median, low, high, len(samples), calls)


def geometric_mean(ratios: Sequence[float]) -> float | None:
    """None of nothing."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None
