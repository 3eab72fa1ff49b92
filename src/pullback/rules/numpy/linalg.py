"""Dense linear algebra.

Formulas after Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation".
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs
# Rule functions are text in the language that we compile: their operands are of any style.

from __future__ import annotations

import numpy as np

from pullback.rules.kinds import case
from pullback.rules.lookup import Site
from pullback.rules.numpy.elementwise import conj
from pullback.rules.numpy.products import SS, S
from pullback.rules.numpy.reductions import M, V
from pullback.rules.registry import rule
from pullback.styles.broadcast import as_array
from pullback.styles.style import Static

SYM = S + S.T
SYMS = np.stack([SYM, SYM @ SYM / 8.0])
TALL = np.array([[1.0, 0.5], [0.2, 2.0], [-1.0, 0.7]])
POSITIVE = S @ S.T + np.eye(3)


def adjoint(a):
    """The conjugate transpose of the last two axes."""
    if np.ndim(a) == 2:
        return conj(a).T
    return np.swapaxes(conj(a), -1, -2)


@rule(np.linalg.inv, cases=(case(S), case(SS)))
def inv(a, *, out, out_bar):
    """-out^H bar out^H."""
    h = adjoint(out)
    return -(h @ out_bar @ h)


@rule(np.linalg.solve, wrt="a, b", cases=(case(S, V), case(S, M.T), case(SS, M.T), case(SS, SS)))
def solve(a, b, *, out, out_bar):
    """b_bar = a^-H bar, a_bar = -b_bar out^H."""
    if np.ndim(b) == 1:
        b_bar = np.linalg.solve(adjoint(a), np.expand_dims(out_bar, -1))
        return -(b_bar * np.expand_dims(conj(out), -2)), b_bar[..., 0]
    b_bar = np.linalg.solve(adjoint(a), out_bar)
    return -(b_bar @ adjoint(out)), b_bar


def cofactors(a):
    """The derivative of the determinant, singular or not, from a = u diag(s) vh.

    It is det(u) det(vh) u diag(products of the other s) vh.
    """
    u, s, vh = np.linalg.svd(a)
    n = np.shape(a)[-1]
    square = np.where(np.eye(n, dtype=bool), 1, np.expand_dims(s, -2))
    rest = np.prod(square, axis=-1) * np.expand_dims(np.linalg.det(u) * np.linalg.det(vh), -1)
    return (u * np.expand_dims(rest, -2)) @ vh


def _real_operand(site: Site) -> bool:
    return as_array(site.operands[0]).kind != "c"


@rule(
    np.linalg.det,
    guard=_real_operand,
    cases=(case(S), case(SS), case(np.array([[1.0, 2.0], [2.0, 4.0]])), case(np.zeros((2, 2)))),
)
def det(a, *, out, out_bar):
    """The cofactors."""
    return unit_matrix_axes(out_bar) * cofactors(a)


def unit_matrix_axes(bar):
    """Two axes of length one behind."""
    return np.expand_dims(bar, (-2, -1))


@rule(np.linalg.slogdet, guard=_real_operand, cases=(case(S), case(SS), case(-S)))
def slogdet(a, *, out, out_bar):
    """a^-H for the logarithm; the sign of a real matrix is constant."""
    if out_bar[1] is None:
        return None
    return unit_matrix_axes(out_bar[1]) * adjoint(np.linalg.inv(a))


def read_triangle(bar, upper):
    """The cotangent of a matrix of which one triangle is read, for both halves."""
    both = bar + adjoint(bar)
    return adjoint(lower_half(both)) if upper else lower_half(both)


def lower_half(a):
    """The lower triangle, the diagonal halved."""
    n = np.shape(a)[-1]
    return np.tril(a) - a * (0.5 * np.eye(n, dtype=a.dtype))


@rule(
    np.linalg.cholesky,
    cases=(case(POSITIVE), case(np.stack([POSITIVE, 2 * POSITIVE])), case(POSITIVE, upper=True)),
)
def cholesky(a, *, upper=False, out, out_bar):
    """Only the lower triangle of a is read, upper or not (Murray 2016, arXiv 1602.07527)."""
    low = adjoint(out) if upper else out
    bar = adjoint(out_bar) if upper else out_bar
    p = lower_half(adjoint(low) @ np.tril(bar))
    inner = np.linalg.solve(adjoint(low), adjoint(np.linalg.solve(adjoint(low), adjoint(p))))
    return read_triangle(inner, upper)


def _full_rank_pinv(site: Site) -> bool:
    return not site.kwargs and len(site.operands) == 1


@rule(
    np.linalg.pinv,
    guard=_full_rank_pinv,
    cases=(case(TALL), case(TALL.T), case(S), case(np.stack([TALL, TALL + 1.5]))),
)
def pinv(a, *, out, out_bar):
    """Three terms (Golub and Pereyra 1973), for matrices of locally constant rank."""
    p, ph, g = out, adjoint(out), out_bar
    gh = adjoint(g)
    along = -(ph @ g @ ph)
    rows = ph @ p @ gh @ (np.eye(np.shape(a)[-1], dtype=a.dtype) - p @ a)
    cols = (np.eye(np.shape(a)[-2], dtype=a.dtype) - a @ p) @ gh @ p @ ph
    return along + cols + rows


# ---------------------------------------------------------------------------------------------- eigenproblems


def refuse_phase(turned, v_bar):
    """Complex eigenvectors may have any phase: what depends on it has no derivative.

    Turning vector i by a small angle changes the function by the imaginary part of entry (i, i) of v^H v_bar; what
    rounding leaves there is small beside v_bar.
    """
    change = np.max(np.abs(np.imag(np.diagonal(turned, axis1=-2, axis2=-1))), initial=0.0)
    if change > 1e-4 * np.max(np.abs(v_bar), initial=0.0):
        raise ValueError(
            "np.linalg.eigh: the function depends on the phase of complex eigenvectors, which is arbitrary"
        )


@rule(np.linalg.eigh, cases=(case(SYM), case(SYMS), case(SYM, "U")))
def eigh(a, UPLO="L", *, out, out_bar):
    """v (diag(w_bar) + f * (v^H v_bar)) v^H, f_ij = 1 / (w_j - w_i).

    Where eigenvalues are equal f is 0: a function of a and not of the choice of its eigenvectors has no
    such term.
    """
    w, v = out
    w_bar, v_bar = out_bar
    h = adjoint(v)
    if v_bar is None:
        return read_triangle((v * np.expand_dims(w_bar, -2)) @ h, UPLO == "U")
    gaps = np.expand_dims(w, -2) - np.expand_dims(w, -1)
    same = gaps == 0
    f = np.where(same, 0, 1 / np.where(same, 1, gaps))
    turned = h @ v_bar
    if np.iscomplexobj(turned):
        refuse_phase(turned, v_bar)
    inner = f * turned
    if w_bar is None:
        return read_triangle(v @ inner @ h, UPLO == "U")
    return read_triangle((v * np.expand_dims(w_bar, -2)) @ h + v @ inner @ h, UPLO == "U")


@rule(np.linalg.eigvalsh, cases=(case(SYM), case(SYMS)))
def eigvalsh(a, UPLO="L", *, out, out_bar):
    """v diag(bar) v^H."""
    v = np.linalg.eigh(a, UPLO)[1]
    return read_triangle((v * np.expand_dims(out_bar, -2)) @ adjoint(v), UPLO == "U")


def refuse_null_space(a, full_matrices):
    """The singular vectors of a null space may be any basis of it: they have no derivative."""
    if full_matrices and np.shape(a)[-1] != np.shape(a)[-2]:
        raise NotImplementedError("np.linalg.svd of a matrix that is not square: pass full_matrices=False")


@rule(
    np.linalg.svd,
    guard=_real_operand,
    cases=(
        case(TALL, full_matrices=False),
        case(TALL.T, full_matrices=False),
        case(S),
        case(TALL, compute_uv=False),
        case(SS, full_matrices=False),
    ),
)
def svd(a, full_matrices=True, compute_uv=True, *, out, out_bar):
    """Townsend 2016, "Differentiating the singular value decomposition"."""
    if not compute_uv:
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        return (u * np.expand_dims(out_bar, -2)) @ vh
    u, s, vh = out
    u_bar, s_bar, vh_bar = out_bar
    k = np.shape(s)[-1]
    total = np.zeros(np.shape(a), dtype=a.dtype)
    if s_bar is not None:
        total = total + (u[..., :k] * np.expand_dims(s_bar, -2)) @ vh[..., :k, :]
    if u_bar is None and vh_bar is None:
        return total
    refuse_null_space(a, full_matrices)
    rows = np.expand_dims(s, -1)
    cols = np.expand_dims(s, -2)
    gaps = cols * cols - rows * rows
    same = gaps == 0
    f = np.where(same, 0, 1 / np.where(same, 1, gaps))
    if u_bar is not None:
        uh = adjoint(u)
        turn = f * (uh @ u_bar)
        rest = u_bar - u @ (uh @ u_bar)
        total = total + u @ ((turn + adjoint(turn)) * cols) @ vh + (rest / cols) @ vh
    if vh_bar is not None:
        v, v_bar = adjoint(vh), adjoint(vh_bar)
        turn = f * (vh @ v_bar)
        rest = v_bar - v @ (vh @ v_bar)
        total = total + u @ (rows * (turn + adjoint(turn))) @ vh + u @ adjoint(rest / cols)
    return total


def svdvals(x, *, out, out_bar):
    """u diag(bar) vh."""
    u, _, vh = np.linalg.svd(x, full_matrices=False)
    return (u * np.expand_dims(out_bar, -2)) @ vh


def _reduced(site: Site) -> bool:
    return site.option("mode", 1) in (None, Static("reduced"))


@rule(np.linalg.qr, guard=_reduced, cases=(case(TALL), case(S), case(SS)))
def qr(a, mode="reduced", *, out, out_bar):
    """Walter and Lehmann 2018, arXiv 1009.6112: (q_bar + q copyltu(m)) r^-H."""
    if np.shape(a)[-1] > np.shape(a)[-2]:
        raise NotImplementedError("np.linalg.qr of a matrix with more columns than rows")
    q, r = out
    q_bar, r_bar = out_bar
    m = np.zeros(np.shape(r), dtype=r.dtype)
    if r_bar is not None:
        m = m + r @ adjoint(r_bar)
    if q_bar is not None:
        m = m - adjoint(q_bar) @ q
    if np.iscomplexobj(m):  # the diagonal of r is real
        half = np.tril(m, -1)
        mirrored = half + adjoint(half) + np.real(m) * np.eye(np.shape(m)[-1])
    else:
        mirrored = np.tril(m) + adjoint(np.tril(m, -1))
    total = q @ mirrored
    if q_bar is not None:
        total = total + q_bar
    return adjoint(np.linalg.solve(r, adjoint(total)))


def _known_power(site: Site) -> bool:
    return isinstance(site.option("n", 1), Static)


@rule(
    np.linalg.matrix_power,
    guard=_known_power,
    cases=(case(S, 3), case(S, 1), case(S, 0), case(S, -2), case(SS, 2)),
)
def matrix_power(a, n, *, out, out_bar):
    """The sum over the places of each factor."""
    if n == 0:
        return np.zeros_like(a)
    if n < 0:
        inverse = np.linalg.inv(a)
        h = adjoint(inverse)
        return -(h @ power_bar(inverse, -n, out_bar) @ h)
    return power_bar(a, n, out_bar)


def power_bar(a, n, bar):
    """sum over i + j = n - 1 of h^i bar h^j, with h the adjoint of a."""
    h = adjoint(a)
    total = bar
    right = bar
    for _ in range(n - 1):
        right = right @ h
        total = h @ total + right
    return total


if hasattr(np.linalg, "svdvals"):
    rule(np.linalg.svdvals, guard=_real_operand, cases=(case(TALL), case(SS)))(svdvals)
