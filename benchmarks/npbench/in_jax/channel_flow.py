"""Flow in a periodic channel in JAX.

`while_loop` has no reverse mode: a scan over a bound on the number of steps, which are taken until the flow settles.
"""

import jax.numpy as jnp
from jax import lax


def loss(nit, u, v, dt, dx, dy, p, rho, nu, F, tol):
    def west(w):
        return jnp.roll(w, 1, axis=1)[1:-1]

    def east(w):
        return jnp.roll(w, -1, axis=1)[1:-1]

    def source_term(u, v):
        ux = (east(u) - west(u)) / (2 * dx)
        uy = (u[2:] - u[:-2]) / (2 * dy)
        vx = (east(v) - west(v)) / (2 * dx)
        vy = (v[2:] - v[:-2]) / (2 * dy)
        return rho * (1 / dt * (ux + vy) - ux**2 - 2 * (uy * vx) - vy**2)

    def relax(p, b):
        across = (east(p) + west(p)) * dy**2 + (p[2:] + p[:-2]) * dx**2
        inner = (across - dx**2 * dy**2 * b) / (2 * (dx**2 + dy**2))
        return jnp.concatenate([inner[:1], inner, inner[-1:]])

    def transport(w, u, v):
        c = w[1:-1]
        convection = u[1:-1] * dt / dx * (c - west(w)) + v[1:-1] * dt / dy * (c - w[:-2])
        diffusion = dt / dx**2 * (east(w) - 2 * c + west(w)) + dt / dy**2 * (w[2:] - 2 * c + w[:-2])
        return c - convection + nu * diffusion

    def walls(inner):
        return jnp.pad(inner, ((1, 1), (0, 0)))

    def step(u, v, p):
        b = source_term(u, v)
        p, _ = lax.scan(lambda p, _: (relax(p, b), None), p, None, length=nit)
        new_u = walls(transport(u, u, v) - dt / (2 * rho * dx) * (east(p) - west(p)) + F * dt)
        new_v = walls(transport(v, u, v) - dt / (2 * rho * dy) * (p[2:] - p[:-2]))
        change = (jnp.sum(new_u) - jnp.sum(u)) / jnp.sum(new_u)
        return new_u, new_v, p, change

    def maybe(state, _):
        return lax.cond(state[3] > tol, lambda s: step(*s[:3]), lambda s: s, state), None

    state = (u, v, p, jnp.asarray(1.0, u.dtype))
    bound = int(1.2 / tol) + 2  # the velocity grows at most linearly: 1 / n after n steps
    (u, v, p, _), _ = lax.scan(maybe, state, None, length=bound)
    return jnp.sum(u) + jnp.sum(v) + jnp.sum(p)
