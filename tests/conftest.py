"""Options of the whole test suite."""

from __future__ import annotations

import os

import pytest

# The tests are of what the NumPy target gives; those of the native target and of the choice ask for it.
os.environ.setdefault("PULLBACK_TARGET", "numpy")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write the generated sources in tests/golden anew"
    )
    parser.addoption(
        "--long", action="store_true", help="15,000 random programs in tests/fuzz, and every fault"
    )
