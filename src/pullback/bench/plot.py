"""A picture of a record that is read at a glance: gradients over plain NumPy, on logarithmic scales."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pullback.bench.errors import BenchError
from pullback.bench.record import CaseRecord, Record
from pullback.bench.report import factor, present

LOOKS = {  # colour and marker of each contender; the same in every picture
    "pullback": ("#d62728", "o"),
    "pullback:numpy": ("#f4a6a6", "o"),
    "pullback:native": ("#d62728", "P"),
    "pullback:auto": ("#a50f15", "o"),
    "hand": ("#7f7f7f", "|"),
    "c": ("#000000", "*"),
    "memory": ("#cccccc", "_"),
    "autograd": ("#1f77b4", "s"),
    "jax": ("#2ca02c", "^"),
    "torch": ("#ff7f0e", "D"),
    "advect": ("#9467bd", "v"),
    "numba": ("#8c564b", "P"),
}
FORMATS = (".png", ".svg", ".pdf")


def check(path: Path) -> None:
    """Whether a picture can be written there.  Raises BenchError."""
    if path.suffix not in FORMATS:
        raise BenchError(f"a plot is written as {', '.join(FORMATS)}; not as {path.suffix or path.name!r}")
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise BenchError("a plot needs matplotlib", hint="pip install 'pullback[bench]'") from error


def draw(record: Record, path: Path) -> None:
    """Write the picture."""
    check(path)
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "pullback", "font.size": 9, "svg.fonttype": "path"}):
        figure = _figure(record)
        metadata: dict[str, Any] = {"Date": None} if path.suffix == ".svg" else {}
        figure.savefig(path, dpi=130, metadata=metadata)


def _figure(record: Record) -> Any:
    from matplotlib.figure import Figure

    suites = [
        suite for suite in record.suites if any(case.ratio(n) for case in record.of(suite) for n in LOOKS)
    ]
    if not suites:
        raise BenchError("nothing was timed: there is nothing to plot")
    heights = [_height(record, suite) for suite in suites]
    figure = Figure(figsize=(10.0, sum(heights) + 0.6), layout="constrained")
    parts = figure.subfigures(len(suites), 1, height_ratios=heights, squeeze=False)[:, 0]
    for suite, part in zip(suites, parts, strict=True):
        (_lines if _swept(record, suite) else _dots)(record, suite, part)
    figure.suptitle("value and gradient, time over the plain NumPy function", fontsize=11)
    return figure


def _height(record: Record, suite: str) -> float:
    """Inches."""
    if _swept(record, suite):
        return 3.0 * -(-len(_kernels(record, suite)) // 3)
    return 1.1 + 0.19 * len(record.of(suite))


def _kernels(record: Record, suite: str) -> list[str]:
    return list(dict.fromkeys(case.kernel for case in record.of(suite)))


def _swept(record: Record, suite: str) -> bool:
    """Whether all kernels of a suite run over several values of one number."""
    cases = record.of(suite)
    names = {tuple(case.sizes) for case in cases}
    return len(names) == 1 and len(next(iter(names))) == 1 and len(cases) >= 3 * len(_kernels(record, suite))


def _lines(record: Record, suite: str, part: Any) -> None:
    """One panel a kernel, over the size."""
    kernels, names = _kernels(record, suite), present(record, suite)
    axes = part.subplots(-(-len(kernels) // 3), 3, squeeze=False, sharex=True, sharey=True)
    for axis in axes.flat[len(kernels) :]:
        axis.set_visible(False)
    for kernel, axis in zip(kernels, axes.flat, strict=False):
        cases = [case for case in record.of(suite) if case.kernel == kernel]
        for name in names:
            points = [
                (next(iter(c.sizes.values())), r)
                for c in cases
                if not c.reused and (r := c.ratio(name)) is not None
            ]
            colour, marker = LOOKS[name]
            if points:
                axis.plot(*zip(*points, strict=True), color=colour, marker=marker, markersize=4, label=name)
        axis.set(title=kernel, xscale="log", yscale="log", xlabel=next(iter(cases[0].sizes)))
        _grid(axis, "both")
    part.suptitle(suite, x=0.02, ha="left", fontweight="bold")
    part.legend(*axes.flat[0].get_legend_handles_labels(), loc="upper right", ncols=len(names), frameon=False)


def _dots(record: Record, suite: str, part: Any) -> None:
    """One line a case, one mark a contender; what is fastest for us on top."""
    cases = sorted(record.of(suite), key=lambda case: _order(case, record.main))
    names = present(record, suite)
    axis = part.subplots()
    for name in names:
        points = [(r, place) for place, case in enumerate(cases) if (r := case.ratio(name)) is not None]
        if not points:
            continue
        colour, marker = LOOKS[name]
        mean, count = record.mean(suite, name)
        label = f"{name} (mean {factor(mean or 0)}x of {count})"
        axis.scatter(*zip(*points, strict=True), color=colour, marker=marker, s=26, label=label, zorder=3)
    axis.set_yticks(range(len(cases)), [_label(case, cases) for case in cases])
    axis.set(xscale="log", ylim=(len(cases) - 0.5, -0.5))
    axis.axvline(1.0, color="black", linewidth=0.8)
    _grid(axis, "x")
    axis.grid(True, axis="y", color="#eeeeee", linewidth=0.6)
    _failures(cases, names, axis)
    part.suptitle(suite, x=0.02, ha="left", fontweight="bold")
    part.legend(*axis.get_legend_handles_labels(), loc="outside upper right", ncols=4, frameon=False)


def _failures(cases: list[CaseRecord], names: list[str], axis: Any) -> None:
    """Beside the axes, what has no time because it failed."""
    for place, case in enumerate(cases):
        failed = [n for n in names if case.entries[n].status not in ("ok", "absent")]
        text = ", ".join(f"{n}: {case.entries[n].status}" for n in failed)
        axis.annotate(
            text, (1.0, place), (4, 0), ("axes fraction", "data"), "offset points", va="center", fontsize=6
        )


def _order(case: CaseRecord, ours: str) -> tuple[bool, float]:
    ratio = case.ratio(ours)
    return ratio is None, ratio or 0.0


def _label(case: CaseRecord, cases: list[CaseRecord]) -> str:
    several = sum(other.kernel == case.kernel for other in cases) > 1
    return f"{case.kernel} {case.label}" if several else case.kernel


def _grid(axis: Any, which: str) -> None:
    axis.grid(True, axis=which, which="major", color="#dddddd", linewidth=0.6)
    axis.tick_params(which="both", length=2)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    (axis.xaxis if which == "x" else axis.yaxis).set_major_formatter(_times)


def _times(value: float, _: int) -> str:
    return f"{value:g}x"
