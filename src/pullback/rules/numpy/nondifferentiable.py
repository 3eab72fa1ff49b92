"""Functions whose results carry no derivative: integers, truth values, steps, random draws, questions about
shape.
"""

from __future__ import annotations

import math

import numpy as np

from pullback.rules.registry import nondifferentiable

nondifferentiable(
    # comparisons and logic
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
    np.equal,
    np.not_equal,
    np.logical_and,
    np.logical_or,
    np.logical_xor,
    np.logical_not,
    np.isnan,
    np.isfinite,
    np.isinf,
    np.isnat,
    np.signbit,
    np.isclose,
    np.allclose,
    np.array_equal,
    np.array_equiv,
    np.isreal,
    np.iscomplex,
    np.isrealobj,
    np.iscomplexobj,
    np.isposinf,
    np.isneginf,
    np.isscalar,
    np.iterable,
    np.isin,
    np.shares_memory,
    np.may_share_memory,
    np.can_cast,
    np.issubdtype,
    # steps
    np.floor,
    np.ceil,
    np.rint,
    np.trunc,
    np.fix,
    np.round,
    np.around,
    np.floor_divide,
    np.spacing,
    # integers
    np.bitwise_and,
    np.bitwise_or,
    np.bitwise_xor,
    np.invert,
    np.left_shift,
    np.right_shift,
    np.gcd,
    np.lcm,
    # counts, places, orders
    np.any,
    np.all,
    np.count_nonzero,
    np.argmax,
    np.argmin,
    np.nanargmax,
    np.nanargmin,
    np.argsort,
    np.argpartition,
    np.lexsort,
    np.searchsorted,
    np.digitize,
    np.nonzero,
    np.argwhere,
    np.flatnonzero,
    np.linalg.matrix_rank,
    # shapes
    np.shape,
    np.size,
    np.ndim,
    np.broadcast_shapes,
    # draws
    np.random.rand,
    np.random.randn,
    np.random.random,
    np.random.random_sample,
    np.random.standard_normal,
    np.random.normal,
    np.random.uniform,
    np.random.randint,
    np.random.seed,
    np.random.default_rng,
    # math
    math.ceil,
    math.floor,
    math.trunc,
    math.comb,
    math.factorial,
    math.gcd,
    math.isqrt,
    math.lcm,
    math.perm,
    math.isclose,
    math.isfinite,
    math.isinf,
    math.isnan,
    math.ulp,
)
nondifferentiable(np.sign, when="real")  # of a complex number it is the direction, which moves
nondifferentiable(np.imag, np.angle, when="real")
if hasattr(np, "bitwise_count"):
    nondifferentiable(np.bitwise_count)
