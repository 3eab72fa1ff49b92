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
FLOW = {"ny": 6, "nx": 7, "nit": 3, "rho": 1.0, "nu": 0.1}
TINY: dict[str, dict[str, Any]] = {  # where sizes are not just lengths of axes
    "azimint_hist": {"N": 200, "npt": 4},
    "azimint_naive": {"N": 200, "npt": 4},
    "cavity_flow": {**FLOW, "nt": 3},
    "channel_flow": {**FLOW, "F": 1.0, "tol": 0.3},
    "contour_integral": {"NR": 3, "NM": 4, "slab_per_bc": 2, "num_int_pts": 3},
    "conv2d": {"N": 2, "C_in": 2, "C_out": 3, "K": 2, "H": 4, "W": 5},
    "lenet": {"N": 2, "H": 16, "W": 16},
    "mlp": {"C_in": 3, "N": 4, "S0": 6, "S1": 5, "S2": 4},
    "nbody": {"N": 4, "Nt": 3, "dt": 0.05, "G": 1.0, "softening": 0.1},
    "resnet": {"N": 4, "W": 3, "H": 4, "C1": 3, "C2": 2},
    "scattering_self_energies": {
        "Nkz": 2, "NE": 3, "Nqz": 1, "Nw": 2, "N3D": 2, "NA": 3, "NB": 2, "Norb": 2,
    },
}  # fmt: skip
STEPS = {"hdiff": 1e-5}  # where kinks are near


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


def along(loss: Any, args: tuple[Any, ...], k: int, direction: Any, step: float) -> float:
    """The derivative along a direction of argument k, from four values of the plain function on copies."""

    def at(times: float) -> float:
        moved = list(copy.deepcopy(args))
        moved[k] = moved[k] + (times * step * direction).astype(np.asarray(moved[k]).dtype)
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
    single = any(np.asarray(arg).dtype == np.float32 for arg in args)
    assert value == pytest.approx(module.loss(*copy.deepcopy(args)), rel=1e-5 if single else 1e-12)
    step, tolerance = (3e-4, {"rel": 5e-2, "abs": 2e-2}) if single else (1e-4, {"rel": 1e-6, "abs": 1e-7})
    step = STEPS.get(name, step)
    names = list(inspect.signature(module.loss).parameters)
    for parameter, gradient in zip(module.WRT, gradients, strict=True):
        k = names.index(parameter)
        direction = np.asarray(rng.standard_normal(np.shape(args[k])))
        if np.iscomplexobj(args[k]):
            direction = direction + 1j * rng.standard_normal(np.shape(args[k]))
        slope = np.sum((gradient * np.conjugate(direction)).real)
        assert slope == pytest.approx(along(module.loss, args, k, direction, step), **tolerance), parameter
