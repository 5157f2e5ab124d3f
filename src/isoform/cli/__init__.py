"""The command line: one command a verb, each a thin shell over `api`."""

from __future__ import annotations

import json
import os
import sys
import traceback
from typing import Annotated, Any

import typer

from isoform import __version__, supervise
from isoform.cli.adapting import ADAPT_HELP, adapt
from isoform.cli.checking import CHECK_HELP, check
from isoform.cli.comparing import COMPARE_HELP, compare, show_verdict
from isoform.cli.diffing import DIFF_HELP, diff
from isoform.cli.explaining import EXPLAIN_HELP, explain
from isoform.cli.grading import GRADE_HELP, grade
from isoform.cli.listing import LIST_HELP, list_functions
from isoform.cli.looking import RUN_HELP, run, show
from isoform.cli.mining import MINE_HELP, mine
from isoform.cli.streams import INTERRUPTED, as_sentence, complain
from isoform.model.errors import Unsupported, UserError

app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Do these two functions compute the same thing? Proofs and counterexamples for machine code.",
)
app.command(help=COMPARE_HELP)(compare)
app.command(help="Show one function: disassembly, micro-ops and control flow.")(show)
# Negative numbers are arguments: what typer does not know as an option is left for `argument_number` to judge.
app.command(help=RUN_HELP, context_settings={"ignore_unknown_options": True})(run)
app.command("list", help=LIST_HELP)(list_functions)
app.command(help=EXPLAIN_HELP)(explain)
app.command(help=ADAPT_HELP)(adapt)
app.command(help=MINE_HELP)(mine)
app.command(help=DIFF_HELP)(diff)
app.command(help=CHECK_HELP)(check)
app.command(help=GRADE_HELP)(grade)

TROUBLE = 2
"""Exit code of everything the user can fix."""
USAGE_ERROR: Any = next(base for base in reversed(typer.BadParameter.__mro__) if hasattr(base, "format_message"))
"""What typer raises for every mistake in the words typed (it has no public name for that in all its versions)."""


def _version(wanted: bool) -> None:
    if wanted:
        print(f"isoform {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


def main() -> None:
    if sys.argv[1:2] == ["compare"] and hasattr(os, "fork"):
        sys.exit(supervise.supervised(run_command, show_verdict, lambda why: _refuse(as_sentence(why), sys.argv[1:])))
    sys.exit(run_command())


def _refuse(sentence: str, words: list[str] | None) -> None:
    """One sentence, and for a program that reads our output an object as well."""
    complain(sentence)
    if {"--json", "--jsonl"} & set(sys.argv[1:] if words is None else words):
        print(json.dumps({"error": sentence}))


def run_command(words: list[str] | None = None) -> int:
    """The exit code of `isoform WORDS…`. A user's mistake is one sentence and exit code 2; only a bug shows a
    traceback, and has exit code 2 as well: Python's own, 1, would say `different`."""
    try:
        code = app(args=words, prog_name="isoform", standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:
            complain("interrupted.")
        return code if isinstance(code, int) else 0
    except USAGE_ERROR as error:
        _refuse(as_sentence(error.format_message()), words)
    except (UserError, Unsupported) as error:
        _refuse(as_sentence(str(error)), words)
    except (BrokenPipeError, SystemExit) as ended:
        if isinstance(ended, SystemExit) and ended.code == 0:  # a shell asked how a word may be completed
            return 0
        # The reader of our output has closed it: typer turns that into SystemExit. Nothing may be flushed any more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)
    except Exception:
        traceback.print_exc()
        complain("this is a bug in isoform; please report it with what is above.")
    return TROUBLE
