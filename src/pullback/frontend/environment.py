"""What lies outside a function: how it is found, what is guarded, what becomes an implicit parameter.

Names resolve at compile time to functions, modules and classes, which are guarded; data (numbers, arrays and containers
of them) are fetched at entry of each call, as parameters that the user did not write.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from pullback.frontend.instances import of_a_library
from pullback.frontend.signature import Spec, spec_of
from pullback.rules.lookup import Decision


class NeedStatic(Exception):
    """An integer parameter is needed at compile time: lower again with its value."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the value of `{name}` is needed at compile time")
        self.name = name


@dataclass(frozen=True, slots=True)
class Path:
    """How an outside object is found: a name of a function's surroundings, then attributes and items.

    kind is "global", "cell", "default" or "builtin" (of the function `fn`), or "object": `fn` itself, a class, or a
    callable that was passed as an argument, from which the steps go on (`partial.args[0]`).

    Steps: "attr", "item"; "has": whether there is an attribute; "super": what a class has after one of its bases;
    "frozen": the items of a set.
    """

    fn: Any
    kind: str
    name: str
    steps: tuple[tuple[str, Any], ...] = ()

    def attr(self, name: str) -> Path:
        """The attribute of what is found here."""
        return Path(self.fn, self.kind, self.name, (*self.steps, ("attr", name)))

    def item(self, key: Any) -> Path:
        """The item of what is found here."""
        return Path(self.fn, self.kind, self.name, (*self.steps, ("item", key)))

    def has(self, name: str) -> Path:
        """Whether what is found here has an attribute."""
        return Path(self.fn, self.kind, self.name, (*self.steps, ("has", name)))

    def after(self, base: type) -> Path:
        """What the class found here has from the bases after one of its bases."""
        return Path(self.fn, self.kind, self.name, (*self.steps, ("super", base)))

    def frozen(self) -> Path:
        """The items of the set found here."""
        return Path(self.fn, self.kind, self.name, (*self.steps, ("frozen", None)))

    def of(self, fn: Any) -> Path:
        """The same path from another function."""
        return Path(fn, self.kind, self.name, self.steps)

    def fetch(self) -> Any:
        """The object as it is now.  NameError, AttributeError or KeyError where it is not."""
        obj = self._root()
        for kind, key in self.steps:
            obj = _STEPS[kind](obj, key)
        return obj

    def _root(self) -> Any:
        if self.kind == "global":
            try:
                return self.fn.__globals__[self.name]
            except KeyError:
                raise NameError(f"name {self.name!r} is not defined") from None
        if self.kind == "cell":
            return self._cell()
        if self.kind == "default":
            return self._default()
        if self.kind == "object":
            return self.fn
        shadow = self.fn.__globals__.get(self.name, _NOT_THERE)
        return getattr(builtins, self.name) if shadow is _NOT_THERE else shadow

    def _cell(self) -> Any:
        index = self.fn.__code__.co_freevars.index(self.name)
        assert self.fn.__closure__ is not None
        try:
            return self.fn.__closure__[index].cell_contents
        except ValueError:
            raise NameError(f"free variable {self.name!r} is not bound") from None

    def _default(self) -> Any:
        if self.fn.__kwdefaults__ and self.name in self.fn.__kwdefaults__:
            return self.fn.__kwdefaults__[self.name]
        code = self.fn.__code__
        positional = code.co_varnames[: code.co_argcount]
        defaults = self.fn.__defaults__ or ()
        return defaults[positional.index(self.name) - len(positional)]

    def __str__(self) -> str:
        text = self.name
        for kind, key in self.steps:
            text += f"[{key!r}]" if kind == "item" else f".{key}" if kind == "attr" else ""
        return text


def path_to(obj: Any) -> Path | None:
    """The path to a class, function or module that was not found by one; None for those without the user's data."""
    if isinstance(obj, type):
        return None if of_a_library(obj) else Path(obj, "object", obj.__name__)
    if isinstance(obj, FunctionType | ModuleType):
        return Path(obj, "object", obj.__name__.rpartition(".")[2])
    return None


_NOT_THERE = object()
_STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "attr": getattr,
    "item": operator.getitem,
    "has": hasattr,
    "super": lambda cls, base: super(base, cls),
    "frozen": lambda items, _: frozenset(items),
}


@dataclass(frozen=True, slots=True)
class Guard:
    """What was found at compile time; `holds` says whether it is still so."""

    path: Path
    expected: Any
    code: Any = None
    defaults: Any = None
    kwdefaults: Any = None

    def holds(self, path: Path | None = None) -> bool:
        """Whether the same object is found (at `path`, if given), with the same code and defaults."""
        try:
            obj = (path or self.path).fetch()
        except (NameError, AttributeError, LookupError):
            return False
        if obj is not self.expected:
            return _same_value(obj, self.expected)
        if self.code is None:
            return True
        return (
            obj.__code__ is self.code
            and obj.__defaults__ is self.defaults
            and obj.__kwdefaults__ is self.kwdefaults
        )


_COMPARED = (
    str,
    bytes,
    bool,
    int,
    float,
    complex,
    tuple,
    frozenset,
    MethodType,
    BuiltinFunctionType,
    np.generic,
)


def _same_value(a: Any, b: Any) -> bool:
    """Equal plain constants are the same, and methods of one object; other objects only if identical."""
    if type(a) is not type(b) or not isinstance(a, _COMPARED):
        return False
    if isinstance(a, frozenset):
        return sorted(map(repr, a)) == sorted(map(repr, b))
    if isinstance(a, tuple):
        return len(a) == len(b) and all(x is y or _same_value(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b) and repr(a) == repr(b)  # 0.0 and -0.0 differ


@dataclass(slots=True)
class Environment:
    """The surroundings of one lowering."""

    static_params: frozenset[str] = frozenset()
    reserved: frozenset[str] = frozenset()  # names that implicit parameters must avoid
    guards: dict[tuple[Any, ...], Guard] = field(default_factory=dict)
    implicits: dict[Path, tuple[str, Spec]] = field(default_factory=dict)
    descents: dict[Any, Decision] = field(default_factory=dict)  # calls served by the callee's own source
    versions: dict[str, None] = field(
        default_factory=dict
    )  # what chose code and is other in other versions of NumPy

    def guard(self, path: Path, obj: Any) -> None:
        """Remember what a path led to at compile time."""
        key = (id(path.fn), path.kind, path.name, path.steps)
        if key in self.guards:
            return
        if isinstance(obj, FunctionType):
            self.guards[key] = Guard(path, obj, obj.__code__, obj.__defaults__, obj.__kwdefaults__)
        else:
            self.guards[key] = Guard(path, obj)

    def watch(self, fn: FunctionType) -> None:
        """Remember the code of a function that is called, however it was found."""
        if not any(g.expected is fn for g in self.guards.values()):
            self.guard(Path(fn, "object", fn.__name__), fn)

    def implicit(self, path: Path) -> tuple[str, Spec]:
        """Make the datum at a path an implicit parameter; its name and spec."""
        if path not in self.implicits:
            value = path.fetch()
            name = self._name(path)
            self.implicits[path] = (name, spec_of(value, name, self.static_params))
        return self.implicits[path]

    def keep(self, names: Container[str]) -> None:
        """Forget the implicit parameters that are not among these."""
        self.implicits = {path: known for path, known in self.implicits.items() if known[0] in names}

    def _name(self, path: Path) -> str:
        base = path.name if not path.steps else "_".join([path.name, *(str(k) for _, k in path.steps)])
        base = base if base.isidentifier() else "outside"
        taken = {name for name, _ in self.implicits.values()} | self.reserved
        name, n = base, 2
        while name in taken:
            name, n = f"{base}_{n}", n + 1
        return name
