"""The C text of a module: our routines, the entries, and the functions of the header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pullback.aot.c_functions import CFunction, Parts
from pullback.aot.c_names import Argument, Result
from pullback.aot.demands import Demand, demands
from pullback.backend.native.amalgam import amalgam
from pullback.backend.native.emit.element import literal
from pullback.backend.native.emit.leaves import c_type
from pullback.backend.native.emit.module import HEADERS
from pullback.errors import Loc

FLAGS = "-O3 -fno-math-errno -fno-trapping-math -ffp-contract=off -fopenmp-simd"


def source_text(files: Parts, stem: str) -> str:
    """The C text: everything that is needed, then what is of this module."""
    build = [
        "It needs a C compiler (gcc, clang or zig), and nothing else of ours:",
        "",
        f"    cc {FLAGS} -c {stem}.c",
        f"    zig cc -fno-sanitize=all {FLAGS} -c {stem}.c",
        "",
        "As a library: -shared -fPIC. With -march=native it is faster, and for this machine only; with -fopenmp large",
        "loops use several cores. Products of matrices are loops too; with -DPB_CBLAS large ones are cblas_dgemm and",
        "cblas_sgemm of <cblas.h>: link a BLAS. -ffast-math and -ffinite-math-only give wrong results.",
    ]
    head = ["/*", *files.made, "", *build, "*/", _EXPORTED, f'#include "{stem}.h"', ""]
    return "\n".join([*head, code(files)])


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
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable" /* of names that a last iteration sets */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" /* of arrays whose length gcc takes to be zero */
#endif
"""


def code(files: Parts) -> str:
    """What the digest is of, and the names that have it in them."""
    parts = [_GUARD, amalgam([*HEADERS, "standalone.h", "cpu.h"])]
    parts += [
        "/* ---------------------------------------------------------------------------------- the gradients */\n"
    ]
    parts += [files.natives.body]
    parts += [_places(files)]
    parts += [_definition(function) for function in files.functions]
    for label in files.makers:
        parts.append(
            f"PB_EXPORT void {label}_free(void *items) {{\n"
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


def _places(files: Parts) -> str:
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
PB_ONCE int32_t pb_failed(const pb_host *host, pb_error *error) {
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
PB_ONCE int32_t pb_wrong_length(pb_error *error, const char *message) {
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
    for demand in demands(function.unit, function.signature.native):
        yield from _demand(demand, function.signature.given)


def _demand(demand: Demand, given: Sequence[Argument | Any]) -> Iterator[str]:
    """What is taken for granted of lengths."""
    whose, mine = _axis(given[demand.at], demand.axis)
    if demand.other is not None:
        at, axis = demand.other
        other, theirs = _axis(given[at], axis)
        if mine != theirs:
            text = _quoted(f"{whose} and {other} were compiled for one length")
            yield f"    if ({mine} != {theirs}) return pb_wrong_length(error, {text});"
    else:
        text = _quoted(f"{whose} was compiled for {'' if demand.one else 'another length than '}1")
        yield f"    if ({mine} {'!=' if demand.one else '=='} 1) return pb_wrong_length(error, {text});"


def _axis(given: Argument | Any, axis: int) -> tuple[str, str]:
    """What an axis is called, and the expression of its length."""
    if isinstance(given, Argument):
        assert given.lengths is not None
        return f"axis {axis} of {given.name}", given.lengths[axis]
    return f"axis {axis} of a constant", str(np.shape(given)[axis])


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
