"""Targets: functions named by a text, as on the command line.

package.module:function    package.module:Class.method    file.py:function    folder/file.py:Class.method
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from pullback.api.callables import target_of
from pullback.errors import PullbackError, TargetError

_FORM = "write package.module:function, file.py:function or file.py:Class.method"


@dataclass(frozen=True, slots=True)
class Target:
    """A function named by a text.

    fn         the plain function
    qualname   its name in the module, as the text gives it
    file       the file of its module
    text       the text
    namespace  its module
    """

    fn: FunctionType
    qualname: str
    file: str
    text: str
    namespace: ModuleType


def resolve(text: str, folder: Path | None = None) -> Target:
    """The function that a text names; paths and modules are looked for from a folder, by default the current one.

    Raises TargetError: no such module, a module that fails to import (its own error is quoted), no such name.
    """
    obj, module, qualname = resolve_object(text, folder)
    return Target(
        _function(obj, text, qualname), qualname, str(getattr(module, "__file__", "")), text, module
    )


def resolve_object(text: str, folder: Path | None = None) -> tuple[Any, ModuleType, str]:
    """What a text names, its module, and its name in it.  Raises TargetError."""
    place, colon, qualname = text.rpartition(":")
    if not colon or not place or not qualname or "\\" in qualname:  # a drive letter has a colon too
        raise TargetError(f"{text!r} names no function", hint=_FORM)
    module = load_module(place, folder)
    found: Any = module
    for name in qualname.split("."):
        if not hasattr(found, name):
            raise _unknown(found, name, place, module)
        found = getattr(found, name)
    return found, module, qualname


def _unknown(holder: Any, name: str, place: str, module: ModuleType) -> TargetError:
    names = [n for n, v in vars(holder).items() if callable(v) and not n.startswith("__")]
    near = difflib.get_close_matches(name, names, 3, 0.6)
    own = [n for n in names if getattr(vars(holder)[n], "__module__", "") == module.__name__]
    hint = f"did you mean {' or '.join(f'`{n}`' for n in near)}?" if near else _list(own)
    where = f"`{place}`" if holder is module else f"the class `{holder.__name__}` of `{place}`"
    return TargetError(f"{where} has no `{name}`", hint=hint)


def _list(names: list[str]) -> str:
    shown = ", ".join(f"`{n}`" for n in sorted(names)[:8])
    return f"it has {shown}" if shown else "it defines no function"


def _function(obj: Any, text: str, qualname: str) -> FunctionType:
    """The plain function behind what was found."""
    if isinstance(obj, type):
        raise TargetError(f"`{qualname}` is a class", hint=f"name one of its methods: {text}.method")
    try:
        found = target_of(obj)
    except (PullbackError, TypeError) as error:
        reason = str(error).split("\n")[0]
        raise TargetError(f"`{text}`: {reason}", hint="name a function that is written in Python") from None
    if found.args or found.kwargs:
        raise TargetError(
            f"`{qualname}` is bound to arguments already ({type(obj).__name__})",
            hint="name a plain function: def f(x): return ... calls it with them",
        )
    fn: FunctionType = found.fn
    return fn


# ---------------------------------------------------------------------------------------------------- modules


def load_module(place: str, folder: Path | None = None) -> ModuleType:
    """The module of a dotted name or of a file.  Raises TargetError where there is none, or where it fails to import.

    A file's folder (for a module of a package: the folder of the package) is searched for its siblings while it is
    imported; for a dotted name the folder from which it is looked for is, by default the current one.
    """
    if is_file(place):
        return _load_file(Path(place) if folder is None else folder / place)
    if not all(part.isidentifier() for part in place.split(".")):
        raise TargetError(f"{place!r} is neither a module nor a file", hint=_FORM)
    with searching(folder or Path.cwd()):
        return _import(place, place)


def is_file(place: str) -> bool:
    """Whether the place of a target is a file's path, not a module's name."""
    return place.endswith(".py") or "/" in place or "\\" in place


def _load_file(path: Path) -> ModuleType:
    if path.is_dir():
        raise TargetError(f"`{path}` is a folder", hint="name a file in it, as in folder/model.py:function")
    if not path.is_file():
        near = sorted(p.name for p in path.parent.glob("*.py")) if path.parent.is_dir() else []
        close = difflib.get_close_matches(path.name, near, 1, 0.7)
        hint = (
            f"did you mean `{path.parent / close[0]}`?"
            if close
            else "paths are relative to the current folder"
        )
        raise TargetError(f"there is no file `{path}`", hint=hint)
    path = path.resolve()
    root, name = _package(path)
    with searching(root):
        found = sys.modules.get(name)
        if found is not None and _is_of(found, path):
            return _current(found, path)
        if found is None and "." in name:
            module = _import(name, str(path.name))
            if _is_of(module, path):
                return _remember(module, path)
        return _execute(path, name if name not in sys.modules and _is_free(name) else f"{name}@{path}")


def _package(path: Path) -> tuple[Path, str]:
    """The folder that is searched for a file's module, and the module's name in it."""
    parts = [path.stem] if path.stem != "__init__" else []
    folder = path.parent
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        parts.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(parts) or path.stem


def _is_of(module: ModuleType, path: Path) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).resolve() == path


def _is_free(name: str) -> bool:
    """Whether a module of this name is none of Python's own, which others will import."""
    return name not in sys.stdlib_module_names


_stamps: dict[str, tuple[int, int]] = {}  # what the files were when they were imported


def _stamp(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_mtime_ns, stat.st_size


def _remember(module: ModuleType, path: Path) -> ModuleType:
    _stamps.setdefault(module.__name__, _stamp(path))
    return module


def _current(module: ModuleType, path: Path) -> ModuleType:
    """A module that is imported already; anew if its file has changed since."""
    if _stamps.get(module.__name__, _stamp(path)) == _stamp(path):
        return _remember(module, path)
    del sys.modules[module.__name__]
    return _execute(path, module.__name__)


def _execute(path: Path, name: str) -> ModuleType:
    """Run a file as the module of a name."""
    known = sys.modules.get(name)
    if known is not None:
        return _current(known, path)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise TargetError(f"`{path.name}` is no file of Python", hint="name a file whose name ends in .py")
    module = importlib.util.module_from_spec(spec)
    _stamps[name] = _stamp(path)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        raise _failed(path.name, error) from error
    return module


def _import(name: str, shown: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise TargetError(
                f"there is no module `{error.name}`",
                hint="run from the folder that holds it, install it, or name a file: folder/model.py:function",
            ) from None
        raise _failed(shown, error) from error
    except BaseException as error:
        raise _failed(shown, error) from error


def _failed(shown: str, error: BaseException) -> BaseException:
    """The error of a module that fails to import."""
    if isinstance(error, KeyboardInterrupt | TargetError):
        return error
    text = " ".join(str(error).split())
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "importlib" not in f.filename]
    own = [f for f in frames if not f.filename.startswith("<") and Path(f.filename) != Path(__file__)]
    at = (
        f" ({Path(own[-1].filename).name}:{own[-1].lineno})"
        if own and not isinstance(error, SyntaxError)
        else ""
    )
    hint = "install what it imports" if isinstance(error, ModuleNotFoundError) else "mend it, and run again"
    quoted = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return TargetError(f"`{shown}` fails to import: {quoted}{at}", hint=hint)


@contextmanager
def searching(folder: Path) -> Iterator[None]:
    """A folder is searched for modules inside."""
    entry = str(folder)
    added = entry not in sys.path
    if added:
        sys.path.insert(0, entry)
        importlib.invalidate_caches()
    try:
        yield
    finally:
        if added and entry in sys.path:
            sys.path.remove(entry)
