"""Functions compiled apart: recursion whose depth only the run time knows, large functions called more than once.

Such a function is lowered once for each kind of its arguments, by a machine of its own, to a Function whose parameters
are the values in its arguments (then the implicit ones that it needs) and whose results are the values in what it
returns.  A recursive function is lowered in rounds: its calls of itself assume what the round before has found, until
that stays.
"""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, TypeAlias

from pullback import runtime
from pullback.errors import UnsupportedError
from pullback.frontend.bodies import Body, Frame, captured
from pullback.frontend.calls import Calls, UserFunction
from pullback.frontend.environment import Path
from pullback.frontend.machine import Core, Unreachable
from pullback.frontend.values import (
    ArrayCell,
    ArrayRef,
    Cell,
    CellRef,
    DictCell,
    FrozenRef,
    FunctionValue,
    Known,
    ListCell,
    Num,
    ObjectCell,
    SliceValue,
    TupleValue,
    Value,
)
from pullback.ir.callee import Callee, operation
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Call, Const, Function, Operand, Pack, Param, Var
from pullback.ir.walk import statements, variables
from pullback.styles.join import join
from pullback.styles.style import (
    Anything,
    Array,
    Axis,
    Scalar,
    Static,
    Style,
    fresh_dim,
    is_one,
    not_one,
    numeric,
)

MAX_ROUNDS = 6
MAX_OPEN = 100  # functions being lowered for one another
MAX_UNFOLDED = 16  # calls of a recursive function that are inlined before it is compiled apart
LARGE = 20  # statements from which on a function is inlined only where it is called once

_NUMBERS = (int, float, complex)

# How much a function compiled apart serves: one set of constants; any numbers; also arrays with axes of length one.
NARROW, NUMBERS, WIDE = range(3)

# Of a value: None for a leaf, an Argument, a Static, or (class or None, shapes) for a tuple.
Shape: TypeAlias = Any


class CallApart(Exception):
    """A function turns out to be one to compile apart: lower again, with that known from the start."""


@dataclass(frozen=True, slots=True)
class Argument:
    """A function returns the array that it gets as this leaf of its arguments."""

    leaf: int


@dataclass(frozen=True, slots=True)
class Summary:
    """What a caller must know of a function compiled apart.

    styles  of the leaves of its value; None as long as no way to a value has been found
    shape   how the leaves make up the value
    fresh   its arrays share nothing with its arguments, nor with one another
    stores  the leaves of its arguments into which it writes: what they are then follows its results
    effect  it does more than compute
    paths   where its implicit parameters come from
    returns_arguments  an array that it gets and returns is the caller's own (not on every path, where it recurs)
    """

    callee: Callee
    styles: tuple[Style, ...] | None = None
    shape: Shape = None
    fresh: bool = True
    stores: tuple[int, ...] = ()
    effect: bool = False
    paths: tuple[Path, ...] = ()
    returns_arguments: bool = True


@dataclass(slots=True)
class Program:
    """The functions compiled apart in one lowering."""

    made: dict[Any, Summary] = field(default_factory=dict)
    open: dict[Any, Summary] = field(default_factory=dict)  # being lowered: what is assumed of them
    assumed: set[Any] = field(default_factory=set)  # those of which something has been assumed
    apart: dict[Any, int] = field(default_factory=dict)  # in which width
    never: dict[Any, UnsupportedError] = field(default_factory=dict)  # what hinders it
    inlined: Counter[Any] = field(default_factory=Counter)
    names: set[str] = field(default_factory=set)

    def again(self, entry: str) -> None:
        """Begin anew, with what has been found about which functions are to be compiled apart."""
        self.made.clear()
        self.open.clear()
        self.inlined.clear()
        self.names = {entry, *_derived(entry)}

    def name(self, wanted: str) -> str:
        """A name for a callee, its own among all functions of the module."""
        n, name = 1, wanted
        while hasattr(builtins, name) or hasattr(runtime, name) or self.names & {name, *_derived(name)}:
            n += 1
            name = f"{wanted}_{n}"
        self.names.update((name, *_derived(name)))
        return name


def _derived(name: str) -> tuple[str, ...]:
    return f"{name}_primal", f"{name}_pullback", f"{name}_value_and_grad"


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
        taken = _Taken(self, body, width)
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
        styles = [*(_kept(s) for s in summary.styles), *(self.style(v) for v in stored)]
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

    def _hints(self, body: Body, summary: Summary, taken: _Taken) -> tuple[str, ...]:
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
                if key not in program.assumed or _settled(found, summary):
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
        params = _Params(self, machine, width)
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
            styles=tuple(_kept(x.style) for x in results),
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
        styles = tuple(_kept(join(a, b)) for a, b in zip(assumed.styles, found.styles, strict=True))
        if any(isinstance(s, Anything) for s in styles):
            self.refuse(
                f"`{body.name}` calls itself, and its paths return values of different kinds",
                "let all its paths return arrays of one rank, or all of them numbers",
            )
        stores = tuple(sorted({*assumed.stores, *found.stores}))
        return replace(found, styles=styles, fresh=assumed.fresh and found.fresh, stores=stores)


def _settled(found: Summary, assumed: Summary) -> bool:
    """Whether what a round found is no more than what it assumed."""
    if assumed.styles is None or found.styles is None:
        return found.styles is None and assumed.styles is None
    return (
        (found.shape, found.stores, found.effect, found.paths)
        == (assumed.shape, assumed.stores, assumed.effect, assumed.paths)
        and found.fresh >= assumed.fresh
        and [_kind(join(a, b)) for a, b in zip(assumed.styles, found.styles, strict=True)]
        == [_kind(s) for s in assumed.styles]
    )


def _identifier(name: str) -> str:
    stem = name.strip("_")
    return stem if stem.isidentifier() else "function"


def _kept(style: Style, wide: bool = False) -> Style:
    """What a function compiled apart keeps of a style: for each axis whether it is one; no lengths.

    `wide`: nor whether it is not one, which slices of an array do not tell.
    """
    style = numeric(style)
    if isinstance(style, Scalar):
        return Scalar(style.dtype, style.weak, style.kind)
    if isinstance(style, Array):
        axes = None if style.axes is None else tuple(_kept_axis(a, wide) for a in style.axes)
        return Array(style.dtype, axes, False, style.kind)
    return Anything()


def _kept_axis(axis: Axis, wide: bool) -> Axis:
    return 1 if is_one(axis) and not wide else fresh_dim(not_one(axis) and not wide)


def _kind(style: Style) -> tuple[Any, ...]:
    """Equal for styles of which the same is kept."""
    style = _kept(style)
    if isinstance(style, Scalar):
        return ("scalar", style.dtype, style.weak, style.kind)
    if isinstance(style, Array):
        axes = None if style.axes is None else tuple(1 if is_one(a) else not_one(a) for a in style.axes)
        return ("array", style.dtype, style.kind, axes)
    return ("any",)


class _Taken:
    """The arguments of a call taken apart: a key for their kinds, and their leaves as operands, in order."""

    def __init__(self, caller: Core, body: Body, width: int) -> None:
        self.caller = caller
        self.body = body
        self.width = width
        self.leaves: list[Operand] = []
        self.values: list[Value] = []  # of the leaves, in the caller
        self.cells: dict[int, int] = {}
        self.functions: dict[tuple[int, int], int] = {}

    def take(self, value: Value) -> Any:
        """Take a value apart; the key of its kind."""
        match value:
            case Known(obj) if self.width > NARROW and type(obj) in _NUMBERS:
                self._add(value, Const(obj))
                return _kind(Static(obj))
            case Known(obj):
                plain = isinstance(obj, int | float | complex | str | tuple)
                return ("known", type(obj), repr(obj) if plain else id(obj))
            case Num() | ArrayRef() | FrozenRef():
                return self._leaf(value, self.caller.operand(value))
            case TupleValue(items, cls):
                return ("tuple", cls, *[self.take(v) for v in items])
            case SliceValue(start, stop, step):
                return ("slice", *[self.take(v) for v in (start, stop, step)])
            case CellRef(number):
                return self._cell(value, number)
            case FunctionValue():
                return self._function(value)
        self._refuse()

    def _function(self, fn: FunctionValue) -> Any:
        """A function defined in the caller, by its definition and what it captures."""
        key = (id(fn.node), id(fn.scope))
        if key in self.functions:
            return ("same function", self.functions[key])
        self.functions[key] = len(self.functions)
        held = [*fn.defaults, *fn.kw_defaults.values(), *_captured(self.caller, fn).values()]
        return ("function", id(fn.node), *[self.take(v) for v in held])

    def stored(self, leaf: int) -> ArrayRef:
        """The caller's reference to an array into which the function writes."""
        value = self.values[leaf]
        others = self.caller.cells_of(v for k, v in enumerate(self.values) if k != leaf)
        if not isinstance(value, ArrayRef) or value.cell in others:
            self.caller.refuse(
                f"`{self.body.name}` is compiled apart and writes into an argument that may share memory with another",
                "pass copies, or return a new array",
            )
        return value

    def _add(self, value: Value, operand: Operand) -> None:
        self.values.append(value)
        self.leaves.append(operand)

    def _leaf(self, value: Value, operand: Operand) -> Any:
        if isinstance(operand, Const):
            return ("constant", type(operand.value), repr(operand.value))
        if not isinstance(operand, Var):
            self._refuse()
        self._add(value, operand)
        return _kind(_kept(operand.style, self.width == WIDE))

    def _cell(self, value: CellRef, number: int) -> Any:
        if number in self.cells:
            return ("same", self.cells[number])
        self.cells[number] = len(self.cells)
        match self.caller.content(number):
            case ListCell(items):
                return ("list", *[self.take(v) for v in items])
            case DictCell(items):
                return ("dict", tuple(items), *[self.take(v) for v in items.values()])
            case ObjectCell(cls, fields):
                return ("object", cls, tuple(fields), *[self.take(v) for v in fields.values()])
        self._refuse()

    def _refuse(self) -> NoReturn:
        self.caller.refuse(
            f"`{self.body.name}` calls itself, or is called more than once, and gets an iterator or a list of a "
            "length known at run time only",
            "pass numbers and arrays, in tuples, lists of fixed length, dicts or objects",
        )


class _Params:
    """The arguments of a call as the values of a function's parameters, in the machine that lowers it."""

    def __init__(self, caller: Core, machine: Apart, width: int) -> None:
        self.caller = caller
        self.machine = machine
        self.width = width
        self.made: list[Param] = []
        self.cells: dict[int, CellRef] = {}
        self.containers: dict[int, Cell] = {}  # as they were passed
        self.numbers: dict[int, int] = {}  # the storages of arrays, and the leaves that these are
        self.functions: dict[tuple[int, int], FunctionValue] = {}
        self.frames: dict[Frame, Frame] = {}

    def value(self, name: str, value: Value, hint: str = "") -> Value:
        """The value of the parameter `name` (or of a part of it)."""
        hint = hint or name
        match value:
            case Known(obj) if self.width > NARROW and type(obj) in _NUMBERS:
                return self._leaf(name, Const(obj), hint)
            case Num() | ArrayRef() | FrozenRef():
                operand = self.caller.operand(value)
                return self._leaf(name, operand, hint) if isinstance(operand, Var) else value
            case TupleValue(items, cls):
                return TupleValue(self._items(name, items, hint), cls)
            case SliceValue(start, stop, step):
                return SliceValue(*self._items(name, (start, stop, step), hint))
            case CellRef(number):
                if number not in self.cells:
                    self.cells[number] = self._cell(name, number, hint)
                return self.cells[number]
            case FunctionValue():
                return self.closure(name, value, hint)
        return value

    def closure(self, name: str, fn: FunctionValue, hint: str = "") -> FunctionValue:
        """The function over frames of its own, in which what it captures are parameters."""
        key = (id(fn.node), id(fn.scope))
        if key not in self.functions:
            defaults = self._items(name, fn.defaults, hint)
            kw_defaults = self._fields(name, fn.kw_defaults, hint)
            scope = self._frame(fn.scope)
            self.functions[key] = replace(fn, scope=scope, defaults=defaults, kw_defaults=kw_defaults)
            for (frame, held), value in _captured(self.caller, fn).items():
                self.machine.state.names[self._frame(frame).key(held)] = self.value(name, value, held)
        return self.functions[key]

    def _frame(self, frame: Frame) -> Frame:
        if frame not in self.frames:
            parent = None if frame.parent is None else self._frame(frame.parent)
            number = self.machine.fresh_number()
            self.frames[frame] = Frame(frame.body, number, parent, frame.fn, frame.globals, kept=True)
        return self.frames[frame]

    def _items(self, name: str, items: Sequence[Value], hint: str) -> tuple[Value, ...]:
        return tuple(self.value(name, v, f"{hint}_{i}") for i, v in enumerate(items))

    def _leaf(self, name: str, operand: Var | Const, hint: str) -> Value:
        style = _kept(style_of(operand), self.width == WIDE)
        var = Var(_unique(hint, {p.name for p in self.made}), style)
        self.made.append(Param(var.hint, var))
        self.machine.claimed.add(var)
        if isinstance(operand, Var) and operand in self.caller.sources:
            self.machine.sources[var] = self.caller.sources[operand]
        if not isinstance(style, Array):
            return Num(var)
        array = self.machine.parameter_array(ArrayCell(var, name))
        self.numbers[array.cell] = len(self.made) - 1
        return array if style.axes is not None else FrozenRef(var, frozenset((array.cell,)))

    def _cell(self, name: str, number: int, hint: str) -> CellRef:
        made: ListCell | DictCell | ObjectCell
        match self.caller.content(number):
            case ListCell(items):
                made = ListCell(self._items(name, items, hint), name)
            case DictCell(items):
                made = DictCell(self._fields(name, items, hint), name)
            case ObjectCell(cls, fields):
                made = ObjectCell(cls, self._fields(name, fields, hint), name)
            case other:
                raise AssertionError(other)  # taking the arguments apart has refused it
        reference = self.machine.parameter_cell(made)
        self.containers[reference.cell] = made
        return reference

    def pinned(self) -> dict[str, Value]:
        """What of the arguments matters to the end, whatever becomes of the names."""
        cells: list[Value] = [*map(ArrayRef, self.numbers), *map(CellRef, self.containers)]
        return {f".given{i}": value for i, value in enumerate([*cells, *self.functions.values()])}

    def stored(self, body: Body) -> dict[int, Operand]:
        """The arrays into which the function has written, by leaf, as they are at its end."""
        machine = self.machine
        changed = [n for n, made in self.containers.items() if machine.content(n) is not made]
        if changed:
            self.caller.refuse(
                f"`{body.name}` is compiled apart, and changes a list, dict or object that it gets",
                "return the new values, or write it as a loop",
            )
        found: dict[int, Operand] = {}
        for number, leaf in self.numbers.items():
            content = machine.content(number)
            assert isinstance(content, ArrayCell)
            if content.operand is not self.made[leaf].tree:
                found[leaf] = content.operand
        return found

    def _fields(self, name: str, items: Mapping[Any, Value], hint: str) -> dict[Any, Value]:
        return {k: self.value(name, v, f"{hint}_{k}") for k, v in items.items()}


def _captured(caller: Core, fn: FunctionValue) -> dict[tuple[Frame, str], Value]:
    """The variables that a function defined in the caller takes from the frames around it."""
    found: dict[tuple[Frame, str], Value] = {}
    for name in sorted(captured(fn.node)):
        frame: Frame | None = fn.scope
        while frame is not None and frame.key(name) not in caller.state.names:
            frame = frame.parent
        if frame is not None:
            found[frame, name] = caller.state.names[frame.key(name)]
    return found


def _unique(hint: str, taken: set[str]) -> str:
    hint = hint if hint.isidentifier() else "value"
    name, n = hint, 1
    while name in taken:
        n += 1
        name = f"{hint}_{n}"
    return name


def _implicit_params(trees: Iterable[Operand], taken: set[str]) -> Iterator[Param]:
    for tree in trees:
        for var in variables(tree):
            name = _unique(var.hint, taken)
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
            if isinstance(operand, Var) and not isinstance(_kept(operand.style), Anything):
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
