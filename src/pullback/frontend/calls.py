"""Calls: library functions, user functions (inlined), methods, classes, and callables of which nothing is known."""

from __future__ import annotations

import ast
import dataclasses
import functools
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any

from pullback.errors import NoRuleError
from pullback.frontend import library
from pullback.frontend.bodies import Body, Frame, body_of
from pullback.frontend.environment import Path
from pullback.frontend.instances import more_than_a_tuple
from pullback.frontend.libraries import entered, is_library
from pullback.frontend.machine import Unreachable
from pullback.frontend.members import transparent
from pullback.frontend.names import Mixed
from pullback.frontend.refusals import GRADIENT_MARK, refuse
from pullback.frontend.signature import Signature
from pullback.frontend.statements import Statements
from pullback.frontend.values import (
    ArrayRef,
    BoundMethod,
    CellRef,
    DictCell,
    FrozenRef,
    FunctionValue,
    IterValue,
    Known,
    Num,
    ObjectCell,
    TupleValue,
    Value,
)
from pullback.ir import core_ops as core
from pullback.ir.nodes import Const, Operand, Param, Var
from pullback.ir.walk import variables
from pullback.styles.style import differentiable

MAX_DEPTH = 60
MAX_INLINED = 5000  # calls inlined in one function


@dataclasses.dataclass(frozen=True, slots=True)
class UserFunction:
    """A function that is called: a function object, or one defined in what is being lowered (then with its closure).

    `fn` is the function object from which outside names are found.
    """

    fn: FunctionType | None
    closure: tuple[FunctionValue, ...] = ()  # none or one

    @property
    def who(self) -> Any:
        """What stays the same from call to call."""
        return self.closure[0].node if self.closure else self.fn

    @property
    def parent(self) -> Frame | None:
        """The frame whose names the function sees."""
        return self.closure[0].scope if self.closure else None


class Calls(Statements):
    """Calls anything."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._nested: dict[int, tuple[ast.AST, Body]] = {}
        self._numbers = iter(range(1, 1 << 60))
        self.inlined = 0
        self.open_tests: list[Operand] = []  # of the run-time branches around the current point

    def call_value(self, fn: Value, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        """Call anything callable."""
        match fn:
            case FunctionValue():
                return self._call_nested(fn, args, kwargs)
            case BoundMethod(owner, name):
                return self._call_method(owner, name, args, kwargs)
            case Known(obj):
                if isinstance(obj, Mixed):
                    self._checked(fn)
                return self._call_known(fn, args, kwargs)
            case CellRef():
                cell = self.cell(fn)
                if isinstance(cell, ObjectCell) and hasattr(cell.cls, "__call__"):  # noqa: B004
                    return self.call_value(self.asked(fn, "__call__"), args, kwargs)
        self.refuse_unknown(
            fn,
            "a call of a value that is not a function known at compile time",
            "pass the function itself as an argument, or choose it with an `if` around the call",
        )

    def _call_known(self, fn: Known, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        obj = fn.obj
        if getattr(obj, GRADIENT_MARK, False) is True:
            refuse("gradient", self.builder.loc, name=obj.__name__)
        found = library.dispatch(self, obj, args, kwargs)
        if found is not None:
            return found
        if isinstance(obj, FunctionType):
            return self.call_function(obj, args, kwargs)
        if isinstance(obj, functools.partial):
            return self._call_partial(fn, args, kwargs)
        if isinstance(obj, MethodType):
            owner = Known(obj.__self__, fn.path.attr("__self__") if fn.path is not None else None)
            return self.call_value(Known(obj.__func__), [owner, *args], kwargs)
        inner = transparent(obj)
        if inner is not None:
            path = (
                fn.path.attr("__wrapped__") if fn.path is not None and hasattr(obj, "__wrapped__") else None
            )
            return self.call_value(Known(inner, path), args, kwargs)
        if isinstance(obj, type):
            return self._construct(obj, args, kwargs)
        method = getattr(type(obj), "__call__", None)  # noqa: B004 (the method itself is wanted)
        if isinstance(method, FunctionType):
            bound = self.asked(fn, "__call__") if fn.path is not None else None
            return self.call_value(bound or Known(method), [fn] * (bound is None) + [*args], kwargs)
        return self._call_unknown(obj, args, kwargs)

    def _call_partial(self, fn: Known, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        part = fn.obj
        path: Path | None = fn.path
        held = [self._held(x, path.attr("args").item(i) if path else None) for i, x in enumerate(part.args)]
        named = {
            k: self._held(x, path.attr("keywords").item(k) if path else None)
            for k, x in part.keywords.items()
        }
        target = Known(part.func, path.attr("func") if path else None)
        return self.call_value(target, [*held, *args], {**named, **kwargs})

    def _held(self, obj: Any, path: Path | None) -> Value:
        return Known(obj) if path is None else self.outside(path)

    def _call_unknown(self, obj: Any, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        name = getattr(obj, "__qualname__", None) or repr(obj)
        values = [*args, *kwargs.values()]
        if any(isinstance(v, FunctionValue | BoundMethod | IterValue) for v in values) or any(
            differentiable(self.style(v)) for v in values
        ):
            raise NoRuleError(
                f"cannot look into `{name}`: it has no Python source and no rule, and gets values that may be active",
                loc=self.builder.loc,
                hint=f"give it a rule with pb.row or pb.rule, or write pb.stop_gradient around its arguments ({name})",
            )
        out = self.builder.call(
            core.call_effect,
            Const(obj),
            *[self.operand(v) for v in args],
            hint="result",
            **{k: self.operand(v) for k, v in kwargs.items()},
        )
        return self.wrap(out, values)

    # -------------------------------------------------------------------------------------------- user functions

    def call_function(self, fn: FunctionType, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        """Inline a call of a Python function."""
        if self._enters_a_library(fn):
            with entered(fn, self.builder.loc):
                return self._call_source(fn, args, kwargs)
        return self._call_source(fn, args, kwargs)

    def _enters_a_library(self, fn: FunctionType) -> bool:
        """Whether a call leads from the user's own code into an installed package."""
        return is_library(fn.__code__.co_filename) and not any(
            is_library(f.body.source.file) for f in self.frames if not f.body.is_prelude
        )

    def _call_source(self, fn: FunctionType, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        body = body_of(fn)
        if self.environment is not None:
            self.environment.watch(fn)

        def default(name: str) -> Value:
            return self.outside(Path(fn, "default", name))

        names = self.bind_arguments(body, args, kwargs, default, fn)
        return self._enter_or_inline(UserFunction(fn), body, names)

    def _enter_or_inline(self, callable_: UserFunction, body: Body, names: Mapping[str, Value]) -> Value:
        kinds = tuple(self._kind_of_argument(v) for v in names.values())
        found = self.call_apart(callable_, body, names, kinds)
        return self.inline(body, callable_, names, kinds=kinds) if found is None else found

    @abstractmethod
    def call_apart(
        self, callable_: UserFunction, body: Body, names: Mapping[str, Value], kinds: Any
    ) -> Value | None:
        """Call a function that is compiled apart; None where the call is to be inlined."""

    def _kind_of_argument(self, value: Value) -> Any:
        """What tells the signature of a call from another's."""
        match value:
            case Known(obj):
                return (
                    type(obj),
                    repr(obj) if isinstance(obj, int | float | complex | str | tuple) else id(obj),
                )
            case TupleValue(items):
                return tuple(self._kind_of_argument(v) for v in items)
            case Num() | ArrayRef() | FrozenRef():
                style = self.style(value)
                return (
                    type(style),
                    getattr(style, "dtype", None),
                    getattr(style, "weak", None),
                    getattr(style, "rank", None),
                )
            case CellRef(number):
                return ("cell", number)
        return id(value)

    def enter(self, body: Body, fn: FunctionType, signature: Signature) -> tuple[list[Param], Value]:
        """Interpret a function from its parameters: these and the value that it returns."""
        params, values = [], {}
        self.builder.loc = body.loc(body.node)
        for name, spec in signature.args:
            tree, values[name] = self.parameter(name, spec)
            self.claimed.update(variables(tree))
            params.append(Param(name, tree))
        return params, self.start(body, UserFunction(fn), values)

    def start(
        self,
        body: Body,
        callable_: UserFunction,
        values: Mapping[str, Value],
        pinned: Mapping[str, Value] | None = None,
    ) -> Value:
        """Interpret a function, the first of this machine, on values for its parameters: what it returns.

        `pinned`: values that matter to the end, under names that no user's name can be.
        """
        kinds = tuple(self._kind_of_argument(v) for v in values.values())
        self.frame = Frame(body, 0, callable_.parent, callable_.fn, who=callable_.who, kinds=kinds)
        self.frames.append(self.frame)
        self.builder.loc = body.loc(body.node)
        self.state.names.update(values)
        if pinned:
            self.state.names.update(pinned)
            self.frame.hidden.append(set(pinned))
        return self.run(body)

    def _call_nested(self, fn: FunctionValue, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        body = self._body_of_nested(fn)
        positional = [a.arg for a in [*fn.node.args.posonlyargs, *fn.node.args.args]]
        given = dict(zip(positional[len(positional) - len(fn.defaults) :], fn.defaults, strict=True))

        def default(name: str) -> Value:
            return given[name] if name in given else fn.kw_defaults[name]

        names = self.bind_arguments(body, args, kwargs, default, None)
        return self._enter_or_inline(UserFunction(fn.scope.fn, (fn,)), body, names)

    def _body_of_nested(self, fn: FunctionValue) -> Body:
        key = id(fn.node)
        if key not in self._nested:
            assert fn.scope is not None
            self._nested[key] = (fn.node, Body(fn.node, fn.scope.body.source, fn.name))
        return self._nested[key][1]

    def bind_arguments(  # noqa: C901 (Python's own cases, in Python's order)
        self,
        body: Body,
        args: Sequence[Value],
        kwargs: Mapping[str, Value],
        default: Callable[[str], Value],
        fn: FunctionType | None,
    ) -> dict[str, Value]:
        """The names of a call's parameters."""
        spec = body.node.args
        positional = [a.arg for a in [*spec.posonlyargs, *spec.args]]
        names: dict[str, Value] = dict(zip(positional, args, strict=False))
        if spec.vararg is not None:
            names[spec.vararg.arg] = TupleValue(tuple(args[len(positional) :]))
        elif len(args) > len(positional):
            self._bad_call(body, f"takes {len(positional)} positional arguments but {len(args)} were given")
        only_positional = {a.arg for a in spec.posonlyargs}
        keywords = [a.arg for a in spec.kwonlyargs]
        extra: dict[str, Value] = {}
        for name, value in kwargs.items():
            if name in names and name in positional and name not in only_positional:
                self._bad_call(body, f"got multiple values for argument '{name}'")
            if (name in positional and name not in only_positional) or name in keywords:
                names[name] = value
            elif spec.kwarg is not None:
                extra[name] = value
            else:
                self._bad_call(body, f"got an unexpected keyword argument '{name}'")
        if spec.kwarg is not None:
            names[spec.kwarg.arg] = self.new_cell(DictCell(extra))
        optional = set(positional[len(positional) - len(spec.defaults) :]) if spec.defaults else set()
        optional |= {a.arg for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None}
        if fn is not None:
            optional = _optional(fn)
        for name in [*positional, *keywords]:
            if name not in names:
                if name not in optional:
                    self._bad_call(body, f"missing a required argument: '{name}'")
                names[name] = default(name)
        return names

    def _bad_call(self, body: Body, text: str) -> None:
        self.refuse(f"{body.name}() {text}", "Python raises TypeError here")

    def inline(
        self,
        body: Body,
        callable_: UserFunction,
        names: Mapping[str, Value],
        globals: Mapping[str, Any] | None = None,
        kinds: Any = None,
    ) -> Value:
        """Interpret a body with the given parameters in a frame of its own."""
        self._check_recursion(body, callable_)
        frame = Frame(
            body,
            next(self._numbers),
            callable_.parent,
            callable_.fn,
            globals,
            tests=len(self.open_tests),
            kinds=kinds,
            who=callable_.who,
        )
        for name, value in names.items():
            self.state.names[frame.key(name)] = value
        saved = self.frame, self.builder.loc, self.in_statement_write
        self.frame, self.in_statement_write = frame, False
        self.frames.append(frame)
        try:
            value = self.run(body)
        finally:
            self.frame, self.builder.loc, self.in_statement_write = saved
            self.frames.pop()
        if self.state.dead:
            raise Unreachable
        if not frame.kept:
            for name in body.locals:
                self.state.names.pop(frame.key(name), None)
        return value

    def run(self, body: Body) -> Value:
        """Execute the statements of a body; the value that it returns."""
        *stmts, last = body.node.body
        self.execute(stmts)
        if self.state.dead:
            return Known(None)
        assert isinstance(last, ast.Return) and last.value is not None and self.frame is not None
        self.frame.stmt, self.builder.loc = last, self.place(last)
        return self.evaluate(last.value)

    def _check_recursion(self, body: Body, callable_: UserFunction) -> None:
        """Recursion is inlined: its depth must follow from what is known at compile time."""
        self.inlined += 1
        earlier = [f for f in self.frames if f.body is body and f.who is callable_.who]
        if earlier and not body.is_prelude:
            for test in self.open_tests[earlier[-1].tests :]:
                self._ask(self.sources.get(test, frozenset()) if isinstance(test, Var) else frozenset())
        if len(self.frames) > MAX_DEPTH or self.inlined > MAX_INLINED:
            what = (
                f"`{body.name}` calls itself: how often is"
                if earlier
                else "calls are nested too deep: how often is"
            )
            self.refuse(
                f"{what} not known at compile time",
                "write it as a loop, or let an int parameter bound the depth",
            )

    # ------------------------------------------------------------------------------------------ methods, classes

    def _call_method(
        self, owner: Value, name: str, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> Value:
        cls = self.instance_class(owner)
        if isinstance(owner, Known):
            cls = owner.obj if isinstance(owner.obj, type) else type(owner.obj)
        for base in cls.__mro__ if cls is not None else ():
            member = vars(base).get(name)
            member = transparent(member) or member
            if isinstance(member, FunctionType):
                if isinstance(owner, TupleValue) and (
                    _is_generated(member) or member.__module__ == "collections"
                ):
                    break
                return self.call_value(Known(member), [owner, *args], kwargs)
            if isinstance(member, classmethod):
                return self.call_value(Known(member.__func__), [Known(cls), *args], kwargs)
            if isinstance(member, staticmethod):
                return self.call_value(Known(member.__func__), args, kwargs)
        return library.method(self, owner, name, args, kwargs)

    def _construct(self, cls: type, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        """An instance of a user's class."""
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            return self._named_tuple(cls, args, kwargs)
        makes: Any = cls.__new__
        starts: Any = getattr(cls, "__init__", None)
        if makes is not object.__new__ or type(cls).__call__ is not type.__call__:
            self.refuse(
                f"`{cls.__name__}` is not an ordinary class (it inherits from a built-in one or has __new__)",
                "use an ordinary class, a dataclass or a named tuple",
            )
        instance = self.new_cell(ObjectCell(cls, {}))
        self.temps.append(instance)
        if dataclasses.is_dataclass(cls) and _is_generated(starts):
            self._fill_dataclass(cls, instance, args, kwargs)
        elif isinstance(starts, FunctionType):
            self.watch_member(cls, "__init__")
            self.call_value(Known(starts), [instance, *args], kwargs)
        elif args or kwargs:
            self.refuse(f"{cls.__name__}() takes no arguments", "Python raises TypeError here")
        return instance

    def _named_tuple(self, cls: Any, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        more = more_than_a_tuple(cls)
        if more is not None or not _is_generated(cls.__new__):
            self.refuse(
                f"`{cls.__name__}` is a named tuple that {more or 'makes its instances itself'}",
                "use a plain named tuple, or a dataclass",
            )
        values = dict(zip(cls._fields, args, strict=False)) | dict(kwargs)
        for name in cls._fields:
            if name not in values:
                if name not in cls._field_defaults:
                    self.refuse(f"{cls.__name__}() misses the field '{name}'", "Python raises TypeError here")
                values[name] = Known(cls._field_defaults[name])
        if len(args) > len(cls._fields) or len(values) > len(cls._fields):
            self.refuse(f"{cls.__name__}() got too many arguments", "Python raises TypeError here")
        return TupleValue(tuple(values[n] for n in cls._fields), cls)

    def _fill_dataclass(
        self, cls: Any, instance: CellRef, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> None:
        fields = [f for f in dataclasses.fields(cls) if f.init]
        positional = [f.name for f in fields if not f.kw_only]
        values = dict(zip(positional, args, strict=False)) | dict(kwargs)
        unknown = set(values) - {f.name for f in fields}
        if unknown or len(args) > len(positional):
            self.refuse(
                f"{cls.__name__}() got arguments that it does not take", "Python raises TypeError here"
            )
        for f in dataclasses.fields(cls):
            if f.name in values:
                continue
            if f.default is not dataclasses.MISSING:
                values[f.name] = Known(f.default)
            elif f.default_factory is not dataclasses.MISSING:
                values[f.name] = self.call_value(Known(f.default_factory), (), {})
            elif f.init:
                self.refuse(
                    f"{cls.__name__}() misses the argument '{f.name}'", "Python raises TypeError here"
                )
        ordered = {f.name: values[f.name] for f in dataclasses.fields(cls) if f.name in values}
        self.set_cell(instance, ObjectCell(cls, ordered))
        if hasattr(cls, "__post_init__"):
            self.call_value(self.attribute(instance, "__post_init__"), (), {})


def _is_generated(fn: Any) -> bool:
    return (
        (isinstance(fn, FunctionType) and fn.__code__.co_filename in ("<string>", "<generated>"))
        or not isinstance(fn, FunctionType)
        or fn.__code__.co_filename.startswith("<")
    )


def _optional(fn: FunctionType) -> set[str]:
    code = fn.__code__
    names = code.co_varnames[: code.co_argcount]
    count = len(fn.__defaults__ or ())
    return set(names[len(names) - count :]) | set(fn.__kwdefaults__ or ())
