"""Which calls C takes: one row for each operation, by the name that the IR prints."""

from __future__ import annotations

from collections.abc import Callable

from pullback.backend.native.emit import (
    access,
    bins,
    builtins,
    contract,
    creation,
    effects,
    functions,
    groups,
    host_calls,
    joining,
    lists,
    loose,
    products,
    saving,
    scalars,
    scans,
    shapes,
    views,
)
from pullback.backend.native.emit.element import is_number
from pullback.backend.native.emit.emitter import Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import operand_style
from pullback.ir.callee import callee_of
from pullback.ir.kernel import kernel_of
from pullback.ir.nodes import Call
from pullback.styles.style import Array, Style

Handler = Callable[[Emitter, Call], None]

HANDLERS: dict[str, Handler] = {
    "load": access.load, "store": access.store, "add_at": access.add_at,
    "scale": scalars.scale, "accumulate": scalars.accumulate, "cast": scalars.cast, "number": scalars.number,
    "bool": scalars.truth, "not": scalars.negation,
    "shape": shapes.shape, "dim": shapes.dim, "joint_shape": shapes.joint_shape, "unbroadcast": shapes.unbroadcast,
    "check_length": shapes.check_length, "check_finite": effects.check_finite,
    "copy": creation.copy, "same": creation.alias, "known": creation.alias,
    "np.zeros": creation.zeros, "np.ones": creation.ones, "np.empty": creation.empty, "np.full": creation.full,
    "np.zeros_like": creation.zeros_like, "np.ones_like": creation.ones_like, "np.empty_like": creation.empty_like,
    "np.full_like": creation.full_like,
    "np.array": joining.array, "np.concatenate": joining.concatenate, "np.stack": joining.stack,
    "np.hstack": joining.hstack, "np.vstack": joining.vstack, "np.cumsum": scans.running, "np.cumprod": scans.running,
    "np.argmax": scans.extreme, "np.argmin": scans.extreme, "np.outer": scans.outer, "np.arange": scans.arange,
    "np.eye": scans.eye, "np.identity": scans.eye,
    "zeros_list": loose.zeros, "spread_list": loose.spread, "add_lists": loose.add_lists, "loose_add": loose.add,
    "make_list": lists.make, "list_set": lists.put, "list_drop": lists.drop, "list_join": lists.join,
    "list_slice": lists.cut, "copy_list": lists.copy_list, "list": lists.rows, "list_rows": lists.rows,
    "nested_rows": lists.nested,
    "raise": effects.raise_, "assert": effects.assert_, "enter": effects.enter, "leave": effects.leave,
    "effect": effects.effect, "format": effects.text,
    "min": builtins.least, "max": builtins.greatest, "int": builtins.integer, "round": builtins.rounded,
    "divmod": builtins.divmod_,
    "pack_saved": saving.pack, "unpack_saved": saving.unpack,
    "list_append": lists.append, "list_get": lists.get, "list_len": lists.length,
    "np.dot": products.dot, "@": products.dot, "np.matmul": products.dot, "np.vdot": products.vdot,
    "np.searchsorted": bins.searchsorted, "np.histogram": bins.histogram, "np.triu": bins.triangle, "np.tril": bins.triangle,
    "np.tensordot": contract.tensordot, "np.einsum": contract.einsum,
    **dict.fromkeys(
        ("np.transpose", "np.permute_dims", "np.swapaxes", "np.matrix_transpose", "np.moveaxis", "np.expand_dims",
         "np.broadcast_to", "np.reshape", "np.ravel", "np.squeeze", "np.flip", "np.real", "np.imag"), views.call),
}  # fmt: skip


def emit_call(e: Emitter, call: Call) -> None:
    """Emit a call: by its handler, else as a call of NumPy's function.  Raises Untaken where neither takes it."""
    lines, depth = len(e.lines), e.depth
    try:
        _handler_of(call)(e, call)
    except Untaken as reason:
        if not (host_calls.taken(call) or kernel_of(call)):
            raise
        del e.lines[lines:]  # what the handler had emitted before it gave up
        e.depth = depth
        try:
            _by_numpy(e, call)
        except Untaken:
            raise reason from None


def _by_numpy(e: Emitter, call: Call) -> None:
    """A call as a loop of its own, or by NumPy; a kernel statement by statement."""
    if kernel_of(call) is None:
        lines = len(e.lines)
        try:
            groups.call(e, groups.alone(call))
        except Untaken:
            del e.lines[lines:]
            host_calls.host_call(e, call)
        return
    body, results = groups.statements(e, call)
    for stmt in body:
        emit_call(e, stmt)
    e.moves(call.targets, results)


def _handler_of(call: Call) -> Handler:
    """What emits a call.  Raises Untaken where nothing does."""
    if kernel_of(call) is not None:
        return groups.call
    if callee_of(call) is not None:
        return functions.call
    found = HANDLERS.get(call.op.name)
    if found is not None:
        return found
    if call.op.elementwise and all(_is_single(operand_style(x)) for x in call.args):
        return scalars.call_of_numbers
    raise Untaken(_shown(call))


def _is_single(style: Style) -> bool:
    """Whether a style is that of a number, or of an array of rank 0."""
    return is_number(style) or (isinstance(style, Array) and style.axes == ())


def _shown(call: Call) -> str:
    name = call.op.numpy_path or call.op.name
    return f"`{name}`"
