"""The command line: one command a verb, each a thin shell over `api`."""

from __future__ import annotations

import json
import os
import sys
import traceback
from typing import Any

import typer

from isoform import supervise
from isoform.cli.streams import INTERRUPTED, as_sentence, complain
from isoform.cli.verbs import answered
from isoform.model.errors import Unsupported, UserError

TROUBLE = 2
"""Exit code of everything the user can fix."""
USAGE_ERROR: Any = next(base for base in reversed(typer.BadParameter.__mro__) if hasattr(base, "format_message"))
"""What typer raises for every mistake in the words typed (it has no public name for that in all its versions)."""


def main() -> None:
    if sys.argv[1:2] == ["compare"] and hasattr(os, "fork"):
        from isoform.cli.comparing import show_verdict

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
        code = answered(sys.argv[1:] if words is None else words)
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
