"""The whole abstract machine."""

from __future__ import annotations

from pullback.frontend.comprehensions import Comprehensions


class Machine(Comprehensions):
    """Interprets user code abstractly and emits IR."""
