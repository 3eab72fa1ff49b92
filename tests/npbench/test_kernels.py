"""Every kernel of `benchmarks/npbench` in its natural form, at tiny sizes, against differences of it."""

from __future__ import annotations

import copy
import importlib.util
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pullback as pb

SUITE = Path(__file__).parents[2] / "benchmarks" / "npbench"
KERNELS = sorted(path.stem for path in SUITE.glob("*.py") if not path.stem.startswith("_"))
FEW_STEPS = {"TSTEPS": 4, "TMAX": 4}
TINY: dict[str, dict[str, Any]] = {}  # where sizes are not just lengths of axes


def kernel_module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"npbench_{name}", SUITE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tiny(name: str, small: dict[str, Any]) -> dict[str, Any]:
    """Small sizes in the order of those of the preset: what is longer stays longer, what differs differs."""
    if name in TINY:
        return TINY[name]
    order = sorted({size for key, size in small.items() if key not in FEW_STEPS})
    return {key: FEW_STEPS[key] if key in FEW_STEPS else 5 + order.index(size) for key, size in small.items()}


def along(loss: Any, args: tuple[Any, ...], k: int, direction: Any) -> float:
    """The derivative along a direction of argument k, from four values of the plain function on copies."""
    step = 1e-4

    def at(times: float) -> float:
        moved = list(copy.deepcopy(args))
        moved[k] = moved[k] + times * step * direction
        return float(loss(*moved))

    return float((8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * step))


@pytest.mark.parametrize("name", KERNELS)
def test_gradient_agrees_with_differences(name: str) -> None:
    module = kernel_module(name)
    rng = np.random.default_rng(0)
    args = module.inputs(rng, **tiny(name, module.PRESETS["S"]))
    before = copy.deepcopy(args)
    value, gradients = pb.value_and_grad(module.loss, argnums=module.WRT)(*args)
    for given, kept in zip(args, before, strict=True):
        np.testing.assert_array_equal(given, kept)
    assert value == pytest.approx(module.loss(*copy.deepcopy(args)), rel=1e-12)
    names = list(inspect.signature(module.loss).parameters)
    for parameter, gradient in zip(module.WRT, gradients, strict=True):
        k = names.index(parameter)
        direction = rng.standard_normal(np.shape(args[k]))
        slope = np.sum(gradient * direction)
        assert slope == pytest.approx(along(module.loss, args, k, direction), rel=1e-6, abs=1e-7), parameter
