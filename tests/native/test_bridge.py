"""Both bridges: what is taken, what is a miss, results, errors, operations, nothing leaks, forks."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.native.subjects import B1, C16, F8, I8, bound, need_compiler

from pullback.backend.native import bridge as native_bridge
from pullback.backend.native import toolchain
from pullback.backend.native.bridge import MISS, foreign, memory
from pullback.backend.native.interface import (
    DTYPES,
    ArraySpec,
    Interface,
    Operation,
    ScalarSpec,
    kind_of,
)
from pullback.errors import BuildFailed, Loc, UserLine

need_compiler()
BRIDGES = ("extension", "ctypes")
COPIED = "copied"  # by ctypes, where the fields of arrays are not read in place
V = ArraySpec(F8, 1)

# One text for most tests, so that it is compiled once.
TEXT = """
/* The argument as it came: a number. */
ENTRY(same) { (void)host; out[0] = in[0]; return 0; }

/* Running sums of a, twice them, and the sum. */
ENTRY(sums) {
    int64_t n = in[0].a.shape[0];
    char *first, *second;
    void *a = host->new_array(host, PB_FLOAT64, 1, &n, &first);
    if (!a) FAIL(PB_HOST_ERROR, 0);
    void *b = host->new_array(host, PB_FLOAT64, 1, &n, &second);
    if (!b) { host->drop_array(host, a); FAIL(PB_HOST_ERROR, 0); }
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += AT(in[0], double, i);
        ((double *)first)[i] = sum;
        ((double *)second)[i] = 2 * sum;
    }
    out[0].a.data = a;
    out[1].f = sum;
    out[2].a.data = b;
    return 0;
}

/* 1 if the arguments came. */
ENTRY(taken) { (void)host; (void)in; out[0].i = 1; return 0; }

/* Element i, with NumPy's bounds. */
ENTRY(element) {
    int64_t i = in[1].i, n = in[0].a.shape[0];
    if (i < -n || i >= n) {
        host->detail[0] = i, host->detail[1] = 0, host->detail[2] = n;
        FAIL(PB_INDEX_ERROR, 1);
    }
    out[0].f = AT(in[0], double, i < 0 ? i + n : i);
    return 0;
}

/* The error of a code. */
ENTRY(failing) { host->message = in[0].i % 2 ? "it went wrong" : NULL; FAIL((int32_t)in[0].i, 0); }

/* The argument plus one, in place. */
ENTRY(add_one) {
    (void)host; (void)out;
    for (int64_t i = 0; i < in[0].a.shape[0]; i++) AT(in[0], double, i) += 1;
    return 0;
}

/* An operation on the first argument, and then on what it gave; the result is returned. */
ENTRY(twice) {
    pb_arg first, second;
    if (host->call(host, 0, in, &first)) FAIL(PB_HOST_ERROR, 0);
    int32_t failed = host->call(host, 0, &first, &second);
    host->drop_array(host, first.a.handle);
    if (failed) FAIL(PB_HOST_ERROR, 0);
    double sum = 0;
    for (int64_t i = 0; i < second.a.shape[0]; i++) sum += AT(second, double, i);
    out[0].a.data = second.a.handle;
    out[1].f = sum;
    return 0;
}

/* An operation on memory of the entry's own. */
ENTRY(own_memory) {
    double *memory = malloc(3 * sizeof(double));
    int64_t shape = 3, stride = 8;
    for (int i = 0; i < 3; i++) memory[i] = in[0].f + i;
    pb_arg given = {.a = {(char *)memory, &shape, &stride, NULL}}, found;
    int32_t failed = host->call(host, 0, &given, &found);
    out[0].f = memory[0];
    free(memory);
    if (failed) FAIL(PB_HOST_ERROR, 0);
    return 0;
}

/* An operation of one number and one array that gives a number of each kind, and an array. */
ENTRY(mixed) {
    pb_arg found[5];
    if (host->call(host, 0, in, found)) FAIL(PB_HOST_ERROR, 0);
    for (int i = 0; i < 4; i++) out[i] = found[i];
    out[4].a.data = found[4].a.handle;
    return 0;
}

/* n arrays, all but the last given back. */
ENTRY(many) {
    void *last = NULL;
    for (int64_t i = 0; i <= in[0].i; i++) {
        char *data;
        if (last) host->drop_array(host, last);
        last = host->new_array(host, PB_INT64, 1, &i, &data);
        if (!last) FAIL(PB_HOST_ERROR, 0);
        for (int64_t k = 0; k < i; k++) ((int64_t *)data)[k] = i;
    }
    out[0].a.data = last;
    return 0;
}

/* An array of a shape given as numbers, which may be too much. */
ENTRY(large) {
    int64_t shape[2] = {in[0].i, in[1].i};
    char *data;
    out[0].a.data = host->new_array(host, PB_FLOAT64, 2, shape, &data);
    if (!out[0].a.data) FAIL(PB_HOST_ERROR, 0);
    return 0;
}

/* So many steps, by threads. */
ENTRY(parallel) {
    int64_t sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads((int)host->threads)
    for (int64_t i = 0; i < in[0].i; i++) sum += 1;
    out[0].i = sum;
    return 0;
}

/* How many threads it may use. */
ENTRY(threads) { (void)in; out[0].i = host->threads; return 0; }
"""
PLACES = (Loc("model.py", 7, text="    y = f(x)", function="f"), Loc("model.py", 9, text="    z = x[i]"))
INT = ScalarSpec("int")


@pytest.fixture(params=[*BRIDGES, COPIED])
def make(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    which = request.param
    if which == COPIED:
        monkeypatch.setattr(foreign, "_address", memory._copied)

    def make(
        name: str, args: Any, results: Any, operations: Any = (), threads: int = 0, failed: Any = None
    ) -> Any:
        interface = Interface(name, tuple(args), tuple(results), PLACES, tuple(operations))
        return bound("ctypes" if which == COPIED else which, TEXT, interface, threads, failed)

    return make


# -- numbers --

SCALARS: list[tuple[ScalarSpec, list[Any]]] = [
    (ScalarSpec("float"), [0.5, -0.0, float("inf"), 1e-310]),
    (ScalarSpec("int"), [0, -1, 2**63 - 1, -(2**63)]),
    (ScalarSpec("bool"), [True, False]),
    (ScalarSpec("complex"), [1.5 - 2j, complex(-0.0, float("inf"))]),
]
for _dtype in DTYPES:
    _info: Any = np.iinfo(_dtype) if _dtype.kind in "iu" else None
    _values = [_info.min, _info.max, 1] if _info else [0, 1]
    _values = [0.1, -3] if _dtype.kind == "f" else [1 - 2.5j] if _dtype.kind == "c" else _values
    SCALARS.append((ScalarSpec(kind_of(_dtype), _dtype), [_dtype.type(v) for v in _values]))


@pytest.mark.parametrize("spec", [s for s, _ in SCALARS], ids=lambda s: f"{s.kind}-{s.dtype}")
def test_numbers_pass_unchanged(make: Any, spec: ScalarSpec) -> None:
    call = make("same", [spec], [spec])
    for other, values in SCALARS:
        for value in values:
            result = call(value)
            if other == spec:
                assert type(result[0]) is type(value)
                assert repr(result[0]) == repr(value)
            else:
                assert result is MISS, (value, type(value))
    for other_kind in (None, "1", np.ones(()), np.float16(1), np.longdouble(1), [1.0], F8):
        assert call(other_kind) is MISS


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**30])
def test_an_int_that_does_not_fit_is_a_miss(make: Any, value: int) -> None:
    assert make("same", [INT], [INT])(value) is MISS


# -- arrays --


def array_of(dtype: np.dtype[Any]) -> Any:
    return np.arange(6).reshape(2, 3).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_arrays_of_exactly_a_dtype_are_taken(make: Any, dtype: np.dtype[Any]) -> None:
    call = make("taken", [ArraySpec(dtype, 2)], [INT])
    for other in DTYPES:
        result = call(array_of(other))
        assert result == (1,) if other == dtype else result is MISS
    right = array_of(dtype)
    assert call(right[::-1, ::2]) == (1,)
    assert call(right[:0]) == (1,)
    assert call(right.T) == (1,)
    assert call(right.astype(np.dtype(dtype.str))) == (1,)
    if dtype.itemsize > 1:
        assert call(right.astype(dtype.newbyteorder())) is MISS
        raw = np.zeros(right.nbytes + 1, np.uint8)[1:]
        assert call(raw.view(dtype).reshape(2, 3)) is MISS


def test_a_dtype_is_known_by_its_meaning(make: Any) -> None:
    """Integers of C's `long long`, and dtypes that are other objects."""
    call = make("taken", [ArraySpec(I8, 1), ArraySpec(F8, 1)], [INT])
    described = np.dtype("f8", metadata={"unit": "m"})
    assert call(np.arange(3, dtype="q"), np.zeros(2)) == (1,)
    assert call(np.arange(3, dtype="l"), np.zeros(2, described)) == (1,)
    assert call(np.arange(3, dtype="q"), np.zeros(2, "f4")) is MISS


@pytest.mark.parametrize(
    "wrong",
    [
        1.0,
        None,
        [1.0],
        np.float64(1),
        np.ones(()),
        np.ones((2, 2)),
        np.ma.ones(3),
        np.ones(3).view(np.matrix),
    ],
    ids=lambda v: type(v).__name__,
)
def test_what_is_no_such_array_is_a_miss(make: Any, wrong: Any) -> None:
    assert make("taken", [V], [INT])(wrong) is MISS


def test_lengths_are_as_specified(make: Any) -> None:
    matrix = ArraySpec(F8, 2, ones=(True, False), equal=(-1, 5))
    call = make("taken", [matrix, ArraySpec(F8, 1, equal=(5,))], [INT])
    assert call(np.ones((1, 3)), np.ones(3)) == (1,)
    assert call(np.ones((2, 3)), np.ones(3)) is MISS
    assert call(np.ones((1, 1)), np.ones(1)) is MISS
    assert call(np.ones((1, 3)), np.ones(4)) is MISS
    assert call(np.ones((1, 0)), np.ones(0)) == (1,)
    square = make("taken", [ArraySpec(F8, 2, equal=(0, 0)), ArraySpec(F8, 1, equal=(1,))], [INT])
    assert square(np.ones((2, 2)), np.ones(5)) == (1,)
    assert square(np.ones((2, 3)), np.ones(5)) is MISS


def test_what_is_written_must_be_writeable(make: Any) -> None:
    call = make("add_one", [ArraySpec(F8, 1, writes=True)], [])
    x = np.zeros(4)
    assert call(x[::-2]) == ()
    assert list(x) == [0, 1, 0, 1]
    x.setflags(write=False)
    assert call(x) is MISS
    assert make("taken", [V], [INT])(x) == (1,)


def test_wrong_number_of_arguments(make: Any) -> None:
    with pytest.raises(TypeError):
        make("same", [INT], [INT])(1, 2)


def test_many_arguments(make: Any) -> None:
    """More than the bridge has room for at hand."""
    specs = [ArraySpec(F8, 1, equal=(k,)) for k in range(40)]
    arrays = [np.ones(k) for k in range(40)]
    assert make("taken", specs, [INT])(*arrays) == (1,)
    assert make("taken", [*specs, V], [INT])(*arrays, np.ones((1, 1))) is MISS


# -- results --


def test_results(make: Any) -> None:
    call = make("sums", [V], [V, ScalarSpec("float", F8), V])
    for x in (np.arange(5.0), np.arange(10.0)[::-3], np.zeros(0), np.arange(5.0) + 1):
        first, total, second = call(x)
        assert np.array_equal(first, np.cumsum(x))
        assert np.array_equal(second, 2 * np.cumsum(x))
        assert type(total) is np.float64 and total == np.sum(x)
        assert first.flags.owndata and first.flags.writeable and not np.may_share_memory(first, second)


def test_results_of_one_call_are_not_those_of_the_next(make: Any) -> None:
    call = make("sums", [V], [V, ScalarSpec("float"), V])
    kept = [call(np.full(3, float(k))) for k in range(4)]
    assert [list(first) for first, _, _ in kept] == [[k, 2 * k, 3 * k] for k in range(4)]


def test_arrays_that_an_entry_gives_back(make: Any) -> None:
    call = make("many", [INT], [ArraySpec(I8, 1)])
    for n in (3, 30, 5, 0):
        assert list(call(n)[0]) == [n] * n


# -- errors --


def notes(error: BaseException) -> str:
    if sys.version_info >= (3, 11):
        return "\n".join(error.__notes__)
    assert isinstance(error.__cause__, UserLine)
    return str(error.__cause__)


def test_an_index_error_names_the_line(make: Any) -> None:
    call = make("element", [V, INT], [ScalarSpec("float")])
    x = np.arange(4.0)
    assert call(x, -1) == (3.0,)
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 4") as caught:
        call(x, 7)
    assert notes(caught.value) == "from model.py:9, in element\n    z = x[i]"
    with pytest.raises(IndexError, match="index -5 "):
        call(x, -5)
    assert call(x, 1) == (1.0,)


def test_what_is_returned_where_an_entry_fails_can_be_said(make: Any) -> None:
    said = []

    def failed(*told: Any) -> Any:
        said.append(told)
        return MISS

    call = make("element", [V, INT], [ScalarSpec("float")], failed=failed)
    assert call(np.arange(4.0), 2) == (2.0,)
    assert call(np.arange(4.0), 7) is MISS and call(np.arange(4.0), 9) is MISS
    assert said == [(1, 1, (k, 0, 4, 0), None, None) for k in (7, 9)]
    assert call(np.arange(4), 2) is MISS and call.calls == 3  # no array as specified: the entry is not run


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (2, ValueError),
        (3, ZeroDivisionError),
        (4, OverflowError),
        (5, MemoryError),
        (6, UnboundLocalError),
        (7, AssertionError),
        (8, TypeError),
        (10, FloatingPointError),
    ],
)
def test_errors_by_code(make: Any, code: int, kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        make("failing", [INT], [])(code)
    assert type(caught.value) is kind
    assert str(caught.value) == ("it went wrong" if code % 2 else "")
    assert notes(caught.value) == "from model.py:7, in f\n    y = f(x)"


@pytest.mark.parametrize("shape", [(2**40, 2**20), (-1, 3), (2**62, 4)])
def test_an_array_that_cannot_be_made(make: Any, shape: tuple[int, int]) -> None:
    """NumPy's own error for the shape, with the user's line."""
    call = make("large", [INT, INT], [ArraySpec(F8, 2)])
    with pytest.raises((MemoryError, ValueError)) as own:
        np.empty(shape)
    with pytest.raises(own.type) as caught:
        call(*shape)
    assert "model.py:7" in notes(caught.value)
    assert call(2, 3)[0].shape == (2, 3)


# -- operations --


def test_operations_are_numpys(make: Any) -> None:
    seen = []

    def negative(x: Any) -> Any:
        seen.append((type(x), x.flags.writeable))
        return -x

    call = make("twice", [V], [V, ScalarSpec("float")], [Operation(negative, (V,), (V,))])
    x = np.arange(6.0)[::2]
    result, total = call(x)
    assert list(result) == [0, 2, 4] and total == 6.0
    assert seen == [(np.ndarray, False)] * 2


@pytest.mark.parametrize(
    "function",
    [lambda x: x, lambda x: x[::-1], lambda x: np.asfortranarray(x), lambda x: np.ma.array(x), list],
    ids=["itself", "view", "asarray", "subclass", "list"],
)
def test_what_an_operation_gives_is_never_shared(make: Any, function: Callable[[Any], Any]) -> None:
    x = np.arange(4.0)
    call = make("twice", [V], [V, ScalarSpec("float")], [Operation(function, (V,), (V,))])
    result, total = call(x)
    assert type(result) is np.ndarray and result.flags.c_contiguous and result.flags.writeable
    assert list(result) == list(x) and total == 6.0
    assert not np.may_share_memory(result, x)


def test_what_an_operation_keeps_stays(make: Any) -> None:
    """A result that is kept elsewhere is not given away, and a view on the entry's own memory outlives it."""
    table = np.arange(4.0)
    call = make("twice", [V], [V, ScalarSpec("float")], [Operation(lambda _: table, (V,), (V,))])
    result, _ = call(np.zeros(2))
    result[:] = -1
    assert list(table) == [0, 1, 2, 3]
    kept: list[Any] = []
    own = make("own_memory", [ScalarSpec("float")], [ScalarSpec("float")], [Operation(kept.append, (V,), ())])
    with pytest.raises(TypeError):
        own(2.5)  # `append` returns None, which is no tuple of no results
    keep = make(
        "own_memory",
        [ScalarSpec("float")],
        [ScalarSpec("float")],
        [Operation(lambda x: kept.append(x) or (), (V,), ())],
    )
    assert keep(7.5) == (7.5,)
    gc.collect()
    assert [list(x) for x in kept] == [[2.5, 3.5, 4.5], [7.5, 8.5, 9.5]]


def test_an_operation_may_write(make: Any) -> None:
    def double(x: Any) -> tuple[()]:
        x *= 2
        return ()

    spec = ArraySpec(F8, 1, writes=True)
    call = make("own_memory", [ScalarSpec("float")], [ScalarSpec("float")], [Operation(double, (spec,), ())])
    assert call(1.5) == (3.0,)


def test_numbers_of_operations(make: Any) -> None:
    results = (ScalarSpec("float"), INT, ScalarSpec("bool", B1), ScalarSpec("complex", C16), V)
    given: list[Any] = []

    def operation(x: float, y: Any) -> Any:
        given.append(x)
        return x + 1, len(y), y[0] > 0, np.complex128(1j * x), y + x

    call = make(
        "mixed", [ScalarSpec("float"), V], results, [Operation(operation, (ScalarSpec("float"), V), results)]
    )
    found = call(0.5, np.ones(3))
    assert found[:4] == (1.5, 3, True, 0.5j)
    assert [type(x) for x in found[:4]] == [float, int, np.bool_, np.complex128]
    assert list(found[4]) == [1.5] * 3
    assert [type(x) for x in given] == [float]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.astype("f4"),
        lambda x: x[:, None],
        lambda x: 1.0,
        lambda x: None,
        lambda x: x.undefined,
        lambda x: np.linalg.inv(np.zeros((2, 2))),
    ],
    ids=["dtype", "rank", "number", "none", "attribute", "numpy"],
)
def test_an_operation_that_fails(make: Any, function: Callable[[Any], Any]) -> None:
    call = make("twice", [V], [V, ScalarSpec("float")], [Operation(function, (V,), (V,))])
    for _ in range(2):
        with pytest.raises((TypeError, AttributeError, np.linalg.LinAlgError)) as caught:
            call(np.arange(4.0))
        assert "from model.py:7, in f" in notes(caught.value)


def test_an_interrupt_in_an_operation(make: Any) -> None:
    def interrupted(_: Any) -> Any:
        raise KeyboardInterrupt

    call = make("twice", [V], [V, ScalarSpec("float")], [Operation(interrupted, (V,), (V,))])
    with pytest.raises(KeyboardInterrupt):
        call(np.zeros(2))


def test_an_integer_of_an_operation_is_never_cut(make: Any) -> None:
    results = (ScalarSpec("float"), INT, ScalarSpec("bool", B1), ScalarSpec("complex", C16), V)
    for wrong, kind in ((2**63, OverflowError), (2.5, TypeError)):
        fn = lambda x, y, wrong=wrong: (x, wrong, True, 1j, y)  # noqa: E731
        call = make(
            "mixed", [ScalarSpec("float"), V], results, [Operation(fn, (ScalarSpec("float"), V), results)]
        )
        with pytest.raises(kind):
            call(0.5, np.ones(2))


def test_an_entry_calls_itself_through_an_operation(make: Any) -> None:
    made: list[Any] = []

    def again(x: Any) -> Any:
        return made[0](x[:-1].copy())[0] if len(x) > 1 else x + 1

    made.append(make("twice", [V], [V, ScalarSpec("float")], [Operation(again, (V,), (V,))]))

    def plain(x: Any) -> Any:
        inner = lambda y: plain(y[:-1]) if len(y) > 1 else y + 1  # noqa: E731
        return inner(inner(x))

    result, _ = made[0](np.arange(4.0))
    assert list(result) == list(plain(np.arange(4.0)))


def test_threads_of_python(make: Any) -> None:
    """An operation lets another thread run, which calls the same entry."""
    barrier = threading.Barrier(3)

    def negative(x: Any) -> Any:
        barrier.wait(10)
        return -x

    call = make("twice", [V], [V, ScalarSpec("float")], [Operation(negative, (V,), (V,))])
    found: dict[int, Any] = {}
    workers = [
        threading.Thread(target=lambda k=k: found.update({k: call(np.full(k + 1, float(k)))}))
        for k in range(3)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert {k: list(found[k][0]) for k in range(3)} == {k: [float(k)] * (k + 1) for k in range(3)}


# -- lifetimes --


def test_nothing_leaks(make: Any) -> None:
    x, large = np.arange(50.0), 1 << 40

    def fails(_: Any) -> Any:
        raise ValueError

    good = make("sums", [V], [V, ScalarSpec("float", F8), V])
    index = make("element", [V, INT], [ScalarSpec("float")])
    twice = make("twice", [V], [V, ScalarSpec("float")], [Operation(np.negative, (V,), (V,))])
    failing = make("twice", [V], [V, ScalarSpec("float")], [Operation(fails, (V,), (V,))])
    many = make("many", [INT], [ArraySpec(I8, 1)])

    def calls(number: int) -> None:
        for k in range(number):
            good(x if k % 7 else x[:9])
            good(x[:, None])
            twice(x)
            many(k % 40)
            for broken, arg in ((index, (x, large)), (failing, (x,))):
                with contextlib.suppress(IndexError, ValueError):
                    broken(*arg)

    calls(50)
    gc.collect()
    before = sys.getrefcount(x), sys.getrefcount(MISS), sys.getrefcount(F8), sys.getrefcount(None)
    tracemalloc.start()
    calls(20)
    start = tracemalloc.get_traced_memory()[0]
    calls(200)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - start
    tracemalloc.stop()
    assert grown < 10_000
    after = sys.getrefcount(x), sys.getrefcount(MISS), sys.getrefcount(F8), sys.getrefcount(None)
    assert all(abs(a - b) < 100 for a, b in zip(after, before, strict=True)), (before, after)


def test_a_callable_goes(make: Any) -> None:
    """Also in a circle with its own operation."""

    class Function:
        call: Any = None

        def __call__(self, x: Any) -> Any:
            return x

    function = Function()
    function.call = make("twice", [V], [V, ScalarSpec("float")], [Operation(function, (V,), (V,))])
    function.call(np.zeros(2))
    gone = weakref.ref(function)
    del function
    gc.collect()
    assert gone() is None


def test_a_callable_shows_its_name(make: Any) -> None:
    assert repr(make("same", [INT], [INT])) == "<compiled same>"


# -- threads of compiled code --


def test_threads_are_as_many_as_asked(make: Any) -> None:
    assert make("threads", [], [INT], threads=3)() == (3,)
    assert make("threads", [], [INT])()[0] >= 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_uses_one_thread(make: Any) -> None:
    calls = make("threads", [], [INT], threads=4), make("threads", [], [INT])
    assert calls[0]() == (4,)
    assert in_fork(lambda: [call() for call in calls] == [(1,), (1,)])
    assert calls[0]() == (4,)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_parallel_loop_ends_in_a_fork(make: Any) -> None:
    """OpenMP's threads are not there: with more than one thread it would wait for them."""
    if not toolchain.find().openmp:
        pytest.skip("no OpenMP")
    call = make("parallel", [INT], [INT], threads=2)
    assert call(1000) == (1000,)
    assert in_fork(lambda: call(1000) == (1000,))
    assert call(7) == (7,)


def in_fork(holds: Callable[[], bool]) -> bool:
    """Whether something holds in a fork of this process, which may take ten seconds."""
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        os._exit(0 if holds() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# -- specs, and which bridge --


def test_specs_tell_a_number_of_python_from_one_of_numpy() -> None:
    """To NumPy, None is a way to say float64."""
    assert ScalarSpec("float") != ScalarSpec("float", F8)
    assert ScalarSpec("float", F8) == ScalarSpec("float", np.dtype("float64"))
    assert len({ScalarSpec("float"), ScalarSpec("float", F8), ScalarSpec("float", np.dtype("f8"))}) == 2


@pytest.mark.parametrize("dtype", ["f2", "g", ">f8", "O", "M8[s]", "U3", "G"])
def test_other_dtypes_have_no_spec(dtype: str) -> None:
    with pytest.raises(ValueError, match="compiled code has no dtype"):
        ArraySpec(np.dtype(dtype), 1)
    with pytest.raises(ValueError, match="compiled code has no dtype"):
        ScalarSpec("float", np.dtype(dtype))


def test_the_kind_of_bridge_is_told() -> None:
    assert native_bridge.kind() in BRIDGES


def test_a_library_without_the_entry() -> None:
    from pullback.backend.native import build

    library = build.shared_library("int nothing;\n")
    with pytest.raises(BuildFailed, match="cannot be loaded"):
        native_bridge.bind(library, Interface("absent", (), ()))
    with pytest.raises(BuildFailed, match="cannot be loaded"):
        native_bridge.bind(library.with_name("none.so"), Interface("absent", (), ()))
