"""Code that is in no file must not refer to anything around it: nothing is there, and isoform's placement of the code
has no meaning."""

from __future__ import annotations

from itertools import zip_longest

from isoform.lift.function import Function
from isoform.model.errors import Unsupported
from isoform.model.microop import Instruction, Var

_ELSEWHERE = 0x10000
"""Bytes from the code's place to another possible place: a value that moves along is relative to the code."""


def refuse_surroundings(function: Function) -> None:
    """Raise `Unsupported` if an instruction of code that is in no file refers to something outside it."""
    if function.alone is None:
        return
    start, end = function.alone
    for address, instruction in sorted(function.instructions.items()):
        code = function.image.code_at(address)
        here, there = (function.machine.decode(code, address + shift) for shift in (0, _ELSEWHERE))
        if any(not start <= value <= end for value in _moving(here, there)):
            raise Unsupported(
                f"'{instruction.text}' refers to something outside the given bytes: "
                "compare object files, or give the code as text"
            )


def _moving(here: Instruction, there: Instruction) -> list[int]:
    """The values of an instruction that depend on its place; -1 for a value that cannot be determined."""
    pairs = zip_longest(_values(here), _values(there))
    return [-1 if left is None or right is None else left.offset for left, right in pairs if left != right]


def _values(instruction: Instruction) -> list[Var]:
    return [var for op in instruction.ops for var in (*op.ins, *((op.out,) if op.out is not None else ()))]
