"""Gravitation of N bodies in JAX: the steps are a scan."""

import jax.numpy as jnp
from jax import lax


def acceleration(pos, mass, G, softening):
    d = pos[None, :, :] - pos[:, None, :]
    inv_r3 = (jnp.sum(d**2, axis=2) + softening**2) ** (-1.5)
    return G * jnp.einsum("ijk,ij,j->ik", d, inv_r3, mass[:, 0])


def energy(pos, vel, mass, G):
    kinetic = 0.5 * jnp.sum(mass * vel**2)
    i, j = jnp.triu_indices(len(pos), 1)
    r = jnp.sqrt(jnp.sum((pos[j] - pos[i]) ** 2, axis=1))
    potential = -G * jnp.sum(mass[i, 0] * mass[j, 0] / r)
    return kinetic + potential


def loss(mass, pos, vel, Nt, dt, G, softening):
    vel = vel - jnp.mean(mass * vel, axis=0) / jnp.mean(mass)

    def step(state, _):
        pos, vel, acc = state
        vel = vel + acc * dt / 2.0
        pos = pos + vel * dt
        acc = acceleration(pos, mass, G, softening)
        vel = vel + acc * dt / 2.0
        return (pos, vel, acc), energy(pos, vel, mass, G)

    first = energy(pos, vel, mass, G)
    start = (pos, vel, acceleration(pos, mass, G, softening))
    _, energies = lax.scan(step, start, None, length=Nt)
    return first + jnp.sum(energies)
