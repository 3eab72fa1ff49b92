"""What a compiled primal saves for its pullback: values that pass as they are, and bytes for all others.

    results of the primal       value, (x, n, ..., bytes)
    parameters of the pullback  (x, n, ..., bytes), value_bar

Numbers and arrays of a known kind pass.  Lists, tuples, numbers of several kinds are packed into one array of bytes
(`c/saved.h`), which NumPy can read too: `Saved.restore` gives what the pullback of the NumPy target takes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pullback.backend.native.emit.dtypes import Loose
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import ArrayLeaf, ListLeaf, Number, leaves_of
from pullback.ir.nodes import Alias, Op
from pullback.styles.style import Anything, Array, Dim, ListOf, Scalar, Static, Style, Tup, fresh_dim

_BYTE = np.dtype(np.uint8)


@dataclass(frozen=True)
class Saved:
    """What is saved, in order: the style of each value, and whether it is packed."""

    styles: tuple[Style, ...]
    packed: tuple[bool, ...]

    @property
    def record(self) -> ListLeaf:
        """The leaves of what is packed, as one item of a list."""
        return ListLeaf(tuple(leaf for style in self.packed_styles() for leaf in leaves_of(style)))

    def packed_styles(self) -> tuple[Style, ...]:
        """The styles of what is packed."""
        return tuple(s for s, packed in zip(self.styles, self.packed, strict=True) if packed)

    def restore(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The values by themselves."""
        given = iter(values)
        reader = _Reader(values[-1]) if any(self.packed) else None
        if reader is not None:
            assert reader.integer() == 1
        return tuple(
            reader.value(style) if packed and reader is not None else next(given)
            for style, packed in zip(self.styles, self.packed, strict=True)
        )


def saved(styles: Sequence[Style]) -> Saved:
    """How values of some styles pass.  Raises Untaken where one cannot."""
    for style in styles:
        _check(style)
    return Saved(tuple(styles), tuple(not _passes(style) for style in styles))


def _check(style: Style) -> None:
    match style:
        case Anything():
            raise Untaken("what a function compiled apart has saved, as a residual")
        case Tup(items, kind):
            if kind not in ("tuple", "list"):
                raise Untaken(f"a {kind} as a residual")
            for item in items:
                _check(item)
        case ListOf(elem):
            _check(elem)
        case Scalar() if not isinstance(style, Loose):
            (leaf,) = leaves_of(style)
            if isinstance(leaf, Number) and leaf.weak is None and leaf.dtype != np.float64:
                raise Untaken("a residual that may be a number of Python's or of NumPy's")
        case _:
            leaves_of(style)


def _passes(style: Style) -> bool:
    """Whether a value passes as it is."""
    if isinstance(style, Static):
        return True
    leaves = leaves_of(style)
    simple = isinstance(style, Scalar | Array) and not isinstance(style, Loose) and len(leaves) == 1
    return simple and not (isinstance(leaves[0], ArrayLeaf) and leaves[0].loose)


def _not_run(*_: Any) -> Any:
    raise AssertionError("only C packs what is saved")


def pack(what: Saved) -> Op:
    """The operation that packs values into bytes."""
    style = Array(_BYTE, (Dim(fresh_dim().sym),))
    return Op("pack_saved", _not_run, lambda *_: style, fn=what)


def unpack(what: Saved) -> Op:
    """The operation that gives the values of some bytes: its arrays are views of them."""
    styles: Any = what.packed_styles()
    return Op(
        "unpack_saved",
        _not_run,
        lambda _: styles if len(styles) > 1 else styles[0],
        Alias("view", (0,)),
        fn=what,
    )


def packed(what: Saved, values: Sequence[Any]) -> Any:
    """The bytes of what is packed, made by NumPy."""
    parts = [_integer(1)]
    for style, value in zip(what.packed_styles(), values, strict=True):
        _write(style, value, parts)
    return np.frombuffer(b"".join(parts), dtype=np.uint8)


def _integer(value: int) -> bytes:
    return value.to_bytes(8, sys.byteorder, signed=True)


def _filled(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


def _write(style: Style, value: Any, parts: list[bytes]) -> None:
    """Add the bytes of a value.  Raises TypeError or ValueError where it is not of its style."""
    match style:
        case Static():
            return
        case Loose():
            parts += [_filled(np.float64(value).tobytes()), _filled(np.bool_(type(value) is int).tobytes())]
        case Scalar(dtype) if dtype is not None:
            parts.append(_filled(_exact(value, dtype, 0).tobytes()))
        case Array(dtype, axes) if dtype is not None and axes is not None:
            array = _exact(value, dtype, len(axes))
            parts += [_integer(1), *map(_integer, array.shape), _filled(array.tobytes())]
        case Tup(items):
            for item, part in zip(items, value, strict=True):
                _write(item, part, parts)
        case ListOf(elem):
            parts.append(_integer(len(value)))
            row = _row(elem)
            if row is not None:
                parts.append(_filled(np.array(value, dtype=row).tobytes()))
                return
            for item in value:
                _write(elem, item, parts)
        case _:
            raise TypeError(style)


def _exact(value: Any, dtype: np.dtype[Any], rank: int) -> Any:
    array = np.asarray(value)
    if array.ndim != rank or not (array.dtype == dtype or (not rank and array.dtype.kind == dtype.kind)):
        raise TypeError(f"{array.dtype} of {array.ndim} axes is no {dtype} of {rank}")
    return array.astype(dtype)


def _row(elem: Style) -> np.dtype[Any] | None:
    """The dtype of items that stand one after the other."""
    leaves = leaves_of(elem)
    return leaves[0].dtype if len(leaves) == 1 and isinstance(leaves[0], Number) else None


class _Reader:
    """Reads the bytes as Python's values; arrays are views of them."""

    def __init__(self, data: Any) -> None:
        self.data = data
        self.at = 0

    def integer(self) -> int:
        """The next integer."""
        return int(self.numbers(np.dtype(np.int64), 1)[0])

    def numbers(self, dtype: np.dtype[Any], count: int) -> Any:
        """The next numbers of one dtype."""
        size = dtype.itemsize * count
        found = self.data[self.at : self.at + size].view(dtype)
        self.at += -(-size // 8) * 8
        return found

    def value(self, style: Style) -> Any:
        """The next value."""
        match style:
            case Static(value):
                return value
            case Loose():
                number = float(self.numbers(np.dtype(np.float64), 1)[0])
                return int(number) if self.numbers(np.dtype(np.bool_), 1)[0] else number
            case Scalar(dtype, weak) if dtype is not None:
                number = self.numbers(dtype, 1)[0]
                return number.item() if weak is not False else number
            case Array(dtype, axes) if dtype is not None and axes is not None:
                return self.array(dtype, len(axes))
            case Tup(items, kind):
                values = [self.value(x) for x in items]
                return values if kind == "list" else tuple(values)
            case ListOf(elem):
                return list(self.items(elem, self.integer()))
        raise AssertionError(style)

    def array(self, dtype: np.dtype[Any], rank: int) -> Any:
        """The next array; 0.0 where there is none."""
        if not self.integer():
            return 0.0
        shape = tuple(self.integer() for _ in range(rank))
        return self.numbers(dtype, int(np.prod(shape, dtype=np.int64))).reshape(shape)

    def items(self, elem: Style, length: int) -> Iterator[Any]:
        """The items of a list."""
        dtype = _row(elem)
        if dtype is None:
            for _ in range(length):
                yield self.value(elem)
            return
        row = self.numbers(dtype, length)
        plain = isinstance(elem, Scalar) and elem.weak is not False
        if isinstance(elem, Scalar):
            yield from row.tolist() if plain else row
            return
        place = _Reader(None)  # a tuple of one number
        for k in range(length):
            place.data, place.at = row[k : k + 1].view(np.uint8), 0
            yield place.value(elem)
