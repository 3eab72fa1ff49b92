"""Functions compiled apart: recursion whose depth only the run time knows, large functions called more than once.

Such a function is lowered once for each kind of its arguments, by a machine of its own, to a Function whose parameters
are the values in its arguments (then the implicit ones that it needs) and whose results are the values in what it
returns.  A recursive function is lowered in rounds: its calls of itself assume what the round before has found, until
that stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from pullback.errors import UnsupportedError
from pullback.frontend.arguments import NARROW, NUMBERS, WIDE, Params, Taken, unique
from pullback.frontend.bodies import Body
from pullback.frontend.calls import Calls, UserFunction
from pullback.frontend.environment import Path
from pullback.frontend.machine import Unreachable
from pullback.frontend.program import Argument, CallApart, Program, Shape, Summary, kept, settled
from pullback.frontend.values import (
    ArrayCell,
    ArrayRef,
    FrozenRef,
    Known,
    Num,
    TupleValue,
    Value,
)
from pullback.ir.callee import Callee, operation
from pullback.ir.nodes import Call, Const, Function, Operand, Pack, Param, Var
from pullback.ir.walk import statements, variables
from pullback.styles.join import join
from pullback.styles.style import (
    Anything,
    Static,
)

MAX_ROUNDS = 6
MAX_OPEN = 100  # functions being lowered for one another
MAX_UNFOLDED = 16  # calls of a recursive function that are inlined before it is compiled apart
LARGE = 20  # statements from which on a function is inlined only where it is called once


class Apart(Calls):
    """Calls functions that are compiled apart."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.program = Program()

    def call_apart(
        self, callable_: UserFunction, body: Body, names: Mapping[str, Value], kinds: Any
    ) -> Value | None:
        """Call a function that is compiled apart; None where the call is to be inlined."""
        program, who = self.program, callable_.who
        if body.is_prelude or self.environment is None:
            return None
        recursive = self._recurs(who)
        if who not in program.apart and (recursive or (program.inlined[who] > 0 and body.size > LARGE)):
            program.apart[who] = NUMBERS if recursive else NARROW
            if self.frames[0].who is not who:
                raise CallApart
        if who in program.apart and who not in program.never:
            found = self._try(callable_, body, names)
            if found is not None:
                return found
        self._ask_for_depth(who, kinds)
        program.inlined[who] += 1
        return None

    def _try(self, callable_: UserFunction, body: Body, names: Mapping[str, Value]) -> Value | None:
        """Call a function; where it cannot be compiled for any number, for the numbers given; else not at all."""
        program, who = self.program, callable_.who
        while who not in program.never:
            try:
                return self._call(callable_, body, names)
            except UnsupportedError as error:
                if any(key[0] is who for key in program.open):
                    raise  # the call that began it decides
                if program.apart[who] > NARROW:
                    program.apart[who] = NARROW
                else:
                    program.never[who] = error
        return None

    def _recurs(self, who: Any) -> bool:
        """Whether a function is being inlined in itself, and run-time tests or too many calls decide how often."""
        outer = next((frame for frame in self.frames if frame.who is who), None)
        if outer is None:
            return False
        return len(self.open_tests) > outer.tests or self.program.inlined[who] >= MAX_UNFOLDED

    def _ask_for_depth(self, who: Any, kinds: Any) -> None:
        """Inlined recursion needs what its tests depend on at compile time."""
        frame = next((f for f in self.frames if f.who is who and f.kinds == kinds), None)
        tests = [] if frame is None else self.open_tests[frame.tests :]
        for test in tests:
            self._ask(self.sources.get(test, frozenset()) if isinstance(test, Var) else frozenset())
        if tests:
            raise self.program.never[who]

    # ------------------------------------------------------------------------------------------------- the call

    def _call(self, callable_: UserFunction, body: Body, names: Mapping[str, Value]) -> Value:
        who = callable_.who
        width = self.program.apart[who]
        taken = Taken(self, body, width)
        key = (who, *[taken.take(v) for v in (*callable_.closure, *names.values())])
        if width == NUMBERS and any(other[0] is who and other != key for other in self.program.open):
            self.program.apart[who] = WIDE
            raise CallApart
        summary = self.program.made.get(key) or self._assumption(key)
        if summary is None:
            summary = self._lower(key, callable_, body, names, width)
        if summary.styles is None:
            self._no_value_yet(body)
        operands = [*taken.leaves, *self._implicit_leaves(summary.paths)]
        stored = [taken.stored(k) for k in summary.stores]
        styles = [*(kept(s) for s in summary.styles), *(self.style(v) for v in stored)]
        op = operation(
            summary.callee,
            styles,
            len(operands),
            fresh=summary.fresh and not stored,
            effect=summary.effect,
        )
        targets = iter(self.builder.call_many(op, tuple(operands), {}, self._hints(body, summary, taken)))
        leaves = [next(targets) for _ in summary.styles]
        for value, new in zip(stored, targets, strict=True):
            self.replace_array(value, new)
        shares = [] if summary.fresh else [*taken.values]
        return self._rebuilt(summary.shape, iter(leaves), taken.values, shares)

    def _hints(self, body: Body, summary: Summary, taken: Taken) -> tuple[str, ...]:
        """Names for the results: the function's for its value, the arrays' for what is written."""
        name, count = _identifier(body.name), len(summary.styles or ())
        stored = [taken.leaves[k] for k in summary.stores]
        return (
            *(name if count == 1 else f"{name}_{i}" for i in range(count)),
            *(x.hint if isinstance(x, Var) else name for x in stored),
        )

    def _no_value_yet(self, body: Body) -> NoReturn:
        if any(other.styles is None for other in self.program.open.values()):
            raise Unreachable  # the base cases come first
        self.refuse(f"`{body.name}` never returns a value", "let one of its paths end without calling itself")

    def _assumption(self, key: Any) -> Summary | None:
        found = self.program.open.get(key)
        if found is not None:
            self.program.assumed.add(key)
        return found

    def _implicit_leaves(self, paths: Iterable[Path]) -> Iterator[Operand]:
        assert self.environment is not None
        for path in paths:
            self.outside(path)
            name, _ = self.environment.implicit(path)
            yield from variables(self.implicits[name][0])

    def _rebuilt(
        self, shape: Shape, targets: Iterator[Var], arguments: Sequence[Value], shares: list[Value]
    ) -> Value:
        """The value of a call.  What may share with an argument may share with another array of the value too."""
        if shape is None:
            value = self.wrap(next(targets), shares)
            if shares and isinstance(value, FrozenRef):
                shares.append(value)
            return value
        if isinstance(shape, Static):
            return Known(shape.value)
        if isinstance(shape, Argument):
            return arguments[shape.leaf]
        cls, items = shape
        return TupleValue(tuple(self._rebuilt(x, targets, arguments, shares) for x in items), cls)

    # ------------------------------------------------------------------------------------------------- lowering

    def _lower(
        self, key: Any, callable_: UserFunction, body: Body, names: Mapping[str, Value], width: int
    ) -> Summary:
        """Lower a function for one kind of arguments, in rounds if it calls itself."""
        program = self.program
        if len(program.open) >= MAX_OPEN:
            self.refuse(
                f"`{body.name}` calls itself with ever other kinds of arguments",
                "write it as a loop, or pass arguments of like structure",
            )
        callee = Callee(program.name(_identifier(body.name)))
        summary, before, names_before = Summary(callee), dict(program.made), set(program.names)
        try:
            for _ in range(MAX_ROUNDS):
                program.open[key] = summary
                program.assumed.discard(key)
                found = self._round(summary, callable_, body, names, width)
                if key not in program.assumed or settled(found, summary):
                    program.made[key] = found
                    return found
                summary = self._widened(summary, found, body)
                program.made, program.names = dict(before), set(names_before)
        finally:
            program.open.pop(key, None)
        self.refuse(
            f"the compiler finds no fixed style for the result of `{body.name}`, which calls itself",
            "let all its paths return the same kind of value, or write it as a loop",
        )

    def _round(
        self, assumed: Summary, callable_: UserFunction, body: Body, names: Mapping[str, Value], width: int
    ) -> Summary:
        machine = type(self)(self.environment)
        machine.program = self.program
        machine.unrollable = list(self.unrollable)
        params = Params(self, machine, width)
        inner = replace(callable_, closure=tuple(params.closure(body.name, fn) for fn in callable_.closure))
        given = {name: params.value(name, v) for name, v in names.items()}
        value = machine.start(body, inner, given, pinned=params.pinned())
        if machine.state.dead:
            return assumed if assumed.styles is None else replace(assumed, styles=None)
        results: list[Var] = []
        returned = params.numbers if assumed.returns_arguments else {}
        shape = _shape(machine, value, returned, results)
        stored = params.stored(body)
        outcome = [*results, *stored.values()]
        block = machine.builder.finish()
        trees = [tree for tree, _ in machine.implicits.values()]
        assumed.callee.function = Function(
            assumed.callee.name,
            (*params.made, *_implicit_params(trees, {p.name for p in params.made})),
            block,
            (outcome[0] if len(outcome) == 1 else Pack("tuple", tuple(outcome)),),
            body.loc(body.node),
            f"`{body.name}` ({body.loc(body.node)}).",
        )
        effect = any(isinstance(s, Call) and s.op.effect for s in statements(block))
        return Summary(
            callee=assumed.callee,
            styles=tuple(kept(x.style) for x in results),
            shape=shape,
            fresh=_is_fresh(machine, value),
            stores=tuple(stored),
            effect=effect,
            paths=machine.implicit_paths(),
            returns_arguments=assumed.returns_arguments,
        )

    def implicit_paths(self) -> tuple[Path, ...]:
        """Where the implicit parameters come from."""
        assert self.environment is not None
        paths = {name: path for path, (name, _) in self.environment.implicits.items()}
        return tuple(paths[name] for name in self.implicits)

    def _widened(self, assumed: Summary, found: Summary, body: Body) -> Summary:
        """What the next round is to assume."""
        if assumed.styles is None or found.styles is None:
            return found
        if assumed.shape != found.shape:
            if assumed.returns_arguments:
                return Summary(assumed.callee, returns_arguments=False)
            self.refuse(
                f"`{body.name}` calls itself, and its paths return values of different structure",
                "return the same kind of value on every path",
            )
        styles = tuple(kept(join(a, b)) for a, b in zip(assumed.styles, found.styles, strict=True))
        if any(isinstance(s, Anything) for s in styles):
            self.refuse(
                f"`{body.name}` calls itself, and its paths return values of different kinds",
                "let all its paths return arrays of one rank, or all of them numbers",
            )
        stores = tuple(sorted({*assumed.stores, *found.stores}))
        return replace(found, styles=styles, fresh=assumed.fresh and found.fresh, stores=stores)


def _identifier(name: str) -> str:
    stem = name.strip("_")
    return stem if stem.isidentifier() else "function"


def _implicit_params(trees: Iterable[Operand], taken: set[str]) -> Iterator[Param]:
    for tree in trees:
        for var in variables(tree):
            name = unique(var.hint, taken)
            taken.add(name)
            yield Param(name, var)


def _shape(machine: Apart, value: Value, numbers: Mapping[int, int], results: list[Var]) -> Shape:
    """How a value is made up; its leaves are added to the results.  `numbers`: the leaves that storages are."""
    match value:
        case ArrayRef(cell, ()) if cell in numbers:
            return Argument(numbers[cell])
        case Known(obj):
            return Static(obj)
        case Num() | ArrayRef() | FrozenRef():
            operand = machine.operand(value)
            if isinstance(operand, Const):
                return Static(operand.value)
            if isinstance(operand, Var) and not isinstance(kept(operand.style), Anything):
                results.append(operand)
                return None
        case TupleValue(items, cls):
            return (cls, tuple(_shape(machine, v, numbers, results) for v in items))
    machine.refuse(
        "a function that is compiled apart must return numbers, arrays or tuples of them",
        "return a tuple",
    )


def _is_fresh(machine: Apart, value: Value) -> bool:
    """Whether the arrays in a value were made by the function, each a storage of its own."""
    seen: set[int] = set()

    def fresh(value: Value) -> bool:
        match value:
            case ArrayRef(cell):
                content = machine.content(cell)
                own = isinstance(content, ArrayCell) and not content.param and cell not in seen
                seen.add(cell)
                return own
            case FrozenRef():
                return False
            case TupleValue(items):
                return all(fresh(v) for v in items)
        return True

    return fresh(value)
