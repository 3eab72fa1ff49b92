"""Benchmarks: suites of kernels for `pullback bench`, the limits of the compiler, and the records of runs."""
