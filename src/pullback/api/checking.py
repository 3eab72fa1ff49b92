"""Gradients against finite differences of the function itself."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pullback.api import vjp
from pullback.api.argnums import Argnums, is_single
from pullback.api.seeds import leaves_of, parts_of, rebuild
from pullback.dispatch.tracebacks import brief
from pullback.errors import GradientMismatchError

STEP = 1e-5  # relative to an entry's size; for float64


@dataclass(frozen=True, slots=True)
class Comparison:
    """The gradient of one number or array among the arguments, beside differences.

    argument   its position, or its name
    leaf       where it is in the argument: "" for the whole, "['w']", ".b[0]"
    gradient, difference, error   of each entry; where an entry was not checked the difference is NaN, the error 0
    allowed    the error that is allowed
    checked    how many entries were checked
    """

    argument: int | str
    leaf: str
    gradient: Any
    difference: Any
    error: Any
    allowed: float
    checked: int

    @property
    def wrong(self) -> int:
        """How many entries differ."""
        return int(np.sum(~(self.error <= self.allowed)))

    @property
    def largest(self) -> float:
        """The largest error; NaN where there is one."""
        return float(np.max(self.error, initial=0.0))

    @property
    def vacuous(self) -> str:
        """Why nothing was checked: the array is empty, or all derivatives are zero; "" where something was."""
        if not self.gradient.size:
            return "empty"
        differences = np.nan_to_num(
            self.difference
        )  # NaN where an entry was not checked, or where it is wrong
        return "" if self.wrong or np.any(self.gradient) or np.any(differences) else "all zero"

    def worst(self, count: int = 1) -> list[tuple[int, ...]]:
        """The entries that differ most, the worst first."""
        error = np.where(np.isnan(self.error), np.inf, self.error).ravel()
        order = np.argsort(-error, kind="stable")[:count]
        return [tuple(int(i) for i in np.unravel_index(k, self.error.shape)) for k in order]


@brief
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
    for found in compare_gradients(f, args, kwargs, argnums=argnums, rtol=rtol, atol=atol):
        if found.wrong:
            raise _mismatch(found)


def compare_gradients(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    argnums: Argnums | None = None,
    has_aux: bool = False,
    rtol: float | None = None,
    atol: float = 1e-7,
    entries: int = 0,
) -> Iterator[Comparison]:
    """What `check_gradients` compares, as data, one number or array of the arguments after the other.

    entries  how many entries of each array are checked at most, drawn at random; 0 for all
    """
    value, pullback = vjp(
        f, *copy.deepcopy(args), argnums=argnums, has_aux=has_aux, **copy.deepcopy(dict(kwargs))
    )
    bars = pullback(_seed(value[0] if has_aux else value))
    found = (bars,) if is_single(argnums) else bars
    called = (lambda *a, **k: f(*a, **k)[0]) if has_aux else f
    for which, bar in zip(_places(args, argnums), found, strict=True):
        place = which
        given, named = args, dict(kwargs)
        if isinstance(which, str) and which not in kwargs:
            given, named, place = _by_name(f, args, named, which)
        yield from _compared(_Call(called, given, named, place), which, bar, (rtol, atol), entries)


def _places(args: tuple[Any, ...], argnums: Argnums | None) -> list[int | str]:
    if argnums is None:
        return list(range(len(args)))
    wanted: Any = (argnums,) if is_single(argnums) else argnums
    return [w if isinstance(w, str) else int(w) for w in wanted]


@dataclass(frozen=True, slots=True)
class _Call:
    """A call, and the argument in question: its position or name."""

    f: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    which: int | str

    def argument(self) -> Any:
        """The argument."""
        return self.kwargs[self.which] if isinstance(self.which, str) else self.args[self.which]

    def contracted(self, moved: Any) -> float:
        """The contracted value with another argument in its place."""
        args, kwargs = copy.deepcopy(list(self.args)), copy.deepcopy(self.kwargs)
        if isinstance(self.which, str):
            kwargs[self.which] = moved
        else:
            args[self.which] = moved
        value = self.f(*args, **kwargs)
        return _contract(value, _seed(value))


def _compared(
    call: _Call, which: int | str, bar: Any, tolerances: tuple[float | None, float], entries: int
) -> Iterator[Comparison]:
    """Each leaf of an argument that carries a derivative."""
    rtol, atol = tolerances
    for (name, leaf), (_, leaf_bar) in zip(leaves_of(call.argument()), leaves_of(bar), strict=True):
        if leaf_bar is None:
            continue
        gradient = np.asarray(leaf_bar)
        checked = _checked(gradient.shape, entries)
        difference = _Differences(call, name).of(leaf, checked)
        error = np.where(checked, np.abs(gradient - difference), 0.0)
        wanted = rtol
        if wanted is None:
            wanted = 1e-6 if np.finfo(gradient.dtype).eps < 1e-10 else 2e-3
        allowed = atol + wanted * max(1.0, float(np.max(np.abs(difference[checked]), initial=0.0)))
        yield Comparison(which, name, gradient, difference, error, allowed, int(np.sum(checked)))


def _checked(shape: tuple[int, ...], entries: int) -> Any:
    """Which entries of an array are checked."""
    checked = np.ones(shape, dtype=bool)
    if 0 < entries < checked.size:
        checked[...] = False
        checked.flat[np.random.default_rng(0).choice(checked.size, entries, replace=False)] = True
    return checked


def _by_name(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], which: str
) -> tuple[tuple[Any, ...], dict[str, Any], int | str]:
    """The call with its defaults, and where in it the argument of a name is."""
    bound = inspect.signature(f).bind(*args, **kwargs)
    bound.apply_defaults()
    place = list(bound.signature.parameters).index(which)
    return bound.args, bound.kwargs, which if which in bound.kwargs else place


class _Differences:
    """Central differences in the leaf `name` of the argument of a call."""

    def __init__(self, call: _Call, name: str) -> None:
        self.call = call
        self.name = name

    def of(self, leaf: Any, checked: Any) -> Any:
        """The derivative with respect to the entries of the leaf (complex ones: by real and imaginary part)."""
        base = np.asarray(leaf)
        out = np.full(base.shape, np.nan, dtype=base.dtype if base.dtype.kind == "c" else float)
        for index in zip(*np.nonzero(np.atleast_1d(checked)), strict=True):
            index = index if base.ndim else ()
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
        return self.call.contracted(_shift(copy.deepcopy(self.call.argument()), self.name, index, shift))


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


def _mismatch(found: Comparison) -> GradientMismatchError:
    """The error of a gradient that is wrong."""
    (worst,) = found.worst()
    entry = f" at entry [{', '.join(map(str, worst))}]" if worst else ""
    return GradientMismatchError(
        f"the gradient of argument {found.argument!r}{found.leaf} differs from finite differences{entry}: "
        f"{found.gradient[worst]} against {found.difference[worst]}, off by {found.error[worst]:.3g} "
        f"(allowed {found.allowed:.3g}); {found.wrong} of {found.error.size} entries differ",
        hint="if the function has a kink or a jump there, check it elsewhere; else a rule on the way is wrong",
    )
