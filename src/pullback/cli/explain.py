"""`pullback explain`: which rule served which call and why, and what is saved for the pullback."""

from __future__ import annotations

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from pullback.api import differentiable
from pullback.cli.loading import Subject, load, with_target
from pullback.cli.output import console, print_json, users_code
from pullback.dispatch.promotion import target_of
from pullback.explain import Explanation, SiteReport, explanation
from pullback.explain.target import target_report

LEGEND = (
    "hop: where the rule was found: H0 the call as written, H1 broadcast, H2 the built-in generic rule, H3 the scalar "
    "function; call: not elementwise\n"
    "path: rule, or how the generic rule went: partials, scalar, own source, opaque, trivial (no derivative)"
)


@click.command(
    epilog="""\b
Examples:
  pullback explain model.py:loss --sig "w: f8[n], x: f8[m, n], y: f8[m]"
  pullback explain model.py:loss --example model.py:arguments --wrt w,y
  pullback explain model.py:loss --json""",
)
@with_target
def command(
    target: str, sig: str | None, example: str | None, wrt: tuple[str, ...], has_aux: bool, as_json: bool
) -> None:
    """Which rule serves which call of TARGET and why; what is saved for the pullback, and its size.

    With --example the function is run once on these arguments, for the sizes in bytes.
    """
    subject = load(target, sig, example, wrt, has_aux)
    found = _explanation(subject)
    if as_json:
        print_json(
            {
                "target": target,
                "signature": subject.declared.text,
                "wrt": list(subject.wrt),
                **found.as_dict(),
            }
        )
        return
    out = console()
    out.print(Text(f"{subject.target.qualname}({subject.declared.text})"))
    out.print(_sites(found))
    out.print(LEGEND)
    _traces(out, found)
    out.print(Text("\n".join(["", *found.target.lines()])))
    _saved(out, found)
    out.print(
        Text("\n".join(["", *(str(c) for c in found.copies)]) if found.copies else "\nno array is copied")
    )
    if found.blocks:
        out.print("\ndone in blocks where arrays are large, by NumPy:")
        out.print(Text("\n".join(f"  {f}" for f in found.blocks)))


def _explanation(subject: Subject) -> Explanation:
    if subject.example is None:
        compiled = subject.compiled()
        asked = target_of(compiled.options)
        return explanation(compiled, target=target_report(compiled, asked, waits="C takes all of it"))
    wrt = subject.wrt[0] if len(subject.wrt) == 1 else subject.wrt
    gradient = differentiable(subject.target.fn)
    with users_code(f"`{subject.target.qualname}`"):
        given = subject.example
        return gradient.explain(*given.args, argnums=wrt, has_aux=subject.has_aux, **given.kwargs)


def _sites(found: Explanation) -> Table:
    table = Table("line", "source", "call", "hop", "path", "rule", box=None, pad_edge=False)
    for site in sorted(found.sites, key=lambda s: s.line):
        served = Text(site.rule) if site.rule else Text("none", "dim")
        table.add_row(str(site.line), Text(site.text), Text(site.site), site.hop, site.path, served)
    return table


def _traces(out: Console, found: Explanation) -> None:
    """What was looked at: the same trace of several calls once."""
    out.print("\nlooked at:")
    seen: dict[tuple[str, str], list[SiteReport]] = {}
    for site in sorted(found.sites, key=lambda s: s.line):
        seen.setdefault((site.site, "\n".join(map(str, site.trace))), []).append(site)
    for (name, _), sites in seen.items():
        lines = ", ".join(dict.fromkeys(str(s.line) for s in sites))
        tree = Tree(Text(f"{name}, line{'s' * (',' in lines)} {lines}"), guide_style="dim")
        for hop in sites[0].trace:
            branch = tree.add(Text(hop.hop if hop.candidates else f"{hop.hop}: no rule"))
            for candidate in hop.candidates:
                used = candidate.verdict == "chosen"
                branch.add(Text(str(candidate), "green" if used else "dim"))
        out.print(tree)


def _saved(out: Console, found: Explanation) -> None:
    if not found.saved:
        out.print("\nnothing is saved for the pullback")
        return
    size = "" if found.size is None else f", {found.size:,} bytes"
    lengths = ", ".join(f"{name} = {length}" for name, length in found.lengths.items())
    out.print(Text(f"\nsaved for the pullback{size}{f' ({lengths})' if lengths else ''}:"))
    table = Table("line", "value", "kind", "style", "bytes", "", box=None, pad_edge=False)
    for saved in found.saved:
        what = saved.text if saved.kind == "shape" else saved.name or saved.text
        each = " an iteration" * (saved.kind == "list")
        total = "" if saved.size is None or saved.formula == str(saved.size) else f"{saved.size:,}"
        line = str(saved.line or "")
        table.add_row(line, Text(what), saved.kind, Text(saved.style), Text(saved.formula + each), total)
    out.print(table)
    for again in found.again:
        out.print(Text(f"not saved: {again}"))
