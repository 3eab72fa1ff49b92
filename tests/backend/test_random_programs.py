"""Random programs: the generated code gives the interpreter's bits, in place or not, and leaves its arguments
alone.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.backend.random_programs import Maker, arguments

from pullback.backend.numpy.load import load
from pullback.backend.numpy.module import emit_module
from pullback.ir.interp import run

SEEDS = range(40)


def leaves(value: Any) -> Iterator[Any]:
    """The numbers and arrays in a structure."""
    if isinstance(value, tuple | list):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def bits(value: Any) -> list[tuple[Any, ...]]:
    """What must be equal, byte by byte."""
    return [(np.shape(x), np.asarray(x).tobytes()) for x in leaves(value)]


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("kind", ["primal", "joint", "pullback"])
@pytest.mark.parametrize("seed", SEEDS)
def test_same_as_the_interpreter(seed: int, kind: str, in_place: bool) -> None:
    function = Maker(seed).function(kind)
    args = arguments(seed)
    generated = emit_module([function], bufferize=in_place)
    mine = copy.deepcopy(args)
    out = load(generated, "program")(*mine)
    assert bits(out) == bits(run(function, args)), generated.source
    assert bits(mine) == bits(args), generated.source
    if kind != "primal":
        own = [x for x in leaves(out[1]) if isinstance(x, np.ndarray)]
        others = [x for x in leaves((mine, out[0])) if isinstance(x, np.ndarray)]
        for i, array in enumerate(own):
            assert not any(np.shares_memory(array, x) for x in others + own[:i]), generated.source


def test_the_same_program_gives_the_same_text() -> None:
    texts = {emit_module([Maker(7).function("primal")]).source for _ in range(3)}
    assert len(texts) == 1
