"""Modules with C beside them: the library serves where it can, NumPy else; the C files stand alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.aot.c_api import c_module
from pullback.aot.declared import from_text
from pullback.aot.entries import Entry
from pullback.aot.module import Module
from pullback.backend.native import toolchain
from pullback.errors import NoCompiler

try:
    toolchain.find()
except NoCompiler:
    pytest.skip("no C compiler", allow_module_level=True)

RATE = 0.5
SIG = "w: f8[n], x: f8[k, n], y: f8[k], factor: float"


def loss(w, x, y, factor=2.0):
    r = np.tanh(x @ w) - y
    return RATE * factor * np.sum(r * r) / len(y)


def gradient(w: Any, x: Any, y: Any, factor: float) -> tuple[Any, Any]:
    """In closed form."""
    t = np.tanh(x @ w)
    return RATE * factor * np.sum((t - y) ** 2) / len(y), 2 * RATE * factor / len(y) * x.T @ (
        (t - y) * (1 - t * t)
    )


def numbers(n: int, k: int) -> tuple[Any, ...]:
    """The arguments of the C example."""
    return tuple(0.1 * np.arange(1, count + 1.0) for count in (n, n * k, k))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a module."""
    place = tmp_path_factory.mktemp("made")
    pb.compile(loss, SIG, native=True).write(place / "loss_grad.py")
    return place


def bare(folder: Path, code: str, **environment: str) -> str:
    """What a Python prints that has NumPy, and no pullback."""
    there = str(Path(np.__file__).parent.parent)
    text = f"import sys; sys.path[:0] = [{str(folder)!r}, {there!r}]\n{code}\nassert 'pullback' not in sys.modules"
    held = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PULLBACK_TARGET")}
    command = [sys.executable, "-I", "-S", "-c", text]
    done = subprocess.run(command, env=held | environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


CALL = """\
import numpy as np, loss_grad
w, x, y = 0.1 * np.arange(1, 4.0), 0.1 * np.arange(1, 13.0).reshape(4, 3), 0.1 * np.arange(1, 5.0)
value, w_bar = loss_grad.loss_value_and_grad(w, x, y, 0.5)
print(repr(float(value)), *map(float, w_bar))
print(loss_grad.native_status())
"""


def assert_right(line: str) -> None:
    """The numbers are the gradient."""
    w, x, y = numbers(3, 4)
    value, w_bar = gradient(w, x.reshape(4, 3), y, 0.5)
    np.testing.assert_allclose([float(t) for t in line.split()], [value, *w_bar], rtol=1e-13)


def test_the_library_serves_without_pullback(folder: Path) -> None:
    numbers, status = bare(folder, CALL).splitlines()
    assert_right(numbers)
    assert status == str(next(folder.glob("libloss_grad.*")))


def test_numpy_serves_where_it_is_pinned(folder: Path) -> None:
    numbers, status = bare(folder, CALL, PULLBACK_TARGET="numpy").splitlines()
    assert_right(numbers)
    assert status == "NumPy: PULLBACK_TARGET=numpy"


def test_the_example_in_c(folder: Path, tmp_path: Path) -> None:
    command = [*toolchain.find().command, "-O1", "-Wall", "-Wextra", "-Werror"]
    files = [str(folder / name) for name in ("loss_grad_example.c", "loss_grad.c")]
    subprocess.run([*command, *files, "-o", str(tmp_path / "example"), "-lm"], check=True)
    out = subprocess.run([tmp_path / "example"], capture_output=True, text=True, check=True).stdout
    assert_right(" ".join(line.split(" = ")[1] for line in out.splitlines()))


def test_all_files_are_compared(folder: Path) -> None:
    module = pb.compile(loss, SIG, native=True)
    assert module.is_current(folder / "loss_grad.py")
    for name in ("loss_grad.c", "loss_grad.h", "loss_grad_example.c", "libloss_grad.so"):
        path = folder / name
        data = path.read_bytes()
        path.write_bytes(data[:100])
        assert not module.is_current(folder / "loss_grad.py"), name
        path.write_bytes(data)


def test_texts_are_the_same_each_time() -> None:
    first, second = (pb.compile(loss, SIG, native=True) for _ in range(2))
    assert isinstance(first, Module) and first.c is not None and second.c is not None
    assert first.source == second.source and first.c.texts("m") == second.c.texts("m")
    assert c_module([Entry(loss, from_text(loss, SIG))], "").names == ("loss_value_and_grad",)
