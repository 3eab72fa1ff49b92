"""Rules applied to plain arrays, without the compiler, and the differences that they are compared with.

Rows are evaluated as Python expressions, structured rules are called, builders run on a builder that
computes at once.
The engine's part (scaling by the cotangent, unbroadcasting, projecting, spreading over the items of a list)
is done here
in the plainest way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from style_check import Symbols, check_style, style_of_value

from pullback.ir.builder import Builder, infer
from pullback.ir.nodes import Call, Const, Op, Operand, Pack, Var
from pullback.rules.kinds import BuilderRule, Row, Rule, Structured


class EagerBuilder(Builder):
    """Computes each call on the spot; checks the style of every result on the way."""

    def __init__(self) -> None:
        super().__init__()
        self.values: dict[Var, Any] = {}
        self.symbols = Symbols(exact=True)

    def operand(self, value: Any) -> Operand:
        """An operand for a Python value."""
        if isinstance(value, list | tuple) and any(
            isinstance(v, np.ndarray | np.generic | float | list) for v in value
        ):
            return Pack("list" if isinstance(value, list) else "tuple", tuple(self.operand(v) for v in value))
        if isinstance(value, np.ndarray | np.generic | float | complex) and not isinstance(value, bool):
            var = Var("x", style_of_value(value, self.symbols))
            self.values[var] = value
            return var
        return Const(value)

    def value(self, operand: Operand) -> Any:
        """The value of an operand."""
        if isinstance(operand, Var):
            return self.values[operand]
        if isinstance(operand, Const):
            return operand.value
        items = [self.value(x) for x in operand.items]
        if operand.kind == "slice":
            return slice(*items)
        if operand.kind == "index":
            return "index", tuple(items) if operand.meta == "tuple" else items[0]
        return items if operand.kind == "list" else tuple(items)

    def call_many(
        self, op: Op, args: tuple[Operand, ...], kwargs: dict[str, Operand], hints: tuple[str, ...]
    ) -> tuple[Var, ...]:
        styles = infer(op, args, kwargs)
        result = op.impl(*[self.value(a) for a in args], **{k: self.value(v) for k, v in kwargs.items()})
        results = (result,) if len(styles) == 1 else tuple(result)
        targets = tuple(Var(hints[0], s) for s in styles)
        for target, value in zip(targets, results, strict=True):
            wrong = check_style(target.style, value, self.symbols)
            assert not wrong, f"{op.name}: {wrong}"
            self.values[target] = value
        self.add(Call(targets, op, args, tuple(kwargs.items())))
        return targets


def cotangents(
    rule: Rule, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any, out_bar: Any
) -> dict[int, Any]:
    """The cotangents by position of the operand, as the engine would hand them on."""
    with np.errstate(all="ignore"):
        if isinstance(rule, Row):
            return _row(rule, args, kwargs, out, out_bar)
        if isinstance(rule, Structured):
            return _structured(rule, args, kwargs, out, out_bar)
        assert isinstance(rule, BuilderRule)
        return _built(rule, args, kwargs, out, out_bar)


def _row(rule: Row, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any, out_bar: Any) -> dict[int, Any]:
    names = rule.bind([np.float64(a) if type(a) is float else a for a in args], kwargs)
    found = {}
    for i, name in enumerate(rule.params):
        if name in rule.partials and i < len(args) and args[i] is not None:
            partial = eval(rule.partials[name], dict(rule.namespace), {**names, "out": out})
            product = np.multiply(out_bar, np.conj(partial) if np.iscomplexobj(partial) else partial)
            found[i] = fitted(product, args[i])
    return found


def _structured(
    rule: Structured, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any, out_bar: Any
) -> dict[int, Any]:
    bound = rule.signature.bind(*args, **kwargs)
    bars = rule.pullback(*bound.args, **bound.kwargs, out=out, out_bar=out_bar)
    if len(rule.wrt) == 1 and not (
        isinstance(bars, tuple) and len(bars) == 1 and isinstance(args[0], list | tuple)
    ):
        bars = (bars,)
    order = list(rule.signature.parameters)
    positions = [order.index(name) for name in rule.wrt]
    return {
        i: fitted(bar, args[i])
        for i, bar in zip(positions, bars, strict=True)
        if bar is not None and i < len(args)
    }


def _built(
    rule: BuilderRule, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any, out_bar: Any
) -> dict[int, Any]:
    b = EagerBuilder()
    bars = rule.build(
        b,
        tuple(b.operand(a) for a in args),
        {k: b.operand(v) for k, v in kwargs.items()},
        b.operand(out),
        b.operand(out_bar),
    )
    return {
        i: fitted(b.value(bar), args[i]) for i, bar in enumerate(bars) if bar is not None and i < len(args)
    }


def fitted(bar: Any, operand: Any) -> Any:
    """A cotangent in the space of its operand: spread over a list, unbroadcast, real where that is real,
    its dtype.
    """
    if isinstance(operand, list | tuple):
        return [fitted(bar[i], item) for i, item in enumerate(operand)]
    shape, made = np.shape(operand), np.asarray(bar)
    extra = made.ndim - len(shape)
    if extra > 0:
        made = np.sum(made, axis=tuple(range(extra)))
    ones = tuple(i for i, n in enumerate(shape) if n == 1 and i < made.ndim and made.shape[i] != 1)
    made = np.sum(made, axis=ones, keepdims=True) if ones else made
    if not np.iscomplexobj(operand) and np.iscomplexobj(made):
        made = np.real(made)
    return np.broadcast_to(made, shape).astype(np.asarray(operand).dtype)


# ------------------------------------------------------------------------------------------------ differences


def leaves(value: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays of an operand, in order."""
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in leaves(item)]
    return [np.asarray(value)]


def _rebuilt(value: Any, parts: list[Any]) -> Any:
    if isinstance(value, list | tuple):
        made = [_rebuilt(item, parts) for item in value]
        return made if isinstance(value, list) else tuple(made)
    part = parts.pop(0)
    return part if isinstance(value, np.ndarray) else part[()]


def pairing(bars: Any, values: Any) -> float:
    """The real inner product of cotangents with values; results without cotangent are left out."""
    if isinstance(bars, tuple):
        return float(sum(pairing(b, v) for b, v in zip(bars, values, strict=True) if b is not None))
    if isinstance(bars, list) and not isinstance(values, np.ndarray):
        return float(sum(pairing(b, v) for b, v in zip(bars, values, strict=True)))
    return float(np.sum(np.real(np.conj(bars) * np.asarray(values))))


def differences(
    fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], position: int, out_bar: Any
) -> list[Any]:
    """The cotangent of one operand by central differences, a leaf each."""
    originals = leaves(args[position])
    found = []
    for k, leaf in enumerate(originals):
        bar = np.zeros(leaf.shape, np.result_type(leaf.dtype, np.float64))
        for index in np.ndindex(leaf.shape):
            directions = (1.0, 1j) if np.iscomplexobj(leaf) else (1.0,)
            for direction in directions:
                bar[index] += direction * _slope(fn, args, kwargs, position, k, index, direction, out_bar)
        found.append(bar)
    return found


def _slope(
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    position: int,
    k: int,
    index: Any,
    direction: Any,
    out_bar: Any,
) -> float:
    """Fourth-order central difference along one entry."""
    total = 0.0
    step = 1e-3
    for factor, weight in ((1, 8), (-1, -8), (2, -1), (-2, 1)):
        parts: list[Any] = [
            np.array(leaf, dtype=np.result_type(leaf.dtype, np.float64)) for leaf in leaves(args[position])
        ]
        parts[k][index] += factor * step * direction
        moved = list(args)
        moved[position] = _rebuilt(args[position], parts)
        with np.errstate(all="ignore"):
            total += weight * pairing(out_bar, _as_results(fn(*moved, **kwargs)))
    return total / (12 * step)


def _as_results(value: Any) -> Any:
    return tuple(value) if isinstance(value, list | tuple) else value


def seed(value: Any, rng: np.random.Generator) -> Any:
    """A cotangent for a result: None for integers and truth values."""
    if isinstance(value, list | tuple):
        return tuple(seed(v, rng) for v in value)
    array = np.asarray(value)
    if array.dtype.kind not in "fc":
        return None
    bar = rng.normal(size=array.shape)
    if array.dtype.kind == "c":
        bar = bar + 1j * rng.normal(size=array.shape)
    return bar.astype(array.dtype)[()]
