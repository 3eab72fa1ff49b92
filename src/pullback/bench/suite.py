"""Suites, kernels and cases, and where they are found.

A suite is a folder; a kernel is one file of it, plain NumPy, that holds

    PRESETS      {"S": sizes, "M": sizes, ...}; sizes are a dict, or a list of dicts: a sweep, each one a case
    inputs(rng, **sizes)   the arguments
    WRT          names of the parameters with respect to which the gradient is taken
    loss(*args)  the objective, a real scalar; or residuals(*args), an array, with seeds(value), a list of cotangents
    NOTE         optional: what a reader of the table should know
    STATIC       optional: names of parameters that are constants to a compiler of array programs
    GROUP        optional: the kind of kernel, for means over each kind
    SWEEP        optional: True where one pass over the arguments gives value and gradient, so that memory is the limit

Among sizes the name `reused` is not the kernel's: where it is true, the gradient goes into the same arrays in each
call, for contenders that can do that.

A version for one library stands in `in_<library>/<kernel>.py`.  Files whose names begin with an underscore are helpers.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from pullback.bench.errors import BenchError
from pullback.bench.loading import load

SIZES = ("S", "M", "L", "paper")
SEED = 20240  # of the inputs


@dataclass(frozen=True)
class Kernel:
    """One kernel, as its file describes it."""

    suite: str
    name: str
    folder: Path
    presets: dict[str, Any]
    wrt: tuple[str, ...]
    parameters: tuple[str, ...]
    static: tuple[str, ...] = ()
    note: str = ""
    scalar: bool = True  # has a loss; else residuals with seeds
    group: str = ""
    sweep: bool = False

    @property
    def objective(self) -> str:
        """The name of the function that is differentiated."""
        return "loss" if self.scalar else "residuals"

    @property
    def argnums(self) -> tuple[int, ...]:
        """The positions of what is differentiated with respect to."""
        return tuple(self.parameters.index(name) for name in self.wrt)

    def module(self, numpy: str = "numpy") -> ModuleType:
        """The kernel's file, imported."""
        return load(self.folder, self.name, numpy)

    def version(self, library: str) -> ModuleType | None:
        """The version written for one library, or None."""
        if not (self.folder / f"in_{library}" / f"{self.name}.py").is_file():
            return None
        return load(self.folder, f"in_{library}.{self.name}")

    def preset(self, size: str) -> str:
        """The preset for a size: its own, else the next smaller one, else the smallest there is."""
        wanted = SIZES.index(size)
        for name in [*reversed(SIZES[: wanted + 1]), *SIZES]:
            if name in self.presets:
                return name
        return next(iter(self.presets))


@dataclass(frozen=True)
class Case:
    """A kernel at one size."""

    kernel: Kernel
    preset: str
    sizes: dict[str, Any]
    swept: bool = False
    reused: bool = False  # the gradient goes into the same arrays in each call

    @property
    def label(self) -> str:
        """The name of the size in tables."""
        size = ", ".join(f"{k}={v}" for k, v in self.sizes.items()) if self.swept else self.preset
        return f"{size} reused" if self.reused else size

    @property
    def key(self) -> str:
        """A name of the case that another run knows it by."""
        return f"{self.kernel.suite}/{self.kernel.name}[{self.label}]"

    def inputs(self) -> tuple[Any, ...]:
        """The arguments: the same in every process."""
        return tuple(self.kernel.module().inputs(np.random.default_rng(SEED), **self.sizes))


def cases(kernels: Iterable[Kernel], size: str) -> list[Case]:
    """The cases of some kernels at one size."""
    found = []
    for kernel in kernels:
        preset = kernel.preset(size)
        sizes = kernel.presets[preset]
        sweep = sizes if isinstance(sizes, list) else [sizes]
        found += [_case(kernel, preset, dict(s), isinstance(sizes, list)) for s in sweep]
    return found


def _case(kernel: Kernel, preset: str, sizes: dict[str, Any], swept: bool) -> Case:
    reused = bool(sizes.pop("reused", False))
    return Case(kernel, preset, sizes, swept, reused)


def read_kernel(folder: Path, name: str) -> Kernel:
    """The description of a kernel from its file.  Raises BenchError."""
    where = f"{folder.name}/{name}.py"
    try:
        module = load(folder, name)
    except Exception as error:
        raise BenchError(f"{where} cannot be imported: {type(error).__name__}: {error}") from error
    missing = [n for n in ("PRESETS", "WRT", "inputs") if not hasattr(module, n)]
    scalar = hasattr(module, "loss")
    if not scalar and not (hasattr(module, "residuals") and hasattr(module, "seeds")):
        missing.append("`loss`, or `residuals` with `seeds`")
    if missing:
        raise BenchError(f"{where} has no {', no '.join(missing)}", hint="see benchmarks/README.md")
    parameters = tuple(inspect.signature(module.loss if scalar else module.residuals).parameters)
    unknown = [n for n in (*module.WRT, *getattr(module, "STATIC", ())) if n not in parameters]
    if unknown or isinstance(module.WRT, str):
        raise BenchError(f"{where}: WRT and STATIC are tuples of names of parameters; not one: {unknown}")
    return Kernel(
        folder.name,
        name,
        folder,
        dict(module.PRESETS),
        tuple(module.WRT),
        parameters,
        tuple(getattr(module, "STATIC", ())),
        str(getattr(module, "NOTE", "")),
        scalar,
        str(getattr(module, "GROUP", "")),
        bool(getattr(module, "SWEEP", False)),
    )


def shipped() -> Path:
    """The folder of our own suites: in the checkout, or in the installed package."""
    package = Path(__file__).parent
    checkout = package.parents[2] / "benchmarks"
    return checkout if (checkout / "micro").is_dir() else package / "suites"


def suites_in(folder: Path) -> dict[str, Path]:
    """The suites of a folder: each of its folders with a kernel in it."""
    if not folder.is_dir():
        return {}
    return {path.name: path for path in sorted(folder.iterdir()) if path.is_dir() and kernel_names(path)}


def kernel_names(folder: Path) -> list[str]:
    """The kernels of a suite: files that define PRESETS."""
    return [
        path.stem
        for path in sorted(folder.glob("*.py"))
        if not path.name.startswith("_") and "PRESETS" in path.read_text(encoding="utf-8")
    ]


def find(folder: Path, suites: Sequence[str], kernels: Sequence[str] = ()) -> list[Kernel]:
    """The kernels of the named suites (of all, if none is named), or those of them that are named.

    Raises BenchError for a name that there is not.
    """
    known = suites_in(folder)
    if not known:
        raise BenchError(f"no suites in {folder}", hint="pass --suites FOLDER")
    for name in suites:
        _require("suite", name, known)
    names = {suite: kernel_names(known[suite]) for suite in suites or known}
    for name in kernels:
        _require("kernel", name, [k for found in names.values() for k in found])
    return [
        read_kernel(known[suite], name)
        for suite, found in names.items()
        for name in found
        if not kernels or name in kernels
    ]


def _require(kind: str, name: str, known: Iterable[str]) -> None:
    known = list(known)
    if name not in known:
        near = get_close_matches(name, known, n=3) or known
        raise BenchError(f"no {kind} {name!r}", hint=f"there are: {', '.join(near)}")
