"""JAX: versions of their own, compiled whole."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pullback.bench.peers.base import Peer, Program, Result, flat
from pullback.bench.suite import Kernel
from pullback.bench.trees import map_leaves


class Jax(Peer):
    """`jit(value_and_grad(loss))` in double precision on the CPU; a call ends when its result is there."""

    name = "jax"
    module = "jax"
    distribution = "jax"

    def cache(self, folder: Path) -> dict[str, str]:
        """Its persistent compilation cache, for programs of any size."""
        return {
            "JAX_COMPILATION_CACHE_DIR": str(folder),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        }

    def start(self, threads: int) -> None:
        """Double precision."""
        importlib.import_module("jax").config.update("jax_enable_x64", True)

    def program(self, kernel: Kernel, args: tuple[Any, ...], seeds: Sequence[Any]) -> Program:
        """One compiled function: the pullbacks of all seeds at once by `vmap`.

        Without a version for JAX it is the natural form over `jax.numpy`; if that does not compile, it runs operation
        by operation, as JAX allows.
        """
        version = kernel.version(self.name)
        if version is not None:
            return _program(kernel, version, args, seeds, compiled=True)
        natural = kernel.module("jax.numpy")
        compiled = _program(kernel, natural, args, seeds, compiled=True)
        try:
            compiled.call()
        except Exception as error:
            loose = _program(kernel, natural, args, seeds, compiled=False)
            return replace(loose, remark=f"not compiled, jit says: {type(error).__name__}: {error}")
        return compiled


def _program(
    kernel: Kernel, module: Any, args: tuple[Any, ...], seeds: Sequence[Any], compiled: bool
) -> Program:
    jax = importlib.import_module("jax")
    function, argnums = getattr(module, kernel.objective), kernel.argnums
    static = tuple(kernel.parameters.index(name) for name in getattr(module, "STATIC", kernel.static))
    given = [a if k in static else map_leaves(_on_device(jax), a) for k, a in enumerate(args)]
    if kernel.scalar:
        gradient = jax.value_and_grad(function, argnums=argnums)
    else:
        gradient = _jacobian(jax, function, argnums, np.stack([np.asarray(seed) for seed in seeds]))
    if compiled:
        gradient = jax.jit(gradient, static_argnums=static)
    return Program(
        lambda: jax.block_until_ready(gradient(*given)),
        functools.partial(_unpack, scalar=kernel.scalar, count=len(seeds)),
    )


def _on_device(jax: Any) -> Any:
    """Arrays become JAX's; Python numbers stay what they are."""
    return lambda leaf: jax.numpy.asarray(leaf) if isinstance(leaf, np.ndarray) else leaf


def _jacobian(jax: Any, function: Any, argnums: tuple[int, ...], seeds: Any) -> Any:
    def value_and_bars(*args: Any) -> Any:
        def of(*wrt: Any) -> Any:
            full = list(args)
            for place, item in zip(argnums, wrt, strict=True):
                full[place] = item
            return function(*full)

        value, pull = jax.vjp(of, *(args[k] for k in argnums))
        return value, jax.vmap(pull)(seeds)

    return value_and_bars


def _unpack(result: Any, scalar: bool, count: int) -> Result:
    """Its gradient of a complex argument is the conjugate of ours."""
    value, bars = np.asarray(result[0]), [np.conj(bar) for bar in flat(result[1])]
    return Result(value, [bars] if scalar else [[bar[k] for bar in bars] for k in range(count)])
