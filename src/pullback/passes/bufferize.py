"""In place again: which writes happen in the buffer of what they change.

In: a pure function.  Out: the same function in which every `Op.writes` call that is left may be done in
operand 0's buffer, with explicit copies where that was not so, and the list of those copies.  A parameter's
buffer is never written; cotangents that are returned own their memory and share it with nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from pullback.ir.nodes import Function
from pullback.passes.buffers.decide import decide
from pullback.passes.buffers.rewrite import Copy, Rewriter
from pullback.passes.known import drop_known

__all__ = ["Buffered", "Copy", "bufferize"]


@dataclass(frozen=True, slots=True)
class Buffered:
    """A function whose writes are in place, and the copies that took."""

    function: Function
    copies: tuple[Copy, ...]


def bufferize(function: Function, *, in_place: bool = True, copy_residuals: bool = False) -> Buffered:
    """Decide every write; `in_place=False`: each copies its operand first.

    The last result of a joint function or a pullback (the cotangents) owns its memory; so do the residuals,
    the last result of a primal, under `copy_residuals`.
    """
    owned = _owned_result(function, copy_residuals)
    rewriter = Rewriter(decide(function, in_place=in_place, owned=owned))
    done = drop_known(rewriter.function(function, owned))
    return Buffered(done, tuple(rewriter.copies))


def _owned_result(function: Function, copy_residuals: bool) -> int | None:
    last = len(function.results) - 1
    if function.kind in ("joint", "pullback"):
        return last
    return last if copy_residuals and last > 0 else None
