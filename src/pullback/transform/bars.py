"""The cotangents known at a point of the reverse sweep: a table that nests as blocks do."""

from __future__ import annotations

from pullback.ir.nodes import Operand, Var


class Bars:
    """Cotangents by value.  An inner table sees those of its parent and keeps its own changes apart."""

    def __init__(self, parent: Bars | None = None) -> None:
        self._parent = parent
        self._own: dict[Var, Operand | None] = {}

    def get(self, var: Var) -> Operand | None:
        """The cotangent of a value so far; None where nothing has contributed."""
        table: Bars | None = self
        while table is not None:
            if var in table._own:
                return table._own[var]
            table = table._parent
        return None

    def set(self, var: Var, bar: Operand | None) -> None:
        """Replace the cotangent of a value."""
        self._own[var] = bar

    def pop(self, var: Var) -> Operand | None:
        """Take the cotangent of a value whose definition is being reversed."""
        bar = self.get(var)
        self._own.pop(var, None)
        if self._parent is not None and self._parent.get(var) is not None:
            self._own[var] = None
        return bar

    def changed(self) -> dict[Var, Operand]:
        """The cotangents set in this table, in order."""
        return {var: bar for var, bar in self._own.items() if bar is not None}
