"""`pullback source`: the generated source, or what any stage made."""

from __future__ import annotations

import difflib
from collections.abc import Callable

import click
from rich.syntax import Syntax

from pullback.cli.loading import Subject, load, with_target
from pullback.cli.output import console, print_json
from pullback.dispatch.promotion import c_source
from pullback.errors import ArgumentError
from pullback.pipeline import observing

_FORMS = {"joint": "value_and_grad", "pair": "pullback"}


@click.command(
    epilog="""\b
Examples:
  pullback source model.py:loss --sig "w: f8[n], x: f8[m, n], y: f8[m]"
  pullback source model.py:loss --example model.py:arguments --wrt w,y --form pair
  pullback source model.py:loss --target c
  pullback source model.py:loss --stage list
  pullback source model.py:loss --stage joint/1.cse""",
)
@with_target
@click.option(
    "--form",
    type=click.Choice(list(_FORMS)),
    default="joint",
    show_default=True,
    help="One function, or two.",
)
@click.option("--readable", is_flag=True, help="Plain expressions only: no work in blocks.")
@click.option(
    "--target",
    "language",
    type=click.Choice(["numpy", "c"]),
    default="numpy",
    show_default=True,
    help="NumPy, or the C of the joint form.",
)
@click.option(
    "--stage", metavar="STAGE", help="The IR after a stage or pass: lower, primal, joint, ... or `list`."
)
def command(
    target: str,
    sig: str | None,
    example: str | None,
    wrt: tuple[str, ...],
    has_aux: bool,
    form: str,
    language: str,
    readable: bool,
    stage: str | None,
    as_json: bool,
) -> None:
    """The generated NumPy source of the gradient of TARGET, or its C, or what any stage of the compiler made."""
    subject = load(target, sig, example, wrt, has_aux)
    last = {"numpy": "source", "c": "c"}[language]
    if language == "c" and form != "joint":
        raise ArgumentError("--target c has the joint form alone", hint="leave out --form pair")
    stages = stages_of(subject, form, language, readable)
    facts: dict[str, object] = {
        "target": target,
        "signature": subject.declared.text,
        "wrt": list(subject.wrt),
        "form": form,
        "language": language,
    }
    if stage == "list":
        _list(stages, facts, as_json)
        return
    text = _stage(stages, stage or last)
    if as_json:
        print_json({**facts, "stage": stage or last, "text": text})
    elif stage in (None, "source", "c"):
        show_source(text, "c" if (stage or last) == "c" else "python")
    else:
        click.echo(text)


def stages_of(
    subject: Subject, form: str, language: str = "numpy", readable: bool = False
) -> dict[str, list[str]]:
    """What each stage made, in order; several texts where a stage had several functions."""
    found: dict[str, list[str]] = {}

    def observe(stage: str, text: Callable[[], str]) -> None:
        found.setdefault(stage, []).append(text())

    with observing(observe):
        compiled = subject.compiled()
        if language == "c":
            c_source(compiled)
        else:
            (compiled.readable() if readable else compiled).generated(_FORMS[form])
    return found


def _stage(stages: dict[str, list[str]], name: str) -> str:
    if name not in stages:
        near = difflib.get_close_matches(name, stages, 1, 0.4)
        hint = f"did you mean `{near[0]}`? " if near else ""
        raise ArgumentError(f"there is no stage {name!r}", hint=f"{hint}--stage list shows all")
    return "\n".join(text.rstrip("\n") for text in stages[name])


def _list(stages: dict[str, list[str]], facts: dict[str, object], as_json: bool) -> None:
    lines = {name: sum(text.count("\n") + 1 for text in texts) for name, texts in stages.items()}
    if as_json:
        print_json({**facts, "stages": [{"name": n, "lines": k} for n, k in lines.items()]})
        return
    for name, count in lines.items():
        click.echo(f"{name:<24} {count:>6} lines")


def show_source(text: str, language: str = "python") -> None:
    """Print source: in colour on a terminal, else as it is."""
    out = console()
    if out.is_terminal and not out.no_color and out.color_system is not None:
        out.print(
            Syntax(
                text.rstrip("\n"), language, theme="ansi_dark", background_color="default", word_wrap=False
            )
        )
    else:
        click.echo(text.rstrip("\n"))
