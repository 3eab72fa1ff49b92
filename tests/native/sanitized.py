"""Tests with code that is compiled with gcc's sanitizers for addresses and undefined behaviour:

    python -m tests.native.sanitized [pytest's arguments]

Without arguments: corpus and random programs.  The bridge, where it is an extension, is compiled so too.  What is found
ends the process, with a report that names the entry and its line in the C text.  Leaks are not looked for here, since
Python has its own: `test_leaks.py` does.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile

from pullback.backend.native import toolchain

FLAGS = "-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"
TESTS = ("tests/native/test_corpus.py", "tests/native/test_random_programs.py", "-q", "-s")


def main() -> int:
    """Run pytest with the sanitizers' library loaded first."""
    command = [*toolchain.find().command, "-print-file-name=libasan.so"]
    library = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    if not os.path.isabs(library):
        print(f"`{shlex.join(command)}` finds no library", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as place:
        environment = {
            **os.environ,
            "LD_PRELOAD": library,
            "ASAN_OPTIONS": "detect_leaks=0",
            "UBSAN_OPTIONS": "print_stacktrace=1",
            "PULLBACK_CFLAGS": FLAGS,
            "PULLBACK_CACHE_DIR": os.environ.get("PULLBACK_CACHE_DIR", place),
        }
        return subprocess.call([sys.executable, "-m", "pytest", *(sys.argv[1:] or TESTS)], env=environment)


if __name__ == "__main__":
    sys.exit(main())
