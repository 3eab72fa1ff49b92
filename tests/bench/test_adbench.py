"""The objectives of `benchmarks/adbench` at tiny sizes: values against plain loops, gradients against differences."""

from __future__ import annotations

import copy
import importlib
import inspect
import itertools
import math
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pullback as pb

SUITE = Path(__file__).parents[2] / "benchmarks" / "adbench"
PACKAGE = "kernels_of_adbench"
KERNELS = sorted(path.stem for path in SUITE.glob("*.py") if not path.stem.startswith("_"))
TINY: dict[str, dict[str, int]] = {
    "gmm": {"d": 3, "K": 4, "N": 5},
    "ba": {"n": 2, "m": 3, "p": 5},
    "lstm": {"layers": 2, "characters": 5, "bits": 3},
    "hand_simple": {"vertices": 6, "points": 4},
    "hand_complicated": {"vertices": 6, "points": 4},
}


def kernel_module(name: str) -> ModuleType:
    """A file of the suite, in a package of its own, as it imports its neighbours."""
    if PACKAGE not in sys.modules:
        package = ModuleType(PACKAGE)
        package.__path__ = [str(SUITE)]
        sys.modules[PACKAGE] = package
    return importlib.import_module(f"{PACKAGE}.{name}")


def tiny(name: str) -> tuple[Any, ...]:
    args: tuple[Any, ...] = kernel_module(name).inputs(np.random.default_rng(0), **TINY[name])
    return args


# ------------------------------------------------------------------------------------------ the gradients


def along(objective: Any, args: tuple[Any, ...], k: int, direction: Any) -> Any:
    """The derivative along a direction of argument k."""
    step = 1e-4

    def at(times: float) -> Any:
        moved = list(copy.deepcopy(args))
        moved[k] = moved[k] + times * step * direction
        return objective(*moved)

    return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * step)


@pytest.mark.parametrize("name", KERNELS)
def test_gradient_agrees_with_differences(name: str) -> None:
    module = kernel_module(name)
    args = tiny(name)
    before = copy.deepcopy(args)
    objective = module.loss if hasattr(module, "loss") else module.residuals
    value, pull = pb.vjp(objective, *args, argnums=module.WRT)
    np.testing.assert_allclose(value, objective(*copy.deepcopy(args)), rtol=1e-12)
    seeds = module.seeds(value) if hasattr(module, "seeds") else [1.0]
    bars = [pull(seed) for seed in seeds]
    for given, kept in zip(args, before, strict=True):
        np.testing.assert_array_equal(given, kept)
    rng = np.random.default_rng(1)
    names = list(inspect.signature(objective).parameters)
    for i, parameter in enumerate(module.WRT):
        k = names.index(parameter)
        direction = rng.standard_normal(np.shape(args[k]))
        slope = along(objective, args, k, direction)
        for seed, bar in zip(seeds, bars, strict=True):
            expected = float(np.sum(seed * slope))
            assert np.sum(bar[i] * direction) == pytest.approx(expected, rel=1e-6, abs=1e-7), parameter


def test_seeds_give_the_jacobian_of_bundle_adjustment() -> None:
    """Three pullbacks: a row of the Jacobian for each residual of each observation."""
    module = kernel_module("ba")
    cameras, points, weights, features = tiny("ba")
    value, pull = pb.vjp(module.residuals, cameras, points, weights, features, argnums=module.WRT)
    for column, seed in enumerate(module.seeds(value)):
        bars = pull(seed)
        for i in range(len(weights)):
            one = np.zeros_like(value)
            one[i, column] = 1.0
            for row, bar in zip(pull(one), bars, strict=True):
                np.testing.assert_allclose(row[i], bar[i], rtol=1e-12, atol=1e-12)
                assert not np.any(np.delete(row, i, axis=0))


# --------------------------------------------------------------- the values, number by number in plain loops


def test_value_of_gmm() -> None:
    alphas, means, icf, x, gamma, _ = tiny("gmm")
    k, d = means.shape
    m = 2
    total = 0.0
    for point in x:
        terms = []
        for a, mean, entries in zip(alphas, means, icf, strict=True):
            factor = np.diag(np.exp(entries[:d]))
            factor[1, 0], factor[2, 0], factor[2, 1] = entries[d:]
            scaled = [sum(factor[i, j] * (point[j] - mean[j]) for j in range(d)) for i in range(d)]
            terms.append(a + sum(entries[:d]) - 0.5 * sum(s * s for s in scaled))
        total += math.log(sum(math.exp(t) for t in terms)) - 0.5 * d * math.log(2 * math.pi)
    total -= len(x) * math.log(sum(math.exp(a) for a in alphas))
    n = d + m + 1
    log_gamma = 0.25 * d * (d - 1) * math.log(math.pi)
    log_gamma += sum(math.lgamma(0.5 * n + 0.5 * (1 - j)) for j in range(1, d + 1))
    for entries in icf:
        squares = sum(math.exp(q) ** 2 for q in entries[:d]) + sum(q * q for q in entries[d:])
        total += 0.5 * gamma**2 * squares - m * sum(entries[:d])
    total -= k * (n * d * math.log(gamma / math.sqrt(2)) - log_gamma)
    found = kernel_module("gmm").loss(alphas, means, icf, x, gamma, m)
    assert found == pytest.approx(total, rel=1e-12)


def turn(vector: Any) -> Any:
    """The rotation about an axis by its length: the exponential series of its cross product."""
    x, y, z = vector
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    total, term = np.eye(3), np.eye(3)
    for k in range(1, 40):
        term = term @ cross / k
        total = total + term
    return total


def test_value_of_bundle_adjustment() -> None:
    cameras, points, weights, features = tiny("ba")
    cameras[1, :3] = 0.0  # a camera that is not turned
    with np.errstate(invalid="ignore"):
        found = kernel_module("ba").residuals(cameras, points, weights, features)
    for i, (camera, point) in enumerate(zip(cameras, points, strict=True)):
        x, y, z = turn(camera[:3]) @ (point - camera[3:6])
        square = (x / z) ** 2 + (y / z) ** 2
        scale = camera[6] * (1 + camera[9] * square + camera[10] * square**2)
        expected = [
            weights[i] * (x / z * scale + camera[7] - features[i, 0]),
            weights[i] * (y / z * scale + camera[8] - features[i, 1]),
            1 - weights[i] ** 2,
        ]
        np.testing.assert_allclose(found[i], expected, rtol=1e-11)


def test_value_of_lstm() -> None:
    main, extra, state, sequence = tiny("lstm")
    found = kernel_module("lstm").loss(main, extra, state, sequence)
    hidden, cell = state[0::2].tolist(), state[1::2].tolist()
    bits = len(sequence[0])
    total = 0.0

    def gate(layer: int, which: int, bit: int, x: float) -> float:
        return float(x * main[2 * layer, which * bits + bit] + main[2 * layer + 1, which * bits + bit])

    for now, after in itertools.pairwise(sequence):
        out = []
        for b in range(bits):
            x = now[b] * extra[0, b]
            for k in range(len(hidden)):
                h = hidden[k][b]
                forget, out_gate = (1 / (1 + math.exp(-gate(k, which, b, x))) for which in (0, 2))
                in_gate = 1 / (1 + math.exp(-gate(k, 1, b, h)))
                cell[k][b] = cell[k][b] * forget + in_gate * math.tanh(gate(k, 3, b, h))
                hidden[k][b] = x = out_gate * math.tanh(cell[k][b])
            out.append(x * extra[1, b] + extra[2, b])
        norm = math.log(sum(math.exp(o) for o in out) + 2)
        total += sum(g * (o - norm) for g, o in zip(after, out, strict=True))
    assert found == pytest.approx(-total / (bits * (len(sequence) - 1)), rel=1e-12)


def posed(theta: Any, parents: Any, relatives: Any, inverses: Any, places: Any, weights: Any) -> list[Any]:
    """The vertices of the hand, one by one; the place of a bone by going up to its root."""

    def relative(bone: int) -> Any:
        finger, joint = divmod(bone - 2, 4)
        a = b = 0.0
        if bone >= 2 and joint < 3:  # the second to the fourth bone of each finger's four
            first = 6 + 4 * finger
            a = theta[first] if joint == 0 else theta[first + joint + 1]
            b = theta[first + 1] if joint == 0 else 0.0
        local = np.eye(4)
        local[:3, :3] = turn([0.0, 0.0, b]) @ turn([a, 0.0, 0.0])
        return relatives[bone] @ local

    def absolute(bone: int) -> Any:
        return relative(bone) if parents[bone] == -1 else absolute(parents[bone]) @ relative(bone)

    moves = [absolute(bone) @ inverses[bone] for bone in range(len(parents))]
    found = []
    for place, shares in zip(places, weights, strict=True):
        mixed = sum(share * (move @ place)[:3] for share, move in zip(shares, moves, strict=True))
        found.append(turn(theta[:3]) @ mixed + theta[3:6])
    return found


def test_value_of_simple_hand() -> None:
    theta, *model, points, vertices = tiny("hand_simple")
    at = posed(theta, *model)
    expected = sum(0.5 * sum((p - at[v]) ** 2) for p, v in zip(points, vertices, strict=True))
    found = kernel_module("hand_simple").loss(theta, *model, points, vertices)
    assert found == pytest.approx(expected, rel=1e-12)


def test_value_of_complicated_hand() -> None:
    us, theta, *model, points, corners = tiny("hand_complicated")
    at = posed(theta, *model)
    expected = 0.0
    for point, (u, v), (a, b, c) in zip(points, us, corners, strict=True):
        expected += 0.5 * sum((point - (u * at[a] + v * at[b] + (1 - u - v) * at[c])) ** 2)
    found = kernel_module("hand_complicated").loss(us, theta, *model, points, corners)
    assert found == pytest.approx(expected, rel=1e-12)
