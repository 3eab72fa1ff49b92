"""What a kernel computes: the parts of its function, and the statements for one element."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pullback.backend.native.emit.element import Term, element, literal, loop_of, ufunc_of
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import ArrayLeaf, Number, c_type, leaves_of, operand_style
from pullback.backend.native.emit.mapped import Evaluation, Mapped, is_mapped
from pullback.backend.native.emit.ranges import Ranges
from pullback.backend.native.emit.reals import Reals
from pullback.backend.native.emit.scalars import selects, strong_zero
from pullback.backend.native.emit.sharing import Sharing
from pullback.backend.native.emit.stages import is_long
from pullback.ir import core_ops as core
from pullback.ir.kernel import Kernel
from pullback.ir.nodes import Call, Const, Operand, Var
from pullback.styles.broadcast import as_array
from pullback.styles.style import Array, Scalar, Static, Tup, same_length

if TYPE_CHECKING:
    from pullback.backend.native.emit.module import ModuleEmitter

_SHAPES = (core.shape, core.dim, core.joint_shape)
_FILLED = {"np.zeros_like": 0, "np.ones_like": 1, "np.zeros": 0, "np.ones": 1}
REDUCERS = {
    "np.sum": "add", "np.mean": "add", "np.prod": "multiply", "np.max": "maximum", "np.min": "minimum",
    "np.amax": "maximum", "np.amin": "minimum", "np.any": "or", "np.all": "and",
}  # fmt: skip


@dataclass(slots=True)
class Reduction:
    """One reduction: its target, what is reduced, over which axes."""

    index: int
    target: Var
    operand: Operand
    kind: str
    dtype: np.dtype[Any]
    axes: tuple[int, ...]
    keepdims: bool
    rank: int  # of the result
    whole: bool  # to a number
    mean: bool

    @property
    def name(self) -> str:
        """Its C name."""
        return f"pb_sum{self.index}"

    @property
    def adds(self) -> bool:
        """Whether it is a sum."""
        return self.kind == "add"

    @property
    def function(self) -> str:
        """As NumPy calls it."""
        return self.kind

    @property
    def needs_items(self) -> bool:
        """Whether nothing may not be reduced."""
        return self.kind in ("maximum", "minimum")

    def declared(self) -> str:
        """The C type of the result."""
        return c_type(self.dtype) if self.whole else f"pb_array{self.rank}"

    def identity(self) -> str:
        """What it begins with."""
        if self.kind in ("maximum", "minimum"):
            return self._extreme(self.kind == "minimum")
        return literal({"add": 0, "multiply": 1, "or": 0, "and": 1}[self.kind], self.dtype)

    def _extreme(self, largest: bool) -> str:
        if self.dtype.kind == "f":
            return literal(np.inf if largest else -np.inf, self.dtype)
        if self.dtype.kind == "b":
            return "1" if largest else "0"
        info = np.iinfo(self.dtype)
        return literal(int(info.max if largest else info.min), self.dtype)

    def combine(self, a: str, b: str) -> str:
        """Two partial results as one."""
        if self.kind == "or":
            return f"({a} | {b})"
        if self.kind == "and":
            return f"({a} & {b})"
        ufunc = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum}[
            self.kind
        ]
        return element(ufunc, (self.dtype,) * 3, [Term(a, self.dtype), Term(b, self.dtype)]).text

    def kept(self, rank: int) -> list[str]:
        """The lengths of the result's axes, of those of the space."""
        if self.keepdims:
            return ["1" if k in self.axes else f"n[{k}]" for k in range(rank)]
        return [f"n[{k}]" for k in range(rank) if k not in self.axes]


@dataclass(slots=True)
class Sink:
    """A store into a view of a parameter: `d` in the walk."""

    index: int
    call: Call
    rank: int  # of the view
    dtype: np.dtype[Any]
    adds: bool

    @property
    def name(self) -> str:
        """Its C name."""
        return f"pb_store{self.index}"


@dataclass(slots=True)
class Parts:
    """The parts of a kernel's function, in order."""

    kernel: Kernel
    arrays: list[Var] = field(default_factory=list)  # parameters that are read elementwise
    numbers: dict[str, Number] = field(default_factory=dict)  # parameters that are numbers, by C name
    names: dict[Var, str] = field(default_factory=dict)  # C names of number parameters
    bases: list[Var] = field(default_factory=list)  # parameters that are stored into
    elementwise: list[Call] = field(default_factory=list)
    reductions: list[Reduction] = field(default_factory=list)
    sinks: list[Sink] = field(default_factory=list)
    made: list[Var] = field(default_factory=list)  # results that are new arrays
    shape: Operand | None = None  # that of the space, where no array tells it
    mapped: Mapped | None = None  # functions of numbers

    def whole(self) -> list[tuple[int, Reduction]]:
        """Reductions to a number."""
        return [(r.index, r) for r in self.reductions if r.whole]

    def mixed(self) -> list[Sink]:
        """Sums that share their buffer with another: their places may overlap."""
        if self.kernel.apart:
            return []
        roots = [self._root(s.call) for s in self.sinks]
        return [s for s, root in zip(self.sinks, roots, strict=True) if s.adds and roots.count(root) > 1]

    def _root(self, store: Call) -> Operand:
        """The parameter whose buffer a store is done in."""
        base, made = store.args[0], {s.call.targets[0]: s.call for s in self.sinks}
        while isinstance(base, Var) and base in made:
            base = made[base].args[0]
        return base

    def along(self) -> list[tuple[int, Reduction]]:
        """Reductions to an array."""
        return [(r.index, r) for r in self.reductions if not r.whole]


def analyse(kernel: Kernel, module: ModuleEmitter) -> Parts:
    """The parts of a kernel.  Raises Untaken where C has nothing for one of its calls."""
    parts = Parts(kernel)
    params = [p.tree for p in kernel.function.params if isinstance(p.tree, Var)]
    calls = [s for s in kernel.function.body.stmts if isinstance(s, Call)]
    reads: set[Var] = set()
    for call in calls:
        if call.op in (core.store, core.add_at):
            _sink(parts, call)
        elif call.op.name in REDUCERS:
            parts.reductions.append(_reduction(parts, call))
            reads.update(x for x in call.args[:1] if isinstance(x, Var))
        elif call.op in _SHAPES:
            continue
        else:
            parts.elementwise.append(call)
            reads.update(x for x in _read(call) if isinstance(x, Var))
    reads.update(s.call.args[1] for s in parts.sinks if isinstance(s.call.args[1], Var))
    for var in params:
        _parameter(parts, var, reads)
    _told(parts)
    each = [c for c in parts.elementwise if is_mapped(c)]
    parts.mapped = Mapped(module, each) if each else None
    defined = {t for c in parts.elementwise for t in c.targets}
    parts.made = [x for x in kernel.function.results if isinstance(x, Var) and x in defined]
    return parts


def _told(parts: Parts) -> None:
    """The shape of the space, where a call is told it.  Raises Untaken where one is told some of its axes only."""
    space = parts.kernel.space
    for call in parts.elementwise:
        shape, style = _shape_of(call), call.targets[0].style
        if shape is None or not isinstance(style, Array) or style.axes is None:
            continue
        if len(style.axes) == len(space) and all(map(same_length, style.axes, space)):
            parts.shape = shape
        elif not all(isinstance(a, int) or _tells(parts, k) for k, a in enumerate(reversed(style.axes))):
            raise Untaken("a new array of fewer axes than the loop it is used in")


def _tells(parts: Parts, k: int) -> bool:
    """Whether an operand is known to have the length of the space's axis k, counted from the last."""
    axis = parts.kernel.space[-1 - k]
    known = [v.style.axes for v in parts.arrays if isinstance(v.style, Array) and v.style.axes is not None]
    return any(len(axes) > k and same_length(axes[-1 - k], axis) for axes in known)


def _shape_of(call: Call) -> Operand | None:
    """The shape that a call is told to make."""
    if call.op.name in ("np.zeros", "np.ones", "np.full"):
        return call.args[0]
    return call.args[1] if call.op.name == "np.broadcast_to" else None


def _parameter(parts: Parts, var: Var, reads: set[Var]) -> None:
    if isinstance(var.style, Array):
        if var in reads:
            leaves_of(var.style)
            parts.arrays.append(var)
    elif isinstance(var.style, Scalar) and var in reads:
        (leaf,) = leaves_of(var.style)
        assert isinstance(leaf, Number)
        name = f"pb_c{len(parts.numbers)}"
        parts.numbers[name] = leaf
        parts.names[var] = name


def _read(call: Call) -> Iterator[Operand]:
    """The operands of a call that are read item by item."""
    if call.op.name in _FILLED:
        return
    if call.op.name in ("np.full", "np.full_like"):
        yield call.args[1]
    elif call.op.name in ("np.broadcast_to",) or call.op in (core.cast, core.known):
        yield call.args[0]
    else:
        yield from call.args
        yield from (x for _, x in call.kwargs)


def _sink(parts: Parts, call: Call) -> None:
    base, _, *steps = call.args
    assert isinstance(base, Var) and isinstance(base.style, Array)
    style = core.load_style(base.style, *(operand_style_of_step(s) for s in steps))
    leaf = leaves_of(style)[0]
    rank = leaf.rank if isinstance(leaf, ArrayLeaf) else 0
    parts.bases.append(base)
    dtype = leaves_of(base.style)[0].dtype  # type: ignore[union-attr]
    parts.sinks.append(Sink(len(parts.sinks), call, rank, dtype, call.op is core.add_at))


def operand_style_of_step(step: Operand) -> Any:
    """The style of a step of a path, as `core_ops.load_style` wants it."""
    return core.style_of(step)


def _reduction(parts: Parts, call: Call) -> Reduction:
    options = {"axis": Const(None), "keepdims": Const(False), **dict(call.kwargs)}
    for name, value in zip(("axis",), call.args[1:], strict=False):
        options[name] = value
    if set(options) - {"axis", "keepdims", "dtype"} or len(call.args) > 2:
        raise Untaken(f"{call.op.name} with these options")
    (target,) = call.targets
    operand = as_array(operand_style(call.args[0]))
    if not isinstance(operand, Array) or operand.axes is None:
        raise Untaken(f"{call.op.name} of a number")
    keepdims = _static(options["keepdims"])
    axis = _static(options["axis"])
    rank = len(operand.axes)
    axes = (
        tuple(range(rank))
        if axis is None
        else tuple(a % rank for a in (axis if isinstance(axis, tuple) else (axis,)))
    )
    style = as_array(target.style)
    if style.dtype is None:
        raise Untaken("a reduction whose dtype is not known")
    whole = isinstance(style, Scalar)
    rank_out = 0 if whole else len(style.axes)  # type: ignore[union-attr, arg-type]
    kind = REDUCERS[call.op.name]
    return Reduction(
        len(parts.reductions),
        target,
        call.args[0],
        kind,
        style.dtype,
        axes,
        bool(keepdims),
        rank_out,
        whole,
        call.op.name == "np.mean",
    )


def _static(operand: Operand) -> Any:
    if isinstance(operand, Const):
        return operand.value
    style = operand_style(operand)
    if isinstance(style, Tup) and all(isinstance(s, Static) for s in style.items):
        return tuple(s.value for s in style.items if isinstance(s, Static))
    raise Untaken("an option that is not known when compiling")


class Elements:
    """The statements for one element of a kernel."""

    def __init__(self, parts: Parts, texts: Mapping[Var, str]) -> None:
        self.parts = parts
        self.texts = texts  # how an item of an array parameter is read
        self.terms: dict[Var, Term] = {}
        self.reals = Reals()
        self.ranges = Ranges()
        self.sharing = Sharing(parts.elementwise)
        self.lines: list[str] = []
        self.cuts: list[int] = []  # lines after which a stage may end
        self.count = 0
        self.evaluation = None if parts.mapped is None else Evaluation(parts.mapped, self.text, self.lines)

    def statements(self) -> list[str]:
        """A constant for each value."""
        for k, var in enumerate(self.parts.arrays):
            (leaf,) = leaves_of(var.style)
            assert isinstance(leaf, ArrayLeaf)
            self.lines.append(f"const {c_type(leaf.dtype)} x{k} = {self.texts[var]};")
            self.terms[var] = Term(f"x{k}", leaf.dtype)
        for var, name in self.parts.names.items():
            self.terms[var] = Term(name, self.parts.numbers[name].dtype)
        for call in self.parts.elementwise:
            self._call(call)
        return self.lines

    def _call(self, call: Call) -> None:
        (target,) = call.targets
        term = self._made(call)
        (leaf,) = leaves_of(target.style)
        assert isinstance(leaf, ArrayLeaf | Number)
        name = f"{_spelled(target.hint)}{self.count}"
        self.count += 1
        self.lines += self.sharing.lines
        self.sharing.lines.clear()
        self.lines.append(f"const {c_type(leaf.dtype)} {name} = {term.to(leaf.dtype)};")
        self.terms[target] = Term(name, leaf.dtype)
        self.ranges.made(call, leaf.dtype)
        real = self.reals.made(call, name, leaf.dtype)
        if real:
            self.lines.append(real)
        ufunc = ufunc_of(call)
        if ufunc is not None and is_long(ufunc):
            self.cuts.append(len(self.lines))

    def _made(self, call: Call) -> Term:
        if self.evaluation is not None and is_mapped(call):
            return self.evaluation.term(call)
        special = _SPECIAL.get(call.op.name)
        if special is not None:
            return special(self, call)
        ufunc = ufunc_of(call) or (np.absolute if call.op.fn is abs else None)
        if ufunc is None or ufunc.nout != 1 or call.kwargs:
            raise Untaken(f"{call.op.name} in a loop")
        dtypes = loop_of(ufunc, [operand_style(x) for x in call.args])
        terms = [Term(self.text(x, d), d) for x, d in zip(call.args, dtypes, strict=False)]
        enough = self.ranges.enough(ufunc, dtypes, call)
        if enough:
            return Term(f"{enough}({terms[0].text})", dtypes[-1])
        shorter = self.sharing.made(call, ufunc, terms, dtypes[-1], self.ranges)
        if shorter is not None:
            return shorter
        if call.op is core.OPERATORS["**"] and _is_half(call.args[1]) and dtypes[0].kind == "f":
            return element(np.sqrt, dtypes[1:], terms[:1])  # as NumPy does, of arrays
        return element(ufunc, dtypes, terms)

    def done(self) -> list[str]:
        """What follows the statements for an element."""
        return [] if self.evaluation is None else self.evaluation.released()

    def term(self, operand: Operand) -> Term:
        """An operand's item."""
        if isinstance(operand, Var):
            if operand in self.terms:
                return self.terms[operand]
            if isinstance(operand.style, Static):
                return self.term(Const(operand.style.value))
        if isinstance(operand, Const):
            style = as_array(Static(operand.value))
            if isinstance(style, Scalar) and style.dtype is not None:
                return Term(literal(operand.value, style.dtype), style.dtype)
        raise Untaken("an operand that is no number or array")

    def text(self, operand: Operand, dtype: np.dtype[Any]) -> str:
        """An operand's item in a dtype; constants are converted when compiling."""
        value = operand.value if isinstance(operand, Const) else None
        if isinstance(value, int | float | complex | np.generic):
            return literal(dtype.type(value) if dtype.kind != "b" else bool(value), dtype)
        return (self.reals.term(operand, dtype) or self.term(operand)).to(dtype)

    def of(self, var: Var, dtype: np.dtype[Any]) -> str:
        """A result's item."""
        return self.terms[var].to(dtype)

    def reduced(self, r: Reduction) -> str:
        """What a reduction takes."""
        term = self.term(r.operand)
        if r.kind in ("or", "and"):
            return f"(uint8_t)({term.text} != 0)"
        return term.to(r.dtype)

    def added(self, total: str, r: Reduction) -> str:
        """A reduction with what it takes."""
        product = self.sharing.added(total, r.operand, r.dtype) if r.adds else ""
        return product or r.combine(total, self.reduced(r))

    def stored(self, sink: Sink) -> str:
        """What is stored."""
        return self.text(sink.call.args[1], sink.dtype)


def _is_half(exponent: Operand) -> bool:
    return isinstance(exponent, Const) and type(exponent.value) is float and exponent.value == 0.5


def _spelled(hint: str) -> str:
    text = "".join(c if c.isascii() and c.isalnum() else "_" for c in hint)
    return f"{text}_" if text and not text[0].isdigit() else f"t{text}_"


def _dtype_of(call: Call) -> np.dtype[Any]:
    (leaf,) = leaves_of(call.targets[0].style)
    assert isinstance(leaf, ArrayLeaf | Number)
    return leaf.dtype


def _filled(e: Elements, call: Call) -> Term:
    dtype = _dtype_of(call)
    return Term(literal(_FILLED[call.op.name], dtype), dtype)


def _full(e: Elements, call: Call) -> Term:
    return e.term(call.args[1])


def _same(e: Elements, call: Call) -> Term:
    return e.term(call.args[0])


def _accumulate(e: Elements, call: Call) -> Term:
    a, b = call.args
    dtype = _dtype_of(call)
    return element(np.add, (dtype,) * 3, [Term(e.text(a, dtype), dtype), Term(e.text(b, dtype), dtype)])


def _scale(e: Elements, call: Call) -> Term:
    bar, partial = call.args[:2]
    dtypes = loop_of(np.multiply, [operand_style(bar), operand_style(partial)])
    a, b = (e.text(x, d) for x, d in zip((bar, partial), dtypes, strict=False))
    return Term(strong_zero(a, b, partial, dtypes[-1], selects(call)), dtypes[-1])


def _where(e: Elements, call: Call) -> Term:
    if len(call.args) != 3 or call.kwargs:
        raise Untaken("np.where of one operand")
    dtype = _dtype_of(call)
    test, a, b = call.args
    return Term(f"({e.term(test).text} ? {e.text(a, dtype)} : {e.text(b, dtype)})", dtype)


def _clip(e: Elements, call: Call) -> Term:
    if len(call.args) != 3 or call.kwargs:
        raise Untaken("np.clip with these options")
    dtype = _dtype_of(call)
    term = Term(e.text(call.args[0], dtype), dtype)
    for ufunc, bound in ((np.maximum, call.args[1]), (np.minimum, call.args[2])):
        if not (isinstance(bound, Const) and bound.value is None):
            term = element(ufunc, (dtype,) * 3, [term, Term(e.text(bound, dtype), dtype)])
    return term


_SPECIAL: dict[str, Callable[[Elements, Call], Term]] = {
    **dict.fromkeys(_FILLED, _filled),
    "np.full": _full, "np.full_like": _full, "np.broadcast_to": _same, "known": _same, "cast": _same, "same": _same,
    "copy": _same, "accumulate": _accumulate, "scale": _scale, "np.where": _where, "np.clip": _clip,
}  # fmt: skip
