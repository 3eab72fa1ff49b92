"""pullback itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pullback
from pullback.bench.peers.base import Peer, Program, Result, flat
from pullback.bench.suite import Kernel


class Pullback(Peer):
    """The gradient of the natural form, as it stands."""

    name = "pullback"
    module = "pullback"

    def version(self) -> str:
        """Our own version, which a checkout has without being installed."""
        return pullback.__version__

    def program(self, kernel: Kernel, args: tuple[Any, ...], seeds: Sequence[Any]) -> Program:
        """`value_and_grad`, or `vjp` and all pullbacks."""
        function = getattr(kernel.module(), kernel.objective)
        if kernel.scalar:
            gradient = pullback.value_and_grad(function, argnums=kernel.argnums)
            return Program(lambda: gradient(*args), lambda r: Result(r[0], [flat(r[1])]))

        def pull_all() -> Any:
            value, pull = pullback.vjp(function, *args, argnums=kernel.argnums)
            return value, [pull(seed) for seed in seeds]

        return Program(pull_all, lambda r: Result(r[0], [flat(bars) for bars in r[1]]))
