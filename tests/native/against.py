"""The native target against the NumPy one: the same call by both, and what must agree.

A call is made by the entry itself, so that no other path can stand in for it: what it leaves to NumPy is seen.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import pullback as pb
from programs import leaves, map_leaves
from pullback.backend.native.bridge import MISS
from pullback.backend.native.interface import ERRORS
from pullback.backend.native.load import load

Layout = Callable[[Any], Any]


class Entry:
    """One compiled signature: its native function, the NumPy one, and why native left a call (`left`)."""

    def __init__(self, variant: Any) -> None:
        self.left = ""
        self.variant = variant
        self.infinite = False  # a call has shown that strong zeros must be spelled out
        self._load(guarded=False)
        self.reference = variant.function("value_and_grad", True)

    def _load(self, guarded: bool) -> None:
        native = self.variant.compiled.native("value_and_grad", guarded)
        self.run, self.bound = load(native, failed=self._failed)

    def call(self, values: tuple[Any, ...]) -> Any:
        """A native call; where the gradient is not finite, of what is compiled anew for such, as for a user."""
        got = self.run(*values)
        if got is MISS and self.infinite:
            self.infinite, self.left = False, ""
            self._load(guarded=True)
            got = self.run(*values)
        return got

    def _failed(self, code: int, line: int, detail: Any, message: str | None, pending: Any) -> Any:
        self.infinite = ERRORS.get(code) is FloatingPointError
        self.left = f"{message or code}" if pending is None else f"{type(pending).__name__}: {pending}"
        return MISS


class Both:
    """A function's value and gradient by both targets."""

    def __init__(self, fn: Callable[..., Any], wrt: tuple[int, ...]) -> None:
        self.gradient = pb.differentiable(target="native")(fn)._gradient(wrt)
        self._entries: dict[int, Entry] = {}

    def entry(self, args: tuple[Any, ...]) -> tuple[Entry, tuple[Any, ...]]:
        """The entry that serves arguments, and all that it takes.  Raises Untaken where C does not take it."""
        variant, values = self.gradient.find(self.gradient.bind(args, {}))
        if id(variant) not in self._entries:
            self._entries[id(variant)] = Entry(variant)
        return self._entries[id(variant)], values

    def compare(self, args: tuple[Any, ...], layout: Layout = np.copy) -> str:
        """Call both, native twice; "" if all agree, or why native left it to NumPy.  AssertionError if not."""
        mine, theirs = laid_out(args, layout), laid_out(args, layout)
        entry, values = self.entry(mine)
        entry.left = ""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            got = entry.call(values)
            unchanged(mine, theirs)
            try:
                wanted = entry.reference(*self.entry(theirs)[1])
            except Exception as error:
                assert got is MISS, f"{got} where NumPy raises {error!r}"
                return entry.left or "an argument of another kind"
            if got is MISS:
                return entry.left or "an argument of another kind"
            agree(got, wanted, lambda: self._sensitivity(entry, args, wanted))
            kept = [np.copy(x) for x in leaves(got)]
            again = entry.run(*values)
            unchanged(mine, theirs)
        for first, second, held in zip(leaves(got), leaves(again), kept, strict=True):
            assert same_bits(first, held), "a later call changed an earlier result"
            assert same_bits(second, held), "another result of the same call"
        own(got, mine)
        return ""

    def _sensitivity(self, entry: Entry, args: tuple[Any, ...], wanted: Any) -> float:
        """How far the gradients move where each number of the arguments moves by one ulp."""
        moved = map_leaves(_next, args)
        found = entry.reference(*self.entry(moved)[1])
        pairs = zip(leaves(found), leaves(wanted), strict=True)
        changes = [np.abs(np.asarray(a) - np.asarray(b)) for a, b in pairs if np.shape(a) == np.shape(b)]
        finite = [float(np.max(c[np.isfinite(c)], initial=0.0)) for c in changes]
        return max([0.0, *finite])


def _next(leaf: Any) -> Any:
    if isinstance(leaf, float):
        return float(np.nextafter(leaf, np.inf))
    if isinstance(leaf, np.ndarray | np.generic) and leaf.dtype.kind == "f":
        return np.nextafter(leaf, leaf.dtype.type(np.inf))
    return leaf


# ------------------------------------------------------------------------------------------------ what must agree


def flat(tree: Any) -> Iterator[Any]:
    """The parts of a structure, each container's type before its items."""
    if isinstance(tree, tuple | list):
        yield type(tree), len(tree)
        for item in tree:
            yield from flat(item)
    elif isinstance(tree, dict):
        yield type(tree), list(tree)
        for item in tree.values():
            yield from flat(item)
    elif hasattr(tree, "__dict__") and not callable(tree):
        yield type(tree), list(vars(tree))
        for item in vars(tree).values():
            yield from flat(item)
    else:
        yield tree


def agree(got: Any, wanted: Any, sensitivity: Callable[[], float] = lambda: 0.0) -> None:
    """The same structure, types, dtypes and shapes, and values to rounding."""
    mine, theirs = list(flat(got)), list(flat(wanted))
    assert len(mine) == len(theirs), (got, wanted)
    numbers = [np.asarray(x) for x in theirs if isinstance(x, float | complex | np.ndarray | np.generic)]
    largest = max([0.0, *(_largest(x) for x in numbers)])
    for a, b in zip(mine, theirs, strict=True):
        # a float that no loop has added to is Python's own by the one target, and NumPy's by the other
        kinds = {float, np.float64}
        assert type(a) is type(b) or {type(a), type(b)} <= kinds, f"{type(a)} {a!r}, not {type(b)} {b!r}"
        if not isinstance(b, float | complex | np.ndarray | np.generic):
            assert a == b, f"{a!r}, not {b!r}"
            continue
        x, y = np.asarray(a), np.asarray(b)
        assert (x.shape, x.dtype) == (y.shape, y.dtype), (x.shape, x.dtype, y.shape, y.dtype)
        tolerance = (1e-5 if y.dtype in ("f4", "c8") else 1e-12) * largest
        if not _near(x, y, tolerance):
            tolerance = max(tolerance, 16 * sensitivity())
            assert _near(x, y, tolerance), f"{x!r}, not {y!r} (to {tolerance})"


def _largest(array: Any) -> float:
    if array.dtype.kind not in "fc":
        return 0.0
    return float(np.max(np.abs(array[np.isfinite(array)]), initial=0.0))


def _near(x: Any, y: Any, tolerance: float) -> bool:
    if y.dtype.kind not in "fc":
        return bool(np.array_equal(x, y))
    finite = np.isfinite(y)
    return bool(
        np.array_equal(x[~finite], y[~finite], equal_nan=True)
        and np.all(np.abs(x[finite] - y[finite]) <= tolerance)
    )


def same_bits(a: Any, b: Any) -> bool:
    """Two values have the same bits."""
    return np.asarray(a).tobytes() == np.asarray(b).tobytes()


def unchanged(args: Any, wanted: Any) -> None:
    """Arguments, and what lies between the elements of a view, are as they were."""
    for a, b in zip(leaves(args), leaves(wanted), strict=True):
        assert same_bits(a, b), f"an argument was changed: {a!r}, was {b!r}"
        if isinstance(a, np.ndarray) and a.base is not None:
            assert same_bits(a.base, b.base), "what lies beside an argument was changed"


def own(result: Any, args: Any) -> None:
    """Each array of the gradients is its own: writeable, and shared with nothing."""
    arrays = [x for x in leaves(result[1]) if isinstance(x, np.ndarray)]
    others = [*arrays, *(x for x in leaves(args) if isinstance(x, np.ndarray))]
    for k, array in enumerate(arrays):
        assert array.flags.writeable
        assert not any(np.shares_memory(array, other) for other in others[k + 1 :])


# ------------------------------------------------------------------------------------------------------- layouts


def laid_out(args: tuple[Any, ...], layout: Layout) -> tuple[Any, ...]:
    """The arguments with each array laid out another way; each call makes new ones."""
    return tuple(map_leaves(lambda x: layout(x) if isinstance(x, np.ndarray) else x, a) for a in args)


def strided(array: Any) -> Any:
    """A view of every second element of each axis; what lies between is no number, or very large."""
    held = np.full([2 * n + 1 for n in array.shape], _between(array.dtype), array.dtype)
    view = held[(..., *(slice(1, 2 * n + 1, 2) for n in array.shape))]
    view[...] = array
    return view


def backwards(array: Any) -> Any:
    """A view of an array that lies backwards in memory."""
    turned = (..., *(slice(None, None, -1),) * array.ndim)
    return array[turned].copy()[turned]


def turned(array: Any) -> Any:
    """In Fortran's order, and a vector with gaps."""
    return np.asfortranarray(array) if array.ndim > 1 else strided(array)


def frozen(array: Any) -> Any:
    """Read-only."""
    made = array.copy()
    made.setflags(write=False)
    return made


def _between(dtype: Any) -> Any:
    return np.nan if dtype.kind in "fc" else (np.iinfo(dtype).max if dtype.kind in "iu" else True)


LAYOUTS: dict[str, Layout] = {"strided": strided, "backwards": backwards, "turned": turned, "frozen": frozen}


def single(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments in single precision."""
    return map_leaves(
        lambda x: x.astype(np.float32) if isinstance(x, np.ndarray) and x.dtype == np.float64 else x, args
    )


def cut(args: tuple[Any, ...], lengths: Callable[[int], int], which: int | None = None) -> tuple[Any, ...]:
    """The arguments with other lengths; of all arrays, or of the one at a position."""
    places = iter(range(1000))

    def cut_one(leaf: Any) -> Any:
        if not isinstance(leaf, np.ndarray) or which not in (None, next(places)):
            return leaf
        return leaf[(..., *(slice(lengths(n)) for n in leaf.shape))].copy()

    return map_leaves(cut_one, args)
