"""What `x[index]` is claimed to be against what NumPy gives: every combination of up to three entries."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from style_check import Symbols, check_style, style_of_value

from pullback.styles.indexing import index_array
from pullback.styles.style import Array, Static, Style, Tup

PLAIN = np.arange(24.0).reshape(2, 3, 4)
ARRAYS = (PLAIN, np.asfortranarray(PLAIN), np.arange(48.0).reshape(2, 3, 8)[:, :, ::2])
PLACES = np.array([[0, 1, 0], [1, 1, 1]])
SLICES = (slice(None), slice(0, 1), slice(1, None), slice(None, None, -1))
ENTRIES = (0, -1, *SLICES, None, Ellipsis, [0, 1], np.array([1, 0]), PLACES, np.asfortranarray(PLACES))


def entry_style(entry: Any, symbols: Symbols) -> Style:
    if isinstance(entry, slice):
        return Tup((Static(entry.start), Static(entry.stop), Static(entry.step)), "slice")
    if isinstance(entry, list):
        return Tup(tuple(Static(v) for v in entry), "list")
    return style_of_value(entry, symbols) if isinstance(entry, np.ndarray) else Static(entry)


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "symbols"])
def test_every_combination_of_entries(exact: bool) -> None:
    wrong = []
    for array, count in itertools.product(ARRAYS, (1, 2, 3)):
        for entries in itertools.product(ENTRIES, repeat=count):
            if sum(e is Ellipsis for e in entries) > 1:
                continue
            try:
                value = array[entries]
            except IndexError:
                continue
            symbols = Symbols(exact)
            style = style_of_value(array, symbols)
            assert isinstance(style, Array)
            text = check_style(
                index_array(style, tuple(entry_style(e, symbols) for e in entries)), value, symbols
            )
            if text:
                wrong.append(f"{entries}: {text}")
    assert not wrong, "\n".join(wrong[:20])
