"""Stand-ins for modules that are to be written, so that what imports them can be imported before they are there.

A package whose `__init__.py` imports its generated module could else never make it: where the file is missing or
broken, the import that finds the function to compile would fail.
"""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from pullback.cli.project import project_at
from pullback.errors import PullbackError


class Placeholder:
    """What stands for a function that is not written yet."""

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raises: there is no such function yet."""
        raise RuntimeError(f"`{self.module}.{self.name}` is not made yet: it cannot be called on import")

    def __repr__(self) -> str:
        return f"<{self.module}.{self.name}, not made yet>"


class _Loader(SourceFileLoader):
    """Loads a module as it is, if it can be; names that it has not are placeholders."""

    def exec_module(self, module: ModuleType) -> None:
        before = set(vars(module))
        try:
            super().exec_module(module)
        except Exception:  # missing, or broken in whatever way: it is made anew
            for name in set(vars(module)) - before:
                delattr(module, name)

        def placeholder(name: str) -> Placeholder:
            if name.startswith("__"):
                raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
            return Placeholder(module.__name__, name)

        vars(module)["__getattr__"] = placeholder


class _Finder(MetaPathFinder):
    """Finds the modules of some files, whether the files are there or not."""

    def __init__(self, files: Iterable[Path]) -> None:
        self.files = {file.resolve() for file in files}
        self.found: list[str] = []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module of a name, if its file is one of ours."""
        leaf = f"{fullname.rpartition('.')[2]}.py"
        if not any(file.name == leaf for file in self.files):
            return None
        for entry in sys.path if path is None else path:
            file = Path(entry, leaf).resolve()
            if file in self.files:
                self.found.append(fullname)
                loader = _Loader(fullname, str(file))
                return importlib.util.spec_from_file_location(fullname, file, loader=loader)
            if file.is_file():  # another module of this name comes first
                return None
        return None


@contextmanager
def standing_in(files: Iterable[Path]) -> Iterator[None]:
    """While inside, modules of these files can be imported though they are missing or broken; forgotten afterwards."""
    finder = _Finder(files)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in finder.found:
            _forget(name)


def _forget(name: str) -> None:
    sys.modules.pop(name, None)
    package, _, leaf = name.rpartition(".")
    if package in sys.modules:
        vars(sys.modules[package]).pop(leaf, None)


def outputs_near(folder: Path) -> list[Path]:
    """The files that the table of the project of a folder lists; none where there is no table, or a wrong one."""
    with contextlib.suppress(PullbackError):
        return [module.output for module in project_at(folder).modules]
    return []
