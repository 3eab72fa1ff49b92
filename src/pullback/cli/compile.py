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

from pullback.aot.c_api import CModule, c_module
from pullback.aot.entries import Entry
from pullback.aot.module import Module, make
from pullback.aot.outputs import Output, write_all
from pullback.aot.shared import Build
from pullback.aot.targets import is_file, resolve, searching
from pullback.cli.loading import EXAMPLE, FIRST, SIG, WRT, Subject, example_of, subject, with_json
from pullback.cli.output import note, print_json, shown, users_code
from pullback.cli.project import FORMS, Project, Wanted, project_at, root_of
from pullback.cli.standins import outputs_near, standing_in
from pullback.errors import ArgumentError

STDOUT = "-"
CHECK = "The same command with --check says whether this file is still what it makes."
_SLASHES = ("/", os.sep)
_OURS = re.compile(r"compiled\s+ahead\s+of\s+time\s+by\s+pullback")


@dataclass(frozen=True, slots=True)
class Job:
    """A module that is made, and where it belongs."""

    output: Path | None  # None: stdout
    module: Module | CModule
    folder: bool = False  # it may be made

    @property
    def outputs(self) -> list[Output]:
        """The files."""
        assert self.output is not None
        return self.module.outputs(self.output)

    @property
    def source(self) -> str:
        """The text of the module; of C alone that of the C text."""
        if isinstance(self.module, Module):
            return self.module.source
        return self.module.c.texts("gradients")["gradients.c"]

    @property
    def imports(self) -> list[str]:
        """What the module imports beside NumPy."""
        return imports_of(self.source) if isinstance(self.module, Module) else []

    @property
    def left(self) -> list[str]:
        """What C does not take, where it was asked for."""
        c = self.module.c
        return [f"{x.unit.label}: C does not take {x.said}" for x in c.natives.left] if c is not None else []


@dataclass(frozen=True, slots=True)
class Kind:
    """What is written: a module, plain or with blocks; C beside it, and how it is compiled; or C alone."""

    readable: bool = False
    native: Build | None = None
    alone: bool = False

    def words(self) -> list[str]:
        """The options, for the command in headers."""
        words = ["--readable"] * self.readable + ["--emit", "c"] * self.alone
        if self.native is not None:
            words += ["--native"]
            words += ["--march", self.native.march] if self.native.march else []
            words += [f"--cflags={self.native.cflags}"] if self.native.cflags else []
        return words

    def make(self, entries: list[Entry], command: str) -> Module | CModule:
        """The module, or the C."""
        if self.alone:
            return c_module(entries, command, CHECK)
        return make(entries, command, CHECK, self.readable, self.native)


@click.command(
    "compile",
    epilog="""\b
Examples:
  pullback compile model.py:loss -o model_grad.py --sig "w: f8[n], x: f8[m, n], y: f8[m]"
  pullback compile model.py:loss -o model_grad.py --example model.py:arguments --wrt w,y
  pullback compile model.py:loss model.py:fit -o model_grad.py --sig "w: f8[n]" --sig "a: f8[:]"
  pullback compile package.model:simulate -o - --pair --vjp
  pullback compile model.py:loss -o made/ --native
  pullback compile model.py:loss -o loss_grad.c --emit c
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
    "--native", is_flag=True, help="Write C beside the module too, and a shared library that it uses."
)
@click.option("--emit", type=click.Choice(["c"]), help="c: write C alone, to be compiled by whom it serves.")
@click.option(
    "--march", default="", metavar="CPU", help="With --native: the CPU, as native.  [any of this kind]"
)
@click.option("--cflags", default="", metavar="FLAGS", help="With --native: more flags for the C compiler.")
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
    native: bool,
    emit: str | None,
    march: str,
    cflags: str,
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
    kind = _kind(readable, native, emit, march, cflags)
    if targets:
        jobs = [_given(targets, output, sigs, examples, wrts, labels, chosen, has_aux, kind, only_check)]
    else:
        _nothing_else(
            output, sigs, examples, wrts, labels, chosen, has_aux, readable, native, emit, march, cflags
        )
        jobs = list(_listed(project_at(Path.cwd())))
    return _check(jobs, as_json) if only_check else _write(jobs, as_json)


# ----------------------------------------------------------------------------------------------- what is asked for


def _kind(readable: bool, native: bool, emit: str | None, march: str, cflags: str) -> Kind:
    """What the options ask for."""
    if (march or cflags) and not native:
        option = "--march" if march else "--cflags"
        raise ArgumentError(f"{option} is for a library, which is not asked for", hint="give --native too")
    if emit and (native or readable):
        other = "--native" if native else "--readable"
        raise ArgumentError(f"--emit c writes C alone, {other} a module of Python", hint="give one of them")
    return Kind(readable, Build(march, cflags) if native else None, emit is not None)


def _given(
    targets: Sequence[str],
    output: str | None,
    sigs: Sequence[str],
    examples: Sequence[str],
    wrts: Sequence[str],
    labels: Sequence[str],
    forms: tuple[str, ...],
    has_aux: bool,
    kind: Kind,
    only_check: bool,
) -> Job:
    """The module that the command line describes."""
    if output is None:
        raise ArgumentError("where to write is not said", hint="give -o model_grad.py, or -o - for stdout")
    if only_check and output == STDOUT:
        raise ArgumentError("--check compares with a file, not with stdout", hint="give -o model_grad.py")
    if output == STDOUT and kind.native is not None:
        raise ArgumentError("--native writes several files, and a library", hint="give -o model_grad.py")
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
    path = None if output == STDOUT else _file(output, wanted[0], kind)
    with standing_in([*([path] if path else []), *outputs_near(Path.cwd())]):
        subjects = [_subject(w, None) for w in wanted]
        command = " ".join([_canonical(wanted, subjects, path), *map(_quoted, kind.words())])
        return Job(path, kind.make(_entries(wanted, subjects), command), output.endswith(_SLASHES))


def _file(output: str, first: Wanted, kind: Kind) -> Path:
    """The file to write; in a folder it is called as the first function is."""
    path, suffix = Path(output), ".c" if kind.alone else ".py"
    if path.is_dir() or output.endswith(_SLASHES):
        return path / f"{first.label or re.split('[:.]', first.target)[-1]}_grad{suffix}"
    if path.suffix != suffix and (kind.alone or kind.native is not None):
        what = "C text" if suffix == ".c" else "module"
        raise ArgumentError(f"`{output}` is no name of a {what}", hint=f"give -o {path.stem}{suffix}")
    return path


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
            kind = Kind(listed.readable, listed.native, listed.alone)
            yield Job(listed.output, kind.make(entries, "pullback compile"))


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
    done = [(job, _written(job)) for job in jobs]
    if as_json:
        print_json({"modules": [_facts(job, status) for job, status in done]})
        return 0
    for job, status in done:
        if job.output is None:
            click.echo(job.source, nl=False)
        else:
            more = f"; imports {', '.join(job.imports)}" if job.imports else ""
            note(f"{status}: {shown(job.output)} ({', '.join(job.module.names)}{more})")
            for output in job.outputs[1:]:
                note(f"    {shown(output.path)}")
        for text in job.left:
            note(f"    {text}: NumPy does that")
    return 0


def _written(job: Job) -> str:
    """Write the files of a module."""
    if job.output is None:
        return "written"
    if job.folder:
        job.output.parent.mkdir(exist_ok=True)
    return "written" if write_all(job.outputs) else "unchanged"


def _spare(job: Job) -> None:
    """Refuse to write over a file that is not one of ours."""
    for output in job.outputs if job.output is not None else ():
        if not output.path.is_file():
            continue
        text = isinstance(output.content, str)
        with output.path.open("rb") as file:
            head = file.read(2000 if text else -1)
        ours = _OURS.search(head.decode("utf-8", errors="replace")) if text else b"pb_entry_" in head
        if head.strip() and not ours:
            raise ArgumentError(
                f"`{shown(output.path)}` was not made by pullback, and would be overwritten",
                hint="remove it first, or write to another file",
            )


def _check(jobs: Sequence[Job], as_json: bool) -> int:
    """Tell which files are not current; nothing is written."""
    found = [(job, *_difference(job)) for job in jobs]
    bad = [entry for entry in found if entry[1] != "current"]
    if as_json:
        print_json({"ok": not bad, "modules": [_facts(job, status, **more) for job, status, more in found]})
    else:
        for _, status, more in bad:
            told = ""
            if "line" in more:
                told = f": line {more['line']} is {more['on_disk']!r}, not {more['now']!r}"
            click.echo(f"{status}: {more['file']}{told}")
        if bad:
            note("pullback: the same command without --check writes them")
        else:
            note("1 module is current" if len(jobs) == 1 else f"{len(jobs)} modules are current")
    return 1 if bad else 0


def _difference(job: Job) -> tuple[str, dict[str, Any]]:
    """Whether the files of a module are current, stale or missing: of the first that is not, the line that differs."""
    for output in job.outputs:
        status = output.status()
        if status == "current":
            continue
        more: dict[str, Any] = {"file": shown(output.path)}
        if status == "stale" and isinstance(output.content, str) and output.path.is_file():
            on_disk = output.path.read_bytes().decode("utf-8", errors="replace").split("\n")
            for number, (old, new) in enumerate(zip_longest(on_disk, output.content.split("\n")), 1):
                if old != new:
                    return status, more | {"line": number, "on_disk": old, "now": new}
        return status, more
    return "current", {}


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
    facts["imports"] = job.imports
    if job.output is None:
        facts["source"] = job.source
    elif job.module.c is not None:
        facts["files"] = [shown(output.path) for output in job.outputs]
        facts["left_to_numpy"] = job.left
    return {**facts, **more}
