"""Targets: functions named by a text."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pullback.aot.targets import resolve
from pullback.errors import TargetError

MODEL = """\
import numpy as np
import functools
import sibling_of_model
import pullback as pb


def loss(x):
    return sibling_of_model.double(x)


@pb.differentiable
def made(x):
    return x


@functools.lru_cache
def cached(x):
    return x


class Model:
    def method(self, x):
        return x

    @staticmethod
    def static(x):
        return x

    @classmethod
    def of_class(cls, x):
        return x


half = functools.partial(loss)
bound = functools.partial(loss, 1.0)

if __name__ == "__main__":
    raise SystemExit("run as a script")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "model_for_targets.py").write_text(MODEL)
    (tmp_path / "sibling_of_model.py").write_text("def double(x):\n    return 2 * x\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.parametrize("place", ["model_for_targets.py", "./model_for_targets.py", "model_for_targets"])
def test_functions_are_found(folder: Path, place: str) -> None:
    path = list(sys.path)
    target = resolve(f"{place}:loss")
    assert target.fn(2.0) == 4.0
    assert target.qualname == "loss"
    assert Path(target.file).name == "model_for_targets.py"
    assert target.namespace.__name__ == "model_for_targets"
    assert sys.path == path


@pytest.mark.parametrize("name", ["made", "cached", "Model.method", "Model.static", "half"])
def test_the_plain_function_is_found_behind_what_wraps_it(folder: Path, name: str) -> None:
    assert type(resolve(f"model_for_targets.py:{name}").fn) is type(lambda: None)


def test_a_module_is_imported_once_and_anew_when_its_file_changes(folder: Path) -> None:
    first = resolve("model_for_targets.py:loss")
    assert resolve(f"{folder}/model_for_targets.py:made").namespace is first.namespace
    (folder / "model_for_targets.py").write_text("def loss(x):\n    return 7.0\n")
    assert resolve("model_for_targets.py:loss").fn(1.0) == 7.0


def test_a_file_of_a_package_may_import_relatively(folder: Path) -> None:
    (folder / "pkg_for_targets").mkdir()
    (folder / "pkg_for_targets" / "__init__.py").write_text("")
    (folder / "pkg_for_targets" / "one.py").write_text("from .two import f\n")
    (folder / "pkg_for_targets" / "two.py").write_text("def f(x):\n    return x\n")
    target = resolve("pkg_for_targets/one.py:f")
    assert target.namespace.__name__ == "pkg_for_targets.one"
    assert resolve("pkg_for_targets.one:f").fn is target.fn


def test_a_file_named_as_a_module_of_python_leaves_that_alone(folder: Path) -> None:
    import random

    (folder / "random.py").write_text("def f(x):\n    return x\n")
    assert resolve("random.py:f").fn(3) == 3
    assert sys.modules["random"] is random


BROKEN = {
    "raises.py": "x = 1\nundefined\n",
    "needs.py": "import not_installed_anywhere\n",
    "syntax.py": "def f(:\n",
    "exits.py": "raise SystemExit(3)\n",
}


@pytest.mark.parametrize(
    ("text", "reason", "hint"),
    [
        ("model_for_targets.py", "names no function", "file.py:function"),
        ("model_for_targets.py:", "names no function", "file.py:function"),
        (":loss", "names no function", "file.py:function"),
        ("a b:loss", "neither a module nor a file", "file.py:function"),
        ("nowhere_at_all:f", "there is no module `nowhere_at_all`", "run from the folder"),
        ("model_for_targets.sub:f", "there is no module `model_for_targets.sub`", "run from the folder"),
        ("model_for_target.py:loss", "no file `model_for_target.py`", "did you mean `model_for_targets.py`?"),
        (".:loss", "neither a module nor a file", "file.py:function"),
        ("./:loss", "is a folder", "folder/model.py:function"),
        ("model_for_targets.py:lss", "has no `lss`", "did you mean `loss`?"),
        ("model_for_targets.py:qqq", "has no `qqq`", "it has `Model`, `cached`, `loss`"),
        ("model_for_targets.py:Model.metod", "the class `Model`", "did you mean `method`?"),
        ("model_for_targets.py:Model", "`Model` is a class", "Model.method"),
        ("model_for_targets.py:bound", "bound to arguments already", "def f(x)"),
        ("model_for_targets.py:Model.of_class", "bound to arguments already", "def f(x)"),
        ("model_for_targets.py:np.sin", "no Python source", "written in Python"),
        ("model_for_targets.py:__name__", "a function is needed", "written in Python"),
        ("raises.py:f", "NameError: name 'undefined' is not defined (raises.py:2)", "mend it"),
        ("needs.py:f", "No module named 'not_installed_anywhere'", "install what it imports"),
        ("syntax.py:f", "SyntaxError", "mend it"),
        ("exits.py:f", "SystemExit: 3", "mend it"),
    ],
)
def test_what_is_wrong_with_a_target_is_said_in_one_line(
    folder: Path, text: str, reason: str, hint: str
) -> None:
    for name, content in BROKEN.items():
        (folder / name).write_text(content)
    with pytest.raises(TargetError) as caught:
        resolve(text)
    assert reason in caught.value.reason and "\n" not in caught.value.reason
    assert hint in caught.value.hint
    if reason.startswith("NameError"):
        assert "raises" not in sys.modules
