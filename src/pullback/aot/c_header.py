"""The header of a module: its functions, for people."""

from __future__ import annotations

from pullback.aot.c_functions import CFunction, Parts
from pullback.aot.c_names import Result
from pullback.backend.native.interface import ERRORS


def header_text(files: Parts, stem: str) -> str:
    guard = f"{stem.upper()}_H" if stem.isidentifier() else "PB_GRADIENTS_H"
    lines = ["/*", *files.made, "*/", f"#ifndef {guard}", f"#define {guard}", ""]
    lines += [_COMMON]
    for function in files.functions:
        lines += [*_said(function), function.prototype + ";", ""]
    for label in files.makers:
        lines += [
            "/* Give back what a function has made. */",
            f"PB_EXPORT void {label}_free(void *items);",
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
