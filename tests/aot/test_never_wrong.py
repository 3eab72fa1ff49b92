"""Standalone modules compute what the plain function computes, or refuse."""

from __future__ import annotations

import ast
import enum
import linecache
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import pullback as pb
from pullback.aot import support
from pullback.aot.text import command_lines, docstring


class Scaled:
    K = 2.0

    def __init__(self) -> None:
        self.w = np.ones(3)

    def factor(self):
        return 1.0

    def loss(self, x):
        more = 10.0 if hasattr(self, "extra") else 1.0
        return self.K * self.factor() * more * np.sum(self.w * x)


@dataclass
class Fielded:
    w: np.ndarray
    K: ClassVar[float] = 2.0

    def __post_init__(self) -> None:
        self.length = len(self.w)

    def factor(self):
        return 1.0

    def loss(self, x):
        more = 10.0 if hasattr(self, "extra") else 1.0
        return self.K * self.factor() * more * np.sum(self.w * x)


def function(f: Any, sig: str | None = None, **options: Any) -> Any:
    made = pb.compile(f, sig, **options)
    return getattr(made.load(), made.names[0])


# ---------------------------------------------------------------------------------------------------- the text


def test_a_module_without_imports_keeps_its_first_function() -> None:
    def first(a: float, b: float):
        return a - b

    def second(a: float):
        return a * a * a

    assert function(first)(3.0, 1.0) == (2.0, 1.0)
    m = pb.compile([(first, "a: float, b: float"), (second, "a: float")], argnums=0).load()
    assert m.first_value_and_grad(3.0, 1.0) == (2.0, 1.0)
    assert m.second_value_and_grad(2.0) == (8.0, 12.0)


ODD = (
    '"""',
    "a \\ b",
    "line\nbreak",
    'it\'s "so"',
    "\\",
    '"',
    "'''",
    'ends with "',
    "tab\tin",
    "\x0c form\u2028feed",
)


@pytest.mark.parametrize("text", ODD)
def test_texts_in_literals_keys_defaults_and_constants(text: str) -> None:
    spaces: dict[str, Any] = {"np": np, "TEXT": text}
    code = f"def odd(x, d, mode={text!r}):\n    return np.sum(x) * d[{text!r}] * (2.0 if mode == {text!r} else 3.0)\n"
    linecache.cache["<odd>"] = (len(code), None, code.splitlines(keepends=True), "<odd>")
    exec(compile(code, "<odd>", "exec"), spaces)
    fn = function(spaces["odd"], f"x: f8[:], d: {{{text!r}: float}}, mode: {text!r}")
    assert fn(np.ones(2), {text: 3.0})[0] == 12.0
    with pytest.raises(ValueError, match="was compiled for"):
        fn(np.ones(2), {text: 3.0}, text + "!")


@pytest.mark.parametrize("text", ODD)
def test_docstrings_read_back(text: str) -> None:
    lines = ["First.", "", *text.split("\n"), "last"]
    source = "\n".join(["def f():", *docstring(lines, "    ")])
    (made,) = ast.parse(source).body
    assert isinstance(made, ast.FunctionDef)
    (said,) = made.body
    assert isinstance(said, ast.Expr) and isinstance(said.value, ast.Constant)
    assert said.value.value == "\n    ".join(lines).replace("\n    \n", "\n\n") + "\n    "


def test_long_commands_are_broken_where_they_still_run() -> None:
    signature = ", ".join(f"a{i}: f8[n]" for i in range(30))
    call = f'pullback.compile(f, "{signature}", argnums=(0, 1))'
    lines = command_lines(call)
    assert max(map(len, lines)) <= 84
    assert ast.dump(ast.parse("\n".join(lines))) == ast.dump(ast.parse(call))
    lines = command_lines(f'pullback compile model.py:f -o grad.py --sig "{signature}" --wrt a0,a1')
    assert max(map(len, lines)) <= 86
    joined = " ".join(line.strip().removesuffix("\\").strip() for line in lines)
    assert joined == f'pullback compile model.py:f -o grad.py --sig "{signature}" --wrt a0,a1'


# ------------------------------------------------------------------------------------------------------ objects


@pytest.mark.parametrize(("cls", "make"), [(Scaled, Scaled), (Fielded, lambda: Fielded(np.ones(3)))])
def test_attributes_that_hide_those_of_the_class(cls: type, make: Any) -> None:
    sig = f"self: {cls.__name__}(w: f8[:]), x: f8[:]"
    fn = function(cls.loss, sig, argnums="x")  # type: ignore[attr-defined]
    assert fn(make(), np.ones(3))[0] == 6.0
    for name, value in (("K", 3.0), ("factor", lambda: 5.0), ("extra", 1)):
        changed = make()
        setattr(changed, name, value)
        with pytest.raises(TypeError, match=f"{name!r}"):
            fn(changed, np.ones(3))


def test_attributes_that_are_listed_may_be_there() -> None:
    fn = function(Scaled.loss, "self: Scaled(w: f8[:], note: any), x: f8[:]", argnums="x")
    noted = Scaled()
    noted.note = "n"  # type: ignore[attr-defined]
    assert fn(noted, np.ones(3))[0] == 6.0


# ------------------------------------------------------------------------------------------------------ numbers


def test_literals_with_sign() -> None:
    def sign(x, zero=0.0):
        return np.sum(x) * np.copysign(1.0, zero)

    fn = function(sign, "x: f8[:], zero: 0.0")
    assert fn(np.ones(2))[0] == 2.0
    with pytest.raises(ValueError, match=r"zero: 0\.0, got -0\.0"):
        fn(np.ones(2), -0.0)

    def minus(x, zero=-0.0):
        return np.sum(x) * np.copysign(1.0, zero)

    assert "zero: float = " not in pb.compile(minus, "x: f8[:], zero: 0.0").source


def test_literals() -> None:
    same = [
        0.0,
        -0.0,
        float("nan"),
        1,
        True,
        1.0,
        (0.0,),
        (-0.0,),
        1j,
        -1j,
        np.float64(0.0),
        np.float64(-0.0),
        "1",
    ]
    for i, a in enumerate(same):
        for j, b in enumerate(same):
            assert support._is_literal(a, b) is (i == j)


class Count(enum.IntEnum):
    ONE = 1


def test_numbers_are_converted_only_where_nothing_changes() -> None:
    def scaled(x, c):
        return np.sum(c * x)

    for dtype, also in (("f8", True), ("f4", False), ("c8", False), ("i4", True)):
        fn = function(scaled, f"x: {dtype}[:], c: float", argnums="c", forms="vjp")
        x = np.ones(2, dtype)
        assert fn(x, 0.1)[0].dtype == scaled(x, 0.1).dtype
        if also:
            assert fn(x, np.float64(0.1))[0].dtype == scaled(x, np.float64(0.1)).dtype
        else:
            with pytest.raises(TypeError, match=r"pass float\(c\), or"):
                fn(x, np.float64(0.1))

    def inside(x, c):
        return np.sum(x.astype(np.float32) * c)

    def compared(x, c):
        return np.sum(x) if np.float32(0.1) == c else 2.0 * np.sum(x)

    for f in (inside, compared):
        with pytest.raises(TypeError, match=r"pass float\(c\), or"):
            function(f, "x: f8[:], c: float")(np.ones(2), np.float64(0.1))
    for sig, wrong, way in (
        ("f8", 0.1, r"pass np\.float64\(c\), or"),
        ("complex", 1.0, r"pass complex\(c\), or"),
        ("float", 1j, r"complex \(compile"),
        ("float", 2**53 + 1, r"int \("),
        ("float", Count.ONE, r"Count \("),
    ):
        with pytest.raises(TypeError, match=way):
            function(scaled, f"x: f8[:], c: {sig}", forms="vjp")(np.ones(2), wrong)


# --------------------------------------------------------------------------------------------------- exceptions


@pytest.mark.parametrize("has_aux", [False, True])
def test_a_function_that_always_raises(has_aux: bool) -> None:
    def never(x):
        if np.sum(x) > 0:
            raise ValueError("positive")
        raise KeyError("other")

    forms = ("value_and_grad", "grad", "pair", "vjp")
    m = pb.compile(never, "x: f8[:]", has_aux=has_aux, forms=forms).load()
    for call in (m.never_value_and_grad, m.never_grad, m.never_primal, m.never_vjp):
        with pytest.raises(ValueError, match="positive"):
            call(np.ones(2))
        with pytest.raises(KeyError):
            call(-np.ones(2))
    with pytest.raises(ValueError, match="positive"):
        pb.value_and_grad(never, has_aux=has_aux)(np.ones(2))
    with pytest.raises(ValueError, match="positive"):
        pb.vjp(never, np.ones(2), has_aux=has_aux)


def test_has_aux_needs_a_tuple_of_two() -> None:
    def bare(x):
        return np.sum(x)

    def listed(x):
        return [np.sum(x), x]

    for f in (bare, listed):
        for ask in (
            lambda f=f: pb.vjp(f, np.ones(2), has_aux=True),
            lambda f=f: pb.compile(f, "x: f8[:]", has_aux=True, forms="pair"),
            lambda f=f: pb.grad(f, has_aux=True)(np.ones(2)),
        ):
            with pytest.raises(pb.ArgumentError, match="must return a tuple"):
                ask()


# -------------------------------------------------------------------------------------------------------- files


def test_line_ends_do_not_make_a_file_stale(tmp_path: Path) -> None:
    def plain(x):
        return np.sum(x)

    made = pb.compile(plain, "x: f8[:]")
    path = tmp_path / "plain.py"
    path.write_bytes(made.source.replace("\n", "\r\n").encode())
    assert made.is_current(path)
    path.write_bytes(made.source.replace("\n", "\r\n\n").encode())
    assert not made.is_current(path)


# ------------------------------------------------------------------------------------------- what the header says

FLAG = True
COUNT = 2
CONFIG = {"mode": "fast", "names": frozenset({"b", "a"})}
SHAPE = (2, 3)
NARROW = np.dtype("f4")
BASE = np.ones(3)


class Model:
    rate = 2.0

    @property
    def twice(self):
        return self.w * 2

    def half(self):
        return 0.5

    @staticmethod
    def same(x):
        return x

    def loss(self, x):
        y = self.same(x) * self.twice * self.half() * self.rate
        if FLAG and CONFIG["mode"] == "fast":
            y = y.astype(NARROW)
        return np.sum(np.sum(y, axis=COUNT - 1)) + np.sum(np.zeros(SHAPE))


def test_the_header_says_what_was_used_by_value() -> None:
    source = pb.compile(Model.loss, "self: Model(w: f8[:]), x: f8[:, :]", argnums="x").source
    head = ast.get_docstring(ast.parse(source)) or ""
    said = [
        line.strip()
        for line in head.split("were when this file was made:\n")[1].split("\n\n")[0].splitlines()
    ]
    for line in (
        "`Model.twice`: its code",
        "`Model.half`: its code",
        "`Model.same`: its code",
        "`Model.rate`: 2.0",
        "`FLAG` of `loss`: True",
        "`COUNT` of `loss`: 2",
        "`NARROW` of `loss`: dtype('float32')",
        "`CONFIG` of `loss`: {'mode': 'fast', 'names': frozenset({'a', 'b'})}",
        "SHAPE: `SHAPE` of `loss`",
    ):
        assert line in said, head


def test_the_header_says_of_which_numpy_the_code_is() -> None:
    def number(x):
        return float(x.reshape(-1)[:1]) * np.sum(x)

    def plain(x):
        return np.sum(x)

    version = tuple(map(int, np.__version__.split(".")[:2]))
    rule = "NumPy 2.4 and later" if version >= (2, 4) else "NumPy up to 2.3"
    assert rule in pb.compile(number, "x: f8[:]").source
    assert "It is for NumPy" not in pb.compile(plain, "x: f8[:]").source
    assert "Python 3.10 and later" in pb.compile(plain, "x: f8[:]").source


@pytest.mark.parametrize("name", ["int", "complex", "np", "tuple", "Any"])
def test_parameters_that_hide_what_a_module_uses_are_refused(name: str) -> None:
    spaces: dict[str, Any] = {}
    code = f"def hides({name}):\n    return {name} * {name}\n"
    linecache.cache["<hides>"] = (len(code), None, code.splitlines(keepends=True), "<hides>")
    exec(compile(code, "<hides>", "exec"), spaces)
    with pytest.raises(pb.ArgumentError, match=f"a parameter is called `{name}`"):
        pb.compile(spaces["hides"], f"{name}: f8")


# --------------------------------------------------------------------------------------------------- defaults


def test_defaults_are_kept_or_the_docstring_says_that_they_are_not() -> None:
    def kept(x, a=np.float64(2.0), b=Count.ONE, c=(1.0, 2)):  # noqa: B008
        return np.sum(x) * a * c[0]

    fn = function(kept, "x: f8[:], a: f8, b: default, c: (float, int)")
    assert fn(np.ones(2))[0] == 4.0 and type(fn(np.ones(2))[0]) is np.float64
    assert "no default" not in (fn.__doc__ or "")

    def by_value(x, s=slice(0, 2), d=np.dtype(">f4"), b=b"a", r=range(2), n=float("nan")):  # noqa: B008
        return np.sum(x[s]) * r[1]

    fn = function(by_value, "x: f8[:], s: default, d: default, b: default, r: default, n: default")
    assert fn(np.ones(3))[0] == fn(np.ones(3), slice(0, 2), np.dtype(">f4"), b"a", range(2), np.nan)[0] == 2.0
    for wrong in ({"s": slice(0, 3)}, {"d": np.dtype("<f4")}, {"b": b"b"}, {"r": range(3)}):
        with pytest.raises((ValueError, TypeError), match="was compiled for"):
            fn(np.ones(3), **wrong)

    def lost(x, a=[1.0, 2.0], *, b=np.ones(2)):  # noqa: B006, B008
        return np.sum(x) * a[0] * b[0]

    fn = function(lost, "x: f8[:], a: [float, float], b: f8[:]")
    assert "a: [float, float]; it has no default here" in fn.__doc__
    assert "b: float64[:]; it has no default here" in fn.__doc__
    with pytest.raises(TypeError, match="missing"):
        fn(np.ones(2))


# ------------------------------------------------------------------------------------------------------ lines

WEIGHTS = np.arange(4.0)


def test_lines_fit_whatever_the_users_lines_are(tmp_path: Path) -> None:
    def wide(x, y, a_parameter_with_a_long_name, another_parameter_with_a_long_name):
        r = (
            np.sqrt(x * y) + x * a_parameter_with_a_long_name
        )  # a comment that goes on and on, to the end of the line
        x[:] = r * WEIGHTS * another_parameter_with_a_long_name
        return (
            np.sum(x * r * r) + np.prod(y) * a_parameter_with_a_long_name / another_parameter_with_a_long_name
        )

    sig = "x: f8[n], y: f8[n], a_parameter_with_a_long_name: float, another_parameter_with_a_long_name: float"
    made = pb.compile(wide, sig, argnums=None, forms=("value_and_grad", "grad", "pair", "vjp"))
    long = [line for line in made.source.splitlines() if len(line) > 88]
    assert [line for line in long if not line.endswith("# fmt: skip")] == []  # a name and a name on one line
    assert '"WEIGHTS", WEIGHTS' not in made.source  # it is read-only, and needs no check
    head = ast.get_docstring(ast.parse(made.source)) or ""
    call = head.split("made anew, by\n\n")[1].split("\n\n")[0]
    assert ast.parse(call.strip()) is not None and "another_parameter_with_a_long_name: float" in call


def test_helpers_fit_a_line() -> None:
    from pullback.aot.helpers import HELPERS

    assert [line for text in HELPERS.values() for line in text.splitlines() if len(line) > 88] == []


def test_guarded_functions_say_what_differs() -> None:
    def root(x):
        return np.sum(np.sqrt(x))

    tree = ast.parse(pb.compile(root, "x: f8[:]").source)
    said = {f.name: ast.get_docstring(f) or "" for f in tree.body if isinstance(f, ast.FunctionDef)}
    assert "what is zero stays" in said["_root_value_and_grad_guarded"]
    assert "stays" not in said["_root_value_and_grad"]
