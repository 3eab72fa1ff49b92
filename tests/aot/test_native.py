"""Modules with C beside them: the library serves where it can, NumPy else; the C files stand alone."""

from __future__ import annotations

import copy
import ctypes
import os
import shutil
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.aot.test_corpus import PROGRAMS, is_scalar, ruff
from tests.native.against import agree

import pullback as pb
from programs import Program
from pullback.aot.c_api import c_module
from pullback.aot.declared import Declared, from_text
from pullback.aot.entries import Entry
from pullback.aot.module import Module, make
from pullback.aot.shared import Build, file_name
from pullback.backend.native import toolchain
from pullback.errors import NativeError, NoCompiler
from pullback.frontend.signature import bind, signature_of

try:
    toolchain.find()
except NoCompiler:
    pytest.skip("no C compiler", allow_module_level=True)

RATE = 0.5
SIG = "w: f8[n], x: f8[k, n], y: f8[k], factor: float"


def loss(w, x, y, factor=2.0):
    r = np.tanh(x @ w) - y
    return RATE * factor * np.sum(r * r) / len(y)


def gradient(w: Any, x: Any, y: Any, factor: float) -> tuple[Any, Any]:
    """In closed form."""
    t = np.tanh(x @ w)
    return RATE * factor * np.sum((t - y) ** 2) / len(y), 2 * RATE * factor / len(y) * x.T @ (
        (t - y) * (1 - t * t)
    )


def numbers(n: int, k: int) -> tuple[Any, ...]:
    """The arguments of the C example."""
    return tuple(0.1 * np.arange(1, count + 1.0) for count in (n, n * k, k))


@pytest.fixture(autouse=True)
def target(monkeypatch: pytest.MonkeyPatch) -> None:
    """No target is pinned."""
    monkeypatch.delenv("PULLBACK_TARGET", raising=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a module."""
    place = tmp_path_factory.mktemp("made")
    pb.compile(loss, SIG, native=True).write(place / "loss_grad.py")
    return place


def bare(folder: Path, code: str, **environment: str) -> str:
    """What a Python prints that has NumPy, and no pullback."""
    there = str(Path(np.__file__).parent.parent)
    text = f"import sys; sys.path[:0] = [{str(folder)!r}, {there!r}]\n{code}\nassert 'pullback' not in sys.modules"
    held = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PULLBACK_TARGET")}
    command = [sys.executable, "-I", "-S", "-c", text]
    done = subprocess.run(command, env=held | environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


CALL = """\
import numpy as np, loss_grad
w, x, y = 0.1 * np.arange(1, 4.0), 0.1 * np.arange(1, 13.0).reshape(4, 3), 0.1 * np.arange(1, 5.0)
value, w_bar = loss_grad.loss_value_and_grad(w, x, y, 0.5)
print(repr(float(value)), *map(float, w_bar))
print(loss_grad.native_status())
"""


def assert_right(line: str) -> None:
    """The numbers are the gradient."""
    w, x, y = numbers(3, 4)
    value, w_bar = gradient(w, x.reshape(4, 3), y, 0.5)
    np.testing.assert_allclose([float(t) for t in line.split()], [value, *w_bar], rtol=1e-13)


def test_the_library_serves_without_pullback(folder: Path) -> None:
    numbers, status = bare(folder, CALL).splitlines()
    assert_right(numbers)
    assert status == str(next(folder.glob("libloss_grad.*")))


def test_numpy_serves_where_it_is_pinned(folder: Path) -> None:
    numbers, status = bare(folder, CALL, PULLBACK_TARGET="numpy").splitlines()
    assert_right(numbers)
    assert status == "NumPy: PULLBACK_TARGET=numpy"


def test_the_example_in_c(folder: Path, tmp_path: Path) -> None:
    command = [*toolchain.find().command, "-O1", "-Wall", "-Wextra", "-Werror"]
    files = [str(folder / name) for name in ("loss_grad_example.c", "loss_grad.c")]
    subprocess.run([*command, *files, "-o", str(tmp_path / "example"), "-lm"], check=True)
    out = subprocess.run([tmp_path / "example"], capture_output=True, text=True, check=True).stdout
    assert_right(" ".join(line.split(" = ")[1] for line in out.splitlines()))


def test_all_files_are_compared(folder: Path) -> None:
    module = pb.compile(loss, SIG, native=True)
    assert module.is_current(folder / "loss_grad.py")
    for name in ("loss_grad.c", "loss_grad.h", "loss_grad_example.c", "libloss_grad.so"):
        path = folder / name
        data = path.read_bytes()
        path.write_bytes(data[:100])
        assert not module.is_current(folder / "loss_grad.py"), name
        path.write_bytes(data)


def test_texts_are_the_same_each_time() -> None:
    first, second = (pb.compile(loss, SIG, native=True) for _ in range(2))
    assert isinstance(first, Module) and first.c is not None and second.c is not None
    assert first.source == second.source and first.c.texts("m") == second.c.texts("m")
    assert c_module([Entry(loss, from_text(loss, SIG))], "").names == ("loss_value_and_grad",)


def test_linters_and_formatters_are_content(folder: Path) -> None:
    assert not ruff("check", "--isolated", cwd=folder)
    for width in ("88", "110"):
        assert not ruff("format", "--isolated", "--check", "--line-length", width, cwd=folder)


# ----------------------------------------------------------------------------------- libraries that cannot be used


def library(folder: Path) -> Path:
    """The library in a folder."""
    (found,) = (p for p in folder.iterdir() if p.suffix in (".so", ".dylib", ".dll"))
    return found


def cut_off(path: Path) -> None:
    """As it is where a copy was interrupted."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 3 // 4])


def garbage(path: Path) -> None:
    """A file of something else."""
    path.write_bytes(b"not a library")


def of_another_system(path: Path) -> None:
    """A file that is of this text, and no library here."""
    digest = pb.compile(loss, SIG, native=True).c.digest  # type: ignore[union-attr]
    path.write_bytes(b"MZ" + digest.encode() + bytes(1000))


def of_another_text(path: Path) -> None:
    """The library of another function."""
    pb.compile(cube, "x: f8[:]", native=True, cflags="-O0").write(path.parent / "cube_grad.py")
    shutil.copy(path.with_name(path.name.replace("loss", "cube")), path)


def of_another_cpu(path: Path) -> None:
    """A library that tells that this CPU lacks something."""
    source = path.parent / "loss_grad.c"
    source.write_text(
        source.read_text().replace("    return pb_cpu_fits();", "    (void)pb_cpu_fits; return 0;")
    )
    command = [*toolchain.find().command, "-w", "-O0", *toolchain.SHARED]
    subprocess.run([*command, str(source), "-o", str(path), "-lm"], check=True)


def cube(x):
    return np.sum(x**3)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (Path.unlink, "No such file"),
        (cut_off, "cut off" if sys.platform == "linux" else ""),
        (garbage, "was not built from the C text of this module"),
        (of_another_text, "was not built from the C text of this module"),
        (of_another_system, "cannot be loaded"),
        (of_another_cpu, "was compiled for another CPU"),
    ],
)
def test_numpy_serves_where_the_library_cannot(folder: Path, tmp_path: Path, spoil: Any, why: str) -> None:
    copied = Path(shutil.copytree(folder, tmp_path / "copied"))
    spoil(library(copied))
    numbers, status = bare(copied, CALL).splitlines()
    assert_right(numbers)
    assert status.startswith("NumPy: ") and why in status
    insisting = CALL.replace("value, w_bar", "try: value, w_bar").split("print(")[0] + (
        "except RuntimeError as error: print(error)"
    )
    assert "PULLBACK_TARGET=native, but" in bare(copied, insisting, PULLBACK_TARGET="native")


# ------------------------------------------------------------------------------------------------- what calls give


def both(f: Any, sig: str, **options: Any) -> tuple[Any, Any]:
    """A module whose library serves, and a NumPy one."""
    made = pb.compile(f, sig, native=True, cflags="-O0", **options)
    assert made.c is not None and not made.c.natives.left, [x.said for x in made.c.natives.left]
    loaded = made.load()
    assert not loaded._LIBRARY.why, loaded.native_status()
    return loaded, pb.compile(f, sig, **options).load()


def served(loaded: Any, name: str, *args: Any) -> tuple[Any, bool]:
    """What a function gives, and whether the library gave it."""
    given: list[Any] = []
    run = type(loaded._LIBRARY).run
    loaded._LIBRARY.run = lambda *a: given.append(run(loaded._LIBRARY, *a)) or given[-1]
    return getattr(loaded, name)(*args), given[-1] is not None


def item(x, i):
    return x[i] * x[0] if i != 7 else np.sum(x) ** 2


def test_errors_are_those_of_numpy() -> None:
    module, plain = both(item, "x: f8[:], i: int")
    x = np.arange(1.0, 5.0)
    value, by_library = served(module, "item_value_and_grad", x, 2)
    assert by_library and value[0] == 3.0 and list(value[1]) == [3.0, 0.0, 1.0, 0.0]
    for call in ((x, 9), (x, 2**70), (x.astype("f4"), 1), (x[None], 1), ([1.0], 0)):
        with pytest.raises(Exception) as found:
            module.item_value_and_grad(*call)
        with pytest.raises(Exception) as expected:
            plain.item_value_and_grad(*call)
        assert type(found.value) is type(expected.value) and str(found.value) == str(expected.value)


def test_arrays_of_any_layout() -> None:
    module, plain = both(loss, SIG, argnums=(0, 1))
    w, x, y = np.array([0.5, -1.0, 2.0]), np.arange(12.0).reshape(4, 3) / 7, np.ones(4)
    odd = np.frombuffer(b"x" + w.tobytes(), "f8", offset=1)
    for args in ((w, x, y), (w[::-1], x[::-1], y), (w, np.asfortranarray(x), y[::-1]), (odd, x, y)):
        (value, bars), by_library = served(module, "loss_value_and_grad", *args, 2.0)
        assert by_library == (args[0] is not odd)
        expected, expected_bars = plain.loss_value_and_grad(*args, 2.0)
        np.testing.assert_allclose(value, expected, rtol=1e-13)
        for bar, other in zip(bars, expected_bars, strict=True):
            np.testing.assert_allclose(bar, other, rtol=1e-12, atol=1e-14)
            assert bar.flags.writeable and bar.dtype == other.dtype


def test_numpy_serves_where_its_errors_are_asked_for() -> None:
    module, _ = both(loss, SIG)
    args = (np.ones(2), np.ones((3, 2)), np.ones(3), 1.0)
    with np.errstate(divide="raise"):
        assert not served(module, "loss_value_and_grad", *args)[1]
    assert served(module, "loss_value_and_grad", *args)[1]


class Weights(NamedTuple):
    a: Any
    b: Any


def structured(p, q, flags, z, k=3):
    total = np.sum(p.a * q["scale"]) + p.b * k
    for i in range(k):
        total = total + np.sum(np.where(flags, p.a, 0.0)) * i
    return total + np.sum(np.abs(z) ** 2), (p.a * 2, k)


STRUCTURED = "p: Weights(a: f8[n], b: float), q: {'scale': f4[n]}, flags: b1[n], z: c16[:], k: int"


def test_structures_dtypes_and_what_is_returned_beside() -> None:
    module, plain = both(
        structured, STRUCTURED, argnums=(0, 1, 3), has_aux=True, forms=("value_and_grad", "grad")
    )
    a, scale = np.array([1.0, -2.0, 3.0]), np.array([0.5, 1.5, 2.5], "f4")
    args = (Weights(a, 0.5), {"scale": scale}, np.array([True, False, True]), np.array([1 + 2j, 3 - 1j]), 3)
    for form in ("value_and_grad", "grad"):
        got, by_library = served(module, f"structured_{form}", *args)
        assert by_library
        assert repr(got) == repr(getattr(plain, f"structured_{form}")(*args))


def test_many_threads_at_once(folder: Path) -> None:
    module, _ = both(loss, SIG)
    rng = np.random.default_rng(0)
    calls = [(rng.normal(size=n), rng.normal(size=(200, n)), rng.normal(size=200), 1.0) for n in range(1, 41)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda args: module.loss_value_and_grad(*args), calls * 5))
    for (value, w_bar), args in zip(found, calls * 5, strict=True):
        expected, expected_bar = gradient(*args)
        np.testing.assert_allclose(value, expected, rtol=1e-12)
        np.testing.assert_allclose(w_bar, expected_bar, rtol=1e-10, atol=1e-13)


def large(a, b):
    return np.sum((a @ b) ** 2)


def solved(a, b):
    return np.sum(np.linalg.solve(a, b) ** 2)


def test_what_numpy_does_for_the_library() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(120, 90)), rng.normal(size=(90, 70))
    module, _ = both(large, "a: f8[n, k], b: f8[k, m]", argnums=(0, 1))
    (value, (a_bar, b_bar)), by_library = served(module, "large_value_and_grad", a, b)
    assert by_library
    np.testing.assert_allclose(value, np.sum((a @ b) ** 2), rtol=1e-12)
    np.testing.assert_allclose(a_bar, 2 * (a @ b) @ b.T, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(b_bar, a.T @ (2 * (a @ b)), rtol=1e-9, atol=1e-9)
    module, plain = both(solved, "a: f8[n, n], b: f8[n]", argnums=(0, 1))
    a, b = a[:5, :5], b[:5, 0]
    (value, bars), by_library = served(module, "solved_value_and_grad", a, b)
    expected, expected_bars = plain.solved_value_and_grad(a, b)
    assert by_library
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    np.testing.assert_allclose(bars[0], expected_bars[0], rtol=1e-10)
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        module.solved_value_and_grad(np.zeros((2, 2)), np.ones(2))


def test_what_needs_numpy_is_not_in_the_header() -> None:
    files = pb.compile(solved, "a: f8[n, n], b: f8[n]", native=True).c.texts("m")  # type: ignore[union-attr]
    assert "solved_value_and_grad" not in files["m.h"] and "m_example.c" not in files
    assert "The gradient of solved needs NumPy (`np.linalg.solve`, test_native.py:" in files["m.h"]
    with pytest.raises(
        NativeError, match=r"test_native.py:\d+: C alone does not take `np.linalg.solve`"
    ) as found:
        c_module([Entry(solved, from_text(solved, "a: f8[n, n], b: f8[n]"))], "")
    assert "--native" in str(found.value)


def printing(x):
    print(x[0])
    return np.sum(x * x)


def test_what_c_does_not_take_is_numpys() -> None:
    made = pb.compile([(printing, "x: f8[:]"), (cube, "x: f8[:]")], native=True, cflags="-O0")
    assert made.c is not None
    (left,) = made.c.natives.left
    assert "more than compute" in left.said and "test_native.py" in left.said
    assert "Left to NumPy: " in made.source
    loaded = made.load()
    assert loaded.printing_value_and_grad(np.ones(2))[0] == 2.0
    assert served(loaded, "cube_value_and_grad", np.ones(2))[1]


# ------------------------------------------------------------------------------------------------ C, called from C


class Error(ctypes.Structure):
    """`pb_error`."""

    _fields_ = (
        *(("code", ctypes.c_int32), ("line", ctypes.c_int32), ("file", ctypes.c_char_p)),
        *(("function", ctypes.c_char_p), ("text", ctypes.c_char_p), ("message", ctypes.c_char * 200)),
    )


def compiled(folder: Path, f: Any, sig: str, *flags: str, **options: Any) -> ctypes.CDLL:
    """C alone, as a library."""
    c_module([Entry(f, from_text(f, sig), **options)], "").write(folder / "m.c")
    command = [*toolchain.find().command, "-O0", "-Wall", "-Wextra", "-Werror", *toolchain.SHARED, *flags]
    subprocess.run([*command, "m.c", "-o", "m.so", "-lm"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "m.so"))


def at(array: Any) -> Any:
    """Where an array is."""
    return ctypes.c_void_p(array.ctypes.data)


def test_errors_in_c_tell_the_place(tmp_path: Path) -> None:
    call = compiled(tmp_path, item, "x: f8[n], i: int").item_value_and_grad
    x, bar, value, error = np.arange(1.0, 5.0), np.full(4, 7.0), ctypes.c_double(7.0), Error()
    arguments = lambda n, i: (ctypes.c_int64(n), at(x), ctypes.c_int64(i), ctypes.byref(value), at(bar))  # noqa: E731
    assert call(*arguments(4, 9), ctypes.byref(error)) == error.code == 1  # IndexError
    line = item.__code__.co_firstlineno + 1
    assert (error.file, error.line, error.function) == (b"test_native.py", line, b"item")
    assert b"out of bounds" in error.message and error.text.startswith(b"return x[i] * x[0]")
    assert value.value == 7.0 and list(bar) == [7.0] * 4
    assert call(*arguments(-1, 0), None) == 2  # ValueError; nobody wants to know more
    assert call(*arguments(4, -1), ctypes.byref(error)) == 0
    assert value.value == 4.0 and list(bar) == [4.0, 0.0, 0.0, 1.0]
    assert call(ctypes.c_int64(4), at(x), ctypes.c_int64(1), None, None, None) == 0  # no result is wanted


def test_results_of_any_length_are_made(tmp_path: Path) -> None:
    library = compiled(tmp_path, with_aux, "x: f8[n], c: c16, k: int", has_aux=True, argnums=(0, 1))
    x, bar, value = np.arange(1.0, 5.0), np.zeros(4), ctypes.c_double()
    made, lengths = ctypes.POINTER(ctypes.c_double)(), (ctypes.c_int64 * 2)()
    c_bar, c = (ctypes.c_double * 2)(), (ctypes.c_double * 2)(1.0, 2.0)

    class Complex(ctypes.Structure):
        _fields_ = (("re", ctypes.c_double), ("im", ctypes.c_double))

    done = library.with_aux_value_and_grad(
        *(ctypes.c_int64(4), at(x), Complex(*c), ctypes.c_int64(3), ctypes.byref(value)),
        *(ctypes.byref(made), lengths, at(bar), c_bar, None),
    )
    assert done == 0 and value.value == 30.0 * RATE + 5.0
    assert list(lengths) == [3, 4] and made[:12] == list(x) * 3
    np.testing.assert_array_equal(bar, 2 * RATE * x)
    assert list(c_bar) == [2.0, 4.0]
    library.with_aux_free(made)


def with_aux(x, c, k):
    rows = np.zeros((k, len(x)))
    rows[:] = x
    return RATE * np.sum(x * x) + np.abs(c) ** 2, rows


CBLAS_H = """
enum { CblasRowMajor = 101, CblasNoTrans = 111, CblasTrans = 112 };
static int calls;
static void cblas_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a, int la,
                        const double *b, int lb, double beta, double *c, int lc) {
    calls++;
    (void)order;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int p = 0; p < k; p++)
                sum += (ta == CblasTrans ? a[p * la + i] : a[i * la + p]) *
                       (tb == CblasTrans ? b[j * lb + p] : b[p * lb + j]);
            c[i * lc + j] = alpha * sum + (beta == 0 ? 0 : beta * c[i * lc + j]);
        }
}
#define cblas_sgemm(...) ((void)0)
__attribute__((visibility("default"))) int count_calls(void);
int count_calls(void) { return calls; }
"""


def test_products_by_a_blas(tmp_path: Path) -> None:
    (tmp_path / "cblas.h").write_text(CBLAS_H)
    flags = ("-DPB_CBLAS", "-I.", "-Wno-unused-parameter", "-Wno-unused-variable", "-Wno-unused-value")
    library = compiled(tmp_path, large, "a: f8[n, k], b: f8[k, m]", *flags, argnums=(0, 1))
    rng = np.random.default_rng(0)
    a, b, value = rng.normal(size=(60, 50)), rng.normal(size=(50, 70)), ctypes.c_double()
    a_bar, b_bar = np.zeros_like(a), np.zeros_like(b)
    lengths = [ctypes.c_int64(n) for n in (60, 50, 70)]
    assert (
        library.large_value_and_grad(*lengths, at(a), at(b), ctypes.byref(value), at(a_bar), at(b_bar), None)
        == 0
    )
    assert library.count_calls() == 3
    np.testing.assert_allclose(a_bar, 2 * (a @ b) @ b.T, rtol=1e-10)
    np.testing.assert_allclose(b_bar, a.T @ (2 * (a @ b)), rtol=1e-10)


@pytest.mark.skipif(find_spec("ziglang") is None, reason="the package ziglang is not installed")
def test_zig_compiles_the_example(folder: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "ziglang",
        "cc",
        "-fno-sanitize=all",
        "-mcpu=baseline",
        "-O1",
        "-Wall",
        "-Wextra",
    ]
    files = [str(folder / name) for name in ("loss_grad_example.c", "loss_grad.c")]
    subprocess.run([*command, *files, "-o", str(tmp_path / "example"), "-lm"], check=True)
    out = subprocess.run([tmp_path / "example"], capture_output=True, text=True, check=True).stdout
    assert_right(" ".join(line.split(" = ")[1] for line in out.splitlines()))


# ------------------------------------------------------------------------------------------------------ the corpus


SAMPLE = [p for p in PROGRAMS if is_scalar(p.fn(*copy.deepcopy(p.args)))][::41]


def built(program: Program, folder: Path) -> Any:
    """A program's module with its library: the C, and the example, compile without a warning.  None: C takes it not."""
    fn = pb.differentiable(program.fn)
    gradient = fn.gradient(program.wrt)
    variant, _ = gradient.find(gradient.bind(copy.deepcopy(program.args), {}))
    static = variant.compiled.lowered.environment.static_params
    declared = Declared(signature_of(bind(program.fn, program.args, {}), static), "", {}, {})
    made = make([Entry(fn, declared, program.wrt)], "test", native=Build())
    assert made.c is not None
    if made.c.natives.left:
        return None
    texts = made.c.texts("m")
    for name, text in texts.items():
        (folder / name).write_text(text)
    command = [*toolchain.find().command, "-O0", "-Wall", "-Wextra", "-Werror"]
    target = folder / file_name("m")
    subprocess.run([*command, *toolchain.SHARED, "m.c", "-o", target, "-lm"], cwd=folder, check=True)
    if "m_example.c" in texts:
        subprocess.run([*command, "-fsyntax-only", "m_example.c"], cwd=folder, check=True)
    names: dict[str, Any] = {"__name__": "m", "__file__": str(folder / "m.py")}
    exec(compile(made.source, "m.py", "exec"), names)
    return names[f"{program.fn.__name__}_value_and_grad"], names["_LIBRARY"]


@pytest.mark.parametrize("program", SAMPLE, ids=lambda p: p.name)
def test_corpus(program: Program, tmp_path: Path) -> None:
    found = built(program, tmp_path)
    if found is None:
        pytest.skip("C does not take it")
    call, library = found
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = call(*copy.deepcopy(program.args))
        wanted = pb.differentiable(program.fn).value_and_grad(
            *copy.deepcopy(program.args), argnums=program.wrt
        )
    assert not library.why
    agree(got, wanted, lambda: 1e-13)
