"""C written on the command line: bounded, cleaned, and parsed by pycparser with errors that say where."""

from __future__ import annotations

import re
from typing import Any

from isoform.model.errors import UserError
from isoform.model.values import dataclass

PREDECLARED: tuple[str, ...] = (
    *("size_t", "ssize_t", "ptrdiff_t", "intptr_t", "uintptr_t", "off_t", "time_t", "clock_t"),
    *("int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"),
    *("intmax_t", "uintmax_t", "bool", "wchar_t", "wint_t", "pid_t", "mode_t", "uid_t", "gid_t", "socklen_t"),
    *("va_list", "FILE"),
)
"""Typedef names that may be used without a definition; `c_types` knows what each one is."""

_PRELUDE = "".join(f"typedef int {name};" for name in PREDECLARED)
_ALTERNATE_KEYWORD = re.compile(r"\b__(restrict|const|volatile|inline|signed)(?:__)?\b")
_PLACE = re.compile(r"^[^:]*:(\d+):(\d+): (.*)$", re.DOTALL)


@dataclass(frozen=True)
class Source:
    """Where a text came from and what it should have been, for error messages."""

    option: str
    wanted: str
    """What to write instead, with an example."""
    limit: int
    """Longest text accepted, in characters."""

    def error(self, problem: str) -> UserError:
        return UserError(f"{self.option} {problem}.")

    def does_not_parse(self, where: str) -> UserError:
        return self.error(f"does not parse {where}; write {self.wanted}")


def cleaned(source: Source, text: str) -> str:
    """The text on one line, columns kept, free of what only a preprocessor or an attribute could mean."""
    if len(text) > source.limit:
        raise source.error(f"is {len(text)} characters long; the limit is {source.limit}")
    if not text.strip():
        raise source.error(f"is empty; write {source.wanted}")
    for unwanted, name in (
        ("#", "preprocessor lines"),
        ("/*", "comments"),
        ("//", "comments"),
        ("[[", "attributes"),
        ("__attribute__", "attributes"),
        ("_Alignas", "alignment specifiers"),
    ):
        if unwanted in text:
            raise source.does_not_parse(f"at column {text.index(unwanted) + 1}: {name} are not understood here")
    text = re.sub(r"\s", " ", text)
    return _ALTERNATE_KEYWORD.sub(lambda match: match[1].ljust(len(match[0])), text)


def parse_c(source: Source, before: str, text: str, after: str) -> Any:
    """pycparser's tree of `before`, `text` and `after` put together. Errors give columns of `text`."""
    from pycparser import CParser

    try:
        return CParser().parse(f"{_PRELUDE}{before}\n{text}\n{after}", filename="")
    except RecursionError:
        raise source.error("is nested too deeply; write it with fewer brackets") from None
    except Exception as error:
        # Whatever the parser trips over in a hostile text is a text that does not parse.
        raise source.does_not_parse(_where(str(error), text)) from None


def declarations(tree: Any) -> list[Any]:
    """The top-level declarations of a parsed tree without those put there by `parse_c`."""
    return list(tree.ext[len(PREDECLARED) :])


def _where(message: str, text: str) -> str:
    place = _PLACE.match(message)
    if place is None:
        return "to its end"
    line, column, what = int(place[1]), int(place[2]), place[3]
    if line != 2 or not text[column - 1 :].strip():
        return "because it ends too early"
    before = re.match(r"before: (\S+)", what)
    word = before[1] if before else text[column - 1 :].split()[0]
    return f"at column {column}, before '{printable(word)}'"


def printable(text: str) -> str:
    """Text of the user's, short and without control characters, to be shown in a message."""
    shown = "".join(character if character.isprintable() else "?" for character in text)
    return shown if len(shown) <= 40 else shown[:39] + "…"
