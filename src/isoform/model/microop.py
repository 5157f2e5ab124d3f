"""Micro-ops: the one intermediate language that every machine is lifted to.

Everything after lifting (runner, symbolic step, liveness, report) sees only these values. They are
immutable and picklable. Widths are in bytes; values are unsigned integers below 2**(8*size).
Booleans are one byte, 0 or 1: the lifters guarantee that, and every consumer may rely on it.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import NamedTuple

from isoform.model.values import dataclass


class Space(IntEnum):
    """Where a `Var` lives."""

    CONST = 0
    """`offset` is the value itself."""
    REGISTER = 1
    """`offset` is the byte offset in the machine's register file (SLEIGH's, where SLEIGH lifts)."""
    TEMP = 2
    """`offset` is a number without meaning outside its instruction; temps never partly overlap."""
    CODE = 3
    """`offset` is a machine-code address: the target of a branch or call."""
    INNER = 4
    """`offset` is the index of a micro-op of the same instruction: a branch inside it."""
    ADDRESS = 5
    """An address that a linker decides. `offset` holds, in its low 64 bits, the number at which isoform placed it, and
    above these the start of the object that it is relative to (see `load/objects.py`). A run uses it as a constant;
    nothing may be proved from the number. The distance of a thread-local object from the thread pointer is one too
    (`lift/thread.py`)."""


CODE_ORIGIN = 1
"""In place of an object's start: the address is one of code, and not one by which both sides know a function."""


class Var(NamedTuple):
    space: Space
    offset: int
    size: int


class Kind(Enum):
    """What a micro-op does. The arithmetic ones have the meaning of the SMT-LIB operators in brackets."""

    __hash__ = object.__hash__  # members are singletons, and Enum's own hash is a Python function

    COPY = "copy"
    LOAD = "load"  # out = memory[ins[0]], out.size bytes, in the machine's byte order
    STORE = "store"  # memory[ins[0]] = ins[1]
    # Control flow: only as the last micro-op that matters on its path.
    BRANCH = "branch"  # to ins[0] (CODE or INNER)
    CBRANCH = "cbranch"  # to ins[0] if the boolean ins[1]
    BRANCHIND = "branchind"  # to the address ins[0]
    CALL = "call"  # the code at ins[0]; the machine has already put its return address away
    CALLIND = "callind"
    SYSTEM = "system"  # asks the operating system for a service; the convention says where its arguments are
    RETURN = "return"  # to the address ins[0]
    # An architectural fault: the run ends here if the boolean ins[0]; ins[1] indexes ABORT_REASONS.
    ABORT = "abort"
    # The contract assumes that the boolean ins[0] holds for the target; ins[1] indexes `Function.bounds`. It has no
    # effect.
    ASSUME = "assume"
    # A value that the manual leaves undefined: different on each side and at each execution.
    UNDEFINED = "undefined"
    # The instruction has no semantics here. A question whose paths may reach it is `unknown`.
    UNSUPPORTED = "unsupported"
    SELECT = "select"  # ins[0] (boolean) ? ins[1] : ins[2]

    INT_EQUAL = "=="
    INT_NOTEQUAL = "!="
    INT_LESS = "<"  # [bvult]
    INT_LESSEQUAL = "<="  # [bvule]
    INT_SLESS = "s<"  # [bvslt]
    INT_SLESSEQUAL = "s<="  # [bvsle]
    INT_ZEXT = "zext"
    INT_SEXT = "sext"
    INT_ADD = "+"
    INT_SUB = "-"
    INT_CARRY = "carry"  # unsigned overflow of +, a boolean
    INT_SCARRY = "scarry"  # signed overflow of +
    INT_SBORROW = "sborrow"  # signed overflow of -
    INT_2COMP = "neg"
    INT_NEGATE = "~"
    INT_XOR = "^"
    INT_AND = "&"
    INT_OR = "|"
    INT_LEFT = "<<"  # shifts take ins[1] of any width; from the width of ins[0] on they give 0 [bvshl]
    INT_RIGHT = ">>"  # [bvlshr]
    INT_SRIGHT = "s>>"  # [bvashr]: from the width on, all bits are the sign
    INT_MULT = "*"
    INT_DIV = "/"  # by zero: all ones [bvudiv]; the lifter puts an ABORT before it where the machine faults
    INT_REM = "%"  # [bvurem]
    INT_SDIV = "s/"  # [bvsdiv]
    INT_SREM = "s%"  # [bvsrem]
    BOOL_NEGATE = "!"
    BOOL_XOR = "^^"
    BOOL_AND = "&&"
    BOOL_OR = "||"
    PIECE = "piece"  # ins[0] above ins[1]
    SUBPIECE = "subpiece"  # out.size bytes of ins[0] from byte ins[1] (CONST) on
    POPCOUNT = "popcount"
    LZCOUNT = "lzcount"  # of zero: the width of ins[0] in bits
    # IEEE 754 numbers of 4 and 8 bytes, rounded to nearest even. A NaN that one of these gives is always the same one,
    # quiet, positive and without payload: machines put their own rules around it.
    FLOAT_ADD = "f+"
    FLOAT_SUB = "f-"
    FLOAT_MUL = "f*"
    FLOAT_DIV = "f/"
    FLOAT_SQRT = "fsqrt"
    FLOAT_EQUAL = "f=="  # comparisons with a NaN do not hold; zeros of both signs are equal
    FLOAT_LESS = "f<"
    FLOAT_LESSEQUAL = "f<="
    FLOAT_NAN = "fnan"  # whether it is a NaN
    FLOAT_FROM_FLOAT = "f2f"  # to the other size
    FLOAT_FROM_INT = "i2f"  # of a signed integer
    FLOAT_TO_INT = "f2i"  # towards zero; of a NaN and of what does not fit: only the top bit set
    FLOAT_ROUND_TO_INT = "f2i~"  # the same, to nearest even
    FLOAT_ROUND = "fround"  # to a whole number, by ROUNDING_MODES[ins[1]] (CONST)


CONTROL = frozenset({Kind.BRANCH, Kind.CBRANCH, Kind.BRANCHIND, Kind.CALL, Kind.CALLIND, Kind.SYSTEM, Kind.RETURN})
ROUNDING_MODES = ("nearest", "down", "up", "zero")
"""For FLOAT_ROUND; ties go to even."""


class MicroOp(NamedTuple):
    kind: Kind
    out: Var | None
    ins: tuple[Var, ...]


ABORT_REASONS: tuple[str, ...] = (
    "division fault",
    "undefined instruction",
    "trap",
    "arithmetic overflow trap",
    "unaligned access",
    "access outside memory",
    "jump outside the program",
    "invalid instruction",
    "call of a null address",
)
"""Named faults. An ABORT carries an index into this table so that a micro-op stays a plain value."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One machine instruction: its address, its text for people, and what it does."""

    address: int
    length: int
    text: str
    ops: tuple[MicroOp, ...]
    masks_memory: bool = False
    """Whether it accesses only those lanes in memory that a mask selects. The micro-ops access all of them, which is
    right for the result, but overstates which addresses must be valid."""

    @property
    def next_address(self) -> int:
        return self.address + self.length


def const(value: int, size: int) -> Var:
    return Var(Space.CONST, value & ((1 << (8 * size)) - 1), size)


def linked_address(number: int, origin: int, size: int) -> Var:
    """The address that isoform placed at `number`, relative to the object at `origin`."""
    return Var(Space.ADDRESS, origin << 64 | number & ((1 << 64) - 1), size)


def origin_of(var: Var) -> int:
    """The start of the object that an address is relative to."""
    return var.offset >> 64


def number_of(var: Var) -> int | None:
    """The value of a constant in a run, None for anything else."""
    if var.space is Space.CONST:
        return var.offset
    return var.offset & ((1 << (8 * var.size)) - 1) if var.space is Space.ADDRESS else None


def code(address: int) -> Var:
    return Var(Space.CODE, address, 8)


def abort_reason(reason: str) -> Var:
    return const(ABORT_REASONS.index(reason), 1)


TRUE = const(1, 1)
FALSE = const(0, 1)
