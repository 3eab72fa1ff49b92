"""The process of one contender: `python -m pullback.bench.worker NAME THREADS`.

It reads requests from its standard input and writes answers to its standard output; what the libraries in it print goes
to standard error.
"""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any

from pullback.bench.contender import Contender
from pullback.bench.messages import receive, send
from pullback.bench.peers import NoVersion


def serve(contender: Contender, requests: Any, answers: Any) -> None:
    """Answer requests until there are no more."""
    while True:
        try:
            method, arguments = receive(requests)
        except EOFError:
            return
        try:
            answer: Any = ("done", getattr(contender, method)(*arguments))
        except NoVersion:
            answer = ("absent", "no version for it")
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            traceback.print_exc()
            answer = ("raised", f"{type(error).__name__}: {error}")
        send(answers, answer)


def main() -> None:
    """Set up the streams, then serve."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    sys.stdout = sys.stderr
    contender = Contender(sys.argv[1], int(sys.argv[2]))
    send(answers, ("ready", contender.version()))
    serve(contender, requests, answers)


if __name__ == "__main__":
    main()
