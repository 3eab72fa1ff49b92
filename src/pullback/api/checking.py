"""Gradients against finite differences of the function itself."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from pullback.api import vjp
from pullback.api.argnums import Argnums, is_single
from pullback.api.seeds import leaves_of, parts_of, rebuild
from pullback.errors import GradientMismatchError

STEP = 1e-5  # relative to an entry's size; for float64


def check_gradients(
    f: Callable[..., Any],
    *args: Any,
    argnums: Argnums | None = None,
    rtol: float | None = None,
    atol: float = 1e-7,
    **kwargs: Any,
) -> None:
    """Compare the gradient of `f` with central differences (one Richardson step), entry by entry.

    argnums  as in `grad`; by default every positional argument that is given
    rtol     allowed error, relative to max(1, the largest entry); by default 1e-6, in single precision 2e-3

    A value that is no scalar is contracted with a fixed cotangent.  The arguments are not changed.  Raises
    GradientMismatchError, which says which entry differs and by how much.
    """
    value, pullback = vjp(f, *copy.deepcopy(args), argnums=argnums, **copy.deepcopy(kwargs))
    bars = pullback(_seed(value))
    found = (bars,) if is_single(argnums) else bars
    if argnums is None:
        found = found[: len(args)]  # not those of parameters left to their defaults
    for which, bar in zip(_places(args, argnums), found, strict=True):
        _check_argument(f, args, kwargs, which, bar, rtol, atol)


def _places(args: tuple[Any, ...], argnums: Argnums | None) -> list[int | str]:
    if argnums is None:
        return list(range(len(args)))
    wanted: Any = (argnums,) if is_single(argnums) else argnums
    return [w if isinstance(w, str) else int(w) for w in wanted]


def _check_argument(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    which: int | str,
    bar: Any,
    rtol: float | None,
    atol: float,
) -> None:
    def with_argument() -> tuple[list[Any], dict[str, Any], Any]:
        """Fresh arguments, and the one in question."""
        positional, named = copy.deepcopy(list(args)), copy.deepcopy(kwargs)
        return positional, named, named[which] if isinstance(which, str) else positional[which]

    label = repr(which)
    if isinstance(which, str) and which not in kwargs:
        args, kwargs, which = _by_name(f, args, kwargs, which)
    _, _, argument = with_argument()
    for (name, leaf), (_, leaf_bar) in zip(leaves_of(argument), leaves_of(bar), strict=True):
        if leaf_bar is None:
            continue
        differences = _Differences(f, with_argument, which, name)
        expected = differences.of(leaf)
        _compare(f"{label}{name}", np.asarray(leaf_bar), expected, rtol, atol)


def _by_name(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], which: str
) -> tuple[tuple[Any, ...], dict[str, Any], int | str]:
    """The call with its defaults, and where in it the argument of a name is."""
    bound = inspect.signature(f).bind(*args, **kwargs)
    bound.apply_defaults()
    place = list(bound.signature.parameters).index(which)
    return bound.args, bound.kwargs, which if which in bound.kwargs else place


class _Differences:
    """Central differences in the leaf `name` of one argument."""

    def __init__(
        self, f: Callable[..., Any], arguments: Callable[[], Any], which: int | str, name: str
    ) -> None:
        self.f = f
        self.arguments = arguments
        self.which = which
        self.name = name

    def of(self, leaf: Any) -> Any:
        """The derivative with respect to every entry of the leaf (complex ones: by real and imaginary part)."""
        base = np.asarray(leaf)
        out = np.zeros(base.shape, dtype=base.dtype if base.dtype.kind == "c" else float)
        for index in np.ndindex(base.shape):
            out[index] = self._richardson(leaf, index, 1.0)
            if base.dtype.kind == "c":
                out[index] += 1j * self._richardson(leaf, index, 1j)
        return out

    def _richardson(self, leaf: Any, index: tuple[int, ...], unit: complex) -> float:
        entry = np.asarray(leaf)[index]
        step = _step(np.asarray(leaf).dtype) * max(1.0, float(abs(entry)))
        wide = (self._at(index, unit * step) - self._at(index, -unit * step)) / (2 * step)
        narrow = (self._at(index, unit * step / 2) - self._at(index, -unit * step / 2)) / step
        return (4 * narrow - wide) / 3

    def _at(self, index: tuple[int, ...], shift: complex) -> float:
        """The contracted value with one entry shifted."""
        positional, named, argument = self.arguments()
        moved = _shift(argument, self.name, index, shift)
        if isinstance(self.which, str):
            named[self.which] = moved
        else:
            positional[self.which] = moved
        value = self.f(*positional, **named)
        return _contract(value, _seed(value))


def _step(dtype: Any) -> float:
    return STEP if np.finfo(dtype).eps < 1e-10 else 1e-2


def _shift(value: Any, name: str, index: tuple[int, ...], shift: complex) -> Any:
    """The structure with one entry of its leaf `name` shifted."""
    if name == "":
        array = np.array(value)
        array[index] += shift if array.dtype.kind == "c" else shift.real
        if isinstance(value, np.ndarray):
            return array
        return array[()] if isinstance(value, np.generic) else type(value)(array)
    items = {}
    for key, item in parts_of(value) or ():
        head = f"[{key!r}]" if isinstance(value, tuple | list | dict) else f".{key}"
        inside = name == head or name.startswith((f"{head}[", f"{head}."))
        items[key] = _shift(item, name[len(head) :], index, shift) if inside else item
    return rebuild(type(value), items)


def _seed(value: Any) -> Any:
    """A fixed cotangent of a value: 1 for a scalar, else numbers that tell entries apart."""
    items = parts_of(value)
    if items is not None:
        return rebuild(type(value), {key: _seed(item) for key, item in items})
    array = np.asarray(value)
    if array.dtype.kind not in "fc":
        return value
    if array.ndim == 0:
        return type(value)(1) if not isinstance(value, np.ndarray) else np.ones_like(value)
    return np.cos(np.arange(array.size)).reshape(array.shape).astype(array.dtype)


def _contract(value: Any, seed: Any) -> float:
    total = 0.0
    for (_, leaf), (_, bar) in zip(leaves_of(value), leaves_of(seed), strict=True):
        if np.asarray(leaf).dtype.kind in "fc":
            total += float(np.real(np.sum(np.conj(bar) * np.asarray(leaf, dtype=complex))))
    return total


def _compare(label: str, found: Any, expected: Any, rtol: float | None, atol: float) -> None:
    if rtol is None:
        rtol = 1e-6 if np.finfo(found.dtype).eps < 1e-10 else 2e-3
    error = np.abs(found - expected)
    allowed = atol + rtol * max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    if np.all(error <= allowed):
        return
    worst = np.unravel_index(int(np.argmax(np.where(np.isnan(error), np.inf, error))), error.shape)
    entry = f" at entry [{', '.join(map(str, worst))}]" if worst else ""
    raise GradientMismatchError(
        f"the gradient of argument {label} differs from finite differences{entry}: "
        f"{found[worst]} against {expected[worst]}, off by {error[worst]:.3g} (allowed {allowed:.3g}); "
        f"{int(np.sum(~(error <= allowed)))} of {error.size} entries differ",
        hint="if the function has a kink or a jump there, check it elsewhere; else a rule on the way is wrong",
    )
