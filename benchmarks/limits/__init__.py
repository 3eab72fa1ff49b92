"""What the compiler and its output cost: `python -m benchmarks`.

Every figure is a ratio or a difference of timings of one run, so that it means the same on another machine.
"""
