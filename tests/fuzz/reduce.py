"""Make a failing random program small: `python -m tests.fuzz.reduce SEED`.

Statements go, with their blocks, or blocks take the place of the statement they are in, as long as the program still
fails in the same way.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator

from tests.fuzz.check import Mismatch, check
from tests.fuzz.generate import program


def failure(seed: int, text: str) -> str | None:
    """How a program fails: the kind of the first line of the message."""
    try:
        check(seed, Counter(), text)
    except Mismatch as error:
        said = str(error).split(": ", 1)[1].split("\n")[0]
        return re.sub(r"[-+]?\d[\w.+-]*", "#", said)[:40]
    except Exception:
        return None
    return None


def _block(lines: list[str], start: int) -> int:
    """The end of the statement at a line, with its block."""
    depth = len(lines[start]) - len(lines[start].lstrip())
    end = start + 1
    while end < len(lines) and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > depth):
        end += 1
    return end


def _smaller(lines: list[str]) -> Iterator[list[str]]:
    for start in range(len(lines)):
        end = _block(lines, start)
        yield lines[:start] + lines[end:]
        if end > start + 1:
            yield lines[:start] + [line[4:] for line in lines[start + 1 : end]] + lines[end:]
        if " + " in lines[start]:
            head, _, tail = lines[start].rpartition(" + ")
            yield [*lines[:start], head, *lines[start + 1 :]]
            if lines[start].strip().startswith("return "):
                indent = lines[start][: len(lines[start]) - len(lines[start].lstrip())]
                yield [*lines[:start], f"{indent}return {tail}", *lines[start + 1 :]]


def reduce(seed: int) -> str:
    """The smallest program found that fails as the program of a seed does."""
    lines = program(seed).splitlines()
    kind = failure(seed, "\n".join(lines) + "\n")
    while kind is not None:
        for fewer in _smaller(lines):
            text = "\n".join(fewer) + "\n"
            try:
                compile(text, "fuzz", "exec")
            except SyntaxError:
                continue
            if failure(seed, text) == kind:
                lines = fewer
                break
        else:
            break
    return f"# {kind}\n" + "\n".join(line for line in lines if line.strip()) + "\n"


if __name__ == "__main__":
    print(reduce(int(sys.argv[1])))
