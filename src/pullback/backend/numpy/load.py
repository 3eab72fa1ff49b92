"""Generated source as functions: executed under a file name of its own that `linecache` knows."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from typing import Any

from pullback.backend.numpy.module import Generated

_numbers = itertools.count(1)


def load(generated: Generated, name: str) -> Callable[..., Any]:
    """The function `name` of a generated module; tracebacks and debuggers show its source."""
    file = f"<pullback {name} #{next(_numbers)}>"
    text = generated.source
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {**generated.namespace, "__name__": f"pullback.generated.{name}"}
    exec(compile(text, file, "exec"), namespace)
    function: Callable[..., Any] = namespace[name]
    return function
