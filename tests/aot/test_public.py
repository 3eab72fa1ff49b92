"""`pullback.compile`: what its modules are and do."""

from __future__ import annotations

import ast
import enum
import os
import pickle
import subprocess
import sys
import textwrap
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln

import pullback as pb
from pullback.aot.entries import Entry

RATE = 0.5
TABLE = np.array([0.1, -0.0, 5e-324, np.inf])
COLUMNS = np.asfortranarray(np.arange(6.0).reshape(2, 3))
MIXED = {"a": (1, 2.5), "names": ["x", "it's"], 3: np.float32(0.1), "none": None, "flag": True, "z": 1 - 0.0j}
LARGE = np.arange(5000.0)
LENGTH = 2
Point = namedtuple("Point", "x y")


class Speed(enum.Enum):
    FAST = 1


class Settings:
    def __init__(self) -> None:
        self.rate = 3.0
        self.deep = {"w": np.arange(3.0)}


SETTINGS = Settings()
CHAIN = [Settings(), Settings()]


def loss(w, x, y, scale=2.0):
    r = np.tanh(x @ w) - y
    return RATE * scale * np.sum(r * r) / len(y)


SIGNATURE = "w: f8[n], x: f8[k, n], y: f8[k], scale: float"
W, X, Y = np.array([0.5, -1.0]), np.array([[1.0, 2.0], [0.5, -1.0], [0.0, 1.0]]), np.zeros(3)


def load(f: Callable[..., Any], sig: str, **options: Any) -> ModuleType:
    return pb.compile(f, sig, **options).load()


def function(f: Callable[..., Any], sig: str, **options: Any) -> Callable[..., Any]:
    """The only public function of a module."""
    made = pb.compile(f, sig, **options)
    (name,) = made.names
    return getattr(made.load(), name)  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------------------ numbers


def test_same_numbers_as_in_the_process() -> None:
    value, w_bar = function(loss, SIGNATURE)(W, X, Y)
    expected, expected_bar = pb.value_and_grad(loss)(W, X, Y)
    assert value == expected and type(value) is type(expected)
    assert w_bar.tobytes() == expected_bar.tobytes()


def test_wrong_arguments() -> None:
    fn = function(loss, SIGNATURE)
    expected = r"x: float64\[k, n\], got float32\[3, 2\] \(pass np.asarray\(x, dtype='float64'\), or"
    with pytest.raises(TypeError, match=expected):
        fn(W, X.astype(np.float32), Y)
    with pytest.raises(TypeError, match=r"got float64\[2\] \(compile it for this type too\)"):
        fn(W, W, Y)
    with pytest.raises(ValueError, match="one length k of x and y, got 3 and 2"):
        fn(W, X, Y[:2])


def test_forms() -> None:
    made = pb.compile(loss, SIGNATURE, argnums=("w", 3), forms=("value_and_grad", "grad", "pair", "vjp"))
    assert made.names == ("loss_value_and_grad", "loss_grad", "loss_primal", "loss_pullback", "loss_vjp")
    m = made.load()
    value, (w_bar, scale_bar) = m.loss_value_and_grad(W, X, Y, scale=4)
    assert value == 2 * m.loss_value_and_grad(W, X, Y)[0] == 4 * scale_bar
    assert type(scale_bar) is float
    found = [m.loss_grad(W, X, Y, 4.0), m.loss_vjp(W, X, Y, 4.0)[1](1.0)]
    at, residuals = m.loss_primal(W, X, Y, 4.0)
    assert at == value
    found += [m.loss_pullback(residuals, 1.0), m.loss_pullback(residuals, np.float64(1))]
    for a, b in found:
        np.testing.assert_array_equal(a, w_bar)
        assert b == scale_bar
    with pytest.raises(ValueError, match="the cotangent has shape"):
        m.loss_pullback(residuals, np.ones(2))
    with pytest.raises(TypeError, match="dtype complex128"):
        m.loss_pullback(residuals, 1j)


def test_residuals_share_nothing_with_the_arguments() -> None:
    m = load(loss, SIGNATURE, argnums="x", forms="pair")
    x = X.copy()
    _, residuals = m.loss_primal(W, x, Y)
    expected = m.loss_pullback(residuals, 1.0)
    x[...] = 7.0
    np.testing.assert_array_equal(m.loss_pullback(residuals, 1.0), expected)


def test_cotangents_share_no_memory() -> None:
    def both(x, y):
        return np.sum(x + y) + np.sum(x * y)

    x, y = np.ones(3), np.arange(3.0)
    _, (x_bar, y_bar) = function(both, "x: f8[n], y: f8[n]", argnums=(0, 1))(x, y)
    arrays = [x, y, x_bar, y_bar]
    assert not any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


def test_strong_zeros() -> None:
    def root(x, y):
        return np.sum(np.sqrt(x) * y)

    sig = "x: f8[n], y: f8[n]"
    assert "_root_value_and_grad_guarded" in pb.compile(root, sig).source
    _, x_bar = function(root, sig)(np.array([0.0, 4.0]), np.array([0.0, 1.0]))
    np.testing.assert_array_equal(x_bar, [0.0, 0.25])

    def total(x):
        return np.sum(x)

    assert "guarded" not in pb.compile(total, "x: f8[:]").source


def test_effects_happen_once(capsys: pytest.CaptureFixture[str]) -> None:
    def noisy(x):
        print("once")
        return np.sum(np.where(x > 0, np.sqrt(x), 0.0))

    _, x_bar = function(noisy, "x: f8[:]")(np.array([0.0, 4.0]))
    assert capsys.readouterr().out == "once\n"
    np.testing.assert_array_equal(x_bar, [0.0, 0.25])


def test_auxiliary_value() -> None:
    def aux(x):
        return np.sum(x * x), {"n": len(x)}

    m = load(aux, "x: f8[:]", has_aux=True, forms=("value_and_grad", "grad", "vjp"))
    x = np.arange(3.0)
    (value, extra), x_bar = m.aux_value_and_grad(x)
    assert (value, extra) == (5.0, {"n": 3})
    np.testing.assert_array_equal(x_bar, 2 * x)
    np.testing.assert_array_equal(m.aux_grad(x)[0], 2 * x)
    assert m.aux_grad(x)[1] == {"n": 3}
    np.testing.assert_array_equal(m.aux_vjp(x)[1](1.0), 2 * x)


def test_the_argument_that_is_written() -> None:
    def writes(x, y):
        x[0] = y[0] * 2
        return np.sum(x * y)

    fn = function(writes, "x: f8[:], y: f8[:]", argnums=(0, 1))
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    value, (x_bar, y_bar) = fn(x, y)
    assert value == 26.0 and x[0] == 1.0
    np.testing.assert_array_equal(x_bar, [0.0, 4.0])
    np.testing.assert_array_equal(y_bar, [12.0, 2.0])
    with pytest.raises(ValueError, match="writes into x, which shares memory with y"):
        fn(x, x[:])


def test_a_result_whose_style_does_not_say_that_it_is_a_scalar() -> None:
    def pick(x, i):
        return x[i]

    fn = function(pick, "x: f8[:], i: any")
    assert fn(np.arange(3.0), 2)[0] == 2.0
    with pytest.raises(TypeError, match="a gradient is of a real scalar"):
        fn(np.arange(3.0), np.array([0, 1]))


# ---------------------------------------------------------------------------------------------------- arguments


@pytest.mark.parametrize(
    ("sig", "good", "bad", "error", "match"),
    [
        ("x: f8[:]", [np.ones(2)], [1.0, [1.0], None, np.ones(2, "f4"), np.ones((1, 2))], TypeError, r"float64\[:\]"),
        ("x: f8[:]", [], [np.ma.ones(2), np.ones(2).view(np.recarray), np.ones(2, ">f8")], TypeError, "got"),
        ("x: f8[3]", [np.ones(3)], [np.ones(2)], ValueError, r"float64\[3\], got float64\[2\]"),
        ("x: f8[:, ::1]", [np.ones((2, 3))], [np.ones((3, 2)).T], ValueError, "C order"),
        ("x: f8[n, n]", [np.ones((2, 2))], [np.ones((2, 3))], ValueError, "one length n of x, got 2 and 3"),
        ("x: f8[]", [np.array(1.0)], [np.ones(1), 1.0], TypeError, r"float64\[\]"),
        ("x: float", [1, 1.0, np.float64(1)], [10**400, True, "1", np.float32(1), np.int64(1), np.array(1.0), 1j],
         TypeError, "x: float, got"),
        ("x: complex", [1j], [True, 1.0, np.complex128(1j), np.complex64(1j), None], TypeError, "x: complex"),
        ("x: f8", [np.float64(1)], [1, 1.0, True, np.float32(1), np.array(1.0)], TypeError, "np.float64"),
        ("x: f4", [np.float32(1)], [1.0, 1, np.float64(1)], TypeError, "np.float32"),
        ("x: (float, f8[:])", [(1, np.ones(2))], [[1.0, np.ones(2)], (1.0,), (1.0, 2.0)], TypeError, "got"),
        ("x: {'a': float}", [{"a": 1}], [{"b": 1.0}, {}, [1.0], {"a": "1"}], TypeError, "got"),
        ("x: [float, float]", [[1, 2.0]], [(1.0, 2.0), [1.0]], TypeError, "got"),
    ],
)  # fmt: skip
def test_types_of_arguments(
    sig: str, good: list[Any], bad: list[Any], error: type[Exception], match: str
) -> None:
    def same(x):
        return x

    fn = function(same, sig, forms="vjp")
    for x in good:
        fn(x)
    for x in bad:
        with pytest.raises(error, match=match):
            fn(x)


def test_integers_and_booleans() -> None:
    def power(x, n, flag):
        return np.sum(x**n) if flag else np.sum(x)

    fn = function(power, "x: f8[:], n: int, flag: bool")
    assert fn(np.ones(2), 3, True)[0] == 2.0
    for n, flag in ((2, np.True_), (True, True), (2.0, True), (np.int64(2), True), (2, 1)):
        with pytest.raises(TypeError, match="was compiled for"):
            fn(np.ones(2), n, flag)


def test_values_that_are_part_of_the_signature() -> None:
    def modes(x, mode="fast", act=np.tanh, speed=Speed.FAST, *, p: int = 2):
        return np.sum(act(x) ** p) if mode == "fast" and speed is Speed.FAST else np.sum(x)

    fn = function(modes, "x: f8[:], p: 2")
    assert fn(np.zeros(1))[0] == fn(np.zeros(1), "fast", np.tanh, Speed.FAST, p=2)[0] == 0.0
    for args, kwargs in (
        (("slow",), {}),
        (("fast", np.sin), {}),
        ((), {"p": 3}),
        ((), {"p": True}),
        ((), {"speed": 1}),
    ):
        with pytest.raises(ValueError, match="was compiled for"):
            fn(np.zeros(1), *args, **kwargs)
    with pytest.raises(TypeError, match="positional"):
        fn(np.zeros(1), "fast", np.tanh, Speed.FAST, 2)


def test_defaults() -> None:
    def defaults(x, a=1, b=2.0, c=(1.0, 2), d=None, e=np.ones(2), *, f="it's", g=3):  # noqa: B008
        return (x + a * b * c[0] + g) * np.sum(e)

    sig = "x: f8, a: float, b: f8, c: (float, int), d: None, e: f8[:], f: 'it\\'s', g: int"
    head = pb.compile(defaults, sig).source.split("def defaults_value_and_grad(")[1].split(") -> ")[0]
    lines = [line.strip() for line in head.splitlines() if line]
    assert lines == [
        "x: np.float64,",  # where no literal is meant to be, those before it have none either
        "a: float,",
        "b: np.float64,",
        "c: tuple[float, int],",
        "d: None,",
        "e: NDArray[np.float64],",
        "*,",
        'f: str = "it\'s",',
        "g: int = 3,",
    ]

    def literals(x, a=1, b=2.0, c=(1.0, 2), d=None):
        return x + a * b * c[0]

    made = pb.compile(literals, "x: f8, a: float, b: f8, c: (float, int), d: None")
    assert "b: np.float64,\n    c: tuple[float, int] = (1.0, 2),\n    d: None = None,\n" in made.source
    assert (
        made.load().literals_value_and_grad(np.float64(1.0), 1, np.float64(2.0))[0]
        == literals(np.float64(1.0))
        == 3.0
    )


def test_star_arguments() -> None:
    def star(x, /, *rest, k=1.0, **options):
        for r in rest:
            x = x * r
        return x * k * options["z"]

    fn = function(star, "x: float, rest: (float, float), options: {'z': float}")
    assert fn(2.0, 3, 4.0, z=5.0) == (120.0, 60.0)
    for args, kwargs in (((2.0, 3.0), {"z": 1.0}), ((2.0, 3.0, 4.0), {}), ((2.0, 3.0, 4.0), {"y": 1.0})):
        with pytest.raises(TypeError):
            fn(*args, **kwargs)


def test_what_a_parameter_may_not_be_called() -> None:
    def named(np):
        return np * np

    with pytest.raises(pb.ArgumentError, match="a parameter is called `np`"):
        pb.compile(named, "np: float")

    def helper(x, scale, unbroadcast):
        return np.sum(np.sqrt(x) * scale + unbroadcast)

    _, bars = function(helper, "x: f8[:, :], scale: f8[:], unbroadcast: f8[:]", argnums=(0, 1))(
        np.array([[0.0, 4.0]]), np.zeros(2), np.zeros(2)
    )
    np.testing.assert_array_equal(bars[0], [[0.0, 0.0]])
    np.testing.assert_array_equal(bars[1], [0.0, 2.0])


# ------------------------------------------------------------------------------------------------- from outside


def test_numbers_from_outside_are_baked() -> None:
    def outside(x):
        return (
            np.sum(x * TABLE[0]) * MIXED["a"][1] * MIXED[3]
            + COLUMNS[1, 2] * x[0]
            + SETTINGS.deep["w"][2] * x[1]
        )

    made = pb.compile(outside, "x: f8[:]")
    m = made.load()
    assert m.TABLE.tobytes() == TABLE.tobytes() and m.TABLE.dtype == TABLE.dtype
    assert not m.TABLE.flags.writeable
    assert repr(m.MIXED) == repr(MIXED)
    assert m.COLUMNS.flags.f_contiguous and np.array_equal(m.COLUMNS, COLUMNS)
    x = np.array([0.5, -1.0])
    value, x_bar = m.outside_value_and_grad(x)
    expected, expected_bar = pb.value_and_grad(outside)(x)
    assert value == expected and x_bar.tobytes() == expected_bar.tobytes()
    assert "TABLE: `TABLE` of `outside`" in made.source


def test_structures_from_outside_are_baked() -> None:
    def over_all(x):
        total = 0.0
        for each in CHAIN:
            total = total + np.sum(each.deep["w"] * x) * each.rate
        return total

    m = load(over_all, "x: f8[:]")
    value, x_bar = m.over_all_value_and_grad(np.ones(3))
    assert value == 18.0 and x_bar.tolist() == [0.0, 6.0, 12.0]
    assert not m.CHAIN[1].deep["w"].flags.writeable


def test_baked_values_stay_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    fn = function(loss, SIGNATURE)
    before = fn(W, X, Y)[0]
    monkeypatch.setitem(loss.__globals__, "RATE", 100.0)
    assert fn(W, X, Y)[0] == before


def test_an_integer_needed_when_compiling() -> None:
    def along(x):
        return np.sum(np.sum(x, axis=LENGTH - 1) ** 2)

    assert function(along, "x: f8[:, :]")(np.ones((2, 3)))[0] == 18.0

    def ranks(x, k):
        return np.sum(x.reshape((1,) * k + x.shape) ** 2)

    with pytest.raises(pb.SignatureError, match="needs the value of the int `k`") as caught:
        pb.compile(ranks, "x: f8[:, :], k: int")
    assert caught.value.hint == 'write the value in the signature: "k: 3"'
    assert function(ranks, "x: f8[:, :], k: 1")(np.ones((2, 3)), 1)[0] == 6.0


def test_what_cannot_be_baked_is_refused() -> None:
    def large(x):
        return np.sum(x * LARGE)

    with pytest.raises(pb.UnsupportedError, match="`LARGE` is an array of 5000 items") as caught:
        pb.compile(large, "x: f8[:]")
    assert caught.value.loc.text.strip() == "return np.sum(x * LARGE)"
    assert caught.value.hint == "pass it to `large` as an argument"
    wide = np.arange(3, dtype=np.longdouble)

    def long(x):
        return np.sum(x * wide)

    with pytest.raises(pb.UnsupportedError, match="no exact literal"):
        pb.compile(long, "x: f8[:]")


def test_functions_that_are_imported() -> None:
    def special(x, n):
        return np.sum(x) * gammaln(n)

    made = pb.compile(special, "x: f8[:], n: float")
    assert "from scipy.special import gammaln" in made.source
    assert made.load().special_value_and_grad(np.ones(2), 3.0)[0] == 2 * gammaln(3.0)


def test_functions_without_a_name_in_a_module_are_refused() -> None:
    def inner(x):
        return np.sum(x**3)

    @pb.opaque(inner)
    def rule(x):
        return np.sum(x**3), lambda bar: bar * 3 * x**2

    def outer(x):
        return inner(x) * 2

    with pytest.raises(pb.UnsupportedError, match="no module has it under a name") as caught:
        pb.compile(outer, "x: f8[:]")
    assert "define it at the top of a module" in caught.value.hint

    @dataclass
    class Local:
        w: Any

    def local(p):
        return np.sum(p.w)

    example = (Local(np.ones(2)),)
    with pytest.raises(pb.PullbackError, match="Local"):
        pb.compile(local, example=example)


def test_bound_arguments_are_refused() -> None:
    class Model:
        def energy(self, x):
            return np.sum(x * x)

    with pytest.raises(pb.PullbackError):
        pb.compile(Model().energy, "x: f8[:]")


USERS = """
    from __future__ import annotations

    from dataclasses import dataclass
    from typing import NamedTuple

    import enum
    import logging
    import random
    import warnings

    import numpy as np

    LOG = logging.getLogger("users_model")
    MODE = "fast"
    FACTOR = 2.0


    class Speed(enum.Enum):
        FAST = 1


    SPEED = Speed.FAST


    @dataclass
    class Params:
        w: np.ndarray
        b: float


    class Pair(NamedTuple):
        a: float
        b: float


    def helper(x):
        if len(x) < 2:
            return np.sqrt(x[0]) * FACTOR
        return helper(x[1:]) * x[0]


    def first(x):
        return helper(x) * helper(x * FACTOR)


    def second(x, FACTOR):
        return helper(x) - helper(x) * FACTOR


    def layer(p: Params, x):
        return np.sum(np.tanh(x @ p.w) * p.b)


    def moved(p: Params):
        return Params(p.w * p.b, p.b)


    def pair(p: Pair):
        return p.a * p.b**2


    class NegativeError(ValueError):
        pass


    def careful(x, n):
        LOG.info("n is %s", n)
        warnings.warn("careful")
        if n < 0:
            raise NegativeError(f"n is {n}, it's \\"{MODE}\\" \\\\ {n:>{4}}")
        if n > 3:
            if MODE == "fast" and SPEED is Speed.FAST:
                x = -(x**2) ** n
        return np.sum(x[1 : n + 1] ** -2 + x[-n:] ** 2.0) * random.random() ** 0.0


    def long_names(alpha_parameter, beta_parameter, gamma_parameter, delta_parameter, epsilon_parameter):
        first = np.sum(alpha_parameter * beta_parameter * gamma_parameter * delta_parameter * epsilon_parameter)
        for _ in range(2):
            for _ in range(2):
                for _ in range(2):
                    if first < 1e30:
                        first = first + np.sum(np.concatenate([alpha_parameter, beta_parameter, gamma_parameter]))
        return first
"""


@pytest.fixture
def users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of the user's that can be imported."""
    (tmp_path / "users_model.py").write_text(textwrap.dedent(USERS))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "users_model", raising=False)
    return __import__("users_model")


def test_classes_of_the_users(users: ModuleType) -> None:
    made = pb.compile(users.layer, "p: Params(w: f8[n], b: float), x: f8[:, n]")
    assert "from users_model import Params" in made.source and "imports NumPy and users_model" in made.source
    p, x = users.Params(np.ones(2), 2.0), np.ones((3, 2))
    value, bar = made.load().layer_value_and_grad(p, x)
    expected, expected_bar = pb.value_and_grad(users.layer)(p, x)
    assert value == expected and type(bar) is users.Params
    assert bar.b == expected_bar.b and np.array_equal(bar.w, expected_bar.w)
    with pytest.raises(TypeError, match=r"compiled for p\.b: float, got int"):
        made.load().layer_value_and_grad(users.Params(np.ones(2), 2), x)
    with pytest.raises(TypeError, match="got dict"):
        made.load().layer_value_and_grad({"w": np.ones(2), "b": 2.0}, x)
    m = pb.compile(users.moved, "p: Params(w: f8[n], b: float)", forms="vjp").load()
    value, pull = m.moved_vjp(users.Params(np.ones(2), 2.0))
    assert value.w.tolist() == [2.0, 2.0]
    bar = pull(users.Params(np.array([1, 2]), 0))  # converted, as the value's own leaves are
    assert type(bar) is users.Params and bar.w.tolist() == [2.0, 4.0] and bar.b == 3.0
    for wrong in ({"w": np.ones(2), "b": 0.0}, users.Params(np.ones(3), 0.0)):
        with pytest.raises((TypeError, ValueError), match="the cotangent"):
            pull(wrong)
    fn = function(users.pair, "p: Pair(a: float, b: float)")
    assert fn(users.Pair(2, 3.0)) == (18.0, users.Pair(9.0, 12.0))


def test_objects_of_the_users(users: ModuleType, tmp_path: Path) -> None:
    made = pb.compile(users.careful, "x: f8[:], n: int", forms=("value_and_grad", "vjp"))
    assert (
        "from users_model import LOG" in made.source
        and "from users_model import NegativeError" in made.source
    )
    assert "`MODE` of `careful`: 'fast'" in made.source
    fn, x = made.load().careful_value_and_grad, np.array([0.5, 2.0, 4.0])
    with pytest.warns(UserWarning, match="careful"):
        value, bar = fn(x, 2)
    with pytest.warns(UserWarning):
        expected, expected_bar = pb.value_and_grad(users.careful)(x, 2)
    assert value == expected and bar.tobytes() == expected_bar.tobytes()
    with pytest.warns(UserWarning), pytest.raises(users.NegativeError, match=r"n is -1, it's \"fast\""):
        fn(x, -1)
    names = "alpha", "beta", "gamma", "delta", "epsilon"
    sig = ", ".join(f"{n}_parameter: f8[n]" for n in names)
    long = pb.compile(users.long_names, sig, argnums=None, forms=("vjp", "pair"))
    made.write(tmp_path / "careful.py")
    long.write(tmp_path / "long.py")
    (tmp_path / "users_model.py").unlink()
    for command in (["check"], ["format", "--check"], ["format", "--check", "--line-length=110"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--isolated", "."]
        run = subprocess.run(ruff, cwd=tmp_path, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr


# ----------------------------------------------------------------------------------------------- several in one


def test_several_functions_in_one_module(users: ModuleType) -> None:
    made = pb.compile([(users.first, "x: f8[n]"), (users.second, "x: f8[n], FACTOR: float")])
    assert made.names == ("first_value_and_grad", "second_value_and_grad")
    for name in ("_helper_primal(", "_helper_pullback(", "_helper_pullback_guarded(", "scale(", "_is_array("):
        assert made.source.count(f"def {name}") == 1
    m, x = made.load(), np.array([0.5, -1.0, 2.0])
    for name, args in (("first", (x,)), ("second", (x, 3.0))):
        value, bar = getattr(m, f"{name}_value_and_grad")(*args)
        expected, expected_bar = pb.value_and_grad(getattr(users, name))(*args)
        assert value == expected and bar.tobytes() == expected_bar.tobytes()


def test_names_clash_or_get_a_label() -> None:
    def one() -> Callable[..., Any]:
        def f(x):
            return x * 2.0

        return f

    def two() -> Callable[..., Any]:
        def f(x):
            return x * 3.0

        return f

    with pytest.raises(pb.ArgumentError, match="would be called `f_value_and_grad`"):
        pb.compile([(one(), "x: float"), (two(), "x: float")])
    from pullback.aot.declared import from_text

    made = pb.compile([(one(), "x: float"), Entry(two(), from_text(two(), "x: float"), label="g")]).load()
    assert made.f_value_and_grad(1.0) == (2.0, 2.0) and made.g_value_and_grad(1.0) == (3.0, 3.0)


def test_the_same_bytes_in_another_process(users: ModuleType, tmp_path: Path) -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import pullback as pb, users_model as u\n"
        "made = pb.compile([(u.first, 'x: f8[n]'), (u.second, 'x: f8[n], FACTOR: float')], forms=('pair', 'grad'))\n"
        "sys.stdout.write(made.source)"
    )
    path = str(Path(pb.__file__).parent.parent)
    texts = set()
    for seed, cwd in (("1", tmp_path), ("2", Path(path))):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
        command = [sys.executable, "-c", script, str(tmp_path)]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=cwd)
        assert run.returncode == 0, run.stderr
        texts.add(run.stdout)
    made = pb.compile(
        [(users.first, "x: f8[n]"), (users.second, "x: f8[n], FACTOR: float")], forms=("pair", "grad")
    )
    assert texts == {made.source}
    assert str(tmp_path) not in made.source


# ---------------------------------------------------------------------------------------------------- the module


def test_it_runs_with_numpy_alone(tmp_path: Path) -> None:
    made = pb.compile(loss, SIGNATURE, forms=("value_and_grad", "vjp"))
    made.write(tmp_path / "loss_grad.py")
    script = (
        "import sys\n"
        "sys.modules['pullback'] = sys.modules['astor'] = None\n"
        "import numpy as np, loss_grad\n"
        "value, bar = loss_grad.loss_value_and_grad(np.array([0.5, -1.0]), np.ones((3, 2)), np.zeros(3))\n"
        "print(value.hex(), bar.tobytes().hex())"
    )
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    run = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, cwd=tmp_path
    )
    assert run.returncode == 0, run.stderr
    value, bar = pb.value_and_grad(loss)(W, np.ones((3, 2)), np.zeros(3))
    assert run.stdout.split() == [value.hex(), bar.tobytes().hex()]


def test_writing(tmp_path: Path) -> None:
    made, path = pb.compile(loss, SIGNATURE), tmp_path / "loss_grad.py"
    assert not made.is_current(path)
    made.write(path)
    assert made.is_current(path) and path.read_text() == made.source
    path.write_text(made.source + "\n")
    assert not made.is_current(path)
    path.chmod(0o640)
    made.write(str(path))
    assert made.is_current(path) and path.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in tmp_path.iterdir()] == ["loss_grad.py"]


def test_a_path_that_cannot_be_written(tmp_path: Path) -> None:
    made = pb.compile(loss, SIGNATURE)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("kept")
    for name in ("missing/loss_grad.py", "folder", "file/loss_grad.py"):
        with pytest.raises(pb.ArgumentError, match="cannot write") as caught:
            made.write(tmp_path / name)
        assert caught.value.hint and len(str(caught.value).splitlines()) == 2
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["file", "folder"]


def test_modules_are_pickled() -> None:
    made = pb.compile(loss, SIGNATURE)
    again = pickle.loads(pickle.dumps(made))
    assert (
        again == made
        and again.load().loss_value_and_grad(W, X, Y)[0] == made.load().loss_value_and_grad(W, X, Y)[0]
    )


def test_signatures_by_annotation_and_by_example() -> None:
    def annotated(x: pb.f8, c: float = 2.0):  # type: ignore[name-defined]
        return x * c

    annotated.__annotations__["x"] = "f8[:]"
    assert pb.compile(annotated, forms="vjp").load().annotated_vjp(np.ones(2))[0].sum() == 4.0
    fn = function(loss, None, example=(W, X, Y))  # type: ignore[arg-type]
    assert fn(W, X, Y)[0] == pb.value_and_grad(loss)(W, X, Y)[0]
    with pytest.raises(pb.ArgumentError, match="both"):
        pb.compile(loss, SIGNATURE, example=(W, X, Y))
    with pytest.raises(pb.ArgumentError, match="there is no form 'hessian'"):
        pb.compile(loss, SIGNATURE, forms=("hessian",))
    with pytest.raises(pb.ArgumentError, match="no gradient"):
        pb.compile(loss, SIGNATURE.replace("scale: float", "scale: int"), argnums="scale")


def test_the_header_says_what_made_it() -> None:
    source = pb.compile(loss, SIGNATURE).source
    head = ast.get_docstring(ast.parse(source)) or ""
    assert f"pullback {pb.__version__}" in head and "`loss` (test_public.py)" in head
    assert 'pullback.compile(loss, "w: f8[n], x: f8[k, n], y: f8[k], scale: float")' in head
    assert "RATE: `RATE` of `loss`" in head and "It needs NumPy alone." in head
    assert "import pullback" not in source and "from pullback" not in source
    assert "# test_public.py:" in source


def test_types_are_checked_strictly(tmp_path: Path, users: ModuleType) -> None:
    api = pytest.importorskip("mypy.api", reason="mypy is a tool of developers: the extra `dev` has it")

    def nested(p, z):
        return np.sum(p["w"][0] * p["b"]) + np.sum(np.abs(z)), {"n": len(z)}

    forms = ("value_and_grad", "grad", "pair", "vjp")
    entries = [(loss, SIGNATURE), (users.layer, "p: Params(w: f8[n], b: float), x: f8[:, n]")]
    pb.compile(entries, forms=forms).write(tmp_path / "made.py")
    sig = "p: {'w': (f8[n], int), 'b': float}, z: c16[:]"
    pb.compile(nested, sig, has_aux=True, forms=forms, argnums=(0, 1)).write(tmp_path / "nested.py")
    files = [str(tmp_path / name) for name in ("made.py", "nested.py")]
    cache = str(tmp_path / "cache")
    out, err, code = api.run(["--strict", "--follow-imports=silent", "--cache-dir", cache, *files])
    assert code == 0, out + err
