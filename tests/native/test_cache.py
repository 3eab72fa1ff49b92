"""Compiled objects on disk: damaged and foreign entries, processes at once, places that cannot be written, the size."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.native.subjects import need_compiler
from tests.native.test_build import REAL, compiler, place, text, value_of

from pullback.backend.native import build, cache

need_compiler()
posix = pytest.mark.skipif(sys.platform == "win32", reason="there are no such permissions")
__all__ = ["place"]


def record_of(place: Path) -> Path:
    (record,) = (p for p in place.glob("*.json") if not p.name.startswith("compiler-"))
    return record


# -- entries that are not whole --


def truncate(library: Path, record: Path) -> None:
    library.write_bytes(library.read_bytes()[:1000])


def change_a_byte(library: Path, record: Path) -> None:
    content = bytearray(library.read_bytes())
    content[len(content) // 2] ^= 1
    library.write_bytes(content)


def empty(library: Path, record: Path) -> None:
    library.write_bytes(b"")


def remove(library: Path, record: Path) -> None:
    library.unlink()


def no_record(library: Path, record: Path) -> None:
    record.unlink()


def cut_record(library: Path, record: Path) -> None:
    record.write_text(record.read_text()[:40])


def other_json(library: Path, record: Path) -> None:
    record.write_text("[1, 2]")


def missing_fields(library: Path, record: Path) -> None:
    record.write_text("{}")


def outside(library: Path, record: Path) -> None:
    """A record that names a file elsewhere, with the right sum."""
    other = record.parent.parent / library.name
    library.rename(other)
    record.write_text(json.dumps({**json.loads(record.read_text()), "library": f"../{library.name}"}))


def linked(library: Path, record: Path) -> None:
    other = record.parent.parent / library.name
    library.rename(other)
    library.symlink_to(other)


def folder(library: Path, record: Path) -> None:
    library.unlink()
    record.unlink()
    record.mkdir()


def writable_by_others(library: Path, record: Path) -> None:
    library.chmod(0o777)


DAMAGES = [truncate, change_a_byte, empty, remove, no_record, cut_record, other_json, missing_fields]
DAMAGES += [outside, linked, folder, writable_by_others]


@posix
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda f: f.__name__)
def test_a_damaged_entry_is_built_anew(place: Path, damage: Callable[[Path, Path], None]) -> None:
    library = build.shared_library(text(21))
    key = record_of(place).stem
    damage(library, record_of(place))
    assert cache.lookup(key) is None
    again = build.shared_library(text(21))
    assert value_of(again) == 21
    assert again.parent == place and again.is_file() and not again.is_symlink()


@posix
def test_an_entry_of_another_user_is_not_loaded(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = build.shared_library(text(22))
    key = record_of(place).stem
    assert cache.lookup(key) == library
    monkeypatch.setattr(os, "geteuid", lambda: place.stat().st_uid + 1)
    assert cache.lookup(key) is None
    monkeypatch.setattr(cache, "_places", {})
    assert cache.place() != place, "a folder of another user is not used"
    assert value_of(build.shared_library(text(22))) == 22


@posix
def test_the_folder_is_the_users_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULLBACK_CACHE_DIR", str(tmp_path / "new" / "deep"))
    assert stat.S_IMODE(cache.place().stat().st_mode) == 0o700
    shared = tmp_path / "shared" / cache.FOLDER
    shared.mkdir(parents=True)
    shared.chmod(0o777)
    monkeypatch.setenv("PULLBACK_CACHE_DIR", str(tmp_path / "shared"))
    assert cache.place() == shared
    assert stat.S_IMODE(shared.stat().st_mode) == 0o700


# -- the place --


def test_the_place_is_the_platforms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("platformdirs")
    monkeypatch.delenv("PULLBACK_CACHE_DIR", raising=False)
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name, **_: tmp_path / name)
    monkeypatch.setattr(cache, "_places", {})
    assert cache.place() == tmp_path / "pullback" / cache.FOLDER
    assert not cache.is_temporary()


def in_the_way(tmp_path: Path) -> str:
    (tmp_path / "file").write_text("")
    return str(tmp_path / "file")


@pytest.mark.parametrize("asked", [in_the_way, lambda _: "/proc/none"], ids=["file", "proc"])
def test_a_place_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: Callable[[Path], str]
) -> None:
    monkeypatch.setenv("PULLBACK_CACHE_DIR", asked(tmp_path))
    assert cache.is_temporary()
    library = build.shared_library(text(23))
    assert value_of(library) == 23
    assert build.shared_library(text(23)) == library


def test_without_platformdirs_the_place_is_temporary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PULLBACK_CACHE_DIR", raising=False)
    monkeypatch.setitem(sys.modules, "platformdirs", None)
    monkeypatch.setattr(cache, "_places", {})
    assert cache.is_temporary()
    cache.place().rmdir()


SCRIPT = """
import os, sys
from pullback.backend.native import build, cache
folder = cache.place()
if hasattr(os, "fork"):
    child = os.fork()
    if child == 0:
        sys.exit(0)
    os.waitpid(child, 0)
assert folder.is_dir()
print(folder)
"""


def run(script: str, *args: str, **variables: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables}
    return subprocess.Popen(
        [sys.executable, "-c", script, *args],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        stderr=subprocess.PIPE,
    )


def test_a_temporary_place_goes_with_its_process_and_not_with_a_fork() -> None:
    said, errors = run(SCRIPT, PULLBACK_CACHE_SIZE="0").communicate(timeout=60)
    assert said, errors
    assert not Path(said.strip()).exists()


# -- processes at once --

BUILD = """
import ctypes, sys
from pullback.backend.native import build
library = build.shared_library(sys.argv[1])
print(ctypes.CDLL(str(library)).value())
"""


def test_processes_that_build_one_text_at_once(place: Path) -> None:
    processes = [run(BUILD, text(24)) for _ in range(4)]
    for process in processes:
        said, errors = process.communicate(timeout=120)
        assert said.strip() == "24", errors
    assert value_of(build.shared_library(text(24))) == 24
    assert len(cache.entries()) == 1
    assert not list(place.glob("build-*"))


@posix
def test_a_process_that_is_killed_leaves_no_harm(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = tmp_path / "started"
    script = f'case "$*" in *module.c*) echo "int" > module.so; touch "{started}"; sleep 3;; esac\nexec {REAL} "$@"\n'
    name = compiler(tmp_path, script)
    process = run(BUILD, text(25), CC=name)
    for _ in range(600):
        if started.exists():
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    left = list(place.glob("build-*"))
    assert left and not cache.entries()
    assert value_of(build.shared_library(text(25))) == 25
    assert left[0].exists(), "it may be another process's that still works"
    os.utime(left[0], (0, 0))
    cache.shrink()
    assert not left[0].exists()
    assert len(cache.entries()) == 1


# -- the size --


def test_the_least_recently_used_entries_go(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    libraries = [build.shared_library(text(k)) for k in range(30, 34)]
    by_library = {entry.library: entry for entry in cache.entries()}
    assert set(libraries) == by_library.keys()
    for age, library in enumerate(libraries):
        used = time.time() - 1000 * (age + 1)
        os.utime(place / f"{by_library[library].key}.json", (used, used))
    build.shared_library(text(33))  # the oldest is used: it is the newest
    size = by_library[libraries[0]].size
    monkeypatch.setenv("PULLBACK_CACHE_SIZE", str(int(size * 3.5)))
    for record in place.glob("compiler-*.json"):
        cache.write(cache.place() / record.name, record.read_bytes())
    new = build.shared_library(text(34))
    left = {entry.library for entry in cache.entries()}
    assert new in left and libraries[3] in left and libraries[0] in left
    assert libraries[1] not in left and libraries[2] not in left
    assert not libraries[2].exists()
    assert sum(path.stat().st_size for path in left) <= size * 3.5


def test_the_one_that_was_built_stays_however_small_the_limit(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULLBACK_CACHE_SIZE", "10")
    assert value_of(build.shared_library(text(35))) == 35
    assert value_of(build.shared_library(text(36))) == 36
    assert len(cache.entries()) == 1


@pytest.mark.parametrize(
    ("said", "size"),
    [
        ("", 512 << 20),
        ("100", 100),
        ("10k", 10 << 10),
        ("1.5 MB", 3 << 19),
        ("2GiB", 2 << 30),
        ("0", 0),
        ("-1", 0),
    ],
)
def test_sizes(monkeypatch: pytest.MonkeyPatch, said: str, size: int) -> None:
    monkeypatch.setenv("PULLBACK_CACHE_SIZE", said)
    assert cache.limit() == size


@pytest.mark.parametrize("said", ["much", "10 apples", "1e400", "nan", "MB"])
def test_what_is_no_size(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv("PULLBACK_CACHE_SIZE", said)
    with pytest.warns(RuntimeWarning, match="is no size"):
        assert cache.limit() == cache.DEFAULT_SIZE


def test_clear(place: Path) -> None:
    build.shared_library(text(37))
    (place / "build-left").mkdir()
    os.utime(place / "build-left", (0, 0))
    (place / "build-new").mkdir()
    assert cache.clear() == 1
    assert [path.name for path in place.iterdir()] == ["build-new"], "another process may be at work there"
    assert value_of(build.shared_library(text(37))) == 37
