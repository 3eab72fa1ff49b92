"""How long compiling takes: the corpus, a very long function, importing the package."""

from __future__ import annotations

import copy
import importlib.util
import itertools
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import pullback as pb
from benchmarks.limits.measure import Line

ROOT = Path(__file__).parents[2]


def corpus() -> Iterator[Line]:
    """First call less second call, for each program of the corpus, with the rule tables loaded."""
    sys.path.insert(0, str(ROOT))
    from tests.programs import all_programs

    seconds: dict[str, float] = {}
    refused = 0
    for program in all_programs():
        try:
            seconds[program.name] = min(_compile_seconds(program) for _ in range(2))
        except (pb.PullbackError, RecursionError):
            refused += 1
    worst = max(seconds, key=seconds.__getitem__)
    note = f"{len(seconds)} programs" + (f", {refused} not compiled" if refused else "")
    yield Line(
        "compile: median program of the corpus",
        1e3 * statistics.median(seconds.values()),
        "ms",
        60,
        note=note,
    )
    yield Line("compile: worst program of the corpus", 1e3 * seconds[worst], "ms", 500, note=worst)


def _compile_seconds(program: Any) -> float:
    compiled = pb.differentiable(program.fn)  # a new one, that has compiled nothing
    times = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for _ in range(2):
            args = copy.deepcopy(program.args)
            start = time.process_time()
            compiled.value_and_grad(*args, argnums=program.wrt)
            times.append(time.process_time() - start)
    return max(times[0] - times[1], 0.0)


def long_function(sizes: tuple[int, ...] = (5_000, 10_000, 20_000)) -> Iterator[Line]:
    """Straight-line functions of thousands of statements."""
    seconds = {n: _long_seconds(n) for n in sizes}
    for small, large in itertools.pairwise(sizes):
        ratio = seconds[large] / seconds[small]
        yield Line(f"compile: {large:,} statements over {small:,}", ratio, "x", 2.6)
    yield Line(f"compile: {sizes[-1]:,} statements", seconds[sizes[-1]], "s")


def _long_seconds(n: int) -> float:
    names = [f"x{k}" for k in range(20)]
    lines = [f"    {name} = x * {k + 1}.5" for k, name in enumerate(names)]
    for i in range(n - 21):
        a, b, c = names[i % 20], names[(7 * i + 3) % 20], names[(3 * i + 1) % 20]
        lines.append(f"    {a} = {('np.sin({})', '{} * 0.5')[i % 2].format(b)} + {c}")
    text = "\n".join(["import numpy as np", "", "", "def f(x):", *lines, "    return np.sum(x0)", ""])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"long_{n}.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        gradient = pb.value_and_grad(module.f)
        start = time.process_time()
        gradient(np.ones(3))
        return time.process_time() - start


def import_time() -> Iterator[Line]:
    """`import pullback` where NumPy is imported already, in a fresh process."""
    script = (
        "import time, numpy; t = time.process_time(); import pullback; print(1e3 * (time.process_time() - t))"
    )
    path = str(Path(pb.__file__).parent.parent)
    times = [
        float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=path).stdout)
        for _ in range(7)
    ]
    yield Line("import pullback over import numpy", min(times), "ms", 60)
