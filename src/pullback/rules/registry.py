"""The ways to add to the table: `row`, `rule`, `builder`, `opaque`, `nondifferentiable`, `opt_out`.

They are public (`pb.row`, `pb.rule`, ...) and the built-in tables use the same.  Where a rule was defined
is found from the calling frame; its layer from the package of that module.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from pullback.errors import PullbackError
from pullback.ir.nodes import FRESH, Alias, Call
from pullback.rules.kinds import (
    ANY,
    BuilderRule,
    Case,
    Generic,
    Layer,
    NonDifferentiable,
    Opaque,
    OptOut,
    Origin,
    Row,
    Structured,
)
from pullback.rules.patterns import patterns
from pullback.rules.tables import (
    add,
    adopt,
    all_rules,
    declare,
    generation,
    get,
    is_nondifferentiable,
    load_operations,
    load_rules,
    op_of,
    operations,
    path_of,
    register_package,
    remove,
    rules_of,
    tables,
)

F = TypeVar("F", bound=Callable[..., Any])

_OWN_FRAMES = ("pullback.rules.registry", "pullback.api", "pullback")


def _origin() -> Origin:
    """The first frame outside the registry and the public interface."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__") in _OWN_FRAMES:
        frame = frame.f_back
    return Origin(str(frame.f_globals.get("__name__")), frame.f_code.co_filename, frame.f_lineno)


def _layer(origin: Origin, layer: Layer | str | None) -> Layer:
    if isinstance(layer, Layer):
        return layer
    if layer is not None:
        return Layer[layer.upper().replace("-", "_")]
    package = origin.module.split(".")[0]
    if package == "pullback":
        return Layer.BUILTIN
    return tables.packages.get(package, Layer.USER)


def _functions(fn: Any) -> tuple[Any, ...]:
    return tuple(fn) if isinstance(fn, tuple | list) else (fn,)


def _name(fn: Any) -> str:
    op = get(tables.ops, fn)
    return op.name if op is not None else path_of(fn) or getattr(fn, "__qualname__", None) or repr(fn)


def _common(
    fn: Any,
    hop: str,
    when: Any,
    guard: Any,
    priority: int,
    layer: Layer | str | None,
    config: bool,
    requires: Iterable[str],
    cases: Iterable[Case],
) -> dict[str, Any]:
    origin = _origin()
    return {
        "fn": fn,
        "name": _name(fn),
        "hop": hop,
        "origin": origin,
        "when": patterns(when),
        "guard": guard,
        "priority": priority,
        "layer": _layer(origin, layer),
        "config": config,
        "requires": frozenset(requires),
        "cases": tuple(cases),
    }


def row(
    fn: Any,
    params: str,
    *,
    domain: Any = "real",
    holomorphic: bool = False,
    selects: bool = False,
    hop: str = "H3",
    when: Any = None,
    guard: Any = None,
    priority: int = 0,
    layer: Layer | str | None = None,
    style: Callable[..., Any] | None = None,
    cases: Iterable[Case] = (),
    **partials: str,
) -> None:
    """Partials of an elementwise function, an expression over the operands and `out` for each.

    `params` names the operands ("x, y"; "x, lo=None" for one that may be left out).  The names in an
    expression resolve in the caller's module.  `selects` says that a partial is 0 where the operand is not
    chosen, as in a maximum: nothing is passed on there, even of a cotangent that is infinite.  A row attached
    at H1 also is the row of the scalar function at H3.
    """
    names, defaults = _parse_params(params)
    namespace = _caller_globals()
    for name, text in partials.items():
        if name not in names:
            raise PullbackError(
                f"row for {_name(fn)}: `{name}` is not one of the operands {', '.join(names)}"
            )
        if not str(namespace.get("__name__")).startswith("pullback.rules."):  # ours are checked by the suite
            check_names(text, names, namespace, fn)
    for one in _functions(fn):
        common = _common(one, hop, when, guard, priority, layer, False, (), cases)
        add(
            Row(
                **common,
                params=names,
                defaults=defaults,
                partials=dict(partials),
                namespace=namespace,
                domain=domain,
                holomorphic=holomorphic,
                selects=selects,
            )
        )
        _ensure_operation(one, style, elementwise=True)


def _parse_params(params: str) -> tuple[tuple[str, ...], dict[str, Any]]:
    names: list[str] = []
    defaults: dict[str, Any] = {}
    for part in params.split(","):
        name, _, default = part.partition("=")
        names.append(name.strip())
        if default:
            defaults[name.strip()] = ast.literal_eval(default.strip())
    return tuple(names), defaults


def _caller_globals() -> dict[str, Any]:
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__") in _OWN_FRAMES:
        frame = frame.f_back
    return frame.f_globals


def check_names(text: str, names: Sequence[str], namespace: Mapping[str, Any], fn: Any) -> None:
    """Say at once which name of an expression means nothing."""
    for name in compile(text, f"<row for {_name(fn)}>", "eval").co_names:
        if name in names or name == "out" or name in namespace or hasattr(np, name):
            continue
        if name not in ("abs", "bool", "conj", "astype", "dtype", "isinstance", "real", "imag"):
            raise PullbackError(
                f"row for {_name(fn)}: `{name}` in `{text}` is no operand, not `out`, no name of the module"
            )


def rule(
    fn: Any,
    *,
    wrt: str | Sequence[str] = (),
    style: Callable[..., Any] | None = None,
    alias: Alias | Callable[[Call], Alias] = FRESH,
    hop: str = "call",
    when: Any = None,
    guard: Any = None,
    priority: int = 0,
    layer: Layer | str | None = None,
    config: bool = False,
    requires: Iterable[str] = (),
    elementwise: bool = False,
    linear: str | Sequence[str] = (),
    forward: Callable[..., Any] | None = None,
    shaped: bool = False,
    cases: Iterable[Case] = (),
) -> Callable[[F], F]:
    """Decorator: a structured rule, a plain function of NumPy code that returns the cotangents.

    Its parameters are those of the function, then `*, out, out_bar`; it returns the cotangent of the first
    parameter,
    or a tuple of those that `wrt` names.
    """

    def register(pullback: F) -> F:
        names = _words(wrt) or (next(iter(inspect.signature(pullback).parameters)),)
        for one in _functions(fn):
            common = _common(one, hop, when, guard, priority, layer, config, requires, cases)
            add(
                Structured(
                    **common,
                    pullback=pullback,
                    wrt=names,
                    elementwise=elementwise or hop != "call",
                    linear=_words(linear),
                    forward=forward,
                    shaped=shaped,
                )
            )
            _ensure_operation(one, style, elementwise=elementwise or hop != "call", alias=alias)
        return pullback

    return register


def _words(names: str | Sequence[str]) -> tuple[str, ...]:
    return tuple(names.replace(",", " ").split()) if isinstance(names, str) else tuple(names)


def builder(
    fn: Any,
    *,
    wrt: Sequence[int] = (0,),
    linear: str | Sequence[str] = (),
    when: Any = None,
    guard: Any = None,
    priority: int = 0,
    layer: Layer | str | None = None,
    hop: str = "call",
    cases: Iterable[Case] = (),
) -> Callable[[F], F]:
    """Decorator: a rule that emits IR, for the handful that NumPy text cannot say."""

    def register(build: F) -> F:
        for one in _functions(fn):
            common = _common(one, hop, when, guard, priority, layer, False, (), cases)
            add(BuilderRule(**common, build=build, wrt=tuple(wrt), linear=_words(linear)))
        return build

    return register


def opaque(
    fn: Any,
    *,
    style: Callable[..., Any] | None = None,
    hop: str | None = None,
    when: Any = None,
    guard: Any = None,
    priority: int = 0,
    layer: Layer | str | None = None,
    config: bool = False,
    requires: Iterable[str] = (),
    cases: Iterable[Case] = (),
) -> Callable[[F], F]:
    """Decorator: a rule that is called, never looked into.

    The decorated function gets the operands (after the function itself where `fn` is ANY) and returns
    `(value, pullback)`; `pullback(out_bar)` returns the cotangent, or a tuple of them.
    """

    def register(call: F) -> F:
        for one in _functions(fn):
            at = hop or ("H2" if one is ANY or isinstance(one, np.ufunc) else "call")
            common = _common(one, at, when, guard, priority, layer, config, requires, cases)
            add(Opaque(**common, call=call))
            _ensure_operation(one, style, elementwise=at != "call")
        return call

    return register


def nondifferentiable(
    *fns: Any, when: Any = None, guard: Any = None, layer: Layer | str | None = None
) -> None:
    """Say that the results of functions carry no derivative."""
    for fn in fns:
        common = _common(fn, "call", when, guard, 0, layer, False, (), ())
        add(NonDifferentiable(**common))
        _ensure_operation(fn, None, elementwise=False)


def opt_out(
    fn: Any, *, hop: str = "", when: Any = None, guard: Any = None, layer: Layer | str | None = None
) -> None:
    """Take a function (with these operands) out of its rules, except the more specific ones; the lookup
    goes on.
    """
    for one in _functions(fn):
        add(OptOut(**_common(one, hop, when, guard, 0, layer, False, (), ())))


def generic(name: str) -> None:
    """Enter the built-in broadcast rule of H2."""
    common = _common(ANY, "H2", None, None, 0, None, True, (), ())
    common["name"] = name
    add(Generic(**common))


def _ensure_operation(
    fn: Any,
    style: Callable[..., Any] | None,
    *,
    elementwise: bool,
    alias: Alias | Callable[[Call], Alias] = FRESH,
) -> None:
    """A function with a rule is an operation: it is called, not lowered.  Without a style it is asked on
    samples.
    """
    if fn is ANY or not callable(fn) or (get(tables.ops, fn) is not None and style is None):
        return
    if style is None:
        sampling = importlib.import_module("pullback.rules.ops.sampling")
        style = sampling.elementwise_style(fn) if elementwise else sampling.sampled_style(fn)
        tables.implied.add(fn)
    declare(fn, style=style, alias=alias, elementwise=elementwise)


__all__ = [
    "adopt",
    "all_rules",
    "builder",
    "declare",
    "generation",
    "generic",
    "is_nondifferentiable",
    "load_operations",
    "load_rules",
    "nondifferentiable",
    "op_of",
    "opaque",
    "operations",
    "opt_out",
    "path_of",
    "register_package",
    "remove",
    "row",
    "rule",
    "rules_of",
]
