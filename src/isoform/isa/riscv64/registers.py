"""The integer registers by their ABI names. The first one is always zero and is not stored."""

from __future__ import annotations

from isoform.model.machine import registers_of
from isoform.model.microop import Space, Var, const

NAMES = (
    *("zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1"),
    *(f"a{number}" for number in range(8)),
    *(f"s{number}" for number in range(2, 12)),
    *(f"t{number}" for number in range(3, 7)),
)
LINK = NAMES.index("ra")
BYTES = 8
KEPT = "ra_kept"
"""Not a register of the machine: see `Convention.kept_return_address`."""
REGISTERS = registers_of(
    *((name, BYTES * number, BYTES) for number, name in enumerate(NAMES) if number), (KEPT, BYTES * len(NAMES), BYTES)
)


def register(number: int, size: int = BYTES) -> Var:
    """The lower part of a register, or all of it."""
    return Var(Space.REGISTER, BYTES * number, size) if number else const(0, size)
