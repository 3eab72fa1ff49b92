"""Random programs: the gradient agrees with differences, the value to the last bit, and the caller keeps its arrays.

2,000 programs run as a rule, 15,000 under `pytest tests/fuzz --long -n 2`, in chunks of 250.  What fails is made small
by `python -m tests.fuzz.reduce SEED`.  In each chunk at most 2 % may be refused, each for a reason that is listed, and
at most 1 % cannot be judged (a kink within a step of the differences, or a value that is not finite, or large).
"""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from tests.fuzz.check import check
from tests.fuzz.generate import program

from pullback.frontend import apart

CHUNK = 250
REASONS = (
    r"a write into an array that may share memory with (another value|`\w+`)",
    r"this write may change `\w+`, which may share memory with what is written here",
    r"`abs` of a number that is Python's on one path and NumPy's on another",
)


def test_programs(chunk: int) -> None:
    counts: Counter[str] = Counter()

    @seed(chunk)
    @settings(
        max_examples=CHUNK,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(number=st.integers(0, 2**62))
    def run(number: int) -> None:
        check(number, counts)

    run()
    skipped = sum(n for what, n in counts.items() if what.startswith("skipped"))
    reasons = [what[9:] for what in counts if what.startswith("refused: ")]
    print(dict(counts))
    assert counts["programs"] >= 0.9 * CHUNK
    assert counts["refused"] <= 0.02 * CHUNK, counts
    assert skipped <= 0.01 * CHUNK, counts
    assert all(any(re.match(known, reason) for known in REASONS) for reason in reasons), reasons


def test_programs_are_what_they_are_said_to_be() -> None:
    text = "".join(program(n) for n in range(300))
    for part in ("while ", "break", "continue", "return np.sum", "::-1", "for k in", "elif ", ".append(", "lambda",
                 "np.add.at", "out=", "[[0, 0, 1, 3]]", "else:", "damp(", "zip(", "np.copyto", "if flag"):  # fmt: skip
        assert part in text, part


@pytest.mark.parametrize("number", range(5))
def test_a_seed_gives_one_program(number: int) -> None:
    assert program(number) == program(number)


@pytest.mark.parametrize("first", range(0, 120, 40))
def test_programs_with_every_helper_compiled_apart(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first programs again, where a function that is called twice is never inlined."""
    monkeypatch.setattr(apart, "LARGE", -1)
    counts: Counter[str] = Counter()
    for number in range(first, first + 40):
        check(number, counts)
    assert counts["programs"] == 40
    assert counts["refused"] <= 2, counts
