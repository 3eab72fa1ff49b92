"""Objects as arguments: what is set on an instance counts, whatever its class says, at each call."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

import pullback as pb
from pullback.errors import ArgumentError, UnsupportedError


@dataclass
class Model:
    w: float
    K = 2.0
    C: ClassVar[float] = 3.0

    def act(self, v: Any) -> Any:
        return v * v


class Inherits(Model):
    def act(self, v: Any) -> Any:
        return v * self.K


@dataclass
class Derived:
    w: float

    def __post_init__(self) -> None:
        self.powers = np.array([1.0, 2.0]) * self.w


@dataclass(frozen=True)
class Frozen:
    w: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "half", self.w / 2)


class Slotted:
    __slots__ = ("K", "__hidden", "w")
    C = 2.0

    def __init__(self) -> None:
        self.w, self.K, self.__hidden = 2.0, 3.0, 5.0

    def hidden(self) -> float:
        return self.__hidden


class SlottedBase(Slotted):
    D = 5.0


@dataclass(slots=True)
class SlottedData:
    w: float


class SlottedDataBase(SlottedData):
    K = 2.0


class Point(NamedTuple):
    w: float


class PointWith(Point):
    K = 2.0


def value_and_slope(f: Callable[..., Any], model: Any, x: float) -> tuple[Any, Any]:
    value, bar = pb.value_and_grad(f, argnums=1)(model, x)
    assert value == f(model, x)
    step = 1e-6
    np.testing.assert_allclose(bar, (f(model, x + step) - f(model, x - step)) / (2 * step), rtol=1e-6)
    return value, bar


def test_what_a_dataclass_instance_sets_hides_its_class() -> None:
    def f(d: Any, x: Any) -> Any:
        return d.act(d.w * x) * d.K * d.C

    model = Model(4.0)
    assert value_and_slope(f, model, 3.0) == (864.0, 576.0)
    model.K = 5.0
    assert value_and_slope(f, model, 3.0) == (2160.0, 1440.0)
    model.act = lambda v: v + 1  # type: ignore[method-assign]
    assert value_and_slope(f, model, 3.0) == (195.0, 60.0)
    model.C = 1.0  # type: ignore[misc]
    assert value_and_slope(f, model, 3.0) == (65.0, 20.0)
    del model.act, model.K, model.C
    assert value_and_slope(f, model, 3.0) == (864.0, 576.0)


def test_attributes_beyond_the_fields_have_gradients() -> None:
    model = Inherits(4.0)
    model.K = 5.0
    value, bar = pb.value_and_grad(lambda d, x: d.act(d.w * x))(model, 3.0)
    assert value == 60.0
    assert type(bar) is Inherits
    assert (bar.w, bar.K) == (15.0, 12.0)
    derived = pb.grad(lambda d: np.sum(d.powers) * d.w)(Derived(2.0))
    assert derived.w == 6.0
    np.testing.assert_array_equal(derived.powers, [2.0, 2.0])
    frozen = pb.grad(lambda d: d.half * d.w)(Frozen(2.0))
    assert (frozen.w, frozen.half) == (1.0, 2.0)


@pytest.mark.parametrize("make", [lambda: Model(4.0), lambda: types.SimpleNamespace(w=4.0), SlottedBase])
def test_hasattr_sees_the_instance(make: Callable[[], Any]) -> None:
    def f(d: Any, x: Any) -> Any:
        return d.w * x * (5.0 if hasattr(d, "own") else 3.0) + x * getattr(d, "own", 0.0)

    model = make()
    if isinstance(model, types.SimpleNamespace):
        with pytest.raises(UnsupportedError):
            pb.grad(f, argnums=1)(model, 3.0)
        return
    value_and_slope(f, model, 3.0)
    model.own = 7.0
    value_and_slope(f, model, 3.0)
    del model.own
    value_and_slope(f, model, 3.0)


def test_slots() -> None:
    def f(d: Any, x: Any) -> Any:
        return d.w * x * d.K * d.C

    model = Slotted()
    assert value_and_slope(f, model, 3.0) == (36.0, 12.0)
    model.K = 30.0
    assert value_and_slope(f, model, 3.0) == (360.0, 120.0)
    assert value_and_slope(lambda d, x: d.hidden() * x, model, 3.0) == (15.0, 5.0)
    bar = pb.grad(f)(model, 3.0)
    assert type(bar) is Slotted
    assert (bar.w, bar.K, bar.hidden()) == (180.0, 12.0, 0.0)
    base = SlottedBase()
    assert value_and_slope(lambda d, x: d.w * d.K * d.D * x, base, 3.0) == (90.0, 30.0)
    base.D = 7.0
    assert value_and_slope(lambda d, x: d.w * d.K * d.D * x, base, 3.0) == (126.0, 42.0)
    data = SlottedDataBase(2.0)
    data.K = 5.0
    assert value_and_slope(lambda d, x: d.w * d.K * x, data, 3.0) == (30.0, 10.0)


def test_a_named_tuple_with_attributes_of_its_own_is_refused() -> None:
    def f(p: Any, x: Any) -> Any:
        return p.w * p.K * x

    point = PointWith(2.0)
    assert value_and_slope(f, point, 3.0) == (12.0, 4.0)
    point.K = 5.0
    with pytest.raises(ArgumentError, match="attributes of its own beside its items: K"):
        pb.grad(f, argnums=1)(point, 3.0)
    del point.K
    assert value_and_slope(f, point, 3.0) == (12.0, 4.0)


def _tuples() -> list[Any]:
    class Len(Point):
        def __len__(self) -> int:
            return 9

    class Iter(Point):
        def __iter__(self) -> Any:
            return iter([1.0, 2.0])

    class Asks(Point):
        def __getattribute__(self, name: str) -> Any:
            return 5.0 if name == "w" else object.__getattribute__(self, name)

    class Field(Point):
        w = property(lambda self: self[0] * 10)  # type: ignore[assignment]

    class Vector(tuple):  # type: ignore[type-arg]
        def __add__(self, other: Any) -> Any:
            return Vector(a + b for a, b in zip(self, other, strict=True))

    return [Len(2.0), Iter(2.0), Asks(2.0), Field(2.0), Vector((2.0,))]


@pytest.mark.parametrize("point", _tuples(), ids=lambda p: type(p).__name__)
def test_tuples_that_answer_themselves_are_refused(point: Any) -> None:
    with pytest.raises(ArgumentError, match="a class made from tuple, which defines"):
        pb.grad(lambda p, x: x * p[0], argnums=1)(point, 3.0)


def test_a_named_tuple_that_makes_its_instances_itself_is_refused() -> None:
    class Doubled(Point):
        def __new__(cls, w: float) -> Any:
            return super().__new__(cls, 2 * w)

    with pytest.raises(UnsupportedError, match="makes its instances itself"):
        pb.grad(lambda x: Doubled(x).w)(3.0)


def test_python_asks_the_class_for_the_methods_of_operators() -> None:
    class Called:
        def __init__(self) -> None:
            self.w = 2.0

        def __call__(self, x: Any) -> Any:
            return self.w * x

        def __len__(self) -> int:
            return 3

        def __getitem__(self, i: int) -> float:
            return self.w + i

        def __mul__(self, x: Any) -> Any:
            return self.w * x * x

    called: Any = Called()
    called.__call__ = lambda x: 5 * x
    called.__len__ = lambda: 7
    called.__getitem__ = lambda i: 9.0
    called.__mul__ = lambda x: 100.0
    assert value_and_slope(lambda d, x: d(x) * len(d) * d[1] + (d * x), called, 3.0) == (72.0, 30.0)
    assert value_and_slope(lambda d, x: d.__call__(x), called, 3.0) == (15.0, 5.0)


def test_a_class_that_answers_for_missing_attributes_is_not_guessed() -> None:
    class Asked:
        def __init__(self) -> None:
            self.w = 2.0

        def __getattr__(self, name: str) -> Any:
            if name == "more":
                return 5.0
            raise AttributeError(name)

    assert value_and_slope(lambda d, x: d.w * x, Asked(), 3.0) == (6.0, 2.0)
    for f in (
        lambda d, x: x * hasattr(d, "more"),
        lambda d, x: x * getattr(d, "more", 1.0),
        lambda d, x: x * d.more,
    ):
        with pytest.raises(UnsupportedError):
            pb.grad(f, argnums=1)(Asked(), 3.0)


def test_classes_and_modules_as_arguments_are_read_at_each_call() -> None:
    class Constants:
        K = 2.0

    def f(c: Any, x: Any) -> Any:
        return c.K * x

    module = types.ModuleType("constants")
    module.K = 2.0  # type: ignore[attr-defined]
    for holder in (Constants, module, types.SimpleNamespace):
        for k in (2.0, 5.0, np.float64(1.5)):
            if holder is not types.SimpleNamespace:
                holder.K = k  # type: ignore[attr-defined]
                assert value_and_slope(f, holder, 3.0) == (k * 3.0, k)


def test_class_attributes_that_change_between_calls() -> None:
    class Base:
        K: Any = 2.0

        def act(self, x: Any) -> Any:
            return self.K * x

    class Plain(Base):
        pass

    @dataclass
    class Data(Base):
        w: float = 1.0

    for model in (Plain(), Data()):
        Base.K = 2.0
        f = lambda m, x: m.act(x)  # noqa: E731
        assert value_and_slope(f, model, 3.0) == (6.0, 2.0)
        Base.K = 3.0
        assert value_and_slope(f, model, 3.0) == (9.0, 3.0)
        type(model).K = 4.0
        assert value_and_slope(f, model, 3.0) == (12.0, 4.0)
        type(model).K = property(lambda self: 2.5)
        assert value_and_slope(f, model, 3.0) == (7.5, 2.5)


def test_properties_and_what_lies_under_them() -> None:
    class Shadowed:
        def __init__(self) -> None:
            self.__dict__["w"] = 100.0

        @property
        def w(self) -> float:
            return 6.0

        @functools.cached_property
        def cached(self) -> float:
            return 7.0

    model = Shadowed()
    assert value_and_slope(lambda d, x: d.w * x, model, 3.0) == (18.0, 6.0)
    assert model.cached == 7.0
    assert value_and_slope(lambda d, x: d.cached * x, model, 3.0) == (21.0, 7.0)


def test_copies_and_replacements() -> None:
    model = Model(4.0)
    model.K = 5.0
    assert value_and_slope(lambda d, x: replace(d, w=3.0).K * x, model, 3.0) == (6.0, 2.0)


class HasEmpty:
    __slots__ = ("v", "w")

    def __init__(self, w: float) -> None:
        self.w = w


def ratio(d: Any, x: Any) -> Any:
    return d.act(d.w * x) * d.K


def doubled(d: Any, x: Any) -> Any:
    return d.w * x * (2.0 if hasattr(d, "v") else 1.0)


def product(p: Any, x: Any) -> Any:
    return p.w * p.K * x


def test_a_module_refuses_an_instance_that_has_more() -> None:
    module = pb.compile(ratio, example=(Model(4.0), 3.0), argnums=1).load()
    assert module.ratio_value_and_grad(Model(4.0), 3.0) == (288.0, 192.0)
    model = Model(4.0)
    model.K = 5.0
    with pytest.raises(TypeError, match="without an own 'K'"):
        module.ratio_value_and_grad(model, 3.0)
    empty = HasEmpty(2.0)
    module = pb.compile(doubled, example=(empty, 3.0), argnums=1).load()
    assert module.doubled_value_and_grad(empty, 3.0) == (6.0, 2.0)
    empty.v = 1.0
    with pytest.raises(TypeError, match="without the attribute 'v'"):
        module.doubled_value_and_grad(empty, 3.0)
    point = PointWith(2.0)
    module = pb.compile(product, example=(point, 3.0), argnums=1).load()
    assert module.product_value_and_grad(point, 3.0) == (12.0, 4.0)
    point.K = 5.0
    with pytest.raises(TypeError, match="without the attribute 'K'"):
        module.product_value_and_grad(point, 3.0)


class _Private:
    __scale = 3.0

    def __init__(self, w: float) -> None:
        self.__w = w

    def __square(self, x: Any) -> Any:
        return self.__w * x * x

    def act(self, x: Any) -> Any:
        return self.__square(x) * self.__scale * (lambda: self.__w)()


class PrivateToo(_Private):
    def __init__(self, w: float) -> None:
        super().__init__(w)
        self.__w = 10 * w

    def both(self, x: Any) -> Any:
        return self.act(x) + self.__w * x


def test_private_attributes_belong_to_the_class_that_names_them() -> None:
    assert value_and_slope(lambda d, x: d.act(x), _Private(2.0), 3.0) == (108.0, 72.0)
    assert value_and_slope(lambda d, x: d.both(x), PrivateToo(2.0), 3.0) == (168.0, 92.0)
    assert value_and_slope(lambda w, x: PrivateToo(w).both(x), 2.0, 3.0) == (168.0, 92.0)


class _Scalar:
    def __init__(self, w: Any) -> None:
        self.w = w

    def __add__(self, other: Any) -> Any:
        return self.w + other.w if isinstance(other, _Scalar) else NotImplemented

    def __sub__(self, other: Any) -> Any:
        return 1.0

    def __lt__(self, other: Any) -> Any:
        return True


class Derives(_Scalar):
    def __radd__(self, other: Any) -> Any:
        return 100.0

    def __rsub__(self, other: Any) -> Any:
        return 7.0

    def __gt__(self, other: Any) -> Any:
        return False


class _Right:
    def __radd__(self, other: Any) -> Any:
        return 50.0

    def __rmul__(self, other: Any) -> Any:
        return 60.0


class _Left(_Right):
    __array_ufunc__ = None


class Scaled(Point):
    def __mul__(self, s: Any) -> Any:  # type: ignore[override]
        return Scaled(self.w * s)

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Any:
        return Scaled(self.w + other.w)

    def __gt__(self, other: Any) -> Any:
        return True


OPERATORS: list[Callable[[Any, Any], Any]] = [
    lambda d, x: (d - Derives(2.0)) * x,  # the right one, of a class made from the left's, is asked first
    lambda d, x: (d + Derives(2.0)) * x,
    lambda d, x: (d - d) * x,
    lambda d, x: (2.0 if d < Derives(2.0) else 3.0) * x,
    lambda d, x: (d + _Right()) * x,  # the left one does not know
    lambda d, x: ([d.w] + _Right()) * x,  # noqa: RUF005
    lambda d, x: ([1.0] * _Right()) * x,
    lambda d, x: np.sum(np.array([x, x]) * _Left()) * x,
    lambda d, x: (Scaled(d.w) * 2).w * x,  # operators of named tuples
    lambda d, x: (x * Scaled(d.w) + Scaled(x)).w,
    lambda d, x: len(Point(1.0) + (2.0,)) * len(Point(1.0) * 2) * x,  # noqa: RUF005
    lambda d, x: (2.0 if Point(9.0) < Scaled(1.0) else 3.0) * x,
    lambda d, x: max(Scaled(x), Scaled(1.0)).w,
]


@pytest.mark.parametrize("f", OPERATORS, ids=[str(i) for i in range(len(OPERATORS))])
def test_operators_are_asked_in_pythons_order(f: Callable[..., Any]) -> None:
    value_and_slope(f, _Scalar(1.0), 3.0)


def test_an_array_beside_an_object_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="item by item"):
        pb.grad(lambda x: np.sum(np.array([x, x]) * _Right()))(3.0)


def test_class_methods_read_their_class_at_each_call() -> None:
    class Base:
        k = 1.0

        @classmethod
        def read(cls) -> float:
            return cls.k

    class Below(Base):
        pass

    def f(b: Any, x: Any) -> Any:
        return b.read() * x + type(b).k * (2.0 if hasattr(type(b), "j") else 1.0) * x * x

    b = Below()
    for change in (("k", 3.0), ("j", 1.0), ("k", 4.0)):
        value_and_slope(f, b, 3.0)
        setattr(Below, *change)
    value_and_slope(f, b, 3.0)


def test_an_empty_slot_is_no_attribute() -> None:
    class Empty:
        __slots__ = ("v", "w")

        def __init__(self) -> None:
            self.w = 1.0

    def f(d: Any, x: Any) -> Any:
        return d.w * x * (2.0 if hasattr(d, "v") else 1.0)

    model = Empty()
    assert value_and_slope(f, model, 3.0) == (3.0, 1.0)
    model.v = 1.0
    assert value_and_slope(f, model, 3.0) == (6.0, 2.0)
    del model.v
    assert value_and_slope(f, model, 3.0) == (3.0, 1.0)
    with pytest.raises(UnsupportedError, match="has no attribute `v`"):
        pb.grad(lambda d, x: d.v * x, argnums=1)(model, 3.0)


def test_names_that_cannot_be_written() -> None:
    model = Model(2.0)
    model.__dict__ |= {"not a name": 1.0, "class": 2.0}
    bar = pb.grad(lambda d, x: d.w * x)(model, 3.0)
    assert vars(bar) == {"w": 3.0}
    with pytest.raises(UnsupportedError, match="that can be written"):
        pb.grad(lambda d, x: x * hasattr(d, "not a name"), argnums=1)(model, 3.0)
