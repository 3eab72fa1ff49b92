"""The loop of a row in stages: one for each long function, over a stretch of items that stays in the nearest cache.

    for (a stretch) {
        for (k in it) { t_2 = exp(-x[k]); kept[k] = t_2; }
        for (k in it) { t_2 = kept[k]; t_3 = log(1.0 + t_2); ... }
    }

An exponential and a logarithm of it are a chain of two hundred cycles.  A processor works at as many items at once as
it has room for in its window of instructions, which holds two or three such items: it then waits for their chains.
Loops of half the length have twice as many items in the window, each of half the chain.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

_LONG = frozenset({
    np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p, np.cbrt, np.sin, np.cos, np.tan, np.arcsin, np.arccos,
    np.arctan, np.arctan2, np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh, np.arctanh, np.logaddexp, np.logaddexp2,
})  # fmt: skip
FEW = 8  # so many values that are kept leave room for longer stretches
_WORD = re.compile(r"[A-Za-z_]\w*")
_CONSTANT = re.compile(r"const (\w+(?: _Complex)?) (\w+) = ")


def is_long(ufunc: np.ufunc) -> bool:
    """Whether a stage may end with a function."""
    return ufunc in _LONG


@dataclass(slots=True)
class Stage:
    """The statements for an item of one loop, and the values that it keeps for later ones."""

    lines: list[str] = field(default_factory=list)
    keeps: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Stages:
    """All loops; `kept` are the values that pass from one to a later one, with their C types."""

    stages: list[Stage]
    kept: dict[str, str]

    @property
    def stretch(self) -> int:
        """How many items a stage takes at once."""
        return 256 if len(self.kept) <= FEW else 128


def stages_of(lines: Sequence[str], cuts: Sequence[int], reads: int, outputs: Sequence[str]) -> Stages:
    """Constants of an item (`const TYPE NAME = ...;`) in stages that end at the cuts, the outputs in the last.

    reads  so many of the first lines read an array: that is done again rather than kept
    """
    parsed = [_CONSTANT.match(line) for line in lines]
    assert all(parsed), lines
    names = [found[2] if found else "" for found in parsed]
    types = {found[2]: found[1] for found in parsed if found}
    used = _words(outputs)
    live = []
    for k in range(len(lines) - 1, -1, -1):
        if names[k] in used:
            used |= _words([lines[k]])
            live.append(k)
    again = {names[k]: lines[k] for k in range(reads)}
    stages: list[Stage] = []
    home: dict[str, int] = {}
    kept: dict[str, str] = {}
    ends = [c for c in cuts if any(k >= c for k in live if k >= reads)] + [len(lines)]
    start = reads
    for number, end in enumerate(ends):
        mine = [k for k in reversed(live) if start <= k < end]
        start = end
        texts = [lines[k] for k in mine] + (list(outputs) if number == len(ends) - 1 else [])
        home.update((names[k], number) for k in mine)
        wanted = sorted(_words(texts), key=lambda w: names.index(w) if w in types else -1)
        head = [again[w] for w in wanted if w in again]
        for word in wanted:
            if word in home and home[word] < number:
                kept[word] = types[word]
                stage = stages[home[word]]
                stage.keeps += [word] * (word not in stage.keeps)
                head.append(f"const {types[word]} {word} = pb_kept_{word}[pb_k - pb_from];")
        stages.append(Stage([*head, *texts]))
    return Stages(stages, kept)


def _words(texts: Sequence[str]) -> set[str]:
    return {word for text in texts for word in _WORD.findall(text)}
