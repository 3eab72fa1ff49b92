"""The library's programs: lowered, interpreted, and compared with Python bit for bit."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.frontend import library_programs as programs

from pullback.errors import PullbackError
from pullback.frontend.environment import Environment, NeedStatic
from pullback.frontend.lower import lower_function
from pullback.frontend.signature import bind, signature_of
from pullback.ir import interp


def lowered(fn: Any, args: tuple[Any, ...], static: frozenset[str] = frozenset()) -> Any:
    """Lower a function for arguments; integers are made static where they must be."""
    arguments = bind(fn, args, {})
    try:
        return lower_function(fn, signature_of(arguments, static), Environment(static)), arguments
    except NeedStatic as need:
        return lowered(fn, args, static | {need.name})


def interpreted(fn: Any, args: tuple[Any, ...]) -> Any:
    """The value of the lowered function."""
    made, arguments = lowered(fn, copy.deepcopy(args))
    names = [p.name for p in made.function.params]
    implicit = {name: path.fetch() for path, (name, _) in made.environment.implicits.items()}
    (value,) = interp.run(made.function, [arguments[n] if n in arguments else implicit[n] for n in names])
    return value


def rows(group: list[Any]) -> Iterator[Any]:
    """A parameter of the test for each row, named by its line."""
    for fn, args in group:
        name = fn.__name__.replace("<lambda>", "row")
        yield pytest.param(fn, args, id=f"{name}-{fn.__code__.co_firstlineno}")


def same(got: Any, want: Any) -> None:
    """Equal types, dtypes, shapes and bits."""
    assert type(got) is type(want), f"{got!r} for {want!r}"
    if isinstance(want, np.ndarray):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        assert got.tobytes() == want.tobytes(), f"{got!r} for {want!r}"
    elif isinstance(want, np.generic):
        assert got.tobytes() == want.tobytes(), f"{got!r} for {want!r}"
    elif isinstance(want, dict):
        assert list(got) == list(want)
        same(list(got.values()), list(want.values()))
    elif isinstance(want, list | tuple):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w)
    else:
        assert repr(got) == repr(want)


CASES = [case for group in programs.GROUPS.values() for case in rows(group)]


@pytest.mark.parametrize(("fn", "args"), CASES)
def test_same_bits(fn: Any, args: tuple[Any, ...]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = fn(*copy.deepcopy(args))
        got = interpreted(fn, args)
    same(got, want)


@pytest.mark.parametrize(("fn", "args"), list(rows(programs.REFUSED)))
def test_refused(fn: Any, args: tuple[Any, ...]) -> None:
    with pytest.raises(PullbackError) as caught:
        lowered(fn, copy.deepcopy(args))
    assert caught.value.hint
    assert caught.value.loc is not None
    first = fn.__code__.co_firstlineno
    marked = {programs.spent: 2, programs.late_generator: 2, programs.late_view: 4}
    assert caught.value.loc.line == first + marked.get(fn, 0)
