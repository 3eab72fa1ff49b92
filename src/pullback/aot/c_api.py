"""The C files of a module: a header for people, the text behind it, an example that calls it.

loss_grad.h           one function for each gradient, with typed parameters under the user's names
loss_grad.c           all that it needs: our routines, the entries, these functions
loss_grad_example.c   a program that calls them on some numbers
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pullback.aot.c_names import Argument, Result, Signature, signature_of
from pullback.aot.entries import Entry
from pullback.aot.header import made
from pullback.aot.natives import Natives, natives_of
from pullback.aot.outputs import Output, write_all
from pullback.aot.units import GRADIENTS, Unit, compile_entry
from pullback.backend.native.amalgam import amalgam
from pullback.backend.native.emit.element import literal
from pullback.backend.native.emit.module import HEADERS
from pullback.backend.native.interface import ERRORS
from pullback.dispatch.collector import paused
from pullback.errors import Loc, NativeError

FLAGS = "-O3 -fno-math-errno -fno-trapping-math -ffp-contract=off -fopenmp-simd"
WIDTH = 100


@dataclass(frozen=True, slots=True)
class CFunction:
    """One function of the header.  `form`: "value_and_grad" or "grad"."""

    unit: Unit
    form: str
    signature: Signature

    @property
    def name(self) -> str:
        """Its name."""
        return f"{self.unit.label}_{self.form}"

    @property
    def results(self) -> list[Result]:
        """What it gives: of `grad` not the value."""
        signature = self.signature
        values = signature.values[1:] if self.form == "grad" else signature.values
        return [*values, *signature.gradients]

    @property
    def parameters(self) -> list[str]:
        """Its parameters, declared."""
        signature = self.signature
        return [
            *(f"int64_t {name}" for name in signature.lengths),
            *(argument.declared for argument in signature.arguments),
            *(text for result in self.results for text in result.declared),
            "pb_error *error",
        ]

    @property
    def prototype(self) -> str:
        """Its head."""
        return "\n".join(_filled(f"PB_EXPORT int32_t {self.name}(", self.parameters, ")"))


@dataclass(frozen=True, slots=True)
class CFiles:
    """The C files of a module, but for its name: `texts` has them.

    made   how the module was made
    digest of all that the library is made from
    """

    natives: Natives
    functions: tuple[CFunction, ...]
    made: tuple[str, ...]
    digest: str

    def texts(self, stem: str) -> dict[str, str]:
        """The text of each file of a module that is called so."""
        found = {f"{stem}.c": _source(self, stem), f"{stem}.h": _header(self, stem)}
        if self.functions:
            found[f"{stem}_example.c"] = _example(self, stem)
        return found


def c_module(entries: Sequence[Entry], command: str, check: str = "") -> CModule:
    """The C files of some entries, alone.  Raises NativeError for what C does not take without NumPy."""
    with paused():
        units = [compile_entry(e) for e in entries]
        natives = natives_of(units, alone=True)
        if natives.left:
            left = natives.left[0]
            raise NativeError(f"C alone does not take {left.reason}", loc=left.loc, hint=_WAY_OUT)
        files = c_files(units, natives, made(units, command, check, "These files were"))
    return CModule(files)


_WAY_OUT = "--native writes C beside a Python module, and leaves to NumPy what C does not take"


@dataclass(frozen=True, slots=True)
class CModule:
    """Gradients as C alone."""

    c: CFiles

    @property
    def names(self) -> tuple[str, ...]:
        """The functions."""
        return tuple(f.name for f in self.c.functions)

    def outputs(self, path: str | os.PathLike[str]) -> list[Output]:
        """The files; `path` is that of the C text."""
        target = Path(path)
        return [Output(target.with_name(name), text) for name, text in self.c.texts(target.stem).items()]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the files, each whole or not at all.  Raises ArgumentError where that cannot be."""
        write_all(self.outputs(path))

    def is_current(self, path: str | os.PathLike[str]) -> bool:
        """Whether all files are there as they would be written."""
        return all(output.status() == "current" for output in self.outputs(path))


def c_files(units: Sequence[Unit], natives: Natives, made: Sequence[str]) -> CFiles:
    """The C files of some units.  `made` are lines that say how."""
    functions = []
    for unit in units:
        native = natives.entries.get(unit.label)
        if native is not None and not native.needs:
            signature = signature_of(unit, native)
            forms = [form for form in GRADIENTS if form in unit.entry.forms]
            functions += [CFunction(unit, form, signature) for form in forms]
    files = CFiles(natives, tuple(functions), tuple(made), "")
    digest = hashlib.sha256(_code(files).encode()).hexdigest()
    return CFiles(natives, tuple(functions), tuple(made), digest)


# ------------------------------------------------------------------------------------------------------ the header


def _header(files: CFiles, stem: str) -> str:
    guard = f"{stem.upper()}_H" if stem.isidentifier() else "PB_GRADIENTS_H"
    lines = ["/*", *files.made, "*/", f"#ifndef {guard}", f"#define {guard}", ""]
    lines += [_COMMON]
    for function in files.functions:
        lines += [*_said(function), function.prototype + ";", ""]
    for unit in dict.fromkeys(f.unit for f in files.functions if _makes(f)):
        lines += [
            "/* Give back what a function has made. */",
            f"PB_EXPORT void {unit.label}_free(void *items);",
            "",
        ]
    for label, native in files.natives.entries.items():
        if native.needs:
            name, loc = native.needs[0]
            lines += _comment(
                f"The gradient of {label} needs NumPy (`{name}`, {loc}): from C it cannot be called."
            )
            lines.append("")
    lines += ["#ifdef __cplusplus", "}", "#endif", "", "#endif", ""]
    return "\n".join(lines)


def _makes(function: CFunction) -> bool:
    return any(result.lengths == "made" for result in function.results)


_KINDS = ", ".join(
    f"PB_{''.join('_' + c if c.isupper() and i else c for i, c in enumerate(kind.__name__)).upper()} = {code}"
    for code, kind in ERRORS.items()
)

_COMMON = f"""\
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

#ifndef PB_EXPORT
#if defined(_WIN32)
#define PB_EXPORT
#else
#define PB_EXPORT __attribute__((visibility("default")))
#endif
#endif

#ifndef PB_ERROR_CODES
#define PB_ERROR_CODES
/* What a function returns: 0, or one of these, which are called as Python's exceptions are. */
enum {{
    {", ".join(_KINDS.split(", ")[:4])},
    {", ".join(_KINDS.split(", ")[4:7])},
    {", ".join(_KINDS.split(", ")[7:])}, PB_HOST_ERROR = 9
}};

/* Why a function did not return 0.  The texts live as long as the program; they are NULL where nothing is known. */
typedef struct {{
    int32_t code;
    int32_t line; /* in `file`; 0: not known */
    const char *file, *function, *text;
    char message[200];
}} pb_error;

typedef struct {{ float re, im; }} pb_complex64;
typedef struct {{ double re, im; }} pb_complex128;
#endif

/* Arrays are in C order, one row after the other.  What is `const` is only read; what a function gives is written where
   the last pointers say, and is not wanted where these are NULL.  A function returns 0, or the code of an error: then
   nothing has been written but `error` (which may be NULL).  Any number of threads may call at once. */
"""


def _said(function: CFunction) -> list[str]:
    """The comment before a function."""
    unit, signature = function.unit, function.signature
    place = unit.place.replace("`", "")
    what = "Value and gradient" if function.form == "value_and_grad" else "Gradient"
    lines = [f"{what} of {place}.", ""]
    lines += [f"    {name}: the length {of}" for name, of in signature.lengths.items()]
    lines += [f"    {a.name}: {a.said}" for a in signature.arguments]
    lines += [f"    {r.name}: {_result_said(r)}" for r in function.results]
    return _comment(*lines)


def _result_said(result: Result) -> str:
    if result.said:
        return result.said if result.at is not None else f"{result.said}: {result.value}"
    return str(result.dtype.name)


def _comment(*lines: str) -> list[str]:
    first, *rest = [line.replace("*/", "* /") for line in lines]
    out = [f"/* {first}", *[f"   {line}".rstrip() for line in rest]]
    out[-1] += " */"
    return out


# ------------------------------------------------------------------------------------------------------ the source


def _source(files: CFiles, stem: str) -> str:
    """The C text: everything that is needed, then what is of this module."""
    build = [
        "It needs a C compiler (gcc, clang or zig), and nothing else of ours:",
        "",
        f"    cc {FLAGS} -c {stem}.c",
        f"    zig cc -fno-sanitize=all {FLAGS} -c {stem}.c",
        "",
        "As a library: -shared -fPIC. With -march=native it is faster, and for this machine only; with -fopenmp large",
        "loops use several cores. -ffast-math and -ffinite-math-only break it.",
    ]
    head = ["/*", *files.made, "", *build, "*/", _EXPORTED, f'#include "{stem}.h"', ""]
    return "\n".join([*head, _code(files)])


_EXPORTED = """\
#if defined(_WIN32)
#define PB_EXPORT __declspec(dllexport)
#endif"""

_GUARD = """\
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "-ffast-math and -ffinite-math-only give wrong results: compile without them"
#endif
#ifndef _OPENMP
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" /* of arrays whose length gcc takes to be zero */
#endif
"""


def _code(files: CFiles) -> str:
    """What the digest is of, and the names that have it in them."""
    parts = [_GUARD, amalgam([*HEADERS, "standalone.h", "cpu.h"])]
    parts += [
        "/* ---------------------------------------------------------------------------------- the gradients */\n"
    ]
    parts += [files.natives.body]
    parts += [_places(files)]
    parts += [_definition(function) for function in files.functions]
    for unit in dict.fromkeys(f.unit for f in files.functions if _makes(f)):
        parts.append(
            f"PB_EXPORT void {unit.label}_free(void *items) {{\n"
            "    if (items) free((char *)items - PB_BLOCK_HEAD);\n}\n"
        )
    if files.digest:
        parts.append(_CHECKED.format(short=files.digest[:16], digest=files.digest))
    return "\n".join(parts)


_CHECKED = """\
/* What the Python module beside this looks for: that the library is of this text, and for this CPU. */
PB_EXPORT const char pb_text_{short}[] = "{digest}";
#ifdef PB_BUILD
PB_EXPORT const char pb_build_{short}[] = PB_BUILD;
#endif
PB_EXPORT int32_t pb_cpu_{short}(void);
PB_EXPORT int32_t pb_cpu_{short}(void) {{
    return pb_cpu_fits();
}}
"""


def _quoted(text: str) -> str:
    """A text as a C string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    return f'"{escaped}"'.replace("??", '?""?')


def _places(files: CFiles) -> str:
    """The table of places, and what makes an error of a code."""
    if not files.functions:
        return ""
    places = next(iter(files.natives.entries.values())).interface.places
    rows = [_place(loc) for loc in places] or ["    {NULL, NULL, NULL, 0},"]
    return "\n".join([_FAILED_HEAD, *rows, _FAILED])


def _place(loc: Loc) -> str:
    file = str(loc).rpartition(":")[0]
    texts = (file, loc.function, loc.text.strip())
    return f"    {{{', '.join(_quoted(t) if t else 'NULL' for t in texts)}, {loc.line}}},"


_FAILED_HEAD = """\
/* Places in the user's source that errors may name. */
static const struct { const char *file, *function, *text; int32_t line; } pb_places[] = {"""

_FAILED = """\
};

/* Tell why an entry ended; gives the code back. */
static int32_t pb_failed(const pb_host *host, pb_error *error) {
    const int32_t code = host->error == PB_HOST_ERROR ? PB_MEMORY_ERROR : host->error;
    if (!error) return code;
    memset(error, 0, sizeof *error);
    error->code = code;
    if (host->line >= 0) {
        error->file = pb_places[host->line].file;
        error->function = pb_places[host->line].function;
        error->text = pb_places[host->line].text;
        error->line = pb_places[host->line].line;
    }
    if (code == PB_INDEX_ERROR && !host->message)
        snprintf(error->message, sizeof error->message, "index %lld is out of bounds for axis %lld with size %lld",
                 (long long)host->detail[0], (long long)host->detail[1], (long long)host->detail[2]);
    else
        snprintf(error->message, sizeof error->message, "%s",
                 host->message ? host->message : code == PB_MEMORY_ERROR ? "there is no memory" : "");
    return code;
}

/* A length that may not be. */
static int32_t pb_wrong_length(pb_error *error, const char *message) {
    pb_host host = {0};
    host.error = PB_VALUE_ERROR;
    host.line = -1;
    host.message = message;
    return pb_failed(&host, error);
}
"""


def _definition(function: CFunction) -> str:
    """A function of the header."""
    signature = function.signature
    lines = [function.prototype + " {", *_length_checks(function)]
    given = max(len(signature.given), 1)
    made = max(len(signature.native.interface.results), 1)
    lines.append(f"    pb_arg pb_in[{given}] = {{{{0}}}}, pb_out[{made}] = {{{{0}}}};")
    for k, argument in enumerate(signature.given):
        if isinstance(argument, Argument):
            lines += _pass(k, argument)
        else:
            lines += _pass_value(k, argument)
    unread = [a for a in signature.arguments if not any(a is g for g in signature.given)]
    lines += [f"    (void){a.name};" for a in unread]
    lines += [
        "    pb_host pb_this = pb_standalone();",
        f"    if ({signature.native.interface.name}(&pb_this, pb_in, pb_out)) return pb_failed(&pb_this, error);",
    ]
    wanted = {r.at: r for r in function.results if r.at is not None}
    for k, spec in enumerate(signature.native.interface.results):
        if k in wanted:
            lines += _write(wanted[k])
        elif hasattr(spec, "rank"):
            lines.append(f"    pb_drop_block(&pb_this, pb_out[{k}].a.data);")
    for result in function.results:
        if result.at is None:
            lines += _write_known(result)
    lines += ["    return 0;", "}", ""]
    return "\n".join(lines)


def _length_checks(function: CFunction) -> Iterator[str]:
    """No length is negative; where an axis was compiled for lengths other than one, it is not one."""
    names = list(function.signature.lengths)
    if names:
        test = " || ".join(f"{name} < 0" for name in names)
        yield f'    if ({test}) return pb_wrong_length(error, "a length is negative");'
    for a in function.signature.arguments:
        for axis in a.not_ones:
            assert a.lengths is not None
            text = _quoted(f"axis {axis} of {a.name} has length 1, for which this was not compiled")
            yield f"    if ({a.lengths[axis]} == 1) return pb_wrong_length(error, {text});"


def _pass(k: int, a: Argument) -> Iterator[str]:
    kind = a.dtype.kind
    if a.lengths is not None:
        rank = len(a.lengths)
        shape = ", ".join(a.lengths) or "0"
        yield f"    int64_t pb_shape{k}[] = {{{shape}}}, pb_strides{k}[{max(rank, 1)}] = {{0}};"
        if rank:
            yield f"    pb_c_strides({rank}, {a.dtype.itemsize}, pb_shape{k}, pb_strides{k});"
        yield f"    pb_in[{k}].a = (pb_array_arg){{(char *){a.name}, pb_shape{k}, pb_strides{k}, NULL}};"
    elif kind == "c":
        yield f"    pb_in[{k}].c[0] = {a.name}.re;"
        yield f"    pb_in[{k}].c[1] = {a.name}.im;"
    elif kind == "f":
        yield f"    pb_in[{k}].f = {a.name};"
    else:
        yield f"    pb_in[{k}].i = (int64_t){a.name};"


def _pass_value(k: int, value: Any) -> Iterator[str]:
    """A constant from outside."""
    if isinstance(value, np.ndarray):
        items = np.ascontiguousarray(value)
        texts = ", ".join(_item(x, value.dtype) for x in items.ravel()) or "0"
        yield f"    static const {_item_type(value.dtype)} pb_items{k}[] = {{{texts}}};"
        lengths, strides = (", ".join(map(str, t)) or "0" for t in (items.shape, items.strides))
        yield f"    static const int64_t pb_shape{k}[] = {{{lengths}}}, pb_strides{k}[] = {{{strides}}};"
        yield f"    pb_in[{k}].a = (pb_array_arg){{(char *)pb_items{k}, pb_shape{k}, pb_strides{k}, NULL}};"
        return
    dtype = np.asarray(value).dtype
    if dtype.kind == "c":
        part = np.dtype(np.float64)
        yield f"    pb_in[{k}].c[0] = {literal(complex(value).real, part)};"
        yield f"    pb_in[{k}].c[1] = {literal(complex(value).imag, part)};"
    elif dtype.kind == "f":
        yield f"    pb_in[{k}].f = {literal(float(value), np.dtype(np.float64))};"
    else:
        yield f"    pb_in[{k}].i = (int64_t){literal(value, dtype)};"


def _item(value: Any, dtype: np.dtype[Any]) -> str:
    if dtype.kind != "c":
        return literal(value, dtype)
    part = np.dtype(np.float32 if dtype.name == "complex64" else np.float64)
    return f"{{{literal(value.real, part)}, {literal(value.imag, part)}}}"


def _item_type(dtype: np.dtype[Any]) -> str:
    from pullback.backend.native.emit.leaves import c_type

    own = {"complex64": "pb_complex64", "complex128": "pb_complex128"}
    return own[dtype.name] if dtype.name in own else c_type(dtype)


def _write(r: Result) -> Iterator[str]:
    """A result to where the caller wants it."""
    if r.lengths == "made":
        yield f"    pb_give_items(pb_out[{r.at}].a.data, (void **){r.name}, {r.name}_lengths);"
    elif r.array:
        count = _bytes(r)
        yield f"    pb_take_items(pb_out[{r.at}].a.data, {r.name}, {count});"
    elif r.dtype.kind == "c":
        part = "(float)" if r.dtype.name == "complex64" else ""
        fields = f"{part}pb_out[{r.at}].c[0], {part}pb_out[{r.at}].c[1]"
        yield f"    if ({r.name}) *{r.name} = ({r.ctype}){{{fields}}};"
    else:
        yield f"    if ({r.name}) *{r.name} = ({r.ctype})pb_out[{r.at}].{'f' if r.dtype.kind == 'f' else 'i'};"


def _bytes(r: Result) -> str:
    assert isinstance(r.lengths, tuple)
    factors = [f"(size_t){n}" for n in r.lengths]
    return " * ".join([*factors, f"sizeof *{r.name}"])


def _write_known(r: Result) -> Iterator[str]:
    """A result that is always the same."""
    value = r.dtype.type(r.value)
    item = f"({r.ctype}){_item(value, r.dtype)}"
    assert isinstance(r.lengths, tuple)
    if r.lengths:
        count = " * ".join(r.lengths)
        yield f"    for (int64_t pb_k = 0; {r.name} && pb_k < {count}; pb_k++) {r.name}[pb_k] = {item};"
    else:
        yield f"    if ({r.name}) *{r.name} = {item};"


# ----------------------------------------------------------------------------------------------------- the example


def _example(files: CFiles, stem: str) -> str:
    """A program that calls every function on some numbers."""
    lines = [
        f"/* Compile and run:  cc -O2 {stem}_example.c {stem}.c -lm -o {stem}_example && ./{stem}_example */",
        "#include <stdio.h>",
        "#include <stdlib.h>",
        "",
        f'#include "{stem}.h"',
        "",
    ]
    for function in files.functions:
        lines += _example_of(function)
    calls = [f"example_{function.name}()" for function in files.functions]
    lines += ["int main(void) {", f"    return {' || '.join(calls)};", "}", ""]
    return "\n".join(lines)


def _example_of(function: CFunction) -> list[str]:
    signature = function.signature
    lines = [f"/* {function.name} of some numbers. */", f"static int example_{function.name}(void) {{"]
    sizes = [f"{name} = {3 + k}" for k, name in enumerate(signature.lengths)]
    lines += [f"    enum {{ {', '.join(sizes)} }}; /* lengths */"] if sizes else []
    for a in signature.arguments:
        lines += _example_argument(a)
    for r in function.results:
        lines += _example_result(r)
    lines += ["    pb_error error;"]
    passed = [*signature.lengths, *(a.name for a in signature.arguments)]
    for r in function.results:
        if r.lengths == "made":
            passed += [f"&{r.name}", f"{r.name}_lengths"]
        else:
            passed.append(r.name if r.lengths else f"&{r.name}")
    passed.append("&error")
    call = _filled(f"    if ({function.name}(", passed, ")) {", 8)
    lines += [
        *call,
        '        fprintf(stderr, "%s:%d: %s\\n", error.file ? error.file : "?", (int)error.line, error.message);',
        "        return 1;",
        "    }",
    ]
    for r in function.results:
        lines += _example_print(r)
        if r.lengths == "made":
            lines.append(f"    {function.unit.label}_free({r.name});")
    return [*lines, "    return 0;", "}", ""]


def _count(lengths: tuple[str, ...]) -> str:
    return " * ".join(lengths) or "1"


def _example_argument(a: Argument) -> Iterator[str]:
    kind = a.dtype.kind
    if a.lengths is None:
        text = {"f": "0.5", "c": "{0.5, 0.25}", "b": "true"}.get(kind, "3")
        yield f"    {a.ctype} {a.name} = {text};"
        return
    count = _count(a.lengths)
    room = count if "0" not in a.lengths else "1"
    yield f"    {a.ctype} {a.name}[{room}];"
    number = f"({a.ctype})(0.1 * (pb_k + 1))"
    text = {"f": number, "b": "pb_k % 2 == 0"}.get(kind, "0")
    if kind == "c":
        part = "float" if a.dtype.name == "complex64" else "double"
        text = f"({a.ctype}){{({part})(0.1 * (pb_k + 1)), ({part})(0.2)}}"
    yield f"    for (int pb_k = 0; pb_k < {count}; pb_k++) {a.name}[pb_k] = {text};"


def _example_result(r: Result) -> Iterator[str]:
    if r.lengths == "made":
        yield f"    {r.ctype} *{r.name};"
        yield f"    int64_t {r.name}_lengths[{r.rank}];"
    elif r.lengths:
        assert isinstance(r.lengths, tuple)
        yield f"    {r.ctype} {r.name}[{_count(r.lengths) if '0' not in r.lengths else '1'}];"
    else:
        yield f"    {r.ctype} {r.name};"


def _example_print(r: Result) -> Iterator[str]:
    if r.lengths == "made":
        count = " * ".join(f"{r.name}_lengths[{k}]" for k in range(r.rank))
        yield from _print_items(r, f"int64_t pb_k = 0; pb_k < {count}; pb_k++", "(long long)pb_k")
    elif r.lengths:
        assert isinstance(r.lengths, tuple)
        yield from _print_items(r, f"int pb_k = 0; pb_k < {_count(r.lengths)}; pb_k++", "(long long)pb_k")
    else:
        form, values = _format(r, r.name)
        yield f'    printf("{r.name} = {form}\\n", {values});'


def _print_items(r: Result, loop: str, index: str) -> Iterator[str]:
    form, values = _format(r, f"{r.name}[pb_k]")
    yield f'    for ({loop}) printf("{r.name}[%lld] = {form}\\n", {index}, {values});'


def _format(r: Result, at: str) -> tuple[str, str]:
    if r.dtype.kind == "f":
        return "%.17g", f"(double){at}" if r.dtype.itemsize != 8 else at
    if r.dtype.kind == "c":
        return "%.17g%+.17gj", f"(double){at}.re, (double){at}.im"
    return "%lld", f"(long long){at}"


def _filled(start: str, items: Sequence[str], end: str, indent: int = 4) -> Iterator[str]:
    """A list in lines that fit."""
    line = start
    for k, item in enumerate(items):
        text = item + ("," if k < len(items) - 1 else end)
        if line.strip() and len(line) + len(text) + 1 > WIDTH and not line.endswith("("):
            yield line.rstrip()
            line = " " * indent
        line += text + (" " if k < len(items) - 1 else "")
    yield line
