"""What the library (NumPy functions, methods, builtins) may ask of the lowering machine.

`lower.py` implements this; `library/` is written against it, so neither imports the other's insides.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn, Protocol

from pullback.frontend.environment import Environment, Path
from pullback.frontend.values import Cell, Value
from pullback.ir.builder import Builder
from pullback.ir.nodes import Op, Operand, Pack
from pullback.styles.style import Style


class Context(Protocol):
    """The lowering machine, as the library sees it."""

    builder: Builder
    environment: Environment | None  # None where the text of a rule is lowered
    temps: list[Value]  # what must stay at hand until the statement ends
    safe_arithmetic: bool  # rule text: `/` and `**` on Python numbers must not raise (np.divide, np.power)

    # values and operands
    def operand(self, value: Value) -> Operand:
        """The IR operand of a value as it is now: arrays are read (loaded through their path), containers packed."""

    def style(self, value: Value) -> Style:
        """The style of a value (of the array that a reference reads)."""

    def wrap(self, operand: Operand, shares: Sequence[Value] = ()) -> Value:
        """A Value for a fresh IR result: Num for scalars, a new storage for arrays, TupleValue for tuples.

        `shares` names the values whose storage the result may share ("maybe view"): the result is then a FrozenRef.
        """

    def call(
        self, op: Op, args: Sequence[Value], kwargs: Mapping[str, Value] | None = None, hint: str = "t"
    ) -> Value:
        """Emit `op(*args, **kwargs)`, wrap the result as the op's alias class says (a known view of an ArrayRef
        becomes an ArrayRef with a longer path), fold it at compile time if all operands are Known and the op is pure.
        """

    # storage
    def new_array(self, operand: Operand) -> Value:
        """A reference to a new storage."""

    def new_cell(self, cell: Cell) -> Value:
        """A reference to a new container."""

    def cell(self, value: Value) -> Cell:
        """The cell that a reference points to."""

    def set_cell(self, value: Value, cell: Cell) -> None:
        """Replace the cell that a reference points to (a write; refused when it is frozen)."""

    def write(self, target: Value, steps: Sequence[Pack], value: Value) -> None:
        """`target[steps] = value` on an array reference: a store into its storage (cast as NumPy does)."""

    def view(self, array: Value, step: Pack) -> Value:
        """The array reference one view step further (basic index, or a "view" Pack); no IR is emitted for ArrayRefs."""

    # evaluation
    def call_value(self, fn: Value, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        """Call anything callable: library function, user function, bound method, class."""

    def attribute(self, value: Value, name: str) -> Value:
        """`value.name`, as the source would read it (objects, modules and library values alike)."""

    def store_attribute(self, owner: Value, name: str, value: Value) -> None:
        """`owner.name = value`."""

    def asked(self, value: Value, name: str) -> Value:
        """The method of an object's class, which an operation calls."""

    def special(self, value: Value, name: str) -> Value | None:
        """The method of a user's class that an operation calls; None where the class has none."""

    def watch(self, path: Path, obj: Any) -> None:
        """Remember what a path leads to."""

    def check_constant(self, values: Iterable[Value]) -> None:
        """Refuse objects whose state may change where they would be used up at compile time."""

    def subscript(self, owner: Value, index: Value) -> Value:
        """`owner[index]`, as the source would read it."""

    def known(self, value: Value) -> Any:
        """The compile-time object, asking for a parameter to be made static if it is an integer parameter."""

    def settle(self, value: Value) -> None:
        """As `known`, but an integer that nothing could make static stays one of run time."""

    def is_known(self, value: Value) -> bool:
        """Whether the value is a compile-time object (without asking for it)."""

    def iterate(self, value: Value) -> list[Value] | None:
        """The items of a value whose length is known at compile time; None where it is not."""

    def truth(self, value: Value) -> Value:
        """Python's bool() of a value: Known or Num."""

    def refuse_unknown(self, value: Value, reason: str, hint: str, node: ast.AST | None = None) -> NoReturn:
        """Refuse what needs to know more of a value; names the function without a rule that it comes from."""

    def refuse(self, reason: str, hint: str = "", node: ast.AST | None = None) -> NoReturn:
        """Raise UnsupportedError at the current place."""
