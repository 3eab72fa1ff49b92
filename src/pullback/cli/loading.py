"""What the commands take alike: a target, its signature, what to differentiate with respect to."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from pullback.aot.declared import Declared, from_annotations, from_example, from_text
from pullback.aot.targets import Target, resolve, resolve_object
from pullback.cli.output import guarded, users_code
from pullback.cli.standins import outputs_near, standing_in
from pullback.dispatch.binding import header_of
from pullback.dispatch.checks import check_parameter, part_of
from pullback.errors import ArgumentError, SignatureError
from pullback.frontend.environment import Environment, NeedStatic
from pullback.pipeline import Compiled, Options, compile_function
from pullback.transform.gradient import Request

SIG = 'Types of the arguments, as in "w: f8[n], x: f8[m, n], c: float".  Else annotations say them.'
EXAMPLE = "What gives example arguments, as in file.py:make_args: a function without parameters, or a value."
WRT = "Names of the parameters to differentiate with respect to, with commas between."
FIRST = "[the first]"
P = inspect.Parameter


def with_target(command: Callable[..., Any], without_wrt: str = FIRST) -> Callable[..., Any]:
    """The argument TARGET and the options of a command on one function; what counts without `--wrt`."""
    options = (
        click.argument("target"),
        click.option("--sig", metavar="TEXT", help=SIG),
        click.option("--example", metavar="TARGET", help=EXAMPLE),
        click.option("--wrt", metavar="NAMES", multiple=True, help=f"{WRT}  {without_wrt}"),
        click.option("--has-aux", is_flag=True, help="The function returns (value, aux)."),
        with_json,
    )
    for option in reversed(options):
        command = option(command)
    return command


def with_json(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option --json; errors are reported."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(guarded(command))


@dataclass(frozen=True, slots=True)
class Example:
    """Example arguments."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Subject:
    """A target with its signature.

    wrt      the parameters to differentiate with respect to
    example  the example arguments, where they were given
    """

    target: Target
    declared: Declared
    wrt: tuple[str, ...]
    has_aux: bool = False
    example: Example | None = None

    def compiled(self) -> Compiled:
        """The function, compiled for the signature."""
        fn, names = self.target.fn, header_of(self.target.fn).names
        request = Request(tuple((names.index(n),) for n in self.wrt), self.has_aux, len(self.wrt) == 1)
        environment = Environment(frozenset(), frozenset(names))
        try:
            compiled = compile_function(fn, self.declared.signature, environment, request, Options())
        except NeedStatic as need:
            raise needs_value(self.target.fn.__name__, need.name) from None
        for path in request.wrt:
            check_parameter(names[path[0]], part_of(compiled.lowered.function.params[path[0]].tree, path[1:]))
        return compiled


def needs_value(function: str, name: str) -> SignatureError:
    """The error of an integer that is needed when compiling."""
    return SignatureError(
        f"`{function}` needs the value of `{name}` when it is compiled (an axis, a number of axes, an option)",
        hint=f'write its value in the signature: --sig "{name}: 1"',
    )


def load(
    text: str, sig: str | None, example: str | None, wrt: tuple[str, ...], has_aux: bool = False
) -> Subject:
    """The subject that a command's arguments name.  Raises TargetError, SignatureError, ArgumentError."""
    with users_code(f"importing `{text}`"), standing_in(outputs_near(Path.cwd())):
        target = resolve(text)
        given = example_of(example, text) if example else None
    return subject(target, sig, given, wrt, has_aux)


def subject(
    target: Target,
    sig: str | None,
    example: Example | None,
    wrt: tuple[str, ...],
    has_aux: bool = False,
    said: str = "--wrt",
) -> Subject:
    """A target with its signature: as the text says it, else the example, else the annotations.

    said  where `wrt` is from, for messages
    """
    if sig is not None:
        declared = from_text(target.fn, sig)
    elif example is not None:
        declared = from_example(target.fn, example.args, example.kwargs)
    else:
        declared = from_annotations(target.fn)
    return Subject(target, declared, names_of(target, wrt, said), has_aux, example)


def names_of(target: Target, wrt: tuple[str, ...], said: str = "--wrt") -> tuple[str, ...]:
    """The parameters that `wrt` names; the first (of a method: after the instance) where it names none."""
    parameters = inspect.signature(target.fn, follow_wrapped=False).parameters
    known = [n for n, p in parameters.items() if p.kind not in (P.VAR_POSITIONAL, P.VAR_KEYWORD)]
    wanted = [name.strip() for text in wrt for name in text.split(",") if name.strip()]
    if not wanted:
        if not known:
            raise ArgumentError(f"`{target.qualname}` has no parameter", hint="name a function of something")
        return (known[1 if is_method(target) and len(known) > 1 else 0],)
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1, 0.5)
            hint = (
                f"did you mean `{near[0]}`?" if near else f"its parameters are {', '.join(known) or 'none'}"
            )
            raise ArgumentError(f"{said}: `{target.qualname}` has no parameter `{name}`", hint=hint)
    if len(set(wanted)) < len(wanted):
        raise ArgumentError(f"{said} names a parameter twice: {','.join(wanted)}", hint="name each once")
    return tuple(wanted)


def is_method(target: Target) -> bool:
    """Whether the first parameter is an instance."""
    holder, _, name = target.qualname.rpartition(".")
    if not holder:
        return False
    cls: Any = target.namespace
    for part in holder.split("."):
        cls = getattr(cls, part)
    return isinstance(cls, type) and not isinstance(inspect.getattr_static(cls, name), staticmethod)


def example_of(text: str, target: str, folder: Path | None = None) -> Example:
    """The example arguments that a text names, for the function that `target` names."""
    if ":" not in text:
        place = target.rpartition(":")[0] or "model.py"
        raise ArgumentError(
            f"--example {text!r} does not say the file or module it is in", hint=f"write {place}:{text}"
        )
    found, _, name = resolve_object(text, folder)
    if callable(found):
        with users_code(f"the example `{name}`"):
            found = found()
    if isinstance(found, dict):
        return Example((), found)
    return Example(tuple(found) if isinstance(found, tuple | list) else (found,), {})
