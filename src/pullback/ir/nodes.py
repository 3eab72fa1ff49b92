"""The IR: structured, single assignment, pure.

    Program   = Function+                                   the first is the entry; others are callees (ir/callee.py)
    Function  = name, Param*, Block, results: Operand*
    Param     = name, tree: Operand                          the leaves are Vars; a Pack shows the structure
    Block     = Stmt*
    Stmt      = Call(targets: Var*, op: Op, args: Operand*, kwargs: (str, Operand)*)
              | If(test, then: Block, then_yields*, orelse: Block, else_yields*, results: Var*)
              | For(index: Var*, iters: Iter*, params: Var*, inits*, body: Block, yields*, go?, results: Var*)
              | While(params: Var*, inits*, cond: Block, test, body: Block, yields*, go?, results: Var*)
    Iter      = Range(start, stop, step, count?, reverse) | Seq(list, reverse)
    Operand   = Var | Const(value) | Pack(kind, items, meta)

Blocks see the values of the blocks around them.  A loop's `params` are its carried values: `inits` at entry, `yields`
after each iteration, `results` after the last.  A loop with `go` stops after an iteration in which it is false (`break`
and early `return` are only this).  Several `iters` run in step (zip of equal lengths), one index each.  `cond` sees the
params; the body does not see the values of `cond`.  `Const(UNDEF)` is a name not bound on this path, `Const(ABSENT)` a
value that nothing reads when this path is taken.  Identity is the identity of the `Var` object; `hint` is the user's
name for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from pullback.errors import NOWHERE, Loc
from pullback.styles.style import Style


class _Undef:
    """The value of a name that is not bound."""

    def __repr__(self) -> str:
        return "undef"


class _Absent:
    """What stands for a value on the paths that do not have it, to fill its place in a list or tuple: None."""

    def __repr__(self) -> str:
        return "absent"


UNDEF = _Undef()
ABSENT = _Absent()


@dataclass(frozen=True, eq=False, slots=True)
class Var:
    """A value: assigned once, compared by identity."""

    hint: str
    style: Style

    def __repr__(self) -> str:
        return f"%{self.hint}"


def list_hint(hint: str) -> str:
    """The name of a list of saved values; of a list of such lists.

    >>> list_hint("h"), list_hint(list_hint("h"))
    ('h_saved', 'h_saved_all')
    """
    return f"{hint}_all" if "_saved" in hint else f"{hint}_saved"


@dataclass(frozen=True, eq=False, slots=True)
class Const:
    """A compile-time object as an operand."""

    value: Any

    def __repr__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, eq=False, slots=True)
class Pack:
    """A structure of operands.  kind is

    "tuple", "list"   the Python display
    "slice"           items are start, stop, step (Const(None) where absent)
    "dict"            meta is the tuple of keys
    "index"           one indexing step of a view path: items are its entries (`A[i, 1:]`); always more than a number
                      is kept: a lone index is a Pack of one item with meta None, a tuple index has meta "tuple"
    "view"            one view step of a path: meta is the Op (np.transpose, np.reshape, ...), items its operands
                      after the array
    "new"             meta is (constructor, field names): constructor(**{name: item}); positional where names is None
    """

    kind: str
    items: tuple[Operand, ...]
    meta: Any = None


Operand: TypeAlias = Var | Const | Pack


@dataclass(frozen=True, slots=True)
class Alias:
    """What the array result of an operation shares with its operands (B1).

    kind: "fresh" (nothing) | "view" | "maybe" (a view or a copy) | "same" (the operand itself or a fresh array);
    operands: positions in args (packs are searched for arrays).
    """

    kind: str = "fresh"
    operands: tuple[int, ...] = ()


FRESH = Alias()


@dataclass(frozen=True, eq=False, slots=True)
class Op:
    """An operation.  `impl(*args, **kwargs)` is its meaning; with several targets it returns a sequence of them.

    style    transfer function: `style(*arg_styles, **kwarg_styles)` -> Style (a tuple of Styles for several targets);
             Const operands arrive as Static, Packs as Tup (kind = the pack's kind; slices as Tup kind "slice")
    alias    what the result shares, or a function of the Call that says so
    effect   ordered; never removed, merged, hoisted, repeated or recomputed
    writes   the result is operand 0 with a change: may be done in operand 0's buffer
    cheap    elementwise and cheaper to recompute than to save
    numpy_path  how generated code reaches it: "np.linalg.inv", "math.sin", or "" for operations with their own syntax
    """

    name: str
    impl: Callable[..., Any]
    style: Callable[..., Any]
    alias: Alias | Callable[[Call], Alias] = FRESH
    effect: bool = False
    writes: bool = False
    cheap: bool = False
    elementwise: bool = False
    numpy_path: str = ""
    fn: Any = None

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False, slots=True)
class Call:
    """`targets = op(*args, **kwargs)`."""

    targets: tuple[Var, ...]
    op: Op
    args: tuple[Operand, ...]
    kwargs: tuple[tuple[str, Operand], ...] = ()
    loc: Loc = NOWHERE


@dataclass(frozen=True, eq=False, slots=True)
class Block:
    """A list of statements."""

    stmts: tuple[Stmt, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class If:
    """`results = then_yields if test else else_yields`, after running the branch."""

    test: Operand
    then: Block
    then_yields: tuple[Operand, ...]
    orelse: Block
    else_yields: tuple[Operand, ...]
    results: tuple[Var, ...]
    loc: Loc = NOWHERE


@dataclass(frozen=True, eq=False, slots=True)
class Range:
    """`range(start, stop, step)`, cut to its first `count` entries if given, then reversed if so."""

    start: Operand
    stop: Operand
    step: Operand
    count: Operand | None = None
    reverse: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Seq:
    """The items of a run-time list (or of any iterable object, when not reversed)."""

    value: Operand
    reverse: bool = False


Iter: TypeAlias = Range | Seq


@dataclass(frozen=True, eq=False, slots=True)
class For:
    """A counted loop over `iters` in step."""

    index: tuple[Var, ...]
    iters: tuple[Iter, ...]
    params: tuple[Var, ...]
    inits: tuple[Operand, ...]
    body: Block
    yields: tuple[Operand, ...]
    results: tuple[Var, ...]
    go: Operand | None = None
    loc: Loc = NOWHERE


@dataclass(frozen=True, eq=False, slots=True)
class While:
    """A loop under a test, evaluated by `cond` on the params before each iteration."""

    params: tuple[Var, ...]
    inits: tuple[Operand, ...]
    cond: Block
    test: Operand
    body: Block
    yields: tuple[Operand, ...]
    results: tuple[Var, ...]
    go: Operand | None = None
    loc: Loc = NOWHERE


Stmt: TypeAlias = Call | If | For | While


@dataclass(frozen=True, eq=False, slots=True)
class Param:
    """A parameter under the user's name; `tree` is a Var, or a Pack whose leaves are Vars and Consts."""

    name: str
    tree: Operand
    default: Any = UNDEF


@dataclass(frozen=True, eq=False, slots=True)
class Function:
    """`name(params) -> results`.  `doc` is printed as the docstring.

    kind: "primal" (as the user wrote it), "joint" (the call of `core_ops.begin_reverse` marks where its reverse sweep
    begins) or "pullback" (all of it is reverse sweep).
    """

    name: str
    params: tuple[Param, ...]
    body: Block
    results: tuple[Operand, ...]
    loc: Loc = NOWHERE
    doc: str = ""
    kind: str = "primal"
