"""The built-in tables are loaded on first use, and go on where they were interrupted."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import importlib

import numpy as np

from pullback.rules import registry, tables

original, count = importlib.import_module, 0


def interrupted(name):
    global count
    count += 1
    if count in (4, 12):
        raise KeyboardInterrupt
    return original(name)


importlib.import_module = interrupted
for _ in range(3):
    try:
        tables.load_rules()
        print(registry.op_of(np.sin).name, len(tables.tables.rules) > 100)
    except KeyboardInterrupt:
        print("interrupted")
"""


def test_an_interrupted_load_goes_on() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["interrupted", "interrupted", "np.sin True"], done.stderr
