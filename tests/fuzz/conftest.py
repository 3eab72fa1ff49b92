"""2,000 random programs and the faults found early; `--long`: 15,000 programs and every seeded fault."""

from __future__ import annotations

import pytest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test for each chunk of programs, so that they can be shared among processes."""
    if "chunk" in metafunc.fixturenames:
        metafunc.parametrize("chunk", range(60 if metafunc.config.getoption("--long", False) else 8))
