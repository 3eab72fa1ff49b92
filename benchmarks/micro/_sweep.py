"""The sizes of all kernels of the suite: from the cost of a call to that of memory; and that memory is their limit."""

SWEEP = True
LARGE = [{"n": 10**7}, {"n": 10**7, "reused": True}]
PRESETS = {
    "S": [*({"n": 10**k} for k in range(7)), {"n": 10**6, "reused": True}],
    "M": [*({"n": 10**k} for k in range(7)), *LARGE],
    "L": LARGE,
}
