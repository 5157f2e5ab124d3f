"""The cs241 assembler.

It accepts the course's syntax and the looser one of seed 000's figures. What a figure leaves out becomes explicit as
real instructions: an immediate operand becomes a `lis` into a register that the program never mentions, and a program
that can run off its end gets a `jr $31` there.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from isoform.isa.assembly import (
    Spot,
    as_word,
    parse_number,
    shown,
    source_lines,
    without_comment,
)
from isoform.isa.cs241.machine import FIELD_SHIFTS, OPERATIONS, WORD_BYTES, operation_name
from isoform.model.assembled import Assembled
from isoform.model.errors import UserError
from isoform.model.values import dataclass

_LABEL = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*:", re.ASCII)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_REGISTER = re.compile(r"\$([0-9]{1,9})", re.ASCII)
_OFFSET_AND_BASE = re.compile(r"([^()]*)\(([^()]*)\)")
_OPERAND_WORDS = {"d": "a register", "s": "a register", "t": "a register", "i": "a number", "w": "a number or label"}
_IMMEDIATE_ALLOWED = frozenset(("add", "sub", "slt", "sltu", "mult", "multu", "div", "divu", "beq", "bne"))
_SCRATCH_CANDIDATES = range(29, 3, -1)
_JUMP_HOME = OPERATIONS["jr"].word | 31 << FIELD_SHIFTS["s"]


class Immediate(NamedTuple):
    """A number where the machine wants a register."""

    value: int


Operand = int | str | Immediate
"""A register or number, a label, or an immediate."""


@dataclass(frozen=True)
class Statement:
    name: str
    operands: dict[str, Operand]
    """By operand letter of `OPERATIONS`; `w` is the value of a `.word`."""
    spot: Spot

    @property
    def immediates(self) -> list[int]:
        return [operand.value for operand in self.operands.values() if isinstance(operand, Immediate)]

    @property
    def words(self) -> int:
        return 1 + 2 * len(self.immediates)


@dataclass(frozen=True)
class _Program:
    statements: list[Statement]
    labels: dict[str, int]
    """Label to index of the statement it stands before; the number of statements at the end."""
    starts: list[int]
    """Address of each statement, and of the end."""
    expanded: list[int]
    """Indices of the statements that have an immediate."""
    scratch: list[int]
    """Registers that immediates are loaded into: as many as one instruction has immediates."""

    def address(self, label: str, spot: Spot) -> int:
        if label not in self.labels:
            raise spot.error(f"undefined label {shown(label)}; define it with '{label[:40]}:' before an instruction")
        return self.starts[self.labels[label]]


def assemble(text: str, path_name: str) -> Assembled:
    lines = source_lines(text, path_name)
    statements, labels = _parse(lines, path_name)
    if not statements:
        raise UserError(f"{path_name} has no instructions; a cs241 program needs at least one")
    if statements[-1].name == "lis":
        raise statements[-1].spot.error("lis needs a value on the next line; write a .word there")
    starts = list(accumulate((WORD_BYTES * statement.words for statement in statements), initial=0))
    expanded = [index for index, statement in enumerate(statements) if statement.immediates]
    program = _Program(statements, labels, starts, expanded, _scratch_registers(statements))
    words: list[int] = []
    for index in range(len(statements)):
        words += _encoded(program, index)
    if len(statements) in labels.values() or _can_run_off(words):
        words.append(_JUMP_HOME)
    return Assembled(
        code=b"".join(word.to_bytes(WORD_BYTES, "big") for word in words),
        lines=_lines(program),
        source=lines,
        parameters=("$1", "$2"),
        writable=True,
    )


def _parse(lines: tuple[str, ...], path_name: str) -> tuple[list[Statement], dict[str, int]]:
    statements: list[Statement] = []
    labels: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        spot = Spot(path_name, number)
        rest = without_comment(line)
        position = 0
        while label := _LABEL.match(rest, position):
            if label[1] in labels:
                raise spot.error(f"label {shown(label[1])} is defined twice; rename one of them")
            labels[label[1]] = len(statements)
            position = label.end()
        if written := rest[position:].strip():
            after_lis = bool(statements) and statements[-1].name == "lis"
            statements.append(_statement(written, after_lis, spot))
    return statements, labels


def _statement(text: str, after_lis: bool, spot: Spot) -> Statement:
    first, *others = text.split(maxsplit=1)
    name, rest = first.lower(), others[0] if others else ""
    if name == ".word":
        return Statement(".word", {"w": _word_operand(rest, spot)}, spot)
    if name in OPERATIONS:
        return Statement(name, _operands(name, rest, spot), spot)
    if not rest and (parse_number(first) is not None or (after_lis and _NAME.fullmatch(first))):
        if not after_lis:
            raise spot.error(f"the bare number {shown(first)} may only follow lis; write .word {first[:40]}")
        return Statement(".word", {"w": _word_operand(first, spot)}, spot)
    raise spot.error(f"unknown mnemonic {shown(first)}; cs241 has {', '.join(OPERATIONS)} and .word")


def _operands(name: str, text: str, spot: Spot) -> dict[str, Operand]:
    letters = OPERATIONS[name].operands
    tokens = [token.strip() for token in text.split(",")] if text else []
    if letters == "tis" and len(tokens) == 2 and (pair := _OFFSET_AND_BASE.fullmatch(tokens[1])):
        tokens = [tokens[0], pair[1].strip() or "0", pair[2].strip()]
    if len(tokens) != len(letters):
        wanted = ", ".join(_OPERAND_WORDS[letter] for letter in letters)
        raise spot.error(f"{name} takes {wanted}, separated by commas, not {shown(text)}")
    return {letter: _operand(name, letter, token, spot) for letter, token in zip(letters, tokens, strict=True)}


def _operand(name: str, letter: str, token: str, spot: Spot) -> Operand:
    if letter == "i":
        return _number_operand(name, token, spot)
    if letter != "d" and name in _IMMEDIATE_ALLOWED and (value := as_word(token, spot)) is not None:
        return Immediate(value) if value else 0
    return _register(token, spot)


def _register(token: str, spot: Spot) -> int:
    register = _REGISTER.fullmatch(token)
    if register is None:
        raise spot.error(f"{shown(token)} is not a register; write $0 to $31")
    if int(register[1]) > 31:
        raise spot.error(f"register {shown(token)} is out of range; cs241 has $0 to $31")
    return int(register[1])


def _number_operand(name: str, token: str, spot: Spot) -> Operand:
    """The offset of `lw` and `sw`, or the target of a branch: a label or a number of words."""
    number = parse_number(token)
    if number is None:
        if name in ("beq", "bne") and _NAME.fullmatch(token):
            return token
        raise spot.error(f"{shown(token)} is not a number{' or label' if name in ('beq', 'bne') else ''}")
    written_as_bits = token[:2].lower() == "0x" and number < 1 << 16
    if not (written_as_bits or -(1 << 15) <= number < 1 << 15):
        raise spot.error(f"the offset {shown(token)} is out of range; {name} takes -32768 to 32767")
    return number - (1 << 16) if number >> 15 == 1 else number


def _word_operand(token: str, spot: Spot) -> Operand:
    value = as_word(token, spot)
    if value is not None:
        return value
    if not _NAME.fullmatch(token):
        raise spot.error(f".word takes a number or a label, not {shown(token)}")
    return token


def _scratch_registers(statements: list[Statement]) -> list[int]:
    """Registers for immediates, none of which any instruction of the program mentions, so that loading them
    changes nothing the program can see."""
    needed = max((statement for statement in statements), key=lambda statement: len(statement.immediates))
    mentioned = {register for statement in statements for register in _mentioned(statement)}
    free = [register for register in _SCRATCH_CANDIDATES if register not in mentioned]
    if len(free) < len(needed.immediates):
        raise needed.spot.error("an immediate needs a register the program does not mention; free one of $4 to $29")
    return free[: len(needed.immediates)]


def _mentioned(statement: Statement) -> Iterator[int]:
    """Registers that a statement names, including those of an instruction written as `.word`."""
    for letter, operand in statement.operands.items():
        if letter in "dst" and isinstance(operand, int):
            yield operand
        elif letter == "w" and isinstance(operand, int) and (name := operation_name(operand)):
            yield from (operand >> FIELD_SHIFTS[field] & 31 for field in OPERATIONS[name].operands if field != "i")


def _encoded(program: _Program, index: int) -> list[int]:
    """The words of one statement: a `lis` for each immediate, then the instruction itself."""
    statement = program.statements[index]
    if statement.name == ".word":
        value = statement.operands["w"]
        assert not isinstance(value, Immediate)
        return [program.address(value, statement.spot) if isinstance(value, str) else value]
    words: list[int] = []
    word = OPERATIONS[statement.name].word
    scratch = iter(program.scratch)
    for letter, operand in statement.operands.items():
        if isinstance(operand, Immediate):
            register = next(scratch)
            words += [OPERATIONS["lis"].word | register << FIELD_SHIFTS["d"], operand.value]
            field = register
        elif letter == "i" and statement.name in ("beq", "bne"):
            field = _branch_offset(program, index, operand) & 0xFFFF
        else:
            assert isinstance(operand, int)
            field = operand & 0xFFFF
        word |= field << FIELD_SHIFTS[letter]
    return [*words, word]


def _branch_offset(program: _Program, index: int, operand: int | str) -> int:
    spot, following = program.statements[index].spot, program.starts[index + 1]
    if isinstance(operand, int):
        _check_no_expansion(program, following, following + WORD_BYTES * operand, spot)
        return operand
    offset = (program.address(operand, spot) - following) // WORD_BYTES
    if not -(1 << 15) <= offset < 1 << 15:
        raise spot.error(f"label {shown(operand)} is {offset} words away; a branch reaches -32768 to 32767")
    return offset


def _check_no_expansion(program: _Program, following: int, target: int, spot: Spot) -> None:
    """A number of words is ambiguous if it counts across instructions that were not written as such."""
    low, high = min(following, target), max(following, target)
    first = bisect_right(program.expanded, low, key=lambda index: program.starts[index + 1])
    if first < len(program.expanded) and program.starts[program.expanded[first]] < high:
        crossed = program.statements[program.expanded[first]].spot.line
        raise spot.error(
            f"a branch by a number crosses line {crossed}, whose immediate takes further instructions; "
            "branch to a label instead"
        )


def _can_run_off(words: list[int]) -> bool:
    """Whether control could pass the last word: it is an instruction other than `jr`, or the value of a `lis`. The
    value of a `lis` is no instruction, whatever it looks like."""
    is_value = False
    for word in words[:-1]:
        is_value = not is_value and operation_name(word) == "lis"
    return is_value or operation_name(words[-1]) not in (None, "jr")


def _lines(program: _Program) -> dict[int, int]:
    return {
        address: statement.spot.line
        for statement, start, end in zip(program.statements, program.starts, program.starts[1:], strict=False)
        for address in range(start, end, WORD_BYTES)
    }
