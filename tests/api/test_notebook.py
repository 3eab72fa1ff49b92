"""What a notebook shows: the page is parsed, and its links are held against the comments in the generated source."""

from __future__ import annotations

import importlib
import pickle
import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.golden.programs import PROGRAMS

import pullback as pb

X = np.array([1.0, -2.0, 3.0])


@dataclass
class Line:
    number: str = ""
    text: str = ""
    group: str = ""
    tip: str = ""


@dataclass
class Pane:
    titles: list[str] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(line.text for line in self.lines)

    def numbered(self, number: int) -> Line:
        (found,) = [line for line in self.lines if line.number == str(number)]
        return found


class Page(HTMLParser):
    """The panes of a page; every tag must be closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.panes: list[Pane] = []
        self.style = ""
        self.open: list[tuple[str, list[str]]] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        classes = (found.get("class") or "").split()
        self.tags.add(tag)
        self.attributes |= set(found)
        self.open.append((tag, classes))
        if "pb-pane" in classes:
            self.panes.append(Pane())
        if "pb-title" in classes:
            self.panes[-1].titles.append("")
        if "pb-line" in classes:
            group = next((c for c in classes if re.fullmatch(r"pb-\d+", c)), "")
            self.panes[-1].lines.append(Line(group=group, tip=found.get("title") or ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        around = {c for _, classes in self.open for c in classes}
        if self.open and self.open[-1][0] == "style":
            self.style += data
        elif "pb-title" in around:
            self.panes[-1].titles[-1] += data
        elif "pb-number" in around:
            self.panes[-1].lines[-1].number += data
        elif "pb-line" in around:
            self.panes[-1].lines[-1].text += data
        elif "pullback-view" in around:
            assert not data.strip()


def page(shown: Any) -> tuple[Pane, Pane, Page]:
    parsed = Page(shown._repr_html_())
    user, generated = parsed.panes
    return user, generated, parsed


@pytest.mark.parametrize("form", ["joint", "pair"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_golden_programs(name: str, form: str) -> None:
    fn, args, wrt = PROGRAMS[name]
    argnums = wrt if len(wrt) > 1 else wrt[0]
    shown = pb.differentiable(bufferize=form == "joint")(fn)  # so that nothing is compiled yet
    if form == "joint":
        shown.value_and_grad(*args, argnums=argnums)
    else:
        shown.vjp(*args, argnums=argnums)
    user, generated, parsed = page(shown)
    assert generated.text.strip() == shown.source(*args, argnums=argnums, form=form).strip()
    lines = Path(fn.__code__.co_filename).read_text().splitlines()
    for line in user.lines:
        assert line.text == lines[int(line.number) - 1]
    linked = [line for line in generated.lines if line.group]
    for line in linked:
        assert user.numbered(int(line.number)).group == line.group
        assert line.tip == f"programs.py:{line.number}"
    comments = [
        (line, match)
        for line in generated.lines
        if (match := re.match(r"\s*# programs\.py:(\d+)  (.*)", line.text))
    ]
    assert comments
    for line, match in comments:
        assert line.number == match[1]
        whole, quoted = user.numbered(int(match[1])).text.strip(), match[2].removesuffix("…")
        assert whole == quoted or (quoted != match[2] and whole.startswith(quoted.rstrip()))
    groups = {line.group for line in user.lines if line.group}
    assert groups == {line.group for line in linked}
    for group in groups:
        assert f".pb-line.{group} {{ background:" in parsed.style
        assert f":has(.{group}:hover) .pb-line.{group} {{" in parsed.style
    assert parsed.tags == {"div", "style", "pre", "span"}
    assert parsed.attributes <= {"class", "title"}
    assert "http" not in parsed.style
    assert "url(" not in parsed.style


def test_a_statement_of_several_lines_has_one_colour() -> None:
    def f(x):
        y = np.exp(
            x
            * 2.0
        )  # fmt: skip
        return np.sum(y)

    gradient = pb.grad(f)
    gradient(X)
    user, generated, _ = page(gradient)
    first = next(i for i, line in enumerate(user.lines) if "np.exp(" in line.text)
    groups = {line.group for line in user.lines[first : first + 4]}
    assert len(groups) == 1
    assert groups <= {line.group for line in generated.lines if "np.exp" in line.text}
    assert user.lines[first - 1].group == ""


def test_text_is_escaped() -> None:
    def f(x, mode="<b>&\"'"):
        if mode == "<b>&\"'" and x[0] < 3.0:  # <script>alert("no")</script> &amp;
            return np.sum(x * x)
        return np.sum(x)

    gradient = pb.grad(f)
    gradient(X)
    user, _, parsed = page(gradient)
    assert '# <script>alert("no")</script> &amp;' in user.text
    assert "script" not in parsed.tags


def test_helpers_in_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "helpers_shown.py").write_text(
        "import numpy as np\n\n\ndef unused(x):\n    return x\n\n\n"
        "def soft(x):\n    y = np.exp(x)\n    return np.log(1.0 + y)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    helpers = importlib.import_module("helpers_shown")

    def f(x):
        return np.sum(helpers.soft(x))

    gradient = pb.grad(f)
    gradient(X)
    user, generated, _ = page(gradient)
    assert user.titles == [
        f"test_notebook.py, line {f.__code__.co_firstlineno}",
        "helpers_shown.py, line 8",
    ]
    assert "unused" not in user.text
    exp = user.numbered(9)
    assert exp.text == "    y = np.exp(x)"
    mine = [line for line in generated.lines if line.group == exp.group]
    assert {line.tip for line in mine} == {"helpers_shown.py:9"}
    assert any("np.exp(x)" in line.text for line in mine)
    assert any("# helpers_shown.py:9  y = np.exp(x)" in line.text for line in mine)
    del sys.modules["helpers_shown"]


def test_before_the_first_call() -> None:
    def f(x):
        return x * x

    for shown in (pb.grad(f), pb.value_and_grad(f), pb.differentiable(f)):
        user, after, _ = page(shown)
        assert "return x * x" in user.text
        assert after.lines == []
        assert "not compiled yet" in after.titles[0]
        assert not any(line.group for line in user.lines)


def test_the_latest_signature_is_shown() -> None:
    f = pb.differentiable(lambda x, n: np.sum(x) * n)
    f.value_and_grad(X, 2)
    assert page(f)[1].titles == ["generated for x: f64[n], n: int"]
    f.value_and_grad(2.0, 2)
    assert page(f)[1].titles == ["generated for x: float, n: int"]
    f.vjp(np.ones((2, 3), dtype=np.float32), 2.5)
    _, generated, _ = page(f)
    assert generated.titles == ["generated for x: f32[n, m], n: float"]
    assert "_pullback(residuals" in generated.text


def test_methods_partials_and_structures() -> None:
    class Model:
        def __init__(self, k: float) -> None:
            self.k = k

        @pb.differentiable
        def loss(self, p, mode):
            return self.k * np.sum(p["x"])

    bound = Model(2.0).loss
    bound.grad({"x": X}, None)
    _, generated, _ = page(bound)
    assert generated.titles == ["generated for self: Model, p: dict, mode = None"]
    assert "loss_value_and_grad" in generated.text
    gradient = pb.grad(Model(2.0).loss)
    assert "loss_value_and_grad" in page(gradient)[1].text


def test_no_source() -> None:
    namespace: dict[str, Any] = {}
    exec("def f(x):\n    return x * x", namespace)
    (pane,) = Page(pb.differentiable(namespace["f"])._repr_html_()).panes
    assert pane.titles == ["no source"]
    assert "no source for `f`" in pane.text
    (pane,) = Page(pb.differentiable(len)._repr_html_()).panes
    assert "has no Python source" in pane.text


def test_a_notebook_cell() -> None:
    """IPython keeps the text of a cell in linecache under a name of its own."""
    import linecache

    text = "import numpy as np\ndef half(x):\n    return x / 2\ndef f(x):\n    return np.sum(half(x) ** 2)\n"
    name = "<ipython-input-7>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {}
    exec(compile(text, name, "exec"), namespace)
    gradient = pb.grad(namespace["f"])
    gradient(X)
    user, _, _ = page(gradient)
    assert user.titles == [f"{name}, line 4", f"{name}, line 2"]
    assert user.numbered(3).group


def test_a_standalone_module() -> None:
    def helper(x):
        return np.tanh(x) * 2.0

    def f(x, k):
        y = helper(x)
        return np.sum(y * y) * k

    def g(x):
        return np.sum(np.exp(x))

    module = pb.compile([(f, "x: f8[n], k: float"), (g, "x: f8[n]")], forms=("value_and_grad", "vjp"))
    user, generated, parsed = page(module)
    assert generated.titles == ["standalone module"]
    assert generated.text.strip() == module.source.strip()
    firsts = [fn.__code__.co_firstlineno for fn in (f, g, helper)]
    assert user.titles == [f"test_notebook.py, line {line}" for line in firsts]
    comments = [
        (line, match)
        for line in generated.lines
        if (match := re.match(r"\s*# test_notebook\.py:(\d+)  (.*)", line.text))
    ]
    assert {match[2] for _, match in comments} >= {
        "return np.sum(np.exp(x))",
        "return np.tanh(x) * 2.0",
        "return np.sum(y * y) * k",
    }
    for line, match in comments:
        mine = user.numbered(int(match[1]))
        assert (line.number, line.group) == (match[1], mine.group)
        assert mine.text.strip() == match[2]
    assert "script" not in parsed.tags
    again = pickle.loads(pickle.dumps(module))
    assert again == module
    assert "no source" not in Page(again._repr_html_()).panes[0].titles
    assert again.load().g_value_and_grad(X)[0] == np.sum(np.exp(X))
