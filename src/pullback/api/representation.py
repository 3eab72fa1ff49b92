"""What a notebook shows of a function: its source beside that of the signature that was compiled last."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pullback.api.callables import target_of
from pullback.dispatch.variants import Variant
from pullback.errors import PullbackError
from pullback.frontend.source import source_of
from pullback.ir.nodes import Pack, Var
from pullback.ir.pretty import StylePrinter, constant
from pullback.notebook import message, view, view_before

BEFORE = "not compiled yet: call it once, and show it again"


def html_of(f: Any, latest: Iterable[Variant | None]) -> str:
    """The page for a callable, of which these signatures were compiled last."""
    variant = max((v for v in latest if v is not None), key=lambda v: v.number, default=None)
    try:
        source = source_of(target_of(f).fn)
        if variant is None:
            return view_before(source, BEFORE)
        form = "pullback" if ("primal", False) in variant.functions else "value_and_grad"
        generated = variant.compiled.generated(form)
        return view([source], generated.source, generated.places, f"generated for {signature_text(variant)}")
    except PullbackError as error:
        return message(str(error))


def signature_text(variant: Variant) -> str:
    """The arguments of a signature with their styles, as in `x: f64[n], k: float`."""
    printer, shown = StylePrinter(), []
    count = len(variant.params) - len(variant.outside)
    for param in variant.params[:count]:
        tree = param.tree
        if isinstance(tree, Var):
            shown.append(f"{param.name}: {printer.style(tree.style)}")
        elif isinstance(tree, Pack):
            shown.append(f"{param.name}: {tree.kind if tree.kind != 'new' else tree.meta[0].__name__}")
        else:
            shown.append(f"{param.name} = {constant(tree.value)}")
    return ", ".join(shown) or "no arguments"
