"""Flow in a periodic channel under a force: steps until the velocity settles, so their number depends on the data."""

import numpy as np

PRESETS = {
    "S": {"ny": 31, "nx": 31, "nit": 5, "rho": 1.0, "nu": 0.1, "F": 1.0, "tol": 0.1},
    "M": {"ny": 61, "nx": 61, "nit": 10, "rho": 1.0, "nu": 0.1, "F": 1.0, "tol": 0.01},
    "paper": {"ny": 101, "nx": 101, "nit": 50, "rho": 1.0, "nu": 0.1, "F": 1.0, "tol": 0.001},
}
GROUP = "stencil"
WRT = ("u", "v", "p", "F")
STATIC = ("nit", "tol")
NOTE = (
    "`tol` is a parameter (publicly 0.001); in JAX a scan of 1.2 / tol steps, skipped once the flow settles"
)


def inputs(rng, ny, nx, nit, rho, nu, F, tol):
    u, v = np.zeros((ny, nx)), np.zeros((ny, nx))
    return (
        nit,
        u,
        v,
        0.1 / ((nx - 1) * (ny - 1)),
        2 / (nx - 1),
        2 / (ny - 1),
        np.ones((ny, nx)),
        rho,
        nu,
        F,
        tol,
    )


def source_term(rho, dt, dx, dy, u, v):
    b = np.zeros_like(u)
    ux = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)
    uy = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dy)
    vx = (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx)
    vy = (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)
    b[1:-1, 1:-1] = rho * (1 / dt * (ux + vy) - ux**2 - 2 * (uy * vx) - vy**2)

    # The right edge, whose neighbour is the left one.
    ux = (u[1:-1, 0] - u[1:-1, -2]) / (2 * dx)
    uy = (u[2:, -1] - u[:-2, -1]) / (2 * dy)
    vx = (v[1:-1, 0] - v[1:-1, -2]) / (2 * dx)
    vy = (v[2:, -1] - v[:-2, -1]) / (2 * dy)
    b[1:-1, -1] = rho * (1 / dt * (ux + vy) - ux**2 - 2 * (uy * vx) - vy**2)

    # The left edge.
    ux = (u[1:-1, 1] - u[1:-1, -1]) / (2 * dx)
    uy = (u[2:, 0] - u[:-2, 0]) / (2 * dy)
    vx = (v[1:-1, 1] - v[1:-1, -1]) / (2 * dx)
    vy = (v[2:, 0] - v[:-2, 0]) / (2 * dy)
    b[1:-1, 0] = rho * (1 / dt * (ux + vy) - ux**2 - 2 * (uy * vx) - vy**2)
    return b


def pressure(nit, p, dx, dy, b):
    pn = np.empty_like(p)
    for _ in range(nit):
        pn = p.copy()
        across = (pn[1:-1, 2:] + pn[1:-1, :-2]) * dy**2 + (pn[2:, 1:-1] + pn[:-2, 1:-1]) * dx**2
        p[1:-1, 1:-1] = across / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
        across = (pn[1:-1, 0] + pn[1:-1, -2]) * dy**2 + (pn[2:, -1] + pn[:-2, -1]) * dx**2
        p[1:-1, -1] = across / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, -1]
        across = (pn[1:-1, 1] + pn[1:-1, -1]) * dy**2 + (pn[2:, 0] + pn[:-2, 0]) * dx**2
        p[1:-1, 0] = across / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 0]
        p[-1, :] = p[-2, :]
        p[0, :] = p[1, :]


def kernel(nit, u, v, dt, dx, dy, p, rho, nu, F, tol):
    udiff = 1
    while udiff > tol:
        un = u.copy()
        vn = v.copy()
        b = source_term(rho, dt, dx, dy, u, v)
        pressure(nit, p, dx, dy, b)

        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
            + nu * (dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, :-2]))
            + nu * (dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[:-2, 1:-1]))
            + F * dt
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[:-2, 1:-1])
            - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
            + nu * (dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, :-2]))
            + nu * (dt / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[:-2, 1:-1]))
        )

        # The right edge.
        u[1:-1, -1] = (
            un[1:-1, -1]
            - un[1:-1, -1] * dt / dx * (un[1:-1, -1] - un[1:-1, -2])
            - vn[1:-1, -1] * dt / dy * (un[1:-1, -1] - un[:-2, -1])
            - dt / (2 * rho * dx) * (p[1:-1, 0] - p[1:-1, -2])
            + nu * (dt / dx**2 * (un[1:-1, 0] - 2 * un[1:-1, -1] + un[1:-1, -2]))
            + nu * (dt / dy**2 * (un[2:, -1] - 2 * un[1:-1, -1] + un[:-2, -1]))
            + F * dt
        )
        v[1:-1, -1] = (
            vn[1:-1, -1]
            - un[1:-1, -1] * dt / dx * (vn[1:-1, -1] - vn[1:-1, -2])
            - vn[1:-1, -1] * dt / dy * (vn[1:-1, -1] - vn[:-2, -1])
            - dt / (2 * rho * dy) * (p[2:, -1] - p[:-2, -1])
            + nu * (dt / dx**2 * (vn[1:-1, 0] - 2 * vn[1:-1, -1] + vn[1:-1, -2]))
            + nu * (dt / dy**2 * (vn[2:, -1] - 2 * vn[1:-1, -1] + vn[:-2, -1]))
        )

        # The left edge.
        u[1:-1, 0] = (
            un[1:-1, 0]
            - un[1:-1, 0] * dt / dx * (un[1:-1, 0] - un[1:-1, -1])
            - vn[1:-1, 0] * dt / dy * (un[1:-1, 0] - un[:-2, 0])
            - dt / (2 * rho * dx) * (p[1:-1, 1] - p[1:-1, -1])
            + nu * (dt / dx**2 * (un[1:-1, 1] - 2 * un[1:-1, 0] + un[1:-1, -1]))
            + nu * (dt / dy**2 * (un[2:, 0] - 2 * un[1:-1, 0] + un[:-2, 0]))
            + F * dt
        )
        v[1:-1, 0] = (
            vn[1:-1, 0]
            - un[1:-1, 0] * dt / dx * (vn[1:-1, 0] - vn[1:-1, -1])
            - vn[1:-1, 0] * dt / dy * (vn[1:-1, 0] - vn[:-2, 0])
            - dt / (2 * rho * dy) * (p[2:, 0] - p[:-2, 0])
            + nu * (dt / dx**2 * (vn[1:-1, 1] - 2 * vn[1:-1, 0] + vn[1:-1, -1]))
            + nu * (dt / dy**2 * (vn[2:, 0] - 2 * vn[1:-1, 0] + vn[:-2, 0]))
        )

        u[0, :] = 0
        u[-1, :] = 0
        v[0, :] = 0
        v[-1, :] = 0
        udiff = (np.sum(u) - np.sum(un)) / np.sum(u)


def loss(nit, u, v, dt, dx, dy, p, rho, nu, F, tol):
    kernel(nit, u, v, dt, dx, dy, p, rho, nu, F, tol)
    return np.sum(u) + np.sum(v) + np.sum(p)
