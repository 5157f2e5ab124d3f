"""The toy assembler, with the checks of seed 002, section 3.2."""

from __future__ import annotations

import re
from typing import NamedTuple

from isoform.isa.assembly import (
    Spot,
    as_word,
    parse_number,
    shown,
    source_lines,
    without_comment,
)
from isoform.isa.toy.machine import INSTRUCTION_BYTES, OPERATIONS, REGISTER_COUNT, encode
from isoform.model.assembled import Assembled
from isoform.model.errors import UserError

_PASTED = re.compile(r"inst\s*\((.*)\)\s*,?", re.ASCII)
_ENDS = ("RET", "RETX", "RETC")
_OPERAND_WORDS = {"x": "a register", "y": "a register", "c": "a constant", "o": "a jump offset"}


class Statement(NamedTuple):
    name: str
    spot: Spot
    fields: dict[str, int]
    """By operand letter of `OPERATIONS`."""


def assemble(text: str, path_name: str) -> Assembled:
    lines = source_lines(text, path_name)
    written = ((number, without_comment(line)) for number, line in enumerate(lines, start=1))
    statements = [_parse(line, Spot(path_name, number)) for number, line in written if line]
    if not statements:
        raise UserError(f"{path_name} has no instructions; a toy program needs at least one")
    for index, statement in enumerate(statements):
        _check_jump(statement, index, len(statements))
    return Assembled(
        code=_code(statements),
        lines={INSTRUCTION_BYTES * index: found.spot.line for index, found in enumerate(statements)},
        source=lines,
        parameters=("r0",),
        writable=False,
    )


def _parse(text: str, spot: Spot) -> Statement:
    pasted = _PASTED.fullmatch(text)
    tokens = re.split(r"\s*,\s*|\s+", (pasted.group(1) if pasted else text).strip())
    name, operands = tokens[0].upper(), tokens[1:]
    if name not in OPERATIONS:
        raise spot.error(f"unknown mnemonic {shown(tokens[0])}; toy has {', '.join(OPERATIONS)}")
    letters = OPERATIONS[name].operands
    if len(operands) != len(letters):
        wanted = ", ".join(_OPERAND_WORDS[letter] for letter in letters) or "no operands"
        raise spot.error(f"{name} takes {wanted}, not {_count(len(operands))}")
    return Statement(
        name,
        spot,
        {letter: _operand(letter, token, spot) for letter, token in zip(letters, operands, strict=True)},
    )


def _operand(letter: str, token: str, spot: Spot) -> int:
    if letter in "xy":
        return _register(token, spot)
    if letter == "c":
        word = as_word(token, spot)
        if word is None:
            raise spot.error(f"{shown(token)} is not a number; write a decimal or 0x constant")
        return word
    offset = parse_number(token)
    if offset is None:
        raise spot.error(f"{shown(token)} is not a jump offset; write how many instructions to skip")
    return offset


def _register(token: str, spot: Spot) -> int:
    number = parse_number(token[1:] if token[:1] in ("r", "R") else token)
    if number is None:
        raise spot.error(f"{shown(token)} is not a register; write r0 to r{REGISTER_COUNT - 1}")
    if not 0 <= number < REGISTER_COUNT:
        raise spot.error(f"register {shown(token)} is out of range; toy has r0 to r{REGISTER_COUNT - 1}")
    return number


def _check_jump(statement: Statement, index: int, count: int) -> None:
    """A forward jump to an instruction or exactly to the end, so that no program can loop or leave its code."""
    offset = statement.fields.get("o", 0)
    if offset < 0:
        raise statement.spot.error(f"{statement.name} by {offset} jumps backward, a loop; toy jumps only forward")
    if index + 1 + offset > count:
        past = index + 1 + offset - count
        raise statement.spot.error(
            f"{statement.name} by {offset} jumps out of range, {past} past the end; the largest offset here is "
            f"{count - index - 1}"
        )


def _code(statements: list[Statement]) -> bytes:
    data = b"".join(_encoded(statement) for statement in statements)
    return data + encode("RET", implicit=True) if _end_is_reached(statements) else data


def _encoded(statement: Statement) -> bytes:
    fields = statement.fields
    immediate = fields.get("c", fields.get("o", 0))
    return encode(statement.name, fields.get("x", 0), fields.get("y", 0), immediate)


def _end_is_reached(statements: list[Statement]) -> bool:
    """Whether control can fall off the end, which returns r0."""
    if statements[-1].name not in _ENDS:
        return True
    return any(
        "o" in statement.fields and index + 1 + statement.fields["o"] == len(statements)
        for index, statement in enumerate(statements)
    )


def _count(operands: int) -> str:
    return "1 operand" if operands == 1 else f"{operands} operands"
