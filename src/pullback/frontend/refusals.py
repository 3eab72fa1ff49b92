"""THE refusal table: every construct that is not supported, with its message, a way out and an example.

The front end refuses through this table; the page `docs/refusals.md` is made from it and each example is a test: it
must be refused at the line that ends in `# here`, with the row's message.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from pullback.errors import Loc, UnsupportedError

# An attribute of the functions that differentiate, and of their results.
GRADIENT_MARK = "__is_pullback_gradient__"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A row: a code, what is refused, the message and the hint (with `{}` fields), a program that triggers it."""

    code: str
    what: str
    message: str
    hint: str
    example: str


_SYNTAX = (
    Refusal(
        "async",
        "`async def`, `await`, `async for`, `async with`",
        "asynchronous code cannot be differentiated",
        "move the numerical part into an ordinary function and differentiate that",
        "async def f(x):  # here\n    return x * x\n",
    ),
    Refusal(
        "yield",
        "generators: `yield`, `yield from`",
        "`yield`: a generator function cannot be differentiated",
        "collect the items in a list and return it, or put the loop into the caller",
        "def f(x):\n    yield x * x  # here\n",
    ),
    Refusal(
        "try",
        "`try` with `except` or `finally`",
        "`try` is not supported: which part of it ran cannot be known before it runs",
        "test the condition with `if` before, or move the `try` out of the differentiated function",
        "def f(x):\n    try:  # here\n        return 1 / x\n    except ZeroDivisionError:\n        return 0.0 * x\n",
    ),
    Refusal(
        "global",
        "writing to a global name",
        "`global {name}`: the function writes to a global name, which would be state between calls",
        "return the value, or pass it as an argument",
        "def f(x):\n    global last  # here\n    last = x\n    return x * x\n",
    ),
    Refusal(
        "nonlocal",
        "writing to a name of an enclosing function",
        "`nonlocal {name}`: the function writes to a name of an enclosing function",
        "return the new value and assign it in the enclosing function",
        "def f(x):\n    s = 0.0\n    def add(v):\n        nonlocal s  # here\n"
        "        s = s + v\n    add(x)\n    return s\n",
    ),
    Refusal(
        "class",
        "a class defined inside the function",
        "a class definition inside a differentiated function is not supported",
        "define class `{name}` at module level",
        "def f(x):\n    class Box:  # here\n        pass\n    return x * x\n",
    ),
    Refusal(
        "match-pattern",
        "`match` patterns with `*rest` or `**rest`",
        "this pattern of `match` is not supported",
        "test with `if` and unpack the value yourself",
        "def f(x):\n    match [x, x]:\n        case [a, *rest]:  # here\n            return a\n    return x\n",
    ),
    Refusal(
        "del-attribute",
        "`del` of an attribute",
        "`del` of an attribute is not supported",
        "set it to None, or keep the value in a variable",
        "def f(x):\n    f.cache = x\n    del f.cache  # here\n    return x\n",
    ),
)

_LIBRARY = (
    Refusal(
        "with",
        "`with` on anything but `np.errstate`, `np.printoptions`",
        "`with {name}` is not supported",
        "only np.errstate and np.printoptions may be used in a differentiated function",
        "def f(x):\n    with open('log') as file:  # here\n        return x * x\n",
    ),
    Refusal(
        "flat",
        "`.flat`",
        "`.flat` is not supported: it is an iterator that writes through",
        "use .ravel() to read, or a reshaped copy to write",
        "import numpy as np\ndef f(x):\n    return np.sum(x.flat[0])  # here\n",
    ),
    Refusal(
        "as_strided",
        "`np.lib.stride_tricks.as_strided`",
        "`as_strided` makes overlapping views that cannot be followed",
        "use sliding_window_view, slices or integer indices",
        "import numpy as np\nfrom numpy.lib.stride_tricks import as_strided\n"
        "def f(x):\n    return np.sum(as_strided(x, (2, 2), (8, 8)))  # here\n",
    ),
    Refusal(
        "view-dtype",
        "`.view(dtype)`",
        "`.view(dtype)` reinterprets the bytes of an array; it has no derivative",
        "use .astype, .real or .imag",
        "import numpy as np\ndef f(x):\n    return np.sum(x.view(np.int64))  # here\n",
    ),
    Refusal(
        "nditer",
        "`np.nditer`",
        "`np.nditer` is not supported",
        "write the loop with range and indices, or use broadcasting",
        "import numpy as np\ndef f(x):\n    s = 0.0\n    for v in np.nditer(x):  # here\n"
        "        s += v\n    return s\n",
    ),
    Refusal(
        "object-array",
        "arrays of dtype object",
        "arrays of dtype object cannot be differentiated",
        "use a list for ragged data, or a numeric dtype",
        "import numpy as np\ndef f(x):\n    a = np.array([x, x], dtype=object)  # here\n    return a[0]\n",
    ),
    Refusal(
        "is-array",
        "`is` between arrays",
        "`is` on arrays or numbers asks for object identity, which compiled code does not keep",
        "compare values with ==, or use np.array_equal",
        "import numpy as np\ndef f(x):\n    y = x\n    if y is x[:]:  # here\n"
        "        return np.sum(x)\n    return np.sum(y)\n",
    ),
    Refusal(
        "exec",
        "`exec`, `eval`, `locals`, `globals`",
        "`{name}` sees or changes names in ways that the compiler cannot follow",
        "write the expression out",
        "def f(x):\n    return eval('x * x')  # here\n",
    ),
    Refusal(
        "gradient",
        "gradients of gradients",
        "`{name}` computes a gradient already; derivatives of derivatives are not supported yet",
        "differentiate the function itself, and take differences of its gradient",
        "import pullback as pb\ndef g(x):\n    return x * x\ndef f(x):\n    return pb.grad(g)(x) * x  # here\n",
    ),
    Refusal(
        "implicit-store",
        "storing into an array, list or dict from outside the function",
        "`{name}` comes from outside the function: storing into it would be state between calls",
        "pass it as an argument, or store into a copy",
        "import numpy as np\nstate = np.zeros(3)\ndef f(x):\n    state[0] = x[0]  # here\n    return np.sum(state)\n",
    ),
)

REFUSALS: dict[str, Refusal] = {row.code: row for row in _SYNTAX + _LIBRARY}


def refusal(code: str, **fields: object) -> tuple[str, str]:
    """The message and the hint of a row, filled in."""
    row = REFUSALS[code]
    return row.message.format(**fields), row.hint.format(**fields)


def refuse(code: str, loc: Loc | None, **fields: object) -> NoReturn:
    """Raise the row's UnsupportedError at a place."""
    message, hint = refusal(code, **fields)
    raise UnsupportedError(message, loc=loc, hint=hint)
