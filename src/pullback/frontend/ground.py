"""The ground of the abstract machine: its state, the IR that it emits, the places of errors, what syntax adds.

What comes in are `Value`s (frontend/values.py), what goes out is IR in `builder`.
"""

from __future__ import annotations

import ast
import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from pullback.errors import Loc, UnsupportedError
from pullback.frontend.bodies import Frame
from pullback.frontend.environment import Environment
from pullback.frontend.values import (
    Cell,
    State,
    Value,
)
from pullback.ir.builder import Builder
from pullback.ir.nodes import Operand, Pack, Stmt, Var


class Ground(ABC):
    """State, builder and everything that needs no syntax."""

    def __init__(self, environment: Environment | None, *, safe: bool = False) -> None:
        self.builder = Builder()
        self.safe_arithmetic = safe
        self.environment = environment
        self.state = State()
        self.frame: Frame | None = None
        self.frames: list[Frame] = []
        self.temps: list[Value] = []
        self.base = 0  # temps below this index belong to expressions around the current statement
        self.in_statement_write = False
        self.written: dict[str, None] = {}
        self.fixed: set[str] = set()  # parameters whose storage must not be written: implicit ones
        self.sources: dict[
            Var, frozenset[Any]
        ] = {}  # integers made of a loop index (token) or a parameter (name)
        self.unrollable: list[Any] = []
        self.outside_cells: dict[int, Cell] = {}  # of implicit parameters: never written, so in no state
        self.parameter_of: dict[int, str] = {}  # the storages of parameters
        self.items_of_lists: set[int] = (
            set()
        )  # lists read from lists of run-time length, at a position not known
        self.risky: set[int] = set()  # storages that a frozen reference may share
        self._loads: list[dict[Any, tuple[Var, Operand, tuple[Pack, ...]]]] = [{}]
        self._ids = itertools.count(1)

    # ------------------------------------------------------------------------------------------------ syntax

    @abstractmethod
    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression."""

    @abstractmethod
    def execute(self, stmts: Sequence[ast.stmt]) -> None:
        """Lower statements in order."""

    @abstractmethod
    def call_value(self, fn: Value, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        """Call anything callable."""

    @abstractmethod
    def attribute(self, owner: Value, name: str) -> Value:
        """`owner.name`."""

    @abstractmethod
    def store_attribute(self, owner: Value, name: str, value: Value) -> None:
        """`owner.name = value`."""

    @abstractmethod
    def asked(self, value: Value, name: str) -> Value:
        """The method that Python takes from the class, whatever the instance has under its name."""

    @abstractmethod
    def special(self, value: Value, name: str) -> Value | None:
        """The method of a user's class that an operation calls."""

    @abstractmethod
    def check_constant(self, values: Iterable[Value]) -> None:
        """Refuse objects whose state may change where they would be used up at compile time."""

    @abstractmethod
    def subscript(self, owner: Value, index: Value) -> Value:
        """`owner[index]`."""

    # ------------------------------------------------------------------------------------------------ blocks

    @contextmanager
    def block(self) -> Iterator[list[Stmt]]:
        """Emit into a nested block."""
        self._loads.append({})
        try:
            with self.builder.block() as stmts:
                yield stmts
        finally:
            self._loads.pop()

    @contextmanager
    def inside(self, stmts: list[Stmt]) -> Iterator[None]:
        """Emit at the end of a block that was left."""
        with self.block() as more:
            yield
        stmts += more

    # ------------------------------------------------------------------------------------------------ places

    def place(self, node: ast.AST | None = None) -> Loc:
        """The place of a node in the function being lowered."""
        if node is None or self.frame is None or self.environment is None or not hasattr(node, "lineno"):
            return self.builder.loc
        if self.frame.body.is_prelude:
            return self.builder.loc
        return self.frame.body.loc(node)

    def refuse(self, reason: str, hint: str = "", node: ast.AST | None = None) -> NoReturn:
        """Raise UnsupportedError at the current place."""
        raise UnsupportedError(reason, loc=self.place(node), hint=hint)
