"""What a contender is to the engine."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pullback.bench.suite import Kernel
from pullback.bench.trees import floats


class NoVersion(Exception):
    """The suite has no version of a kernel for this library."""


@dataclass(frozen=True)
class Result:
    """A value, and for each seed the gradient's arrays: the leaves of the arguments in WRT, in order."""

    value: Any
    bars: list[list[Any]]


@dataclass(frozen=True)
class Program:
    """What is timed, and how its result is brought into NumPy (which is not timed)."""

    call: Callable[[], Any]
    unpack: Callable[[Any], Result]
    remark: str = ""  # what a reader of the table should know
    settle: Callable[[float], None] = lambda seconds: None  # call it until its calls cost what they will
    served: Callable[[], str] = lambda: ""  # by which of its ways of running it was served


class Peer:
    """One contender.  Its methods run in its own process, but for those that say otherwise."""

    name = ""
    module = ""  # what must be importable
    distribution = ""  # what pip calls it
    compiles = True  # whether the first call of a kernel is another thing than the following ones
    reference = False  # what is written by hand, or a bound: no library that differentiates
    differentiates = True  # else it is a bound, and its result is not verified
    ours = False
    usual = True  # takes part, if it is installed, when no peers are named

    @property
    def way_out(self) -> str:
        """What to do where it is not installed."""
        return f"pip install {self.distribution}"

    def installed(self) -> bool:
        """Whether it can be imported.  (In the parent; nothing is imported.)"""
        return importlib.util.find_spec(self.module) is not None

    def version(self) -> str:
        """The version of the library."""
        return importlib.metadata.version(self.distribution)

    def environment(self) -> dict[str, str]:
        """What its process finds in the environment.  (In the parent.)"""
        return {}

    def cache(self, folder: Path) -> dict[str, str] | None:
        """The environment that makes it keep compiled code in a folder; None if it keeps none.  (In the parent.)"""
        return None

    def start(self, threads: int) -> None:
        """Import the library and configure it."""
        importlib.import_module(self.module)

    def program(self, kernel: Kernel, args: tuple[Any, ...], seeds: Sequence[Any]) -> Program:
        """The program that computes value and gradient of a kernel.  Raises NoVersion.

        seeds  for a kernel with residuals: the cotangents to pull back
        """
        raise NotImplementedError

    def reusing(
        self, kernel: Kernel, args: tuple[Any, ...], seeds: Sequence[Any], buffers: Mapping[str, Any]
    ) -> Program:
        """The same with the gradient written into buffers, where it can do that; else what `program` gives.

        buffers  for names in WRT that are arrays: an array like each, filled with NaN
        """
        return self.program(kernel, args, seeds)


def flat(bars: Sequence[Any]) -> list[Any]:
    """The arrays of one gradient."""
    return [np.asarray(leaf) for bar in bars for leaf in floats(_numeric(bar))]


def _numeric(bar: Any) -> Any:
    """Arrays of another library, as NumPy's."""
    if isinstance(bar, dict):
        return {key: _numeric(item) for key, item in bar.items()}
    if isinstance(bar, tuple | list):
        return [_numeric(item) for item in bar]
    return np.asarray(bar)
