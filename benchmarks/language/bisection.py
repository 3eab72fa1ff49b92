"""A root by bisection, then Newton's method from there: `for … else`, `break`, a tuple that is carried."""

PRESETS = {"S": {"n": 10}, "M": {"n": 1_500}}
WRT = ("a", "b")


def inputs(rng, n):
    return rng.uniform(0.5, 3.0, n), rng.uniform(0.1, 1.0, n)


def cubic(x, a, b):
    return x**3 + a * x - b


def solve(a, b):
    low, high = 0.0, 2.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if cubic(middle, a, b) < 0.0 else (low, middle)
        if high - low < 1e-2:
            break
    else:
        return 0.0 * a
    x = 0.5 * (low + high)
    for _ in range(20):
        step = cubic(x, a, b) / (3.0 * x**2 + a)
        x = x - step
        if abs(step) < 1e-13:
            break
    return x


def loss(a, b):
    total = 0.0
    for p, q in zip(a, b):
        total += solve(p, q)
    return total
