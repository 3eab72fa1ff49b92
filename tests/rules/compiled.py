"""A rule's case as a program: a function of the arrays whose text calls the rule's function once.

`program(...)` writes the text, `value_and_grad` compiles and runs it.
"""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Sequence
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from apply_rule import leaves

from pullback.frontend.environment import Environment
from pullback.frontend.signature import Signature, spec_of
from pullback.pipeline import Options, compile_function
from pullback.rules.kinds import Case
from pullback.transform.gradient import Request


class Program:
    """The text of a function and the arguments it is for; `leaves_of[i]` are the parameters of operand i."""

    def __init__(
        self, path: str, case: Case, active: Sequence[int], out_bar: Any, displays: bool = False
    ) -> None:
        self.displays = displays  # write arrays that are not differentiated as lists
        self.args: list[Any] = []
        self.leaves_of: dict[int, list[int]] = {}
        operands = []
        for i, value in enumerate(case.args):
            before = len(self.args)
            operands.append(self._operand(value, i in active))
            if i in active:
                self.leaves_of[i] = list(range(before, len(self.args)))
        options = [f"{name}={self._operand(value, False)}" for name, value in case.kwargs.items()]
        call = f"{path}({', '.join([*operands, *options])})"
        self.text = self._body(call, out_bar)

    def _operand(self, value: Any, active: bool) -> str:
        if isinstance(value, list | tuple) and any(isinstance(v, np.ndarray | list) or active for v in value):
            inner = ", ".join(self._operand(v, active) for v in value)
            return f"[{inner}]" if isinstance(value, list) else f"({inner},)"
        if self.displays and not active and isinstance(value, np.ndarray):
            return repr(value.tolist())
        if active or isinstance(value, np.ndarray):
            self.args.append(value)
            return f"x{len(self.args) - 1}"
        if isinstance(value, type) or value in (np.inf, -np.inf):
            return {np.float64: "np.float64", np.float32: "np.float32", complex: "complex"}.get(
                value, "np.inf" if value == np.inf else "-np.inf"
            )
        return repr(value)

    def _body(self, call: str, out_bar: Any) -> str:
        lines = [f"t = {call}"]
        if isinstance(out_bar, tuple):
            terms = [self._pairing(bar, f"t[{i}]") for i, bar in enumerate(out_bar) if bar is not None]
        else:
            terms = [self._pairing(out_bar, "t")]
        lines.append(f"return {' + '.join(terms)}")
        parameters = ", ".join(f"x{i}" for i in range(len(self.args)))
        return f"def NAME({parameters}):\n" + "".join(f"    {line}\n" for line in lines)

    def _pairing(self, bar: Any, result: str) -> str:
        self.args.append(bar)
        weight = f"x{len(self.args) - 1}"
        if np.iscomplexobj(bar):
            return f"np.sum(np.real(np.conjugate({weight}) * {result}))"
        return f"np.sum({weight} * {result})"


def load_programs(programs: Sequence[Program], path: Path, name: str) -> ModuleType:
    """A module with function `f0`, `f1`, ... for the programs."""
    texts = [p.text.replace("NAME", f"f{i}") for i, p in enumerate(programs)]
    file = path / f"{name}.py"
    file.write_text("import math\n\nimport numpy as np\n\n\n" + "\n\n".join(texts))
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def value_and_grad(
    fn: FunctionType, args: Sequence[Any], wrt: Sequence[int], **options: Any
) -> tuple[Any, Any]:
    """Compile for these arguments and run; the cotangents of the parameters in `wrt`."""
    names = list(inspect.signature(fn).parameters)
    signature = Signature(tuple((n, spec_of(a, n)) for n, a in zip(names, args, strict=True)))
    request = Request(tuple((i,) for i in wrt), single=False)
    compiled = compile_function(fn, signature, Environment(fn), request, Options(**options))
    result: tuple[Any, Any] = compiled.function("value_and_grad")(*args)
    return result


def gradients(fn: FunctionType, program: Program, **options: Any) -> dict[int, list[Any]]:
    """The cotangents by operand of the case, a leaf each."""
    wrt = [k for ks in program.leaves_of.values() for k in ks]
    _, found = value_and_grad(fn, program.args, wrt, **options)
    by_parameter = dict(zip(wrt, found, strict=True))
    return {i: [leaf for k in ks for leaf in leaves(by_parameter[k])] for i, ks in program.leaves_of.items()}
