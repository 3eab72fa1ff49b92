"""The helpers of standalone modules beside `pullback.runtime`: what checks their arguments and cotangents.

A standalone module carries a copy of the source of those that it needs.  So each is a function of its own that
depends on NumPy, `math` and other helpers alone, with no line longer than 88 columns.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pullback.runtime import build


def _describe(x: Any) -> str:
    """What an argument is, for messages."""
    if isinstance(x, np.ndarray):
        shape = ", ".join(map(str, x.shape))
        kind = "" if type(x) is np.ndarray else f" ({type(x).__name__})"
        return f"{x.dtype}[{shape}]{kind}"
    if isinstance(x, tuple | list):
        return f"{type(x).__name__} of {len(x)}"
    if isinstance(x, dict):
        return f"{type(x).__name__} with keys {list(x)}"
    return "None" if x is None else type(x).__name__


def _mismatch(function: str, name: str, expected: str, got: Any) -> TypeError:
    """The error for an argument of another type."""
    dtype, bracket, _ = expected.partition("[")
    ways = ""
    if bracket and dtype.isalnum() and str(getattr(got, "dtype", "")) != dtype:
        ways = f"pass np.asarray({name}, dtype={dtype!r}), or "
    elif isinstance(got, bool | int | float | complex | np.generic):
        from_ = {"f": "iuf", "i": "iu", "u": "iu", "c": "iufc", "b": "b"}
        kind = expected.removeprefix("np.")[:1]
        if np.asarray(got).dtype.kind in from_.get(kind, ""):
            ways = f"pass {expected}({name}), or "
    said = f"{function} was compiled for {name}: {expected}, got {_describe(got)}"
    return TypeError(f"{said} ({ways}compile it for this type too)")


def _wrong_value(function: str, name: str, expected: str, got: Any) -> ValueError:
    """The error for an argument of the right type that has another value or length."""
    said = f"{function} was compiled for {name}: {expected}, got {got}"
    return ValueError(f"{said} (compile it for this too)")


def _is_array(x: Any, dtype: Any, rank: int) -> bool:
    """Whether an argument is a plain array of this dtype and rank."""
    return type(x) is np.ndarray and x.dtype == dtype and x.ndim == rank


def _is_literal(x: Any, value: Any) -> bool:
    """Whether an argument is this very value, of the same type; 0.0 is not -0.0."""
    if type(x) is not type(value):
        return False
    return bool(x == value if isinstance(x, int) else repr(x) == repr(value))


def _is_sequence(x: Any, kind: Any, length: int) -> bool:
    """Whether an argument is a tuple or list of this very type and of this length."""
    return type(x) is kind and len(x) == length


def _is_a(x: Any, kind: Any) -> bool:
    """Whether an argument is of this very class."""
    return type(x) is kind


def _has_keys(x: Any, keys: tuple[Any, ...]) -> bool:
    """Whether an argument is a dict with these keys in this order."""
    return type(x) is dict and _is_literal(tuple(x), keys)


def _as_float(function: str, name: str, x: Any, *also: Any) -> float:
    """An argument as a Python float: an int that it holds exactly, another class."""
    if type(x) is float:
        return x
    if type(x) in also or (type(x) is int and abs(x) <= 2**53):
        return float(x)
    raise _mismatch(function, name, "float", x)


def _no_other_attributes(function: str, name: str, x: Any, known: Any) -> None:
    """An argument has no attributes of its own but those that it was compiled for."""
    others = [n for n in getattr(x, "__dict__", ()) if n not in known]
    if others:
        said = f"{function} was compiled for {name} without the attribute {others[0]!r}"
        raise TypeError(f"{said} (list it: `{others[0]}: any` where it is not used)")


def _not_set(function: str, name: str, x: Any, of_class: Any) -> None:
    """An argument has no attributes of its own in place of those of its class."""
    others = [n for n in getattr(x, "__dict__", ()) if n in of_class]
    if others:
        said = f"{function} was compiled for {name} without an own {others[0]!r}"
        raise TypeError(f"{said} (make it a field of the class)")


def _empty(function: str, name: str, x: Any, slots: Any) -> None:
    """Slots of an argument that were empty when compiling are so still."""
    others = [n for n in slots if hasattr(x, n)]
    if others:
        said = f"{function} was compiled for {name} without the attribute {others[0]!r}"
        raise TypeError(f"{said} (compile it for an example that has it)")


def _lengths(function: str, axis: str, m: int, n: int) -> ValueError:
    """The error for axes of one name that have different lengths."""
    said = f"{function} was compiled for one length {axis}"
    return ValueError(f"{said}, got {m} and {n}")


def _no_overlap(function: str, ours: str, a: Any, theirs: str, b: Any) -> None:
    """An argument that the function writes into shares memory with no other one."""
    if not np.may_share_memory(a, b):
        return
    bound: Any = 10_000
    try:
        shared = np.shares_memory(a, b, max_work=bound)
    except np.exceptions.TooHardError:
        shared = True
    if shared:
        said = f"{function} writes into {ours}, which shares memory with {theirs}"
        raise ValueError(f"{said} (pass a copy of one of them)")


def _scalar_value(function: str, value: Any) -> None:
    """A gradient is of a real scalar."""
    if np.ndim(value) != 0 or np.iscomplexobj(value):
        said = f"{function}: the value is {_describe(value)}"
        raise TypeError(f"{said}; a gradient is of a real scalar")


def _one(value: Any) -> Any:
    """The seed of a gradient: 1 of the dtype of the value."""
    return value.dtype.type(1) if isinstance(value, np.generic | np.ndarray) else 1.0


def _finite(*bars: Any) -> bool:
    """Whether every number of some cotangents is finite."""
    for bar in bars:
        if isinstance(bar, dict):
            bar = tuple(bar.values())
        if isinstance(bar, tuple | list):
            if not _finite(*bar):
                return False
        elif isinstance(bar, float):
            if not math.isfinite(bar):
                return False
        elif bar is not None and not np.isfinite(bar).all():
            return False
    return True


def _template(value: Any, *classes: Any) -> Any:
    """What a cotangent of a value must look like: type, shape and dtype of its leaves.

    Objects of the classes are opened: their attributes are leaves too.
    """
    kind = type(value)
    if isinstance(value, dict):
        return kind, {key: _template(item, *classes) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return kind, [_template(item, *classes) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return kind, value.shape, value.dtype
    if isinstance(value, float | int | complex) and not isinstance(value, bool):
        return kind, (), np.asarray(value).dtype
    if kind not in classes:
        return kind, None
    names = getattr(kind, "__dataclass_fields__", None) or vars(value)
    parts = {name: _template(getattr(value, name), *classes) for name in names}
    return kind, parts, "object"


def _seed(template: Any, bar: Any, where: str = "the cotangent") -> Any:
    """A cotangent as a pullback takes it; an error where it does not fit the value."""
    cls, shape, *kind = template
    if shape is None:
        return bar
    if kind == ["object"]:
        if type(bar) is not cls:
            raise TypeError(f"{where} must be a {cls.__name__}")
        parts = {n: _seed(t, getattr(bar, n), f"{where}.{n}") for n, t in shape.items()}
        return build(cls, **parts)
    if isinstance(shape, dict):
        if not isinstance(bar, dict) or list(bar) != list(shape):
            raise TypeError(f"{where} must be a dict with keys {list(shape)}")
        return {k: _seed(t, bar[k], f"{where}[{k!r}]") for k, t in shape.items()}
    if isinstance(shape, list):
        if not isinstance(bar, tuple | list) or len(bar) != len(shape):
            raise TypeError(f"{where} must be a {cls.__name__} of {len(shape)}")
        pairs = enumerate(zip(shape, bar, strict=True))
        items = [_seed(t, b, f"{where}[{i}]") for i, (t, b) in pairs]
        return cls(*items) if hasattr(cls, "_fields") else cls(items)
    return _seed_number(template, bar, where)


def _seed_number(template: Any, bar: Any, where: str) -> Any:
    """A cotangent of an array or a number: of its shape, in its dtype, a copy."""
    cls, shape, dtype = template
    if bar is None and dtype.kind not in "fc":
        return None
    found = np.shape(bar), np.asarray(bar).dtype
    if found[0] != shape:
        raise ValueError(f"{where} has shape {found[0]}, the value has shape {shape}")
    kind = found[1].kind
    if kind not in "biufc" or (kind == "c" and dtype.kind != "c"):
        raise TypeError(f"{where} has dtype {found[1]}, the value has dtype {dtype}")
    if dtype.kind not in "fc":
        return bar
    return np.array(bar, dtype) if cls is np.ndarray else cls(np.asarray(bar)[()])
