"""Fusion: elementwise work outlined into kernels (ir/kernel.py), after bufferisation.

    %t = %x - 1                                 %x_bar, %value = fused_x_bar(%x)
    %value = np.sum(np.sin(%t))         =>
    %x_bar = np.cos(%t)                         in the kernel: the same statements, one loop

A group is a set of calls of one block with one iteration space.  It is convex (nothing outside it stands between two of
its members), and it changes a buffer only at places that its other members do not read, or read at the same place
of the loop.  What a member makes and only members read is never stored.
"""

from __future__ import annotations

from pullback.passes.fuse.blocks import fuse
from pullback.passes.fuse.listing import Fused, kernels_of

__all__ = ["Fused", "fuse", "kernels_of"]
