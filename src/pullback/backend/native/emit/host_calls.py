"""Operations that NumPy does inside compiled code: pure ones that C has no handler for.

The operands that are arrays and numbers pass as `pb_arg`; everything else is known when compiling and bound into the
function.  Its first result says whether the others are what their styles say: where not, the entry is left with an
error code.  What NumPy raises is raised as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pullback.backend.native.emit.dtypes import Loose, MaybeZero
from pullback.backend.native.emit.emitter import HOST, TYPE_ERROR, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import ArrayLeaf, Leaf, ListLeaf, Number, code_of, leaves_of
from pullback.backend.native.interface import ArgSpec, ArraySpec, Operation, ScalarSpec, kind_of
from pullback.ir.callee import Callee
from pullback.ir.kernel import kernel_of
from pullback.ir.nodes import ABSENT, UNDEF, Call, Const, Operand, Pack
from pullback.styles.style import Static, Style, Tup

Build = Callable[[Sequence[Any]], Any]  # an operand, of the values that passed
OK = ScalarSpec("int")


@dataclass(slots=True)
class _Passed:
    """What passes to an operation: specs, and how each is written into a `pb_arg`."""

    emitter: Emitter
    borrows: bool
    specs: list[ArgSpec] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def builder(self, operand: Operand) -> Build:
        """How to make an operand of the values that passed."""
        if isinstance(operand, Const):
            return self._constant(operand.value)
        if isinstance(operand, Pack):
            return self._pack(operand)
        return self._value(
            operand.style, iter(zip(self.emitter.leaves(operand), leaves_of(operand.style), strict=True))
        )

    def _constant(self, value: Any) -> Build:
        if value is UNDEF:
            raise Untaken("a name that may not be bound")
        held = None if value is ABSENT else value
        return lambda _: held

    def _pack(self, pack: Pack) -> Build:
        parts = [self.builder(x) for x in pack.items]
        kind, meta = pack.kind, pack.meta
        if kind not in _PACKS:
            raise Untaken(f"a {kind} handed to NumPy")
        make = _PACKS[kind]
        return lambda values: make([part(values) for part in parts], meta)

    def _value(self, style: Style, leaves: Iterator[tuple[str, Leaf]]) -> Build:
        if isinstance(style, Static):
            return self._constant(style.value)
        if isinstance(style, Tup):
            parts = [self._value(item, leaves) for item in style.items]
            make: Callable[[Any], Any] = list if style.kind == "list" else tuple
            return lambda values: make(part(values) for part in parts)
        if isinstance(style, Loose | MaybeZero):
            raise Untaken("a value of several kinds handed to NumPy")
        name, leaf = next(leaves)
        at = len(self.specs)
        if isinstance(leaf, ListLeaf):
            raise Untaken("a list handed to NumPy")
        if isinstance(leaf, ArrayLeaf):
            self.specs.append(ArraySpec(leaf.dtype, leaf.rank, writes=self.borrows))
            self.texts.append(
                f".a = {{{name}.data, {name}.n, {name}.s, {name}.owner ? {name}.owner->handle : NULL}}"
            )
        else:
            self.specs.append(_number(leaf))
            self.texts.append(_given(name, leaf))
        return lambda values: values[at]


def _index(items: list[Any], meta: Any) -> Any:
    return ("index", items[0] if meta is None else tuple(items))


_PACKS: dict[str, Callable[[list[Any], Any], Any]] = {
    "tuple": lambda items, _: tuple(items), "list": lambda items, _: items, "slice": lambda items, _: slice(*items),
    "dict": lambda items, keys: dict(zip(keys, items, strict=True)), "index": _index,
    "view": lambda items, op: ("view", op.impl, tuple(items)),
}  # fmt: skip


def _number(leaf: Number) -> ScalarSpec:
    """How a number passes; one that may be Python's or NumPy's passes as Python's."""
    return ScalarSpec(kind_of(leaf.dtype), leaf.dtype if leaf.weak is False else None)


def _given(name: str, leaf: Number) -> str:
    if leaf.dtype.kind == "c":
        return f".c = {{__real__ {name}, __imag__ {name}}}"
    return f".f = {name}" if leaf.dtype.kind == "f" else f".i = (int64_t){name}"


def taken(call: Call) -> bool:
    """Whether an operation may be done by NumPy: it is pure, a function of values, and has results."""
    op = call.op
    pure = not op.effect and (not op.writes or op.name in ("store", "add_at", "accumulate"))
    return pure and bool(call.targets) and kernel_of(call) is None and not isinstance(op.fn, Callee)


def host_call(e: Emitter, call: Call, optional: bool = False) -> None:
    """Call an operation of NumPy's; `optional`: there is C for it too, where there is no NumPy.

    Raises Untaken where an operand or a result is no array and no number, and where C is to be alone.
    """
    if e.module.alone:
        raise Untaken(f"`{call.op.numpy_path or call.op.name}`")
    passed = _Passed(e, borrows=call.op.numpy_path.startswith("np."))
    args = [passed.builder(x) for x in call.args]
    kwargs = {name: passed.builder(x) for name, x in call.kwargs}
    leaves = [leaf for t in call.targets for leaf in leaves_of(t.style)]
    if any(isinstance(t.style, Loose | MaybeZero) for t in call.targets):
        raise Untaken("a value of several kinds made by NumPy")
    if any(isinstance(leaf, ListLeaf) for leaf in leaves):
        raise Untaken("a list made by NumPy")
    specs = tuple(_result(leaf) for leaf in leaves)
    fn = _function(call, args, kwargs, leaves, specs, quiet=e.module.quiet)
    number = e.module.operation(Operation(fn, tuple(passed.specs), (OK, *specs)), call, e.loc, optional)
    names = [name for t in call.targets for name in e.leaves(t)]
    with e.block(""):
        e.line(f"pb_arg pb_out[{len(specs) + 1}];")
        given = ", ".join(f"{{{text}}}" for text in passed.texts)
        e.line(f"const pb_arg pb_in[] = {{{given or '{.i = 0}'}}};")
        e.line(f"if (PB_RARE(host->call(host, {number}, pb_in, pb_out))) {e.fail(HOST)}")
        for k, (name, leaf) in enumerate(zip(names, leaves, strict=True), 1):
            if isinstance(leaf, ArrayLeaf):
                e.line(
                    f"pb_adopt(host, {code_of(leaf.dtype)}, {leaf.rank}, &pb_out[{k}], &{name}.data, &{name}.owner, {name}.n, {name}.s);"
                )
                e.line(f"if (PB_RARE(!{name}.owner)) {e.fail(5)}")
        for k, (name, leaf) in enumerate(zip(names, leaves, strict=True), 1):
            if isinstance(leaf, Number):
                e.line(f"{name} = {e.passed(leaf, f'pb_out[{k}]')};")
        e.check("pb_out[0].i", TYPE_ERROR, f"{call.op.name} gave something else than expected")


def _result(leaf: Leaf) -> ArgSpec:
    return ArraySpec(leaf.dtype, leaf.rank) if isinstance(leaf, ArrayLeaf) else _number(leaf)  # type: ignore[arg-type]


def _function(
    call: Call,
    args: list[Build],
    kwargs: dict[str, Build],
    leaves: list[Leaf],
    specs: tuple[ArgSpec, ...],
    quiet: bool,
) -> Callable[..., tuple[Any, ...]]:
    """The operation as a function of what passes; its first result is 1 where the others are as specified."""
    impl, several = call.op.impl, len(call.targets) != 1
    styles = [t.style for t in call.targets]
    either = [leaf.dtype if isinstance(leaf, Number) and leaf.weak is None else None for leaf in leaves]

    def done(*values: Any) -> tuple[Any, ...]:
        given = [part(values) for part in args]
        named = {name: part(values) for name, part in kwargs.items()}
        if quiet:
            with np.errstate(all="ignore"):
                out = impl(*given, **named)
        else:
            out = impl(*given, **named)
        parts = list(out) if several else [out]
        del out, given
        if len(parts) != len(styles):
            return _nothing(specs)
        flat = [x for part, style in zip(parts, styles, strict=True) for x in _flat(part, style)]
        del parts
        if len(flat) != len(specs):
            return _nothing(specs)
        flat = [
            x.item() if k and getattr(x, "dtype", None) == k else x for x, k in zip(flat, either, strict=True)
        ]
        fits = all(map(_fits, flat, specs))
        return (1, *flat) if fits else _nothing(specs)

    return done


def _flat(value: Any, style: Style) -> list[Any]:
    """The leaves of a result."""
    if isinstance(style, Static):
        return []
    if isinstance(style, Tup):
        if not isinstance(value, tuple | list) or len(value) != len(style.items):
            return []
        return [x for part, item in zip(value, style.items, strict=True) for x in _flat(part, item)]
    return [value]


def _fits(value: Any, spec: ArgSpec) -> bool:
    """Whether a result is what its style says."""
    if isinstance(spec, ArraySpec):
        return (
            isinstance(value, np.ndarray | np.generic)
            and value.dtype == spec.dtype
            and value.ndim == spec.rank
        )
    if spec.dtype is not None:
        return isinstance(value, np.generic | np.ndarray) and value.dtype == spec.dtype and value.ndim == 0
    if spec.kind == "int":
        return type(value) is int and -(2**63) <= value < 2**63
    kinds: dict[str, type] = {"bool": bool, "float": float, "complex": complex}
    return isinstance(value, kinds[spec.kind])


def _nothing(specs: tuple[ArgSpec, ...]) -> tuple[Any, ...]:
    """Results that nobody reads."""
    return (0, *[np.zeros((0,) * s.rank, s.dtype) if isinstance(s, ArraySpec) else 0 for s in specs])
