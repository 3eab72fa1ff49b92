"""What stands between a user's function and its compiled entry: structures taken apart, and results put together.

    f(x, params)   ->   run(x, params["W"], params["b"])   ->   value, {"W": W_bar, "b": b_bar}

Where every parameter is one value and the results are flat, nothing stands between: the entry itself is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pullback.backend.native.bridge import MISS
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.module import Native
from pullback.ir.nodes import ABSENT, UNDEF, Const, Operand, Pack, Var
from pullback.ir.walk import variables
from pullback.runtime import build
from pullback.styles.style import Scalar


def driver(native: Native, run: Callable[..., Any], any_float: bool = False) -> Callable[..., Any]:
    """A function of all parameters that gives the results of `run`, the entry, as a function gives them; or its MISS.

    any_float  floats may be Python's or NumPy's, whichever the entry takes

    Raises Untaken for a result that cannot be put together.
    """
    return run if _is_plain(native) and not any_float else _Driver(native, any_float).function(run)


def _is_plain(native: Native) -> bool:
    """Whether the entry takes and gives what the function does."""
    results = native.results
    return (
        tuple(p.tree for p in native.function.params) == native.arguments
        and len(results) > 1
        and all(isinstance(r, Var) for r in results)
        and not set(results) & set(native.arguments)
    )


def _as_pythons(value: Any) -> Any:
    return float(value) if type(value) is np.float64 else value


def _as_numpys(value: Any) -> Any:
    return np.float64(value) if type(value) is float else value


class _Driver:
    """Collects the text of a driver, and the objects that it names."""

    def __init__(self, native: Native, any_float: bool) -> None:
        self.names: dict[str, Any] = {"_build": build, "_MISS": MISS}
        self.any_float = any_float
        self.places: dict[Var, str] = {}  # the expressions that give the leaves of parameters
        for i, param in enumerate(native.function.params):
            self.take_apart(param.tree, f"p{i}")
        self.native = native
        self.count = 0

    def function(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """The function."""
        native = self.native
        params = ", ".join(f"p{i}" for i in range(len(native.function.params)))
        arguments = ", ".join(map(self.argument, native.arguments))
        given = sum(1 for tree in native.results for _ in variables(tree))
        names = "".join(f"r{k}, " for k in range(given))
        built = [self.build(tree) for tree in native.results]
        result = built[0] if len(built) == 1 else f"({', '.join(built)})"
        lines = [
            f"def driver({params}{', ' * bool(params)}*, _run=_run):",
            f"    out = _run({arguments})",
            "    if out is _MISS:",
            "        return out",
            *([f"    {names} = out"] if names else []),
            f"    return {result}",
        ]
        self.names["_run"] = run
        exec(compile("\n".join(lines), f"<pullback driver of {native.interface.name}>", "exec"), self.names)
        made: Callable[..., Any] = self.names["driver"]
        return made

    def argument(self, var: Var) -> str:
        """The expression of an argument of the entry."""
        style, text = var.style, self.places[var]
        if self.any_float and isinstance(style, Scalar) and style.dtype == np.float64:
            return f"{self.bind(_as_pythons if style.weak else _as_numpys)}({text})"
        return text

    def bind(self, value: Any) -> str:
        """A name for an object."""
        name = f"o{len(self.names)}"
        self.names[name] = value
        return name

    def take_apart(self, tree: Operand, text: str) -> None:
        """Note where the leaves of a parameter are."""
        if isinstance(tree, Var):
            self.places[tree] = text
        elif isinstance(tree, Pack):
            for i, item in enumerate(tree.items):
                self.take_apart(item, self.part(tree, i, text))

    def part(self, pack: Pack, i: int, text: str) -> str:
        """The expression of one item of a structure."""
        if pack.kind == "dict":
            return f"{text}[{self.bind(pack.meta[i])}]"
        if pack.kind == "new" and pack.meta[1] is not None:
            return f"{text}.{pack.meta[1][i]}"
        return f"{text}[{i}]"

    def build(self, tree: Operand) -> str:
        """The expression of a result.  An argument that is handed back is the argument itself."""
        if isinstance(tree, Var):
            self.count += 1
            return self.places.get(tree, f"r{self.count - 1}")
        if isinstance(tree, Const):
            if tree.value is UNDEF:
                raise Untaken("a result that may not be bound")
            return "None" if tree.value is None or tree.value is ABSENT else self.bind(tree.value)
        items = [self.build(x) for x in tree.items]
        match tree.kind:
            case "tuple":
                return f"({''.join(f'{x}, ' for x in items)})"
            case "list":
                return f"[{', '.join(items)}]"
            case "dict":
                pairs = zip(tree.meta, items, strict=True)
                return f"{{{', '.join(f'{self.bind(key)}: {x}' for key, x in pairs)}}}"
            case "new":
                constructor, names = self.bind(tree.meta[0]), tree.meta[1]
                if names is None:
                    return f"{constructor}({', '.join(items)})"
                fields = "".join(f", {n}={x}" for n, x in zip(names, items, strict=True))
                return f"_build({constructor}{fields})"
        raise Untaken(f"a {tree.kind} as a result")
