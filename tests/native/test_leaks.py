"""Many calls do not use up memory: calls that succeed, and calls that fail within.

`--long` makes 100,000 calls of each, else 20,000.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.native.against import Both
from tests.native.subjects import need_compiler

need_compiler()
pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is read from /proc")
ROOM = 2 << 20  # of 20,000 calls that leak, each leaves more than 100 bytes


def elementwise(x: Any, n: Any) -> Any:
    return np.sum(np.tanh(x * 0.5) * np.exp(-x)) * n


def saved(x: Any, n: Any) -> Any:
    s = 1.0
    for k in range(n):
        s = np.tanh(s * x[k]) + x[k]
        if s > 10:
            x = x * 2.0
    return s


def nested(x: Any, n: Any) -> Any:
    y = np.outer(x, x)
    for _ in range(n):
        for k in range(len(x)):
            y[k] = np.sin(y[k - 1]) + x
        x = x[::-1] + y @ x
    return np.sum(y) + np.sum(x)


def hosted(x: Any, n: Any) -> Any:
    return np.sum(np.sort(x) * np.cumsum(x)) * n


def resident() -> int:
    """The memory of this process, in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(("fn", "bad"), [(elementwise, ""), (saved, "index"), (nested, ""), (hosted, "")])
def test_memory_stays(
    fn: Callable[..., Any], bad: str, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    monkeypatch.delenv("PULLBACK_TARGET", raising=False)
    monkeypatch.setenv("PULLBACK_CFLAGS", "-O1")
    entry, values = Both(fn, (0,)).entry((np.linspace(0.1, 0.9, 5), 4))
    calls = [values]
    if bad:
        calls.append((values[0], 9))
    for given in calls:
        for _ in range(2000):
            entry.run(*given)
        assert bool(entry.left) == (given is not values)
        before = resident()
        for _ in range(100_000 if pytestconfig.getoption("long") else 20_000):
            entry.run(*given)
        assert resident() - before < ROOM


def uneven(x: Any, y: Any) -> Any:
    z = np.outer(x, x)
    a = x[x > 0.4]
    return np.sum(z) + np.sum(np.cos(a * y))


def test_memory_stays_where_lengths_do_not_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PULLBACK_TARGET", raising=False)
    monkeypatch.setenv("PULLBACK_CFLAGS", "-O1")
    x = np.linspace(0.1, 0.9, 50)
    entry, values = Both(uneven, (0, 1)).entry((x, x[x > 0.4].copy()))
    entry.run(*values)
    assert not entry.left
    bad = (x, x[:3].copy())
    for _ in range(2000):
        entry.run(*bad)
    assert entry.left
    before = resident()
    for _ in range(20_000):
        entry.run(*bad)
    assert resident() - before < ROOM
