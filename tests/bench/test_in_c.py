"""Versions in C: what the engine takes and refuses, and that each one that we ship is right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.bench import tiny

from pullback.bench.contender import Contender
from pullback.bench.errors import BenchError
from pullback.bench.peers import NoVersion
from pullback.bench.peers.compiled import compiler
from pullback.bench.peers.in_c import C, Parameter, prototype
from pullback.bench.suite import Case, Kernel, find, shipped
from pullback.bench.verify import Judge

needs_compiler = pytest.mark.skipif(compiler() is None, reason="there is no C compiler")
TINY = {
    "jacobi_2d": [{"TSTEPS": 1, "N": 5}, {"TSTEPS": 4, "N": 9}],
    "seidel_2d": [{"TSTEPS": 1, "N": 5}, {"TSTEPS": 4, "N": 9}],
    "cholesky": [{"N": 1}, {"N": 11}],
    "trmm": [{"M": 1, "N": 2}, {"M": 7, "N": 9}],
    "durbin": [{"N": 1}, {"N": 13}],
    "hdiff": [{"I": 1, "J": 1, "K": 1}, {"I": 3, "J": 4, "K": 5}],
}
VERSIONS = [
    (suite, path.stem)
    for suite in ("micro", "npbench")
    for path in sorted((shipped() / suite / "in_c").glob("*.c"))
]
RIGHT = """
#include <math.h>
#include <stdint.h>

/* A comment with a double value_and_grad(int nothing) in it. */
double value_and_grad(const double *x, double k, int64_t x_0, double *x_bar, double *k_bar, int64_t threads)
{
    double total = 0.0;
    *k_bar = 0.0;
    for (int64_t i = 0; i < x_0; i++) {
        total += sin(k * x[i]) * x[i];
        x_bar[i] = sin(k * x[i]) + k * x[i] * cos(k * x[i]);
        *k_bar += x[i] * x[i] * cos(k * x[i]);
    }
    return threads == 1 ? total : 0.0;
}
"""


def kernel_with(folder: Path, text: str) -> Kernel:
    """The kernel of the tiny suite, with a version in C."""
    tiny.write(folder)
    (folder / "tiny" / "in_c").mkdir()
    (folder / "tiny" / "in_c" / "right.c").write_text(text)
    return find(folder, ["tiny"], ["right"])[0]


def judged(case: Case, name: str = "c", threads: int = 1) -> Any:
    """The verdict on a contender at a case, in this process."""
    contender = Contender(name, threads)
    opened = contender.open(case)
    value = getattr(case.kernel.module(), case.kernel.objective)(*case.inputs())
    return Judge(case, case.inputs(), value, []).verdicts({name: opened.result}, 5.0)[name]


@needs_compiler
def test_a_version_in_c_is_right(tmp_path: Path) -> None:
    case = Case(kernel_with(tmp_path, RIGHT), "S", {"n": 5})
    assert judged(case).status == "ok"


@needs_compiler
def test_each_call_has_arrays_of_its_own(tmp_path: Path) -> None:
    kernel = kernel_with(tmp_path, RIGHT)
    peer = C()
    peer.start(1)
    args = Case(kernel, "S", {"n": 5}).inputs()
    program = peer.program(kernel, args, [])
    first, second = program.unpack(program.call()), program.unpack(program.call())
    assert not np.shares_memory(first.bars[0][0], second.bars[0][0])


@needs_compiler
@pytest.mark.parametrize("n", [0, 1])
def test_zero_size(tmp_path: Path, n: int) -> None:
    kernel = kernel_with(tmp_path, RIGHT)
    peer = C()
    peer.start(1)
    x = np.full(n, 0.5)
    program = peer.program(kernel, (x, 2.0), [])
    result = program.unpack(program.call())
    np.testing.assert_allclose(result.value, n * np.sin(1.0) * 0.5)
    assert result.bars[0][0].shape == (n,)


@needs_compiler
@pytest.mark.parametrize(
    "old, new, words",
    [
        ("double total = 0.0;", "double total = nothing;", "right.c:8:"),
        ("double value_and_grad", "double value", "no `double value_and_grad"),
        ("double *k_bar, ", "", "no parameter k_bar"),
        ("int64_t threads", "int64_t thread", "a parameter thread, which is nothing of the kernel"),
        ("int64_t x_0", "int64_t x_1", "a parameter x_1, which is nothing of the kernel"),
        ("const double *x", "const float *x", "`float *x`, the kernel a float64 array"),
        ("double k,", "double *k,", "`double *k`, the kernel a float64 number"),
        ("double k,", "long k,", "`long k`: its type is none of double,"),
    ],
)
def test_a_version_that_does_not_fit_says_why(tmp_path: Path, old: str, new: str, words: str) -> None:
    kernel = kernel_with(tmp_path, RIGHT.replace(old, new))
    peer = C()
    peer.start(1)
    with pytest.raises(BenchError) as caught:
        peer.program(kernel, Case(kernel, "S", {"n": 5}).inputs(), [])
    assert words in str(caught.value) and str(tmp_path) not in str(caught.value)


def test_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler --fast")
    assert not C().installed() and "CC" in C().way_out
    peer = C()
    peer.start(1)
    kernel = kernel_with(tmp_path, RIGHT)
    with pytest.raises(BenchError, match="no C compiler"):
        peer.program(kernel, Case(kernel, "S", {"n": 5}).inputs(), [])


def test_a_kernel_without_a_version(tmp_path: Path) -> None:
    peer = C()
    peer.start(1)
    kernel = find(tiny.write(tmp_path), ["tiny"], ["right"])[0]
    with pytest.raises(NoVersion):
        peer.program(kernel, Case(kernel, "S", {"n": 5}).inputs(), [])


def test_a_prototype_over_several_lines() -> None:
    text = "double value_and_grad(const double *A, int64_t A_0,\n    double *restrict A_bar)\n{"
    assert prototype(text) == [
        Parameter("A", "double", True),
        Parameter("A_0", "int64_t", False),
        Parameter("A_bar", "double", True),
    ]


def test_there_are_versions_of_all_chains_and_of_six_kernels() -> None:
    assert {name for suite, name in VERSIONS if suite == "micro"} == {
        kernel.name for kernel in find(shipped(), ["micro"])
    }
    assert {name for suite, name in VERSIONS if suite == "npbench"} == set(TINY)


@needs_compiler
@pytest.mark.parametrize("suite, name", VERSIONS)
def test_ours_are_right(suite: str, name: str) -> None:
    kernel = find(shipped(), [suite], [name])[0]
    for sizes in TINY.get(name, [{"n": 1}, {"n": 37}, {"n": 20011}]):  # the last is for both threads
        verdict = judged(Case(kernel, "S", sizes), threads=2)
        assert (verdict.status, verdict.reason) == ("ok", "")
