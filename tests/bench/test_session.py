"""One run over a suite in which everything goes wrong that can."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.bench import tiny

from pullback.bench.record import Record, from_json
from pullback.bench.session import Options, Session
from pullback.bench.suite import find


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write(tmp_path_factory.mktemp("suites"))


@pytest.fixture(scope="module")
def record(folder: Path) -> Record:
    kernels = [kernel for kernel in find(folder, ["tiny"]) if kernel.name != "hangs"]
    options = Options(slot=0.05, compile_times=False)
    return Session(options, ["pullback", "hand"]).run(kernels)


def entry(record: Record, kernel: str, name: str = "hand"):
    return next(case for case in record.cases if case.kernel == kernel).entries[name]


@pytest.mark.parametrize("kernel", ["right", "wrong", "dies", "raises", "changes", "in_place", "residuals"])
def test_our_gradient_is_verified_and_timed(record: Record, kernel: str) -> None:
    found = entry(record, kernel, "pullback")
    assert (found.status, found.reason) == ("ok", "")
    assert found.error is not None and found.error < 1e-8
    assert found.times is not None and 0 < found.times.low <= found.times.median <= found.times.high
    assert found.times.rounds >= 3 and found.times.calls >= 1


def test_a_right_gradient_by_hand_is_timed(record: Record) -> None:
    assert entry(record, "right").status == "ok"
    assert entry(record, "right").seconds


def test_a_wrong_gradient_is_reported_with_its_worst_entry_and_never_timed(record: Record) -> None:
    found = entry(record, "wrong")
    assert found.status == "wrong" and found.times is None and found.memory is None
    assert found.reason.startswith("x[3]: ")


@pytest.mark.parametrize(
    "kernel, status, words",
    [
        ("dies", "crashed", "exit code 3"),
        ("raises", "raised", "ValueError: not"),
        ("changes", "wrong", "changed the argument x"),
    ],
)
def test_what_fails_is_a_row(record: Record, kernel: str, status: str, words: str) -> None:
    found = entry(record, kernel)
    assert found.status == status and words in found.reason and "\n" not in found.reason
    assert found.times is None


def test_a_process_that_failed_serves_the_next_kernel(record: Record) -> None:
    order = list(dict.fromkeys(case.kernel for case in record.cases))
    assert order.index("dies") < order.index("right")


def test_a_process_that_hangs_is_killed_and_the_next_kernel_served(folder: Path) -> None:
    kernels = find(folder, ["tiny"], ["hangs", "right"])
    hangs, right = Session(Options(timeout=2.0, slot=0.05), ["hand"]).run(kernels).cases
    assert (hangs.entries["hand"].status, hangs.entries["hand"].reason) == ("hung", "no answer in 2 s")
    assert right.entries["hand"].status == "ok"


def test_a_refusal_gives_its_reason_and_no_path(record: Record, tmp_path: Path) -> None:
    found = entry(record, "refused", "pullback")
    assert found.status == "raised"
    assert "tiny/refused.py:" in found.reason and str(tmp_path.anchor + "tmp") not in found.reason


def test_a_plain_function_that_writes_into_its_arguments_starts_anew_each_time(record: Record) -> None:
    assert [case.label for case in record.cases if case.kernel == "in_place"] == ["n=4", "n=8"]
    assert entry(record, "in_place", "numpy").status == "ok"


def test_a_record_comes_back_from_its_text(record: Record) -> None:
    again = from_json(record.to_json())
    assert again.cases == record.cases and again.about == record.about
    assert again.mean("tiny", "pullback")[1] == 8
