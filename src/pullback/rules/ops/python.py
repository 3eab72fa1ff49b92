"""The functions of `math`, and the built-in `abs` and `divmod`."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pullback.rules.ops.infer import (
    NONE,
)
from pullback.rules.registry import declare
from pullback.styles.broadcast import (
    ufunc_style,
)
from pullback.styles.style import (
    PY_BOOL,
    PY_FLOAT,
    PY_INT,
    Scalar,
    Style,
    kind,
    max_kind,
    numeric,
)

_MATH_FLOAT = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "copysign",
    "cos",
    "cosh",
    "degrees",
    "dist",
    "erf",
    "erfc",
    "exp",
    "expm1",
    "fabs",
    "fmod",
    "fsum",
    "gamma",
    "hypot",
    "ldexp",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "nextafter",
    "pow",
    "radians",
    "remainder",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "ulp",
    "cbrt",
    "exp2",
    "fma",
    "sumprod",
]
_MATH_INT = ["ceil", "comb", "factorial", "floor", "gcd", "isqrt", "lcm", "perm", "trunc"]
_MATH_BOOL = ["isclose", "isfinite", "isinf", "isnan"]


def _always(style: Style | tuple[Style, ...]) -> Callable[..., Any]:
    return lambda *operands, **options: style


def _abs_style(x: Style) -> Style:
    number = numeric(x)
    if isinstance(number, Scalar) and number.weak:
        plain = {"b": PY_INT, "i": PY_INT, "f": PY_FLOAT, "c": PY_FLOAT}[number.kind]
        return plain if number.dtype is not None else Scalar(None, True, plain.kind)
    made = ufunc_style(np.absolute, number)
    assert not isinstance(made, tuple)
    if isinstance(number, Scalar) and number.weak is None and isinstance(made, Scalar):
        return Scalar(made.dtype, None, made.kind)
    return made


def _divmod_style(x: Style, y: Style) -> tuple[Style, Style]:
    a, b = numeric(x), numeric(y)
    if isinstance(a, Scalar) and isinstance(b, Scalar) and a.weak and b.weak:
        plain = PY_FLOAT if max_kind(a.kind, b.kind) == "f" else PY_INT
        return plain, plain
    made = ufunc_style(np.divmod, a, b)
    assert isinstance(made, tuple)
    return made[0], made[1]


def _declare_python() -> None:
    for names, style in ((_MATH_FLOAT, PY_FLOAT), (_MATH_INT, PY_INT), (_MATH_BOOL, PY_BOOL)):
        for name in names:
            if hasattr(math, name):  # some are newer than our oldest Python
                declare(
                    getattr(math, name),
                    style=_always(style),
                    elementwise=True,
                    cheap=name in ("fabs", "isnan"),
                )
    declare(math.frexp, style=_always((PY_FLOAT, PY_INT)))
    declare(math.modf, style=_always((PY_FLOAT, PY_FLOAT)))
    declare(math.prod, style=lambda iterable, start=NONE: Scalar(None, None, kind(iterable) or "f"))
    declare(builtins.abs, style=_abs_style, elementwise=True, cheap=True, path="abs")
    declare(builtins.divmod, style=_divmod_style, path="divmod")


_declare_python()
