"""What instances of the user's classes are made of, and which tuples of the user's are more than tuples."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from keyword import iskeyword
from types import FunctionType
from typing import Any

# What unpacking, measuring, testing and reading ask of a class: the compiler knows what tuples answer.
_ANSWERS = (
    "__getattribute__",
    "__getattr__",
    "__len__",
    "__iter__",
    "__getitem__",
    "__bool__",
    "__reversed__",
)


def field_names(value: Any) -> tuple[str, ...] | None:
    """The attributes that make an object up; None where it is not an object of an ordinary class.

    The fields of a dataclass come first, then slots, then what else was set on the instance.
    """
    cls = type(value)
    fields = tuple(f.name for f in dataclasses.fields(value)) if dataclasses.is_dataclass(value) else None
    if fields is None and of_a_library(cls):
        return None  # of a generator, a logger, a lock nothing but its identity is of interest
    own_slots = list(slots(cls))
    own = getattr(value, "__dict__", None)
    if fields is None and not own_slots and own is None:
        return None
    declared = [name for name in (*(fields or ()), *own_slots) if hasattr(value, name)]
    written = [name for name in own or () if name.isidentifier() and not iskeyword(name)]
    return tuple(dict.fromkeys([*declared, *written]))


def of_a_library(cls: type) -> bool:
    """Whether a class is Python's, NumPy's or our own."""
    library = str(getattr(cls, "__module__", "")).split(".")[0]
    return library in ("numpy", "pullback") or library in sys.stdlib_module_names


def slots(cls: type) -> Iterator[str]:
    """The names of a class's slots, those of its bases first (a private name as the class has it)."""
    for base in reversed(cls.__mro__):
        if "__slots__" in vars(base):
            yield from (name for name, member in vars(base).items() if type(member) is SLOT)


class _Slotted:
    __slots__ = ("slot",)


SLOT = type(_Slotted.__dict__["slot"])


def more_than_a_tuple(cls: type, value: Any = None) -> str | None:
    """What a class made from tuple, or an instance of it, has that its items do not tell; None where nothing."""
    if getattr(value, "__dict__", None):
        return f"has attributes of its own beside its items: {', '.join(vars(value))}"
    named = getattr(cls, "_fields", None)
    for base in cls.__mro__[: cls.__mro__.index(tuple)]:
        if "_fields" in vars(base):
            return None  # what comes after is as `namedtuple` made it
        for name, member in vars(base).items():
            if name in _ANSWERS or name in (named or ()):
                return f"defines `{name}`"
            code = isinstance(member, FunctionType | property | staticmethod | classmethod)
            if named is None and code and name not in ("__new__", "__repr__", "__str__"):
                return f"defines `{name}`"
    return None
