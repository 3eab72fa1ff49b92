"""`pullback.compile`: gradients as standalone modules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from pullback.aot.declared import Declared, from_annotations, from_example, from_text
from pullback.aot.entries import Entry
from pullback.aot.module import Module, make
from pullback.aot.shared import Build
from pullback.api.argnums import Argnums
from pullback.api.callables import target_of
from pullback.backend.numpy.wrap import quoted
from pullback.dispatch.tracebacks import brief
from pullback.errors import ArgumentError

Target: TypeAlias = Callable[..., Any]


@brief
def compile(
    f: Target | Sequence[tuple[Target, str] | Entry],
    sig: str | Declared | None = None,
    *,
    example: Sequence[Any] | None = None,
    argnums: Argnums | None = 0,
    has_aux: bool = False,
    forms: Sequence[str] = ("value_and_grad",),
    readable: bool = False,
    native: bool = False,
    march: str = "",
    cflags: str = "",
) -> Module:
    """Gradients of a function, or of several, as a module of plain source that needs NumPy alone.

    f        the function; or a list of (function, signature), or of `pullback.aot.entries.Entry`
    sig      the types of its arguments, as text: "w: f8[n], x: f8[k, n], mode: 'fast'"; by default they are those of
             its annotations
    example  example arguments, a tuple, instead
    argnums, has_aux  as for `value_and_grad`
    forms    some of "value_and_grad", "grad", "pair" (`f_primal` and `f_pullback`) and "vjp"
    readable  plain expressions only: no work on large arrays in blocks, in functions of its own
    native   C too: `write` compiles a library beside the module, which uses it where it can
    march, cflags  for its compiler: the CPU (`march="native"`: this one alone; by default any of this kind), more flags

    Raises SignatureError for a wrong signature, and what compiling raises; UnsupportedError where the function
    depends on data or objects that a file cannot hold.
    """
    forms = (forms,) if isinstance(forms, str) else tuple(forms)
    if callable(f):
        declared = _declared(f, sig, example)
        entries = [Entry(f, declared, argnums, has_aux, forms)]
    else:
        if sig is not None or example is not None:
            raise ArgumentError("several functions have a signature each", hint="give (function, signature)")
        entries = [
            each if isinstance(each, Entry) else Entry(each[0], _declared(*each), argnums, has_aux, forms)
            for each in f
        ]
    if (march or cflags) and not native:
        raise ArgumentError(
            "march and cflags are for a library, which is not asked for", hint="give native=True"
        )
    how = Build(march, cflags) if native else None
    return make(entries, _command(entries, readable, how), readable=readable, native=how)


def _declared(f: Target, sig: str | Declared | None = None, example: Sequence[Any] | None = None) -> Declared:
    fn = target_of(f).fn
    if sig is not None and example is not None:
        raise ArgumentError("both a signature and an example are given", hint="give one of them")
    if example is not None:
        return from_example(fn, tuple(example))
    if isinstance(sig, Declared):
        return sig
    return from_annotations(fn) if sig is None else from_text(fn, sig)


def _command(entries: Sequence[Entry], readable: bool, how: Build | None) -> str:
    """How a module was made, for its header."""
    options = _options(entries[0]) + (", readable=True" if readable else "")
    if how is not None:
        options += ", native=True" + (f", march={quoted(how.march)}" if how.march else "")
        options += f", cflags={quoted(how.cflags)}" if how.cflags else ""
    if len(entries) == 1:
        (entry,) = entries
        fn = target_of(entry.fn).fn
        return f"pullback.compile({_name(fn)}, {quoted(entry.declared.text)}{options})"
    items = [f"({_name(target_of(e.fn).fn)}, {quoted(e.declared.text)})" for e in entries]
    return f"pullback.compile([{', '.join(items)}]{options})"


def _options(entry: Entry) -> str:
    options = ""
    if entry.argnums != 0:
        options += f", argnums={entry.argnums!r}"
    if entry.has_aux:
        options += ", has_aux=True"
    if entry.forms != ("value_and_grad",):
        options += f", forms={entry.forms!r}"
    return options


def _name(fn: Target) -> str:
    """How a function is called where it is defined."""
    return str(fn.__qualname__).rpartition("<locals>.")[2]
