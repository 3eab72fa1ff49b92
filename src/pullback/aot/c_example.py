"""A C program that calls the functions of a module on some numbers."""

from __future__ import annotations

from collections.abc import Iterator

from pullback.aot.c_functions import CFunction, Parts, filled
from pullback.aot.c_names import Argument, Result


def example_text(files: Parts, stem: str) -> str:
    """A program that calls every function on some numbers."""
    lines = [
        f"/* Compile and run:  cc -O2 {stem}_example.c {stem}.c -lm -o {stem}_example && ./{stem}_example",
        "",
        *[f"   {line}" for line in files.made[:1]],
        "*/",
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
    named = [name for name in signature.lengths if name in signature.named]
    sizes = [f"{name} = {3 + k}" for k, name in enumerate(named)]
    sizes += [f"{name} = 4" for name in signature.lengths if name not in signature.named]
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
    call = filled(f"    if ({function.name}(", passed, ")) {", 8)
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
        text = {"f": "0.5", "c": "{0.5, 0.25}", "b": "true"}.get(kind, "2")
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
