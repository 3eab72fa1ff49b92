"""What operations claim of their results (style, sharing) against what NumPy gives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from op_samples import FORTRAN, STRIDED, Sample, samples
from style_check import Symbols, check_style, style_of_value, vague

from pullback.ir.builder import infer
from pullback.ir.nodes import Alias, Call, Const, Op, Operand, Pack, Var
from pullback.rules.registry import op_of, operations
from pullback.styles.style import ListOf, Style

UFUNCS = sorted({f for f, _ in operations() if isinstance(f, np.ufunc)}, key=lambda f: f.__name__)
EFFECTS = [f for f, op in operations() if op.effect]
VAGUE = {  # styles that leave dtype or rank open by design
    np.real_if_close,
    np.linalg.tensorinv,
    np.linalg.tensorsolve,
    np.linalg.eig,
    np.linalg.eigvals,
    np.linalg.lstsq,
    np.polyadd,
    np.linalg.cond,
    math.prod,
    np.arange,
    np.polysub,
    np.polymul,
    np.polyder,
    np.polyint,
    np.histogram,
    np.squeeze,
    np.full,
    np.trapezoid,
}
if np.lib.NumpyVersion(np.__version__) < "2.1.0":
    VAGUE.add(np.unique)  # the shape of its inverse changed from one release to the next


def operand_of(value: Any, symbols: Symbols, found: list[tuple[Var, Any]]) -> Operand:
    """An operand of the value's style; arrays are remembered with their Vars."""
    if isinstance(value, list | tuple) and any(isinstance(v, np.ndarray | np.generic | list) for v in value):
        kind = "list" if isinstance(value, list) else "tuple"
        return Pack(kind, tuple(operand_of(v, symbols, found) for v in value))
    style = style_of_value(value, symbols)
    if isinstance(value, np.ndarray | np.generic | float | complex) and not isinstance(value, bool):
        var = Var("x", style)
        found.append((var, value))
        return var
    return Const(value)


def check(sample: Sample, exact: bool) -> tuple[str, tuple[Style, ...]]:
    """What is wrong with the claims about one call."""
    fn, args, options = sample
    op = op_of(fn)
    assert op is not None
    symbols = Symbols(exact)
    found: list[tuple[Var, Any]] = []
    operands = tuple(operand_of(a, symbols, found) for a in args)
    keywords = {k: operand_of(v, symbols, found) for k, v in options.items()}
    claimed = infer(op, operands, keywords)
    with np.errstate(all="ignore"):
        value = fn(*args, **options)
    values = tuple(value) if isinstance(value, list | tuple) and len(claimed) > 1 else (value,)
    if isinstance(value, list | tuple) and len(claimed) == 1 and len(value) == 1:
        values = (value[0],)
    if len(claimed) == 1 and isinstance(claimed[0], ListOf):
        claimed, value = (claimed[0].elem,), value[0]
        values = (value,)
    texts = [f"{len(values)} results, {len(claimed)} claimed"] if len(values) != len(claimed) else []
    texts += [check_style(c, v, symbols) for c, v in zip(claimed, values, strict=False)]
    targets = tuple(Var("y", s) for s in claimed)
    call = Call(targets, op, operands, tuple(keywords.items()))
    texts += [_check_alias(op, call, values, found)]
    return "; ".join(t for t in texts if t), claimed


def _check_alias(op: Op, call: Call, values: tuple[Any, ...], found: list[tuple[Var, Any]]) -> str:
    alias = op.alias(call) if callable(op.alias) else op.alias
    for value in values:
        if not isinstance(value, np.ndarray) or value.size == 0:
            continue
        shared = [v for v, array in found if isinstance(array, np.ndarray) and np.shares_memory(value, array)]
        positions = [i for i, a in enumerate(call.args) if any(_inside(v, a) for v in shared)]
        wrong = [i for i in positions if alias.kind == "fresh" or i not in alias.operands]
        if wrong:
            return f"shares operand {wrong}, {alias} claimed"
        array_operand = bool(call.args) and any(
            v is call.args[0] for v, a in found if isinstance(a, np.ndarray)
        )
        if alias == Alias("view", (0,)) and array_operand and not shared:
            return "a view claimed, a copy found"
    return ""


def _inside(var: Var, operand: Operand) -> bool:
    return var is operand or (isinstance(operand, Pack) and any(_inside(var, x) for x in operand.items))


def _describe(sample: Sample) -> str:
    fn, args, options = sample
    shapes = [getattr(a, "shape", a) for a in args]
    return f"{getattr(fn, '__name__', fn)}({shapes}, {options})"


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "symbols"])
def test_styles_and_sharing_of_samples(exact: bool) -> None:
    wrong = []
    for sample in samples():
        text, claimed = check(sample, exact)
        if not text and exact and sample[0] not in VAGUE and any(vague(c) for c in claimed):
            text = f"vague: {claimed}"
        if text:
            wrong.append(f"{_describe(sample)}: {text}")
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda f: f.__name__)
def test_styles_of_ufuncs(ufunc: np.ufunc) -> None:
    if ufunc.signature is not None:
        return  # generalised ufuncs are among the samples
    wrong = []
    for dtypes in _signatures(ufunc):
        for shapes in (
            [(2, 3)] * 3,
            [(2, 1), (3,), (2, 3)],
            [(), (), ()],
            [(2, 3), (), (2, 1)],
            [(0, 3), (3,), (1, 3)],
        ):
            args = tuple(np.ones(s, d) for s, d in zip(shapes, dtypes, strict=False))
            wrong += [check((ufunc, args, {}), exact)[0] for exact in (True, False)]
        scalars = tuple(np.dtype(d).type(1) for d in dtypes)
        wrong += [check((ufunc, scalars, {}), True)[0]]
        if len(dtypes) == 2:
            wrong += (
                [check((ufunc, (np.ones(3, dtypes[0]), 2.0), {}), True)[0]]
                if _takes_float(ufunc, dtypes[0])
                else []
            )
    assert not any(wrong), "\n".join(w for w in wrong if w)


def _takes_float(ufunc: np.ufunc, dtype: str) -> bool:
    try:
        ufunc(np.ones(3, dtype), 2.0)
    except TypeError:
        return False
    return True


def _signatures(ufunc: np.ufunc) -> list[str]:
    good = []
    for signature in ufunc.types:
        inputs = signature.split("->")[0]
        if set(inputs) <= set("?bilfdD"):
            good.append(inputs)
    return good


@pytest.mark.parametrize("a", [FORTRAN, STRIDED], ids=["fortran", "strided"])
def test_elementwise_layout(a: np.ndarray[Any, Any]) -> None:
    for ufunc in (np.sin, np.add, np.maximum):
        args = (a,) * ufunc.nin
        assert check((ufunc, args, {}), True)[0] == ""
    assert check((np.add, (a, np.ones((3, 4))), {}), True)[0] == ""


def test_every_operation_is_sampled() -> None:
    sampled = {s[0] for s in samples()}
    missing = [
        op.name
        for f, op in operations()
        if f not in sampled and not isinstance(f, np.ufunc) and "." in op.numpy_path and not op.effect
    ]
    assert set(missing) <= {"math.sumprod", "math.fma", "shape"}, missing


def test_paths_reach_the_function() -> None:
    for fn, op in operations():
        if "." not in op.numpy_path:
            continue
        head, *rest = op.numpy_path.split(".")
        obj: Any = {"np": np, "math": math}[head]
        for name in rest:
            obj = getattr(obj, name)
        assert obj == fn, op.numpy_path
