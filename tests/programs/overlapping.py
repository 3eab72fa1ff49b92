"""Statements that write a place of an array and read another that overlaps it: NumPy reads all before it writes.

Each is there short, and longer than the blocks in which a target may run.
"""

import numpy as np

from . import numbers, program

N = 40_000
LONG, OTHER = numbers(N), numbers(N - 1, seed=1)
WEIGHTS = np.cos(np.arange(N))
SHORT = numbers(7)


GRID = np.cos(np.arange(160.0 * 130.0)).reshape(160, 130)


def _moved_up(w):
    """The gradient of the weighted sum of what a shift by one place leaves."""
    g = np.zeros(N)
    g[:-1] = w[1:]
    g[0] += w[0]
    return g


def _moved_along(w):
    """The same for a shift along the diagonal."""
    g = np.zeros(w.shape)
    g[:-1, :-1] = w[1:, 1:]
    g[0] += w[0]
    g[1:, 0] += w[1:, 0]
    return g


@program(SHORT, WEIGHTS[:7], wrt=0)
@program(LONG, WEIGHTS, wrt=0, expect=(2.0 * _moved_up(WEIGHTS),))
def moved_up(x, w):
    a = x * 2.0
    a[1:] = a[:-1]
    return np.sum(a * w)


@program(SHORT, WEIGHTS[:7], wrt=0)
@program(LONG, WEIGHTS, wrt=0, expect=(2.0 * _moved_up(WEIGHTS[::-1])[::-1],))
def moved_down(x, w):
    a = x * 2.0
    a[:-1] = a[1:]
    return np.sum(a * w)


@program(SHORT, WEIGHTS[:7], wrt=0)
@program(LONG, WEIGHTS, wrt=0, expect=(2.0 * WEIGHTS + 2.0 * np.append(WEIGHTS[1:], 0.0),))
def neighbour_added(x, w):
    a = x * 2.0
    a[1:] += a[:-1]
    return np.sum(a * w)


@program(SHORT, WEIGHTS[:7], wrt=0)
@program(LONG, WEIGHTS, wrt=0, expect=(6.0 * WEIGHTS - 2.0 * np.append(WEIGHTS[1:], 0.0),))
def chain_of_neighbours(x, w):
    a = x * 2.0
    a[1:] = 3.0 * a[1:] - a[:-1]
    a[0] *= 3.0
    return np.sum(a * w)


@program(SHORT, numbers(6, seed=1), WEIGHTS[:7], wrt=(0, 1))
@program(LONG, OTHER, WEIGHTS, wrt=(0, 1), expect=(2.0 * _moved_up(WEIGHTS), WEIGHTS[1:]))
def out_overlaps_an_operand(x, b, w):
    a = x * 2.0
    np.add(a[:-1], b, out=a[1:])
    return np.sum(a * w)


@program(SHORT, WEIGHTS[:7], wrt=0)
@program(LONG, WEIGHTS, wrt=0, expect=(2.0 * WEIGHTS[::-1],))
def turned_round(x, w):
    a = x * 2.0
    a[:] = a[::-1]
    return np.sum(a * w)


@program(SHORT, WEIGHTS[:7], wrt=0)
@program(LONG, WEIGHTS, wrt=0, expect=(2.0 * (WEIGHTS + WEIGHTS[::-1]),))
def added_to_its_reverse(x, w):
    a = x * 2.0
    a += a[::-1]
    return np.sum(a * w)


@program(SHORT, WEIGHTS[:7], wrt=0)
def reversed_views_of_parts(x, w):
    a = x * 2.0
    a[1:][::-1] = a[:-1] * 3.0
    a[::-1][2:] -= a[2:]
    return np.sum(a * a * w)


@program(numbers(4, 5), GRID[:4, :5], wrt=0)
@program(numbers(160, 130), GRID, wrt=0, expect=(_moved_along(GRID),))
def diagonal_shift(x, w):
    a = x * 1.0
    a[1:, 1:] = a[:-1, :-1]
    return np.sum(a * w)


@program(numbers(4, 5), wrt=0)
def rows_and_columns_shifted(x):
    a = x * 1.0
    a[1:, :] += 0.5 * a[:-1, :]
    a[:, 1:] *= a[:, :-1]
    a[:, ::-1][:, 1:] += a[:, :-1]
    return np.sum(a * a)


@program(numbers(4, 4), wrt=0)
def its_own_transpose(x):
    a = x * 1.0
    a += a.T
    a[:] = a.T * 2.0 + a
    return np.sum(a * x)


@program(SHORT)
def halves_that_do_not_meet(x):
    a = x * 1.0
    a[:3] = a[4:] * 2.0
    a[4:] += a[:3]
    return np.sum(a * a)


@program(SHORT)
def smoothed_in_place(x):
    a = x * 1.0
    for _ in range(3):
        a[1:-1] = 0.25 * a[:-2] + 0.5 * a[1:-1] + 0.25 * a[2:]
    return np.sum(a * a)


@program(SHORT, numbers(7, seed=1))
def two_buffers_take_turns(x, y):
    u, v = x * 1.0, y * 1.0
    for _ in range(3):
        v[1:-1] = u[:-2] * u[2:] + v[1:-1]
        u, v = v, u
    return np.sum(u * u) + np.sum(u * v)
