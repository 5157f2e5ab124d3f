"""The rewrite with the target's computation in the place of its own.

Formulas over all iterations of a loop need code, not a value that another program has. Where the two instructions of a
candidate read the same, that code is at hand: the rewrite computes, from its own operands, what the instruction of the
target computes from its operands. If the two are equivalent then, for every number of iterations, the candidate is a
cause.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, product

from isoform.explain.candidates import Candidate
from isoform.explain.sites import Marked, Role, Site
from isoform.lift.function import Block, Function
from isoform.lift.lift import simplified
from isoform.model.machine import Machine
from isoform.model.microop import Kind, MicroOp, Space, Var
from isoform.model.values import dataclass

_FIRST_TEMP = 1 << 30
MOST_MAPPINGS = 12
"""Ways to find operands that are tried."""
MOST_BEFORE = 2
"""Instructions before the target's that may be borrowed with it: what it reads may be a value that the rewrite does not
have, as where `add` and `movzx` stand for what the rewrite does with one `xor`."""
_LEFT_OUT = frozenset({Kind.STORE, Kind.ABORT, Kind.ASSUME})
"""What the borrowed instruction does beside computing."""

Operands = Sequence[tuple[str, str]]
"""Containers that the target's instructions read, each with the one in which the rewrite has the same."""


@dataclass(frozen=True)
class Computation:
    """The micro-ops with which an instruction computes a value. Of a branch, with the comparison before it."""

    ops: tuple[MicroOp, ...]
    value: Var
    first: int
    """Position in its block of the first of them."""
    site: int
    """Position of the site's COPY."""


def computation(marked: Marked, site: Site, before: int = 0) -> Computation | None:
    """Of the value at a site, together with so many instructions before it; None if it does not come from instructions
    of one block."""
    block = marked.function.blocks[site.block]
    position = next(place for (where, place), number in marked.at.items() if number == site.number)
    own = {site.address, site.compared_at}
    first = position
    while first > 0 and block.addresses[first - 1] in own:
        first -= 1
    if site.compared_at is not None:
        starts = [n for n, address in enumerate(block.addresses[:position]) if address == site.compared_at]
        if not starts:
            return None
        first = min(starts)
    for _ in range(before):
        if first == 0:
            return None
        address = block.addresses[first - 1]
        while first > 0 and block.addresses[first - 1] == address:
            first -= 1
    ops = block.ops[first:position]
    return Computation(tuple(ops), block.ops[position].ins[0], first, position)


def read_before_written(ops: Sequence[MicroOp], machine: Machine) -> list[str]:
    """Containers whose value from before these micro-ops they read."""
    found: dict[str, None] = {}
    written: set[str] = set()
    for op in ops:
        for var in op.ins:
            found.update((name, None) for name in _containers(var, machine) if name not in written)
        if op.out is not None and all(op.out.size >= machine.registers[n].size for n in _containers(op.out, machine)):
            written.update(_containers(op.out, machine))
    return list(found)


def _containers(var: Var, machine: Machine) -> list[str]:
    if var.space is not Space.REGISTER:
        return []
    bytes_ = range(var.offset, var.offset + var.size)
    return list(dict.fromkeys(machine.containers[machine.containers_by_byte[byte]] for byte in bytes_))


def transplants(target: Marked, rewrite: Marked, candidate: Candidate) -> Iterator[Function]:
    """The rewrite with the computation of the candidate's target, for every way to find its operands: by the same names
    first, then in those of the rewrite's instruction."""
    if candidate.target is None or candidate.rewrite is None or not can_be_transplanted(candidate):
        return
    yield from _other_condition(target, rewrite, candidate)
    machine = rewrite.function.machine
    for before in range(MOST_BEFORE + 1):
        pairs = _computations(target, rewrite, candidate, before)
        if pairs is None:
            return
        (theirs, own), *_ = pairs
        wanted, found = read_before_written(theirs.ops, machine), read_before_written(own.ops, machine)
        kept = {machine.convention.stack_pointer}
        choices = [[name] if name in kept else _same_first(found, name) for name in wanted]
        for sources in islice(product(*choices), MOST_MAPPINGS):
            yield _transplanted(rewrite, pairs, candidate, tuple(zip(wanted, sources, strict=True)))


_Pairs = Sequence[tuple[Computation, Computation]]
"""The target's computation, and the rewrite's that it replaces: one for each context that the instruction is inlined
in."""


def _computations(
    target: Marked, rewrite: Marked, candidate: Candidate, before: int = 0, is_alone: bool = False
) -> _Pairs | None:
    """`is_alone`: of a condition, without the comparison before it."""
    found: list[tuple[Computation, Computation]] = []
    for to, source in candidate.fix.values.items():
        sites = target.sites[source], rewrite.sites[to]
        if is_alone:
            sites = replace(sites[0], compared_at=None), replace(sites[1], compared_at=None)
        theirs, own = computation(target, sites[0], before), computation(rewrite, sites[1])
        if theirs is None or own is None:
            return None
        found.append((theirs, own))
    return found


def _other_condition(target: Marked, rewrite: Marked, candidate: Candidate) -> Iterator[Function]:
    """The rewrite with its own comparison and the target's condition on that: `jge` instead of `jne`."""
    sites = candidate.target, candidate.rewrite
    if any(site is None or site.role is not Role.CONDITION or site.compared_at is None for site in sites):
        return
    pairs = _computations(target, rewrite, candidate, is_alone=True)
    if pairs is None:
        return
    flags = read_before_written(pairs[0][0].ops, rewrite.function.machine)
    yield _transplanted(rewrite, pairs, candidate, tuple((name, name) for name in flags))


def _transplanted(rewrite: Marked, pairs: _Pairs, candidate: Candidate, operands: Operands) -> Function:
    """The rewrite with the target's computations before its own instructions and put in the place of their values."""
    blocks = dict(rewrite.function.blocks)
    for (theirs, own), number in zip(pairs, candidate.fix.values, strict=True):
        place = rewrite.sites[number].block
        is_negated = number in candidate.fix.negated
        blocks[place] = _with_computation(rewrite.function.machine, blocks[place], own, theirs, operands, is_negated)
    return simplified(replace(rewrite.function, blocks=blocks))


def _with_computation(
    machine: Machine, block: Block, own: Computation, theirs: Computation, operands: Operands, is_negated: bool
) -> Block:
    borrowed, value = _Borrowed(machine, theirs, operands).ops()
    copy = block.ops[own.site]
    given = MicroOp(Kind.COPY if value.size == copy.ins[0].size else _resized(value, copy.ins[0]), copy.out, (value,))
    if given.kind is Kind.SUBPIECE:
        given = MicroOp(Kind.SUBPIECE, copy.out, (value, Var(Space.CONST, 0, 4)))
    if is_negated:
        given = MicroOp(Kind.INT_XOR, copy.out, (value, Var(Space.CONST, 1, value.size)))
    ops = (*block.ops[: own.first], *borrowed, *block.ops[own.first : own.site], given, *block.ops[own.site + 1 :])
    where = block.addresses[own.first]
    addresses = (*block.addresses[: own.first], *(where for _ in borrowed), *block.addresses[own.first :])
    return replace(block, ops=ops, addresses=addresses, listed=None)


def _resized(value: Var, wanted: Var) -> Kind:
    return Kind.SUBPIECE if value.size > wanted.size else Kind.INT_ZEXT


def _same_first(found: Sequence[str], name: str) -> list[str]:
    """The register of the same name, though the rewrite's instruction may not read it: it may read the wrong one."""
    return [name, *(other for other in found if other != name)]


class _Borrowed:
    """Micro-ops that compute a value and leave all registers as they were."""

    def __init__(self, machine: Machine, theirs: Computation, operands: Operands) -> None:
        self._machine = machine
        self._theirs = theirs
        self._operands = operands
        self._next = _FIRST_TEMP
        self._temps: dict[int, int] = {}

    def ops(self) -> tuple[tuple[MicroOp, ...], Var]:
        machine, theirs = self._machine, self._theirs
        written = [name for op in theirs.ops if op.out is not None for name in _containers(op.out, machine)]
        changed = list(dict.fromkeys((*(name for name, _ in self._operands), *written)))
        sources = list(dict.fromkeys(source for _, source in self._operands))
        saved = {name: self._temp(machine.registers[name].size) for name in dict.fromkeys((*changed, *sources))}
        value = self._temp(theirs.value.size)
        return (
            *(MicroOp(Kind.COPY, temp, (machine.registers[name],)) for name, temp in saved.items()),
            *(MicroOp(Kind.COPY, machine.registers[name], (saved[source],)) for name, source in self._operands),
            *self._computed(),
            MicroOp(Kind.COPY, value, (self._own(theirs.value),)),
            *(MicroOp(Kind.COPY, machine.registers[name], (saved[name],)) for name in changed),
        ), value

    def _computed(self) -> Iterator[MicroOp]:
        for op in self._theirs.ops:
            if op.kind not in _LEFT_OUT:
                out = None if op.out is None else self._own(op.out)
                yield MicroOp(op.kind, out, tuple(self._own(var) for var in op.ins))

    def _own(self, var: Var) -> Var:
        """Temps of the target's instructions get numbers that the rewrite's do not have."""
        if var.space is not Space.TEMP:
            return var
        if var.offset not in self._temps:
            self._temps[var.offset] = self._temp(var.size).offset
        return Var(Space.TEMP, self._temps[var.offset], var.size)

    def _temp(self, size: int) -> Var:
        self._next += 16
        return Var(Space.TEMP, self._next, size)


def can_be_transplanted(candidate: Candidate) -> bool:
    sites = candidate.target, candidate.rewrite
    return all(site is not None and site.role not in (Role.ARGUMENT, Role.RETURNED, Role.LEFT) for site in sites)
