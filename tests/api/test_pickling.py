"""What the public functions return goes to other processes, and is copied as functions are."""

from __future__ import annotations

import copy
import functools
import importlib
import inspect
import os
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pullback as pb
from pullback.errors import ArgumentError, UnsupportedError

X = np.array([1.0, -2.0, 3.0])

MODULE = '''
import functools
import numpy as np
import pullback as pb


def plain(x, k=2.0):
    """A plain function."""
    return k * np.sum(x * x)


@pb.differentiable
def decorated(x, k=2.0):
    return k * np.sum(x * x)


@pb.grad
def at_once(x, k=2.0):
    return k * np.sum(x * x)


renamed = pb.differentiable(plain)
optioned = pb.differentiable(optimize=False)(plain)
from_lambda = pb.differentiable(lambda x, k=2.0: k * np.sum(x * x))
gradient_of_lambda = pb.grad(lambda x, k=2.0: k * np.sum(x * x))
with_value = pb.value_and_grad(plain)


class Model:
    def __init__(self, k):
        self.k = k

    def loss(self, x):
        return self.k * np.sum(x * x)

    @pb.differentiable
    def decorated(self, x):
        return self.k * np.sum(x * x)

    @staticmethod
    @pb.differentiable
    def static(x, k=2.0):
        return k * np.sum(x * x)

    gradient = pb.grad(loss, argnums=1)


class Factor:
    def __init__(self, k):
        self.k = k

    def __call__(self, x):
        return self.k * np.sum(x * x)


def several(x, k):
    h = x
    kept = []
    for i in range(3):
        h = np.tanh(h) * k
        kept.append(h)
        if np.sum(h) > 100.0:
            break
    return {"h": h, "sum": np.sum(kept[-1] * kept[0])}


def guarded(x):
    return np.where(x > 0, np.sqrt(x), 0.0)
'''


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """A module of the user's, that can be imported by its name."""
    folder = tmp_path_factory.mktemp("pickled")
    (folder / "functions_to_pickle.py").write_text(MODULE)
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module("functions_to_pickle")
    finally:
        sys.path.remove(str(folder))


def through(obj: Any) -> Any:
    """What arrives in another process."""
    return pickle.loads(pickle.dumps(obj))


MAKERS = {
    "grad of a function": lambda m: pb.grad(m.plain),
    "grad by a name": lambda m: pb.grad(m.plain, argnums="x"),
    "grad of a decorated function": lambda m: pb.grad(m.decorated),
    "grad of a renamed function": lambda m: pb.grad(m.renamed),
    "grad of a function with options": lambda m: pb.grad(m.optioned),
    "grad of a lambda with a name": lambda m: pb.grad(m.from_lambda),
    "a gradient of a lambda": lambda m: m.gradient_of_lambda,
    "grad as a decorator": lambda m: m.at_once,
    "method grad": lambda m: m.decorated.grad,
    "grad of a method": lambda m: pb.grad(m.Model(2.0).loss),
    "grad of a decorated method": lambda m: pb.grad(m.Model(2.0).decorated),
    "grad of a decorated method by its method": lambda m: m.Model(2.0).decorated.grad,
    "grad of a static method": lambda m: pb.grad(m.Model.static),
    "grad of a partial": lambda m: pb.grad(functools.partial(m.plain, k=2.0)),
    "grad of a callable object": lambda m: pb.grad(m.Factor(2.0)),
    "a partial of grad": lambda m: functools.partial(pb.grad(m.plain), k=2.0),
}


@pytest.mark.parametrize("name", MAKERS)
def test_pickled_gradients_compute_the_same(functions: ModuleType, name: str) -> None:
    assert_allclose(through(MAKERS[name](functions))(X), 4 * X)


def test_with_value_and_auxiliary_value(functions: ModuleType) -> None:
    value, bar = through(pb.value_and_grad(functions.plain))(X, 3.0)
    assert value == 42.0
    assert_allclose(bar, 6 * X)
    assert through(pb.value_and_grad(functions.plain, argnums=("k",)))(X)[1] == (14.0,)


def test_what_a_module_has_by_name_stays_itself(functions: ModuleType) -> None:
    for name in (
        "decorated",
        "at_once",
        "renamed",
        "optioned",
        "from_lambda",
        "gradient_of_lambda",
        "with_value",
    ):
        made = getattr(functions, name)
        assert through(made) is made
        assert copy.copy(made) is made
        assert copy.deepcopy(made) is made
    assert through(functions.Model.static) is functions.Model.static
    assert through(functions.Model.decorated) is functions.Model.decorated


def test_one_object_for_each_request(functions: ModuleType) -> None:
    """So that a worker, which unpickles the function for each piece of work, compiles once."""
    for make in (
        lambda: pb.grad(functions.plain, argnums=1),
        lambda: pb.grad(functions.plain, has_aux=True),
        lambda: pb.grad(functions.renamed, argnums=1),
        lambda: pb.value_and_grad(functions.decorated, argnums=1),
    ):
        assert through(make()) is make()


def test_partials_and_methods_share_what_is_compiled(
    functions: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    makers = ("grad of a partial", "grad of a method", "grad of a callable object")
    for name in makers:
        MAKERS[name](functions)(X)
    monkeypatch.setattr("pullback.dispatch.dispatcher.compile_function", None)
    for name in makers:
        assert_allclose(through(MAKERS[name](functions))(X), 4 * X)


def test_a_replaced_body_is_compiled_anew_for_what_shares(functions: ModuleType) -> None:
    namespace: dict[str, Any] = {}
    source = Path(inspect.getfile(functions)).with_name("replaced_body.py")
    text = "def f(x, k):\n    return k * x * x\n\n\ndef g(x, k):\n    return k * x * x * x\n"
    source.write_text(text)
    exec(compile(text, str(source), "exec"), namespace)
    f, g = namespace["f"], namespace["g"]
    assert pb.grad(functools.partial(f, k=2.0))(3.0) == 12.0
    kept = pb.grad(functools.partial(f, k=2.0))
    f.__code__ = g.__code__
    assert pb.grad(functools.partial(f, k=2.0))(3.0) == 54.0
    assert kept(3.0) == 54.0


def test_copies(functions: ModuleType) -> None:
    gradient = pb.grad(functions.plain)
    assert copy.copy(gradient) is gradient
    assert copy.deepcopy({"step": gradient})["step"] is gradient
    owner = functions.Model(2.0)
    bound = copy.deepcopy(owner.decorated)
    owner.k = 0.0
    assert_allclose(bound.grad(X), 4 * X)
    differentiable = pb.differentiable(functions.Factor(2.0))
    assert copy.deepcopy(differentiable).__wrapped__ is not differentiable.__wrapped__
    assert_allclose(copy.deepcopy(differentiable).grad(X), 4 * X)


def test_what_pickle_cannot_find_is_its_usual_error(functions: ModuleType) -> None:
    def local(x):
        return x * x

    for made in (
        pb.grad(local),
        pb.differentiable(local),
        pb.value_and_grad(pb.differentiable(lambda x: x)),
    ):
        with pytest.raises((pickle.PicklingError, AttributeError), match=r"local|lambda"):
            pickle.dumps(made)


def test_a_name_that_means_another_function_by_now(
    functions: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `for n in ...: made = pb.grad(lambda ...)` leaves the last one under the name."""
    data = pickle.dumps(functions.gradient_of_lambda)
    monkeypatch.setattr(functions, "gradient_of_lambda", functions.from_lambda)
    with pytest.raises(
        pickle.UnpicklingError, match="`gradient_of_lambda` of functions_to_pickle is not what"
    ):
        pickle.loads(data)
    monkeypatch.delattr(functions, "gradient_of_lambda")
    with pytest.raises(pickle.UnpicklingError, match="`gradient_of_lambda`"):
        pickle.loads(data)


def test_the_attributes_of_a_function_can_be_pickled(functions: ModuleType) -> None:
    """Tools that pickle functions whole find in them what has been compiled."""
    pb.grad(functions.plain)(X)
    attributes = through(vars(functions.plain))
    assert attributes
    assert copy.deepcopy(vars(functions.plain)).keys() == attributes.keys()
    namespace: dict[str, Any] = {}
    source = Path(inspect.getfile(functions)).with_name("whole.py")
    source.write_text("def f(x):\n    return x * x * x\n")
    exec(compile(source.read_text(), str(source), "exec"), namespace)
    namespace["f"].__dict__.update(attributes)
    assert pb.grad(namespace["f"])(2.0) == 12.0


# ------------------------------------------------------------------------------------------ residuals and pullbacks


def test_residuals_are_pulled_back_elsewhere(functions: ModuleType) -> None:
    _, pullback = pb.vjp(functions.several, X, 0.5)
    seed = {"h": np.ones(3), "sum": 2.0}
    for got, expected in zip(through(pullback)(seed), pullback(seed), strict=True):
        assert_array_equal(got, expected)
    assert "several" in repr(through(pullback))
    with pytest.raises(ArgumentError, match="shape"):
        through(pullback)({"h": np.ones(2), "sum": 2.0})
    again = through(through(pullback))
    assert_array_equal(again(seed)[0], pullback(seed)[0])


def test_residuals_through_the_pair(functions: ModuleType) -> None:
    _, residuals = functions.decorated.primal(X, 3.0)
    for one in (through(residuals), copy.copy(residuals), copy.deepcopy(residuals)):
        assert_allclose(functions.decorated.pullback(one, 1.0)[0], 6 * X)


def test_a_strong_zero_is_one_elsewhere(functions: ModuleType) -> None:
    x = np.array([0.0, 4.0])
    _, pullback = pb.vjp(functions.guarded, x)
    assert_array_equal(through(pullback)(np.ones(2))[0], [0.0, 0.25])


def test_residuals_under_debug_say_why_not() -> None:
    _, pullback = pb.vjp(pb.differentiable(debug=True)(lambda x: x * x), 3.0)
    with pytest.raises(pickle.PicklingError, match="debug=True"):
        pickle.dumps(pullback)


# ------------------------------------------------------------------------------------------------- as functions are


def test_a_gradient_looks_like_its_function(functions: ModuleType) -> None:
    gradient = pb.grad(functions.plain)
    assert inspect.signature(gradient) == inspect.signature(functions.plain)
    assert gradient.__wrapped__ is functions.plain
    assert gradient.__module__ == "functions_to_pickle"
    assert gradient.__name__ == "grad_of_plain"
    assert "Gradient of `plain` with respect to 0" in str(gradient.__doc__)
    assert "A plain function." in str(gradient.__doc__)
    assert repr(gradient) == "<gradient of plain with respect to 0>"
    both = pb.value_and_grad(functions.plain, argnums=("x", 1), has_aux=True)
    assert repr(both) == "<value and gradient of plain with respect to ('x', 1), has_aux>"
    method = pb.grad(functions.Model(2.0).loss)
    assert str(inspect.signature(method)) == "(x)"
    assert callable(gradient)


def test_a_gradient_in_a_class_is_a_method(functions: ModuleType) -> None:
    model = functions.Model(2.0)
    assert_allclose(model.gradient(X), 4 * X)
    assert inspect.ismethod(model.gradient)
    assert functions.Model.gradient is vars(functions.Model)["gradient"]


def test_attributes_may_be_set() -> None:
    gradient = pb.grad(lambda x: x * x)
    gradient.note = "mine"  # type: ignore[attr-defined]
    assert gradient.note == "mine"  # type: ignore[attr-defined]
    assert {gradient: 1}[gradient] == 1


def test_source_and_explanation_of_a_gradient(functions: ModuleType) -> None:
    gradient = pb.grad(functions.plain, argnums="k")
    assert "def plain_value_and_grad(x, k):" in gradient.source(X)
    assert "plain_pullback" in gradient.source(X, form="pair")
    assert gradient.explain(X, 3.0).sites

    def with_aux(x):
        return np.sum(x * x), x

    assert "with_aux_value_and_grad" in pb.grad(with_aux, has_aux=True).source(X)
    assert pb.grad(with_aux, has_aux=True).explain(X).sites


def test_a_gradient_as_an_argument_may_be_carried_but_not_called() -> None:
    gradient = pb.grad(lambda x: x * x)
    assert pb.grad(lambda x, g: x * x)(3.0, gradient) == 6.0
    with pytest.raises(UnsupportedError, match="gradient"):
        pb.grad(lambda x, g: g(x))(3.0, gradient)


# ------------------------------------------------------------------------------------------------- real processes

SCRIPT = """
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pullback as pb
from functions_to_pickle import Model, decorated, from_lambda, plain, several


@pb.differentiable
def in_main(x):
    return np.sum(x * x)


def main():
    x = np.array([1.0, -2.0, 3.0])
    tasks = [pb.grad(plain), decorated.grad, from_lambda.grad, Model(2.0).decorated.grad, pb.grad(in_main)]
    value, pullback = pb.vjp(several, x, 0.5)
    seed = {"h": np.ones(3), "sum": 2.0}
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            for task in tasks:
                for _ in range(2):
                    assert np.array_equal(pool.submit(task, x).result(), task(x)), task
            assert np.array_equal(pool.submit(pullback, seed).result()[0], pullback(seed)[0])
        with context.Pool(1) as pool:
            assert np.array_equal(pool.map(pb.grad(plain), [x, 2 * x])[1], 8 * x)
    print("done")


if __name__ == "__main__":
    main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_worker_processes(functions: ModuleType, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    where = [str(Path(inspect.getfile(functions)).parent), str(Path(pb.__file__).parent.parent)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(where)}
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "done"
