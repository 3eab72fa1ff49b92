"""Objects from outside that generated code refers to by name: how a standalone module gets them.

From NumPy, the standard library and other modules by import; arrays and numbers as literals.  What has no name in a
module that can be imported is refused.
"""

from __future__ import annotations

import builtins
import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import BuiltinMethodType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from pullback import runtime
from pullback.aot.baked import NotBakedError, filled, literal
from pullback.errors import Loc, UnsupportedError

_RUNTIME = {id(obj): name for name, obj in vars(runtime).items() if isinstance(obj, FunctionType)}


@dataclass(slots=True)
class Imports:
    """The imports and constants that give names to objects.

    plain    modules by the name they get
    names    by module: (name there, name here)
    lines    constants
    aliases  functions of the runtime that have another name here
    helpers  those functions
    """

    plain: dict[str, str] = field(default_factory=dict)
    names: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    aliases: list[str] = field(default_factory=list)
    places: dict[int, tuple[str, str]] = field(default_factory=dict)
    _known: dict[int, str] = field(default_factory=dict)
    helpers: set[str] = field(default_factory=set)

    def add(
        self, namespace: Mapping[str, Any], loc: Loc, places: Mapping[int, tuple[str, str]] | None = None
    ) -> None:
        """Give the objects of a namespace their names; `places` are where they were found, by identity."""
        self.places.update(places or {})
        for name, obj in namespace.items():
            self._known[id(obj)] = name
            self._add(name, obj, loc)

    def reference(self, obj: Any, loc: Loc, unique: Callable[[str], str]) -> str:
        """The expression for an object; `unique` gives a name that nothing else in the module has.

        Raises UnsupportedError where it cannot be imported.
        """
        own = str(getattr(obj, "__name__", ""))
        if own and getattr(np, own, None) is obj:
            return f"np.{own}"
        if own and getattr(builtins, own, None) is obj:
            return own
        if id(obj) not in self._known:
            found = self.home(obj)
            if found is None:
                raise refusal(obj, loc)
            self._known[id(obj)] = name = unique(found[1].rpartition(".")[2])
            self._from(name, *found)
        return self._known[id(obj)]

    def _add(self, name: str, obj: Any, loc: Loc) -> None:
        if isinstance(obj, ModuleType):
            self.plain[name] = obj.__name__
        elif id(obj) in _RUNTIME:
            self.helpers.add(_RUNTIME[id(obj)])
            self.aliases.append(f"{name} = {_RUNTIME[id(obj)]}")
        else:
            found = home(obj)
            if found is not None:
                self._from(name, *found)
            else:
                self._literal(name, obj, loc)

    def home(self, obj: Any) -> tuple[str, str] | None:
        """The module and the name by which an object can be imported: its own, or those where it was found."""
        found = home(obj)
        place = self.places.get(id(obj))
        return place if found is None and place is not None and is_importable(place[0]) else found

    @property
    def of_users(self) -> list[str]:
        """The modules that are neither Python's own nor NumPy."""
        found = {*self.plain.values(), *self.names}
        return sorted(m for m in found if m.split(".")[0] not in {*sys.stdlib_module_names, "numpy"})

    def _from(self, name: str, module: str, qualname: str) -> None:
        first, _, rest = qualname.partition(".")
        if module == "builtins" and not rest:
            self.lines.append(f"{name} = {first}")
        elif not rest:
            self.names.setdefault(module, set()).add((first, name))
        else:
            self.names.setdefault(module, set()).add((first, first))
            self.lines.append(f"{name} = {qualname}")

    def _literal(self, name: str, obj: Any, loc: Loc) -> None:
        try:
            self.lines += filled(f"{name} = {literal(obj)}")
        except NotBakedError:
            place = self.home(obj)
            if place is None:
                raise refusal(obj, loc) from None
            self._from(name, *place)
        if isinstance(obj, np.ndarray):
            self.lines.append(f"{name}.flags.writeable = False")


def home(obj: Any) -> tuple[str, str] | None:
    """The module and the name by which an object can be imported."""
    names: list[Any] = [getattr(obj, "__qualname__", None), getattr(obj, "__name__", None)]
    for name in [n for n in names if isinstance(n, str) and "<" not in n]:
        for module in _candidates(obj):
            if _reaches(module, name, obj) and is_importable(module):
                return module, name
    cls = type(obj)
    member = getattr(obj, "name", None)
    if isinstance(member, str) and hasattr(cls, "__members__"):  # of an enumeration
        found = home(cls)
        return None if found is None else (found[0], f"{found[1]}.{member}")
    return None


def _candidates(obj: Any) -> list[str]:
    """The modules in which an object may be found: the one it names, then those of the well-known libraries."""
    named = getattr(obj, "__module__", None)
    found = [named] if isinstance(named, str) else []
    owner = getattr(obj, "__self__", None)
    if owner is not None:  # `random.random` is a method of an object of that module
        found.append(type(owner).__module__)
    if isinstance(obj, np.ufunc):
        found += [m for m in ("numpy", "scipy.special") if m in sys.modules]
    return found


def _reaches(module: str, qualname: str, obj: Any) -> bool:
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    same = isinstance(obj, MethodType | BuiltinMethodType) and found == obj
    return found is obj or same


def is_importable(module: str) -> bool:
    """Whether other processes can import a module by its name."""
    if module == "__main__" or not all(part.isidentifier() for part in module.split(".")):
        return False
    if module.split(".")[0] == "pullback":
        return False
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def needs_compiler(module: str) -> bool:
    """Whether a module has imported this package, or something of it."""
    names = [getattr(v, "__module__", None) for v in vars(sys.modules[module]).values()]
    names += [v.__name__ for v in vars(sys.modules[module]).values() if isinstance(v, ModuleType)]
    return any(isinstance(n, str) and n.split(".")[0] == "pullback" for n in names)


def refusal(obj: Any, loc: Loc) -> UnsupportedError:
    """The error for an object that a module cannot get."""
    what = getattr(obj, "__qualname__", None) or f"a {type(obj).__name__}"
    module = getattr(obj, "__module__", None)
    kind = "the class" if isinstance(obj, type) else "the function" if callable(obj) else ""
    named = callable(obj) and isinstance(module, str) and "<" not in str(what)
    why = f"its module {module!r} cannot be imported" if named else "no module has it under a name"
    return UnsupportedError(
        f"a standalone module cannot have {kind} `{what}`: {why}".replace("  ", " "),
        loc=loc,
        hint="define it at the top of a module that can be imported where the gradient runs",
    )
