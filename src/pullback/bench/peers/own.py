"""pullback itself."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pullback
from pullback.bench.peers.base import Peer, Program, Result, flat
from pullback.bench.suite import Kernel

TARGETS = ("numpy", "native", "auto")


class Pullback(Peer):
    """The gradient of the natural form, as it stands."""

    module = "pullback"
    ours = True

    def __init__(self, target: str | None = None) -> None:
        """For one target, which its name then says; or for the one that the environment or the run names."""
        self.target = target
        self.usual = target is None
        self.name = "pullback" if target is None else f"pullback:{target}"

    def environment(self) -> dict[str, str]:
        """The target."""
        return {} if self.target is None else {"PULLBACK_TARGET": self.target}

    def cache(self, folder: Path) -> dict[str, str] | None:
        """Where the native target keeps its libraries."""
        return {"PULLBACK_CACHE_DIR": str(folder)}

    def version(self) -> str:
        """Our own version, which a checkout has without being installed."""
        return pullback.__version__

    def program(self, kernel: Kernel, args: tuple[Any, ...], seeds: Sequence[Any]) -> Program:
        """`value_and_grad`, or `vjp` and all pullbacks."""
        function = getattr(kernel.module(), kernel.objective)
        if kernel.scalar:
            gradient = pullback.value_and_grad(function, argnums=kernel.argnums)
            return _program(gradient, lambda: gradient(*args))

        def pull_all() -> Any:
            value, pull = pullback.vjp(function, *args, argnums=kernel.argnums)
            return value, [pull(seed) for seed in seeds]

        return Program(pull_all, lambda r: Result(r[0], [flat(bars) for bars in r[1]]))

    def reusing(
        self, kernel: Kernel, args: tuple[Any, ...], seeds: Sequence[Any], buffers: Mapping[str, Any]
    ) -> Program:
        """The same with `out=`."""
        if not kernel.scalar:
            return self.program(kernel, args, seeds)
        function = getattr(kernel.module(), kernel.objective)
        gradient = pullback.value_and_grad(function, argnums=kernel.argnums)
        out = tuple(buffers.get(name) for name in kernel.wrt)
        return _program(gradient, lambda: gradient(*args, out=out))


def _program(gradient: Any, call: Callable[[], Any]) -> Program:
    """The program of a call of a gradient function."""
    served = functools.partial(_served, gradient)
    settle = functools.partial(_settle, call, served)
    return Program(call, lambda r: Result(r[0], [flat(r[1])]), settle=settle, served=served)


def _served(gradient: Any) -> str:
    """The target of the signature that was called last: waiting and compiling are NumPy's, for now."""
    variant = gradient.of._gradient(gradient.argnums, gradient.has_aux).latest()
    return "" if variant is None else str(variant.promotion.status)


def _settle(call: Callable[[], Any], served: Callable[[], str], seconds: float) -> None:
    """Call until the native target serves, or will not; where it is compiled in the background, wait for it."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        status = served()
        if status == "waiting":
            call()
        elif status == "compiling":
            time.sleep(0.01)
        else:
            return
