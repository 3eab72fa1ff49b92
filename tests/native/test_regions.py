"""Functions of which C takes parts: what runs where, and that both forms give what NumPy gives."""

from __future__ import annotations

import copy
import io
import os
import pickle
import threading
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import numpy as np
import pytest
from tests.native.against import agree, laid_out, unchanged
from tests.native.subjects import need_compiler

import pullback as pb
from differences import numerical_gradients, seed_for
from programs import all_programs
from pullback.api.seeds import shape_of
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.regions import Region, load_regions
from pullback.dispatch import background, promotion
from pullback.errors import NativeError

need_compiler()
X = np.linspace(-1.0, 1.2, 70)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Native where it is asked for, compiled quickly."""
    monkeypatch.delenv("PULLBACK_TARGET", raising=False)
    monkeypatch.setenv("PULLBACK_CFLAGS", os.environ.get("PULLBACK_CFLAGS", "-O0"))


def regions_in(
    fn: Callable[..., Any], *args: Any, module: str = "joint"
) -> tuple[Any, list[Any], list[Region]]:
    """The regions of a function, its functions with them, and the regions as they run."""
    found = pb.differentiable(fn)._gradient(0)
    variant, _ = found.find(found.bind(args, {}))
    made = variant.compiled.regions(module)
    forms = {"joint": ["value_and_grad"], "pair": ["primal", "pullback"]}[module]
    run = load_regions(made, [f"{variant.name}_{form}" for form in forms])
    return made, run, [run[0].__globals__[r.callee.name] for r in made.regions]


def quiet(fn: Callable[..., Any], *args: Any) -> Any:
    """A call whose output is not shown."""
    with redirect_stdout(io.StringIO()), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return fn(*args)


# ----------------------------------------------------------------------------------------------- the subjects


def between(x: Any, n: Any) -> Any:
    h = x
    for _ in range(n):
        h = np.tanh(h * 1.1 + x)
    print("between")
    g = h * 2.0
    for _ in range(n):
        g = np.sin(g) * 0.9 + h
    return np.sum(g)


def inside(x: Any, n: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        h = x[i]
        for j in range(n):
            h = np.sin(h) + x[j]
        total = total + h
        if i == 3:
            print("inside", i)
    return total


def branch(x: Any, n: Any) -> Any:
    total = np.sum(x * x)
    if total > 1.0:
        h = x * 1.0
        for i in range(1, n):
            h[i] = h[i - 1] * 0.9 + x[i]
        print("branch")
        total = total + np.sum(np.exp(h) * np.tanh(h) * x + np.cos(h))
    else:
        print("other branch")
    return total


def mixed_kinds(x: Any, n: Any) -> Any:
    h = x
    for _ in range(n):
        h = np.tanh(h * 1.1 + x)
    best = (h[0] > 1.0 and h[0]) or np.float32(2.0) * h[1]
    total = best * 2.0
    for i in range(n):
        total = total + np.sin(h[i]) * x[i]
    return total


def written(x: Any, n: Any) -> Any:
    grid = np.zeros(n)
    for t in range(1, n):
        for i in range(1, t):
            grid[i] = grid[i - 1] * 0.5 + x[i] * grid[i]
        grid[t] = x[t]
        print(end="")
    return np.sum(grid * grid)


SUBJECTS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (between, (X, 20)),
    (between, (X, 0)),
    (inside, (X, 30)),
    (branch, (X, 50)),
    (branch, (X * 0.01, 50)),
    (mixed_kinds, (X, 10)),
    (written, (X, 9)),
]


@pytest.mark.parametrize(("fn", "args"), SUBJECTS)
@pytest.mark.parametrize("module", ["joint", "pair"])
def test_both_forms_are_those_of_numpy(fn: Callable[..., Any], args: tuple[Any, ...], module: str) -> None:
    try:
        _, run, regions = regions_in(fn, *args, module=module)
    except Untaken:
        assert fn in (mixed_kinds, written)
        return
    wanted = quiet(pb.value_and_grad(fn, target="numpy"), *args)
    mine, theirs = copy.deepcopy(args), copy.deepcopy(args)
    for _ in range(2):
        if module == "joint":
            value, bar = quiet(run[0], *mine)
        else:
            value, residuals = quiet(run[0], *mine)
            bar = quiet(run[1], residuals, np.float64(1.0))
        agree((value, bar), wanted)
    unchanged(mine, theirs)
    assert all(r.run is not None and not r.failures for r in regions)
    assert any(r.calls for r in regions)


def test_it_is_the_derivative() -> None:
    d = pb.differentiable(target="native")(between)
    bar = quiet(d.grad, X[:9], 3)
    ((wanted,),) = quiet(numerical_gradients, between, (X[:9], 3), (0,), 1.0)
    np.testing.assert_allclose(bar, wanted, rtol=1e-6, atol=1e-8)


def test_effects_happen_once(capsys: pytest.CaptureFixture[str]) -> None:
    d = pb.differentiable(target="native")(between)
    for _ in range(2):
        d.value_and_grad(X, 3)
        assert capsys.readouterr().out == "between\n"
    d.vjp(X, 3)[1](1.0)
    assert capsys.readouterr().out == "between\n"


def test_residuals_are_copied_and_pickled() -> None:
    d = pb.differentiable(target="native")(between)
    _, residuals = quiet(d.primal, X, 4)
    wanted = quiet(pb.vjp, between, X, 4)[1](1.0)
    for each in (residuals, copy.deepcopy(residuals), pickle.loads(pickle.dumps(residuals))):
        agree(each.pull(1.0), wanted)


def test_a_region_that_fails_is_run_by_numpy() -> None:
    def reads(x: Any, n: Any) -> Any:
        total = 0.0
        print(end="")
        for i in range(n):
            total = total + x[i] * x[i]
        return total

    _, run, regions = regions_in(reads, X, 5, module="pair")
    value, _ = run[0](X, 5)
    agree(value, np.sum(X[:5] ** 2))
    for _ in range(8):
        with pytest.raises(IndexError, match="out of bounds"):
            run[0](X, 100)
    assert regions[0].failures and regions[0].run is None  # it has failed too often
    agree(run[0](X, 6)[0], np.sum(X[:6] ** 2))


def test_small_work_stays_where_it_is() -> None:
    def small(x: Any) -> Any:
        print(end="")
        return np.sum(x * x)

    with pytest.raises(Untaken, match="more than compute"):
        regions_in(small, X, module="pair")
    with pytest.raises(NativeError, match="more than compute"):
        pb.grad(small, target="native")(X)


def test_a_loop_on_numpy_copies_no_array_for_a_region() -> None:
    """Where a region would write into an array that the loop carries, it is none: each call would copy the array."""
    made, _, _ = regions_in(written, X, 9, module="pair")
    primal = made.generated.texts[0]
    assert "grid[i] =" in primal
    assert any("carries" in fault.reason for fault in made.faults)


# ------------------------------------------------------------------------------------------------ what is told


def test_explain_and_source_tell_it() -> None:
    report = pb.differentiable(between).explain(X, 3).target
    assert [u.text for u in report.untaken if "compute" in u.reason] == ['print("between")']
    assert report.untaken[0].line and report.untaken[0].file.endswith("test_regions.py")
    assert [r.name for r in report.regions][:2] == ["region_1", "region_2"]
    assert "parts that are compiled to C" in str(report) and "region_1" in str(report)
    text = pb.differentiable(between).source(X, 3, target="native")
    assert "h, h_saved = region_1(" in text and "region_2(pb_host *host" in text
    assert report.as_dict()["regions"][0]["name"] == "region_1"


# ------------------------------------------------------------------------------------------------- the choice


def test_auto_changes_to_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promotion, "ENOUGH", 0.0)
    monkeypatch.setattr(promotion, "SLOWER", 1e9)
    for fn in (between, lambda x, n: mixed_kinds(x, n)):
        d = pb.differentiable(fn)
        first = quiet(d.value_and_grad, X, 5)
        assert background.wait()
        for _ in range(promotion.RACES + 2):
            agree(quiet(d.value_and_grad, X, 5), first)
            agree(quiet(d.grad, X, 5), first[1])


def test_threads_and_forks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promotion, "ENOUGH", 0.0)

    def silent(x: Any, n: Any) -> Any:
        h = x
        for _ in range(n):
            h = np.tanh(h * 1.1 + x)
        print(end="")
        return np.sum(h * h)

    d = pb.differentiable(silent)
    inputs = [X + k for k in range(4)]
    wanted = [pb.grad(silent, target="numpy")(x, 4) for x in inputs]
    wrong: list[Any] = []

    def call(k: int) -> None:
        for _ in range(100):
            found = d.grad(inputs[k], 4)
            if not np.allclose(found, wanted[k], rtol=1e-12, atol=1e-14):
                wrong.append(found)

    threads = [threading.Thread(target=call, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert background.wait() and not wrong
    if hasattr(os, "fork"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            child = os.fork()
        if child == 0:
            found = d.grad(X, 4)
            os._exit(0 if np.allclose(found, wanted[0], rtol=1e-12, atol=1e-14) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# -------------------------------------------------------------------------------------------------- the corpus


SOME = {  # programs that are not taken whole, of every kind
    "algorithms.sinkhorn",
    "broadcasting.views_of_everything",
    "calls.recursion_that_writes_two_arrays",
    "carried.rank_grows",
    "containers.generator_expressions",
    "control_flow.array_of_one_branch_in_a_loop",
    "control_flow.newton_for_kepler",
    "everyday.monte_carlo_with_fixed_draws",
    "lists.breadth_first_by_deque",
    "lists.pairs_in_a_list",
    "lists.returns_a_list_of_pairs",
    "lists.triples_with_arrays",
}


def test_what_the_corpus_has(pytestconfig: pytest.Config) -> None:
    """Programs that are not taken whole give with regions what NumPy gives, in both forms; all of them with --long."""
    faults = []
    for program in all_programs():
        if program.refused or not (pytestconfig.getoption("long") or program.name in SOME):
            continue
        found = pb.differentiable(program.fn)._gradient(program.wrt)
        try:
            compare(found, program.args)
        except Exception as error:
            faults.append(f"{program.name}: {type(error).__name__}: {str(error)[:400]}")
    assert not faults, "\n".join(faults)


def compare(found: Any, args: tuple[Any, ...]) -> None:
    """Both forms with regions against those without."""
    mine, theirs = laid_out(args, np.copy), laid_out(args, np.copy)
    variant, values = found.find(found.bind(mine, {}))
    other = found.find(found.bind(theirs, {}))[1]
    for module in ("joint", "pair"):
        try:
            made = variant.compiled.regions(module)
        except Untaken:
            continue
        if module == "joint":
            (run,) = load_regions(made, [f"{variant.name}_value_and_grad"])
            try:
                wanted = quiet(variant.function("value_and_grad", True), *other)
            except TypeError:  # the value is no number: it has no gradient
                continue
            agree(quiet(run, *values), wanted)
        else:
            primal, pull = load_regions(made, [f"{variant.name}_primal", f"{variant.name}_pullback"])
            value, residuals = quiet(primal, *values)
            wanted, others = quiet(variant.function("primal"), *other)
            agree(value, wanted)
            seed = shape_of(value).check(seed_for(value))
            agree(quiet(pull, residuals, seed), quiet(variant.function("pullback", True), others, seed))
        unchanged(mine, theirs)
