"""pullback: gradients of NumPy functions, by rewriting their source.

>>> import numpy as np, pullback as pb
>>> pb.value_and_grad(lambda x: x * x)(3.0)
(9.0, 6.0)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from pullback.errors import (
    AliasError,
    AmbiguousRuleError,
    ArgumentError,
    CompilerError,
    DebugError,
    GradientMismatchError,
    NoRuleError,
    OverlapError,
    PullbackError,
    SignatureError,
    SourceError,
    TargetError,
    UnsupportedError,
)
from pullback.markers import broadcast, stop_gradient

if TYPE_CHECKING:
    from pullback.aot.public import compile
    from pullback.api import differentiable, grad, value_and_grad, vjp
    from pullback.api.checking import check_gradients
    from pullback.rules.registry import nondifferentiable, opaque, opt_out, row, rule

__version__ = "0.1.0"

# Names that load the compiler: found on first use, so that importing the package stays cheap.
_LAZY = {
    "differentiable": "pullback.api",
    "grad": "pullback.api",
    "value_and_grad": "pullback.api",
    "vjp": "pullback.api",
    "check_gradients": "pullback.api.checking",
    "compile": "pullback.aot.public",
    "nondifferentiable": "pullback.rules.registry",
    "opaque": "pullback.rules.registry",
    "opt_out": "pullback.rules.registry",
    "row": "pullback.rules.registry",
    "rule": "pullback.rules.registry",
}

__all__ = [
    "AliasError",
    "AmbiguousRuleError",
    "ArgumentError",
    "CompilerError",
    "DebugError",
    "GradientMismatchError",
    "NoRuleError",
    "OverlapError",
    "PullbackError",
    "SignatureError",
    "SourceError",
    "TargetError",
    "UnsupportedError",
    "broadcast",
    "check_gradients",
    "compile",
    "differentiable",
    "grad",
    "nondifferentiable",
    "opaque",
    "opt_out",
    "row",
    "rule",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        value = getattr(importlib.import_module(_LAZY[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'pullback' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
