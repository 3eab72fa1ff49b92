"""A list that grows while it is worked through: fragments split until they are small."""

PRESETS = {"S": {"n": 8}, "M": {"n": 100}}
WRT = ("mass", "ratio")


def inputs(rng, n):
    return rng.uniform(1.0, 20.0, n), 0.37


def loss(mass, ratio):
    fragments = []
    for m in mass:
        fragments.append(m)
    surface = 0.0
    while fragments:
        m = fragments.pop()
        if m > 1.0:
            fragments.append(ratio * m)
            fragments.append((1.0 - ratio) * m)
        else:
            surface += m ** (2.0 / 3.0)
    return surface
