"""The kinds of rules, as data.

    Row              partials of an elementwise function, a text each
    Structured       a plain Python function (operands, `out`, `out_bar` in; cotangents out) whose source is
    lowered
    BuilderRule      a function that emits IR: `build(builder, args, kwargs, out, out_bar) -> cotangents`
    Opaque           any callable returning (value, pullback); called, never looked into
    NonDifferentiable  the result carries no derivative
    OptOut           a hole in the rules of a function
    Generic          the broadcast rule of hop H2: it serves every elementwise function, by one of its five
    paths

All share `Rule`: which function, at which hop, for which operands, and what decides between rules of one hop.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from types import FunctionType
from typing import TYPE_CHECKING, Any

from pullback.rules.patterns import Pattern

if TYPE_CHECKING:
    from pullback.rules.lookup import Site

HOPS = ("H0", "H1", "H2", "H3")


class _AnyFunction:
    """Stands for every elementwise function: the key of generic rules."""

    def __repr__(self) -> str:
        return "ANY"


class _Decline:
    """What a rule's `when` returns to say: not me after all, ask the next."""

    def __repr__(self) -> str:
        return "DECLINE"


ANY = _AnyFunction()
DECLINE = _Decline()


class Layer(IntEnum):
    """Who registered a rule."""

    BUILTIN = 0
    THIRD_PARTY = 1
    USER = 2


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a rule was defined."""

    module: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.module}:{self.line}"


@dataclass(frozen=True, slots=True)
class Case:
    """Example arguments for the generated tests, and the positions of the differentiated ones (None: the
    rule's own).
    """

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    wrt: tuple[int, ...] | None = None


def case(*args: Any, wrt: tuple[int, ...] | None = None, **kwargs: Any) -> Case:
    """Example arguments of a rule."""
    return Case(args, kwargs, wrt)


@dataclass(frozen=True, eq=False)
class Rule:
    """What every rule says.

    fn        the function (for operators the ufunc), or ANY
    hop       "call" for functions that are not elementwise, else H0 .. H3
    when      patterns of the operands' styles, by position; more operands match the last pattern if it is
    "rest"
    guard     a further test on the site: True, False or DECLINE
    config    the rule needs the compiler (asks it to differentiate something): only a tie-break
    requires  modes ("reverse", "forward") that must be at hand
    """

    fn: Any
    name: str
    hop: str
    origin: Origin
    when: tuple[Pattern, ...] = ()
    guard: Callable[[Site], Any] | None = None
    priority: int = 0
    layer: Layer = Layer.BUILTIN
    config: bool = False
    requires: frozenset[str] = frozenset()
    cases: tuple[Case, ...] = ()

    @property
    def generic(self) -> bool:
        """Whether it serves every function: the function is then passed to it as the first operand."""
        return self.fn is ANY

    def __str__(self) -> str:
        return f"{type(self).__name__.lower()} for {self.name} ({self.origin})"


@dataclass(frozen=True, eq=False)
class Row(Rule):
    """Partials of an elementwise function.

    `params` are the operands' names, `defaults` those that may be left out; `partials` maps names to
    expressions over
    the names and `out`.  The cotangent of x is scale(out_bar, partial), with conj(partial) where holomorphic.
    """

    params: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    partials: Mapping[str, str] = field(default_factory=dict)
    namespace: Mapping[str, Any] = field(default_factory=dict)
    domain: Any = "real"
    holomorphic: bool = False
    selects: bool = False  # a partial is 0 where the operand is not chosen: even an infinite cotangent stops

    def free_names(self, param: str) -> frozenset[str]:
        """The operands (and `out`) that the partial with respect to `param` reads: what must be saved."""
        if param not in self._free:
            tree = ast.parse(self.partials[param], mode="eval")
            names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
            self._free[param] = frozenset(names & {*self.params, "out"})
        return self._free[param]

    @cached_property
    def _free(self) -> dict[str, frozenset[str]]:
        return {}

    @cached_property
    def signature(self) -> inspect.Signature:
        """The signature that a call's operands are bound to."""
        return inspect.Signature(
            [
                inspect.Parameter(
                    p,
                    inspect.Parameter.POSITIONAL_OR_KEYWORD,
                    default=self.defaults.get(p, inspect.Parameter.empty),
                )
                for p in self.params
            ]
        )

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Operands by parameter name, defaults (raw Python values) filled in."""
        return _bind(self.signature, args, kwargs)


@dataclass(frozen=True, eq=False)
class Structured(Rule):
    """A rule whose Python source is lowered by the front end.

    `pullback(operands..., *, out, out_bar)` returns the cotangent of `wrt[0]`, or a tuple in the order of
    `wrt`.  An operand that is a sequence of arrays gets a tuple of cotangents; None says: no cotangent.
    For a function with several results `out` and `out_bar` are tuples; a result without cotangent has
    None in `out_bar`. `elementwise`: the engine unbroadcasts each cotangent to its operand.  `linear`:
    the operands in which the function is linear (jointly when several), which gives forward mode.  `shaped`: each
    cotangent is returned in the shape of its operand, whether or not that can be seen.
    """

    pullback: Callable[..., Any] = lambda: None
    wrt: tuple[str, ...] = ()
    elementwise: bool = False
    linear: tuple[str, ...] = ()
    forward: Callable[..., Any] | None = None
    shaped: bool = False

    @cached_property
    def signature(self) -> inspect.Signature:
        """The signature that a call's operands are bound to."""
        full = inspect.signature(self.pullback)
        return full.replace(parameters=[p for n, p in full.parameters.items() if n not in ("out", "out_bar")])

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Operands by parameter name, defaults (raw Python values) filled in."""
        return _bind(self.signature, args, kwargs)

    def lowerable(self) -> bool:
        """Whether its text can be found (else a third party's rule is used as opaque)."""
        if not isinstance(self.pullback, FunctionType):
            return False
        try:
            inspect.getsource(self.pullback)
        except (OSError, TypeError):
            return False
        return True


@dataclass(frozen=True, eq=False)
class BuilderRule(Rule):
    """`build(builder, args, kwargs, out, out_bar)` emits IR and returns a cotangent operand (or None) per
    position.

    `args` and `kwargs` are the operands of the call, `out` and `out_bar` operands.  A Pack of arrays gets a
    Pack.
    """

    build: Callable[..., Any] = lambda: None
    wrt: tuple[int, ...] = (0,)
    linear: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Opaque(Rule):
    """`call(*operands)` (the function first where generic) returns (value, pullback); pullback(out_bar) the
    cotangents.
    """

    call: Callable[..., Any] = lambda: None


@dataclass(frozen=True, eq=False)
class NonDifferentiable(Rule):
    """The result carries no derivative."""


@dataclass(frozen=True, eq=False)
class OptOut(Rule):
    """The rules of `fn` that are not more specific than this do not apply; the lookup goes on."""


@dataclass(frozen=True, eq=False)
class Generic(Rule):
    """The built-in broadcast rule of H2."""


def _bind(signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)
