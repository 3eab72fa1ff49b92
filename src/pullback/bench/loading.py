"""Importing the files of a suite, as they are or with NumPy replaced by another library's."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

PREFIX = "pullback_suite"


def load(folder: Path, module: str, numpy: str = "numpy") -> ModuleType:
    """The module `module` (dotted, relative to the suite's folder).

    numpy  what stands for NumPy in all files of the suite that this import reaches
    """
    package = "_".join([PREFIX, folder.name, *([] if numpy == "numpy" else numpy.split("."))])
    known = [f for f in sys.meta_path if isinstance(f, _SuiteFinder) and f.package == package]
    if not known or known[0].folder != folder:
        _forget(package)
        sys.meta_path.insert(0, _SuiteFinder(package, folder, numpy))
    return importlib.import_module(f"{package}.{module}")


def _forget(package: str) -> None:
    """Another folder of the same name was loaded before."""
    sys.meta_path[:] = [
        f for f in sys.meta_path if not (isinstance(f, _SuiteFinder) and f.package == package)
    ]
    for name in [n for n in sys.modules if n == package or n.startswith(package + ".")]:
        del sys.modules[name]


class _SuiteFinder(MetaPathFinder):
    """Finds the modules of one suite: its folder is a package, whatever stands around it."""

    def __init__(self, package: str, folder: Path, numpy: str) -> None:
        self.package = package
        self.folder = folder
        self.numpy = numpy

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of the suite's package, of a folder in it, or of a file in it."""
        head, *rest = fullname.split(".")
        if head != self.package:
            return None
        place = self.folder.joinpath(*rest)
        if place.is_dir():
            spec = ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = [str(place)]
            return spec
        file = place.with_suffix(".py")
        if not file.is_file():
            return None
        loader = (
            SourceFileLoader(fullname, str(file))
            if self.numpy == "numpy"
            else _Replacing(fullname, str(file), self.numpy)
        )
        return importlib.util.spec_from_file_location(fullname, file, loader=loader)


class _Replacing(SourceFileLoader):
    """Loads a file with `import numpy` meaning another module."""

    def __init__(self, fullname: str, path: str, numpy: str) -> None:
        super().__init__(fullname, path)
        self.numpy = numpy

    def get_code(self, fullname: str) -> Any:
        """Compiled anew: Python's cache of compiled files is the natural form's."""
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path), path)
        return compile(ast.fix_missing_locations(_Imports(self.numpy).visit(tree)), path, "exec")


class _Imports(ast.NodeTransformer):
    def __init__(self, numpy: str) -> None:
        self.numpy = numpy

    def visit_Import(self, node: ast.Import) -> ast.Import:
        """`import numpy as np`, `import numpy`."""
        names = [
            ast.alias(self._renamed(a.name), a.asname or (a.name if "." not in a.name else None))
            if self._is_numpy(a.name)
            else a
            for a in node.names
        ]
        return ast.copy_location(ast.Import(names), node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom:
        """`from numpy import sin`, `from numpy.linalg import inv`."""
        if node.level or node.module is None or not self._is_numpy(node.module):
            return node
        return ast.copy_location(ast.ImportFrom(self._renamed(node.module), node.names, 0), node)

    def _is_numpy(self, name: str) -> bool:
        return name.split(".")[0] == "numpy" and name != "numpy.typing"

    def _renamed(self, name: str) -> str:
        return self.numpy + name[len("numpy") :]
