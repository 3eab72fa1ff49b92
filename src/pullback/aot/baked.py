"""Data from outside a function as constants of a module: literals that give the same bits.

Numbers, texts, NumPy numbers, arrays of up to 4096 items, and tuples, lists, dicts and objects of these.
"""

from __future__ import annotations

import ast
import math
import textwrap
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from pullback.aot.said import place_text
from pullback.aot.units import Unit
from pullback.backend.numpy.wrap import WIDTH, quoted, wrap
from pullback.errors import Loc, UnsupportedError
from pullback.frontend.environment import Path
from pullback.frontend.signature import Node, Spec, steps_of, take_step
from pullback.frontend.source import source_of
from pullback.styles.style import Static

MAX_ITEMS = 4096
_KINDS = "biufc"


class Baked:
    """The constants of a module, each once; `unique` gives a name that nothing else in the module has."""

    def __init__(self, unique: Callable[[str], str]) -> None:
        self.unique = unique
        self.lines: list[str] = []
        self.said: list[str] = []  # what the header says
        self._known: dict[tuple[str, str], str] = {}

    def constant(self, unit: Unit, name: str, path: Path, spec: Spec) -> str:
        """The name of the constant that holds the datum at a path."""
        value = path.fetch()
        try:
            text = self._literal(value, spec)
        except NotBakedError as error:
            raise _refusal(unit, path, error) from None
        key = (name, text)
        if key not in self._known:
            made = self._known[key] = self.unique(name)
            self.lines += filled(f"{made} = {text}")
            self.lines += [f"{at}.flags.writeable = False" for at in _arrays(value, spec, made)]
            self.said.append(f"{made}: {place_text(path)}")
        return self._known[key]

    def _literal(self, value: Any, spec: Spec) -> str:
        if isinstance(spec, Node):
            return self._structure(value, spec)
        if isinstance(spec, Static) and not isinstance(value, str | bytes | int | None):
            return "None"  # known when compiling, and never read
        return literal(value)

    def _structure(self, value: Any, spec: Node) -> str:
        steps = list(steps_of(spec))
        items = [self._literal(take_step(value, s), x) for s, x in zip(steps, spec.items, strict=True)]
        if spec.kind == "dict":
            return f"{{{', '.join(f'{literal(k)}: {v}' for (_, k), v in zip(steps, items, strict=True))}}}"
        if spec.kind == "list":
            return f"[{', '.join(items)}]"
        if spec.kind == "new" and spec.meta[1] is not None:  # its attributes are all that is read
            return f"SimpleNamespace({', '.join(f'{k}={v}' for (_, k), v in zip(steps, items, strict=True))})"
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def filled(line: str) -> list[str]:
    """A constant; a long one in lines that are full, which no formatter takes apart."""
    if len(line) <= WIDTH:
        return [line]
    if '"' in line or "'" in line:
        return wrap(line)
    lines = textwrap.wrap(line, WIDTH, subsequent_indent=" " * 4, break_long_words=False)
    return ["# fmt: off", *lines, "# fmt: on"]


def _arrays(value: Any, spec: Spec, at: str) -> Iterator[str]:
    """The expressions of the arrays in a constant."""
    if isinstance(spec, Node):
        for step, item in zip(steps_of(spec), spec.items, strict=True):
            kind, key = step
            inner = f"{at}.{key}" if kind == "attr" else f"{at}[{literal(key)}]"
            yield from _arrays(take_step(value, step), item, inner)
    elif isinstance(value, np.ndarray):
        yield at


class NotBakedError(Exception):
    """What cannot be written down, and why."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(what)
        self.what = what
        self.why = why


def literal(value: Any) -> str:
    """The text of a datum: it gives the same bits.

    >>> literal((0.1, -float("inf"))), literal(np.float32(0.1)), literal(np.array([1, 2]))
    ('(0.1, -math.inf)', 'np.float32(0.10000000149011612)', 'np.array([1, 2], np.int64)')
    """
    if value is None or type(value) in (bool, int):
        return repr(value)
    if type(value) in (str, bytes):
        return quoted(value)
    if type(value) is float:
        return _float(value)
    if type(value) is complex:
        return f"complex({_float(value.real)}, {_float(value.imag)})"
    if isinstance(value, np.generic):
        return f"{_dtype(value.dtype)}({literal(value.item())})"
    if type(value) is np.ndarray:
        return _array(value)
    return _structure(value)


def _structure(value: Any) -> str:
    """The text of a datum that is made of others."""
    if isinstance(value, slice | range):
        parts = (value.start, value.stop, value.step)
        return f"{type(value).__name__}({', '.join(map(literal, parts))})"
    if isinstance(value, np.dtype) and value.kind in _KINDS:
        return f"np.dtype({quoted(value.str)})"
    if type(value) in (tuple, list):
        inner = ", ".join(map(literal, value))
        if type(value) is list:
            return f"[{inner}]"
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if type(value) is dict:
        return f"{{{', '.join(f'{literal(k)}: {literal(v)}' for k, v in value.items())}}}"
    what = getattr(value, "__qualname__", None) or f"a {type(value).__name__}"
    raise NotBakedError(
        what,
        "only numbers, texts and arrays, and tuples, lists, dicts and objects of these, can be written down",
    )


def _float(value: float) -> str:
    if math.isnan(value):
        return "math.nan"
    if math.isinf(value):
        return "math.inf" if value > 0 else "-math.inf"
    return repr(value).replace("e+", "e")


def _dtype(dtype: np.dtype[Any]) -> str:
    if dtype.kind not in _KINDS or dtype.itemsize > 16 or dtype.name in ("longdouble", "float128", "float96"):
        raise NotBakedError(f"of dtype {dtype}", "its numbers have no exact literal")
    if not dtype.isnative:
        return f'np.dtype("{dtype.str}")'
    return "np.bool_" if dtype.kind == "b" else f"np.{dtype.name}"


def _array(value: np.ndarray[Any, Any]) -> str:
    if value.size > MAX_ITEMS:
        raise NotBakedError(
            f"an array of {value.size} items", f"a module holds arrays of up to {MAX_ITEMS} items"
        )
    dtype = _dtype(value.dtype)
    order = "" if value.flags.c_contiguous or not value.flags.f_contiguous else ', order="F"'
    flat = value.ravel()
    if value.size and _same(value, flat[0]):
        return f"np.full({literal(value.shape)}, {literal(flat[0].item())}, {dtype}{order})"
    if not value.size:
        return f"np.zeros({literal(value.shape)}, {dtype}{order})"
    return f"np.array({literal(value.tolist())}, {dtype}{order})"


def _same(value: np.ndarray[Any, Any], first: Any) -> bool:
    """Whether an array of several items has one number throughout, bit for bit."""
    return value.size > 1 and value.tobytes() == np.full(value.shape, first, value.dtype).tobytes()


def _refusal(unit: Unit, path: Path, error: NotBakedError) -> UnsupportedError:
    return UnsupportedError(
        f"`{path}` is {error.what}, which a standalone module cannot hold: {error.why}",
        loc=_loc(path) or unit.compiled.lowered.function.loc,
        hint=f"pass it to `{unit.fn.__name__}` as an argument",
    )


def _loc(path: Path) -> Loc | None:
    """Where a function first reads a name."""
    if not isinstance(path.fn, FunctionType):
        return None
    source = source_of(path.fn)
    for node in ast.walk(source.node):
        if isinstance(node, ast.Name) and node.id == path.name:
            return source.loc(node)
    return None
