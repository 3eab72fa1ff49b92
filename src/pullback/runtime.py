"""What generated code may import besides NumPy: a few small functions on arrays.

They mirror operations of the IR whose lowering needs a decision at run time; each depends on NumPy alone, so
that a standalone module can carry a copy of its source.  For that each is a function of its own, no line of which
is longer than 88 columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def unbroadcast(bar: Any, shape: Any) -> Any:
    """Sum a cotangent back to an operand's shape: over prepended axes, and over axes
    where the operand has length 1.  What was stored may have had more axes than its
    place, all of length 1.
    """
    if getattr(bar, "shape", None) == shape:
        return bar
    shape = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    extra = np.ndim(bar) - len(shape)
    if extra < 0:
        bar, extra = np.reshape(bar, (1,) * -extra + np.shape(bar)), 0
    given = np.shape(bar)[extra:]
    inner = [extra + i for i, n in enumerate(shape) if n == 1 and given[i] != 1]
    axes = (*range(extra), *inner)
    if axes:
        bar = np.sum(bar, axis=axes, keepdims=True)
    return np.reshape(bar, shape) if extra > 0 else bar


def joint_shape(a: Any, b: Any) -> Any:
    """The shape of the broadcast of two shapes."""
    return a if a == b else np.broadcast_shapes(a, b)


def project(bar: Any, like: Any) -> Any:
    """A cotangent in the space of its primal: real where that is real, its dtype, a
    Python number where it is one.
    """
    typed = isinstance(like, np.ndarray | np.generic)
    kind = (like if typed else np.asarray(like)).dtype.kind
    if kind != "c" and np.iscomplexobj(bar):
        bar = np.real(bar)
    if isinstance(like, np.ndarray):
        return np.asarray(bar, dtype=like.dtype)
    if isinstance(like, np.generic):
        return np.asarray(bar).astype(like.dtype)[()]
    return complex(bar) if kind == "c" else float(bar)


def cast(bar: Any, dtype: Any) -> Any:
    """A cotangent in another dtype; its real part where that is not complex."""
    if np.iscomplexobj(bar) and np.dtype(dtype).kind != "c":
        bar = np.real(bar)
    return np.asarray(bar).astype(dtype, copy=False)[()]


def scale(bar: Any, partial: Any, selects: Any = False) -> Any:
    """The strong-zero product: 0 where `bar` is 0 (or a partial that selects is), else
    `bar * partial`.
    """
    product = np.multiply(bar, partial)
    zero = np.equal(bar, 0) | np.equal(partial, 0) if selects else np.equal(bar, 0)
    return np.where(zero, np.zeros_like(product), product)[()]


def zeros_list(items: Any) -> Any:
    """A loose zero for each item of a list, of the lists in it too."""
    return [zeros_list(item) if isinstance(item, list) else 0.0 for item in items]


def add_lists(a: Any, b: Any) -> Any:
    """The sum of two lists, item by item, of the lists in them too; None and a loose
    zero add nothing.
    """
    if b is None or (type(b) is float and b == 0.0):
        return a
    if not isinstance(b, list | tuple):
        return b if type(a) is float and a == 0.0 else a + b
    if not isinstance(a, list | tuple):
        a = [0.0] * len(b)
    return [add_lists(x, y) for x, y in zip(a, b, strict=True)]


def nested_rows(x: Any, depth: Any) -> Any:
    """An array as lists in lists, so many deep."""
    return [nested_rows(row, depth - 1) for row in x] if depth else x


def spread_list(items: Any, n: Any, window: Any) -> Any:
    """A list of `n` loose zeros with `items` where a slice of it goes."""
    out: list[Any] = [0.0] * n
    for place, item in zip(range(n)[window], items, strict=True):
        out[place] = item
    return out


def copy_list(items: Any) -> Any:
    """A list with a copy of every array in it, of the lists and tuples in it too."""
    if isinstance(items, list):
        return [copy_list(item) for item in items]
    if type(items) is tuple:
        return tuple([copy_list(item) for item in items])
    return np.copy(items) if isinstance(items, np.ndarray) else items


def build(cls: Any, /, **fields: Any) -> Any:
    """An instance with the given attributes, made without its `__init__` (which may do
    anything).
    """
    out = object.__new__(cls)
    for name, value in fields.items():
        object.__setattr__(out, name, value)
    return out


def in_blocks(fn: Any, kinds: Any, *args: Any) -> Any:
    """The results of a function that works element by element, and reduces.  With large
    arrays it is called with some of their rows at a time, which the processor's cache
    can hold.  `kinds` says of each result whether these are rows of it, too, or by what
    the parts are put together.
    """
    if max([getattr(a, "size", 1) for a in args]) < 32768:
        return fn(*args)
    rank = max(map(np.ndim, args))
    lengths = {np.shape(a)[0] for a in args if np.ndim(a) == rank} - {1}
    widths = [np.prod(np.shape(a)[np.ndim(a) == rank :]) for a in args]
    rows = max(lengths, default=1)
    step = max(8192 // max(int(max(widths)), 1), 1)
    if len(lengths) != 1 or rows <= step:
        return fn(*args)
    parted = [np.ndim(a) == rank and len(a) == rows for a in args]
    pairs = list(zip(args, parted, strict=True))
    found: list[Any] = [[] for _ in kinds]
    for at in range(0, rows, step):
        made = fn(*[a[at : at + step] if p else a for a, p in pairs])
        for k, x in enumerate(made if len(kinds) > 1 else [made]):
            if kinds[k] == "mean":
                found[k].append(x * min(step, rows - at))
            elif kinds[k] != "rows":
                found[k].append(x)
            else:
                if at == 0:
                    found[k] = np.empty((rows, *x.shape[1:]), x.dtype)
                found[k][at : at + step] = x
    whole = [put_together(kind, x, rows) for kind, x in zip(kinds, found, strict=True)]
    return tuple(whole) if len(kinds) > 1 else whole[0]


def put_together(kind: Any, parts: Any, rows: Any) -> Any:
    """A result of `in_blocks` from those of its parts."""
    if kind == "rows":
        return parts
    if kind == "mean":
        return np.sum(parts, axis=0) / rows
    return getattr(np, kind)(parts, axis=0)
