"""A simulation in objects: particles with methods that change their fields, and a wall that ends some of them."""

PRESETS = {"S": {"n": 3, "steps": 100}, "M": {"n": 40, "steps": 500}}
WRT = ("speed", "friction")
STATIC = ("steps",)


class Particle:
    def __init__(self, x, v):
        self.x = x
        self.v = v
        self.bounces = 0

    def move(self, dt, friction):
        self.v = self.v * (1.0 - friction * dt) - 9.81 * dt
        self.x = self.x + self.v * dt
        if self.x < 0.0:
            self.x = -self.x
            self.v = -0.8 * self.v
            self.bounces += 1


def inputs(rng, n, steps):
    return rng.uniform(1.0, 8.0, n), 0.1, steps


def loss(speed, friction, steps):
    energy = 0.0
    for v in speed:
        particle = Particle(1.0, v)
        for _ in range(steps):
            particle.move(0.01, friction)
            if particle.bounces > 3:
                break
        energy += 0.5 * particle.v**2 + 9.81 * particle.x
    return energy
