"""Gradients written by hand: for NumPy, and for numba."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pullback.bench.peers.base import NoVersion, Peer, Program, Result, flat
from pullback.bench.suite import Kernel


class Hand(Peer):
    """`value_and_grad(*args)` in the suite's `in_hand/`: an adjoint in NumPy, as an expert would write it."""

    name = "hand"
    module = "numpy"
    distribution = "numpy"
    compiles = False
    reference = True

    def program(self, kernel: Kernel, args: tuple[Any, ...], seeds: Sequence[Any]) -> Program:
        """The version's own function."""
        version = kernel.version(self.name)
        if version is None:
            raise NoVersion
        function, single = version.value_and_grad, len(kernel.wrt) == 1

        def unpack(result: Any) -> Result:
            value, bars = result
            return Result(value, [flat([bars] if single and not isinstance(bars, tuple) else bars)])

        return Program(lambda: function(*args), unpack)


class Numba(Hand):
    """An adjoint in loops, compiled by numba."""

    name = "numba"
    module = "numba"
    distribution = "numba"
    compiles = True

    def cache(self, folder: Path) -> dict[str, str]:
        """For the versions that say `cache=True`."""
        return {"NUMBA_CACHE_DIR": str(folder)}
