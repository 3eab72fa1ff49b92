"""Which target serves a function and why, and what of it runs as one loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from pullback.backend.native import bridge, toolchain
from pullback.backend.native.emit.errors import Untaken
from pullback.errors import Loc, NativeError
from pullback.ir.walk import statements
from pullback.passes.fuse import Fused, kernels_of
from pullback.pipeline import Compiled

SHOWN = 12  # operations of a loop in the report


@dataclass(frozen=True, slots=True)
class UntakenReport:
    """What C does not take: the user's line and its text, and why."""

    line: int
    reason: str
    text: str = ""
    file: str = ""

    def __str__(self) -> str:
        place = f"line {self.line}: {self.text}: " if self.line and self.text else ""
        return f"{place}{self.reason}"


@dataclass(frozen=True, slots=True)
class KernelReport:
    """Operations that run as one loop: the name, the user's line, the operations in order, the axes of the loop."""

    name: str
    line: int
    operations: tuple[str, ...]
    space: tuple[str, ...]
    file: str = ""

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line else ""
        shown = ", ".join(self.operations[:SHOWN])
        more = len(self.operations) - SHOWN
        return f"{place}{self.name}: {shown}{f' and {more} more' if more > 0 else ''} over [{', '.join(self.space)}]"


@dataclass(frozen=True, slots=True)
class RegionReport:
    """A part that C takes of a function that it does not take whole: its name in the source, its lines."""

    name: str
    line: int
    last: int
    file: str = ""

    def __str__(self) -> str:
        if not self.line:
            return self.name
        lines = f"line {self.line}" if self.line == self.last else f"lines {self.line} to {self.last}"
        return f"{lines}: {self.name}"


@dataclass(frozen=True, slots=True)
class HostedReport:
    """An operation that compiled C has NumPy do: its name, and the user's line."""

    operation: str
    line: int
    file: str = ""

    def __str__(self) -> str:
        return f"line {self.line}: {self.operation}" if self.line else self.operation


@dataclass(frozen=True, slots=True)
class TargetReport:
    """The target of value and gradient.

    asked     "auto", "native" or "numpy"
    serves    "native" or "numpy": what serves a call now
    reason    why NumPy serves; "" where it is what was asked for, or native serves
    untaken   what C does not take
    hosted    what C has NumPy do, in the middle of it
    fused     what runs as one loop in C
    regions   where C does not take all: the parts that it does take
    pair      what of the primal and the pullback, as functions of their own, C does not take
    bridge    how C is called: "extension" or "ctypes"; "" where it is not
    compiler  what compiled it; "" where nothing has been compiled
    """

    asked: str
    serves: Literal["native", "numpy"] = "numpy"
    reason: str = ""
    untaken: tuple[UntakenReport, ...] = ()
    hosted: tuple[HostedReport, ...] = ()
    fused: tuple[KernelReport, ...] = ()
    bridge: str = ""
    compiler: str = ""
    pair: tuple[UntakenReport, ...] = ()
    regions: tuple[RegionReport, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The same as dicts, lists and texts."""
        plain = ("asked", "serves", "reason", "bridge", "compiler")
        rows = {name: [asdict(x) for x in getattr(self, name)] for name in _LISTS}
        return {**{name: getattr(self, name) for name in plain}, **rows}

    def lines(self) -> list[str]:
        """The report."""
        head = f"target: {self.serves}"
        if self.serves == "native":
            means = {"extension": "an extension", "ctypes": "ctypes"}[self.bridge]
            head += f", called through {means}, compiled by {self.compiler}"
        elif self.reason:
            head += f"; {self.reason}"
        lines = [head]
        if self.regions:
            lines += ["parts that are compiled to C:", *(f"  {r}" for r in self.regions)]
            lines += ["what stays with NumPy, and why:"] * bool(self.untaken)
        lines += [f"  {u}" for u in self.untaken]
        if self.pair and not self.untaken:
            lines += ["primal and pullback stay with NumPy; C does not take", *(f"  {u}" for u in self.pair)]
        if self.hosted:
            lines += ["done by NumPy, called from C:", *(f"  {h}" for h in self.hosted)]
        if self.fused:
            lines += ["runs as one loop each, in C:", *(f"  {k}" for k in self.fused)]
        return lines

    def __str__(self) -> str:
        return "\n".join(self.lines())


_LISTS = ("untaken", "hosted", "fused", "pair", "regions")
NUMPY = TargetReport("numpy")


@dataclass(slots=True)
class _Found:
    untaken: list[UntakenReport] = field(default_factory=list)
    hosted: list[HostedReport] = field(default_factory=list)
    fused: list[KernelReport] = field(default_factory=list)
    pair: list[UntakenReport] = field(default_factory=list)
    regions: list[RegionReport] = field(default_factory=list)
    reason: str = ""


def target_report(
    compiled: Compiled,
    asked: str,
    serves: Literal["native", "numpy"] = "numpy",
    error: NativeError | None = None,
    waits: str = "",
) -> TargetReport:
    """The report on a compilation.

    error  why native does not serve, where that is known
    waits  what native waits for, where nothing stands against it
    """
    if asked == "numpy":
        return NUMPY
    found = _found(compiled)
    reason = ""
    if serves == "numpy":
        reason = found.reason or (waits if error is None else _in_one_line(error))
    how, compiler = (bridge.kind(), toolchain.find().version) if serves == "native" else ("", "")
    lists = tuple(found.untaken), tuple(found.hosted), tuple(found.fused)
    parts = tuple(found.pair), tuple(found.regions)
    return TargetReport(asked, serves, reason, *lists, how, compiler, *parts)


def _found(compiled: Compiled) -> _Found:
    """What C takes and what not, whether or not it has been compiled."""
    found = _Found()
    try:
        native = compiled.native("value_and_grad")
    except Untaken as untaken:
        _in_parts(compiled, untaken, found)
        return found
    except Exception as error:
        found.reason = str(error).splitlines()[0]
    else:
        found.hosted += [HostedReport(name, loc.line, loc.file) for name, loc in native.hosted]
        found.fused += [_kernel(kernel) for kernel in kernels_of(native.function)]
    found.pair += _pair(compiled)
    return found


def _in_parts(compiled: Compiled, whole: Untaken, found: _Found) -> None:
    """What C takes, and what stands against the rest."""
    try:
        made = compiled.regions("pair" if compiled.has_effects else "joint")
    except Untaken:
        found.reason = "C does not take it:"
        found.untaken.append(_untaken(whole.reason, whole.loc))
        return
    found.untaken += [_untaken(fault.reason, fault.loc) for fault in made.faults]
    for region in made.regions:
        found.hosted += [HostedReport(name, loc.line, loc.file) for name, loc in region.native.hosted]
        found.fused += [_kernel(kernel) for kernel in kernels_of(region.native.function)]
        function = region.callee.body()
        lines = [s.loc.line for s in statements(function.body) if s.loc.line] or [0]
        found.regions.append(RegionReport(function.name, min(lines), max(lines), function.loc.file))


def _kernel(kernel: Fused) -> KernelReport:
    where = kernel.loc
    return KernelReport(kernel.name, where.line, kernel.operations, kernel.space, where.file)


def _pair(compiled: Compiled) -> list[UntakenReport]:
    """What of the primal and the pullback C does not take."""
    try:
        compiled.native_pair()
    except Untaken as untaken:
        return [_untaken(untaken.reason, untaken.loc)]
    except Exception as error:
        return [UntakenReport(0, str(error).splitlines()[0])]
    return []


def _untaken(reason: str, loc: Loc) -> UntakenReport:
    return UntakenReport(loc.line, reason, loc.text.strip(), loc.file)


def _in_one_line(error: NativeError) -> str:
    parts: Sequence[str] = [line.strip() for line in error.reason.splitlines()]
    place = "" if error.loc is None or not error.loc.line else f" (line {error.loc.line})"
    return " ".join(parts) + place
