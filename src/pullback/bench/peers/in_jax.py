"""JAX: versions of their own, compiled whole."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pullback.bench.peers.base import NoVersion, Peer, Program, Result, flat
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
        """One compiled function: the pullbacks of all seeds at once by `vmap`."""
        jax = importlib.import_module("jax")
        version = kernel.version(self.name)
        if version is None:
            raise NoVersion
        function, argnums = getattr(version, kernel.objective), kernel.argnums
        names = getattr(version, "STATIC", kernel.static)
        static = tuple(kernel.parameters.index(name) for name in names)
        given = [a if k in static else map_leaves(_on_device(jax), a) for k, a in enumerate(args)]
        if kernel.scalar:
            gradient = jax.jit(jax.value_and_grad(function, argnums=argnums), static_argnums=static)
        else:
            gradient = jax.jit(_jacobian(jax, function, argnums, _stacked(seeds)), static_argnums=static)
        return Program(
            lambda: jax.block_until_ready(gradient(*given)),
            functools.partial(_unpack, scalar=kernel.scalar, count=len(seeds)),
        )


def _on_device(jax: Any) -> Any:
    """Arrays become JAX's; Python numbers stay what they are."""
    return lambda leaf: jax.numpy.asarray(leaf) if isinstance(leaf, np.ndarray) else leaf


def _stacked(seeds: Sequence[Any]) -> Any:
    return np.stack([np.asarray(seed) for seed in seeds])


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
