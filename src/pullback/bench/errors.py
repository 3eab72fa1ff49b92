"""What is wrong with the input of a benchmark run."""

from __future__ import annotations

from pullback.errors import PullbackError


class BenchError(PullbackError):
    """A suite, kernel, peer or record that was asked for does not exist or is not one."""
