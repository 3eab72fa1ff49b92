"""Who takes part, on which target, on how many cores, into which arrays; the bound that memory sets."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.bench import tiny

from pullback.bench.contender import FRESH, Contender
from pullback.bench.peers import PEERS
from pullback.bench.peers.compiled import compiler
from pullback.bench.peers.memory import text
from pullback.bench.plot import LOOKS
from pullback.bench.process import Process, bound_to
from pullback.bench.record import CaseRecord, Entry, Record, from_json
from pullback.bench.report import targets_text
from pullback.bench.session import Options, Session, contenders
from pullback.bench.suite import Case, Kernel, cases, find, shipped

needs_compiler = pytest.mark.skipif(compiler() is None, reason="there is no C compiler")


def kernel(name: str, suite: str = "micro") -> Kernel:
    return find(shipped(), [suite], [name])[0]


# ------------------------------------------------------------------------------------------------------- targets


def test_pullback_takes_part_unless_its_targets_are_named() -> None:
    assert contenders(["numpy"]) == ["pullback", "hand"]
    assert contenders(["pullback:numpy"]) == ["pullback:numpy", "hand"]
    assert contenders(["pullback:native", "pullback:numpy"]) == ["pullback:numpy", "pullback:native", "hand"]
    assert "pullback" in contenders(None) and not any(":" in name for name in contenders(None))


def test_a_target_is_in_the_environment_of_its_process_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PULLBACK_TARGET", raising=False)
    given = Options(target="numpy")
    assert given.environment("pullback") == {"PULLBACK_TARGET": "numpy"}
    assert given.environment("pullback:native") == {"PULLBACK_TARGET": "native"}
    assert given.environment("jax") == given.environment("numpy") == Options().environment("pullback") == {}
    assert (given.recorded()["target"], Options().recorded()["target"]) == ("numpy", "auto")
    monkeypatch.setenv("PULLBACK_TARGET", "native")
    assert Options().recorded()["target"] == "native"


@needs_compiler
def test_both_targets_in_one_run(tmp_path: Path) -> None:
    found = find(tiny.write(tmp_path), ["tiny"], ["right"])
    names = ["pullback:numpy", "pullback:native"]
    record = Session(Options(slot=0.05, compile_times=False), names).run(found)
    assert record.ours == ["pullback:numpy", "pullback:native"] and record.main == "pullback:native"
    entries = [record.cases[0].entries[name] for name in record.ours]
    assert [(entry.status, entry.target) for entry in entries] == [("ok", "numpy"), ("ok", "native")]
    assert record.to_json() == from_json(record.to_json()).to_json()


@pytest.mark.parametrize(
    "target, before, after", [("numpy", "numpy", "numpy"), ("auto", "waiting", "native")]
)
def test_calls_are_timed_when_they_have_settled(
    target: str, before: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if target == "auto" and compiler() is None:
        pytest.skip("there is no C compiler")
    monkeypatch.setenv("PULLBACK_TARGET", target)
    fresh = {"numpy": "softplus", "auto": "gelu"}[target]  # what is compiled is kept with the function
    program = PEERS["pullback"].program(kernel(fresh), (np.linspace(-1.0, 1.0, 7),), [])
    assert program.served() == ""
    program.call()
    assert program.served() == before
    program.settle(60.0)
    assert program.served() == after


def test_the_report_names_what_numpy_served() -> None:
    made = [
        CaseRecord("s", name, "S", {}, "", {"pullback:native": Entry("ok", target=target)})
        for name, target in (("a", "native"), ("b", "numpy"))
    ]
    assert targets_text(Record({"contenders": ["pullback:native"]}, made)).endswith("at s/b")
    assert targets_text(Record({"contenders": ["pullback:native"]}, made[:1])) == ""


def test_the_main_contender_of_a_record() -> None:
    def of(*names: str) -> str:
        return Record({"contenders": list(names)}, []).main

    assert of("pullback", "pullback:native", "jax") == "pullback"
    assert of("pullback:numpy", "pullback:native", "pullback:auto") == "pullback:native"
    assert of("pullback:numpy", "jax") == "pullback:numpy"
    assert of("jax") == "pullback"


def test_each_contender_has_a_look_in_plots() -> None:
    assert PEERS.keys() <= LOOKS.keys()


# ------------------------------------------------------------------------------------------------------- threads


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system cannot bind processes")
def test_what_is_started_is_bound_to_as_many_cores_as_it_has_threads() -> None:
    before = os.sched_getaffinity(0)
    with bound_to(1):
        told = subprocess.run(
            [sys.executable, "-c", "import os; print(len(os.sched_getaffinity(0)))"],
            capture_output=True,
            text=True,
        )
    assert told.stdout.strip() == "1" and os.sched_getaffinity(0) == before
    with bound_to(10**6):  # more than there are: all of them
        assert os.sched_getaffinity(0) == before


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system cannot bind processes")
def test_a_contender_is_bound(tmp_path: Path) -> None:
    folder = tiny.write(tmp_path)
    spy = "import os\n\n\ndef value_and_grad(x, k):\n    return len(os.sched_getaffinity(0)), (x, k)\n"
    (folder / "tiny" / "in_hand" / "right.py").write_text(spy)
    case = cases(find(folder, ["tiny"], ["right"]), "S")[0]
    process = Process("hand", 1)
    try:
        assert process.ask("open", case, timeout=60.0).result.value == 1
    finally:
        process.stop()


# ------------------------------------------------------------------------------------------------- reused arrays


def test_reused_is_no_size_of_the_kernel() -> None:
    found = cases([kernel("bump")], "L")
    assert [case.label for case in found] == ["n=10000000", "n=10000000 reused"]
    assert [case.reused for case in found] == [False, True]
    assert found[0].sizes == found[1].sizes == {"n": 10**7}


def opened(name: str, case: Case) -> Any:
    contender = Contender(name, 1)
    return contender.open(case), contender


@needs_compiler
@pytest.mark.parametrize("name", ["bump", "black_scholes", "logistic"])
def test_a_gradient_in_c_goes_into_the_same_arrays(name: str) -> None:
    case = Case(kernel(name), "S", {"n": 50}, reused=True)
    found, contender = opened("c", case)
    plain, _ = opened("c", Case(kernel(name), "S", {"n": 50}))
    for reused, fresh in zip(found.result.bars[0], plain.result.bars[0], strict=True):
        np.testing.assert_array_equal(reused, fresh)
    assert found.remark == ""
    first, second = (contender.program.unpack(contender.program.call()) for _ in range(2))
    arrays = [k for k, bar in enumerate(first.bars[0]) if np.ndim(bar)]
    assert arrays and all(np.shares_memory(first.bars[0][k], second.bars[0][k]) for k in arrays)


def test_what_cannot_reuse_arrays_says_so() -> None:
    found, _ = opened("hand", Case(kernel("softplus"), "S", {"n": 5}, reused=True))
    assert found.remark == FRESH and np.isfinite(found.result.bars[0][0]).all()
    assert opened("numpy", Case(kernel("softplus"), "S", {"n": 5}, reused=True))[0].remark == ""


def test_means_leave_reused_cases_out() -> None:
    from tests.bench.test_command import _entry

    made = [
        CaseRecord("s", "a", "S", {}, "", entries={"numpy": _entry(1.0), "pullback": _entry(2.0)}),
        CaseRecord(
            "s", "a", "S reused", {}, "", reused=True, entries={"numpy": _entry(1.0), "pullback": _entry(9.0)}
        ),
    ]
    assert Record({"contenders": ["pullback"]}, made).mean("s", "pullback") == (pytest.approx(2.0), 1)


# --------------------------------------------------------------------------------------------- the bound of memory


@needs_compiler
@pytest.mark.parametrize("reused", [False, True])
@pytest.mark.parametrize("name, reads", [("bump", 1), ("logistic", 2), ("black_scholes", 4)])
def test_memory_reads_all_and_writes_all(name: str, reads: int, reused: bool) -> None:
    case = Case(kernel(name), "S", {"n": 40}, reused=reused)
    found, _ = opened("memory", case)
    arrays = [a for a in case.inputs() if isinstance(a, np.ndarray)]
    assert len(arrays) == reads and found.remark == ""
    total = np.sum(arrays, axis=0)
    np.testing.assert_allclose(found.result.value, np.sum(total), rtol=1e-12)
    for bar in found.result.bars[0]:
        np.testing.assert_allclose(bar, 0.5 * total, rtol=1e-12)


def test_memory_writes_what_it_says() -> None:
    assert "sum = x0[i] + x1[i];" in text(2, 1) and "y0[i] = 0.5 * sum;\n" in text(2, 1)


@needs_compiler
def test_a_bound_is_timed_and_not_verified(tmp_path: Path) -> None:
    folder = tiny.write(tmp_path)
    path = folder / "tiny" / "in_place.py"
    path.write_text(path.read_text().replace("WRT =", "SWEEP = True\nWRT ="))
    (case,) = (
        Session(Options("M", slot=0.05, compile_times=False), ["memory"])
        .run(find(folder, ["tiny"], ["in_place"]))
        .cases
    )
    assert case.sweep and case.entries["memory"].status == "ok" and case.entries["memory"].error is None
    assert case.entries["memory"].seconds


def test_kernels_that_are_no_sweep_have_no_bound() -> None:
    record = Session(Options(slot=0.05, compile_times=False), ["memory"]).run([kernel("trisolv", "npbench")])
    assert record.contenders == ["numpy"]
    assert not PEERS["memory"].differentiates
