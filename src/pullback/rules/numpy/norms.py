"""Norms of vectors and matrices."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs
# Rule functions are text in the language that we compile: their operands are of any style.

from __future__ import annotations

import numpy as np

from pullback.rules.kinds import case
from pullback.rules.lookup import Site
from pullback.rules.numpy.linalg import TALL
from pullback.rules.numpy.products import SS, S
from pullback.rules.numpy.reductions import M, T, V, spread
from pullback.rules.registry import rule
from pullback.styles.broadcast import as_array
from pullback.styles.style import Array, Scalar, Static


def _vector_norm_known(site: Site) -> bool:
    """The norm of the elements: of a vector, or no order, or "fro", or one axis."""
    return _orders(site) and not _is_matrix_norm(site)


def _orders(site: Site) -> bool:
    order = site.option("ord", 1)
    return order is None or isinstance(order, Static)


def _is_matrix_norm(site: Site) -> bool:
    order = site.option("ord", 1)
    axis = site.option("axis", 2)
    value = None if order is None or not isinstance(order, Static) else order.value
    if value is None or value == "fro":
        return False
    if axis is not None and axis != Static(None):
        return not isinstance(axis, Static) or isinstance(axis.value, tuple)
    made = as_array(site.operands[0])
    return not (isinstance(made, Scalar) or made.rank == 1)


NORMS = (
    case(V),
    case(M),
    case(V, 1),
    case(V, np.inf),
    case(V, -np.inf),
    case(V, 3),
    case(V, 2),
    case(M, axis=0),
    case(M, axis=1, keepdims=True),
    case(M, 1, axis=0),
    case(M, "fro"),
    case(T, axis=(0, 2)),
    case(M, np.inf, axis=1),
    case(M, keepdims=True),
    case(M, 2, 1),
    case(V, 0.5),
    case(V, 0),
    case(V, -1),
    case(M, 0, axis=1),
)


@rule(np.linalg.norm, guard=_vector_norm_known, cases=NORMS)
def norm(x, ord=None, axis=None, keepdims=False, *, out, out_bar):
    """The direction; 0 where the norm is 0.  Ties of the largest are shared."""
    bar, n = spread(out_bar, axis, keepdims), spread(out, axis, keepdims)
    if ord is None or ord == 2 or ord == "fro":
        return bar * (x / (n + (n == 0)))
    if ord == 1:
        return bar * direction(x)
    if ord == 0:  # the number of elements that are not zero
        return np.zeros_like(x)
    if ord == np.inf or ord == -np.inf:
        chosen = np.absolute(x) == n
        return np.where(chosen, bar / np.sum(chosen, axis=axis, keepdims=True) * direction(x), 0)
    size = np.absolute(x)
    whole = n + (n == 0)
    return bar * direction(x) * ((size + (size == 0)) / whole) ** (ord - 1)


def direction(x):
    """The sign of a number, of a complex one too; 0 at 0."""
    size = np.absolute(x)
    return x / (size + (size == 0))


def _spectral(site: Site) -> bool:
    """Norms of matrices by singular values, for the last two axes."""
    order = site.option("ord", 1)
    made = as_array(site.operands[0])
    axis = site.option("axis", 2)
    return (
        isinstance(order, Static)
        and order.value in (2, -2, "nuc")
        and made.kind != "c"
        and _is_matrix_norm(site)
        and axis in (None, Static(None))
        and isinstance(made, Array)
        and made.rank == 2
    )


@rule(
    np.linalg.norm,
    guard=_spectral,
    priority=1,
    cases=(case(TALL, 2), case(TALL, "nuc"), case(S, -2), case(TALL, 2, keepdims=True)),
)
def spectral_norm(x, ord=None, axis=None, keepdims=False, *, out, out_bar):
    """By the singular vectors; ties of the largest are shared."""
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    if ord == "nuc":
        return out_bar * (u @ vh)
    chosen = s == (np.max(s) if ord == 2 else np.min(s))
    return out_bar * ((u * (chosen / np.sum(chosen))) @ vh)


def _column_norms(site: Site) -> bool:
    """Largest (or smallest) sum of a column or row, for matrices."""
    order = site.option("ord", 1)
    made = as_array(site.operands[0])
    return (
        isinstance(order, Static)
        and order.value in (1, -1, np.inf, -np.inf)
        and _is_matrix_norm(site)
        and site.option("axis", 2) in (None, Static(None))
        and isinstance(made, Array)
        and made.rank == 2
    )


@rule(np.linalg.norm, guard=_column_norms, priority=1, cases=(case(M, 1), case(M, np.inf), case(M, -1)))
def column_norm(x, ord=None, axis=None, keepdims=False, *, out, out_bar):
    """The signs in the columns (or rows) chosen; ties are shared."""
    sums = np.sum(np.absolute(x), axis=0 if ord == 1 or ord == -1 else 1, keepdims=True)
    chosen = sums == out
    return np.where(chosen, out_bar / np.sum(chosen) * direction(x), 0)


def vector_norm(x, *, axis=None, keepdims=False, ord=2, out, out_bar):
    """As the norm of the elements."""
    return norm(x, ord, axis, keepdims, out=out, out_bar=out_bar)


def _plain_matrix_norm(site: Site) -> bool:
    return site.option("ord") in (None, Static("fro"))


def matrix_norm(x, *, keepdims=False, ord="fro", out, out_bar):
    """The root of the sum of squares over the last two axes."""
    return norm(x, None, (-2, -1), keepdims, out=out, out_bar=out_bar)


def _newer_functions() -> None:
    """The array-API names of `np.linalg`."""
    rule(
        np.linalg.vector_norm,
        guard=lambda site: isinstance(site.option("ord") or Static(2), Static),
        cases=(case(V), case(M, axis=0), case(M, ord=1), case(M)),
    )(vector_norm)
    rule(np.linalg.matrix_norm, guard=_plain_matrix_norm, cases=(case(M), case(SS), case(M, keepdims=True)))(
        matrix_norm
    )


_newer_functions()
