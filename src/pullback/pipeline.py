"""THE ordered list of stages, from a Python function to compiled gradient functions.

Stages are mandatory and ordered; passes (`pullback.passes.PASSES`) are optional and preserve meaning.  After each stage
the IR is verified where `PULLBACK_VERIFY` is set, printed where `PULLBACK_DUMP` names the stage, and told to observers:

    lower, primal, primal/1.fold, ..., primal-optimized, callee, ..., joint (or pair), joint/1.fold, ...,
    joint-optimized, bufferised, source

and for the native target, which settles more before it derives, and fuses:

    native/lengths, native/lengths/1.fold, ..., native/joint, native/joint/1.fold, ..., native/plain, ..., fused, c

or, where C does not take a function whole: joint (or pair), ..., regions, c
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any

from pullback.analysis.effects import has_visible_effects
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.module import Native, emit_native
from pullback.backend.native.pair import NativePair, emit_pair
from pullback.backend.native.regions import Regions, regions_of
from pullback.backend.numpy.load import load
from pullback.backend.numpy.module import Generated, emit_module
from pullback.errors import failing_at
from pullback.frontend.environment import Environment
from pullback.frontend.lower import Lowered, lower_function
from pullback.frontend.signature import Signature
from pullback.ir.callee import reachable
from pullback.ir.nodes import Function
from pullback.ir.pretty import pretty
from pullback.ir.verify import verify
from pullback.passes import optimize
from pullback.passes.lengths import assume_lengths
from pullback.passes.mapping import map_loops
from pullback.passes.plain import checked, has_products, plain_products
from pullback.transform.choose import Choices
from pullback.transform.gradient import Request, callee_pair, joint, pair

Observer = Callable[[str, Callable[[], str]], None]

_observers: ContextVar[tuple[Observer, ...]] = ContextVar("observers", default=())


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """What is compiled inside is told to an observer: the name of each stage and pass, and what gives its text."""
    token = _observers.set((*_observers.get(), observer))
    try:
        yield
    finally:
        _observers.reset(token)


@dataclass(frozen=True, slots=True)
class Options:
    """How to compile.  `optimize=False` and `bufferize=False` give the same numbers, for tests.

    target   "auto", "native" or "numpy"
    threads  the most that compiled code uses; None is all cores
    """

    optimize: bool = True
    bufferize: bool = True
    debug: bool = False
    copy_residuals: bool = True
    resolution: str = "default"
    target: str = "auto"
    threads: int | None = None
    readable: bool = False


@dataclass(slots=True)
class Compiled:
    """The outcome of one compilation.  Its functions are made on first use, so that only what is called is compiled."""

    lowered: Lowered
    request: Request
    options: Options
    chosen: Choices
    _generated: dict[tuple[str, bool], Generated] = field(default_factory=dict)
    _functions: dict[tuple[str, bool], Callable[..., Any]] = field(default_factory=dict)
    _native: dict[tuple[str, bool], Native | NativePair | Untaken] = field(default_factory=dict)
    _for_c: Function | None = None  # the primal as C takes it
    _regions: dict[str, Regions | Untaken] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the user's function, as generated code has it."""
        return self.lowered.function.name

    def readable(self) -> Compiled:
        """The same compilation, printed with plain expressions only."""
        options = replace(self.options, readable=True)
        return replace(self, options=options, _generated={}, _functions={}, _native={}, _regions={})

    @property
    def has_effects(self) -> bool:
        """Whether the user's function does more than compute: it must then run once only."""
        return has_visible_effects(self.lowered.function)

    def function(self, form: str, guarded: bool = False) -> Callable[..., Any]:
        """The callable `form`: "value_and_grad", "primal" or "pullback"; `guarded`: with strong zeros spelled out."""
        key = (form, guarded)
        if key not in self._functions:
            generated = self.generated(form, guarded)
            self._functions[key] = load(generated, f"{self.name}_{form}")
        return self._functions[key]

    def generated(self, form: str, guarded: bool = False) -> Generated:
        """The generated module that holds `form`: the joint function, or the pair."""
        module = "joint" if form == "value_and_grad" else "pair"
        key = (module, guarded)
        if key not in self._generated:
            with failing_at(lambda: self.lowered.function.loc):
                generated = self.printed(self.gradient_functions(module), guarded)
            for function in generated.functions:
                _tell("bufferised", lambda made=function: pretty(made))  # type: ignore[misc]
            _tell("source", lambda: generated.source)
            self._generated[key] = generated
        return self._generated[key]

    def printed(self, functions: tuple[Function, ...], guarded: bool = False) -> Generated:
        """Gradient functions, the joint one or the pair, as a module for NumPy."""
        return emit_module(
            [*functions, *(c.body() for c in reachable(functions))],
            guarded=guarded,
            bufferize=self.options.bufferize,
            copy_residuals=self.options.copy_residuals and len(functions) == 2,
            blocks=self.options.optimize and self.options.bufferize and not self.options.readable,
        )

    def gradient_functions(self, module: str) -> tuple[Function, ...]:
        """The gradient functions as optimised IR."""
        return self._derived(self.lowered.function, module, self.chosen, module)

    def native(self, form: str, guarded: bool = False) -> Native:
        """The C module of a form: "value_and_grad", "primal" or "pullback".  Raises Untaken where C cannot take it.

        guarded  with strong zeros spelled out; else products are plain where that can be checked (`passes.plain`), and
                 the entry ends with a FloatingPointError where a cotangent is not finite.  The pair has them anyway

        It shares nothing with what the other target makes, so that both may be made at once.
        """
        if form != "value_and_grad":
            made = self.native_pair()
            return made.primal if form == "primal" else made.pullback
        found = self._found_native("joint", guarded)
        assert isinstance(found, Native)
        return found

    def native_pair(self) -> NativePair:
        """The C modules of primal and pullback, and what passes between.  Raises Untaken where C cannot take one."""
        found = self._found_native("pair", True)
        assert isinstance(found, NativePair)
        return found

    def _found_native(self, module: str, guarded: bool) -> Native | NativePair:
        key = (module, guarded)
        if key not in self._native:
            with failing_at(lambda: self.lowered.function.loc):
                self._native[key] = self._made_native(module, guarded)
        found = self._native[key]
        if isinstance(found, Untaken):
            raise Untaken(found.reason, found.loc)
        return found

    def _made_native(self, module: str, guarded: bool) -> Native | NativePair | Untaken:
        try:
            made = self._emitted(module, guarded)
        except Untaken as untaken:
            return untaken.at(self.lowered.function.loc)
        for native in (made,) if isinstance(made, Native) else (made.primal, made.pullback):
            _tell("fused", lambda made=native: pretty(made.function))  # type: ignore[misc]
            _tell("c", lambda made=native: made.source)  # type: ignore[misc]
        return made

    def _emitted(self, module: str, guarded: bool) -> Native | NativePair:
        in_place, copied = self.options.bufferize, self.options.copy_residuals
        if module == "joint":
            return emit_native(self.native_function("value_and_grad", guarded), in_place=in_place)
        return emit_pair(*self.native_functions("pair"), in_place=in_place, copy_residuals=copied)

    def native_function(self, form: str, guarded: bool = True) -> Function:
        """The optimised function of which a form's C is made.  Raises Untaken where there is none."""
        if form != "value_and_grad":
            return self.native_functions("pair")[form == "pullback"]
        (function,) = self.native_functions("joint")
        return function if guarded else self._plain(function)

    def native_functions(self, module: str) -> tuple[Function, ...]:
        """The functions of which C is made: the joint one, or the pair.  Raises Untaken where there are none."""
        if self.has_effects:
            raise Untaken("a function that does more than compute")
        if self._for_c is None:
            primal = self.lowered.function
            mapped = _stage("native/mapped", map_loops(primal), self.options)
            self._for_c = mapped if mapped is primal or self._is_taken(mapped) else primal
        return self._functions_for_c(module, self._for_c)

    def _is_taken(self, mapped: Function) -> bool:
        """Whether C takes loops over elements as functions of numbers; it may take them as they are."""
        try:
            emit_native(*self._functions_for_c("joint", mapped), in_place=self.options.bufferize)
        except Untaken:
            return False
        return True

    def _functions_for_c(self, module: str, primal: Function) -> tuple[Function, ...]:
        chosen = Choices(self.options.resolution)
        primal = _stage("native/lengths", assume_lengths(primal), self.options)
        return self._derived(primal, module, chosen, f"native/{module}")

    def regions(self, module: str) -> Regions:
        """What C takes of functions that it does not take whole.  Raises Untaken where there is nothing.

        Their residuals are those of the NumPy target.
        """
        if module not in self._regions:
            with failing_at(lambda: self.lowered.function.loc):
                self._regions[module] = self._made_regions(module)
        found = self._regions[module]
        if isinstance(found, Untaken):
            raise Untaken(found.reason, found.loc)
        return found

    def _made_regions(self, module: str) -> Regions | Untaken:
        chosen = Choices(self.options.resolution)
        functions = self._derived(self.lowered.function, module, chosen, module)
        try:
            made = regions_of(
                functions,
                bufferize=self.options.bufferize,
                blocks=self.options.optimize and self.options.bufferize and not self.options.readable,
                copy_residuals=self.options.copy_residuals and module == "pair",
            )
        except Untaken as untaken:
            return untaken.at(self.lowered.function.loc)
        for function in made.functions:
            _tell("regions", lambda made=function: pretty(made))  # type: ignore[misc]
        _tell("c", lambda: made.source)
        return made

    def _derived(self, primal: Function, module: str, chosen: Choices, stage: str) -> tuple[Function, ...]:
        """The gradient functions of a primal, optimised, and their callees."""
        if module == "joint":
            functions: tuple[Function, ...] = (joint(primal, self.request, chosen),)
        else:
            functions = pair(primal, self.request, chosen)
        functions = tuple(_stage(stage, f, self.options) for f in functions)
        self._make_callees(chosen)
        return functions

    def _plain(self, function: Function) -> Function:
        """The function with plain products and the check of its cotangents, where there is one and it is of use."""
        callees = reachable([function])
        if not any(map(has_products, [function, *(c.body() for c in callees)])):
            return function
        made = checked(plain_products(function))
        if made is None:
            return function
        for callee in callees:
            callee.function = _stage("callee", plain_products(callee.body()), self.options)
        return _stage("native/plain", made, self.options)

    def _make_callees(self, chosen: Choices) -> None:
        """The pairs of functions compiled apart that have been called so far, and those that these call."""
        while True:
            pending = [(key, p) for key, p in chosen.pairs.items() if p.primal.function is None]
            if not pending:
                return
            for (callee, wrt), made in pending:
                for part, function in zip(
                    (made.primal, made.pullback),
                    callee_pair(callee.body(), wrt, made, chosen),
                    strict=True,
                ):
                    part.function = _stage("callee", function, self.options)


def compile_function(
    fn: FunctionType, signature: Signature, environment: Environment, request: Request, options: Options
) -> Compiled:
    """Lower a function for one signature and choose its rules; gradient functions follow on demand."""
    lowered = lower_function(fn, signature, environment)
    _check("lower", lowered.function)
    primal = _stage("primal", lowered.function, options)
    for callee in lowered.callees:
        callee.function = _stage("callee", callee.body(), options)
    return Compiled(replace(lowered, function=primal), request, options, Choices(options.resolution))


def _stage(name: str, function: Function, options: Options) -> Function:
    """Optimise after a stage."""
    _check(name, function)
    if not options.optimize:
        return function
    optimized = optimize(function, lambda step, made: _tell(f"{name}/{step}", lambda: pretty(made)))
    _check(f"{name}-optimized", optimized)
    return optimized


def _check(stage: str, function: Function) -> None:
    if os.environ.get("PULLBACK_VERIFY"):
        verify(function)
    _tell(stage, lambda: pretty(function))


def _tell(stage: str, text: Callable[[], str]) -> None:
    for observer in (_dump, *_observers.get()):
        observer(stage, text)


def _dump(stage: str, text: Callable[[], str]) -> None:
    """The observer that `PULLBACK_DUMP` asks for; "all" are the stages, not the passes."""
    wanted = os.environ.get("PULLBACK_DUMP", "")
    if wanted and (wanted == stage or (wanted == "all" and "/" not in stage)):
        print(f"# {stage}\n{text()}", file=sys.stderr)
