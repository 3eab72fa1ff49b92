"""`np.cov` and `np.corrcoef` of real data, by their plain meaning."""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.frontend.context import Context
from pullback.frontend.library import facts, numpy_calls, prelude
from pullback.frontend.library.calls import NONE, Handler, given, inline
from pullback.frontend.values import Known, Value


def _observed(ctx: Context, x: Value, y: Value, rowvar: Value, what: str) -> tuple[Value, Value]:
    """The data as arrays, variables in rows."""
    made = [numpy_calls.call(ctx, np.asarray, [v], {}) if given(v) else v for v in (x, y)]
    ranks = [facts.rank(ctx, v) for v in made if given(v)]
    complex_ = any(getattr(facts.array_style(ctx, v), "kind", "c") == "c" for v in made if given(v))
    rows = bool(ctx.known(rowvar))
    if complex_ or any(r not in (1, 2) for r in ranks) or (not rows and given(y)):
        ctx.refuse(
            f"`{what}` of data that are complex, of unknown rank, or of two arguments with rowvar=False",
            "pass one real matrix, or two vectors",
        )
    if not rows and ranks[0] == 2:
        made[0] = numpy_calls.call(ctx, np.transpose, [made[0]], {})
    return made[0], made[1]


def cov(
    ctx: Context,
    m: Value,
    y: Value = NONE,
    rowvar: Value = Known(True),
    bias: Value = Known(False),
    ddof: Value = NONE,
) -> Value:
    """`np.cov(m, y)` without weights."""
    data, more = _observed(ctx, m, y, rowvar, "np.cov")
    less = ddof if given(ddof) else Known(0 if ctx.known(bias) else 1)
    return inline(ctx, prelude.covariance, data, more, less)


def corrcoef(ctx: Context, x: Value, y: Value = NONE, rowvar: Value = Known(True)) -> Value:
    """`np.corrcoef(x, y)`."""
    data, more = _observed(ctx, x, y, rowvar, "np.corrcoef")
    if not given(more) and facts.rank(ctx, data) == 1:
        ctx.refuse("`np.corrcoef` of one variable", "it is 1")
    return inline(ctx, prelude.correlation, data, more)


FUNCTIONS: dict[Any, Handler] = {np.cov: cov, np.corrcoef: corrcoef}
