"""Addresses of data in the code to which something computed is added, and an upper bound for it."""

from __future__ import annotations

from collections.abc import Sequence

from isoform.lift.simplify import overlaps
from isoform.model.microop import Kind, MicroOp, Space, Var


class Moving:
    def __init__(self) -> None:
        self.bases: dict[int, int | None] = {}
        """The addresses; None if what is added may be anything, or something is subtracted."""
        self.begin_block()

    def begin_block(self) -> None:
        self._largest = Largest()
        self._added: dict[Var, int] = {}
        """For pointers of the block: an upper bound for the part of what was added that is not constant."""

    def note(self, base: int, most: int | None) -> None:
        known = self.bases.get(base, 0)
        self.bases[base] = None if most is None or known is None else max(most, known)

    def step(self, op: MicroOp, indexed: Sequence[bool | None]) -> int | None:
        """An upper bound for the non-constant distance of the result of a copy or a sum from its object. `indexed` has
        one item per operand: whether something was added to it; None if it is not a pointer."""
        assert op.out is not None
        found = self._sum(op, indexed) if op.kind in (Kind.COPY, Kind.INT_ADD) else None
        for var in [v for v in self._added if overlaps(v, op.out)]:
            del self._added[var]
        if found is not None and any(one is not None for one in indexed):
            self._added[op.out] = found
        self._largest.step(op)
        return found

    def _sum(self, op: MicroOp, indexed: Sequence[bool | None]) -> int | None:
        found = 0
        for var, is_indexed in zip(op.ins, indexed, strict=True):
            if is_indexed is not None:
                most = self._added.get(var) if is_indexed else 0
            else:
                most = 0 if var.space is Space.CONST else self._largest.of(var)
            if most is None:
                return None
            found += most
        return found


class Largest:
    """Upper bounds for the values of one block, as far as single instructions show them: masks, extensions, shifts.
    Unsigned; a value that is not known here may be anything."""

    def __init__(self) -> None:
        self._known: dict[Var, int] = {}

    def of(self, var: Var) -> int | None:
        if var.space is Space.CONST:
            return var.offset
        exact = self._known.get(var)
        if exact is not None:
            return exact
        wider = (v for v in self._known if v.space is var.space and v.offset == var.offset and v.size > var.size)
        return next((self._known[v] for v in wider), None)

    def step(self, op: MicroOp) -> None:
        if op.out is None:
            return
        found = self._result(op)
        for var in [v for v in self._known if overlaps(v, op.out)]:
            del self._known[var]
        if found is not None and found < 1 << (8 * op.out.size):
            self._known[op.out] = found

    def _result(self, op: MicroOp) -> int | None:
        ins = [self.of(var) for var in op.ins]
        match op.kind, ins:
            case Kind.COPY, [int() as value]:
                return value
            case Kind.INT_ZEXT, [value]:
                return value if value is not None else (1 << (8 * op.ins[0].size)) - 1
            case Kind.INT_SEXT, [int() as value] if value < 1 << (8 * op.ins[0].size - 1):
                return value
            case Kind.INT_AND, [*_]:
                return min((value for value in ins if value is not None), default=None)
            case Kind.INT_ADD, [int() as left, int() as right]:
                return left + right
            case Kind.INT_MULT, [int() as left, int() as right]:
                return left * right
            case Kind.INT_LEFT, [int() as left, int() as right] if right < 64 and op.ins[1].space is Space.CONST:
                return left << right
            case Kind.INT_RIGHT, [value, int() as right] if right < 64 and op.ins[1].space is Space.CONST:
                return (value if value is not None else (1 << (8 * op.ins[0].size)) - 1) >> right
        return None
