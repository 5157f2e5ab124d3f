"""Collects the micro-ops of one instruction of a machine that is lifted by hand."""

from __future__ import annotations

from isoform.model.microop import Kind, MicroOp, Space, Var

_TEMP_BYTES = 16
"""Temporaries are this far apart: as wide as the widest, a product of two words."""


class Emitter:
    """Collects the micro-ops of one instruction and numbers its temporaries."""

    def __init__(self) -> None:
        self.ops: list[MicroOp] = []
        self._temporaries = 0

    def do(self, kind: Kind, *ins: Var) -> None:
        self.ops.append(MicroOp(kind, None, ins))

    def compute(self, kind: Kind, size: int, *ins: Var) -> Var:
        out = Var(Space.TEMP, _TEMP_BYTES * self._temporaries, size)
        self._temporaries += 1
        self.ops.append(MicroOp(kind, out, ins))
        return out
