"""The command `pullback` itself: its subcommands, and how errors end it.

Exit codes: 0 fine, 1 a check that failed, 2 bad input.
"""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from typing import Any

import click

import pullback
from pullback.cli.output import defect, fail, interrupted

# The subcommands, each the function of its name in the module of its name; imported when they are asked for.
COMMANDS = ("compile", "source", "explain", "check", "rules", "cache", "bench")


class Commands(click.Group):
    """A group whose commands are imported on demand, and whose errors are one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order of a user's path."""
        return [name for name in COMMANDS if importlib.util.find_spec(f"pullback.cli.{name}")]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = importlib.import_module(f"pullback.cli.{cmd_name}").command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Without arguments, the help: what click makes of it differs between its versions."""
        return super().parse_args(ctx, args or ["--help"])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments begin with; for an unknown one, the nearest."""
        if args and args[0] not in self.list_commands(ctx):
            raise click.UsageError(
                f"there is no command {args[0]!r}{_near(args[0], self.list_commands(ctx))}", ctx
            )
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **options: Any) -> Any:
        """Run, and end the process with the exit code."""
        sys.exit(self._code(args, {**options, "prog_name": "pullback", "standalone_mode": False}))

    def _code(self, args: tuple[Any, ...], options: dict[str, Any]) -> int:
        try:
            code = super().main(*args, **options)
        except click.NoSuchOption as error:
            path = error.ctx.command_path if error.ctx is not None else "pullback"
            return fail(f"no such option {error.option_name!r}{self._meant(error)}", f"see {path} --help")
        except click.UsageError as error:
            path = error.ctx.command_path if error.ctx is not None else "pullback"
            return fail(_sentence(error.format_message()), f"see {path} --help")
        except click.ClickException as error:
            return fail(_sentence(error.format_message()))
        except (click.Abort, KeyboardInterrupt):
            return interrupted()
        except BrokenPipeError:  # the reader, as `head`, has seen enough
            with contextlib.suppress(OSError):
                sys.stdout.close()
            return 0
        except Exception:
            return defect()
        return code if isinstance(code, int) else 0

    def _meant(self, error: click.NoSuchOption) -> str:
        """What a wrong option may mean: another one, or that of another command."""
        if error.possibilities:
            return f"; did you mean {' or '.join(f'`{name}`' for name in sorted(error.possibilities))}?"
        ctx = click.Context(self)
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        having = [n for n, c in commands if c and any(error.option_name in p.opts for p in c.params)]
        return f"; it is one of `pullback {having[0]}`" if having else ""


def _near(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1, 0.5)
    return f"; did you mean `{near[0]}`?" if near else ""


def _sentence(text: str) -> str:
    """A message of click's in the form of ours: small, without a full stop, in one line."""
    text = " ".join(text.split()).rstrip(".")
    return text[:1].lower() + text[1:]


SETTINGS = {
    "help_option_names": ["-h", "--help"],
    "max_content_width": 100,
    "token_normalize_func": lambda token: token.replace("_", "-"),  # --has_aux is --has-aux
}


@click.group(cls=Commands, context_settings=SETTINGS)
@click.version_option(pullback.__version__, prog_name="pullback", message="%(prog)s %(version)s")
def app() -> None:
    """Gradients of plain NumPy functions, by rewriting their source.

    \b
    Examples:
      pullback check model.py:loss --sig "w: f8[n], x: f8[m, n], y: f8[m]"
      pullback compile model.py:loss -o model_grad.py --sig "w: f8[n], x: f8[m, n], y: f8[m]"
      pullback source model.py:loss --example model.py:arguments

    A TARGET is package.module:function, file.py:function or file.py:Class.method.
    """
