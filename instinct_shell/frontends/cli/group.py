"""The click side of `instinct`: help, completion and usage errors for every verb, each loaded by need."""

from __future__ import annotations

import difflib

import click

from ...errors import UsageError
from ...model.version import VERSION
from .main import VERBS, load


class Verbs(click.Group):
    """Takes its commands from the table in `main.py`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click's signature
        return load(cmd_name) if cmd_name in VERBS else None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], VERBS, n=1)
            hint = f"did you mean `instinct {near[0]}`?" if near else "see `instinct --help` for the verbs"
            raise UsageError(f"there is no verb `{args[0]}`", hint=hint)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  # click's signature
        # From the table: `--help` must not load every verb.
        with formatter.section("Verbs"):
            formatter.write_dl([(verb, summary) for verb, (_, summary) in VERBS.items()])


@click.group(
    cls=Verbs,
    name="instinct",
    epilog="\b\nExamples:\n  instinct check -c 'rm -rf ~'\n  instinct-exec -- CMD    (runs a command under guard)",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@click.version_option(VERSION, prog_name="instinct")
def instinct() -> None:
    """The reflex under an AI agent's shell: judge commands, look at what ran, keep the books."""


def run_click(arguments: list[str]) -> int:
    """Let click do it; its usage errors become ours, its exit statuses the process's."""
    try:
        result = instinct.main(arguments, prog_name="instinct", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return UsageError.exit_status
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx is not None else "instinct"
        raise UsageError(_one_line(error.format_message()).rstrip("."), hint=f"see `{command} --help`") from error
    except click.Abort as error:
        raise KeyboardInterrupt from error
    except click.ClickException as error:
        raise UsageError(error.format_message()) from error
    return result if isinstance(result, int) else 0


def _one_line(message: str) -> str:
    """click lists the choices of a missing argument one a line, and indented; a message of ours is one line."""
    return " ".join(message.split())
