"""Signatures written down: by text, by annotations, by example."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, Optional, TypedDict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pullback.aot.declared import Declared, from_annotations, from_example, from_text
from pullback.errors import ArgumentError, SignatureError
from pullback.frontend.signature import Node, Spec
from pullback.styles.style import Array, Dim, Scalar, Static


@dataclass
class Params:
    w: Annotated[Any, "f8[n, k]"]
    b: float = 0.0


class Point(NamedTuple):
    x: float
    y: float


class Options(TypedDict):
    rate: float
    steps: int


class Plain:
    scale: float

    def method(self, x: float) -> float:
        return self.scale * x


class Untyped:
    pass


def loss(w, x, mode="fast", *rest, **more):
    return None


def same(a: Spec, b: Spec, axes: dict[Any, Any]) -> bool:
    """Whether two specs are the same, up to a renaming of the symbols of unknown axes."""
    if isinstance(a, Node) and isinstance(b, Node):
        alike = (a.kind, a.meta, len(a.items)) == (b.kind, b.meta, len(b.items))
        return alike and all(same(x, y, axes) for x, y in zip(a.items, b.items, strict=True))
    if isinstance(a, Array) and isinstance(b, Array):
        if (a.dtype, a.rank, a.contiguous) != (b.dtype, b.rank, b.contiguous):
            return False
        for one, other in zip(a.axes or (), b.axes or (), strict=True):
            if isinstance(one, Dim) and isinstance(other, Dim):
                if axes.setdefault(one.sym, other.sym) != other.sym or one.not_one or other.not_one:
                    return False
            elif one != other:
                return False
        return True
    return a == b


def assert_stable(fn: Any, declared: Declared) -> None:
    again = from_text(fn, declared.text)
    assert again.text == declared.text
    assert again.dims == declared.dims
    axes: dict[Any, Any] = {}
    pairs = zip(declared.signature.args, again.signature.args, strict=True)
    assert all(n == m and same(a, b, axes) for (n, a), (m, b) in pairs)
    assert len(set(axes.values())) == len(axes)


# ------------------------------------------------------------------------------------------------------- text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("w: f8, x: float", "w: f8, x: float"),
        ("w:float64,x:np.float32", "w: f8, x: f4"),
        ("w: f8[:,:], x: bool", "w: f8[:, :], x: bool"),
        ("w: f8[n,k], x: c16[k, 3]", "w: f8[n, k], x: c16[k, 3]"),
        ("w: f8[:, ::1], x: i4[n::1]", "w: f8[:, ::1], x: i4[n::1]"),
        ("w: f8[], x: bool_[:]", "w: f8[], x: b1[:]"),
        ("w: >f8[:], x: <f8[:]", "w: >f8[:], x: f8[:]"),
        ("w: None, x: True", "w: None, x: True"),
        ('w: "a\'b", x: -3', 'w: "a\'b", x: -3'),
        ("w: 1e-3, x: 2j", "w: 0.001, x: 2.0j"),
        ("w: (f8[:],), x: ()", "w: (f8[:],), x: ()"),
        ("w: (f8[:]), x: []", "w: f8[:], x: []"),
        ("w: {'a': f8, 1: [int, int,]}, x: {}", "w: {'a': f8, 1: [int, int]}, x: {}"),
        ("w: Params(b: float, w: f8[n]), x: f8[n]", "w: Params(w: f8[n], b: float), x: f8[n]"),
        ("w: Params, x: f8[n]", "w: Params(w: f8[n, k], b: float), x: f8[n]"),
        ("w: Point(x: f8, y: f8), x: Untyped(a: float)", "w: Point(x: f8, y: f8), x: Untyped(a: float)"),
        ("w: np.tanh, x: any", "w: np.tanh, x: any"),
        ("w: Options, x: Plain", "w: {'rate': float, 'steps': int}, x: Plain(scale: float)"),
    ],
)
def test_text_has_a_canonical_form(text: str, canonical: str) -> None:
    declared = from_text(loss, text)
    assert declared.text == canonical + ", mode: 'fast', rest: (), more: {}"
    assert_stable(loss, declared)


def test_axes_of_one_name_are_one_length_and_may_be_one() -> None:
    declared = from_text(loss, "w: f8[n, k], x: {'a': f8[n]}")
    w, x = declared.signature.of("w"), declared.signature.of("x")
    assert isinstance(w, Array) and isinstance(x, Node) and isinstance(x.items[0], Array)
    assert w.axes is not None and x.items[0].axes == (w.axes[0],)
    assert w.axes[0] != w.axes[1]
    assert all(isinstance(axis, Dim) and not axis.not_one for axis in w.axes)
    assert declared.dims == {"n": ((("w",), 0), (("x", ("item", "a")), 0)), "k": ((("w",), 1),)}
    anonymous = from_text(loss, "w: f8[:, :], x: f8[:]").signature
    spec = anonymous.of("w")
    assert isinstance(spec, Array) and spec.axes is not None and spec.axes[0] != spec.axes[1]


def test_python_numbers_are_weak_and_numpy_scalars_are_not() -> None:
    signature = from_text(loss, "w: float, x: f8").signature
    assert signature.of("w") == Scalar(np.dtype(float), weak=True)
    assert signature.of("x") == Scalar(np.dtype(float), weak=False)


def test_defaults_stand_for_what_is_left_out() -> None:
    declared = from_text(loss, "w: f8, x: f8")
    assert declared.signature.of("mode") == Static("fast")
    assert declared.defaults == {"mode": "fast"}
    assert from_text(loss, "w: f8, x: f8, mode: 'slow'").signature.of("mode") == Static("slow")


def test_variable_arguments() -> None:
    declared = from_text(loss, "w: f8, x: f8, *rest: (f8[:], float), **more: {'a': int}")
    assert declared.text.endswith("rest: (f8[:], float), more: {'a': int}")
    assert_stable(loss, declared)


WRONG = [  # text, what is wrong, where the caret is, the way out
    ("w: f9[:], x: f8", "`f9` is no type", 3, "did you mean `f8`?"),
    ("w: flaot64, x: f8", "`flaot64` is no type", 3, "did you mean `float64`?"),
    ("w: f8[:, x: f8", "is missing before ':'", 10, "write `]`"),
    ("w: f8[:], y: f8", "`loss` has no parameter `y`", 10, "its parameters are w, x, mode"),
    ("w: f8, modes: 'a'", "no parameter `modes`", 7, "did you mean `mode`?"),
    ("w: f8, w: f8", "`w` is there twice", 7, "once"),
    ("f8[:], f8[:]", "`:` is missing before '['", 2, "names each parameter"),
    ("w: f8[::1, :], x: f8", "on the last axis only", 8, "move it"),
    ("w: f8[::2], x: f8", "'2' is no stride", 8, "write ::1"),
    ("w: f8[-1], x: f8", "'-1' is no axis", 6, "a name, a length"),
    ("w: float[:], x: f8", "`float` is a Python number", 3, "write f8[...]"),
    ("w: str, x: f8", "`str` says too little", 3, "mode: 'fast'"),
    ("w: np.ndarray, x: f8", "`np.ndarray` says too little", 3, "f8[n, k]"),
    ("w: Nowhere(a: f8), x: f8", "`Nowhere` is no class", 3, "as the module has it"),
    ("w: Params(a: f8), x: f8", "`Params` has no field `a`", 10, "its fields are w, b"),
    ("w: Params(w: f8), x: f8", "field `b` is missing", 3, "Params(w: f8[:]"),
    ("w: Untyped, x: f8", "does not say the types", 3, "Untyped(w: f8[:]"),
    ("w: {a: f8}, x: f8", "a key must be a literal", 4, "{'w': f8[:]}"),
    ("w: , x: f8", "a type is needed here", 3, "write a type"),
    ("w: f8; x: f8", "';' is not understood", 5, "name: type"),
    ("w: f8, x: f8, rest: f8", "`*rest` is a tuple", 14, "rest: (f8[:]"),
    ("w: f8, x: default", "no default here", 10, "write a type"),
    ("w: " + "[" * 60, "nested more than 40 deep", 43, "flatten"),
]


@pytest.mark.parametrize(("text", "reason", "column", "hint"), WRONG)
def test_a_wrong_text_is_shown_with_its_place_and_a_way_out(
    text: str, reason: str, column: int, hint: str
) -> None:
    with pytest.raises(SignatureError) as caught:
        from_text(loss, text)
    shown, caret = str(caught.value).split("\n")[1:3]
    assert reason in caught.value.reason
    assert hint in caught.value.hint
    assert shown.strip() == text
    assert caret.index("^") - 4 == column


def test_a_parameter_without_type_is_an_error_that_says_how_to_give_it() -> None:
    with pytest.raises(SignatureError, match=r"`loss` does not say the type of `x`\n.*--sig \"x: f8"):
        from_text(loss, "w: f8")


# ---------------------------------------------------------------------------------- text -> Declared -> text

NAMES = st.sampled_from(["n", "k", "m", "steps"])
DTYPES = st.sampled_from(
    ["f8", "f4", "f2", "c16", "c8", "i8", "i4", "u1", "b1", ">f8", "float64", "np.int32"]
)
AXES = st.lists(st.one_of(st.just(":"), NAMES, st.integers(0, 9).map(str)), max_size=4)
LITERALS = st.one_of(
    st.sampled_from([None, True, False]),
    st.integers(),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=5),
    st.floats(allow_nan=False, allow_infinity=False),
).map(repr)


@st.composite
def array_texts(draw: st.DrawFn) -> str:
    axes = draw(AXES)
    if axes and draw(st.booleans()):
        axes[-1] = f"{axes[-1].removesuffix(':')}::1"
    return f"{draw(DTYPES)}[{','.join(axes)}]"


def structures(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    items = st.lists(inner, max_size=3)
    keys = st.one_of(st.integers(0, 99).map(repr), st.sampled_from(["'W'", "'a b'", '"q\'"']))
    return st.one_of(
        items.map(lambda xs: f"({', '.join(xs)}{',' if len(xs) == 1 else ''})"),
        items.map(lambda xs: f"[{', '.join(xs)}]"),
        st.dictionaries(keys, inner, max_size=3).map(
            lambda d: f"{{{', '.join(f'{k}: {v}' for k, v in d.items())}}}"
        ),
        st.tuples(inner, inner).map(lambda xs: f"Params(w: {xs[0]}, b: {xs[1]})"),
        st.tuples(inner, inner).map(lambda xs: f"Point(y: {xs[0]}, x: {xs[1]})"),
    )


TYPES = st.recursive(
    st.one_of(array_texts(), DTYPES, st.sampled_from(["float", "int", "complex", "bool", "any"]), LITERALS),
    structures,
    max_leaves=6,
)


@settings(max_examples=200, deadline=None)
@given(TYPES, TYPES)
def test_text_read_and_written_is_stable(w: str, x: str) -> None:
    assert_stable(loss, from_text(loss, f"w: {w}, x: {x}"))


@settings(max_examples=200, deadline=None)
@given(st.text("wx:,[](){}'\"f8n1*-. ", max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        declared = from_text(loss, text)
    except SignatureError as error:
        assert error.hint
    else:
        assert_stable(loss, declared)


# ------------------------------------------------------------------------------------------------ annotations


def builtin(a: float, b: int, c: complex, d: bool): ...
def scalars(a: np.float64, b: np.float32, c: np.int64, d: np.complex128): ...
def ours(a: f8[n, k], b: "f8[n]", c: "f8[k]"): ...  # noqa: F821, UP037
def shaped(
    a: np.ndarray[tuple[int, int], np.dtype[np.float64]], b: np.ndarray[tuple[int], np.dtype[np.int32]]
): ...
def noted(
    a: Annotated[np.ndarray, "f8[n, k]"], b: Annotated[float, 3, "f4"], c: Annotated[float, "a note"]
): ...
def tuples(a: tuple[float, int], b: tuple[()], c: Literal["x"], d: None): ...
def classes(a: Params, b: Point, c: Options, d: Plain): ...
def displays(a: "[float, int]", b: "(float, int)", c: "{'w': float}", d: "3", e: "np.tanh", f: "None"): ...  # noqa: F821, UP037
def defaults(a: float, b=1.0, c=2, d="s", e=None, f=True, g=(1, 2.0), h=np.tanh, i=np.float32): ...
def optional(a: Optional[float] = None, b: int | None = None): ...  # noqa: UP045


@pytest.mark.parametrize(
    ("fn", "text"),
    [
        (builtin, "a: float, b: int, c: complex, d: bool"),
        (scalars, "a: f8, b: f4, c: i8, d: c16"),
        (ours, "a: f8[n, k], b: f8[n], c: f8[k]"),
        (shaped, "a: f8[:, :], b: i4[:]"),
        (tuples, "a: (float, int), b: (), c: 'x', d: None"),
        (
            classes,
            "a: Params(w: f8[n, k], b: float), b: Point(x: float, y: float), "
            "c: {'rate': float, 'steps': int}, d: Plain(scale: float)",
        ),
        (
            defaults,
            "a: float, b: float, c: int, d: 's', e: None, f: True, g: (int, float), h: np.tanh, i: default",
        ),
        (displays, "a: [float, int], b: (float, int), c: {'w': float}, d: 3, e: np.tanh, f: None"),
        (optional, "a: None, b: None"),
        (Plain.method, "self: Plain(scale: float), x: float"),
    ],
)
def test_annotations(fn: Any, text: str) -> None:
    declared = from_annotations(fn)
    assert declared.text == text
    assert_stable(fn, declared)


def test_classes_that_say_dtype_and_axes_as_jaxtyping_does() -> None:
    def made(dtypes: list[str], dims: str) -> type:
        return type("Typed", (), {"dtypes": dtypes, "dim_str": dims})

    def fn(x, y, z): ...

    fn.__annotations__ = {
        "x": made(["float64"], "n k"),
        "y": made(["int32"], "3 _"),
        "z": made(["float64"], ""),
    }
    assert from_annotations(fn).text == "x: f8[n, k], y: i4[3, :], z: f8[]"
    fn.__annotations__["x"] = made(["float32", "float64"], "n k")
    with pytest.raises(SignatureError, match="does not say one dtype"):
        from_annotations(fn)
    fn.__annotations__["x"] = made(["float64"], "... k")
    with pytest.raises(SignatureError, match="the annotation of `x`"):
        from_annotations(fn)


def test_annotated_with_a_text_that_is_no_signature_is_an_error() -> None:
    assert from_text(noted, "c: float").text == "a: f8[n, k], b: f4, c: float"
    with pytest.raises(SignatureError, match="the annotation of `c`: `a` is no type"):
        from_annotations(noted)


def no_rank(x: np.typing.NDArray[np.float64]): ...
def bare(x: np.ndarray): ...
def ragged(x: tuple[float, ...]): ...
def text(x: str): ...
def several(x: float | int): ...
def many(x: list[float]): ...
def unknown(x: Missing): ...  # noqa: F821
def recursive(x: Link): ...
def abstract(x: np.floating): ...


@dataclass
class Link:
    value: float
    next: Link


@pytest.mark.parametrize("fn", [no_rank, bare, ragged, text, several, many, unknown, recursive, abstract])
def test_annotations_that_say_too_little(fn: Any) -> None:
    with pytest.raises(SignatureError) as caught:
        from_annotations(fn)
    assert "`x" in caught.value.reason and caught.value.hint
    assert from_text(fn, "x: f8[:]").text == "x: f8[:]"


def test_no_rank_says_to_give_the_signature() -> None:
    with pytest.raises(
        SignatureError, match=r"does not say how many axes there are\n.*--sig \"x: f8\[n, k\]\""
    ):
        from_annotations(no_rank)


# ---------------------------------------------------------------------------------------------------- example


def test_example_gives_dtypes_and_ranks_of_any_length() -> None:
    args = (np.ones((1, 3), dtype=np.float32)[:, ::2], {"a": [1.0, np.int8(2)], "p": Params(np.ones(1), 2)})
    declared = from_example(loss, args, {"k": Point(1.0, 2j)})
    assert declared.text == (
        "w: f4[:, :], x: {'a': [float, i1], 'p': Params(w: f8[:], b: int)}, mode: 'fast', rest: (), "
        "more: {'k': Point(x: float, y: complex)}"
    )
    assert_stable(loss, declared)


def test_example_takes_named_integers_by_value() -> None:
    assert from_example(loss, (2, (3, 1.0)), static=frozenset({"w", "x[0]"})).text.startswith(
        "w: 2, x: (3, float)"
    )


def test_example_that_does_not_fit() -> None:
    with pytest.raises(
        ArgumentError, match="the example does not fit `loss`: missing a required argument: 'x'"
    ):
        from_example(loss, (1.0,))


def test_example_without_a_text() -> None:
    with pytest.raises(SignatureError, match=r"`w` is .*lambda.*no text"):
        from_example(loss, (lambda x: x, 1.0))
    with pytest.raises(ArgumentError, match="dtype object"):
        from_example(loss, (np.array([None]), 1.0))


@dataclass
class Holder:
    known: float
    generator: Any = field(default_factory=np.random.default_rng)
    me: Any = None


def test_what_is_in_an_object_and_has_no_description_is_carried() -> None:
    holder = Holder(1.0, [1])
    holder.me = holder
    declared = from_example(loss, (holder, 1.0))
    assert declared.text.startswith("w: Holder(known: float, generator: [int], me: any)")
    assert_stable(loss, declared)
