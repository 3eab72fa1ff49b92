"""Flow in a cavity in JAX: scans over the steps and over the iterations of the pressure."""

import jax.numpy as jnp
from jax import lax


def loss(nt, nit, u, v, dt, dx, dy, p, rho, nu):
    def source_term(u, v):
        ux = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)
        uy = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dy)
        vx = (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx)
        vy = (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)
        return rho * (1 / dt * (ux + vy) - ux**2 - 2 * (uy * vx) - vy**2)

    def relax(p, b):
        across = (p[1:-1, 2:] + p[1:-1, :-2]) * dy**2 + (p[2:, 1:-1] + p[:-2, 1:-1]) * dx**2
        p = p.at[1:-1, 1:-1].set((across - dx**2 * dy**2 * b) / (2 * (dx**2 + dy**2)))
        p = p.at[:, -1].set(p[:, -2])
        p = p.at[0, :].set(p[1, :])
        p = p.at[:, 0].set(p[:, 1])
        return p.at[-1, :].set(0)

    def transport(w, u, v):
        c = w[1:-1, 1:-1]
        left, right, down, up = w[1:-1, :-2], w[1:-1, 2:], w[:-2, 1:-1], w[2:, 1:-1]
        convection = u[1:-1, 1:-1] * dt / dx * (c - left) + v[1:-1, 1:-1] * dt / dy * (c - down)
        diffusion = dt / dx**2 * (right - 2 * c + left) + dt / dy**2 * (up - 2 * c + down)
        return c - convection + nu * diffusion

    def step(state, _):
        u, v, p = state
        b = source_term(u, v)
        p, _ = lax.scan(lambda p, _: (relax(p, b), None), p, None, length=nit)
        new_u = transport(u, u, v) - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
        new_v = transport(v, u, v) - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
        u = jnp.pad(new_u, 1).at[-1, :].set(1)
        return (u, jnp.pad(new_v, 1), p), None

    (u, v, p), _ = lax.scan(step, (u, v, p), None, length=nt)
    return jnp.sum(u) + jnp.sum(v) + jnp.sum(p)
