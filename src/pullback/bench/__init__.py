"""The benchmark engine: gradients verified, then timed, beside other libraries, each in a process of its own."""
