"""The generic broadcast rule of H2: it serves every elementwise function that nothing earlier has served."""

from __future__ import annotations

from pullback.rules.registry import generic

generic("broadcast")
