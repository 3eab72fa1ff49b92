"""A standalone module: its text, made from entries, and what can be done with it."""

from __future__ import annotations

import ast
import inspect
import linecache
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from pullback.aot import support
from pullback.aot.baked import Baked
from pullback.aot.c_api import CFiles, c_files
from pullback.aot.entries import Entry
from pullback.aot.header import header, made
from pullback.aot.helpers import HELPERS, with_needed
from pullback.aot.hints import Hints
from pullback.aot.imports import Imports
from pullback.aot.library import LOADER_IMPORTS, LOADER_NAMES, STATUS, STATUS_TEXT, library_text
from pullback.aot.lint import exempted
from pullback.aot.natives import LibraryCall, Natives, natives_of, operation
from pullback.aot.outputs import Output, write_all
from pullback.aot.shared import Build, build_library, file_name
from pullback.aot.shown import html_of, places_in
from pullback.aot.units import GRADIENTS, Private, Unit, compile_entry
from pullback.aot.wrappers import Served, Wrappers
from pullback.backend.native import cache
from pullback.backend.numpy.module import Part, emit_parts
from pullback.backend.numpy.wrap import wrapped
from pullback.dispatch.collector import paused
from pullback.errors import ArgumentError, Loc, NativeError
from pullback.ir.walk import variables

_USED = (
    "np",
    "math",
    "Any",
    "NDArray",
    "Callable",
    "SimpleNamespace",
    "annotations",
    "tuple",
    "list",
    "dict",
    "int",
    "float",
    "complex",
    "bool",
)
_UNTYPED = (
    "# mypy: allow-untyped-defs, allow-untyped-calls",
    "# mypy: no-check-untyped-defs, no-warn-return-any",
)


@dataclass(frozen=True)
class Module:
    """A standalone module.

    source  its text
    names   its public functions
    label   what it is called where it is loaded
    """

    source: str
    names: tuple[str, ...]
    label: str = "gradients"
    fns: tuple[FunctionType, ...] = field(
        default=(), repr=False, compare=False
    )  # what it was made from, to be shown
    places: Mapping[int, Loc] = field(default_factory=dict, repr=False, compare=False)  # by line of the text
    c: CFiles | None = field(default=None, repr=False, compare=False)
    build: Build = field(default_factory=Build, repr=False, compare=False)

    def __reduce__(self) -> Any:
        """The text is enough."""
        return Module, (self.source, self.names, self.label)

    def _repr_html_(self) -> str:
        """For notebooks: the functions beside the module."""
        return html_of(self.fns, self.source, self.places)

    def outputs(self, path: str | os.PathLike[str]) -> list[Output]:
        """The files of the module, when it is written to a path: its text, the C files, the library."""
        target = Path(path)
        found = [Output(target, self.source)]
        if self.c is not None:
            stem, how, digest = target.stem, self.build, self.c.digest
            texts = self.c.texts(stem)
            found += [Output(target.with_name(name), text) for name, text in texts.items()]
            marks = (digest.encode(), how.mark.encode())
            if self.c.natives.entries:
                library = target.with_name(file_name(stem))
                found.append(Output(library, lambda: build_library(texts, stem, how), marks, 0o755))
        return found

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the module to a file, whole or not at all; with C, to the files beside it too.

        Raises ArgumentError where that cannot be, NativeError where a library is asked for and cannot be compiled.
        """
        write_all(self.outputs(path))

    def is_current(self, path: str | os.PathLike[str]) -> bool:
        """Whether a file holds this module, whatever its line ends are, and the files beside it are current too."""
        return all(output.status() == "current" for output in self.outputs(path))

    def load(self) -> ModuleType:
        """The module as an object, without a file."""
        file = f"<pullback {self.label}>"
        linecache.cache[file] = (len(self.source), None, self.source.splitlines(keepends=True), file)
        made = ModuleType(self.label)
        exec(compile(self.source, file, "exec"), made.__dict__)
        if self.c is not None and self.c.natives.entries:
            self._load_library(made, self.c)
        return made

    def _load_library(self, made: ModuleType, c: CFiles) -> None:
        """Have the library serve, where it can be compiled: it is loaded from a folder that does not stay."""
        with suppress(NativeError), cache.workshop() as folder:
            data = build_library(c.texts(self.label), self.label, self.build)
            (folder / file_name(self.label)).write_bytes(data)
            made.__dict__["_LIBRARY"].file = str(folder / f"{self.label}.py")
            made.__dict__["_LIBRARY"].status()

    def __repr__(self) -> str:
        return f"<standalone module of {', '.join(self.names)}>"


def make(
    entries: Sequence[Entry],
    command: str,
    check: str = "",
    readable: bool = False,
    native: Build | None = None,
) -> Module:
    """The module of some entries.

    command   how it was made, for its header
    check     how to tell whether it is fresh
    readable  plain expressions only: no work on large arrays in blocks
    native    gradients as C too, and how the library is compiled

    Raises what compiling raises, and UnsupportedError for data and objects that a module cannot hold.
    """
    if not entries:
        raise ArgumentError("a module needs a function", hint="give at least one")
    with paused():
        return _Maker([compile_entry(e) for e in entries], command, check, not readable, native).module()


@dataclass(slots=True)
class _Maker:
    units: list[Unit]
    command: str
    check: str
    blocks: bool
    native: Build | None = None
    natives: Natives | None = None
    taken: set[str] = field(default_factory=set)
    helpers: set[str] = field(default_factory=set)
    imports: Imports = field(default_factory=Imports)

    def module(self) -> Module:
        """Private functions first, which say what is imported; then the public ones."""
        names = self._public_names()
        params = {p for u in self.units for p, _ in u.specs}
        self._check_names(params)
        if self.native is not None:
            self.natives = natives_of(self.units, alone=False)
            names = (*names, STATUS)
            self.taken.update((*LOADER_NAMES, *LOADER_IMPORTS))
            self.imports.plain.update({name: name for name in LOADER_IMPORTS})
        self.taken |= {*names, *HELPERS, *_USED, *params}
        private, baked = Private(self.unique), Baked(self.unique)
        served = [self._serve(u, private, baked) for u in self.units]
        operations = self._operations(private)
        generated = emit_parts(private.parts, taken=self.taken, blocks=self.blocks)
        self.taken |= set(generated.namespace)
        read = {node.id for node in ast.walk(ast.parse(generated.source)) if isinstance(node, ast.Name)}
        namespace = {name: obj for name, obj in generated.namespace.items() if name in read}
        found = {key: place for u in self.units for key, place in u.places().items()}
        self.imports.add(namespace, self.units[0].compiled.lowered.function.loc, found)
        self.helpers |= {*generated.runtime, *self.imports.helpers}
        public = [text for u, s in zip(self.units, served, strict=True) for text in self._public(u, s)]
        c = None
        if self.natives is not None:
            public.append(STATUS_TEXT)
            c = c_files(
                self.units, self.natives, made(self.units, self.command, self.check, "These files were")
            )
        loader = library_text(c, operations) if c is not None else []
        text = self._text(names, baked, public, generated.texts, loader)
        label = "_".join(u.label for u in self.units) + "_gradients"
        places = places_in(text, generated.source, generated.texts, generated.places)
        fns = tuple(u.fn for u in self.units)
        return Module(text, names, label, fns, places, c, self.native or Build())

    def unique(self, name: str) -> str:
        """A name that nothing else in the module has."""
        made, n = name, 1
        while made in self.taken:
            n += 1
            made = f"{name}_{n}"
        self.taken.add(made)
        return made

    def _public_names(self) -> tuple[str, ...]:
        names: list[str] = []
        for unit in self.units:
            for name in unit.entry.public_names(unit.compiled.name):
                if name in names:
                    raise ArgumentError(
                        f"two functions of the module would be called `{name}`",
                        hint="give one of them another label",
                    )
                names.append(name)
        return tuple(names)

    def _check_names(self, params: Iterable[str]) -> None:
        wrong = sorted({*_USED, *vars(support)} & set(params))
        if wrong:
            raise ArgumentError(
                f"a parameter is called `{wrong[0]}`, which means another thing in a standalone module",
                hint="give the parameter another name",
            )

    def _serve(self, unit: Unit, private: Private, baked: Baked) -> Served:
        """What serves a unit."""
        forms = set(unit.entry.forms)
        joint = joint_guarded = primal = pullback = guarded = ""
        if unit.joint and forms.intersection(GRADIENTS):
            (joint,) = private.add(unit, "joint")
            joint_guarded = private.add_guarded(unit, "joint") or ""
        if not unit.joint or forms.intersection(("pair", "vjp")):
            primal, pullback = private.add(unit, "pair")
            guarded = private.add_guarded(unit, "pair") or ""
        outside = []
        implicits = unit.compiled.lowered.environment.implicits
        trees = {p.name: p.tree for p in unit.params}
        for path, (name, spec) in implicits.items():
            read = any(True for _ in variables(trees[name]))
            outside.append(baked.constant(unit, name, path, spec) if read else "None")
        return Served(joint, joint_guarded, primal, pullback, guarded, tuple(outside))

    def _operations(self, private: Private) -> list[str]:
        """The functions by which NumPy does for the library what C does not."""
        names = []
        for k, call in enumerate(self.natives.calls if self.natives else ()):
            name = self.unique(f"_numpy_{k}")
            private.parts.append(Part(operation(call, name), name))
            names.append(name)
        return names

    # ------------------------------------------------------------------------------------------ public functions

    def _public(self, unit: Unit, served: Served) -> list[str]:
        loc = unit.compiled.lowered.function.loc

        def reference(obj: Any) -> str:
            return self.imports.reference(obj, loc, self.unique)

        parameters = dict(inspect.signature(unit.fn, follow_wrapped=False).parameters)
        entry = self.natives.entries.get(unit.label) if self.natives else None
        given = [*(name for name, _ in unit.specs), *served.outside]
        library = LibraryCall(unit, entry, given) if entry is not None else None
        writer = Wrappers(unit, served, self._use, reference, Hints(reference), parameters, library)
        made = []
        for form in ("value_and_grad", "grad", "pair", "vjp"):
            if form in unit.entry.forms:
                methods = (writer.primal, writer.pullback) if form == "pair" else (getattr(writer, form),)
                made += [method() for method in methods]
        return made

    def _use(self, helper: str) -> str:
        self.helpers.add(helper)
        return helper

    # ------------------------------------------------------------------------------------------------- the text

    def _text(
        self,
        names: Sequence[str],
        baked: Baked,
        public: Sequence[str],
        private: Sequence[str],
        loader: Sequence[str],
    ) -> str:
        helpers = [HELPERS[h] for h in with_needed(self.helpers)]
        constants = [*self.imports.lines, *baked.lines]
        quoted = [f'"{name}"' for name in sorted(names)]
        exported = "\n".join(wrapped(f"__all__ = [{', '.join(quoted)}]"))
        top = "\n".join([exported, *([""] if constants else []), *constants])
        aliases = ["\n".join(self.imports.aliases)] if self.imports.aliases else []
        body = "\n\n\n".join([top, *public, *private, *helpers, *aliases, *loader]) + "\n"
        tree = ast.parse(body)
        codes = exempted(tree)
        comments = [f"# ruff: noqa: {', '.join(codes)}"] if codes else []
        if self.imports.of_users:
            comments.append("# isort: skip_file")  # where these modules belong, only their user can say
        head = [
            header(self.units, baked, self.imports, self.command, self.check, self.natives),
            "",
            *comments,
            *_UNTYPED,
            "",
        ]
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        return "\n".join([*head, *self._imports(used), "", body])

    def _imports(self, used: set[str]) -> list[str]:
        """The imports, as isort has them."""
        plain = {n: m for n, m in {"math": "math", "np": "numpy", **self.imports.plain}.items() if n in used}
        found = {m: set(pairs) for m, pairs in self.imports.names.items()}
        for name, module in _OWN.items():
            if name in used:
                found.setdefault(module, set()).add((name, name))
        out = ["from __future__ import annotations"]
        for own in (True, False):
            lines = [
                f"import {m}" if m == n else f"import {m} as {n}"
                for n, m in sorted(plain.items(), key=lambda item: (item[1], item[0]))
                if (m.split(".")[0] in sys.stdlib_module_names) is own
            ]
            for module in sorted(found):
                if (module.split(".")[0] in sys.stdlib_module_names) is own:
                    lines += _from(module, found[module])
            out += ["", *lines] if lines else []
        return out


_OWN = {
    "Any": "typing",
    "Callable": "collections.abc",
    "NDArray": "numpy.typing",
    "SimpleNamespace": "types",
}


def _from(module: str, pairs: set[tuple[str, str]]) -> list[str]:
    """The import of names from a module; those that get another name on lines of their own."""
    same = sorted(a for a, b in pairs if a == b)
    lines = list(wrapped(f"from {module} import {', '.join(same)}")) if same else []
    return lines + [f"from {module} import {a} as {b}" for a, b in sorted(pairs) if a != b]
