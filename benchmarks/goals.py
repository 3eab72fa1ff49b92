"""What the native target must show, held against records of `pullback bench`: `python benchmarks/goals.py RECORD...`

    pullback bench micro npbench adbench --peers jax,autograd,c,memory,pullback:numpy,pullback:native --json s.json
    pullback bench micro --size L --threads 2 --peers jax,c,memory,pullback:native --json l2.json
    python benchmarks/goals.py s.json l2.json

Each line is a goal: what is wanted, what was measured, and whether it is met.  Several records are taken together:
sizes S, M and L, one thread and two.  Exit code 1 says that a goal is missed, or that nothing was measured for it.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pullback.bench import record as records
from pullback.bench.groups import libraries, versus
from pullback.bench.record import CaseRecord, Record
from pullback.bench.timing import geometric_mean
from pullback.errors import PullbackError

PAR = 0.95  # "on par": what two runs of one program differ by
REFERENCES = 6  # kernels of npbench with adjoint loops in C
ELSEWHERE = (
    "counts of fused kernels (tests/seed)",
    "the corpus and random programs on both targets, and under sanitizers (tests)",
    "memory of a gradient through time steps, and leaks over many calls (tests)",
    "bad input: compilers, caches and arrays of all kinds (tests)",
    "no kernel treated specially: a kernel renamed and changed is as fast (tests)",
)

Measure = tuple[float, str]  # a figure, and what it is of


@dataclass(frozen=True)
class Goal:
    """One line of what must be shown."""

    text: str
    wanted: float
    most: bool  # at most; else at least
    found: Measure | None

    @property
    def met(self) -> bool | None:
        """Whether it is; None where nothing was measured."""
        if self.found is None:
            return None
        return self.found[0] <= self.wanted if self.most else self.found[0] >= self.wanted

    def __str__(self) -> str:
        verdict = {True: "met", False: "MISSED", None: "missing"}[self.met]
        measured = "nothing measured" if self.found is None else f"{self.found[0]:.3g}  {self.found[1]}"
        return f"{verdict:8}{self.text:<66} {'<=' if self.most else '>='} {self.wanted:<6g} {measured}"


@dataclass(frozen=True)
class Seen:
    """A case, in the record that it is of."""

    case: CaseRecord
    record: Record
    ours: str

    @property
    def threads(self) -> int:
        """Of each contender."""
        return int(self.record.about["options"]["threads"])

    @property
    def size(self) -> str:
        """The preset that was asked for."""
        return str(self.record.about["options"]["size"])

    @property
    def native(self) -> bool:
        """Whether ours ran on the native target, and on no other."""
        return self.ours == "pullback:native" or self.record.about["options"].get("target") == "native"

    @property
    def label(self) -> str:
        """A name for the table."""
        return f"{self.case.kernel} {self.case.label}"

    def over(self, peer: str) -> float | None:
        """How many times as fast as another contender ours is."""
        return self.case.ratio(peer, self.ours)

    def over_best(self) -> float | None:
        """How many times as fast as the fastest library."""
        found = versus(self.case, self.ours, libraries(self.record))
        return found.ratio if found is not None else None


Ratio = Callable[[Seen], "float | None"]


def over(peer: str) -> Ratio:
    """Ours beside one contender: how many times as fast."""
    return lambda seen: seen.over(peer)


def share_of(peer: str) -> Ratio:
    """Ours beside one contender: how many times its time."""
    return lambda seen: seen.case.ratio(seen.ours, peer)


def least(seen: Iterable[Seen], ratio: Ratio) -> Measure | None:
    """The smallest ratio, and where."""
    found = [(r, s.label) for s in seen if (r := ratio(s)) is not None]
    return min(found, default=None)


def greatest(seen: Iterable[Seen], ratio: Ratio) -> Measure | None:
    """The largest ratio, and where."""
    found = [(r, s.label) for s in seen if (r := ratio(s)) is not None]
    return max(found, default=None)


def mean(seen: Iterable[Seen], ratio: Ratio) -> Measure | None:
    """The geometric mean."""
    found = [r for s in seen if (r := ratio(s)) is not None]
    middle = geometric_mean(found)
    return None if middle is None else (middle, f"of {len(found)} cases")


def at_least(text: str, wanted: float, found: Measure | None) -> Goal:
    """A goal that is a lower bound."""
    return Goal(text, wanted, False, found)


def at_most(text: str, wanted: float, found: Measure | None) -> Goal:
    """A goal that is an upper bound."""
    return Goal(text, wanted, True, found)


# -------------------------------------------------------------------------------------------------------- suites


def micro(all_seen: Sequence[Seen]) -> Iterator[Goal]:
    """Chains of elementwise functions."""
    chains = [s for s in all_seen if s.case.suite == "micro" and s.case.group == "chain"]
    for threads in (1, 2):
        mine = [s for s in chains if s.threads == threads]
        many = [s for s in mine if s.case.sizes["n"] in (10**5, 10**6) and not s.case.reused]
        huge = [s for s in mine if s.case.sizes["n"] == 10**7 and s.case.reused]
        head = f"micro, {threads} thread{'s' if threads > 1 else ''}"
        yield at_least(f"{head}, 10^5 to 10^6: each chain over JAX", 2.0, least(many, over("jax")))
        yield at_least(f"{head}, 10^5 to 10^6: mean over JAX", 2.5, mean(many, over("jax")))
        yield at_most(
            f"{head}, 10^5 to 10^6: over the hand-written loop", 1.25, greatest(many, share_of("c"))
        )
        yield at_least(f"{head}, 10^7 reused: over JAX", 4.0, least(huge, over("jax")))
        yield at_most(f"{head}, 10^7 reused: over the memory limit", 1.6, greatest(huge, share_of("memory")))
    few = [s for s in chains if s.case.sizes["n"] in (1, 10)]
    yield at_least("micro, n = 1 and 10: over JAX", 8.0, least(few, over("jax")))
    yield from calls([s for s in few if s.case.sizes["n"] == 1])


def calls(seen: Sequence[Seen]) -> Iterator[Goal]:
    """What a call costs, with Python's headers and without."""
    for headers, wanted in ((True, 1.5), (False, 8.0)):
        those = [s for s in seen if s.record.about.get("headers") is headers]
        times = [(1e6 * t, s.label) for s in those if (t := s.case.entries[s.ours].seconds) is not None]
        where = "with" if headers else "without"
        yield at_most(f"a call, {where} Python's headers, microseconds", wanted, max(times, default=None))


def npbench(all_seen: Sequence[Seen]) -> Iterator[Goal]:
    """Kernels, by group."""
    suite = [s for s in all_seen if s.case.suite == "npbench"]
    small = [s for s in suite if s.size == "S"]
    best: Ratio = Seen.over_best
    no_blas = [s for s in small if s.case.group not in ("", "blas")]
    untimed = [s.case.kernel for s in small if s.case.entries[s.ours].seconds is None]
    failed = (float(len(untimed)), ", ".join(untimed)) if small else None
    yield at_most("npbench S: kernels of which ours was not timed", 0.0, failed)
    yield at_least("npbench S: mean over the best peer (4 is the goal)", 3.0, mean(small, best))
    yield at_least("npbench S without BLAS kernels: mean over the best peer", 5.0, mean(no_blas, best))
    yield at_least("npbench S: no kernel slower than the best peer", 1.0, least(small, best))
    yield at_least("npbench M: mean over JAX", 5.0, mean([s for s in suite if s.size == "M"], over("jax")))
    stencils, triangular, blas = (
        [s for s in small if s.case.group == group] for group in ("stencil", "triangular", "blas")
    )
    yield at_least("vector stencils: each over the best peer", 1.3, least(stencils, best))
    yield at_least("vector stencils: mean over the best peer", 2.5, mean(stencils, best))
    yield at_least("in-place and triangular loops: each over JAX", 2.0, least(triangular, over("jax")))
    yield at_least("in-place and triangular loops: mean over JAX", 10.0, mean(triangular, over("jax")))
    yield at_least("BLAS kernels: each on par with the best peer", PAR, least(blas, best))
    nets = [s for s in small if s.case.kernel in ("softmax", "conv2d", "lenet")]
    yield at_least("softmax, conv2d, lenet: each over the best peer", 1.3, least(nets, best))
    yield at_most("gradient over the NumPy primal: mean", 0.5, mean(small, share_of("numpy")))
    yield at_most("gradient over the NumPy primal, no BLAS: mean", 0.3, mean(no_blas, share_of("numpy")))
    yield at_most(f"adjoint loops in C, {REFERENCES} kernels: over each", 1.5, _references(small))


def _references(seen: Sequence[Seen]) -> Measure | None:
    with_c = [s for s in seen if share_of("c")(s) is not None]
    found = greatest(with_c, share_of("c"))
    if found is None or len(with_c) >= REFERENCES:
        return found
    return math.inf, f"only {len(with_c)} of {REFERENCES} were timed; the slowest: {found[0]:.3g} {found[1]}"


def adbench(all_seen: Sequence[Seen]) -> Iterator[Goal]:
    """Objectives of ADBench."""
    kernels = {
        name: [s for s in all_seen if s.case.suite == "adbench" and s.case.kernel == name]
        for name in ("gmm", "ba", "lstm")
    }
    yield at_least("adbench GMM: mean, on par with JAX", PAR, mean(kernels["gmm"], over("jax")))
    yield at_least(
        "adbench bundle adjustment: over JAX (6 is the goal)", 4.0, least(kernels["ba"], over("jax"))
    )
    yield at_least("adbench LSTM: over JAX (scan)", 1.1, least(kernels["lstm"], over("jax")))
    yield at_least("adbench LSTM: over autograd", 500.0, least(kernels["lstm"], over("autograd")))


def compile_times(all_seen: Sequence[Seen], baseline: Record | None) -> Iterator[Goal]:
    """First calls."""
    suite = [s for s in all_seen if s.case.suite == "npbench"]
    own = [s.case.entries[s.ours] for s in suite if s.native]
    cold = [1e3 * e.compile_cold for e in own if e.compile_cold is not None]
    cached = [1e3 * e.compile_cached for e in own if e.compile_cached is not None]
    yield at_most("compile, native, cold: median kernel, ms", 600.0, _median(cold))
    yield at_most("compile, native, cached: median kernel, ms", 10.0, _median(cached))
    yield at_most("compile, numpy target: over the baseline (mean)", 1.1, _as_before(suite, baseline))


def _median(found: list[float]) -> Measure | None:
    return (statistics.median(found), f"of {len(found)} kernels") if found else None


def _as_before(seen: Sequence[Seen], baseline: Record | None) -> Measure | None:
    """The numpy target's cold compile times over those of an older record."""
    if baseline is None:
        return None
    before = {
        case.key: case.entries["pullback"].compile_cold
        for case in baseline.cases
        if "pullback" in case.entries
    }
    ratios = [
        entry.compile_cold / old
        for s in seen
        if (entry := s.case.entries.get("pullback:numpy")) is not None
        and entry.compile_cold is not None
        and (old := before.get(s.case.key))
    ]
    middle = geometric_mean(ratios)
    return None if middle is None else (middle, f"of {len(ratios)} kernels")


def goals(found: Sequence[Record], ours: str | None = None, baseline: Record | None = None) -> list[Goal]:
    """All goals that records can tell of.

    ours  the contender that is held to them; by default the native target where it is a column of its own
    """
    seen: dict[tuple[str, int, str], Seen] = {}
    for record in found:
        name = ours or ("pullback:native" if "pullback:native" in record.contenders else record.main)
        for case in record.cases:
            one = Seen(case, record, name)
            if name in case.entries:
                seen.setdefault((case.key, one.threads, one.size), one)
    everything = list(seen.values())
    return [
        *micro(everything),
        *npbench([s for s in everything if s.threads == 1]),
        *adbench([s for s in everything if s.threads == 1 and s.size == "S"]),
        *compile_times([s for s in everything if s.threads == 1 and s.size == "S"], baseline),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the records and print a line a goal."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("records", nargs="+", type=Path)
    parser.add_argument(
        "--ours", help="the contender that is held to the goals; else pullback:native, or pullback"
    )
    parser.add_argument(
        "--baseline", type=Path, help="an older record, for compile times of the numpy target"
    )
    given = parser.parse_args(arguments)
    try:
        found = [records.read(path) for path in given.records]
        baseline = records.read(given.baseline) if given.baseline is not None else None
    except PullbackError as error:
        print(f"goals.py: error: {error}", file=sys.stderr)
        return 2
    lines = goals(found, given.ours, baseline)
    for line in lines:
        print(line)
    print("\nnot told by records: " + "; ".join(ELSEWHERE))
    met = [line.met for line in lines]
    print(
        f"{len(lines)} goals: {met.count(True)} met, {met.count(False)} missed, {met.count(None)} not measured"
    )
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
