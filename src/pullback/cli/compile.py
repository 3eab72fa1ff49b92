"""`pullback compile`: standalone modules, written or checked."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import click

from pullback.aot.entries import Entry
from pullback.aot.module import Module, make
from pullback.aot.targets import is_file, resolve, searching
from pullback.cli.loading import EXAMPLE, FIRST, SIG, WRT, Subject, example_of, subject, with_json
from pullback.cli.output import note, print_json, shown, users_code
from pullback.cli.project import FORMS, Project, Wanted, project_at, root_of
from pullback.cli.standins import outputs_near, standing_in
from pullback.errors import ArgumentError

STDOUT = "-"
CHECK = "The same command with --check says whether this file is still what it makes."
_OURS = re.compile(r"compiled\s+ahead\s+of\s+time\s+by\s+pullback")


@dataclass(frozen=True, slots=True)
class Job:
    """A module that is made, and where it belongs."""

    output: Path | None  # None: stdout
    module: Module


@click.command(
    "compile",
    epilog="""\b
Examples:
  pullback compile model.py:loss -o model_grad.py --sig "w: f8[n], x: f8[m, n], y: f8[m]"
  pullback compile model.py:loss -o model_grad.py --example model.py:arguments --wrt w,y
  pullback compile model.py:loss model.py:fit -o model_grad.py --sig "w: f8[n]" --sig "a: f8[:]"
  pullback compile package.model:simulate -o - --pair --vjp
  pullback compile
  pullback compile --check

\b
Without targets, the modules are made that pyproject.toml lists:
  [[tool.pullback.module]]
  output = "model_grad.py"
  targets = ["model.py:loss", { target = "model.py:fit", sig = "a: f8[:]", wrt = ["a"], forms = ["pair"] }]

Exit code 1 where --check finds a file stale or missing.""",
)
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option("-o", "--output", metavar="PATH", help="The file to write; - for stdout.")
@click.option("--sig", "sigs", multiple=True, metavar="TEXT", help=f"{SIG}  One for each target, in order.")
@click.option(
    "--example", "examples", multiple=True, metavar="TARGET", help=f"{EXAMPLE}  One for each target."
)
@click.option(
    "--wrt", "wrts", multiple=True, metavar="NAMES", help=f"{WRT}  {FIRST}  One for all targets, or for each."
)
@click.option(
    "--value-and-grad", "value_and_grad", is_flag=True, help="Write NAME_value_and_grad.  [default]"
)
@click.option("--grad", is_flag=True, help="Write NAME_grad.")
@click.option("--pair", is_flag=True, help="Write NAME_primal and NAME_pullback.")
@click.option("--vjp", is_flag=True, help="Write NAME_vjp: the value, and a function that pulls back.")
@click.option("--has-aux", is_flag=True, help="The functions return (value, aux).")
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="NAME",
    help="What the names begin with.  One for each target.",
)
@click.option("--readable", is_flag=True, help="Plain expressions only: no work on large arrays in blocks.")
@click.option(
    "--check", "only_check", is_flag=True, help="Write nothing; exit with 1 where a file is not current."
)
@with_json
def command(
    targets: tuple[str, ...],
    output: str | None,
    sigs: tuple[str, ...],
    examples: tuple[str, ...],
    wrts: tuple[str, ...],
    has_aux: bool,
    labels: tuple[str, ...],
    readable: bool,
    only_check: bool,
    as_json: bool,
    **forms: bool,
) -> int:
    """Write the gradients of functions as a module that needs NumPy, and no pullback.

    Where a parameter is an object of a class of yours, the module imports the file of the class too: keep classes in
    a file that does not import pullback.

    A TARGET is package.module:function, file.py:function or file.py:Class.method.
    """
    chosen = tuple(name for name in FORMS.values() if forms[name])
    if targets:
        jobs = [_given(targets, output, sigs, examples, wrts, labels, chosen, has_aux, readable, only_check)]
    else:
        _nothing_else(output, sigs, examples, wrts, labels, chosen, has_aux, readable)
        jobs = list(_listed(project_at(Path.cwd())))
    return _check(jobs, as_json) if only_check else _write(jobs, as_json)


# ----------------------------------------------------------------------------------------------- what is asked for


def _given(
    targets: Sequence[str],
    output: str | None,
    sigs: Sequence[str],
    examples: Sequence[str],
    wrts: Sequence[str],
    labels: Sequence[str],
    forms: tuple[str, ...],
    has_aux: bool,
    readable: bool,
    only_check: bool,
) -> Job:
    """The module that the command line describes."""
    if output is None:
        raise ArgumentError("where to write is not said", hint="give -o model_grad.py, or -o - for stdout")
    if only_check and output == STDOUT:
        raise ArgumentError("--check compares with a file, not with stdout", hint="give -o model_grad.py")
    if output != STDOUT and Path(output).is_dir():
        raise ArgumentError(
            f"`{output or '.'}` is a folder", hint="name a file in it, as in -o model_grad.py"
        )
    count = len(targets)
    for option, values in (("--sig", sigs), ("--example", examples), ("--label", labels)):
        if len(values) not in (0, count):
            raise ArgumentError(
                f"{len(values)} {option} for {count} target{'s' * (count > 1)}",
                hint="give one for each, in order",
            )
    if sigs and examples:
        raise ArgumentError("--sig and --example both say the types", hint="give one of them")
    if len(wrts) not in (0, 1, count):
        raise ArgumentError(
            f"{len(wrts)} --wrt for {count} targets", hint="give one for all, or one for each"
        )
    spread = list(wrts) * count if len(wrts) == 1 else wrts
    forms = forms or ("value_and_grad",)
    wanted = [
        Wanted(target, sig, example, (wrt,) if wrt else (), forms, has_aux, label or "")
        for target, sig, example, wrt, label in zip_longest(targets, sigs, examples, spread, labels)
    ]
    path = None if output == STDOUT else Path(output)
    with standing_in([*([path] if path else []), *outputs_near(Path.cwd())]):
        subjects = [_subject(w, None) for w in wanted]
        command = _canonical(wanted, subjects, path) + " --readable" * readable
        return Job(path, make(_entries(wanted, subjects), command, CHECK, readable))


def _nothing_else(*options: Any) -> None:
    """Without targets there is nothing that the options could be about."""
    if any(options):
        raise ArgumentError(
            "options are given, but no target",
            hint="name a target, as in pullback compile model.py:loss -o model_grad.py",
        )


def _listed(project: Project) -> Iterator[Job]:
    """The modules that a project lists."""
    with ExitStack() as stack:
        stack.enter_context(standing_in(listed.output for listed in project.modules))
        for folder in project.pythonpath:
            stack.enter_context(searching(folder))
        for listed in project.modules:
            subjects = [_subject(w, project.root) for w in listed.targets]
            entries = _entries(listed.targets, subjects)
            yield Job(listed.output, make(entries, "pullback compile", CHECK, listed.readable))


def _subject(wanted: Wanted, folder: Path | None) -> Subject:
    with users_code(f"importing `{wanted.target}`"):
        target = resolve(wanted.target, folder)
        example = example_of(wanted.example, wanted.target, folder) if wanted.example else None
    said = f"pyproject.toml: {wanted.place}: wrt" if wanted.place else "--wrt"
    return subject(target, wanted.sig, example, wanted.wrt, wanted.has_aux, said)


def _entries(wanted: Sequence[Wanted], subjects: Sequence[Subject]) -> list[Entry]:
    return [
        Entry(
            s.target.fn,
            s.declared,
            s.wrt[0] if len(s.wrt) == 1 else s.wrt,
            s.has_aux,
            w.forms,
            w.label or s.target.qualname.rpartition(".")[2],
        )
        for w, s in zip(wanted, subjects, strict=True)
    ]


# ------------------------------------------------------------------------------------------- the command, as text


def _canonical(wanted: Sequence[Wanted], subjects: Sequence[Subject], output: Path | None) -> str:
    """The command that makes a module, the same from whatever folder it is run: paths are relative to the project."""
    folder = Path.cwd() if output is None else output.resolve().parent
    root = root_of(folder) or folder
    first = wanted[0]
    words = ["pullback", "compile", *(_relative(w.target, root) for w in wanted)]
    words += ["-o", STDOUT if output is None else _path(output, root)]
    for w, s in zip(wanted, subjects, strict=True):
        if w.sig is not None:
            words += ["--sig", s.declared.text]
        if w.example is not None:
            words += ["--example", _relative(w.example, root)]
        if w.label:
            words += ["--label", w.label]
    asked = [",".join(s.wrt) for s in subjects] if any(w.wrt for w in wanted) else []
    for names in dict.fromkeys(asked) if len(set(asked)) == 1 else asked:
        words += ["--wrt", names]
    if first.forms != ("value_and_grad",):
        words += [f"--{form}" for form, name in FORMS.items() if name in first.forms]
    words += ["--has-aux"] * first.has_aux
    return " ".join(map(_quoted, words))


def _relative(target: str, root: Path) -> str:
    place, _, name = target.rpartition(":")
    return f"{_path(Path(place), root)}:{name}" if is_file(place) else target


def _path(path: Path, root: Path) -> str:
    try:
        return Path(os.path.relpath(path.resolve(), root)).as_posix()
    except ValueError:  # on another drive
        return path.name


def _quoted(word: str) -> str:
    """A word as shells read it."""
    if re.fullmatch(r"[\w@%+=:,./-]+", word):
        return word
    if not re.search(r'["$`\\!]', word):
        return f'"{word}"'
    return "'" + word.replace("'", "'\"'\"'") + "'"


# --------------------------------------------------------------------------------------------------- what is done


def _write(jobs: Sequence[Job], as_json: bool) -> int:
    """Write what is not current."""
    for job in jobs:
        _spare(job)
    done = []
    for job in jobs:
        current = job.output is not None and job.module.is_current(job.output)
        if job.output is not None and not current:
            job.module.write(job.output)
        done.append((job, "unchanged" if current else "written"))
    if as_json:
        print_json({"modules": [_facts(job, status) for job, status in done]})
        return 0
    for job, status in done:
        if job.output is None:
            click.echo(job.module.source, nl=False)
        else:
            beside = imports_of(job.module.source)
            more = f"; imports {', '.join(beside)}" if beside else ""
            note(f"{status}: {shown(job.output)} ({', '.join(job.module.names)}{more})")
    return 0


def _spare(job: Job) -> None:
    """Refuse to write over a file that is not one of ours."""
    if job.output is None or not job.output.is_file():
        return
    with job.output.open(encoding="utf-8", errors="replace") as file:
        head = file.read(2000)
    if head.strip() and not _OURS.search(head):
        raise ArgumentError(
            f"`{shown(job.output)}` was not made by pullback, and would be overwritten",
            hint="remove it first, or write to another file",
        )


def _check(jobs: Sequence[Job], as_json: bool) -> int:
    """Tell which files are not current; nothing is written."""
    found = [(job, *_difference(job)) for job in jobs]
    bad = [entry for entry in found if entry[1] != "current"]
    if as_json:
        print_json({"ok": not bad, "modules": [_facts(job, status, **more) for job, status, more in found]})
    else:
        for job, status, more in bad:
            told = f": line {more['line']} is {more['on_disk']!r}, not {more['now']!r}" if more else ""
            click.echo(f"{status}: {shown(job.output)}{told}")
        if bad:
            note("pullback: the same command without --check writes them")
        else:
            note("1 module is current" if len(jobs) == 1 else f"{len(jobs)} modules are current")
    return 1 if bad else 0


def _difference(job: Job) -> tuple[str, dict[str, Any]]:
    """Whether a file is current, stale or missing; of a stale one the first line that differs."""
    assert job.output is not None
    if job.module.is_current(job.output):
        return "current", {}
    if not job.output.exists():
        return "missing", {}
    on_disk = job.output.read_bytes().decode("utf-8", errors="replace").split("\n")
    for number, (old, new) in enumerate(zip_longest(on_disk, job.module.source.split("\n")), 1):
        if old != new:
            return "stale", {"line": number, "on_disk": old, "now": new}
    return "stale", {}  # bytes that are no text


def imports_of(source: str) -> list[str]:
    """The modules that a source imports beside NumPy and Python's own."""
    found: dict[str, None] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= dict.fromkeys(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found[node.module] = None
    known = {"numpy", *sys.stdlib_module_names}
    return [name for name in found if name.partition(".")[0] not in known]


def _facts(job: Job, status: str, **more: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {"output": None if job.output is None else shown(job.output), "status": status}
    facts["names"] = list(job.module.names)
    facts["imports"] = imports_of(job.module.source)
    if job.output is None:
        facts["source"] = job.module.source
    return {**facts, **more}
