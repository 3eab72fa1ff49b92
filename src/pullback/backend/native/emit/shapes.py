"""Shapes: asking for them, summing a cotangent back to one."""

from __future__ import annotations

from pullback.backend.native.emit.element import Term
from pullback.backend.native.emit.emitter import INT64, VALUE_ERROR, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import ArrayLeaf, Number, leaves_of
from pullback.ir.nodes import Call, Const


def shape(e: Emitter, call: Call) -> None:
    """`np.shape(x)`: as many numbers as axes."""
    (target,) = call.targets
    if not e.is_array(call.args[0]):
        return
    for name, length in zip(e.leaves(target), e.array(call.args[0]).shape(), strict=True):
        e.line(f"{name} = {length};")


def dim(e: Emitter, call: Call) -> None:
    """`x.shape[axis]`."""
    array, axis = e.array(call.args[0]), call.args[1]
    if not isinstance(axis, Const) or not -array.rank <= axis.value < array.rank:
        raise Untaken("an axis that is not known when compiling")
    e.set_number(call.targets[0], Term(f"{array.name}.n[{axis.value % array.rank}]", INT64))


def check_length(e: Emitter, call: Call) -> None:
    """Leave where an axis does not have the length that it was taken to have."""
    x, axis, other, other_axis = call.args
    assert isinstance(axis, Const) and isinstance(other_axis, Const)
    wanted = e.integer(other) if other_axis.value is None else f"{e.array(other).name}.n[{other_axis.value}]"
    found = f"{e.array(x).name}.n[{axis.value}]"
    e.check(f"{found} == {wanted}", VALUE_ERROR, "lengths that were taken to be equal are not")


def joint_shape(e: Emitter, call: Call) -> None:
    """The shape of a broadcast of two shapes."""
    a, b = map(e.integers, call.args)
    names = e.leaves(call.targets[0])
    rank = len(names)
    joint = e.temporary("joint")
    with e.block(""):
        e.line(f"int64_t {joint}[] = {{{', '.join(['1'] * rank) or '1'}}};")
        for part in (a, b):
            with e.block(""):
                e.line(f"const int64_t pb_part[] = {{{', '.join(part) or '1'}}};")
                e.check(
                    f"pb_broadcast({rank}, {joint}, {len(part)}, pb_part)",
                    VALUE_ERROR,
                    "shapes cannot be broadcast",
                )
        for k, name in enumerate(names):
            e.line(f"{name} = {joint}[{k}];")


def unbroadcast(e: Emitter, call: Call) -> None:
    """A cotangent summed to a shape: itself where it has it."""
    bar, wanted = call.args
    (target,) = call.targets
    lengths = e.integers(wanted)
    (leaf,) = leaves_of(target.style)
    if not e.is_array(bar):
        raise Untaken("a number summed to a shape")
    array = e.array(bar)
    if isinstance(leaf, Number):
        _to_number(e, call)
        return
    assert isinstance(leaf, ArrayLeaf)
    held = e.temporary("from")
    lead = array.rank - leaf.rank
    if lead < 0:
        raise Untaken("a cotangent of fewer axes than its place")
    with e.block(""):
        e.line(f"pb_array{array.rank} {held} = {array.name};")
        same = [f"{held}.n[{k + lead}] == {length}" for k, length in enumerate(lengths)]
        if lead == 0:
            with e.block(f"if ({' && '.join(same) or '1'})", "} else {"):
                e.set_array(e.array(target).name, array.name)
            e.depth += 1
        e.line(f"PB_RETAIN({held});")
        for k, length in enumerate(lengths):
            e.check(
                f"{length} == 1 || {held}.n[{k + lead}] == {length}",
                VALUE_ERROR,
                "a cotangent does not fit its place",
            )
        out = e.fresh(target, lengths)
        e.line(f"memset({out.name}.data, 0, (size_t)(pb_count({out.rank}, {out.name}.n) * {out.size}));")
        source, to, tail = f"{held}.data", f"{out.name}.data", ""
        for k in range(array.rank):
            e.line(f"for (int64_t pb_i{k} = 0; pb_i{k} < {held}.n[{k}]; pb_i{k}++)")
            source += f" + pb_i{k} * {held}.s[{k}]"
            if k >= lead:
                to += f" + ({out.name}.n[{k - lead}] == 1 ? 0 : pb_i{k} * {out.name}.s[{k - lead}])"
        e.line(f"    *({out.ctype} *)({to}) += ({out.ctype})*({array.ctype} *)({source});{tail}")
        e.line(f"PB_RELEASE({held});")
        if lead == 0:
            e.depth -= 1
            e.line("}")


def _to_number(e: Emitter, call: Call) -> None:
    array = e.array(call.args[0])
    total = e.temporary("total")
    with e.block(""):
        e.line(f"{array.ctype} {total} = 0;")
        at = f"{array.name}.data"
        for k in range(array.rank):
            e.line(f"for (int64_t pb_i{k} = 0; pb_i{k} < {array.name}.n[{k}]; pb_i{k}++)")
            at += f" + pb_i{k} * {array.name}.s[{k}]"
        e.line(f"    {total} += *({array.ctype} *)({at});")
        e.set_number(call.targets[0], Term(total, array.dtype))
