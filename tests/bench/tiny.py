"""A suite of one's own: a good kernel, and hand-written gradients that go wrong in every way."""

from __future__ import annotations

from pathlib import Path

KERNEL = """
import numpy as np

PRESETS = {"S": {"n": 5}}
WRT = ("x", "k")


def inputs(rng, n):
    return rng.uniform(0.5, 1.5, n), 0.7


def loss(x, k):
    return np.sum(np.sin(k * x) * x)
"""
RIGHT = """
import numpy as np


def value_and_grad(x, k):
    s, c = np.sin(k * x), np.cos(k * x)
    return np.sum(s * x), (s + k * x * c, np.sum(x * x * c))
"""
HAND = {
    "right": RIGHT,
    "wrong": RIGHT.replace("return", "c = np.where(np.arange(len(x)) == 3, 1.001 * c, c)\n    return"),
    "dies": "import os\n\n\ndef value_and_grad(x, k):\n    os._exit(3)\n",
    "hangs": "import time\n\n\ndef value_and_grad(x, k):\n    time.sleep(60)\n",
    "raises": "def value_and_grad(x, k):\n    raise ValueError('not\\nfor you')\n",
    "changes": RIGHT.replace("    return", "    x[0] += 1.0\n    return"),
}
OTHERS = {
    "in_place": """
import numpy as np

PRESETS = {"S": [{"n": 4}, {"n": 8}], "M": {"n": 16}}
WRT = ("A",)
NOTE = "writes into its argument"


def inputs(rng, n):
    return (rng.uniform(0.5, 1.5, n),)


def step(A):
    A[1:-1] = 0.3 * (A[:-2] + A[1:-1] + A[2:])


def loss(A):
    step(A)
    return np.sum(A * A)
""",
    "residuals": """
import numpy as np

from ._shared import square

PRESETS = {"S": {"n": 3}}
WRT = ("x",)


def inputs(rng, n):
    return (rng.normal(size=n),)


def residuals(x):
    return np.stack([square(x) + x[0], np.sin(x)])


def seeds(value):
    return [np.where(np.arange(value.size).reshape(value.shape) == k, 1.0, 0.0) for k in range(value.size)]
""",
    "refused": """
import numpy as np

PRESETS = {"S": {"n": 3}}
WRT = ("x",)


def inputs(rng, n):
    return (rng.normal(size=n),)


def loss(x):
    try:
        return np.sum(x * x)
    except ValueError:
        return 0.0
""",
}


def write(folder: Path) -> Path:
    """Write the suite; returns the folder that holds it."""
    suite = folder / "tiny"
    (suite / "in_hand").mkdir(parents=True)
    for name, version in HAND.items():
        (suite / f"{name}.py").write_text(KERNEL)
        (suite / "in_hand" / f"{name}.py").write_text(version)
    for name, text in OTHERS.items():
        (suite / f"{name}.py").write_text(text)
    (suite / "_shared.py").write_text("def square(x):\n    return x * x\n")
    return folder
