"""The whole abstract machine."""

from __future__ import annotations

from pullback.frontend.comprehensions import Comprehensions
from pullback.ir.nodes import Operand
from pullback.ir.walk import variables


class Machine(Comprehensions):
    """Interprets user code abstractly and emits IR."""

    def claim(self, tree: Operand) -> None:
        """The leaves of a parameter keep their names."""
        self.claimed.update(variables(tree))
