"""The command as processes of its own: the path that the docs describe, streams, the missing extra."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import numpy as np
import pytest

import pullback as pb

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "command-line.md").read_text()
PATH = PAGE.partition("## From a model to a module")[2].partition("\n## ")[0]


def run(*args: str, cwd: Path, python: str = sys.executable, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "NO_COLOR", "FORCE_COLOR")}
    environment |= {"PYTHONPATH": str(ROOT / "src"), **more}
    return subprocess.run(
        [python, *args], cwd=cwd, env=environment, capture_output=True, text=True, timeout=300
    )


def test_streams_and_exit_codes(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(
        'print("on import")\n\n\ndef f(x: "f8[:]"):\n    print("in a call")\n    return x @ x\n'
    )
    good = run("-m", "pullback", "check", "model.py:f", "--json", cwd=tmp_path)
    assert good.returncode == 0 and good.stdout.startswith("{") and good.stdout.endswith("}\n")
    assert "on import" in good.stderr and "in a call" in good.stderr
    bad = run("-m", "pullback", "check", "model.py:g", cwd=tmp_path)
    assert bad.returncode == 2 and bad.stdout == ""
    assert bad.stderr.splitlines()[1:] == ["pullback: error: `model.py` has no `g` (it has `f`)"]


def test_without_its_extra_one_line_says_so(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Hide:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name in ('click', 'rich'):\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Hide())\n"
    )
    path = os.pathsep.join([str(tmp_path), str(ROOT / "src")])
    found = run("-m", "pullback", "rules", cwd=tmp_path, PYTHONPATH=path)
    assert found.returncode == 2 and found.stdout == ""
    assert found.stderr == "pullback: error: the command line needs its extra (pip install 'pullback[cli]')\n"


def all_of(terminal: int) -> str:
    """What is written to a pseudo-terminal until its other side is closed."""
    read = b""
    while True:
        try:
            piece = os.read(terminal, 1 << 16)
        except OSError:  # how Linux says that it is closed
            break
        if not piece:
            break
        read += piece
    return read.decode()


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
def test_colour_on_a_terminal_only_where_it_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text('def f(x: "f8[:]"):\n    return x @ x\n')
    for more, coloured in (
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, False),
    ):
        mine, theirs = os.openpty()
        environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
        environment |= {"PYTHONPATH": str(ROOT / "src"), **more}
        command = [sys.executable, "-m", "pullback", "source", "model.py:f"]
        process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=theirs)
        os.close(theirs)
        shown = all_of(mine)
        os.close(mine)
        process.wait()
        assert process.returncode == 0
        assert ("\x1b[" in shown) is coloured


# ---------------------------------------------------------------------------------------------- the path of the docs


def blocks() -> list[tuple[str, str]]:
    return re.findall(r"^```(py|console)\n(.*?)^```$", PATH, re.M | re.S)


def errors_masked(text: str) -> list[list[str]]:
    """The words of each line; of what `check` prints, rounding errors are other ones on other machines."""
    return [re.sub(r"\b\S+e-\d+\b", "#", line).split() for line in text.splitlines()]


def numpy_alone(folder: Path) -> str:
    """The Python of a virtual environment that has the NumPy of this one, and nothing else."""
    venv.create(folder, symlinks=os.name != "nt")
    python = str(
        next(p for p in (folder / "bin" / "python", folder / "Scripts" / "python.exe") if p.exists())
    )
    wanted = f"numpy=={np.__version__}"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-input", wanted]
    if subprocess.run(pip, capture_output=True, timeout=240).returncode:  # no pip, or no network
        (site,) = folder.glob("lib*/**/site-packages")
        here = Path(np.__file__).parents[1]
        for found in [
            p for p in here.iterdir() if re.fullmatch(r"numpy(\.libs|-[\d.]+\.dist-info)?", p.name)
        ]:
            (site / found.name).symlink_to(found)
    return python


@pytest.mark.slow
def test_the_path_of_a_new_user(tmp_path: Path) -> None:
    """The page is followed to the letter; the module then runs where there is nothing but NumPy."""
    work, ship = tmp_path / "work", tmp_path / "ship"
    work.mkdir()
    ship.mkdir()
    python = numpy_alone(tmp_path / "venv")
    for kind, text in blocks():
        if kind == "py":
            name = text.split("\n")[0].removeprefix("# ")
            ((ship if name == "use.py" else work) / name).write_text(text)
            continue
        command, _, shown = text.partition("\n")
        words = command.removeprefix("$ ").split()
        if words[0] == "pullback":
            done = run("-m", *words, cwd=work)
        else:
            (ship / "model_grad.py").write_bytes((work / "model_grad.py").read_bytes())
            done = run(*words[1:], cwd=ship, python=python, PYTHONPATH="")
        assert done.returncode == 0, done.stderr
        assert errors_masked(done.stdout) == errors_masked(shown)

    listed = "import importlib.metadata as m; print(sorted(d.name for d in m.distributions()))"
    assert run("-c", listed, cwd=ship, python=python, PYTHONPATH="").stdout.strip() == "['numpy']"
    probe = (
        "import sys, numpy as np, model_grad\n"
        "rng = np.random.default_rng(1)\n"
        "for m, n in ((5, 3), (1, 1), (1, 4), (200, 30)):\n"
        "    w, x, y = rng.normal(size=n), rng.normal(size=(m, n)), rng.normal(size=m)\n"
        "    value, w_bar = model_grad.loss_value_and_grad(w, x, y)\n"
        "    print(float(value).hex(), *[float(b).hex() for b in w_bar])\n"
        "assert not [m for m in sys.modules if m.split('.')[0] in ('pullback', 'astor')]\n"
    )
    there = run("-c", probe, cwd=ship, python=python, PYTHONPATH="")
    assert there.returncode == 0, there.stderr
    here = run(
        "-c",
        "import model, pullback as pb\n"
        + probe.replace("import sys, numpy as np, model_grad", "import numpy as np")
        .replace("model_grad.loss_value_and_grad", "pb.value_and_grad(model.loss)")
        .rpartition("assert")[0],
        cwd=work,
    )
    assert here.returncode == 0, here.stderr
    assert there.stdout == here.stdout
    assert importlib.metadata.version("numpy") == np.__version__ and pb.__version__
