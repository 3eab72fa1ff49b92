"""What the command line prints: results on stdout, all else on stderr; colour on a terminal only."""

from __future__ import annotations

import json
import math
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import update_wrapper
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from pullback.errors import PullbackError, SignatureError

WIDE = 160  # columns of a table that is not read on a terminal
_PACKAGE = str(Path(__file__).parent.parent)
INTERRUPTED = 130  # as shells have it


def console() -> Console:
    """The console of stdout.  Rich keeps to NO_COLOR, and writes no colour but to a terminal."""
    width = None if sys.stdout.isatty() else int(os.environ.get("COLUMNS") or WIDE)
    return Console(highlight=False, markup=False, emoji=False, width=width)  # what is printed is no markup


def print_json(document: Any) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(_plain(document), indent=2, allow_nan=False, ensure_ascii=False))


def _plain(value: Any) -> Any:
    """A value as JSON has it: numbers that are not finite as texts, complex ones as pairs."""
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, complex):
        return [_plain(value.real), _plain(value.imag)]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def fail(reason: str, way_out: str = "", more: str = "") -> int:
    """Print an error: one line, and what belongs to it below; returns the exit code."""
    hint = f" ({way_out})" if way_out else ""
    lines = [_styled("pullback: error:", fg="red", bold=True) + f" {reason}{hint}", *([more] if more else [])]
    click.echo("\n".join(lines), err=True)
    return 2


def interrupted() -> int:
    """Say that the user ended it; returns the exit code."""
    click.echo("pullback: interrupted", err=True)
    return INTERRUPTED


def defect() -> int:
    """Print an error that is our own fault, with its traceback; returns the exit code."""
    traceback.print_exc()
    return fail("this is a defect of pullback", "please report it, with the function")


def note(text: str) -> None:
    """Say something beside the result."""
    click.echo(text, err=True)


def _styled(text: str, **style: Any) -> str:
    return click.style(text, **style) if sys.stderr.isatty() and not os.environ.get("NO_COLOR") else text


def report(error: PullbackError) -> int:
    """Print an error of this package; returns the exit code."""
    if isinstance(error, SignatureError):
        return fail(error.reason, error.hint, "\n".join(error.excerpt))
    if error.loc is not None and error.loc.line:
        return fail(str(error))
    return fail(" ".join(error.reason.split()), " ".join(error.hint.split()))


def guarded(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command whose errors are reported, as JSON too where `as_json` says so."""

    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except PullbackError as error:
            code = report(error)
            _document(kwargs, type(error).__name__, error.reason, error.hint)
            return code
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            reason = f"{error.strerror or error}: `{shown(error.filename)}`" if error.filename else str(error)
            code = fail(reason, "check the path and its permissions")
            _document(kwargs, type(error).__name__, reason, "")
            return code

    return update_wrapper(run, command)


def _document(kwargs: dict[str, Any], kind: str, reason: str, hint: str) -> None:
    if kwargs.get("as_json"):
        print_json({"error": {"kind": kind, "message": reason, "way_out": hint}})


def shown(path: Any) -> str:
    """A path as messages show it: from the current folder, if it is below."""
    try:
        return Path(path).resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path)


class UserCodeError(PullbackError):
    """The user's code raised an error of its own."""


@contextmanager
def users_code(what: str) -> Iterator[None]:
    """Run code of the user's: what it prints goes to stderr, what it raises is quoted in one line."""
    try:
        with redirect_stdout(sys.stderr):
            yield
    except PullbackError:
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [f for f in frames if not f.filename.startswith(("<", _PACKAGE))]
        at = f" ({Path(own[-1].filename).name}:{own[-1].lineno})" if own else ""
        text = " ".join(str(error).split())
        raise UserCodeError(f"{what} raises {type(error).__name__}: {text}{at}") from error
