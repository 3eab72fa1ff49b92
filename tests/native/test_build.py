"""A C text becomes a library, or an error that says why not."""

from __future__ import annotations

import ctypes
import errno
import os
import shlex
import shutil
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.native.subjects import need_compiler

from pullback.backend.native import build, cache, process, toolchain
from pullback.errors import BuildFailed, NoCompiler

need_compiler()
REAL = shlex.join(toolchain.find().command)
NAMED = os.environ.get("CC") or REAL
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="compilers here are shell scripts")


def text(value: int) -> str:
    return f'#include "pullback.h"\nPB_EXPORT int32_t value(void) {{ return {value}; }}\n'


def value_of(library: Path) -> int:
    return int(ctypes.CDLL(str(library)).value())


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the test's own; what is known of compilers is in it."""
    known = [p for p in cache.place().glob("compiler-*.json")]
    monkeypatch.setenv("ZIG_GLOBAL_CACHE_DIR", str(cache.place() / cache.ZIG))
    monkeypatch.setenv("PULLBACK_CACHE_DIR", str(tmp_path / "cache"))
    for record in known:
        cache.write(cache.place() / record.name, record.read_bytes())
    return cache.place()


def compiler(folder: Path, script: str) -> str:
    """A compiler as a shell script: what CC is to be."""
    path = folder / "a compiler"
    path.write_text("#!/bin/sh\n" + textwrap.dedent(script))
    path.chmod(0o755)
    return shlex.quote(str(path))


# -- what goes well --


def test_a_text_is_built_once(place: Path) -> None:
    library = build.shared_library(text(42))
    assert value_of(library) == 42
    assert library.parent == place
    before = library.stat().st_mtime_ns
    assert build.shared_library(text(42)) == library
    assert library.stat().st_mtime_ns == before
    assert not list(place.glob("build-*")) and not list(place.glob("write-*"))


def test_a_built_library_is_found_in_milliseconds(place: Path) -> None:
    build.shared_library(text(43))
    times = []
    for _ in range(5):
        start = time.perf_counter()
        build.shared_library(text(43))
        times.append(time.perf_counter() - start)
    assert min(times) < 0.01


def test_what_makes_another_library(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text, a flag, a header that it includes, the compiler."""
    seen = {build.shared_library(text(1)).name[:16]}
    seen.add(build.shared_library(text(2)).name[:16])
    seen.add(build.shared_library(text(1), flags=["-DOTHER"]).name[:16])
    header = build.header("pullback.h")
    assert header is not None
    monkeypatch.setattr(
        build, "header", lambda name: header + "/* changed */\n" if name == "pullback.h" else None
    )
    seen.add(build.shared_library(text(1)).name[:16])
    monkeypatch.setenv("CC", f"{NAMED} -DARGUMENT")
    seen.add(build.shared_library(text(1)).name[:16])
    assert len(seen) == 5


def test_flags_reach_the_compiler(place: Path) -> None:
    assert (
        value_of(build.shared_library(text(3).replace("return 3", "return GIVEN"), flags=["-DGIVEN=8"])) == 8
    )


PARALLEL = """int s = 0;
#pragma omp parallel for reduction(+ : s) num_threads(2)
for (int i = 0; i < 9; i++) s += i;
return s;"""
VECTOR = "return (int)(_mm_cvtsd_f64(_ZGVbN2v_log(_mm_set1_pd(8.0))) * 10);"
DECLARED = "#include <immintrin.h>\n__m128d _ZGVbN2v_log(__m128d);\n"


def test_flags_of_the_environment_come_last(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = text(3).replace("return 3", "return GIVEN")
    monkeypatch.setenv("PULLBACK_CFLAGS", "-O0 -UGIVEN '-DGIVEN=4 + 5'")
    first = build.shared_library(given, flags=["-DGIVEN=8"])
    assert value_of(first) == 9
    monkeypatch.setenv("PULLBACK_CFLAGS", "-DGIVEN=7")
    assert value_of(build.shared_library(given)) == 7
    monkeypatch.setenv("PULLBACK_CFLAGS", "'-DGIVEN")
    with pytest.raises(BuildFailed, match="PULLBACK_CFLAGS"):
        build.shared_library(given)


def test_what_the_compiler_can_do_is_used(place: Path) -> None:
    """OpenMP and vectorised maths, where the trial found them."""
    found = toolchain.find()
    if found.openmp:
        assert value_of(build.shared_library(text(4).replace("return 4;", PARALLEL))) == 36
    if found.mvec:
        assert value_of(build.shared_library(DECLARED + text(5).replace("return 5;", VECTOR))) == 20


def test_what_all_texts_share_is_compiled_once(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that includes arrays is linked with their routines."""
    commands: list[list[str]] = []

    def run(command: list[str], *rest: Any) -> Any:
        commands.append(command)
        return process.run(command, *rest)

    monkeypatch.setattr(build, "run", run)
    with_arrays = '#include "arrays.h"\n#include "kernels.h"\n'
    for k in (51, 52):
        assert value_of(build.shared_library(with_arrays + text(k))) == k
    shared = [command for command in commands if "-c" in command]
    assert len(commands) == 3 and len(shared) == 1
    assert all("-DPB_LINKED" in command for command in commands if command is not shared[0])
    assert value_of(build.shared_library(with_arrays + text(53), flags=["-DOTHER"])) == 53
    assert len(commands) == 5, "other flags may change the routines"


def test_warnings_are_not_shown(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    build.shared_library("#warning hear, hear\n" + text(6).replace("return 6", "int unused; return 6"))
    assert capfd.readouterr() == ("", "")


def test_variables_of_compilers_do_no_harm(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPENDENCIES_OUTPUT", str(tmp_path / "written"))
    build.shared_library(text(7))
    assert not (tmp_path / "written").exists()


def test_threads_that_want_one_text_compile_it_once(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    script = f'case "$*" in *module.c*) echo "$*" >> {shlex.quote(str(log))};; esac\nexec {REAL} "$@"\n'
    monkeypatch.setenv("CC", compiler(tmp_path, script))
    found: list[Path] = []
    workers = [threading.Thread(target=lambda: found.append(build.shared_library(text(9)))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 4 and len(set(found)) == 1
    assert len(log.read_text().splitlines()) == 1


# -- compilers that do not work --


def test_the_compiler_is_the_one_that_cc_names(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its arguments; it is tried, and what was found is kept for the next process."""
    log = tmp_path / "log"
    name = compiler(tmp_path, f'echo "$@" >> {shlex.quote(str(log))}\nexec {REAL} "$@"\n')
    monkeypatch.setenv("CC", f"{name} -DVALUE=11 '-DTWO=a b'")
    assert value_of(build.shared_library(text(10).replace("return 10", "return VALUE"))) == 11
    assert "-DTWO=a b" in log.read_text()
    runs = len(log.read_text().splitlines())
    monkeypatch.setattr(toolchain, "_found", {})
    assert toolchain.find().command[1:] == ("-DVALUE=11", "-DTWO=a b")
    assert len(log.read_text().splitlines()) == runs


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 1", "exit code 1"),
        ("echo no licence >&2; exit 3", "no licence"),
        ("kill -9 $$", "killed by SIGKILL"),
        ("sleep 60", "did not end within 0.5 seconds"),
        ("exit 0", "cannot be loaded"),
        ("while [ $# -gt 1 ]; do [ $1 = -o ] && echo junk > $2; shift; done", "cannot be loaded"),
    ],
    ids=["fails", "says", "killed", "hangs", "makes-nothing", "makes-junk"],
)
def test_a_compiler_that_does_not_work(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, said: str
) -> None:
    monkeypatch.setenv("CC", compiler(tmp_path, script))
    monkeypatch.setattr(toolchain, "VERSION_SECONDS", 0.5)
    for _ in range(2):
        with pytest.raises(NoCompiler, match="the C compiler that CC names does not work") as caught:
            build.shared_library(text(12))
        assert said in str(caught.value) and "way out: set CC" in str(caught.value)


@pytest.mark.parametrize("name", ["/nonexistent", "no-such-compiler -O2", "false", "'unclosed", "/"])
def test_cc_that_names_no_compiler(place: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("CC", name)
    with pytest.raises(NoCompiler):
        build.shared_library(text(13))


def test_no_compiler_at_all(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(toolchain, "find_spec", lambda name: None)
    with pytest.raises(NoCompiler, match=r"pullback\[native\]"):
        build.shared_library(text(14))


def test_the_next_system_compiler_where_the_first_is_broken(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "cc").write_text("#!/bin/sh\nexit 1\n")
    (folder / "gcc").write_text(f'#!/bin/sh\nexec {REAL} "$@"\n')
    for path in folder.iterdir():
        path.chmod(0o755)
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    assert toolchain.find().command == (str(folder / "gcc"),)


def test_a_disk_that_is_full(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    toolchain.find()
    monkeypatch.setattr(cache.tempfile, "mkdtemp", full)
    with pytest.raises(BuildFailed, match="No space left"):
        build.shared_library(text(17))
    monkeypatch.setenv("CC", f"{NAMED} -DUNTRIED")
    with pytest.raises(NoCompiler, match="No space left"):
        build.shared_library(text(17))


def test_no_place_to_write_at_all(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_only(**_: object) -> str:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    toolchain.find()
    monkeypatch.setenv("PULLBACK_CACHE_SIZE", "0")
    monkeypatch.setattr(cache.tempfile, "mkdtemp", read_only)
    with pytest.raises(BuildFailed, match="Read-only file system"):
        build.shared_library(text(19))
    monkeypatch.setenv("CC", f"{NAMED} -DUNTRIED2")
    with pytest.raises(NoCompiler, match="Read-only file system"):
        build.shared_library(text(19))


def test_a_cache_that_somebody_removes(place: Path) -> None:
    build.shared_library(text(18))
    shutil.rmtree(place.parent)
    assert value_of(build.shared_library(text(18))) == 18
    assert cache.entries()


def test_a_text_that_is_no_c(place: Path) -> None:
    with pytest.raises(BuildFailed, match="exit code 1") as caught:
        build.shared_library("int f(void) { return undeclared; }\n")
    assert "undeclared" in str(caught.value) and len(str(caught.value).splitlines()) < 20
    assert not list(place.glob("build-*"))


def test_a_compiler_that_hangs_later(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It and its children are ended."""
    pid = tmp_path / "pid"
    script = f'case "$*" in *module.c*) sleep 60 & echo $! > {shlex.quote(str(pid))}; wait;; esac\nexec {REAL} "$@"\n'
    monkeypatch.setenv("CC", compiler(tmp_path, script))
    monkeypatch.setattr(build, "SECONDS", 0.5)
    with pytest.raises(BuildFailed, match="did not end within"):
        build.shared_library(text(15))
    assert _ends(int(pid.read_text()))


def _ends(pid: int) -> bool:
    """Whether a process is gone within some seconds, or waits to be collected."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_a_compiler_that_goes_away(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = compiler(tmp_path, f'exec {REAL} "$@"\n')
    monkeypatch.setenv("CC", name)
    toolchain.find()
    (tmp_path / "a compiler").unlink()
    with pytest.raises(BuildFailed, match="does not start"):
        build.shared_library(text(16))
