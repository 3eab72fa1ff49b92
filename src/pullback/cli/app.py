"""The command `pullback` itself: its subcommands, and how errors end it."""

from __future__ import annotations

import click

import pullback


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(pullback.__version__, prog_name="pullback")
def app() -> None:
    """Gradients of plain NumPy functions, by rewriting their source."""


def run() -> int:
    """Run the command; returns the exit code."""
    try:
        code = app(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    return code if isinstance(code, int) else 0
