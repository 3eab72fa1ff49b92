"""Random programs (those of `tests/fuzz`) by the native target, against the NumPy one.

60 run as a rule, 20,000 under `pytest tests/native/test_random_programs.py --long -n 2`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable

import pytest
from tests.fuzz.check import WRT, arguments, load, unload
from tests.fuzz.generate import program
from tests.native.against import LAYOUTS, Both
from tests.native.subjects import need_compiler

from pullback.backend.native.emit.errors import Untaken
from pullback.errors import UnsupportedError

need_compiler()
CHUNK = 20
TAKEN = 0.6  # at least this share is compiled to C


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test for each chunk of programs."""
    if "chunk" in metafunc.fixturenames:
        metafunc.parametrize("chunk", range(1000 if metafunc.config.getoption("--long") else 3))


def check(seed: int, counts: Counter[str]) -> None:
    """Compare the program of a seed."""
    module = load(program(seed))
    counts["programs"] += 1
    try:
        both = Both(module.f, WRT)
        left = both.compare(arguments(seed))
        counts["taken"] += 1
        counts["left to NumPy"] += bool(left)
        if seed % 5 == 0:
            for layout in LAYOUTS.values():
                both.compare(arguments(seed), layout)
    except Untaken as untaken:
        counts["not taken"] += 1
        counts[f"not taken: {untaken.reason}"] += 1
    except UnsupportedError:
        counts["refused"] += 1
    finally:
        unload(module)


def check_all(seeds: Iterable[int], counts: Counter[str]) -> list[str]:
    """Compare the programs of these seeds; returns what does not agree."""
    faults = []
    for seed in seeds:
        try:
            check(seed, counts)
        except Exception as error:
            faults.append(f"seed {seed}: {type(error).__name__}: {str(error)[:400]}")
    return faults


def test_programs(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PULLBACK_TARGET", raising=False)
    monkeypatch.setenv("PULLBACK_CFLAGS", os.environ.get("PULLBACK_CFLAGS", "-O0"))
    counts: Counter[str] = Counter()
    faults = check_all(range(chunk * CHUNK, (chunk + 1) * CHUNK), counts)
    print(dict(counts))
    assert not faults, "\n".join(faults)
    assert counts["taken"] >= TAKEN * CHUNK - 4, counts
