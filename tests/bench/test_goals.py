"""The goals checker: what it reads from records, and that nothing is met that was not measured."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.goals import Goal, goals, main

from pullback.bench.record import CaseRecord, Entry, Record, about, write
from pullback.bench.timing import Times


def entry(seconds: float, **more: float) -> Entry:
    return Entry("ok", times=Times(seconds, seconds, seconds, 3, 1), **more)  # type: ignore[arg-type]


def record(cases: list[CaseRecord], size: str = "S", threads: int = 1) -> Record:
    names = ["pullback:numpy", "pullback:native", "c", "memory", "autograd", "jax"]
    return Record({**about(names, {}, {"threads": threads, "size": size}), "headers": True}, cases)


def chain(name: str, n: int, reused: bool = False, **seconds: float) -> CaseRecord:
    entries = {name.replace("native", "pullback:native"): entry(time) for name, time in seconds.items()}
    label = f"n={n}{' reused' if reused else ''}"
    return CaseRecord("micro", name, label, {"n": n}, "", entries, group="chain", sweep=True, reused=reused)


def kernel(name: str, group: str, suite: str = "npbench", **seconds: float) -> CaseRecord:
    entries = {name.replace("native", "pullback:native"): entry(time) for name, time in seconds.items()}
    return CaseRecord(suite, name, "S", {}, "", entries, group=group)


def named(lines: list[Goal], words: str) -> Goal:
    (line,) = [line for line in lines if words in line.text]
    return line


def test_nothing_measured_is_nothing_met() -> None:
    lines = goals([record([])])
    assert len(lines) > 30 and all(line.met is None for line in lines)
    assert "missing" in str(lines[0]) and "nothing measured" in str(lines[0])


def test_chains() -> None:
    lines = goals(
        [
            record(
                [
                    chain("bump", 10**5, native=1.0, jax=3.0, c=1.0),
                    chain("gelu", 10**6, native=1.0, jax=1.5, c=0.5),
                    chain("gelu", 10**7, native=9.0, jax=9.0),  # fresh arrays: no goal
                    chain("gelu", 1, native=1e-6, jax=9e-6),
                ]
            ),
            record([chain("gelu", 10**7, reused=True, native=2.0, jax=10.0, memory=1.0)], "L", threads=2),
        ]
    )
    each = named(lines, "1 thread, 10^5 to 10^6: each chain over JAX")
    assert (each.met, each.found) == (False, (1.5, "gelu n=1000000"))
    assert named(lines, "1 thread, 10^5 to 10^6: mean over JAX").found == (
        pytest.approx(4.5**0.5),
        "of 2 cases",
    )
    assert named(lines, "1 thread, 10^5 to 10^6: over the hand-written").found == (2.0, "gelu n=1000000")
    assert named(lines, "2 threads, 10^7 reused: over JAX").met
    assert named(lines, "2 threads, 10^7 reused: over the memory limit").met is False
    assert named(lines, "1 thread, 10^7 reused: over JAX").met is None
    assert named(lines, "n = 1 and 10: over JAX").met
    assert named(lines, "a call, with Python's headers").found == (pytest.approx(1.0), "gelu n=1")
    assert named(lines, "a call, without Python's headers").met is None


def test_kernels_beside_the_best_peer() -> None:
    lines = goals(
        [
            record(
                [
                    kernel("jacobi_2d", "stencil", numpy=4.0, native=1.0, jax=8.0, autograd=2.0, c=0.1),
                    kernel("gemm", "blas", numpy=1.0, native=1.0, jax=0.5),
                    kernel("lu", "triangular", numpy=4.0, native=1.0, jax=40.0),
                    kernel("gmm", "", "adbench", native=1.0, jax=0.96),
                ]
            ),
            record([kernel("lu", "triangular", native=1.0, jax=9.0, autograd=1.0)], "M"),
        ]
    )
    assert named(lines, "npbench S: mean over the best").found == (
        pytest.approx(40.0 ** (1 / 3)),
        "of 3 cases",
    )
    assert named(lines, "without BLAS").found == (pytest.approx(80.0**0.5), "of 2 cases")
    assert named(lines, "ours was not timed").met
    slowest = named(lines, "no kernel slower")
    assert slowest.met is False and slowest.found == (0.5, "gemm S")
    assert named(lines, "npbench M: mean over JAX").found == (pytest.approx(9.0), "of 1 cases")
    assert named(lines, "vector stencils: each").found == (2.0, "jacobi_2d S")
    assert named(lines, "triangular loops: mean").met
    assert named(lines, "NumPy primal, no BLAS").found == (pytest.approx(0.25), "of 2 cases")
    assert named(lines, "GMM").met
    few = named(lines, "adjoint loops in C")  # one of six is not enough to say anything
    assert few.met is False and few.found is not None and "only 1 of 6" in few.found[1]


def test_a_kernel_that_failed_is_missed() -> None:
    bad = kernel("lu", "triangular", native=1.0, jax=9.0)
    bad.entries["pullback:native"] = Entry("wrong", "x[3]")
    line = named(goals([record([bad])]), "ours was not timed")
    assert line.met is False and line.found == (1.0, "lu")


def test_compile_times() -> None:
    case = kernel("lu", "triangular", native=1.0)
    case.entries["pullback:native"] = entry(1.0, compile_cold=0.5, compile_cached=0.02)
    case.entries["pullback:numpy"] = entry(1.0, compile_cold=0.2)
    old = CaseRecord("npbench", "lu", "S", {}, "", {"pullback": entry(1.0, compile_cold=0.1)})
    lines = goals([record([case])], baseline=record([old]))
    assert named(lines, "native, cold").found == (500.0, "of 1 kernels")
    assert named(lines, "native, cached").met is False
    assert named(lines, "numpy target").found == (pytest.approx(2.0), "of 1 kernels")


def test_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(record([chain("bump", 10**5, native=1.0, jax=3.0, c=1.0)]), tmp_path / "a.json")
    assert main([str(tmp_path / "a.json")]) == 1
    printed = capsys.readouterr().out
    assert "met     micro, 1 thread, 10^5 to 10^6: each chain over JAX" in printed and "0 missed" in printed
    assert main([str(tmp_path / "a.json"), "--ours", "c"]) == 1
    assert main([str(tmp_path / "none.json")]) == 2
