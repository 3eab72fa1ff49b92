"""One family of errors, each with the place in the user's source, the reason and a way out.

`Loc` is the place of a statement; every IR statement carries one.  `PullbackError` and its subclasses print as

    model.py:14: cannot differentiate through `np.foo`
        y = np.foo(x)
            ^^^^^^^^^
    reason: ...
    way out: ...
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Loc:
    """A place in the user's source: file, 1-based line, 0-based columns, the text of the line, the function's name."""

    file: str = "<generated>"
    line: int = 0
    col: int = 0
    end_col: int = 0
    text: str = ""
    function: str = ""

    def __str__(self) -> str:
        return f"{self.file.replace(chr(92), '/').rsplit('/', 1)[-1]}:{self.line}"


NOWHERE = Loc()


class PullbackError(Exception):
    """Base of every error that this package raises on purpose."""

    def __init__(self, reason: str, *, loc: Loc | None = None, hint: str = "") -> None:
        self.reason = reason
        self.loc = loc
        self.hint = hint
        super().__init__(self._message())

    def _message(self) -> str:
        lines = []
        if self.loc is not None and self.loc.line:
            lines.append(f"{self.loc.file}:{self.loc.line}: {self.reason}")
            lines += _excerpt(self.loc)
        else:
            lines.append(self.reason)
        if self.hint:
            lines.append(f"way out: {self.hint}")
        return "\n".join(lines)


def _excerpt(loc: Loc) -> list[str]:
    """The user's line with a caret under the offending text."""
    text = loc.text.rstrip()
    stripped = text.lstrip()
    if not stripped:
        return []
    cut = len(text) - len(stripped)
    start = max(loc.col - cut, 0)
    width = max(min(loc.end_col, len(text)) - cut - start, 1)
    return ["    " + stripped, "    " + " " * start + "^" * width]


class UnsupportedError(PullbackError):
    """A construct outside what is supported, refused at compile time."""


class NoRuleError(UnsupportedError):
    """A function on the path of a derivative has no rule."""


class CompilerError(PullbackError):
    """The compiler itself failed: a defect of this package, with the user's line at which it came to light."""


def is_defect(error: Exception) -> bool:
    """Whether an exception that the compiler let out is not one that it raises on purpose."""
    return type(error).__module__.split(".")[0] != "pullback"


def defect(error: Exception, loc: Loc) -> CompilerError:
    """The error that tells of a defect, and where it came to light."""
    return CompilerError(
        f"the compiler failed here, which is a defect of it: {type(error).__name__}: {error}",
        loc=loc,
        hint="write this line in another way, and please report it with the function",
    )


@contextmanager
def failing_at(place: Callable[[], Loc]) -> Iterator[None]:
    """What goes wrong inside is said to have gone wrong at a place."""
    try:
        yield
    except Exception as error:
        if not is_defect(error):
            raise
        raise defect(error, place()) from error


class AmbiguousRuleError(PullbackError):
    """Two rules of equal rank match one call; the message names both."""


class AliasError(UnsupportedError):
    """A write to storage that another live name may share in a way the compiler cannot follow."""


class OverlapError(PullbackError):
    """At run time: a written argument shares memory with another argument that is read."""


class SourceError(PullbackError):
    """The source of a function is missing or no longer the source of its code."""


class ArgumentError(PullbackError, TypeError):
    """A call to the public interface with arguments that make no sense (argnums, integer parameters, seeds)."""


class GradientMismatchError(PullbackError, AssertionError):
    """`check_gradients` found entries that differ from finite differences."""


class DebugError(PullbackError):
    """`debug=True` found a value whose style is not the inferred one, or the first value that is not finite."""


class TargetError(PullbackError):
    """The text of a target names no Python function, or its module fails to import."""


class SignatureError(PullbackError, ValueError):
    """A written signature cannot be read, or does not fit its function; shows the place in the text."""

    def __init__(self, reason: str, *, text: str = "", start: int = 0, end: int = 0, hint: str = "") -> None:
        self.excerpt = _excerpt(Loc(col=start, end_col=end, text=text)) if text else []
        super().__init__(reason, hint=hint)

    def _message(self) -> str:
        return "\n".join([self.reason, *self.excerpt, *([f"way out: {self.hint}"] if self.hint else [])])


class NativeError(PullbackError):
    """The native target cannot serve; the function runs on the numpy target."""


class NoCompiler(NativeError):
    """There is no C compiler that works."""


class BuildFailed(NativeError):
    """The C compiler took no text of ours, was killed, or did not end in time."""


class UserLine(Exception):
    """Where in the user's source an exception comes from; its cause, on Pythons whose exceptions take no notes."""


def add_place(error: BaseException, loc: Loc | None, function: str = "") -> None:
    """Add the user's file, line and text to an exception, unless it has them or there are none."""
    if loc is None or not loc.line or has_place(error):
        return
    text = f"{_FROM}{loc.file}:{loc.line}, in {loc.function or function}\n    {loc.text.strip()}"
    if sys.version_info >= (3, 11):
        error.add_note(text)
    elif error.__cause__ is None:
        error.__cause__ = UserLine(text)


def has_place(error: BaseException) -> bool:
    """Whether an exception tells the user's line already."""
    notes: list[str] = getattr(error, "__notes__", [])
    return isinstance(error.__cause__, UserLine) or any(note.startswith(_FROM) for note in notes)


_FROM = "from "
