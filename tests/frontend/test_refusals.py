"""Each row of the refusal table: its example is refused, at its line, with its message and a way out."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

import pullback as pb
from pullback.errors import UnsupportedError
from pullback.frontend.refusals import REFUSALS

ON_ARRAYS = ("flat", "as_strided", "view-dtype", "nditer", "object-array", "is-array", "implicit-store")


@pytest.mark.parametrize("code", REFUSALS)
def test_row(code: str, tmp_path: Path) -> None:
    row = REFUSALS[code]
    path = tmp_path / f"refused_{code.replace('-', '_')}.py"
    path.write_text(row.example)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x = np.array([1.0, 2.0, 3.0]) if code in ON_ARRAYS else 0.5
    with pytest.raises(UnsupportedError) as caught:
        pb.value_and_grad(module.f)(x)
    pattern = re.sub(r"\\{\w+\\}", "[^`]+", re.escape(row.message))
    assert re.fullmatch(pattern, caught.value.reason)
    here = next(n for n, line in enumerate(row.example.splitlines(), 1) if line.endswith("# here"))
    assert caught.value.loc is not None and caught.value.loc.line == here
    assert caught.value.hint
    shown = str(caught.value).splitlines()
    assert shown[0].startswith(f"{path}:{here}: ")
    assert "^" in shown[2] and shown[-1].startswith("way out: ")
