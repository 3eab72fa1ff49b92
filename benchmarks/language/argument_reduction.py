"""Logarithms by argument reduction: divide while the number is large, then sum a series until its terms vanish."""

import math

PRESETS = {"S": {"n": 40}, "M": {"n": 2_000}}
WRT = ("x",)


def inputs(rng, n):
    return (rng.uniform(0.5, 1000.0, n),)


def logarithm(x):
    halvings = 0
    while x > 1.4:
        x = 0.5 * x
        halvings += 1
    z = (x - 1.0) / (x + 1.0)
    power, term, total = z, z, 0.0
    k = 1
    while abs(term) > 1e-17:
        total += term
        k += 2
        power = power * z * z
        term = power / k
    return 2.0 * total + halvings * math.log(2.0)


def loss(x):
    total = 0.0
    for value in x:
        total += logarithm(value) ** 2
    return total
