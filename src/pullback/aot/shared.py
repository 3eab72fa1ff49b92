"""The shared library of a module: compiled for any CPU of the machine's kind, unless another one is asked for."""

from __future__ import annotations

import platform
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pullback.backend.native import cache, toolchain
from pullback.backend.native.build import SECONDS
from pullback.backend.native.process import run
from pullback.errors import ArgumentError, BuildFailed

# Flags for any CPU of a kind: what a compiler takes without them is the distribution's choice.
_ANY = {"x86_64": ("-march=x86-64",), "amd64": ("-march=x86-64",), "aarch64": ("-march=armv8-a",)}
_WHOLE = ("-fopenmp-simd",)


@dataclass(frozen=True, slots=True)
class Build:
    """How a library is compiled.

    march   the CPU that it is for, as `-march` has it; "native": this one; "": any of the machine's kind
    cflags  flags that come last
    """

    march: str = ""
    cflags: str = ""

    def __post_init__(self) -> None:
        try:
            shlex.split(self.cflags)
        except ValueError as error:
            raise ArgumentError(
                f"cflags={self.cflags!r} is no list of flags: {error}", hint="mend it"
            ) from None

    @property
    def mark(self) -> str:
        """What tells in a library how it was compiled."""
        return f"compiled with march={self.march or 'any'} cflags={self.cflags}."

    def flags(self, compiler: toolchain.Toolchain) -> tuple[str, ...]:
        """The flags of a compiler."""
        zig = any("zig" in Path(word).name for word in compiler.command)
        if self.march == "native":
            cpu = compiler.native
        elif self.march:
            cpu = (f"-mcpu={self.march.replace('-', '_')}",) if zig else (f"-march={self.march}",)
        elif zig:
            cpu = ("-mcpu=baseline",)
        else:
            cpu = () if sys.platform == "darwin" else _ANY.get(platform.machine().lower(), ())
        return (*toolchain.OPTIMISE, *_WHOLE, *cpu, *toolchain.SHARED, *shlex.split(self.cflags))


def file_name(stem: str) -> str:
    """What the library of a module is called; where a module has no package, `lib` keeps the two apart."""
    suffix = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
    return stem + suffix if sys.platform == "win32" else f"lib{stem}{suffix}"


def build_library(texts: Mapping[str, str], stem: str, how: Build) -> bytes:
    """The library that `stem`.c makes.  Raises NoCompiler or BuildFailed."""
    compiler = toolchain.find()
    target = file_name(stem)
    with cache.workshop() as folder:
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        mark = f'-DPB_BUILD="{how.mark}"'
        command = [
            *compiler.command,
            *toolchain.QUIET,
            *how.flags(compiler),
            mark,
            f"{stem}.c",
            "-o",
            target,
            "-lm",
        ]
        done = run(command, folder, SECONDS)
        if not done.fine or not (folder / target).is_file():
            raise BuildFailed(
                f"the C compiler `{shlex.join(compiler.command)}` makes no library of {stem}.c: {done.first_lines()}",
                hint="look at --march and --cflags; --emit c writes the C text without compiling it",
            )
        return (folder / target).read_bytes()
