"""Newton's iteration until it no longer moves: as many steps as the data ask for, for each entry."""

PRESETS = {"S": {"n": 40}, "M": {"n": 5_000}}
WRT = ("a",)


def inputs(rng, n):
    return (rng.uniform(0.5, 50.0, n),)


def root(a):
    x = a
    while True:
        better = 0.5 * (x + a / x)
        if abs(better - x) < 1e-12 * x:
            return better
        x = better


def loss(a):
    total = 0.0
    for value in a:
        total += root(value)
    return total
