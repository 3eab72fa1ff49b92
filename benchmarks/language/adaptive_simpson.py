"""Recursion: an integral by Simpson's rule, refined where it has to be."""

import numpy as np

PRESETS = {"S": {"n": 3, "tolerance": 1e-7}, "M": {"n": 40, "tolerance": 1e-9}}
WRT = ("centre", "width")


def inputs(rng, n, tolerance):
    return rng.uniform(0.2, 0.8, n), 0.05, tolerance


def peak(t, centre, width):
    return 1.0 / (1.0 + ((t - centre) / width) ** 2)


def simpson(left, right, fl, fm, fr, centre, width, tolerance):
    middle = 0.5 * (left + right)
    fa = peak(0.5 * (left + middle), centre, width)
    fb = peak(0.5 * (middle + right), centre, width)
    coarse = (right - left) * (fl + 4.0 * fm + fr) / 6.0
    fine = (right - left) * (fl + 4.0 * fa + 2.0 * fm + 4.0 * fb + fr) / 12.0
    if abs(fine - coarse) < 15.0 * tolerance:
        return fine + (fine - coarse) / 15.0
    return simpson(left, middle, fl, fa, fm, centre, width, 0.5 * tolerance) + simpson(
        middle, right, fm, fb, fr, centre, width, 0.5 * tolerance
    )


def loss(centre, width, tolerance):
    total = 0.0
    for c in centre:
        ends = peak(0.0, c, width), peak(0.5, c, width), peak(1.0, c, width)
        total += np.log(simpson(0.0, 1.0, *ends, c, width, tolerance))
    return total
