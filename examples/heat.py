"""Recover the diffusivity of a plate from temperatures, through an explicit 2-D heat equation.

    u_t = div(k grad u),   k = exp(theta) on an n by n grid, temperature fixed on the edge

The time loop writes into `u` in place, through slices.  Its gradient with respect to theta comes from `pullback`;
the fit is `scipy.optimize.minimize(..., jac=True)`.

    python examples/heat.py [--n 16] [--steps 120]
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.optimize import minimize

import pullback as pb

Array = np.ndarray


def step(u: Array, k_rows: Array, k_columns: Array, dt: float) -> None:
    """One explicit step, in place; `k_rows` and `k_columns` are the diffusivities between neighbours."""
    down = k_rows * (u[1:, :] - u[:-1, :])
    right = k_columns * (u[:, 1:] - u[:, :-1])
    u[1:-1, 1:-1] += dt * (down[1:, 1:-1] - down[:-1, 1:-1])
    u[1:-1, 1:-1] += dt * (right[1:-1, 1:] - right[1:-1, :-1])


@pb.differentiable
def misfit(
    theta: Array, starts: Array, observed: Array, steps: int, every: int, dt: float, weight: float
) -> float:
    """Squared distance to the observations of every run, one each `every` steps, plus a penalty on roughness."""
    k = np.exp(theta)
    k_rows = 0.5 * (k[1:, :] + k[:-1, :])
    k_columns = 0.5 * (k[:, 1:] + k[:, :-1])
    total = 0.0
    for run in range(len(starts)):
        u = starts[run].copy()
        for t in range(steps):
            step(u, k_rows, k_columns, dt)
            if (t + 1) % every == 0:
                r = u - observed[run, t // every]
                total += np.sum(r * r)
    rough_rows = theta[1:, :] - theta[:-1, :]
    rough_columns = theta[:, 1:] - theta[:, :-1]
    return total + weight * (np.sum(rough_rows * rough_rows) + np.sum(rough_columns * rough_columns))


def simulate(theta: Array, starts: Array, steps: int, every: int, dt: float) -> Array:
    """The temperatures that each run would show."""
    k = np.exp(theta)
    seen = np.zeros((len(starts), steps // every, *theta.shape))
    for run, start in enumerate(starts):
        u = start.copy()
        for t in range(steps):
            step(u, 0.5 * (k[1:, :] + k[:-1, :]), 0.5 * (k[:, 1:] + k[:, :-1]), dt)
            if (t + 1) % every == 0:
                seen[run, t // every] = u
    return seen


def true_theta(n: int) -> Array:
    """A plate of diffusivity 1 with a fast disc and a slow corner."""
    y, x = np.mgrid[0:n, 0:n] / (n - 1)
    disc = np.exp(-(((x - 0.35) ** 2 + (y - 0.4) ** 2) / 0.03))
    corner = np.exp(-(((x - 0.8) ** 2 + (y - 0.8) ** 2) / 0.05))
    return 0.6 * disc - 0.9 * corner


def hot_spots(n: int) -> Array:
    """The starting temperatures of four runs: a hot spot in each quarter."""
    y, x = np.mgrid[0:n, 0:n] / (n - 1)
    centres = [(0.3, 0.3), (0.3, 0.7), (0.7, 0.3), (0.7, 0.7)]
    return np.array([np.exp(-((x - a) ** 2 + (y - b) ** 2) / 0.02) for a, b in centres])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", type=int, default=16, help="points along a side")
    parser.add_argument("--steps", type=int, default=120, help="time steps a run")
    options = parser.parse_args()
    n, steps, every, dt, weight = options.n, options.steps, 10, 0.1, 1e-5

    truth, starts = true_theta(n), hot_spots(n)
    noise = np.random.default_rng(0).normal(0, 1e-3, (len(starts), steps // every, n, n))
    observed = simulate(truth, starts, steps, every, dt) + noise
    rest = (starts, observed, steps, every, dt, weight)

    pb.check_gradients(
        misfit, np.zeros((6, 6)), starts[:, :6, :6], observed[:, :, :6, :6], 20, 10, dt, weight
    )
    print("gradient check: agrees with finite differences on a 6 by 6 plate")

    def objective(flat: Array) -> tuple[float, Array]:
        value, theta_bar = misfit.value_and_grad(flat.reshape(n, n), *rest)
        return value, theta_bar.ravel()

    flat = np.zeros(n * n)
    print(f"misfit at the uniform plate: {objective(flat)[0]:.4f}")
    fit = minimize(objective, flat, jac=True, method="L-BFGS-B", options={"maxiter": 200})
    print(f"misfit after {fit.nit} iterations ({fit.nfev} gradients): {fit.fun:.6f}")
    inner = (slice(2, -2), slice(2, -2))
    before = np.linalg.norm(truth[inner])
    after = np.linalg.norm(fit.x.reshape(n, n)[inner] - truth[inner])
    print(f"error of log diffusivity inside the plate: {before:.3f} before, {after:.3f} after the fit")


if __name__ == "__main__":
    main()
