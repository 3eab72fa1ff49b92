"""The versions that an array goes through: the writes that lead from one to the next.

A write makes a new version of its operand; a loop's slot whose value after an iteration comes from the value before it
by writes alone is one array throughout, and so is the result of an `if` that does no more than write in its branches.
A `Frame` is such a slot or branch: the steps that lead from the version at its head to the one at its end.
"""

from __future__ import annotations

from dataclasses import dataclass

from pullback.ir.nodes import Block, Call, For, Function, If, Operand, Stmt, Var, While
from pullback.styles.style import Array


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """From one version of an array to the next: a write, or a branch or loop with its frames."""

    stmt: Stmt
    before: Var
    after: Var
    frames: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The versions of one array in a loop's body or in a branch, and what it is before and after the loop or `if`."""

    stmt: If | For | While
    steps: tuple[Step, ...]
    before: Var
    after: Var


@dataclass(frozen=True, slots=True)
class Place:
    """Where a version stands: before the step number `position` of a frame."""

    frame: Frame
    position: int


class Versions:
    """The versions of all arrays of a function that are written in loops or branches."""

    def __init__(self, function: Function) -> None:
        self.places: dict[Var, Place] = {}
        self._steps: dict[Var, Step] = {}  # by the version after
        self._first: dict[Var, Var] = {}
        self._block(function.body)

    def first(self, var: Var) -> Var:
        """The value that an array's first version is."""
        return self._first.get(var, var)

    def _block(self, block: Block) -> None:
        for stmt in block.stmts:
            match stmt:
                case Call():
                    base = stmt.args[0] if stmt.op.writes else None
                    if isinstance(base, Var) and isinstance(base.style, Array):
                        self._step(Step(stmt, base, stmt.targets[0]))
                case If():
                    self._if(stmt)
                case For() | While():
                    self._loop(stmt)

    def _step(self, step: Step) -> None:
        self._steps[step.after] = step
        self._first[step.after] = self.first(step.before)

    def _loop(self, stmt: For | While) -> None:
        if isinstance(stmt, While):
            self._block(stmt.cond)
        self._block(stmt.body)
        for param, init, end, after in zip(stmt.params, stmt.inits, stmt.yields, stmt.results, strict=True):
            steps = self._between(param, end)
            if steps is not None and isinstance(init, Var):
                frame = Frame(stmt, steps, init, after)
                self._place(param, frame)
                self._step(Step(stmt, init, after, (frame,)))

    def _if(self, stmt: If) -> None:
        self._block(stmt.then)
        self._block(stmt.orelse)
        for a, b, after in zip(stmt.then_yields, stmt.else_yields, stmt.results, strict=True):
            before = self._common(a, b)
            if before is None:
                continue
            sides = [Frame(stmt, self._between(before, end) or (), before, after) for end in (a, b)]
            for frame in sides:
                for i, step in enumerate(frame.steps, start=1):
                    self.places[step.after] = Place(frame, i)
            self._step(Step(stmt, before, after, tuple(sides)))

    def _place(self, head: Var, frame: Frame) -> None:
        for i, var in enumerate((head, *(step.after for step in frame.steps))):
            self.places[var] = Place(frame, i)

    def _between(self, before: Operand, after: Operand) -> tuple[Step, ...] | None:
        """The steps from one version to another; None where the one does not come from the other by writes."""
        steps: list[Step] = []
        while after is not before:
            step = self._steps.get(after) if isinstance(after, Var) else None
            if step is None:
                return None
            steps.append(step)
            after = step.before
        return tuple(reversed(steps)) if isinstance(before, Var) else None

    def _common(self, a: Operand, b: Operand) -> Var | None:
        """The last version that both come from."""
        seen: set[Operand] = set()
        for start in (a, b):
            var: Operand | None = start
            while isinstance(var, Var):
                if var in seen:
                    return var
                if start is a:
                    seen.add(var)
                step = self._steps.get(var)
                var = None if step is None else step.before
        return None
