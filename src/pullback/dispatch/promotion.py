"""From the NumPy target to the native one: when a signature is compiled to C, and what serves its calls until then.

    waiting ──▶ compiling ──▶ native          waiting: NumPy serves, and its time is counted
       │             │           │
       └─────────────┴───────────┴──▶ numpy    for good, with a reason

With target="auto" a signature waits until its calls have taken as long as compiling may take.  Its first native calls
are races, which NumPy runs too: native is given up where it is slower.  With "native" it is compiled at its first call,
and what stands against it is raised.  A call looks at `run`, and at nothing else of this.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any, Literal

from pullback.backend.native.bridge import MISS
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.interface import ERRORS
from pullback.backend.native.load import load
from pullback.backend.native.regions import Regions, load_regions
from pullback.dispatch.background import submit
from pullback.dispatch.floating import warnings_are_errors
from pullback.errors import NOWHERE, ArgumentError, NativeError, PullbackError, defect, is_defect
from pullback.explain.target import TargetReport, target_report
from pullback.pipeline import Compiled, Options

ENOUGH = 0.3  # seconds of NumPy after which native is compiled: about what compiling costs
RECENT, TOO_MANY = 16, 8  # of so many last calls so many failed: native is given up
RACES = 3  # calls that both targets run, before native serves alone
SLOWER = 1.2  # native is given up where it takes so many times as long

Target = Literal["auto", "native", "numpy"]
Status = Literal["waiting", "compiling", "native", "numpy"]
TARGETS: tuple[Target, ...] = ("auto", "native", "numpy")


def target_of(options: Options) -> Target:
    """The target that is asked for: by PULLBACK_TARGET, else by the options.  Raises ArgumentError for another word."""
    asked = os.environ.get("PULLBACK_TARGET", "")
    word = asked or options.target
    for target in TARGETS:
        if word == target:
            return target
    which = f"PULLBACK_TARGET={asked}" if asked else f"target={word!r}"
    raise ArgumentError(f"{which} is no target", hint='the targets are "auto", "native" and "numpy"')


class Promotion:
    """The native target of one compiled signature, for one form.

    run       its function, which returns MISS for a call that NumPy must serve; None: NumPy serves
    counting  whether the time of NumPy's calls is counted: `add` takes it
    """

    __slots__ = (
        "_failures",
        "_lock",
        "_native",
        "_times",
        "bound",
        "compiled",
        "counting",
        "error",
        "form",
        "guarded",
        "run",
        "spent",
        "status",
        "target",
    )

    def __init__(self, compiled: Compiled, form: str = "value_and_grad") -> None:
        self.compiled = compiled
        self.form = form
        self.target = target_of(compiled.options)
        self.run: Callable[..., Any] | None = None
        self.bound: Any = None
        self.guarded = False  # C has strong zeros spelled out: see `_failed`
        self.spent = 0.0
        self.status: Status = "waiting"
        self.error: NativeError | None = None  # why native does not serve
        self.counting = self.target == "auto"
        self._failures: deque[int] = deque(maxlen=TOO_MANY)
        self._lock = threading.Lock()
        self._native: Callable[..., Any] | None = None
        self._times: list[tuple[float, float]] = []  # of races: native's, NumPy's
        if self.target == "numpy":
            self.status = "numpy"
        elif compiled.options.debug:
            self._give_up(NativeError("debug=True runs in the interpreter of the IR"))

    @property
    def possible(self) -> bool:
        """Whether native may serve, now or later."""
        return self.status != "numpy"

    @property
    def looks(self) -> bool:
        """Whether what serves looks at its arguments itself: an entry does, what calls regions takes all there is."""
        return self.bound is not None

    def add(self, seconds: float) -> None:
        """NumPy has served a call, which took so long."""
        self.spent += seconds
        if self.spent > ENOUGH and self.counting:
            self.counting = False
            self.status = "compiling"
            if warnings_are_errors():
                self._give_up(NativeError("warnings are errors here, and C gives no warnings"))
            elif not submit(self.compile):
                text = "this process is a fork, which compiles nothing in the background"
                self._give_up(NativeError(text))

    def timed(self, function: Callable[..., Any], values: Sequence[Any]) -> Any:
        """A call that NumPy serves, counted."""
        start = perf_counter()
        result = function(*values)
        self.add(perf_counter() - start)
        return result

    def insist(self) -> None:
        """With target="native", compile now.  Raises NativeError where native cannot serve."""
        if self.target != "native" or self.status == "native":
            return
        with self._lock:
            if self.status == "waiting":
                self.compile()
        if self.error is not None:
            raise type(self.error)(self.error.reason, loc=self.error.loc, hint=self.error.hint)

    def compile(self) -> None:
        """Compile, and serve from now on; what stands against it is kept."""
        try:
            run, bound = self._load()
        except Untaken as untaken:
            self._give_up(untaken_error(untaken))
        except NativeError as error:
            self.error = error
        except Exception as error:
            loc = self.compiled.lowered.function.loc
            found = defect(error, loc) if is_defect(error) else error
            reason = found.reason if isinstance(found, PullbackError) else str(found)
            self._give_up(NativeError(reason, loc=loc, hint=_WAY_OUT))
        else:
            self._native, self.bound = run, bound
            self.run = self._serve(run)
        self.status = "native" if self.run is not None else "numpy"

    def _serve(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """What serves the next call: under auto a race, unless there have been some."""
        return run if self.target == "native" or self._times else self._race

    def _load(self) -> tuple[Callable[..., Any], Any]:
        """The compiled function, and its entry; where C takes parts of it only, what calls these."""
        threads = self.compiled.options.threads or 0
        try:
            native = self.compiled.native(self.form, self.guarded)
        except Untaken as untaken:
            if self.compiled.has_effects:
                raise
            found = regions_for(self.compiled, "joint", untaken)
            (run,) = load_regions(found, [f"{self.compiled.name}_value_and_grad"], threads)
            return Driven(run), None
        return load(native, threads=threads, failed=self._failed)

    def served(self, values: Sequence[Any], buffers: tuple[Any, ...] | None = None) -> Any:
        """A native call, whose new arrays may be those of a tuple (see `bridge.bind`); MISS where NumPy serves."""
        run = self.run
        while run is not None:
            result = run(*values) if buffers is None else self._into(run, buffers, values)
            if result is not MISS or self.run is run:
                return result
            run = self.run  # it was compiled anew
        return MISS

    def _into(self, run: Callable[..., Any], buffers: tuple[Any, ...], values: Sequence[Any]) -> Any:
        if run == self._race:
            return run(*values)
        entry = getattr(run, "into", None)  # where no driver stands before it
        return entry(buffers, *values) if entry else run(*values, _run=partial(self.bound.into, buffers))

    def _race(self, *values: Any) -> Any:
        """A call that both run; native's result is returned."""
        both = self._by_both(values)
        if both is MISS:
            return MISS
        if len(self._times) >= RACES:
            self._decide(*map(min, zip(*self._times, strict=True)))
        return both[0]

    def _by_both(self, values: Sequence[Any]) -> Any:
        """Native's result and NumPy's, their times noted; or MISS."""
        native = self._native
        assert native is not None
        start = perf_counter()
        result = native(*values)
        if result is MISS:
            return MISS
        middle = perf_counter()
        try:
            other = self.compiled.function(self.form)(*values)
        except Exception:  # a warning that the caller has made an error: NumPy is to raise it
            return MISS
        self._times.append((middle - start, perf_counter() - middle))
        return result, other

    def _decide(self, mine: float, other: float) -> None:
        """The end of the races."""
        if mine <= SLOWER * other:
            self.run = self._native
        elif self.status == "native":
            self._give_up(NativeError(f"C took {mine:.2g} s for a call, NumPy {other:.2g} s"))

    def _failed(
        self, code: int, line: int, detail: Sequence[int], message: str | None, pending: BaseException | None
    ) -> Any:
        """A call ended with an error: NumPy serves it, and raises what is to be raised.

        A gradient that is not finite is no error: from then on strong zeros are spelled out in C too.
        """
        left = raised(pending)
        if ERRORS.get(code) is FloatingPointError:
            self._spell_out()
            return left
        now = self.bound.calls
        self._failures.append(now)
        often = len(self._failures) == TOO_MANY and now - self._failures[0] < RECENT
        if often and self.target == "auto":
            places = self.compiled.native(self.form, self.guarded).interface.places
            kind = type(pending) if pending is not None else ERRORS.get(code, Exception)
            loc = places[line] if 0 <= line < len(places) else NOWHERE
            text = f"{TOO_MANY} of its last {RECENT} calls ended in {kind.__name__}"
            self._give_up(NativeError(text, loc=loc))
        return left

    def _spell_out(self) -> None:
        """Compile again, with strong zeros; NumPy serves until that is there."""
        with self._lock:
            first, self.guarded = not self.guarded, True
        if not first:
            return
        if self.target == "native":
            self.compile()
        elif submit(self.compile):
            self.run = None

    def report(self) -> TargetReport:
        """What serves now, and why."""
        if self.status == "native":
            return target_report(self.compiled, self.target, "native")
        waits = {
            "waiting": f"compiled C takes over once the calls have taken {ENOUGH} s",
            "compiling": "C is being compiled",
        }
        return target_report(self.compiled, self.target, error=self.error, waits=waits.get(self.status, ""))

    def _give_up(self, error: NativeError) -> None:
        self.error = error
        self.run, self.counting, self.status = None, False, "numpy"


def regions_for(compiled: Compiled, module: str, whole: Untaken) -> Regions:
    """The parts that C takes.  Raises `whole`, what stands against all of it, where there are none."""
    try:
        return compiled.regions(module)
    except Untaken:
        raise Untaken(whole.reason, whole.loc) from None


class Driven:
    """A function of NumPy's that calls compiled regions.  Where it fails NumPy's own is to say why."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *values: Any) -> Any:
        """The results, or MISS."""
        try:
            return self.function(*values)
        except Exception:
            return MISS

    def into(self, buffers: tuple[Any, ...], *values: Any) -> Any:
        """The results, in arrays of their own."""
        return self(*values)


def raised(pending: BaseException | None) -> Any:
    """MISS; but what is no error (an interrupt) is raised where it came from."""
    if pending is not None and not isinstance(pending, Exception):
        raise pending
    return MISS


def c_source(compiled: Compiled) -> str:
    """The C of value and gradient, or of the parts that C takes.  Raises NativeError where there are none."""
    try:
        return compiled.native("value_and_grad").source
    except Untaken as untaken:
        try:
            return regions_for(compiled, "pair" if compiled.has_effects else "joint", untaken).source
        except Untaken:
            raise untaken_error(untaken) from None


def untaken_error(untaken: Untaken) -> NativeError:
    """What a user is told of something that C does not take."""
    return NativeError(f"C does not take {untaken.reason}", loc=untaken.loc, hint=_WAY_OUT)


_WAY_OUT = 'target="auto" runs on NumPy what C does not take'
