"""Flow in a cavity with a moving lid: Navier-Stokes in two dimensions, with a Poisson equation a step."""

import numpy as np

PRESETS = {
    "S": {"ny": 41, "nx": 41, "nt": 10, "nit": 5, "rho": 1.0, "nu": 0.1},
    "M": {"ny": 121, "nx": 121, "nt": 50, "nit": 10, "rho": 1.0, "nu": 0.1},
    "paper": {"ny": 101, "nx": 101, "nt": 700, "nit": 50, "rho": 1.0, "nu": 0.1},
}
GROUP = "stencil"
WRT = ("u", "v", "p", "nu")
STATIC = ("nt", "nit")
NOTE = "starts from random fields (the public one from zeros); S is smaller than the public one"


def inputs(rng, ny, nx, nt, nit, rho, nu):
    u, v, p = (rng.random((ny, nx)) for _ in range(3))
    return nt, nit, u, v, 0.1 / ((nx - 1) * (ny - 1)), 2 / (nx - 1), 2 / (ny - 1), p, rho, nu


def source_term(b, rho, dt, u, v, dx, dy):
    ux = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)
    uy = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dy)
    vx = (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx)
    vy = (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)
    b[1:-1, 1:-1] = rho * (1 / dt * (ux + vy) - ux**2 - 2 * (uy * vx) - vy**2)


def pressure(nit, p, dx, dy, b):
    pn = np.empty_like(p)
    for _ in range(nit):
        pn = p.copy()
        across = (pn[1:-1, 2:] + pn[1:-1, :-2]) * dy**2 + (pn[2:, 1:-1] + pn[:-2, 1:-1]) * dx**2
        p[1:-1, 1:-1] = across / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0


def kernel(nt, nit, u, v, dt, dx, dy, p, rho, nu):
    un = np.empty_like(u)
    vn = np.empty_like(v)
    b = np.zeros_like(u)
    for _ in range(nt):
        un = u.copy()
        vn = v.copy()
        source_term(b, rho, dt, u, v, dx, dy)
        pressure(nit, p, dx, dy, b)

        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
            + nu * (dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, :-2]))
            + nu * (dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[:-2, 1:-1]))
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[:-2, 1:-1])
            - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
            + nu * (dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, :-2]))
            + nu * (dt / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[:-2, 1:-1]))
        )

        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1  # the lid
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0


def loss(nt, nit, u, v, dt, dx, dy, p, rho, nu):
    kernel(nt, nit, u, v, dt, dx, dy, p, rho, nu)
    return np.sum(u) + np.sum(v) + np.sum(p)
