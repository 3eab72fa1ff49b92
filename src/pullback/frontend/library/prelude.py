"""Library functions in plain Python: the front end lowers these bodies as if the user had written them.

What comes in are the user's operands; loops over known items unroll where they must, others stay loops.  These are the
meanings of Python's own functions, so they also run as they stand (and are tested so).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from pullback.markers import broadcast


class Missing:
    """The mark of an argument that was not given."""


MISSING = Missing


def nothing(*args: Any, **kwargs: Any) -> None:
    """object.__init__"""


def check_length(items: Any, count: int) -> None:
    """Unpacking into so many names"""
    if len(items) != count:
        raise ValueError(f"expected {count} values to unpack, got {len(items)}")


def check_at_least(items: Any, count: int) -> None:
    """Unpacking into so many names and a starred one"""
    if len(items) < count:
        raise ValueError(f"not enough values to unpack (expected at least {count}, got {len(items)})")


def check_one_element(x: Any) -> None:
    """A number of an array, up to NumPy 2.3"""
    if x.size != 1:
        raise TypeError("only length-1 arrays can be converted to Python scalars")


def check_no_axes(x: Any) -> None:
    """A number of an array, from NumPy 2.4 on"""
    if x.ndim != 0:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")


def add_up(items: Iterable[Any], start: Any = 0) -> Any:
    """sum"""
    total = start
    for item in items:
        total = total + item
    return total


def multiply_up(items: Iterable[Any], start: Any = 1) -> Any:
    """math.prod"""
    total = start
    for item in items:
        total = total * item
    return total


def largest(items: Any) -> Any:
    """max of a sequence that is not empty"""
    best = items[0]
    for i in range(1, len(items)):
        if items[i] > best:
            best = items[i]
    return best


def smallest(items: Any) -> Any:
    """min of a sequence that is not empty"""
    best = items[0]
    for i in range(1, len(items)):
        if items[i] < best:
            best = items[i]
    return best


def largest_by(key: Callable[[Any], Any], items: Any) -> Any:
    """max with a key"""
    best = items[0]
    mark = key(best)
    for i in range(1, len(items)):
        item = items[i]
        candidate = key(item)
        if candidate > mark:
            best = item
            mark = candidate
    return best


def smallest_by(key: Callable[[Any], Any], items: Any) -> Any:
    """min with a key"""
    best = items[0]
    mark = key(best)
    for i in range(1, len(items)):
        item = items[i]
        candidate = key(item)
        if candidate < mark:
            best = item
            mark = candidate
    return best


def any_of(items: Iterable[Any]) -> bool:
    """any"""
    found = False
    for item in items:
        if item:
            found = True
            break
    return found


def all_of(items: Iterable[Any]) -> bool:
    """all"""
    good = True
    for item in items:
        if not item:
            good = False
            break
    return good


def absolute(x: Any) -> Any:
    """abs of a Python integer"""
    return -x if x < 0 else x


def quotient_and_remainder(a: Any, b: Any) -> Any:
    """divmod"""
    return a // b, a % b


def collect(items: Iterable[Any]) -> list[Any]:
    """list"""
    return [item for item in items]


def keep(predicate: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    """filter"""
    return [item for item in items if predicate(item)]


def keep_true(items: Iterable[Any]) -> list[Any]:
    """filter(None, items)"""
    return [item for item in items if item]


def fold(fn: Callable[[Any, Any], Any], items: Any) -> Any:
    """functools.reduce without an initial value"""
    total = items[0]
    for i in range(1, len(items)):
        total = fn(total, items[i])
    return total


def fold_from(fn: Callable[[Any, Any], Any], items: Iterable[Any], total: Any) -> Any:
    """functools.reduce with an initial value"""
    for item in items:
        total = fn(total, item)
    return total


def partial(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """functools.partial"""

    def bound(*more: Any, **named: Any) -> Any:
        return fn(*args, *more, **{**kwargs, **named})

    return bound


def running(items: Any, fn: Callable[[Any, Any], Any]) -> list[Any]:
    """itertools.accumulate of a sequence that is not empty"""
    total = items[0]
    out = [total]
    for i in range(1, len(items)):
        total = fn(total, items[i])
        out.append(total)
    return out


def running_from(items: Iterable[Any], fn: Callable[[Any, Any], Any], total: Any) -> list[Any]:
    """itertools.accumulate with an initial value"""
    out = [total]
    for item in items:
        total = fn(total, item)
        out.append(total)
    return out


def spread(fn: Callable[..., Any], items: Iterable[Any]) -> list[Any]:
    """itertools.starmap"""
    return [fn(*item) for item in items]


def chained(first: Iterable[Any], second: Iterable[Any]) -> list[Any]:
    """itertools.chain of two"""
    out = [item for item in first]
    for item in second:
        out.append(item)
    return out


def extend(items: list[Any], more: Iterable[Any]) -> None:
    """list.extend"""
    for item in more:
        items.append(item)


def larger(a: Any, b: Any) -> Any:
    """max of two: the first of equals"""
    return b if b > a else a


def smaller(a: Any, b: Any) -> Any:
    """min of two: the first of equals"""
    return b if b < a else a


def larger_by(a: Any, a_mark: Any, b: Any, b_mark: Any) -> Any:
    """max of two by their keys"""
    return (b, b_mark) if b_mark > a_mark else (a, a_mark)


def smaller_by(a: Any, a_mark: Any, b: Any, b_mark: Any) -> Any:
    """min of two by their keys"""
    return (b, b_mark) if b_mark < a_mark else (a, a_mark)


BETTER_BY = {larger: larger_by, smaller: smaller_by}


def in_order(a: Any, b: Any) -> Any:
    """Two items, the smaller first"""
    return (b, a) if b < a else (a, b)


def in_order_down(a: Any, b: Any) -> Any:
    """Two items, the larger first"""
    return (b, a) if a < b else (a, b)


def sorted_up(items: Any) -> Any:
    """The numbers in order"""
    return np.sort(np.array(items))


def sorted_down(items: Any) -> Any:
    """The numbers in order, the largest first"""
    return np.sort(np.array(items))[::-1]


def as_floats(items: Any) -> list[float]:
    """Python numbers"""
    return [float(item) for item in items]


def to_list(x: Any) -> Any:
    """ndarray.tolist"""
    return x.item() if x.ndim == 0 else [to_list(row) for row in x]


# ------------------------------------------------------------------------------------- operators as functions


def plus(a: Any, b: Any) -> Any:
    return a + b


def minus(a: Any, b: Any) -> Any:
    return a - b


def times(a: Any, b: Any) -> Any:
    return a * b


def over(a: Any, b: Any) -> Any:
    return a / b


def floor_over(a: Any, b: Any) -> Any:
    return a // b


def remainder(a: Any, b: Any) -> Any:
    return a % b


def power(a: Any, b: Any) -> Any:
    return a**b


def matrix_times(a: Any, b: Any) -> Any:
    return a @ b


def negative(a: Any) -> Any:
    return -a


def positive(a: Any) -> Any:
    return +a


def inverted(a: Any) -> Any:
    return ~a


def negation(a: Any) -> Any:
    return not a


def less(a: Any, b: Any) -> Any:
    return a < b


def less_equal(a: Any, b: Any) -> Any:
    return a <= b


def greater(a: Any, b: Any) -> Any:
    return a > b


def greater_equal(a: Any, b: Any) -> Any:
    return a >= b


def equal(a: Any, b: Any) -> Any:
    return a == b


def not_equal(a: Any, b: Any) -> Any:
    return a != b


def both(a: Any, b: Any) -> Any:
    return a & b


def either(a: Any, b: Any) -> Any:
    return a | b


def exclusive(a: Any, b: Any) -> Any:
    return a ^ b


def shift_left(a: Any, b: Any) -> Any:
    return a << b


def shift_right(a: Any, b: Any) -> Any:
    return a >> b


def same(a: Any, b: Any) -> bool:
    return a is b


def different(a: Any, b: Any) -> bool:
    return a is not b


def within(container: Any, item: Any) -> bool:
    return item in container


def get_item(a: Any, index: Any) -> Any:
    return a[index]


def set_item(a: Any, index: Any, value: Any) -> None:
    a[index] = value


def add_in_place(a: Any, b: Any) -> Any:
    a += b
    return a


def subtract_in_place(a: Any, b: Any) -> Any:
    a -= b
    return a


def multiply_in_place(a: Any, b: Any) -> Any:
    a *= b
    return a


def divide_in_place(a: Any, b: Any) -> Any:
    a /= b
    return a


# ------------------------------------------------------------------------------------------------ writes of NumPy


def put(a: Any, ind: Any, v: Any) -> None:
    """np.put, mode "raise": positions in the flat array; values are repeated as needed"""
    flat = a.reshape(-1)
    where = np.ravel(np.asarray(ind))
    values = np.ravel(np.asarray(v))
    flat[where] = values[np.arange(where.size) % values.size]


def put_same(a: Any, ind: Any, v: Any) -> None:
    """np.put of one value, or of as many values as positions"""
    flat = a.reshape(-1)
    flat[ind] = v


def put_mask(a: Any, mask: Any, values: Any) -> None:
    """np.putmask: where the mask holds, the value at the same flat position (values are repeated as needed)"""
    given = np.ravel(np.asarray(values))
    a[...] = np.where(mask, np.reshape(given[np.arange(a.size) % given.size], a.shape), a)


def put_mask_same(a: Any, mask: Any, values: Any) -> None:
    """np.putmask of one value, or of an array of the same shape"""
    a[...] = np.where(mask, values, a)


def place(a: Any, mask: Any, vals: Any) -> None:
    """np.place: the first values into the positions where the mask holds"""
    given = np.ravel(np.asarray(vals))
    count = np.count_nonzero(mask)
    a[np.asarray(mask, dtype=bool)] = given[np.arange(count) % given.size]


def fill_diagonal(a: Any, val: Any) -> None:
    """np.fill_diagonal of a matrix with a scalar"""
    n = min(a.shape[0], a.shape[1])
    index = np.arange(n)
    a[index, index] = val


def fill_diagonal_many(a: Any, val: Any) -> None:
    """np.fill_diagonal of a matrix with a sequence (repeated as needed)"""
    given = np.ravel(np.asarray(val))
    n = min(a.shape[0], a.shape[1])
    index = np.arange(n)
    a[index, index] = given[index % given.size]


def copy_where(dst: Any, src: Any, where: Any) -> None:
    """np.copyto with a mask"""
    dst[...] = np.where(where, src, dst)


# ------------------------------------------------------------------------------------ functions of functions


def none_of(conditions: Any) -> Any:
    """Where no condition holds"""
    found = conditions[0]
    for i in range(1, len(conditions)):
        found = found | conditions[i]
    return np.logical_not(found)


def apply_where(out: Any, x: Any, condition: Any, fn: Callable[[Any], Any]) -> None:
    """One piece of np.piecewise"""
    values = x[condition]
    if values.size > 0:
        out[condition] = fn(values)


def as_array_of_call(fn: Callable[[Any], Any], x: Any) -> Any:
    """np.apply_along_axis of a vector"""
    return np.array(fn(x))


def apply_to_rows(fn: Callable[[Any], Any], x: Any) -> Any:
    """np.apply_along_axis of a matrix, axis 1"""
    return np.array([fn(row) for row in x])


def apply_to_columns(fn: Callable[[Any], Any], x: Any) -> Any:
    """np.apply_along_axis of a matrix, axis 0"""
    out = np.array([fn(column) for column in x.T])
    return out.T if out.ndim == 2 else out


def put_along_rows(arr: Any, indices: Any, values: Any) -> None:
    """np.put_along_axis of a matrix, axis 1"""
    arr[np.arange(arr.shape[0])[:, None], indices] = values


def put_along_columns(arr: Any, indices: Any, values: Any) -> None:
    """np.put_along_axis of a matrix, axis 0"""
    arr[indices, np.arange(arr.shape[1])] = values


def over_elements(fn: Callable[..., Any], *operands: Any) -> Any:
    """pullback.broadcast of a function without rules: its value at each element"""
    same = [np.broadcast_to(x, np.broadcast_shapes(*[np.shape(y) for y in operands])) for x in operands]
    flat = [np.ravel(x) for x in same]
    values = [fn(*[x[i] for x in flat]) for i in range(np.size(same[0]))]
    return np.reshape(np.array(values), np.shape(same[0]))


def vectorized(fn: Callable[..., Any]) -> Callable[..., Any]:
    """np.vectorize of a function that is defined where it is used"""

    def bound(*args: Any) -> Any:
        return broadcast(fn, *args)

    return bound


def neighbours(items: Any, i: int) -> Any:
    """One item of itertools.pairwise"""
    return items[i], items[i + 1]


def covariance(m: Any, y: Any, ddof: Any) -> Any:
    """np.cov of variables in rows"""
    x = np.atleast_2d(m)
    if y is not None:
        x = np.concatenate((x, np.atleast_2d(y)), axis=0)
    centred = x - np.mean(x, axis=1)[:, None]
    out = np.dot(centred, centred.T) * np.true_divide(1, x.shape[1] - ddof)
    return np.squeeze(out)


def correlation(m: Any, y: Any) -> Any:
    """np.corrcoef of several variables in rows"""
    c = covariance(m, y, 1)
    spread = np.sqrt(np.diag(c))
    return np.clip(c / spread[:, None] / spread[None, :], -1, 1)
