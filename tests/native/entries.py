"""Plain functions as compiled entries: `entry(fn, *args)` takes what `fn` takes, and gives what it gives.

`PULLBACK_TEST_CFLAGS="-O1 -g -fsanitize=address,undefined"` with libasan in LD_PRELOAD looks for wrong accesses.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from pullback.backend.native.bridge import MISS, bind
from pullback.backend.native.build import shared_library
from pullback.backend.native.emit.module import Native, emit_native
from pullback.frontend.environment import Environment
from pullback.frontend.lower import lower_function
from pullback.frontend.signature import bind as bind_arguments
from pullback.frontend.signature import signature_of
from pullback.ir.interp import Machine
from pullback.ir.walk import variables
from pullback.passes import optimize
from pullback.passes.lengths import assume_lengths

FLAGS = tuple(os.environ.get("PULLBACK_TEST_CFLAGS", "-O1").split())


def module_of(fn: Callable[..., Any], *args: Any) -> Native:
    """The C module of a function for arguments like these."""
    lowered = lower_function(fn, signature_of(bind_arguments(fn, args, {})), Environment())
    return emit_native(optimize(assume_lengths(lowered.function)))


def entry(fn: Callable[..., Any], *args: Any) -> Callable[..., Any]:
    """The compiled function; what it cannot take is an error here."""
    native = module_of(fn, *args)
    run = bind(shared_library(native.source, flags=FLAGS), native.interface)

    def call(*given: Any) -> Any:
        machine = Machine()
        for param, value in zip(native.function.params, given, strict=True):
            machine.bind(param.tree, value)
        out = run(*[machine.values[v] for v in native.arguments])
        assert out is not MISS
        machine.values.update(zip([v for t in native.results for v in variables(t)], out, strict=True))
        return machine.use(native.results[0])

    return call


def same(got: Any, wanted: Any) -> None:
    """Two results are the same: kind, shape, dtype and values; floats to the last bits."""
    if isinstance(wanted, tuple | list):
        assert type(got) is type(wanted) and len(got) == len(wanted)
        for k, (x, y) in enumerate(zip(got, wanted, strict=True)):
            try:
                same(x, y)
            except AssertionError as error:
                raise AssertionError(f"item {k}: {error}") from None
        return
    assert type(got) is type(wanted), (type(got), type(wanted))
    assert np.shape(got) == np.shape(wanted), (np.shape(got), np.shape(wanted))
    assert np.asarray(got).dtype == np.asarray(wanted).dtype
    np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=1e-13)
