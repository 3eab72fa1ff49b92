"""Two records side by side: has the generated code become slower?

What is compared is the gradient's time over the plain function's of the same run: it means the same on another machine.
"""

from __future__ import annotations

from dataclasses import dataclass

from pullback.bench.errors import BenchError
from pullback.bench.record import Record
from pullback.bench.report import factor
from pullback.bench.timing import geometric_mean

TOLERANCE = 0.1


@dataclass(frozen=True)
class Comparison:
    """For each common case the old and the new ratio."""

    ratios: dict[str, tuple[float, float]]
    mean: float
    tolerance: float

    @property
    def slower(self) -> bool:
        """Whether the new record is slower than allowed."""
        return self.mean > 1 + self.tolerance

    def rows(self) -> list[list[str]]:
        """The cases, those that became slowest first."""
        ordered = sorted(self.ratios.items(), key=lambda item: -item[1][1] / item[1][0])
        return [
            [key, f"{factor(old)}x", f"{factor(new)}x", f"{new / old:.3f}"] for key, (old, new) in ordered
        ]


def compare(old: Record, new: Record, tolerance: float = TOLERANCE) -> Comparison:
    """Compare two records.  Raises BenchError where they have no case in common."""
    before = {case.key: case.ratio(old.main) for case in old.cases}
    after = {case.key: case.ratio(new.main) for case in new.cases}
    common = {
        key: (was, ratio)
        for key, ratio in after.items()
        if ratio is not None and (was := before.get(key)) is not None
    }
    mean = geometric_mean([is_now / was for was, is_now in common.values()])
    if mean is None:
        raise BenchError(
            "the two records have no timed case in common", hint="run the same suites at the same size"
        )
    return Comparison(common, mean, tolerance)
