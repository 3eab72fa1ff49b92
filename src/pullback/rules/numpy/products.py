"""Products of vectors, matrices and tensors.

With complex operands each cotangent is multiplied by the conjugate of the other operand.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs
# Rule functions are text in the language that we compile: their operands are of any style.

from __future__ import annotations

import numpy as np

from pullback.rules.kinds import case
from pullback.rules.lookup import Site
from pullback.rules.numpy.elementwise import conj
from pullback.rules.numpy.reductions import M, T, V
from pullback.rules.registry import rule
from pullback.styles.broadcast import as_array as array_style
from pullback.styles.style import Array, Scalar, Static

W = np.array([0.5, 1.0, -2.0])
S = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, -0.3, 2.0]])
SS = np.stack([S, 2.0 * S + 1.0])
R = np.array([[1.0, -1.0, 2.0, 0.5], [0.0, 1.0, 0.25, -0.5], [0.5, 2.0, 1.0, 1.5]])
C = M + 0.5j * M[::-1]


PLAIN = (
    case(V, W),
    case(M, S),
    case(M, V),
    case(V, S),
    case(C, S),
    case(C, C.T),
)
STACKS = (
    case(SS, S),
    case(S, SS),
    case(SS, V),
    case(V, SS),
    case(np.ones((2, 1, 2, 3)), SS),
)


def plain_matmul(x1, x2, *, out, out_bar):
    """Of vectors and matrices: x1_bar = out_bar x2^T, x2_bar = x1^T out_bar."""
    a, b = conj(x1), conj(x2)
    if np.ndim(x1) == 1 and np.ndim(x2) == 1:
        return out_bar * b, out_bar * a
    if np.ndim(x1) == 1:
        return np.matmul(b, out_bar), a[:, None] * out_bar
    if np.ndim(x2) == 1:
        return out_bar[:, None] * b, np.matmul(a.T, out_bar)
    return np.matmul(out_bar, b.T), np.matmul(a.T, out_bar)


def stack_with_matrix(x1, x2, *, out, out_bar):
    """A stack with one matrix is one product of matrices, and so are both cotangents."""
    last = np.ndim(x1) - 1
    lead = tuple(range(last))
    return (
        np.tensordot(out_bar, conj(x2), ((last,), (1,))),
        np.tensordot(conj(x1), out_bar, (lead, lead)),
    )


def matmul(x1, x2, *, out, out_bar):
    """Stacks that are broadcast; a vector stands for a row or a column."""
    if np.ndim(x1) == 1 and np.ndim(x2) == 1:
        return plain_matmul(x1, x2, out=out, out_bar=out_bar)
    a, b = conj(x1), conj(x2)
    if np.ndim(x1) == 1:
        column = np.expand_dims(out_bar, -1)
        return np.matmul(b, column)[..., 0], np.expand_dims(a, -1) * np.expand_dims(out_bar, -2)
    if np.ndim(x2) == 1:
        column = np.expand_dims(out_bar, -1)
        return column * b, np.matmul(np.swapaxes(a, -1, -2), column)[..., 0]
    return np.matmul(out_bar, np.swapaxes(b, -1, -2)), np.matmul(np.swapaxes(a, -1, -2), out_bar)


def _ranks(site: Site) -> list[int | None]:
    return [a.rank if isinstance(a, Array) else None for a in map(array_style, site.operands)]


def _plain(site: Site) -> bool:
    """Two operands that are vectors or matrices for certain: nothing is broadcast."""
    return all(rank in (1, 2) for rank in _ranks(site))


def _stack_with_matrix(site: Site) -> bool:
    first, second = _ranks(site)
    return first is not None and first > 2 and second == 2


rule(np.matmul, wrt="x1, x2", guard=_plain, shaped=True, cases=PLAIN)(plain_matmul)
rule(np.matmul, wrt="x1, x2", guard=_stack_with_matrix, shaped=True, cases=STACKS[:1])(stack_with_matrix)
rule(np.matmul, wrt="x1, x2", cases=STACKS[1:])(matmul)


def _numbers(site: Site) -> bool:
    """One of two operands is a number."""
    return any(isinstance(a, Scalar) or a.axes == () for a in (array_style(s) for s in site.operands))


def product(a, b, *, out, out_bar):
    """With a number: an elementwise product."""
    return out_bar * conj(b), out_bar * conj(a)


rule((np.dot, np.inner), wrt="a, b", guard=_numbers, cases=(case(2.0, M), case(V, 3.0), case(2.0, 3.0)))(
    product
)


@rule(np.dot, wrt="a, b", guard=_plain, shaped=True, cases=PLAIN)
def plain_dot(a, b, *, out, out_bar):
    """Of vectors and matrices: the matrix product."""
    return plain_matmul(a, b, out=out, out_bar=out_bar)


@rule(
    np.dot,
    wrt="a, b",
    cases=(
        case(SS, V),
        case(SS, R),
        case(M, SS),
        case(V, SS),
    ),
)
def dot(a, b, *, out, out_bar):
    """Sums over the last axis of a and the second to last of b."""
    if np.ndim(b) == 1:
        lead = tuple(range(np.ndim(a) - 1))
        return np.expand_dims(out_bar, -1) * conj(b), np.tensordot(conj(a), out_bar, (lead, lead))
    rows = np.ndim(a) - 1
    cols = tuple(range(rows, rows + np.ndim(b) - 1))
    over = tuple(range(np.ndim(b) - 2)) + (np.ndim(b) - 1,)
    a_bar = np.tensordot(out_bar, conj(b), (cols, over))
    lead = tuple(range(rows))
    b_bar = np.tensordot(conj(a), out_bar, (lead, lead))
    return a_bar, np.moveaxis(b_bar, 0, -2)


@rule(
    np.inner,
    wrt="a, b",
    cases=(case(V, W), case(M, V), case(M, M + 1), case(T, np.ones((5, 4)) + np.arange(4.0)), case(C, C)),
)
def inner(a, b, *, out, out_bar):
    """Sums over the last axes."""
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return out_bar * conj(b), out_bar * conj(a)
    rows = np.ndim(a) - 1
    cols = np.ndim(b) - 1
    a_bar = np.tensordot(out_bar, conj(b), (tuple(range(rows, rows + cols)), tuple(range(cols))))
    b_bar = np.tensordot(out_bar, conj(a), (tuple(range(rows)), tuple(range(rows))))
    return a_bar, b_bar


def outer(a, b, *, out, out_bar):
    """A matrix with a vector, either way."""
    a_bar = np.matmul(out_bar, np.ravel(conj(b)))
    b_bar = np.matmul(out_bar.T, np.ravel(conj(a)))
    return np.reshape(a_bar, np.shape(a)), np.reshape(b_bar, np.shape(b))


rule(np.outer, wrt="a, b", cases=(case(V, W), case(M, V), case(2.0, V), case(C, V)))(outer)


@rule(np.vdot, wrt="a, b", cases=(case(V, W), case(M, M + 1), case(C, C + 1)))
def vdot(a, b, *, out, out_bar):
    """sum(conj(a) b)."""
    flat_b, flat_a = np.reshape(b, np.shape(a)), np.reshape(a, np.shape(b))
    return conj(out_bar) * flat_b, out_bar * flat_a


def _last_axis(site: Site) -> bool:
    return site.option("axis", 2) in (None, Static(-1))


def vecdot(x1, x2, *, axis=-1, out, out_bar):
    """sum(conj(x1) x2) over the last axis."""
    bar = np.expand_dims(out_bar, -1)
    return conj(bar) * x2, bar * x1


rule(
    np.vecdot, wrt="x1, x2", guard=_last_axis, cases=(case(V, W), case(M, V), case(M, M + 1), case(C, C + 1))
)(vecdot)


def matvec(x1, x2, *, out, out_bar):
    """A stack of matrices with a stack of vectors."""
    bar = np.expand_dims(out_bar, -1)
    return bar * np.expand_dims(conj(x2), -2), np.matmul(np.swapaxes(conj(x1), -1, -2), bar)[..., 0]


def vecmat(x1, x2, *, out, out_bar):
    """A stack of conjugated vectors with a stack of matrices."""
    x1_bar = np.matmul(x2, np.expand_dims(conj(out_bar), -1))[..., 0]
    return x1_bar, np.expand_dims(x1, -1) * np.expand_dims(out_bar, -2)


# ---------------------------------------------------------------------------------------------------- tensors


def pairs_of(a, b, axes):
    """The axes that are summed, of a and of b, as tuples of numbers from 0."""
    if isinstance(axes, int):
        n = np.ndim(a)
        return tuple(range(n - axes, n)), tuple(range(axes))
    first = (axes[0],) if isinstance(axes[0], int) else tuple(axes[0])
    second = (axes[1],) if isinstance(axes[1], int) else tuple(axes[1])
    return tuple([k % np.ndim(a) for k in first]), tuple([k % np.ndim(b) for k in second])


def _known_axes(site: Site) -> bool:
    axes = site.option("axes", 2)
    return axes is None or "Scalar" not in repr(axes)


def tensordot(a, b, axes=2, *, out, out_bar):
    """Each cotangent sums over the free axes of the other operand."""
    over_a, over_b = pairs_of(a, b, axes)
    free_a = tuple([k for k in range(np.ndim(a)) if k not in over_a])
    free_b = tuple([k for k in range(np.ndim(b)) if k not in over_b])
    n = len(free_a)
    m = len(free_b)
    summed_b = tuple(sorted(over_b))
    summed_a = tuple(sorted(over_a))
    a_bar = np.tensordot(out_bar, conj(b), (tuple(range(n, n + m)), free_b))
    b_bar = np.tensordot(conj(a), out_bar, (free_a, tuple(range(n))))
    to_a = free_a + tuple([over_a[over_b.index(k)] for k in summed_b])
    to_b = tuple([over_b[over_a.index(k)] for k in summed_a]) + free_b
    return np.moveaxis(a_bar, tuple(range(len(to_a))), to_a), np.moveaxis(
        b_bar, tuple(range(len(to_b))), to_b
    )


rule(
    np.tensordot,
    wrt="a, b",
    guard=_known_axes,
    cases=(
        case(M, M + 1),
        case(T, R.T, 1),
        case(T, M, ([0, 1], [0, 1])),
        case(T, V, (1, 0)),
        case(T, np.moveaxis(T, 0, -1) + 1, ((0, 2), (2, 1))),
        case(V, W, 0),
        case(C, C.T, 1),
        case(M, V, (-1, 0)),
    ),
)(tensordot)


@rule(np.kron, wrt="a, b", cases=(case(V, W), case(M, S), case(M, V), case(C, M)))
def kron(a, b, *, out, out_bar):
    """Blocks of b, one for each element of a."""
    n = max(np.ndim(a), np.ndim(b))
    rows = (1,) * (n - np.ndim(a)) + np.shape(a)
    cols = (1,) * (n - np.ndim(b)) + np.shape(b)
    split = np.reshape(out_bar, tuple([length for pair in zip(rows, cols) for length in pair]))
    left = np.reshape(conj(a), tuple([length for k in rows for length in (k, 1)]))
    right = np.reshape(conj(b), tuple([length for k in cols for length in (1, k)]))
    a_bar = np.sum(split * right, axis=tuple(range(1, 2 * n, 2)))
    b_bar = np.sum(split * left, axis=tuple(range(0, 2 * n, 2)))
    return np.reshape(a_bar, np.shape(a)), np.reshape(b_bar, np.shape(b))


def _three(site: Site) -> bool:
    """Vectors of length three along the last axes."""
    arrays = [array_style(s) for s in site.operands[:2]]
    plain = all(
        site.option(n, 2 + i) in (None, Static(-1)) for i, n in enumerate(("axisa", "axisb", "axisc"))
    )
    threes = all(not isinstance(a, Scalar) and a.axes and a.axes[-1] != 2 for a in arrays)
    return plain and threes and site.option("axis", 5) in (None, Static(-1), Static(None))


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None, *, out, out_bar):
    """a . (b x c) is the same for every rotation of a, b, c."""
    return np.cross(conj(b), out_bar), np.cross(out_bar, conj(a))


rule(np.cross, wrt="a, b", guard=_three, cases=(case(V, W), case(S, W), case(SS, S)))(cross)


def linalg_cross(x1, x2, *, axis=-1, out, out_bar):
    """As np.cross."""
    return np.cross(conj(x2), out_bar), np.cross(out_bar, conj(x1))


def _newer_functions() -> None:
    """The array-API names of `np.linalg`, and what NumPy 2.2 has added."""
    rule(np.linalg.matmul, wrt="x1, x2", guard=_plain, shaped=True, cases=PLAIN[1:2])(plain_matmul)
    rule(np.linalg.matmul, wrt="x1, x2", guard=_stack_with_matrix, shaped=True, cases=STACKS[:1])(
        stack_with_matrix
    )
    rule(np.linalg.matmul, wrt="x1, x2", cases=STACKS[1:2])(matmul)
    rule(np.linalg.vecdot, wrt="x1, x2", guard=_last_axis, cases=(case(M, V),))(vecdot)
    rule(np.linalg.outer, wrt="a, b", cases=(case(V, W),))(outer)
    rule(np.linalg.tensordot, wrt="a, b", guard=_known_axes, cases=(case(M, M + 1), case(T, R.T, axes=1)))(
        tensordot
    )
    rule(np.linalg.cross, wrt="x1, x2", guard=_last_axis, cases=(case(V, W), case(S, W)))(linalg_cross)
    if hasattr(np, "matvec"):
        rule(np.matvec, wrt="x1, x2", cases=(case(M, V), case(SS, M), case(C, V)))(matvec)
        rule(np.vecmat, wrt="x1, x2", cases=(case(V, S), case(M, SS), case(C[0], S)))(vecmat)


_newer_functions()
