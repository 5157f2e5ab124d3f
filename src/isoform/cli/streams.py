"""What a command writes: files, progress and complaints."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from isoform.model.errors import UserError

INTERRUPTED = 130
"""Exit code of a second Ctrl-C: the first one ends the question with what is known so far."""


def refuse_unwritable(path: Path | None, option: str) -> None:
    """Before the work, not after it."""
    if path is None:
        return
    folder = path.parent
    if path.is_dir() or not folder.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise UserError(f"{option} {path} cannot be written: name a file in a folder that exists and is yours.")


def write_whole(path: Path, text: str, option: str) -> None:
    """All of it or nothing, and to where a link leads. What is no ordinary file (`/dev/null`, a pipe) stays what it
    is."""
    place = path.resolve()
    partial = place.with_name(f".{place.name}.partial")
    try:
        if place.exists() and not place.is_file():
            place.write_text(text, encoding="utf-8")
            return
        partial.write_text(text, encoding="utf-8")
        partial.replace(place)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise UserError(f"{option} {path} cannot be written: {error.strerror or error}.") from None


class Progress:
    """One line on stderr that says what is being done; nothing unless it is a terminal."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled and sys.stderr.isatty()

    def __call__(self, what: str) -> None:
        if self._enabled:
            print(f"\r\x1b[2K{what}…", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self._enabled:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)


def as_sentence(text: str) -> str:
    """With its full stop, unless it ends in a message of the compiler."""
    text = text.strip()
    return text if "\n" in text or text.endswith((".", "?", "!", "…")) else f"{text}."


def complain(sentence: str) -> None:
    from isoform.report.terminal import encodable, printable

    shown = "\n".join(printable(line.expandtabs()) for line in sentence.splitlines())
    print(encodable(f"isoform: {shown}", sys.stderr.encoding), file=sys.stderr)
