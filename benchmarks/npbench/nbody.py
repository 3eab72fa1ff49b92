"""Gravitation of N bodies, leap-frog steps: kinetic and potential energy after each step."""

import numpy as np

PRESETS = {
    "S": {"N": 25, "Nt": 40, "dt": 0.05, "G": 1.0, "softening": 0.1},
    "M": {"N": 50, "Nt": 250, "dt": 0.02, "G": 1.0, "softening": 0.1},
    "paper": {"N": 100, "Nt": 1000, "dt": 0.01, "G": 1.0, "softening": 0.1},
}
GROUP = "other"
WRT = ("mass", "pos", "vel")
STATIC = ("Nt",)
NOTE = (
    "the bodies start in a cube of side 10 (publicly 1, where close encounters make every gradient chaotic)"
)


def inputs(rng, N, Nt, dt, G, softening):
    mass = 20.0 * np.ones((N, 1)) / N
    return mass, 10.0 * rng.random((N, 3)), rng.random((N, 3)), Nt, dt, G, softening


def acceleration(pos, mass, G, softening):
    x, y, z = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inv_r3 = dx**2 + dy**2 + dz**2 + softening**2
    inv_r3[inv_r3 > 0] = inv_r3[inv_r3 > 0] ** (-1.5)
    ax = G * (dx * inv_r3) @ mass
    ay = G * (dy * inv_r3) @ mass
    az = G * (dz * inv_r3) @ mass
    return np.hstack((ax, ay, az))


def energy(pos, vel, mass, G):
    kinetic = 0.5 * np.sum(mass * vel**2)
    x, y, z = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inv_r = np.sqrt(dx**2 + dy**2 + dz**2)
    inv_r[inv_r > 0] = 1.0 / inv_r[inv_r > 0]
    potential = G * np.sum(np.triu(-(mass * mass.T) * inv_r, 1))
    return kinetic, potential


def kernel(mass, pos, vel, Nt, dt, G, softening):
    vel -= np.mean(mass * vel, axis=0) / np.mean(mass)
    acc = acceleration(pos, mass, G, softening)
    kinetic = np.ndarray(Nt + 1, dtype=np.float64)
    potential = np.ndarray(Nt + 1, dtype=np.float64)
    kinetic[0], potential[0] = energy(pos, vel, mass, G)
    for i in range(Nt):
        vel += acc * dt / 2.0
        pos += vel * dt
        acc = acceleration(pos, mass, G, softening)
        vel += acc * dt / 2.0
        kinetic[i + 1], potential[i + 1] = energy(pos, vel, mass, G)
    return kinetic, potential


def loss(mass, pos, vel, Nt, dt, G, softening):
    kinetic, potential = kernel(mass, pos, vel, Nt, dt, G, softening)
    return np.sum(kinetic) + np.sum(potential)
