"""The report of a run: tables as text cells, which a terminal or a page of the documentation lays out."""

from __future__ import annotations

from dataclasses import dataclass

from pullback.bench.groups import slower, summaries
from pullback.bench.record import CaseRecord, Entry, Record

PLAIN = "numpy"
UNVERSIONED = ("pullback", "hand", "memory")  # what has no version but ours, NumPy's or the C compiler's
MANY = 10**5  # elements from which on a case is one of throughput


@dataclass(frozen=True)
class Table:
    """The head and the rows of one table."""

    head: list[str]
    rows: list[list[str]]


def milliseconds(seconds: float) -> str:
    """A time with three digits."""
    return f"{1e3 * seconds:.3g}" if seconds < 1 else f"{1e3 * seconds:.0f}"


def factor(ratio: float) -> str:
    """A ratio with two or three digits."""
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.1f}" if ratio < 100 else f"{ratio:.0f}"


def times_table(record: Record, suite: str) -> Table:
    """One row a case: the plain function's time, then each contender's, and how many times the plain one's it is."""
    names = present(record, suite)
    head = ["kernel", "size", "NumPy ms", *names]
    return Table(head, [_row(case, names) for case in record.of(suite)])


def present(record: Record, suite: str) -> list[str]:
    """The contenders that have something to say in a suite."""
    cases = record.of(suite)
    return [
        name
        for name in record.contenders[1:]
        if any(
            case.entries[name].status not in ("absent", "skipped") for case in cases if name in case.entries
        )
    ]


def _row(case: CaseRecord, names: list[str]) -> list[str]:
    plain = case.entries[PLAIN]
    own = milliseconds(plain.seconds) if plain.seconds is not None else plain.status
    return [case.kernel, case.label, own, *(_cell(case, name) for name in names)]


def _cell(case: CaseRecord, name: str) -> str:
    entry = case.entries.get(name)
    if entry is None or entry.status == "absent":
        return "-"
    ratio = case.ratio(name)
    if entry.seconds is None or ratio is None:
        return entry.status
    return f"{milliseconds(entry.seconds)} ({factor(ratio)}x)"


def means_table(record: Record) -> Table:
    """Geometric means, a row a suite and contender, over the cases that both sides have."""
    rows = []
    for suite in record.suites:
        for name in present(record, suite):
            plain, count = record.mean(suite, name)
            if plain is None:
                continue
            ours, common = record.mean(suite, name, record.main)
            beside = "" if ours is None or name == record.main else f"{factor(ours)}x"
            rows.append([suite, name, f"{factor(plain)}x", str(count), beside, str(common) if beside else ""])
    return Table(["suite", "contender", "over plain NumPy", "cases", f"over {record.main}", "cases"], rows)


def groups_table(record: Record) -> Table:
    """Each kind of kernels beside the best library at each: how many times as fast we are."""
    rows = [
        [
            summary.group,
            summary.ours,
            f"{factor(summary.mean)}x",
            str(len(summary.found)),
            f"{factor(summary.worst.ratio)}x ({summary.worst.case.kernel} {summary.worst.case.label})",
        ]
        for summary in summaries(record)
    ]
    return Table(["group", "contender", "best library's time over its", "cases", "least"], rows)


def slower_text(record: Record) -> str:
    """Which cases are slower than the best library; "" where none is."""
    texts = []
    for ours in record.ours:
        found = [v for name, v in slower(record) if name == ours]
        words = ", ".join(
            f"{v.case.suite}/{v.case.kernel} {v.case.label} ({factor(v.ratio)}x, {v.peer})" for v in found
        )
        if found:
            texts.append(f"{ours} is slower than the best library at {len(found)} cases: {words}")
    return "\n\n".join(texts)


def targets_text(record: Record) -> str:
    """Where the native target did not serve, though it might have; "" where it did, or was not asked for."""
    texts = []
    for ours in record.ours:
        entries = [(case, case.entries[ours]) for case in record.cases if ours in case.entries]
        timed = [(case, entry) for case, entry in entries if entry.target]
        others = dict.fromkeys(
            f"{case.suite}/{case.kernel}" for case, entry in timed if entry.target != "native"
        )
        if others and any(entry.target == "native" for _, entry in timed):
            texts.append(f"{ours} was served by NumPy, not by the native target, at {', '.join(others)}")
    return "\n\n".join(texts)


def elements_table(record: Record) -> Table:
    """Nanoseconds an element, where one pass over the arguments is all; the bound that memory sets is beside it."""
    cases = [case for case in record.cases if case.sweep and case.sizes.get("n", 0) >= MANY]
    names = [
        name
        for name in record.contenders
        if any(name in case.entries and case.entries[name].seconds is not None for case in cases)
    ]
    rows = [[case.kernel, case.label, *(_nanoseconds(case, name) for name in names)] for case in cases]
    head = ["kernel, ns an element", "size", *names]
    if "memory" in names:
        rows = [[*row, _over_memory(case, record.main)] for row, case in zip(rows, cases, strict=True)]
        head.append(f"{record.main} over memory")
    return Table(head, rows)


def _nanoseconds(case: CaseRecord, name: str) -> str:
    entry = case.entries.get(name)
    seconds = entry.seconds if entry is not None else None
    return f"{1e9 * seconds / case.sizes['n']:.3g}" if seconds is not None else ""


def _over_memory(case: CaseRecord, ours: str) -> str:
    ratio = case.ratio(ours, "memory")
    return f"{factor(ratio)}x" if ratio is not None else ""


def overhead_table(record: Record) -> Table:
    """What a call costs on a single number, in microseconds: the cases with n = 1."""
    rows = []
    for suite in record.suites:
        names = [PLAIN, *present(record, suite)]
        for case in record.of(suite):
            if case.sizes == {"n": 1}:
                times = [case.entries[n].seconds if n in case.entries else None for n in names]
                rows.append((case.kernel, dict(zip(names, times, strict=True))))
    names = [n for n in record.contenders if any(found.get(n) is not None for _, found in rows)]
    cells = [
        [kernel, *(f"{1e6 * t:.3g}" if (t := found.get(n)) else "" for n in names)] for kernel, found in rows
    ]
    return Table(["kernel at n = 1, µs", *names], cells)


def compile_table(record: Record) -> Table:
    """Compile times, where a contender has them: the median and the worst of each suite."""
    rows = []
    for suite in record.suites:
        for name in present(record, suite):
            entries = [(case.kernel, case.entries[name]) for case in record.of(suite) if name in case.entries]
            cold = sorted((e.compile_cold, k) for k, e in entries if e.compile_cold is not None)
            cached = sorted(e.compile_cached for _, e in entries if e.compile_cached is not None)
            if cold:
                worst, kernel = cold[-1]
                rows.append(
                    [
                        suite,
                        name,
                        milliseconds(cold[len(cold) // 2][0]),
                        f"{milliseconds(worst)} ({kernel})",
                        milliseconds(cached[len(cached) // 2]) if cached else "no cache",
                    ]
                )
    return Table(["suite", "contender", "cold, median ms", "cold, worst ms", "cached, median ms"], rows)


def memory_table(record: Record) -> Table:
    """Peak memory of one gradient, for the case of each kernel in which the plain function takes longest."""
    rows = []
    for suite in record.suites:
        names = [PLAIN, *present(record, suite)]
        for case in _largest(record.of(suite)):
            cells = [_bytes(case.entries.get(name)) for name in names]
            if any(cells):
                rows.append([suite, f"{case.kernel} {case.label}", *cells])
    names = record.contenders
    return Table(["suite", "case", *names], [row + [""] * (2 + len(names) - len(row)) for row in rows])


def _largest(cases: list[CaseRecord]) -> list[CaseRecord]:
    by_kernel: dict[str, CaseRecord] = {}
    for case in (case for case in cases if not case.reused):
        best = by_kernel.get(case.kernel)
        if best is None or (case.entries[PLAIN].seconds or 0) > (best.entries[PLAIN].seconds or 0):
            by_kernel[case.kernel] = case
    return list(by_kernel.values())


def _bytes(entry: Entry | None) -> str:
    return f"{entry.memory / 1e6:.1f}" if entry is not None and entry.memory is not None else ""


def verification(record: Record) -> str:
    """That the verification failed, and how often; "" where every gradient that was found is right."""
    statuses = [entry.status for case in record.cases for entry in case.entries.values()]
    words = (("wrong", "wrong"), ("unverified", "not settled by differences and the other contenders"))
    counts = [f"{statuses.count(status)} {text}" for status, text in words if status in statuses]
    return f"verification failed: gradients {', '.join(counts)}; none of them was timed" if counts else ""


def problems(record: Record) -> list[tuple[str, str, str, str]]:
    """What was not timed, and why, or timed with a remark: cases, contender, status, reason.

    Cases of a kernel, and contenders, that share the rest are one line.
    """
    found: dict[tuple[str, str, str], dict[str, list[str]]] = {}
    for case in record.cases:
        for name, entry in case.entries.items():
            if entry.status != "absent" and (entry.status != "ok" or entry.reason):
                key = (f"{case.suite}/{case.kernel}", entry.status, entry.reason)
                found.setdefault(key, {}).setdefault(name, []).append(case.label)
    return [
        (f"{kernel} ({_several(labels)})", ", ".join(names), status, reason)
        for (kernel, status, reason), names in found.items()
        for labels in [next(iter(names.values()))]
    ]


def _several(labels: list[str]) -> str:
    return f"{labels[0]}{', ...' if len(labels) > 1 else ''}"


def notes(record: Record) -> list[tuple[str, str]]:
    """What the suites say of their kernels."""
    return list({f"{case.suite}/{case.kernel}": case.note for case in record.cases if case.note}.items())


def setting(record: Record) -> str:
    """One line: where and with what the run was made."""
    facts = record.about
    versions = ", ".join(
        f"{n} {v}" for n, v in facts["versions"].items() if n.split(":")[0] not in UNVERSIONED
    )
    commit = f" at {facts['commit']}{' with changes' if facts['dirty'] else ''}" if facts["commit"] else ""
    threads = facts["options"]["threads"]
    return (
        f"{facts['date']}, pullback {facts['pullback']}{commit}, Python {facts['python']}, NumPy {facts['numpy']}"
        f"{', ' if versions else ''}{versions}; {facts['cpu']}, {facts['cores']} cores, {threads} thread"
        f"{'s' if threads != 1 else ''} a contender"
    )
