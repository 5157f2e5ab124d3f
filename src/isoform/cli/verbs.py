"""The verbs of the command line. Only what a command needs is imported, and only its options are looked at: for all ten
verbs that takes as long as a small question."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

import typer

from isoform import __version__


def _compare(app: typer.Typer) -> None:
    from isoform.cli.comparing import COMPARE_HELP, compare

    app.command(help=COMPARE_HELP)(compare)


def _show(app: typer.Typer) -> None:
    from isoform.cli.looking import show

    app.command(help="Show one function: disassembly, micro-ops and control flow.")(show)


def _run(app: typer.Typer) -> None:
    from isoform.cli.looking import RUN_HELP, run

    # Negative numbers are arguments: what typer does not know as an option is left for `argument_number` to judge.
    app.command(help=RUN_HELP, context_settings={"ignore_unknown_options": True})(run)


def _list(app: typer.Typer) -> None:
    from isoform.cli.listing import LIST_HELP, list_functions

    app.command("list", help=LIST_HELP)(list_functions)


def _explain(app: typer.Typer) -> None:
    from isoform.cli.explaining import EXPLAIN_HELP, explain

    app.command(help=EXPLAIN_HELP)(explain)


def _adapt(app: typer.Typer) -> None:
    from isoform.cli.adapting import ADAPT_HELP, adapt

    app.command(help=ADAPT_HELP)(adapt)


def _mine(app: typer.Typer) -> None:
    from isoform.cli.mining import MINE_HELP, mine

    app.command(help=MINE_HELP)(mine)


def _diff(app: typer.Typer) -> None:
    from isoform.cli.diffing import DIFF_HELP, diff

    app.command(help=DIFF_HELP)(diff)


def _check(app: typer.Typer) -> None:
    from isoform.cli.checking import CHECK_HELP, check

    app.command(help=CHECK_HELP)(check)


def _grade(app: typer.Typer) -> None:
    from isoform.cli.grading import GRADE_HELP, grade

    app.command(help=GRADE_HELP)(grade)


VERBS: dict[str, Callable[[typer.Typer], None]] = {
    "compare": _compare,
    "show": _show,
    "run": _run,
    "list": _list,
    "explain": _explain,
    "adapt": _adapt,
    "mine": _mine,
    "diff": _diff,
    "check": _check,
    "grade": _grade,
}
"""In the order of `--help`."""


def _version(wanted: bool) -> None:
    if wanted:
        print(f"isoform {__version__}")
        raise typer.Exit


def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


def application(*verbs: str) -> typer.Typer:
    """The command line with these verbs."""
    app = typer.Typer(
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Do these two functions compute the same thing? Proofs and counterexamples for machine code.",
    )
    for verb in verbs:
        VERBS[verb](app)
    app.callback(invoke_without_command=True)(_root)
    return app


@cache
def _commands(*verbs: str) -> Callable[..., Any]:
    return typer.main.get_command(application(*verbs))


def answered(words: list[str]) -> Any:
    """What `isoform WORDS…` returns. If the first word is no verb (an option, a mistake), the others are needed too, to
    be listed or suggested."""
    verbs = words[:1] if words and words[0] in VERBS else list(VERBS)
    return _commands(*verbs)(args=words, prog_name="isoform", standalone_mode=False)
