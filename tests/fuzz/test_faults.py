"""The strength of the random programs: each seeded fault of the compiler is found within 2,000 of them."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.fuzz.check import Mismatch, check
from tests.fuzz.faults import FAULTS

LIMIT = 2000


def test_there_are_enough() -> None:
    assert sum(not fault.late for fault in FAULTS.values()) >= 25


@pytest.mark.parametrize("name", FAULTS)
def test_found(name: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    fault = FAULTS[name]
    if fault.late and not request.config.getoption("--long"):
        pytest.skip("found after more than 1,000 programs: runs under --long")
    fault.apply(monkeypatch)
    for number in range(LIMIT):
        try:
            check(number, Counter())
        except Mismatch as found:
            print(number, str(found).splitlines()[0])
            break
    else:
        pytest.fail(f"not found in {LIMIT} programs")
    monkeypatch.undo()
    check(number, Counter())  # without the fault all is well
