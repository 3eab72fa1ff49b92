"""The table [tool.pullback] of a pyproject.toml: the modules that a project compiles ahead of time.

    [tool.pullback]
    pythonpath = ["src"]                  # searched when targets are imported

    [[tool.pullback.module]]
    output = "model_grad.py"
    targets = [
        "model.py:loss",                  # its annotations say the types
        { target = "model.py:fit", sig = "w: f8[n]", wrt = ["w"], forms = ["pair"], has-aux = true },
    ]

Paths are relative to the pyproject.toml.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pullback.aot.shared import Build
from pullback.errors import PullbackError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FORMS = {"value-and-grad": "value_and_grad", "grad": "grad", "pair": "pair", "vjp": "vjp"}


class ProjectError(PullbackError):
    """The table of a project is missing or wrong."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A target of a module, as the command line or the table says it.

    forms  the names that entries have
    place  where the table says it
    """

    target: str
    sig: str | None = None
    example: str | None = None
    wrt: tuple[str, ...] = ()
    forms: tuple[str, ...] = ("value_and_grad",)
    has_aux: bool = False
    label: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Listed:
    """A module of the table."""

    output: Path
    targets: tuple[Wanted, ...]
    readable: bool = False
    native: Build | None = None
    alone: bool = False  # C, and no module of Python


@dataclass(frozen=True, slots=True)
class Project:
    """What the table says; `root` is the folder of the pyproject.toml."""

    root: Path
    modules: tuple[Listed, ...]
    pythonpath: tuple[Path, ...]


def root_of(folder: Path) -> Path | None:
    """The nearest folder, from this one upwards, with a pyproject.toml."""
    folder = folder.resolve()
    return next((f for f in (folder, *folder.parents) if (f / "pyproject.toml").is_file()), None)


def project_at(folder: Path) -> Project:
    """The project that a folder belongs to.  Raises ProjectError where its table is missing or wrong."""
    root = root_of(folder)
    if root is None:
        raise ProjectError(
            "no target is given, and there is no pyproject.toml here or above",
            hint="name a target: pullback compile model.py:loss -o model_grad.py",
        )
    try:
        document = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ProjectError(f"pyproject.toml is no TOML: {error}", hint="mend it") from None
    table = document.get("tool", {}).get("pullback")
    if table is None:
        raise ProjectError(
            "no target is given, and the pyproject.toml has no table [tool.pullback]",
            hint="name a target, or list modules under [[tool.pullback.module]]",
        )
    return _project(root, _Table(table, "[tool.pullback]"))


def _project(root: Path, table: _Table) -> Project:
    table.only("module", "pythonpath")
    if isinstance(table.value.get("module"), dict):
        raise table.wrong(
            "has one table `module`", "write [[tool.pullback.module]], with two brackets: it is a list"
        )
    listed = table.get("module", list, [])
    if not listed:
        raise table.wrong("lists no module", "add [[tool.pullback.module]] with output and targets")
    modules = [
        _module(root, _Table(m, f"[[tool.pullback.module]] number {i}")) for i, m in enumerate(listed, 1)
    ]
    outputs = [m.output for m in modules]
    twice = next((o for o in outputs if outputs.count(o) > 1), None)
    if twice is not None:
        raise table.wrong(f"writes {twice.name} twice", "give each module an output of its own")
    return Project(root, tuple(modules), tuple(root / p for p in table.texts("pythonpath")))


def _module(root: Path, table: _Table) -> Listed:
    table.only("output", "targets", "readable", "native", "emit", "march", "cflags")
    output = table.get("output", str)
    targets = table.get("targets", list)
    if not targets:
        raise table.wrong("has no targets", 'targets = ["model.py:loss"]')
    wanted = tuple(_target(t, f"{table.place}, target {i}") for i, t in enumerate(targets, 1))
    readable, native = table.get("readable", bool, False), table.get("native", bool, False)
    emit, march, cflags = (table.get(key, str, "") for key in ("emit", "march", "cflags"))
    if emit not in ("", "c"):
        raise table.wrong(f"has emit = {emit!r}", 'the only one is emit = "c"')
    if emit and (native or readable):
        raise table.wrong("has emit, and native or readable", 'emit = "c" is C alone: keep one of them')
    if (march or cflags) and not native:
        raise table.wrong("has march or cflags without a library", "add native = true")
    if output.endswith(".c") != bool(emit):
        raise table.wrong(f"has the output {output!r}", 'a C text ends in .c, and has emit = "c"')
    return Listed(root / output, wanted, readable, Build(march, cflags) if native else None, bool(emit))


def _target(value: Any, place: str) -> Wanted:
    if isinstance(value, str):
        return Wanted(value, place=place)
    table = _Table(
        {key.replace("_", "-"): v for key, v in value.items()} if isinstance(value, dict) else value, place
    )
    table.only("target", "sig", "example", "wrt", "forms", "has-aux", "label")
    forms = tuple(form.replace("_", "-") for form in table.texts("forms")) or ("value-and-grad",)
    for form in forms:
        if form not in FORMS:
            raise table.wrong(f"has the form {form!r}", _meant(form, FORMS, "the forms are"))
    sig, example = table.get("sig", str, None), table.get("example", str, None)
    if sig is not None and example is not None:
        raise table.wrong("has both sig and example", "keep one of them")
    return Wanted(
        table.get("target", str),
        sig,
        example,
        table.texts("wrt"),
        tuple(FORMS[form] for form in forms),
        table.get("has-aux", bool, False),
        table.get("label", str, ""),
        place,
    )


_NEEDED = object()
_KINDS = {str: "a text", list: "an array", bool: "true or false", dict: "a table"}


class _Table:
    """A table of the file, and how messages call it."""

    def __init__(self, value: Any, place: str) -> None:
        self.place = place
        if not isinstance(value, dict):
            raise self.wrong("is no table", "see `pullback compile --help`")
        self.value: Mapping[str, Any] = value

    def wrong(self, what: str, hint: str) -> ProjectError:
        """The error of this table."""
        return ProjectError(f"pyproject.toml: {self.place} {what}", hint=hint)

    def only(self, *known: str) -> None:
        """Refuse keys that are not known."""
        for key in self.value:
            if key not in known:
                raise self.wrong(f"has the unknown key {key!r}", _meant(key, known, "its keys are"))

    def get(self, key: str, kind: type, default: Any = _NEEDED) -> Any:
        """The value of a key."""
        if key not in self.value:
            if default is _NEEDED:
                raise self.wrong(f"has no {key!r}", f"add {key} = ...")
            return default
        value = self.value[key]
        if type(value) is not kind:
            raise self.wrong(f"has a wrong {key!r}", f"it is {_KINDS[kind]}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """The texts of a key; one alone may stand without brackets."""
        value = self.value.get(key, [])
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
            raise self.wrong(f"has a wrong {key!r}", f'it is an array of texts: {key} = ["..."]')
        return tuple(listed)


def _meant(word: str, known: Iterable[str], otherwise: str) -> str:
    near = difflib.get_close_matches(word, list(known), 1, 0.5)
    return f"did you mean {near[0]!r}?" if near else f"{otherwise} {', '.join(known)}"
