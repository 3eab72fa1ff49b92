"""The sizes of all kernels of the suite: from the cost of a call to that of memory."""

PRESETS = {
    "S": [{"n": 10**k} for k in range(7)],
    "M": [{"n": 10**k} for k in range(8)],
}
