"""The state of the registry: operations and rules by function object, loaded on first use.

`op_of(fn)` is the operation of a NumPy or `math` function; `declare` makes one.  Keys are the function
objects, never their spelling.  The built-in tables load on first use, so that importing the package reads
no rule.  `generation()` counts changes: what was compiled under another count is stale.
"""

from __future__ import annotations

import importlib
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pullback.ir.nodes import FRESH, Alias, Call, Op
from pullback.rules.kinds import Layer, NonDifferentiable, Rule
from pullback.styles.style import Anything

OP_TABLES = (
    "elementwise",
    "python",
    "reductions",
    "shaping",
    "pieces",
    "joining",
    "creation",
    "selection",
    "products",
    "linalg",
    "random",
    "broadcasting",
)
RULE_TABLES = (
    "broadcast",
    "elementwise",
    "complex",
    "reductions",
    "scans",
    "shaping",
    "joining",
    "items",
    "selection",
    "products",
    "einsum",
    "signals",
    "linalg",
    "norms",
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


class Tables:
    """The tables."""

    def __init__(self) -> None:
        self.ops: dict[Any, Op] = {}
        self.implied: set[Any] = set()  # functions that are operations because they have a rule
        self.rules: dict[Any, list[Rule]] = {}
        self.generation = 0
        self.packages: dict[str, Layer] = {}
        self.loaded: set[str] = set()
        self.loading: set[str] = set()  # begun: their modules ask for them again
        self.paths: dict[Any, str] = {}
        self.lock = threading.RLock()


tables = Tables()


def load(package: str, names: Sequence[str]) -> None:
    """Import the modules of a table once."""
    if package in tables.loaded:
        return
    with tables.lock:
        if package in tables.loaded or package in tables.loading:
            return
        tables.loading.add(package)
        try:
            for name in names:
                importlib.import_module(f"pullback.rules.{package}.{name}")
            tables.loaded.add(package)  # only now: other threads wait until all is there
        finally:
            tables.loading.discard(
                package
            )  # interrupted: the next call goes on, a rule at the same place is replaced


def load_operations() -> None:
    """Load the built-in operations."""
    load("ops", OP_TABLES)


def load_rules() -> None:
    """Load the built-in rules (and operations)."""
    load_operations()
    load("numpy", RULE_TABLES)


def generation() -> int:
    """A counter of changes to the table."""
    return tables.generation


# ------------------------------------------------------------------------------------------------- operations


def op_of(fn: Any) -> Op | None:
    """The operation of a function, or None."""
    load_operations()
    found: Op | None = get(tables.ops, fn)
    return found


def operations() -> Iterator[tuple[Any, Op]]:
    """Every declared function with its operation."""
    load_operations()
    yield from list(tables.ops.items())


def get(table: Mapping[Any, Any], fn: Any) -> Any:
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
    tables.ops[fn] = op
    return op


def adopt(fn: Any, op: Op) -> None:
    """Give a function an operation that exists already."""
    tables.ops[fn] = op


def _total(style: Callable[..., Any]) -> Callable[..., Any]:
    """A style function that leaves a call NumPy itself will reject to NumPy."""

    def safe(*args: Any, **kwargs: Any) -> Any:
        try:
            made = style(*args, **kwargs)
        except (TypeError, ValueError):
            return Anything()
        one = isinstance(made, tuple) and len(made) == 1  # a tuple of one is no array
        return Anything() if one else made

    return safe


def path_of(fn: Any) -> str:
    """How generated code reaches a NumPy, `math` or built-in function: "np.linalg.inv"; "" where it is not
    reachable so.
    """
    if not tables.paths:
        for module, prefix in reversed(_MODULES):
            for name, obj in list(
                vars(module).items()
            ):  # not getattr: NumPy imports some submodules when asked
                _index_path(obj, prefix, name)
    return get(tables.paths, fn) or ""


def _index_path(obj: Any, prefix: str, name: str) -> None:
    if not callable(obj) or name.startswith("_") or isinstance(obj, type):
        return
    own = getattr(obj, "__name__", name)
    try:
        if own == name or obj not in tables.paths:
            tables.paths[obj] = f"{prefix}.{name}"
    except TypeError:
        return


def register_package(name: str, layer: Layer = Layer.THIRD_PARTY) -> None:
    """Say that the rules which modules of package `name` register are a third party's, not the user's own."""
    tables.packages[name] = layer


def rules_of(fn: Any) -> tuple[Rule, ...]:
    """The rules registered for a function (ANY: the generic ones)."""
    load_rules()
    return tuple(get(tables.rules, fn) or ())


def all_rules() -> Iterator[Rule]:
    """Every rule of the table."""
    load_rules()
    for rules in list(tables.rules.values()):
        yield from rules


def is_nondifferentiable(fn: Any) -> bool:
    """Whether the results of a function carry no derivative, whatever its operands."""
    return any(isinstance(r, NonDifferentiable) and not r.when and r.guard is None for r in rules_of(fn))


def remove(rule: Rule) -> None:
    """Take a rule out of the table."""
    with tables.lock:
        tables.rules[rule.fn].remove(rule)
        if not tables.rules[rule.fn] and rule.fn in tables.implied:  # again a function like any other
            tables.implied.remove(rule.fn)
            del tables.ops[rule.fn]
        tables.generation += 1


def add(rule: Rule) -> None:
    """Enter a rule; one from the same place (a notebook cell run again) replaces its older self."""
    with tables.lock:
        rules = tables.rules.setdefault(rule.fn, [])
        rules[:] = [r for r in rules if not _same_place(r, rule)]
        rules.append(rule)
        if not tables.loading:  # loading our own tables changes no answer
            tables.generation += 1


def _same_place(a: Rule, b: Rule) -> bool:
    same = (type(a), a.hop, a.origin.module, a.origin.line) == (
        type(b),
        b.hop,
        b.origin.module,
        b.origin.line,
    )
    return same and [str(p) for p in a.when] == [str(p) for p in b.when]
