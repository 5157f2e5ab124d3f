"""What the assemblers of the small machines share: comments, numbers, errors with their line."""

from __future__ import annotations

import re
from typing import NamedTuple

from isoform.model.errors import UserError

SOURCE_LIMIT = 1 << 20
"""Bytes of source text an assembler accepts."""

_CONTROL_CHARACTER = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_COMMENT = re.compile(r";|#|//")
_NUMBER = re.compile(r"[+-]?(0[xX][0-9a-fA-F]{1,64}|[0-9]{1,64})", re.ASCII)


class Spot(NamedTuple):
    """A line of a source file, so that an error can name it."""

    path: str
    line: int

    def error(self, sentence: str) -> UserError:
        return UserError(f"{self.path}:{self.line}: {sentence}")


def check_size(size: int, path: str) -> None:
    if size > SOURCE_LIMIT:
        raise UserError(f"{path} is larger than {SOURCE_LIMIT >> 20} MiB, the most an assembler accepts; split it")


def source_lines(text: str, path: str) -> tuple[str, ...]:
    """The lines of a source as they go into `Image.source`. Control characters are refused here because reports
    print these lines to a terminal."""
    check_size(len(text), path)
    lines = tuple(text.replace("\r\n", "\n").split("\n"))
    for number, line in enumerate(lines, start=1):
        if "\r" in line or _CONTROL_CHARACTER.search(line):
            raise Spot(path, number).error("control characters are not assembly text; is this a binary file?")
    return lines


def without_comment(line: str) -> str:
    return _COMMENT.split(line, maxsplit=1)[0].strip()


def parse_number(token: str) -> int | None:
    """A decimal or `0x` number with an optional sign; None for anything else."""
    if not _NUMBER.fullmatch(token):
        return None
    digits = token.lstrip("+-")
    magnitude = int(digits, 16) if digits[:2] in ("0x", "0X") else int(digits)
    return -magnitude if token[0] == "-" else magnitude


def as_word(token: str, spot: Spot) -> int | None:
    """The 32 bits that a number denotes, signed or unsigned; None if `token` is not a number."""
    number = parse_number(token)
    if number is not None and not -(1 << 31) <= number < 1 << 32:
        raise spot.error(f"the constant {shown(token)} does not fit in 32 bits")
    return None if number is None else number & 0xFFFF_FFFF


def shown(token: str) -> str:
    """A token of the user's in quotes, shortened."""
    return repr(token if len(token) <= 40 else token[:37] + "...")
