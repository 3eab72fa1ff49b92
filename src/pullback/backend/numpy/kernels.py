"""Kernels in NumPy: functions of the module, which the runtime's `in_blocks` calls with parts of large arrays.

`fuse` finds the groups; what is said of the results here tells how the parts' results become the whole ones.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

import numpy as np

from pullback.backend.numpy.constants import Globals, call, name
from pullback.ir.kernel import Kernel, kernel_of
from pullback.ir.nodes import Call, Const, Function, Operand, Var
from pullback.ir.walk import statements

ROWS = "rows"  # a result whose first axis is that of the loop
_COMBINED: tuple[tuple[Any, str], ...] = (
    *((np.sum, "sum"), (np.mean, "mean"), (np.prod, "prod"), (np.any, "any"), (np.all, "all")),
    *((np.max, "max"), (np.min, "min"), (np.amax, "max"), (np.amin, "min")),
)


def kernels_in(functions: Iterable[Function]) -> list[Kernel]:
    """The kernels that functions call, each once."""
    calls = [s for f in functions for s in statements(f.body) if isinstance(s, Call)]
    return list(dict.fromkeys(k for k in map(kernel_of, calls) if k is not None))


def kernel_call(kernel: Kernel, module: Globals, args: list[ast.expr]) -> ast.expr:
    """The call of a kernel: `in_blocks(fused_x_bar, ("sum", "rows"), x, y)`."""
    made = {t: s for s in kernel.function.body.stmts if isinstance(s, Call) for t in s.targets}
    kinds = tuple(_kind(made[r], len(kernel.space)) for r in kernel.function.results if isinstance(r, Var))
    return call(module.helper("in_blocks"), name(kernel.name), module.constant(kinds), *args)


def _kind(made: Call, rank: int) -> str:
    """How the parts of a result are put together."""
    combined = next((text for fn, text in _COMBINED if fn is made.op.fn), None)
    if combined is None:
        return ROWS
    axis: Operand | None = made.args[1] if len(made.args) > 1 else dict(made.kwargs).get("axis")
    value = axis.value if isinstance(axis, Const) else None
    axes = range(rank) if value is None else value if isinstance(value, tuple) else (value,)
    return combined if any(a % rank == 0 for a in axes) else ROWS
