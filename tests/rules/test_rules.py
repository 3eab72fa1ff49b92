"""The suite that the registry generates: every rule on every case against differences, and what every rule
must keep.

Rules run alone here, on plain arrays (see `apply_rule`).
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from apply_rule import cotangents, differences, leaves, seed
from style_check import Symbols, style_of_value

from pullback.rules.kinds import BuilderRule, Case, NonDifferentiable, Row, Rule, Structured
from pullback.rules.lookup import Site, resolve
from pullback.rules.registry import all_rules, check_names, is_nondifferentiable, op_of, rules_of
from pullback.styles.style import Scalar, Static

ROWS = [r for r in all_rules() if isinstance(r, Row)]
OTHERS = [r for r in all_rules() if isinstance(r, Structured | BuilderRule)]
SHAPES = [((),), ((3,),), ((2, 3),), ((0, 3),)]
PAIRS = [
    ((), ()),
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((2, 1), (3,)),
    ((0, 3), (3,)),
    ((1, 0), (4, 1)),
    ((2, 3), ()),
]


def rule_id(rule: Rule) -> str:
    when = "-".join(str(p) for p in rule.when)
    return f"{rule.name}{'-' + when if when else ''}-{rule.origin.line}"


def draw(domain: str, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    """Random values of a domain."""
    values = {
        "real": lambda: rng.normal(size=shape) * 1.5,
        "positive": lambda: rng.uniform(0.3, 2.5, shape),
        "nonzero": lambda: rng.uniform(0.5, 2.0, shape) * rng.choice([-1.0, 1.0], shape),
        "unit": lambda: rng.uniform(-0.8, 0.8, shape),
        "above one": lambda: rng.uniform(1.3, 3.0, shape),
        "left": lambda: (
            rng.integers(-3, 4, shape) + 0.25
        ),  # away from every "right" and multiple of a "divisor"
        "right": lambda: rng.integers(-3, 4, shape) + 0.6,
        "divisor": lambda: rng.choice([0.73, 1.37, -1.17], shape),
        "integer": lambda: rng.integers(1, 4, shape),
    }[domain]()
    return np.asarray(values)[()]


def row_cases(rule: Row, rng: np.random.Generator) -> Iterator[Case]:
    """Arguments of several shapes in the domain of a row."""
    if rule.cases:
        yield from rule.cases
        return
    required = [p for p in rule.params if p not in rule.defaults]
    domains = rule.domain if isinstance(rule.domain, tuple) else (rule.domain,) * len(required)
    static = [p.name == "static number" for p in rule.when] + [False] * len(required)
    complex_only = any(p.name == "complex" for p in rule.when)
    of_numbers = not isinstance(rule.fn, np.ufunc) and getattr(rule.fn, "__module__", "") in (
        "math",
        "builtins",
    )
    shapes: list[Any] = [((),) * len(required)] if of_numbers else SHAPES if len(required) == 1 else PAIRS
    for dims in shapes:
        args = [draw(d, s, rng) for d, s in zip(domains, dims, strict=False)]
        if of_numbers:
            args = [int(a) if d == "integer" else float(a) for a, d in zip(args, domains, strict=False)]
        for exponent in (0, 1, 2, 3, -1, 0.5, 2.5, -2) if any(static) else (None,):
            chosen = [exponent if s else a for a, s in zip(args, static, strict=False)]
            wrt = tuple(
                i
                for i, p in enumerate(required)
                if p in rule.partials and not static[i] and domains[i] != "integer"
            )
            if not complex_only:
                yield Case(tuple(chosen), {}, wrt)
            if rule.holomorphic and not of_numbers and rule.fn is not np.float_power:
                shifted = [
                    a if s else a + 0.3j * draw("unit", np.shape(a), rng)
                    for a, s in zip(chosen, static, strict=False)
                ]
                yield Case(tuple(shifted), {}, wrt)


def positions(rule: Rule, case: Case) -> tuple[int, ...]:
    """The operands to differentiate."""
    if case.wrt is not None:
        return case.wrt
    if isinstance(rule, Structured):
        names = list(rule.signature.parameters)
        candidates = [names.index(n) for n in rule.wrt]
    else:
        candidates = list(rule.wrt) if isinstance(rule, BuilderRule) else list(range(len(case.args)))
    return tuple(i for i in candidates if i < len(case.args) and _differentiable(case.args[i]))


def _differentiable(value: Any) -> bool:
    return (
        not isinstance(value, str | type)
        and value is not None
        and all(a.dtype.kind in "fc" for a in leaves(value))
    )


def close(found: Any, expected: Any, tolerance: float) -> bool:
    a, b = (
        np.concatenate([np.ravel(x) for x in leaves(found)] or [[]]),
        np.concatenate([np.ravel(x) for x in expected] or [[]]),
    )
    scale = max(1.0, float(np.max(np.abs(b), initial=0.0)))
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= tolerance * scale))


def run(rule: Rule, case: Case, rng: np.random.Generator) -> list[str]:
    """What is wrong with a rule on a case."""
    with np.errstate(all="ignore"):
        out = rule.fn(*case.args, **case.kwargs)
    out_bar = seed(out, rng)
    if isinstance(out, list | tuple):
        out = tuple(out)
    bars = cotangents(rule, case.args, case.kwargs, out, out_bar)
    wrong = []
    for i in positions(rule, case):
        expected = differences(rule.fn, case.args, case.kwargs, i, out_bar)
        if i not in bars:
            bars[i] = np.zeros_like(case.args[i])
        if not close(bars[i], expected, 2e-7):
            wrong.append(f"{describe(case)}: operand {i}: {bars[i]} found, {expected} expected")
    zero = (
        tuple(None if b is None else np.zeros_like(b)[()] for b in out_bar)
        if isinstance(out_bar, tuple)
        else np.zeros_like(out_bar)[()]
    )
    for i, bar in cotangents(rule, case.args, case.kwargs, out, zero).items():
        if i in positions(rule, case) and any(np.any(leaf != 0) for leaf in leaves(bar)):
            wrong.append(f"{describe(case)}: operand {i}: zero cotangent gives {bar}")
    return wrong


def describe(case: Case) -> str:
    return f"{[getattr(a, 'shape', a) for a in case.args]} {dict(case.kwargs)}"


@pytest.mark.parametrize("rule", ROWS, ids=rule_id)
def test_rows_against_differences(rule: Row) -> None:
    rng = np.random.default_rng(7)
    wrong = [text for case in row_cases(rule, rng) for text in run(rule, case, rng)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("rule", OTHERS, ids=rule_id)
def test_structured_rules_against_differences(rule: Structured | BuilderRule) -> None:
    rng = np.random.default_rng(7)
    wrong = [text for case in cases_of(rule) for text in run(rule, case, rng)]
    assert not wrong, "\n".join(wrong)


def cases_of(rule: Rule) -> tuple[Case, ...]:
    """The cases of a rule, all of which its patterns and guard accept."""
    return rule.cases or EXTRA.get(rule.name, ())


def converted(value: Any, change: Any) -> Any:
    if isinstance(value, list | tuple):
        made = [converted(v, change) for v in value]
        return made if isinstance(value, list) else tuple(made)
    return change(value) if isinstance(value, np.ndarray) and value.dtype.kind in "fc" else value


def strided(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same values, every other element of a larger array."""
    if a.ndim == 0:
        return a
    wide = np.zeros((*a.shape[:-1], 2 * a.shape[-1]), a.dtype)
    wide[..., ::2] = a
    return wide[..., ::2]


def single(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return a.astype(np.complex64 if a.dtype.kind == "c" else np.float32)


@pytest.mark.parametrize("rule", OTHERS, ids=rule_id)
def test_layout_and_precision_do_not_matter(rule: Structured | BuilderRule) -> None:
    for case in cases_of(rule):
        with np.errstate(all="ignore"):
            out = rule.fn(*case.args, **case.kwargs)
        out = tuple(out) if isinstance(out, list | tuple) else out
        out_bar = seed(out, np.random.default_rng(3))
        plain = cotangents(rule, case.args, case.kwargs, out, out_bar)
        for change, tolerance in ((strided, 1e-12), (np.asfortranarray, 1e-12), (single, 3e-3)):
            args = converted(case.args, change)
            outs = converted(out, change) if change is single else out
            other = cotangents(rule, args, case.kwargs, outs, converted(out_bar, change))
            for i in positions(rule, case):
                if i not in plain:
                    continue
                assert close(other[i], leaves(plain[i]), tolerance), f"{change.__name__} {describe(case)}"
                assert [a.dtype for a in leaves(other[i])] == [np.asarray(a).dtype for a in leaves(args[i])]


# -------------------------------------------------------------------------------------- what every rule keeps


def test_every_differentiated_rule_has_cases() -> None:
    missing = [rule_id(r) for r in OTHERS if not cases_of(r) and not _of_run_time_lists(r)]
    assert not missing, missing


def _of_run_time_lists(rule: Rule) -> bool:
    """Rules for lists of unknown length are exercised through the compiler."""
    return any("list" in p.name for p in rule.when)


def test_cases_reach_their_rule() -> None:
    for rule in OTHERS:
        for case in cases_of(rule):
            symbols = Symbols(exact=True)
            active = positions(rule, case)
            operands = tuple(
                Static(a) if type(a) is float and i not in active else style_of_value(a, symbols)
                for i, a in enumerate(case.args)
            )
            kwargs = tuple((k, style_of_value(v, symbols)) for k, v in case.kwargs.items())
            op = op_of(rule.fn)
            form = "ufunc" if op is not None and op.elementwise else "call"
            decision = resolve(Site(rule.fn, form, operands, kwargs))
            assert decision.rule is rule, f"{rule_id(rule)} {describe(case)}: {decision}"


def test_rule_text_uses_only_functions_with_a_rule() -> None:
    """Each function that a rule calls has a rule or is nondifferentiable, so that rules differentiate
    again.
    """
    missing: dict[str, set[str]] = {}
    for rule in all_rules():
        for fn in functions_called(rule):
            if not rules_of(fn) and not is_nondifferentiable(fn) and op_of(fn) is not None:
                missing.setdefault(op_of(fn).name, set()).add(rule_id(rule))  # type: ignore[union-attr]
    assert not missing, missing


def functions_called(rule: Rule) -> set[Any]:
    """The library functions that the text of a rule names, helpers included."""
    if isinstance(rule, Row):
        trees = [(ast.parse(t, mode="eval"), rule.namespace) for t in rule.partials.values()]
    elif isinstance(rule, Structured):
        trees = [(ast.parse(textwrap.dedent(inspect.getsource(rule.pullback))), rule.pullback.__globals__)]
    else:
        return set()
    found: set[Any] = set()
    seen: set[str] = set()
    while trees:
        tree, namespace = trees.pop()
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                fn = _resolved(node.func, namespace)
                if (
                    inspect.isfunction(fn)
                    and fn.__module__.startswith("pullback.rules")
                    and fn.__name__ not in seen
                ):
                    seen.add(fn.__name__)
                    trees.append((ast.parse(textwrap.dedent(inspect.getsource(fn))), fn.__globals__))
                elif fn is not None and op_of(fn) is not None:
                    found.add(fn)
    return found


def _resolved(node: ast.expr, namespace: Any) -> Any:
    if isinstance(node, ast.Name):
        return namespace.get(node.id)
    if isinstance(node, ast.Attribute):
        base = _resolved(node.value, namespace)
        return getattr(base, node.attr, None) if base is not None else None
    return None


def test_every_ufunc_has_a_rule_or_is_constant() -> None:
    without = [f.__name__ for f in vars(np).values() if isinstance(f, np.ufunc) and not rules_of(f)]
    assert not without, sorted(set(without))


def test_rows_name_only_what_they_know() -> None:
    for rule in ROWS:
        for text in rule.partials.values():
            check_names(text, rule.params, rule.namespace, rule.fn)


def test_constants_keep_float32() -> None:
    """No partial of float32 operands is computed in float64, masks aside (a truth value counts half)."""
    rng = np.random.default_rng(1)
    for rule in ROWS:
        if not isinstance(rule.fn, np.ufunc) or rule.fn in (np.float_power, np.ldexp):
            continue
        for case in row_cases(rule, rng):
            if np.iscomplexobj(case.args[0]) or np.shape(case.args[0]) != (3,):
                continue
            args = [a.astype(np.float32) if isinstance(a, np.ndarray) else a for a in case.args]
            out = rule.fn(*args)
            for name, text in rule.partials.items():
                if "0.5 * (" in text:
                    continue
                names = dict(zip(rule.params, args, strict=False))
                partial = eval(text, dict(rule.namespace), {**names, "out": out})
                assert np.multiply(np.float32(1), partial).dtype == np.float32, (
                    f"{rule_id(rule)}: {name}={text}"
                )


def test_scalars_stay_scalars() -> None:
    decision = resolve(Site(np.sin, "ufunc", (Scalar(np.dtype(float), True),)))
    assert decision.path == "scalar"
    assert isinstance(
        resolve(Site(np.floor, "ufunc", (Scalar(np.dtype(float), True),))).rule, NonDifferentiable
    )


EXTRA: dict[str, tuple[Case, ...]] = {}


def _extra_cases() -> None:
    """Cases of the elementwise rules that are not rows."""
    v, w = np.array([1.5, -0.5, 2.0]), np.array([0.5, 1.0, -2.0])
    z = np.array([1.0 + 2.0j, -0.5 + 0.25j])
    mask = np.array([True, False, True])
    EXTRA["np.where"] = (
        Case((mask, v, w), {}, (1, 2)),
        Case((mask, v, 0.5), {}, (1, 2)),
        Case((v[:, None] > w, v, 2.0), {}, (1,)),
    )
    EXTRA["np.divmod"] = (Case((v, np.array([0.7, 0.8, 1.3]))),)
    EXTRA["divmod"] = (Case((2.5, 0.7)),)
    EXTRA["np.modf"] = EXTRA["np.frexp"] = (Case((w + 0.3,)),)
    EXTRA["math.modf"] = EXTRA["math.frexp"] = (Case((1.3,)),)
    EXTRA["np.unwrap"] = (Case((v * 5,)),)
    for name in ("np.absolute", "abs", "np.real", "np.imag", "np.conjugate", "np.angle"):
        EXTRA[name] = (Case((z,)), Case((z[:, None],)))
    EXTRA["np.angle"] += (Case((z, True), {}, (0,)),)


_extra_cases()


OTHER_NAMES = {
    "np.reshape",
    "np.pad",
    "np.gradient",
    "np.atleast_1d",
    "np.atleast_2d",
    "np.atleast_3d",
}  # *args, old names


def test_parameters_are_named_and_placed_as_numpys() -> None:
    """Calls bind by position and by name; `out` is the front end's."""
    wrong = []
    for rule in OTHERS:
        if not isinstance(rule, Structured):
            continue
        if not inspect.isfunction(getattr(rule.fn, "__wrapped__", rule.fn)) or rule.name in OTHER_NAMES:
            continue
        theirs = inspect.signature(rule.fn).parameters
        if any(p.kind is p.POSITIONAL_ONLY for p in theirs.values()):
            continue
        placed = [
            n
            for n, p in theirs.items()
            if p.kind is not p.KEYWORD_ONLY and n != "out" and p.kind is not p.VAR_POSITIONAL
        ]
        for i, (name, p) in enumerate(rule.signature.parameters.items()):
            if name in theirs and (p.kind is p.KEYWORD_ONLY or placed[i : i + 1] == [name]):
                continue
            wrong.append(f"{rule_id(rule)}: {name} at {i}, NumPy has {list(theirs)}")
    assert not wrong, "\n".join(wrong)
