"""Random specs and random arguments: each bridge takes exactly what a plain reading of the specs takes."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from tests.native.subjects import bound, need_compiler

from pullback.backend.native.bridge import MISS
from pullback.backend.native.interface import (
    DTYPES,
    KINDS,
    ArgSpec,
    ArraySpec,
    Interface,
    ScalarSpec,
    kind_of,
)

need_compiler()
TEXT = "ENTRY(taken) { (void)host; (void)in; out[0].i = 1; return 0; }\n"
SOME = [DTYPES[code] for code in (0, 5, 7, 9, 10, 12)]
PYTHON = {"float": float, "int": int, "bool": bool, "complex": complex}


def some_spec(rng: random.Random) -> ArgSpec:
    dtype = rng.choice(SOME)
    if rng.random() < 0.3:
        return ScalarSpec(kind_of(dtype), dtype) if rng.random() < 0.5 else ScalarSpec(rng.choice(KINDS))
    rank = rng.randrange(4)
    ones = tuple(rng.choice([None, None, True, False]) for _ in range(rank))
    equal = tuple(rng.choice([-1, 0, 1, 7]) for _ in range(rank))
    return ArraySpec(dtype, rank, ones, equal, writes=rng.random() < 0.2)


def some_argument(rng: random.Random, spec: ArgSpec) -> Any:
    """An argument that mostly is as specified."""
    if rng.random() < 0.05:
        return rng.choice(
            [None, 1.5, 2, True, 2**70, 1j, np.float64(1), np.int32(3), [1.0], "x", np.ones(())]
        )
    if isinstance(spec, ScalarSpec):
        return PYTHON[spec.kind](3) if spec.dtype is None else spec.dtype.type(3)
    rank = spec.rank if rng.random() < 0.95 else rng.randrange(4)
    dtype = (
        spec.dtype
        if rng.random() < 0.95
        else rng.choice([*SOME, np.dtype(">f8"), np.dtype("f2"), np.dtype("O")])
    )
    ones = (spec.ones + (None,) * rank)[:rank]
    array = np.zeros([1 if one else rng.choice([0, 1, 3, 3, 3, 3]) for one in ones], dtype)
    if rng.random() < 0.2:
        array = np.zeros([2 * n + 1 for n in array.shape], dtype)[
            tuple(slice(1, None, 2) for _ in array.shape)
        ]
    if rng.random() < 0.05 and not dtype.hasobject:
        raw = np.zeros(array.nbytes + 1, np.uint8)[1:]
        array = np.ndarray(array.shape, dtype, raw.data)
    if rng.random() < 0.05:
        array.setflags(write=False)
    return array


def fits(spec: ArgSpec, value: Any) -> bool:
    if isinstance(spec, ScalarSpec):
        wanted = PYTHON[spec.kind] if spec.dtype is None else spec.dtype.type
        return type(value) is wanted and (wanted is not int or abs(value) < 2**63)
    return (
        type(value) is np.ndarray
        and value.dtype == spec.dtype
        and value.ndim == spec.rank
        and value.flags.aligned
        and (value.flags.writeable or not spec.writes)
        and all(one is None or (n == 1) is one for n, one in zip(value.shape, spec.ones, strict=True))
    )


def taken(specs: tuple[ArgSpec, ...], values: list[Any]) -> bool:
    if not all(map(fits, specs, values)):
        return False
    lengths: dict[int, set[int]] = {}
    for spec, value in zip(specs, values, strict=True):
        for axis, number in enumerate(spec.equal if isinstance(spec, ArraySpec) else ()):
            if number >= 0:
                lengths.setdefault(number, set()).add(value.shape[axis])
    return all(len(found) == 1 for found in lengths.values())


@pytest.mark.parametrize("bridge", ["extension", "ctypes"])
def test_what_is_taken_is_what_the_specs_say(bridge: str) -> None:
    rng = random.Random(17)
    count = {True: 0, False: 0}
    for _ in range(150):
        specs = tuple(some_spec(rng) for _ in range(rng.randrange(5)))
        call = bound(bridge, TEXT, Interface("taken", specs, (ScalarSpec("int"),)))
        for _ in range(12):
            values = [some_argument(rng, spec) for spec in specs]
            wanted = taken(specs, values)
            result = call(*values)
            assert (result == (1,)) if wanted else (result is MISS), (specs, values)
            count[wanted] += 1
    assert min(count.values()) > 300
