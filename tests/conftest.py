"""Options of the whole test suite."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write the generated sources in tests/golden anew"
    )
    parser.addoption(
        "--long", action="store_true", help="15,000 random programs in tests/fuzz, and every fault"
    )
