"""Signatures that are written down: by a text, by annotations, or read off an example.

Axes: `:` is any length, one included; axes of one name have one length; an integer is that length.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any, TypeAlias

from pullback.aot.annotations import Annotations, Unclear
from pullback.aot.describe import describe
from pullback.aot.grammar import Parser
from pullback.aot.scope import Scope
from pullback.errors import ArgumentError, SignatureError
from pullback.frontend.signature import Node, Signature, Spec, Step, bind, spec_of, steps_of
from pullback.styles.style import Array, Dim, Static, fresh_dim

P = inspect.Parameter

# A part of an argument: the parameter, then how each item is reached, as in ("p", ("item", "w"), ("attr", "b")).
Place: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Declared:
    """A signature that is written down.

    signature  the specs of all parameters
    text       the signature as text: it reads back as the same
    dims       the named axes: where each is, as (place, axis)
    defaults   the defaults of the parameters that have one
    """

    signature: Signature
    text: str
    dims: Mapping[str, tuple[tuple[Place, int], ...]]
    defaults: Mapping[str, Any]

    def __str__(self) -> str:
        return self.text

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters."""
        return tuple(name for name, _ in self.signature.args)


def from_text(fn: FunctionType, text: str) -> Declared:
    """The signature that a text gives.  What it leaves out is as annotated, else as the parameter's default.

    Raises SignatureError, which shows the place in the text.

    >>> def loss(w, x, mode="fast"): ...
    >>> from_text(loss, "w: f8[n], x: float32[:,n]").text
    "w: f8[n], x: f4[:, n], mode: 'fast'"
    """
    return _Reader(fn).text(text)


def from_annotations(fn: FunctionType) -> Declared:
    """The signature that a function's annotations (and defaults) give.  Raises SignatureError where they do not.

    >>> def loss(w: "f8[n]", x: "f8[m, n]", c: float = 1.0): ...
    >>> from_annotations(loss).text
    'w: f8[n], x: f8[m, n], c: float'
    """
    return _Reader(fn).text("")


def from_example(
    fn: FunctionType,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    static: frozenset[str] = frozenset(),
) -> Declared:
    """The signature of example arguments: dtypes and numbers of axes, any lengths.

    static  the integers (`n`, `axes[0]`) that are taken by value

    Raises ArgumentError for what the compiler can make nothing of, SignatureError for what has no text.
    """
    try:
        arguments = bind(fn, tuple(args), dict(kwargs or {}))
    except TypeError as error:
        raise ArgumentError(f"the example does not fit `{fn.__name__}`: {error}", hint=_takes(fn)) from None
    specs = {name: relaxed(spec_of(value, name, static)) for name, value in arguments.items()}
    return _Reader(fn).finish(specs)


class _Reader:
    """Makes a Declared of one function."""

    def __init__(self, fn: FunctionType) -> None:
        self.fn = fn
        self.scope = Scope(fn)
        self.annotations = Annotations(self.scope)
        self.parameters = dict(inspect.signature(fn, follow_wrapped=False).parameters)

    def text(self, text: str) -> Declared:
        """From a text, completed by annotations and defaults."""
        parser = Parser(text, self.scope, of_class=self.annotations.instance)
        specs: dict[str, Spec] = {}
        for token, read in parser.parameters():
            if token.text not in self.parameters:
                parser.refuse(
                    f"`{self.fn.__name__}` has no parameter `{token.text}`", self._meant(token.text), token
                )
            if token.text in specs:
                parser.refuse(f"the parameter `{token.text}` is there twice", "write each once", token)
            parser.default = lambda name=token.text: self._default(self.parameters[name])  # type: ignore[misc]
            specs[token.text] = self._fitting(parser, token, read())
        for name, parameter in self.parameters.items():
            if name not in specs:
                specs[name] = self._left_out(parameter)
        return self.finish({name: specs[name] for name in self.parameters})

    def finish(self, specs: Mapping[str, Spec]) -> Declared:
        """With its text and its named axes."""
        text = ", ".join(f"{name}: {self._described(name, spec)}" for name, spec in specs.items())
        signature = Signature(tuple(specs.items()))
        names = {dim: name for name, dim in self.scope.axes.items()}
        dims: dict[str, list[tuple[Place, int]]] = {}
        for place, array in _arrays(signature):
            for i, axis in enumerate(array.axes or ()):
                if isinstance(axis, Dim) and axis in names:
                    dims.setdefault(names[axis], []).append((place, i))
        defaults = {n: p.default for n, p in self.parameters.items() if p.default is not P.empty}
        return Declared(signature, text, {n: tuple(at) for n, at in dims.items()}, defaults)

    def _described(self, name: str, spec: Spec) -> str:
        parameter = self.parameters[name]
        try:
            return describe(spec, self.scope, name)
        except SignatureError:
            if isinstance(spec, Static) and parameter.default is spec.value:
                return "default"
            raise

    def _fitting(self, parser: Parser, token: Any, spec: Spec) -> Spec:
        """*args must be a tuple, **kwargs a dict of names."""
        kind = self.parameters[token.text].kind
        if kind is P.VAR_POSITIONAL and not (isinstance(spec, Node) and spec.kind == "tuple"):
            parser.refuse(
                f"`*{token.text}` is a tuple", f"write its items: {token.text}: (f8[:], f8[:])", token
            )
        if kind is P.VAR_KEYWORD and not (isinstance(spec, Node) and spec.kind == "dict"):
            parser.refuse(
                f"`**{token.text}` is a dict", f"write its items: {token.text}: {{'a': float}}", token
            )
        return spec

    def _meant(self, name: str) -> str:
        near = difflib.get_close_matches(name, self.parameters, 1, 0.5)
        return f"did you mean `{near[0]}`?" if near else _takes(self.fn)

    def _left_out(self, parameter: inspect.Parameter) -> Spec:
        """A parameter that the text does not name."""
        name = parameter.name
        if parameter.kind is P.VAR_POSITIONAL:
            return Node("tuple", ())
        if parameter.kind is P.VAR_KEYWORD:
            return Node("dict", (), ())
        default = self._default(parameter)
        if parameter.annotation is not P.empty:
            try:
                return self.annotations.spec(parameter.annotation, name)
            except Unclear:
                if default is None:
                    raise
        found = default if default is not None else self._instance(name)
        if found is None:
            raise SignatureError(
                f"`{self.fn.__name__}` does not say the type of `{name}`",
                hint=f'give it: --sig "{name}: f8[:]", an annotation, or example arguments',
            )
        return found

    def _default(self, parameter: inspect.Parameter) -> Spec | None:
        """The spec of a parameter's default, if it has one."""
        if parameter.default is P.empty:
            return None
        return relaxed(spec_of(parameter.default, parameter.name))

    def _instance(self, name: str) -> Spec | None:
        """The first parameter of a method: an instance of its class."""
        inside = self.fn.__qualname__.rpartition(".")[0]
        if name != next(iter(self.parameters)) or not inside or "<locals>" in inside:
            return None
        cls = self.scope.look_up(inside)
        return self.annotations.instance(cls) if isinstance(cls, type) else None


def _takes(fn: FunctionType) -> str:
    names = ", ".join(inspect.signature(fn, follow_wrapped=False).parameters)
    return f"its parameters are {names}" if names else "it has no parameters"


def relaxed(spec: Spec) -> Spec:
    """A spec with axes of any length, one included."""
    if isinstance(spec, Node):
        return replace(spec, items=tuple(relaxed(item) for item in spec.items))
    if isinstance(spec, Array) and spec.axes is not None:
        return replace(spec, axes=tuple(fresh_dim() for _ in spec.axes), contiguous=not spec.axes)
    return spec


def _arrays(signature: Signature) -> Iterator[tuple[Place, Array]]:
    """The arrays of a signature, and where they are."""
    pending: list[tuple[Place, Spec]] = [((name,), spec) for name, spec in reversed(signature.args)]
    while pending:
        place, spec = pending.pop()
        if isinstance(spec, Array):
            yield place, spec
        elif isinstance(spec, Node):
            below: list[Step] = list(steps_of(spec))
            pending += [((*place, s), x) for s, x in reversed(list(zip(below, spec.items, strict=True)))]
