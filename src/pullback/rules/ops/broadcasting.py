"""The operation of `pullback.broadcast(f, *operands)` for a scalar function that has rules of its own."""

from __future__ import annotations

from pullback import markers
from pullback.rules.registry import declare, op_of
from pullback.styles.style import Anything, Static, Style


def _style(fn: Style, *operands: Style) -> Style | tuple[Style, ...]:
    """The style of the function's own operation on these operands."""
    op = op_of(fn.value) if isinstance(fn, Static) else None
    if op is None:
        return Anything()
    found: Style | tuple[Style, ...] = op.style(*operands)
    return found


declare(markers.broadcast, style=_style, path="")
