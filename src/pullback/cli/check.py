"""`pullback check`: the gradient against differences."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator
from functools import partial
from typing import Any

import click
import numpy as np
from rich.table import Table
from rich.text import Text

from pullback.api.checking import Comparison, compare_gradients
from pullback.api.seeds import leaves_of
from pullback.cli.drawing import KINDS, Draw, sizes_of
from pullback.cli.loading import Subject, load, with_target
from pullback.cli.output import UserCodeError, console, note, print_json, users_code
from pullback.errors import ArgumentError
from pullback.frontend.signature import bind
from pullback.styles.style import Static

P = inspect.Parameter
WORST = 5  # entries that are shown of a wrong gradient


@click.command(
    epilog="""\b
Examples:
  pullback check model.py:loss --sig "w: f8[n], x: f8[m, n], y: f8[m]"
  pullback check model.py:loss --sig "w: f8[n], x: f8[m, n], y: f8[m]" --size n=5,m=20 --seed 3
  pullback check model.py:loss --example model.py:arguments --wrt w --rtol 1e-5

Exit code 1 where the gradient differs.""",
)
@partial(with_target, without_wrt="[all that hold floats]")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random arguments.")
@click.option(
    "--size", "sizes", multiple=True, metavar="n=5", help="Lengths of named axes; `:=5` of all others."
)
@click.option(
    "--entries",
    type=click.IntRange(0),
    default=200,
    show_default=True,
    help="Entries of each array that are checked at most, drawn at random; 0 for all.",
)
@click.option(
    "--rtol",
    type=click.FloatRange(0),
    help="Allowed error, relative to the largest entry.  [1e-6; float32: 2e-3]",
)
@click.option("--atol", type=click.FloatRange(0), default=1e-7, show_default=True, help="Allowed error.")
def command(
    target: str,
    sig: str | None,
    example: str | None,
    wrt: tuple[str, ...],
    has_aux: bool,
    seed: int,
    sizes: tuple[str, ...],
    entries: int,
    as_json: bool,
    **tolerances: Any,
) -> int:
    """Compare the gradient of TARGET with differences, on example arguments or random ones.

    Without --wrt the gradients with respect to all parameters that hold floats are compared.
    """
    subject = load(target, sig, example, wrt, has_aux)
    arguments, drawn = _arguments(subject, sizes_of(sizes, subject.declared), seed)
    asked = subject.wrt if wrt else None
    integers = {} if subject.example else _integers(subject, arguments)
    found = list(_compare(subject, arguments, asked, entries=entries, **tolerances))
    wrong = [c for _, c in found if c.wrong]
    if as_json:
        facts = {"target": target, "signature": subject.declared.text, "arguments": drawn, "seed": seed}
        facts["integers"] = integers
        print_json({**facts, "ok": not wrong, "parameters": [_data(name, c) for name, c in found]})
    else:
        _show(subject, found, drawn, integers)
        if not wrong and all(c.vacuous for _, c in found):
            note("pullback: nothing was checked (give --example, --size n=5 or another --seed)")
    return 1 if wrong else 0


def _arguments(subject: Subject, sizes: dict[str, int], seed: int) -> tuple[dict[str, Any], str]:
    """Arguments by parameter, and where they come from."""
    fn, example = subject.target.fn, subject.example
    if example is not None:
        given = bind(fn, example.args, example.kwargs)
        if not _is_finite(_value(subject, given)):
            raise _not_finite(subject, given, "give another --example")
        return given, "example"
    failed: UserCodeError | None = None
    infinite: dict[str, Any] | None = None
    for kind in KINDS:
        arguments = Draw(subject.declared, sizes, seed, kind).arguments()
        try:
            value = _value(subject, arguments)
        except UserCodeError as error:
            failed = failed or error
            continue
        if _is_finite(value):
            return arguments, f"random ({kind})"
        infinite = infinite or arguments
    if infinite is not None:
        raise _not_finite(subject, infinite, "give --example, or another --seed")
    assert failed is not None
    raise UserCodeError(
        f"{failed.reason}, for random arguments", hint="give --example, or sizes that fit: --size n=5"
    )


def _is_finite(value: Any) -> bool:
    return all(np.all(np.isfinite(x)) for x in _floats(value))


def _floats(value: Any) -> Iterator[Any]:
    for _, leaf in leaves_of(value):
        if np.asarray(leaf).dtype.kind in "fc":
            yield np.asarray(leaf)


def _not_finite(subject: Subject, arguments: dict[str, Any], way_out: str) -> ArgumentError:
    """The error of a function without a finite value: there is no gradient to check."""
    isnan = any(np.any(np.isnan(x)) for x in _floats(_value(subject, arguments)))
    return ArgumentError(
        f"`{subject.target.qualname}` itself is {'nan' if isnan else 'infinite'} at these arguments",
        hint=way_out,
    )


def _value(subject: Subject, arguments: dict[str, Any]) -> Any:
    """What is differentiated."""
    args, kwargs = _call(subject, arguments)
    with users_code(f"`{subject.target.qualname}`"), np.errstate(all="ignore"):
        value = subject.target.fn(*args, **kwargs)
    return value[0] if subject.has_aux and isinstance(value, tuple) and value else value


def _integers(subject: Subject, arguments: dict[str, Any]) -> dict[str, int]:
    """The integers (and True and False) that were drawn: what a function does often hangs on them."""
    said = {name for name, spec in subject.declared.signature.args if isinstance(spec, Static)}
    return {
        f"{name}{leaf}": bool(value) if isinstance(value, bool | np.bool_) else int(value)
        for name, argument in arguments.items()
        if name not in said
        for leaf, value in leaves_of(argument)
        if isinstance(value, int | np.integer | np.bool_)
    }


def _call(subject: Subject, arguments: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments by parameter as those of a call."""
    signature = inspect.signature(subject.target.fn, follow_wrapped=False)

    bound = inspect.BoundArguments(signature, copy.deepcopy(arguments))
    return bound.args, bound.kwargs


def _compare(
    subject: Subject, arguments: dict[str, Any], asked: tuple[str, ...] | None, **how: Any
) -> Iterator[tuple[str, Comparison]]:
    """Each number or array of the arguments, with its name."""
    args, kwargs = _call(subject, arguments)
    names = _names(subject, arguments)
    places = {place: name for place, name in names.items() if asked is None or name in asked}
    wanted = [
        p for p in places if asked is not None or any(_holds_floats(x) for x in _value_at(p, args, kwargs))
    ]
    if not wanted:
        raise ArgumentError(
            f"`{subject.target.qualname}` has no parameter that holds floats", hint="give --sig"
        )
    fn, what = subject.target.fn, f"`{subject.target.qualname}`"
    with users_code(what), np.errstate(all="ignore"):  # a gradient that is not finite is seen in the table
        found = list(compare_gradients(fn, args, kwargs, argnums=wanted, has_aux=subject.has_aux, **how))
    for comparison in found:
        yield f"{places[comparison.argument]}{comparison.leaf}", comparison


def _names(subject: Subject, arguments: dict[str, Any]) -> dict[int | str, str]:
    """How `argnums` names each argument, and how messages call it."""
    found: dict[int | str, str] = {}
    for name, parameter in inspect.signature(subject.target.fn, follow_wrapped=False).parameters.items():
        if parameter.kind is P.VAR_POSITIONAL:
            for i in range(len(arguments[name])):
                found[len(found)] = f"{name}[{i}]"
        elif parameter.kind is P.KEYWORD_ONLY:
            found[name] = name
        elif parameter.kind is not P.VAR_KEYWORD:
            found[len(found)] = name
    return found


def _value_at(place: int | str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Any]:
    for _, leaf in leaves_of(args[place] if isinstance(place, int) else kwargs[place]):
        yield leaf


def _holds_floats(leaf: Any) -> bool:
    return isinstance(leaf, float | complex | np.ndarray | np.generic) and np.asarray(leaf).dtype.kind in "fc"


# --------------------------------------------------------------------------------------------------- the report


def _data(name: str, found: Comparison) -> dict[str, Any]:
    return {
        "name": name,
        "shape": list(found.gradient.shape),
        "largest_error": found.largest,
        "allowed": found.allowed,
        "entries": found.gradient.size,
        "checked": found.checked,
        "wrong": found.wrong,
        "ok": not found.wrong,
        "vacuous": found.vacuous,
        "worst": [
            {
                "index": list(index),
                "gradient": found.gradient[index].item(),
                "difference": found.difference[index].item(),
                "error": float(found.error[index]),
            }
            for index in found.worst(min(WORST, found.checked))
        ],
    }


def _show(
    subject: Subject, found: list[tuple[str, Comparison]], drawn: str, integers: dict[str, int]
) -> None:
    out = console()
    table = Table("parameter", "shape", "largest error", "allowed", "", box=None, pad_edge=False)
    for name, c in found:
        shape = f"[{', '.join(map(str, c.gradient.shape))}]" if c.gradient.ndim else "number"
        table.add_row(Text(name), Text(shape), f"{c.largest:.2g}", f"{c.allowed:.2g}", _verdict(c))
    out.print(Text(f"{subject.target.qualname}({subject.declared.text}), {drawn} arguments"))
    out.print(table)
    if integers:
        out.print(Text("drawn: " + ", ".join(f"{name} = {value}" for name, value in integers.items())))
    for name, c in found:
        if c.wrong:
            out.print(Text(f"\n{name}: the worst entries"), _entries(c))


def _verdict(found: Comparison) -> Text:
    part = "" if found.checked == found.error.size else f"{found.checked} checked, of "
    if found.wrong:
        return Text(f"{found.wrong} of {part}{found.error.size} wrong", "bold red")
    if found.vacuous:
        return Text(f"{found.vacuous}: nothing was checked", "yellow")
    return Text(f"ok, {part}{found.error.size}" if part else "ok", "green")


def _entries(found: Comparison) -> Table:
    table = Table("entry", "gradient", "difference", "off by", box=None, pad_edge=False)
    for index in found.worst(min(WORST, found.wrong)):
        at = f"[{', '.join(map(str, index))}]" if index else "-"
        numbers = (found.gradient[index], found.difference[index])
        table.add_row(Text(at), *(f"{x:.9g}" for x in numbers), f"{found.error[index]:.2g}")
    return table
