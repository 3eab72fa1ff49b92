"""The C compiler: which one, and what it can do here.

It is what `CC` says (with its arguments), else the system's, else the one of the `ziglang` package.  A compiler is
tried once: it builds a small library, which is loaded and called.  What was found is kept beside the compiled objects,
so that the next process starts none.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import platform
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from pullback.backend.native import cache
from pullback.backend.native.process import Locks, Outcome, patient_threads, run
from pullback.errors import NoCompiler

SYSTEM = ("cc", "gcc", "clang")
SECONDS = 120.0  # for a trial; zig builds parts of its own library at its first start
VERSION_SECONDS = 20.0
SHARED = ("-shared",) if sys.platform == "win32" else ("-shared", "-fPIC")
MATHS = ("-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off")
OPTIMISE = ("-O3", *MATHS)
QUIET = ("-w",)

# `pb_trial` is called; what it uses shows whether a feature links and loads.
_TRIAL = "int pb_trial(void) { return 42; }\n"
_OPENMP = """#include <omp.h>
int pb_trial(void) {
    int sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(1)
    for (int i = 0; i < 42; i++) sum += omp_get_num_threads();
    return sum;
}
"""
_MVEC = """#include <immintrin.h>
__m128d _ZGVbN2v_exp(__m128d);
int pb_trial(void) { return (int)(_mm_cvtsd_f64(_ZGVbN2v_exp(_mm_set1_pd(0.0))) * 42.5); }
"""
_ZIG = ("-fno-sanitize=all",)  # else it puts in checks of its own
_NATIVE = (("-march=native",), ("-mcpu=native",), ())


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A compiler that works here.

    command   the program and its own arguments
    version   the first line of what it says of itself
    native    the flags that make it use all instructions of this CPU
    openmp    whether `-fopenmp` works
    mvec      whether glibc's vectorised maths can be linked (`-lmvec`)
    """

    command: tuple[str, ...]
    version: str
    native: tuple[str, ...]
    openmp: bool
    mvec: bool

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags with which generated code is compiled."""
        parallel = ("-fopenmp",) if self.openmp else ()
        vectorised = ("-DPB_LIBMVEC",) if self.mvec else ()
        return (*OPTIMISE, *self.native, *parallel, *vectorised, *SHARED)

    @property
    def libraries(self) -> tuple[str, ...]:
        """What generated code is linked with; after the source in a command."""
        return (*(("-lmvec",) if self.mvec else ()), "-lm")


_found: dict[tuple[str, ...], Toolchain | NoCompiler] = {}
_locks = Locks()


def find() -> Toolchain:
    """The compiler to use; `NoCompiler` if there is none that works."""
    asked = (os.environ.get("CC", ""), os.environ.get("PATH", ""), os.environ.get("PULLBACK_CACHE_DIR", ""))
    with _locks.of("find"):
        if asked not in _found:
            try:
                _found[asked] = _look(asked[0])
            except NoCompiler as error:
                _found[asked] = error
        found = _found[asked]
    if isinstance(found, NoCompiler):
        raise NoCompiler(found.reason, hint=found.hint)
    return found


def _look(asked: str) -> Toolchain:
    tried = []
    for command in _candidates(asked):
        found = _kept(command)
        if isinstance(found, Toolchain):
            return found
        tried.append(f"`{shlex.join(command)}`: {found.first_lines()}")
    if asked.strip():
        raise NoCompiler(
            f"the C compiler that CC names does not work\n  {' '.join(tried) or asked}",
            hint="set CC to a C compiler, or unset it",
        )
    raise NoCompiler(
        "\n  ".join(["there is no C compiler that works", *tried]),
        hint="install gcc or clang, or `pip install 'pullback[native]'`, which brings one",
    )


def _candidates(asked: str) -> Iterator[tuple[str, ...]]:
    """The commands to try, in order.  What CC says is not passed over silently."""
    if asked.strip():
        yield _split(asked)
        return
    yield from ((path,) for path in map(shutil.which, SYSTEM) if path)
    if find_spec("ziglang") is not None:
        yield (sys.executable, "-m", "ziglang", "cc", *_ZIG)


def _split(asked: str) -> tuple[str, ...]:
    try:
        words = shlex.split(asked, posix=os.name == "posix")
    except ValueError:
        words = [asked]
    return (shutil.which(words[0]) or words[0], *words[1:])


# -- what is kept on disk --


def _kept(command: tuple[str, ...]) -> Toolchain | Outcome:
    """What is known of a command; it is tried if that is nothing, or if its program has changed."""
    try:
        path = cache.place() / f"compiler-{_identity(command)}.json"
        known = _read(path, command)
        found = known if known is not None else _try(command)
    except OSError as error:  # there is no room to try it
        return Outcome(None, f"it cannot be tried: {error}")
    if known is None and isinstance(found, Toolchain):
        cache.write(path, json.dumps(asdict(found)).encode())
    return found


def _identity(command: tuple[str, ...]) -> str:
    """Text that changes when the program of a command does, or the machine."""
    parts = [*command, cpu(), sys.version, platform.platform()]
    for word in command:  # `ccache gcc` is two programs
        program = (_ziglang() if word == "ziglang" else shutil.which(word)) or ""
        with contextlib.suppress(OSError):
            stat = os.stat(program)
            parts.append(f"{os.path.realpath(program)} {stat.st_size} {stat.st_mtime_ns}")
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def _ziglang() -> str:
    spec = find_spec("ziglang")
    return str(spec.origin) if spec is not None else ""


def _read(path: Path, command: tuple[str, ...]) -> Toolchain | None:
    try:
        data = json.loads(cache.read(path))
        found = Toolchain(
            tuple(map(str, data["command"])),
            str(data["version"]),
            tuple(map(str, data["native"])),
            bool(data["openmp"]),
            bool(data["mvec"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if found.command == command else None


# -- the trial --


def _try(command: tuple[str, ...]) -> Toolchain | Outcome:
    """What a compiler can do: one run if it can do all, else one for each question."""
    with cache.workshop() as folder:
        version = run([*command, "--version"], folder, VERSION_SECONDS)
        if not version.fine:
            return version
        plain = _builds(command, folder, _TRIAL, ())
        if not plain.fine:
            return plain
        native = next(flags for flags in _NATIVE if not flags or _builds(command, folder, _TRIAL, flags).fine)
        openmp = _builds(command, folder, _OPENMP, ("-fopenmp",)).fine
        mvec = _mvec_may_be() and _builds(command, folder, _MVEC, (), ("-lmvec", "-lm")).fine
    said = [line.strip() for line in version.said.splitlines() if line.strip()]
    return Toolchain(command, said[0] if said else "", native, openmp, mvec)


def _mvec_may_be() -> bool:
    """Whether this is the glibc whose vectorised maths we know: 2.35 and later, on x86-64."""
    name, version = platform.libc_ver()
    numbers = tuple(int(n) for n in version.split(".")[:2] if n.isdigit())
    return name == "glibc" and numbers >= (2, 35) and platform.machine().lower() in ("x86_64", "amd64")


def _builds(
    command: Sequence[str], folder: Path, text: str, flags: tuple[str, ...], libraries: tuple[str, ...] = ()
) -> Outcome:
    """Whether a text builds with flags, loads, and works."""
    number = len(list(folder.glob("*.c")))
    source, library = folder / f"trial{number}.c", folder / f"trial{number}{cache.SUFFIX}"
    source.write_text(text)
    done = run(
        [*command, "-O1", *flags, *SHARED, "-w", source.name, "-o", library.name, *libraries], folder, SECONDS
    )
    if not done.fine:
        return done
    try:
        with patient_threads():
            answer = ctypes.CDLL(str(library)).pb_trial()
    except (OSError, AttributeError) as error:
        return Outcome(None, f"what it builds cannot be loaded: {error}")
    return done if answer == 42 else Outcome(None, "what it builds does not work")


@lru_cache(maxsize=1)
def cpu() -> str:
    """The kind of CPU, with the instructions that it has."""
    kinds = ("model name", "flags", "Features", "CPU implementer", "CPU part")
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").split("\n\n")[0].splitlines()
    except OSError:
        lines = []
    told = [line for line in lines if line.split(":")[0].strip() in kinds]
    return "\n".join([platform.machine(), *(told or [platform.processor()])])


def python_headers() -> tuple[Path, ...]:
    """The folders with Python's and NumPy's headers; none if one of them is missing."""
    import numpy as np

    folders = [Path(sysconfig.get_path("include")), Path(np.get_include())]
    needed = [folders[0] / "Python.h", folders[1] / "numpy" / "arrayobject.h"]
    return tuple(folders) if all(path.is_file() for path in needed) else ()
