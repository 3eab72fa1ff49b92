"""What a run found, as data: kept as JSON, read back, compared."""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
import sysconfig
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import pullback
from pullback.bench.errors import BenchError
from pullback.bench.timing import Times, geometric_mean

SCHEMA = 1


@dataclass
class Entry:
    """One contender at one case.

    status  ok; wrong or unverified (never timed); raised, crashed, hung; absent (no version for it); skipped
    """

    status: str
    reason: str = ""  # where it is ok: a remark
    times: Times | None = None  # seconds of value and gradient; of the plain function, its value
    first: float | None = None  # seconds of the first call
    error: float | None = None  # largest deviation from differences, relative
    memory: int | None = None  # bytes that one call takes at most
    compile_cold: float | None = None  # seconds of the first call in a fresh process, less a steady one
    compile_cached: float | None = None  # the same in a second process that finds the first one's cache
    target: str = ""  # of ours: the target that served

    @property
    def seconds(self) -> float | None:
        """The median."""
        return self.times.median if self.times is not None else None


@dataclass
class CaseRecord:
    """All contenders at one case; the plain function is the entry `numpy`."""

    suite: str
    kernel: str
    label: str
    sizes: dict[str, Any]
    note: str = ""
    entries: dict[str, Entry] = field(default_factory=dict)
    group: str = ""
    sweep: bool = False  # one pass over the arguments gives value and gradient
    reused: bool = False  # the gradient went into the same arrays in each call

    @property
    def key(self) -> str:
        """The case's name, also in other runs."""
        return f"{self.suite}/{self.kernel}[{self.label}]"

    def ratio(self, name: str, to: str = "numpy") -> float | None:
        """A contender's time over another's."""
        pair = [self.entries.get(name), self.entries.get(to)]
        ours, theirs = (entry.seconds if entry is not None else None for entry in pair)
        return ours / theirs if ours is not None and theirs else None


@dataclass
class Record:
    """One run."""

    about: dict[str, Any]
    cases: list[CaseRecord]

    @property
    def contenders(self) -> list[str]:
        """Who took part, the plain function first."""
        return ["numpy", *self.about["contenders"]]

    @property
    def ours(self) -> list[str]:
        """Our own contenders: one, or one for each target."""
        return [name for name in self.contenders if name.split(":")[0] == "pullback"]

    @property
    def main(self) -> str:
        """The one of ours that others are compared with."""
        preferred = [name for name in ("pullback", "pullback:native") if name in self.ours]
        return [*preferred, *self.ours, "pullback"][0]

    @property
    def suites(self) -> list[str]:
        """The suites, in order."""
        return list(dict.fromkeys(case.suite for case in self.cases))

    def of(self, suite: str) -> list[CaseRecord]:
        """The cases of one suite."""
        return [case for case in self.cases if case.suite == suite]

    def mean(self, suite: str, name: str, to: str = "numpy") -> tuple[float | None, int]:
        """The geometric mean of a contender's time over another's, and of how many cases it is.

        Cases into reused arrays are left out: they are cases that are there once already.
        """
        cases = [case for case in self.of(suite) if not case.reused]
        ratios = [r for case in cases if (r := case.ratio(name, to)) is not None]
        return geometric_mean(ratios), len(ratios)

    def to_json(self) -> str:
        """The JSON text."""
        cases = [{**asdict(case)} for case in self.cases]
        return json.dumps({"schema": SCHEMA, **self.about, "cases": cases}, indent=1) + "\n"


def write(record: Record, path: Path) -> None:
    """Write a record: whole, or not at all."""
    scratch = path.with_name(f".{path.name}.part")
    try:
        scratch.write_text(record.to_json(), encoding="utf-8")
        os.replace(scratch, path)
    finally:
        scratch.unlink(missing_ok=True)


def from_json(text: str, name: str = "the record") -> Record:
    """A record from its text.  Raises BenchError."""
    try:
        data = json.loads(text)
        schema = data.pop("schema")
        cases = [_case(item) for item in data.pop("cases")] if schema == SCHEMA else []
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BenchError(f"{name} is no record of a benchmark run ({error})") from error
    if schema != SCHEMA:
        raise BenchError(f"{name} has schema {schema}, this version reads {SCHEMA}", hint="record it anew")
    return Record(data, cases)


def _case(item: dict[str, Any]) -> CaseRecord:
    entries = {name: _entry(entry) for name, entry in item.pop("entries").items()}
    return CaseRecord(**item, entries=entries)


def _entry(item: dict[str, Any]) -> Entry:
    found = item.pop("times")
    return Entry(**item, times=Times(**found) if found else None)


def read(path: Path) -> Record:
    """The record in a file.  Raises BenchError."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BenchError(f"cannot read {path}: {error.strerror}") from error
    return from_json(text, str(path))


def about(contenders: list[str], versions: dict[str, str], options: dict[str, Any]) -> dict[str, Any]:
    """What a reader needs in order to believe the numbers; no name of a machine, no path."""
    commit, dirty = _commit()
    now = datetime.datetime.now(datetime.timezone.utc)
    return {
        "date": now.date().isoformat(),
        "time": now.strftime("%H:%M:%S"),
        "commit": commit,
        "dirty": dirty,
        "pullback": pullback.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "versions": versions,
        "system": platform.system(),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "headers": Path(sysconfig.get_path("include"), "Python.h").is_file(),
        "options": options,
        "contenders": contenders,
    }


def _commit() -> tuple[str | None, bool | None]:
    """The commit of the checkout that we are in, if we are in one, and whether it has changes of its own."""
    root = Path(__file__).parents[3]
    if not (root / ".git").exists():
        return None, None
    try:
        commit = subprocess.run(
            ["git", "-C", str(root), "rev-parse", "--short=10", "HEAD"],
            capture_output=True,
            text=True,
            check=True,
        )
        status = subprocess.run(
            ["git", "-C", str(root), "status", "--porcelain", "--", "src", "benchmarks"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None, None
    return commit.stdout.strip(), bool(status.stdout.strip())


def _cpu() -> str:
    """The model of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()
