"""One run: for each case the contenders are opened, verified, and only then timed, in turns."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pullback.bench.contender import PLAIN, Opened
from pullback.bench.errors import BenchError
from pullback.bench.peers import PEERS
from pullback.bench.process import BINDS, Failed, Process
from pullback.bench.record import CaseRecord, Entry, Record, about
from pullback.bench.suite import Case, Kernel, cases
from pullback.bench.timing import batch_size, times
from pullback.bench.verify import Verdict

ROUNDS = (3, 15)  # at least and at most
SLICE = 0.05  # seconds that one contender is timed in one case, at least
PATIENCE = 3.0  # seconds of a call beyond which there is one round


@dataclass(frozen=True)
class Options:
    """What to run, and how."""

    size: str = "S"
    threads: int = 1
    timeout: float = 60.0  # seconds for the first calls of a case, or for a batch
    budget: float = 780.0  # seconds for the whole run: slow cases get fewer rounds
    slot: float = 2.0  # seconds that one contender is timed in one case, at most
    compile_times: bool = True
    target: str | None = None  # of pullback; None: what the environment says

    def recorded(self) -> dict[str, Any]:
        """As the record keeps them."""
        return {
            "size": self.size,
            "threads": self.threads,
            "timeout": self.timeout,
            "budget": self.budget,
            "bound": BINDS,
            "target": self.target or os.environ.get("PULLBACK_TARGET") or "auto",
        }

    def environment(self, name: str) -> dict[str, str]:
        """What the process of a contender finds in its environment."""
        if name == PLAIN:
            return {}
        own = {"PULLBACK_TARGET": self.target} if self.target and PEERS[name].ours else {}
        return {**own, **PEERS[name].environment()}


def contenders(peers: Sequence[str] | None) -> list[str]:
    """The contenders for the names of peers; pullback, and what is written by hand for NumPy, always take part.

    Where a target of pullback is named (`pullback:numpy`), it stands for pullback.
    Raises BenchError for a name that is unknown or not installed.
    """
    if peers is None:
        return [name for name, peer in PEERS.items() if peer.usual and peer.installed()]
    unknown = [name for name in peers if name not in (PLAIN, *PEERS)]
    if unknown:
        raise BenchError(f"unknown peer {unknown[0]!r}", hint=f"there are: {', '.join(PEERS)}")
    missing = [name for name in peers if name != PLAIN and not PEERS[name].installed()]
    if missing:
        hints = dict.fromkeys(PEERS[name].way_out for name in missing)
        raise BenchError(f"not installed: {', '.join(missing)}", hint="; ".join(hints))
    ours = () if any(name in PEERS and PEERS[name].ours for name in peers) else ("pullback",)
    return [name for name in PEERS if name in (*ours, "hand", *peers)]


@dataclass
class Session:
    """The processes of one run, and its clock."""

    options: Options
    names: list[str]
    tell: Callable[[str], None] = lambda text: None
    processes: dict[str, Process] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    start: float = field(default_factory=time.monotonic)
    interrupted: bool = False  # by the user: the record has what was found until then

    def run(self, kernels: Sequence[Kernel], advance: Callable[[], None] = lambda: None) -> Record:
        """All cases of the kernels."""
        plan = cases(kernels, self.options.size)
        self.processes = {name: self._process(name) for name in (PLAIN, *self.names)}
        found: list[CaseRecord] = []
        try:
            for number, case in enumerate(plan):
                found.append(self._case(case, len(plan) - number))
                advance()
            if self.options.compile_times:
                self._compile_times(plan, found)
        except KeyboardInterrupt:
            self.interrupted = True
            found += [self._skipped(case, "interrupted") for case in plan[len(found) :]]
        finally:
            for process in self.processes.values():
                process.stop()
        taking_part = [n for n in self.names if any(c.entries[n].status != "absent" for c in found)]
        for case_record in found:
            case_record.entries = {n: e for n, e in case_record.entries.items() if n in (PLAIN, *taking_part)}
        versions = {name: self.versions[name] for name in taking_part if name in self.versions}
        return Record(about(taking_part, versions, self.options.recorded()), found)

    def _process(self, name: str, extra: dict[str, str] | None = None) -> Process:
        return Process(name, self.options.threads, {**self.options.environment(name), **(extra or {})})

    # ---------------------------------------------------------------------------------------------------- a case

    def _case(self, case: Case, left: int) -> CaseRecord:
        """One case, with `left` of them to do."""
        record = _record(case)
        if self._elapsed() > 1.5 * self.options.budget:
            return self._skipped(case, "the budget was used up")
        opened = self._open(case, record)
        if PLAIN in opened:
            verified = self._verify(case, record, opened)
        if PLAIN in opened:
            self._time(case, record, {n: opened[n] for n in (PLAIN, *verified)}, left)
            self._memory(record, [PLAIN, *verified])
        record.entries = {n: record.entries[n] for n in (PLAIN, *self.names)}
        return record

    def _skipped(self, case: Case, reason: str) -> CaseRecord:
        record = _record(case)
        record.entries = {n: Entry("skipped", reason) for n in (PLAIN, *self.names)}
        return record

    def _open(self, case: Case, record: CaseRecord) -> dict[str, Opened]:
        """The first calls.  Those that fail get their entry."""
        opened: dict[str, Opened] = {}
        for name in (PLAIN, *self.names):
            self.tell(f"{case.key}: {name}")
            try:
                opened[name] = self.processes[name].ask("open", case, timeout=self.options.timeout)
            except Failed as failure:
                record.entries[name] = Entry(failure.status, _short(failure.reason, case))
                if name == PLAIN:
                    reason = f"the plain function fails: {failure.reason}"
                    record.entries |= {n: Entry("skipped", _short(reason, case)) for n in self.names}
                    break
            self.versions[name] = self.processes[name].version
        return opened

    def _verify(self, case: Case, record: CaseRecord, opened: dict[str, Opened]) -> list[str]:
        """Judge the gradients; the names of those that are right."""
        self.tell(f"{case.key}: verifying")
        found = {n: o for n, o in opened.items() if n != PLAIN}
        changed = [n for n, o in found.items() if o.changed]
        bounds = [n for n in found if not PEERS[n].differentiates]
        results = {n: o.result for n, o in found.items() if n not in (*changed, *bounds)}
        patience = min(20.0, max(2.0, self._left() / 8))
        try:
            verdicts: dict[str, Verdict] = self.processes[PLAIN].ask(
                "judge", results, patience, timeout=3 * self.options.timeout
            )
        except Failed as failure:
            verdicts = {n: Verdict("unverified", f"verification failed: {failure.reason}") for n in results}
            del opened[PLAIN]
            record.entries[PLAIN] = Entry(failure.status, _short(failure.reason, case))
        verdicts |= {name: Verdict("ok") for name in bounds}
        for name in changed:
            verdicts[name] = Verdict("wrong", f"it changed the argument {', '.join(found[name].changed)}")
        for name, verdict in verdicts.items():
            reason = _short(verdict.reason or found[name].remark, case)
            error = None if name in bounds else verdict.error
            record.entries[name] = Entry(verdict.status, reason, first=found[name].first, error=error)
        return [n for n in found if verdicts[n].status == "ok"]

    def _time(self, case: Case, record: CaseRecord, opened: dict[str, Opened], left: int) -> None:
        """Rounds in turn.  A round of a contender is a batch of calls."""
        record.entries[PLAIN] = Entry("ok", first=opened[PLAIN].first)
        share = 0.5 * self._left() / (left * len(opened))
        slot = min(max(share, SLICE), self.options.slot)
        calls = {n: batch_size(o.once) for n, o in opened.items()}
        cost = {n: calls[n] * o.once for n, o in opened.items()}
        rounds = {n: _rounds(slot, seconds) for n, seconds in cost.items()}
        samples: dict[str, list[float]] = {n: [] for n in opened}
        for number in range(max(rounds.values())):
            self.tell(f"{case.key}: round {number + 1} of {max(rounds.values())}")
            for name in [n for n in samples if number < rounds[n]]:
                try:
                    samples[name].append(self._batch(name, calls[name], cost[name]))
                except Failed as failure:
                    record.entries[name] = Entry(failure.status, _short(failure.reason, case))
                    del samples[name]
        for name, found in samples.items():
            record.entries[name].times = times(found, calls[name])
            if name != PLAIN and PEERS[name].ours:
                record.entries[name].target = self._served(name)

    def _served(self, name: str) -> str:
        try:
            return str(self.processes[name].ask("served", timeout=self.options.timeout))
        except Failed:
            return ""  # it was timed: that stands

    def _batch(self, name: str, calls: int, cost: float) -> float:
        seconds: float = self.processes[name].ask("batch", calls, timeout=self.options.timeout + 20 * cost)
        return seconds

    def _memory(self, record: CaseRecord, names: Sequence[str]) -> None:
        for name in names:
            found = record.entries[name].times
            if found is None or found.median > PATIENCE:
                continue
            try:
                record.entries[name].memory = self.processes[name].ask("peak", timeout=self.options.timeout)
            except Failed:
                continue  # it was timed: that stands

    def _compile_times(self, plan: Sequence[Case], found: Sequence[CaseRecord]) -> None:
        """First calls in fresh processes, of each kernel's first case: last, with what is left of the budget."""
        seen: set[tuple[str, str]] = set()
        for case, record in zip(plan, found, strict=True):
            place = (record.suite, record.kernel)
            if place in seen:
                continue
            seen.add(place)
            for name, entry in record.entries.items():
                if name != PLAIN and PEERS[name].compiles and entry.times is not None and self._left() > 0:
                    self.tell(f"{case.key}: compile time of {name}")
                    self._compile_time(case, name, entry)

    def _compile_time(self, case: Case, name: str, entry: Entry) -> None:
        """With nothing cached, then with what the first process cached."""
        with tempfile.TemporaryDirectory() as folder:
            pinned = self.options.environment(name).get("PULLBACK_TARGET") == "numpy"
            extra = None if pinned else PEERS[name].cache(Path(folder))
            entry.compile_cold = self._fresh(case, name, extra)
            if extra is not None and entry.compile_cold is not None:
                entry.compile_cached = self._fresh(case, name, extra)

    def _fresh(self, case: Case, name: str, extra: dict[str, str] | None) -> float | None:
        process = self._process(name, extra)
        try:
            seconds: float = process.ask("compile_seconds", case, timeout=2 * self.options.timeout)
            return seconds
        except Failed:
            return None
        finally:
            process.stop()

    def _elapsed(self) -> float:
        return time.monotonic() - self.start

    def _left(self) -> float:
        return max(self.options.budget - self._elapsed(), 0.0)


def _record(case: Case) -> CaseRecord:
    """The record of a case, with nothing in it."""
    kernel = case.kernel
    return CaseRecord(
        kernel.suite,
        kernel.name,
        case.label,
        _plain_sizes(case),
        kernel.note,
        group=kernel.group,
        sweep=kernel.sweep,
        reused=case.reused,
    )


def _rounds(slot: float, cost: float) -> int:
    """How many rounds of so many seconds there are; what is very slow has only one."""
    least = ROUNDS[0] if cost < PATIENCE else 1
    return min(max(int(slot / cost), least), ROUNDS[1])


def _plain_sizes(case: Case) -> dict[str, Any]:
    return {
        key: value if isinstance(value, int | float | str | bool) else str(value)
        for key, value in case.sizes.items()
    }


def _short(reason: str, case: Case) -> str:
    """A reason without paths of this machine, in one line that a table holds."""
    line = " ".join(reason.replace(f"{case.kernel.folder.parent}/", "").split("\n")[0].split())
    line = re.sub(r"(?<![\w.:/])/(?:[^\s:'\"]+/)+", "", line)
    return line if len(line) <= 240 else line[:237] + "..."
