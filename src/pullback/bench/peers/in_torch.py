"""PyTorch: versions of their own, run eagerly."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from pullback.bench.peers.base import NoVersion, Peer, Program, Result, flat
from pullback.bench.suite import Kernel
from pullback.bench.trees import floats, is_float, map_leaves


class Torch(Peer):
    """`torch.autograd.grad` of tensors that share the arguments' values."""

    name = "torch"
    module = "torch"
    distribution = "torch"
    compiles = False

    def start(self, threads: int) -> None:
        """Its own count of threads."""
        importlib.import_module("torch").set_num_threads(threads)

    def program(self, kernel: Kernel, args: tuple[Any, ...], seeds: Sequence[Any]) -> Program:
        """One forward run, then the gradient, or one backward run a seed."""
        torch = importlib.import_module("torch")
        version = kernel.version(self.name)
        if version is None:
            raise NoVersion
        function, argnums = getattr(version, kernel.objective), kernel.argnums
        variables: list[Any] = []

        def variable(leaf: Any) -> Any:
            if not is_float(leaf):
                return leaf
            variables.append(torch.tensor(np.asarray(leaf), requires_grad=True))
            return variables[-1]

        given = list(args)
        for place in argnums:
            given[place] = map_leaves(variable, args[place])
        for place in set(range(len(args))) - set(argnums):
            given[place] = map_leaves(_constant(torch), args[place])
        cotangents = [torch.tensor(np.asarray(seed)) for seed in seeds] or [None]

        def call() -> Any:
            value = function(*given)
            return value, [
                torch.autograd.grad(
                    value, variables, seed, retain_graph=len(cotangents) > 1, materialize_grads=True
                )
                for seed in cotangents
            ]

        return Program(call, _unpack)


def _constant(torch: Any) -> Any:
    return lambda leaf: torch.tensor(leaf) if isinstance(leaf, np.ndarray) else leaf


def _unpack(result: Any) -> Result:
    value, bars = result
    return Result(value.detach().numpy(), [floats(flat(group)) for group in bars])
