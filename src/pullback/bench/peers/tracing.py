"""autograd and advect: libraries that record what a NumPy function does as it runs."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback.bench.peers.base import Peer, Program, Result, flat
from pullback.bench.suite import Kernel


def objective(kernel: Kernel, library: str, numpy: str) -> Callable[..., Any]:
    """The suite's version for a library, else the natural form over its NumPy."""
    module = kernel.version(library) or kernel.module(numpy)
    function: Callable[..., Any] = getattr(module, kernel.objective)
    return function


class Autograd(Peer):
    """autograd; the natural form runs with `import autograd.numpy`."""

    name = "autograd"
    module = "autograd"
    distribution = "autograd"
    compiles = False

    def program(self, kernel: Kernel, args: tuple[Any, ...], seeds: Sequence[Any]) -> Program:
        """`value_and_grad`, or `make_vjp` and all pullbacks."""
        autograd = importlib.import_module("autograd")
        function = objective(kernel, self.name, "autograd.numpy")
        if kernel.scalar:
            gradient = autograd.value_and_grad(function, argnum=kernel.argnums)
            return Program(lambda: gradient(*args), lambda r: Result(r[0], [_conjugate(r[1])]))
        make = autograd.make_vjp(function, argnum=kernel.argnums)

        def pull_all() -> Any:
            pull, value = make(*args)
            return value, [pull(seed) for seed in seeds]

        return Program(pull_all, lambda r: Result(r[0], [_conjugate(bars) for bars in r[1]]))


class Advect(Peer):
    """advect, which takes plain NumPy calls."""

    name = "advect"
    module = "advect"
    distribution = "advect"
    compiles = False

    def program(self, kernel: Kernel, args: tuple[Any, ...], seeds: Sequence[Any]) -> Program:
        """`value_and_grad`, or for each seed a `vjp`: its pullbacks are used up by one call."""
        advect = importlib.import_module("advect")
        function = objective(kernel, self.name, "numpy")
        if kernel.scalar:
            gradient = advect.value_and_grad(function, argnums=kernel.argnums)
            return Program(lambda: gradient(*args), lambda r: Result(r[0], [flat(r[1])]))
        make = advect.vjp(function, argnums=kernel.argnums)

        def pull_all() -> Any:
            value, bars = None, []
            for seed in seeds:
                value, pull = make(*args)
                bars.append(pull(seed))
            return value, bars

        return Program(pull_all, lambda r: Result(r[0], [flat(bars) for bars in r[1]]))


def _conjugate(bars: Any) -> list[Any]:
    """autograd's gradient of a complex argument is the conjugate of ours."""
    return [np.conj(bar) for bar in flat(bars)]
