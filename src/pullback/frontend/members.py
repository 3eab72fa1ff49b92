"""What objects have of their classes: methods, properties, constants, through `super` too.

What is found is guarded: a class may get another method, and an instance one of its own, between two calls.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from pullback.frontend import library
from pullback.frontend.environment import Path
from pullback.frontend.instances import SLOT, field_names
from pullback.frontend.library import prelude
from pullback.frontend.machine import Core
from pullback.frontend.values import BoundMethod, CellRef, Known, ObjectCell, Super, TupleValue, Value

CONSTANT = (bool, str, bytes, type(None), type, np.dtype, range, frozenset, type(Ellipsis))


class Members(Core):
    """Looks up what a class gives to its instances."""

    def watch(self, path: Path, obj: Any) -> None:
        """Remember what a path leads to."""
        if self.environment is not None:
            self.environment.guard(path, obj)

    def watch_member(self, cls: type, name: str) -> None:
        """Remember what a class has under a name."""
        if not cls.__module__.startswith("pullback."):
            self.watch(class_path(cls).attr(name), getattr(cls, name))

    def _class_attribute(self, owner: Value, cls: type, name: str) -> Value:
        """A method, property or constant of an object's class."""
        if name == "__class__":
            return Known(cls)
        for base in cls.__mro__:
            if name in vars(base) and type(vars(base)[name]) is not SLOT:  # an empty slot
                self.watch_member(cls, name)
                return self._member(owner, cls, vars(base)[name], name)
        if isinstance(owner, CellRef):
            self.refuse(f"{cls.__name__} has no attribute `{name}`", "set it before it is read")
        return library.attribute(self, owner, name)

    def _super_attribute(self, parent: Super, name: str) -> Value:
        """`super().name`: what the classes after this one have."""
        order = parent.cls.__mro__
        for base in order[order.index(parent.after) + 1 :]:
            if name not in vars(base):
                continue
            member = vars(base)[name]
            path = class_path(parent.cls).after(parent.after)
            if base is object and name == "__init__":
                self.watch(path.attr(name), object.__init__)
                return Known(prelude.nothing)
            self.watch(path.attr(name), getattr(super(parent.after, parent.cls), name))
            if isinstance(member, property):
                return self.call_value(Known(member.fget), [parent.instance], {})
            if isinstance(member, staticmethod):
                return Known(member.__func__)
            bound = parent.instance
            if isinstance(member, classmethod):
                bound, member = Known(parent.cls), member.__func__
            if isinstance(member, FunctionType) or isinstance(transparent(member), FunctionType):
                return self.call_value(Known(prelude.partial), [Known(member), bound], {})
            return self._member(parent.instance, base, member, name)
        self.refuse(f"`super()` has no attribute `{name}`", "Python raises AttributeError here")

    def _member(self, owner: Value, cls: type, member: Any, name: str) -> Value:
        if isinstance(member, property):
            return self.call_value(Known(member.fget), [owner], {})
        if isinstance(member, staticmethod):
            return Known(member.__func__)
        if isinstance(member, classmethod | FunctionType) or isinstance(transparent(member), FunctionType):
            return BoundMethod(owner, name)
        if isinstance(member, (*CONSTANT, int, float, complex)):
            return Known(member)
        if isinstance(owner, TupleValue) and isinstance(member, BuiltinFunctionType):
            return BoundMethod(owner, name)
        self.refuse(
            f"`{cls.__name__}.{name}` is data of the class",
            "set it on the instance, or pass it as an argument",
        )

    def _member_of_known(self, owner: Known, found: Any, name: str) -> Value | None:
        """A property or method of an object found outside; None where the attribute is its own."""
        obj, path = owner.obj, owner.path
        if path is None or isinstance(obj, type):
            return None
        member = getattr(type(obj), name, None)
        if isinstance(member, property):
            self.watch(path.attr("__class__").attr(name), member)
            return self.call_value(Known(member.fget), [owner], {})
        if not _is_bound_to(found, obj) or name in getattr(obj, "__dict__", ()):
            return None
        if isinstance(found, MethodType):
            self.watch(path.attr(name).attr("__func__"), found.__func__)
            self.watch(path.attr(name).attr("__self__"), obj)
        else:
            self.watch(path.attr("__class__").attr(name), member)
        return BoundMethod(owner, name)

    def check_plain_attributes(self, cls: type, name: str) -> None:
        """Refuse attributes that the class makes something else of than values in the instance."""
        if getattr(cls, "__getattribute__", None) is not object.__getattribute__:
            self.refuse(f"`{cls.__name__}` says itself what its attributes are", "remove __getattribute__")
        member = next((vars(b)[name] for b in cls.__mro__ if name in vars(b)), None)
        if hasattr(type(member), "__set__") and not isinstance(member, property | SLOT):
            self.refuse(
                f"`{cls.__name__}.{name}` is a descriptor of the user's",
                "use a property, or a plain attribute",
            )

    def instance_class(self, value: Value) -> type | None:
        """The class of an instance of a user's class."""
        if isinstance(value, TupleValue):
            return value.cls
        if isinstance(value, Known):
            return type(value.obj) if is_instance(value.obj) else None
        cell = self.cell(value) if isinstance(value, CellRef) else None
        return cell.cls if isinstance(cell, ObjectCell) else None

    def check_constant(self, values: Iterable[Value]) -> None:
        """Refuse objects whose state may change where they would be used up at compile time."""
        for value in values:
            if isinstance(value, Known) and is_instance(value.obj):
                self.refuse(
                    f"the value of an object of class {type(value.obj).__name__} is needed at compile time",
                    "use its attributes",
                )

    def asked(self, value: Value, name: str) -> Value:
        """The method that Python takes from the class, whatever the instance has under its name."""
        found = self.special(value, name)
        return self.attribute(value, name) if found is None else found

    def special(self, value: Value, name: str) -> Value | None:
        """The method of a user's class that an operation calls; None where the class has none."""
        cls = self.instance_class(value)
        bases = () if cls is None else cls.__mro__
        if cls is None or not any(name in vars(base) for base in bases if base not in (tuple, object)):
            return None
        if not isinstance(value, Known):
            return self._class_attribute(value, cls, name)
        if name in getattr(value.obj, "__dict__", ()):
            self.refuse(f"`{name}` is set on an instance, where Python does not look for it", "remove it")
        return self.attribute(value, name)


_UNCHANGING = (type, enum.Enum, int, float, complex, str, bytes, tuple, frozenset)


class _Slotted:
    __slots__ = ("slot",)


MemberDescriptor = type(_Slotted.__dict__["slot"])


def class_path(cls: type) -> Path:
    """The path to a class."""
    return Path(cls, "object", cls.__name__)


def is_instance(obj: Any) -> bool:
    """Whether an object is an instance of a user's class, whose state may change between two calls."""
    return not isinstance(obj, _UNCHANGING) and not callable_code(obj) and field_names(obj) is not None


def callable_code(obj: Any) -> bool:
    """Whether an object is a function, or wraps one."""
    return isinstance(obj, FunctionType | functools.partial) or transparent(obj) is not None


def _is_bound_to(found: Any, obj: Any) -> bool:
    """Whether an attribute of an object is a method of it."""
    method = found if isinstance(found, MethodType) else transparent(found)
    return isinstance(method, MethodType) and method.__self__ is obj and not isinstance(obj, type)


def transparent(obj: Any) -> Any:
    """The function behind a wrapper that only caches or compiles it; None where it is no such wrapper."""
    if isinstance(obj, functools._lru_cache_wrapper):
        return obj.__wrapped__
    inner = getattr(obj, "py_func", None)
    if isinstance(inner, FunctionType):
        return inner
    module = getattr(type(obj), "__module__", "")
    if (
        isinstance(module, str) and module.split(".")[0] == "pullback"
    ):  # a compiled class may have no text there
        return getattr(obj, "__wrapped__", None)
    return None
