"""The table of operations and rules, and the ways to add to it.

`op_of(fn)` is the operation of a NumPy or `math` function; `declare` makes one.  `row`, `rule`,
`builder`, `opaque`, `nondifferentiable` and `opt_out` add rules.  Keys are the function objects, never
their spelling.  The built-in tables load on first use, so that importing the package reads no rule.
`generation()` counts changes: what was compiled under another count is stale.
"""

from __future__ import annotations

import importlib
import inspect
import math
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from pullback.errors import PullbackError
from pullback.ir.nodes import FRESH, Alias, Call, Op
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
    Rule,
    Structured,
)
from pullback.rules.patterns import patterns
from pullback.styles.style import Anything

F = TypeVar("F", bound=Callable[..., Any])

OP_TABLES = (
    "elementwise",
    "reductions",
    "shaping",
    "joining",
    "creation",
    "selection",
    "products",
    "linalg",
    "random",
)
RULE_TABLES = (
    "broadcast",
    "elementwise",
    "complex",
    "reductions",
    "scans",
    "shaping",
    "joining",
    "selection",
    "products",
    "linalg",
    "creation",
    "calculus",
    "fourier",
    "nondifferentiable",
)
_MODULES = (
    (np, "np"),
    (np.linalg, "np.linalg"),
    (np.fft, "np.fft"),
    (math, "math"),
    (np.random, "np.random"),
    (np.lib.stride_tricks, "np.lib.stride_tricks"),
)
_OWN_FRAMES = ("pullback.rules.registry", "pullback.api", "pullback")


class _Tables:
    """The state of the registry."""

    def __init__(self) -> None:
        self.ops: dict[Any, Op] = {}
        self.rules: dict[Any, list[Rule]] = {}
        self.generation = 0
        self.packages: dict[str, Layer] = {}
        self.loaded: set[str] = set()
        self.paths: dict[Any, str] = {}
        self.lock = threading.RLock()


_tables = _Tables()


def _load(package: str, names: Sequence[str]) -> None:
    """Import the modules of a table once."""
    if package in _tables.loaded:
        return
    with _tables.lock:
        if package in _tables.loaded:
            return
        _tables.loaded.add(package)
        before = _tables.generation
        for name in names:
            importlib.import_module(f"pullback.rules.{package}.{name}")
        _tables.generation = before  # loading our own tables changes no answer


def load_operations() -> None:
    """Load the built-in operations."""
    _load("ops", OP_TABLES)


def load_rules() -> None:
    """Load the built-in rules (and operations)."""
    load_operations()
    _load("numpy", RULE_TABLES)


def generation() -> int:
    """A counter of changes to the table."""
    return _tables.generation


# ------------------------------------------------------------------------------------------------- operations


def op_of(fn: Any) -> Op | None:
    """The operation of a function, or None."""
    load_operations()
    found: Op | None = _get(_tables.ops, fn)
    return found


def operations() -> Iterator[tuple[Any, Op]]:
    """Every declared function with its operation."""
    load_operations()
    yield from list(_tables.ops.items())


def _get(table: Mapping[Any, Any], fn: Any) -> Any:
    try:
        return table.get(fn)
    except TypeError:  # not hashable
        return None


def declare(
    fn: Any,
    *,
    style: Callable[..., Any],
    alias: Alias | Callable[[Call], Alias] = FRESH,
    effect: bool = False,
    cheap: bool = False,
    elementwise: bool = False,
    path: str | None = None,
) -> Op:
    """Make a function an operation.

    >>> declare(np.sign, style=lambda x: x, cheap=True).numpy_path
    'np.sign'
    """
    where = path if path is not None else path_of(fn)
    op = Op(
        where or getattr(fn, "__name__", repr(fn)),
        fn,
        _total(style),
        alias,
        effect,
        False,
        cheap,
        elementwise,
        where,
        fn,
    )
    _tables.ops[fn] = op
    return op


def adopt(fn: Any, op: Op) -> None:
    """Give a function an operation that exists already."""
    _tables.ops[fn] = op


def _total(style: Callable[..., Any]) -> Callable[..., Any]:
    """A style function that leaves a call NumPy itself will reject to NumPy."""

    def safe(*args: Any, **kwargs: Any) -> Any:
        try:
            return style(*args, **kwargs)
        except (TypeError, ValueError):
            return Anything()

    return safe


def path_of(fn: Any) -> str:
    """How generated code reaches a NumPy, `math` or built-in function: "np.linalg.inv"; "" where it is not
    reachable so.
    """
    if not _tables.paths:
        for module, prefix in reversed(_MODULES):
            for name, obj in list(
                vars(module).items()
            ):  # not getattr: NumPy imports some submodules when asked
                _index_path(obj, prefix, name)
    return _get(_tables.paths, fn) or ""


def _index_path(obj: Any, prefix: str, name: str) -> None:
    if not callable(obj) or name.startswith("_") or isinstance(obj, type):
        return
    own = getattr(obj, "__name__", name)
    try:
        if own == name or obj not in _tables.paths:
            _tables.paths[obj] = f"{prefix}.{name}"
    except TypeError:
        return


# ------------------------------------------------------------------------------------------------------ rules


def register_package(name: str, layer: Layer = Layer.THIRD_PARTY) -> None:
    """Say that the rules which modules of package `name` register are a third party's, not the user's own."""
    _tables.packages[name] = layer


def rules_of(fn: Any) -> tuple[Rule, ...]:
    """The rules registered for a function (ANY: the generic ones)."""
    load_rules()
    return tuple(_get(_tables.rules, fn) or ())


def all_rules() -> Iterator[Rule]:
    """Every rule of the table."""
    load_rules()
    for rules in list(_tables.rules.values()):
        yield from rules


def is_nondifferentiable(fn: Any) -> bool:
    """Whether the results of a function carry no derivative, whatever its operands."""
    return any(isinstance(r, NonDifferentiable) and not r.when and r.guard is None for r in rules_of(fn))


def remove(rule: Rule) -> None:
    """Take a rule out of the table."""
    _tables.rules[rule.fn].remove(rule)
    _tables.generation += 1


def _add(rule: Rule) -> None:
    """Enter a rule; one from the same place (a notebook cell run again) replaces its older self."""
    with _tables.lock:
        rules = _tables.rules.setdefault(rule.fn, [])
        rules[:] = [r for r in rules if not _same_place(r, rule)]
        rules.append(rule)
        _tables.generation += 1


def _same_place(a: Rule, b: Rule) -> bool:
    same = (type(a), a.hop, a.origin.module, a.origin.line) == (
        type(b),
        b.hop,
        b.origin.module,
        b.origin.line,
    )
    return same and [str(p) for p in a.when] == [str(p) for p in b.when]


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
    return _tables.packages.get(package, Layer.USER)


def _functions(fn: Any) -> tuple[Any, ...]:
    return tuple(fn) if isinstance(fn, tuple | list) else (fn,)


def _name(fn: Any) -> str:
    op = _get(_tables.ops, fn)
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
    expression resolve in the caller's module.  A row attached at H1 also is the row of the scalar
    function at H3.
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
        _add(
            Row(
                **common,
                params=names,
                defaults=defaults,
                partials=dict(partials),
                namespace=namespace,
                domain=domain,
                holomorphic=holomorphic,
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
            defaults[name.strip()] = {"None": None, "True": True, "False": False}.get(
                default.strip(), default
            )
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
            _add(
                Structured(
                    **common,
                    pullback=pullback,
                    wrt=names,
                    elementwise=elementwise or hop != "call",
                    linear=_words(linear),
                    forward=forward,
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
            _add(BuilderRule(**common, build=build, wrt=tuple(wrt), linear=_words(linear)))
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
            _add(Opaque(**common, call=call))
            _ensure_operation(one, style, elementwise=at != "call")
        return call

    return register


def nondifferentiable(
    *fns: Any, when: Any = None, guard: Any = None, layer: Layer | str | None = None
) -> None:
    """Say that the results of functions carry no derivative."""
    for fn in fns:
        common = _common(fn, "call", when, guard, 0, layer, False, (), ())
        _add(NonDifferentiable(**common))
        _ensure_operation(fn, None, elementwise=False)


def opt_out(
    fn: Any, *, hop: str = "", when: Any = None, guard: Any = None, layer: Layer | str | None = None
) -> None:
    """Take a function (with these operands) out of its rules, except the more specific ones; the lookup
    goes on.
    """
    for one in _functions(fn):
        _add(OptOut(**_common(one, hop, when, guard, 0, layer, False, (), ())))


def generic(name: str) -> None:
    """Enter the built-in broadcast rule of H2."""
    common = _common(ANY, "H2", None, None, 0, None, True, (), ())
    common["name"] = name
    _add(Generic(**common))


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
    if fn is ANY or not callable(fn) or (_get(_tables.ops, fn) is not None and style is None):
        return
    if style is None:
        sampling = importlib.import_module("pullback.rules.ops.sampling")
        style = sampling.sampled_style(fn)
    declare(fn, style=style, alias=alias, elementwise=elementwise)
