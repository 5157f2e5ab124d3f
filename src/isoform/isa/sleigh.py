"""SLEIGH's p-code as micro-ops: the only module that uses pypcode.

SLEIGH is not trusted (DESIGN section 3): each machine passes a table of amendments that replace or correct what SLEIGH
gives for an instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any

from isoform.model.microop import Instruction, Kind, MicroOp, Space, Var, code, const
from isoform.model.values import dataclass

_SAME_NAME = {kind.name: kind for kind in Kind if kind.name.startswith(("INT_", "BOOL_"))}
_KINDS: Mapping[str, Kind] = {
    **_SAME_NAME,
    **{name: Kind[name] for name in ("COPY", "PIECE", "SUBPIECE", "POPCOUNT", "LZCOUNT")},
}

MOST_KEPT = 1024
"""Instructions that a decoder remembers. A checker asks about one target many times, and several rules decode the code
of one function."""


@dataclass(frozen=True)
class Decoded:
    """One instruction as SLEIGH sees it, handed to an amendment."""

    address: int
    length: int
    mnemonic: str
    operands: str
    code: bytes
    ops: tuple[MicroOp, ...] | None
    """None if SLEIGH's own semantics contain something opaque; `opaque` then names it."""
    opaque: str = ""


NOT_DECODED = "(bad)"
"""How the text of an instruction begins of which not even the length is known."""
Amendment = Callable[[Decoded], tuple[MicroOp, ...] | None]
"""The micro-ops of the instruction, or None to keep SLEIGH's."""


class SleighDecoder:
    """Decodes with SLEIGH, then applies the machine's amendments."""

    def __init__(
        self, language: str, amend: Amendment, covered: Callable[[Var], bool], longest: int, translate: bool = True
    ) -> None:
        self._language = language
        self._amend = amend
        self._covered = covered
        """Whether a register lies in the machine's containers; any other has no meaning here."""
        self._longest = longest
        self._translate = translate
        """False if the amendments define every instruction: SLEIGH's own semantics are then not requested."""

        self._decode_kept = lru_cache(MOST_KEPT)(self._decode)

    def __call__(self, code: bytes, address: int) -> Instruction:
        return self._decode_kept(code[: self._longest], address)

    def forget(self) -> None:
        """Decode everything again: for whoever changes the tables."""
        self._decode_kept.cache_clear()

    def _decode(self, code: bytes, address: int) -> Instruction:
        decoded = self.sleigh(code, address)
        if isinstance(decoded, Instruction):
            return decoded
        ops = self._amend(decoded)
        if ops is None:
            ops = decoded.ops
        if ops is None or not all(self._is_covered(op) for op in ops):
            ops = (MicroOp(Kind.UNSUPPORTED, None, ()),)
        text = f"{decoded.mnemonic} {decoded.operands}".strip().lower()
        return Instruction(address, decoded.length, text, ops)

    def sleigh(self, code: bytes, address: int) -> Decoded | Instruction:
        """SLEIGH's view, or the finished instruction if there is nothing to amend."""
        import pypcode

        context = _context(self._language)
        failures = (pypcode.LowlevelError, pypcode.BadDataError, pypcode.UnimplError, pypcode.DecoderError)
        try:
            shown = context.disassemble(code, base_address=address, max_instructions=1).instructions[0]
        except failures:
            return _unknown(code, address)
        if shown.length > len(code):
            return _unknown(code, address)
        if not self._translate:
            return Decoded(address, shown.length, shown.mnem, shown.body, code[: shown.length], None)
        try:
            translation = context.translate(code, base_address=address, max_instructions=1)
        except failures:
            ops, opaque = None, shown.mnem.lower()
        else:
            ops, opaque = _copy_ops(translation.ops)
        length = shown.length
        return Decoded(address, length, shown.mnem, shown.body, code[:length], ops, opaque)

    def _is_covered(self, op: MicroOp) -> bool:
        return all(
            var.space is not Space.REGISTER or self._covered(var) for var in (*op.ins, *((op.out,) if op.out else ()))
        )


@cache
def _context(language: str) -> Any:
    import pypcode

    return pypcode.Context(language)


def _unknown(code: bytes, address: int) -> Instruction:
    """That SLEIGH does not know the bytes does not mean that the machine faults on them: they may be an instruction."""
    return Instruction(address, 1, f"{NOT_DECODED} {code[:1].hex()}", (MicroOp(Kind.UNSUPPORTED, None, ()),))


def _copy_ops(pcode: Any) -> tuple[tuple[MicroOp, ...] | None, str]:
    """P-code as micro-ops; None and a name if something in it is opaque (CALLOTHER, floating point)."""
    groups: list[list[MicroOp]] = []
    fresh = _FreshTemps()
    body = [op for op in pcode if op.opcode.name != "IMARK"]
    for index, op in enumerate(body):
        name = op.opcode.name
        if name == "CALLOTHER":
            return None, _callother_name(op)
        group = _copy_op(op, name, index, fresh)
        if group is None:
            return None, name.lower()
        groups.append(group)
    return _separate_temps(_renumber(groups)), ""


def _callother_name(op: Any) -> str:
    try:
        return str(op.inputs[0].getUserDefinedOpName())
    except Exception:  # the name is only for people
        return "callother"


class _FreshTemps:
    def __init__(self) -> None:
        self._next = 1 << 40

    def temp(self, size: int) -> Var:
        self._next += 64
        return Var(Space.TEMP, self._next, size)


def _copy_op(op: Any, name: str, index: int, fresh: _FreshTemps) -> list[MicroOp] | None:
    """One p-code op. Operands that are memory cells become loads and stores of their own."""
    if name in ("BRANCH", "CBRANCH", "CALL"):
        target = _target(op.inputs[0], index)
        rest = [_variable(v) for v in op.inputs[1:]]
        return None if None in rest else [MicroOp(Kind[name], None, (target, *(v for v in rest if v is not None)))]
    before: list[MicroOp] = []
    skip = 1 if name in ("LOAD", "STORE") else 0  # their first input names the address space
    ins = [_operand(v, before, fresh) for v in op.inputs[skip:]]
    if name == "STORE":
        return [*before, MicroOp(Kind.STORE, None, tuple(ins))]
    if name in ("BRANCHIND", "CALLIND", "RETURN"):
        return [*before, MicroOp(Kind[name], None, tuple(ins))]
    kind = Kind.LOAD if name == "LOAD" else _KINDS.get(name)
    if kind is None or op.output is None:
        return None
    if op.output.space.name == "ram":
        value = fresh.temp(op.output.size)
        address = const(op.output.offset, 8)
        return [*before, MicroOp(kind, value, tuple(ins)), MicroOp(Kind.STORE, None, (address, value))]
    out = _variable(op.output)
    assert out is not None
    return [*before, MicroOp(kind, out, tuple(ins))]


def _operand(varnode: Any, before: list[MicroOp], fresh: _FreshTemps) -> Var:
    variable = _variable(varnode)
    if variable is not None:
        return variable
    value = fresh.temp(varnode.size)
    before.append(MicroOp(Kind.LOAD, value, (const(varnode.offset, 8),)))
    return value


_SPACES = {"const": Space.CONST, "register": Space.REGISTER, "unique": Space.TEMP}


def _variable(varnode: Any) -> Var | None:
    space = _SPACES.get(varnode.space.name)
    if space is None:
        return None
    if space is Space.CONST:
        return const(varnode.offset, varnode.size)
    return Var(space, varnode.offset, varnode.size)


def _target(varnode: Any, index: int) -> Var:
    if varnode.space.name == "const":
        relative = varnode.offset
        bits = 8 * varnode.size
        if relative >> (bits - 1):
            relative -= 1 << bits
        return Var(Space.INNER, index + relative, 8)
    return code(varnode.offset)


def _renumber(groups: list[list[MicroOp]]) -> list[MicroOp]:
    """Flatten, with inner branch targets counted in micro-ops instead of p-code ops."""
    starts = [0]
    for group in groups:
        starts.append(starts[-1] + len(group))
    ops = []
    for group in groups:
        for op in group:
            if op.ins and op.ins[0].space is Space.INNER:
                target = Var(Space.INNER, starts[op.ins[0].offset], 8)
                op = MicroOp(op.kind, op.out, (target, *op.ins[1:]))
            ops.append(op)
    return ops


def _separate_temps(ops: list[MicroOp]) -> tuple[MicroOp, ...]:
    """Make partly overlapping temporaries whole: SLEIGH sometimes reads four bytes of an eight-byte one."""
    sizes: dict[int, int] = {}
    temps = {v for op in ops for v in (*op.ins, *((op.out,) if op.out else ())) if v.space is Space.TEMP}
    for var in temps:
        sizes[var.offset] = max(sizes.get(var.offset, 0), var.size)
    clusters = _clusters(sizes)
    if len({(v.offset, v.size) for v in temps}) == len(clusters):
        return tuple(ops)
    return tuple(_split_accesses(ops, clusters))


def _clusters(sizes: Mapping[int, int]) -> list[Var]:
    merged: list[tuple[int, int]] = []
    for offset in sorted(sizes):
        end = offset + sizes[offset]
        if merged and offset < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((offset, end))
    return [Var(Space.TEMP, start, end - start) for start, end in merged]


def _split_accesses(ops: list[MicroOp], clusters: list[Var]) -> list[MicroOp]:
    """Rewrite partial reads as SUBPIECE and partial writes as read-modify-write of the whole cluster."""
    fresh = _FreshTemps()

    def whole(var: Var) -> Var:
        return next(c for c in clusters if c.offset <= var.offset < c.offset + c.size)

    groups: list[list[MicroOp]] = []
    for op in ops:
        group: list[MicroOp] = []
        ins = []
        for var in op.ins:
            if var.space is Space.TEMP and whole(var) != var:
                part = fresh.temp(var.size)
                group.append(MicroOp(Kind.SUBPIECE, part, (whole(var), const(var.offset - whole(var).offset, 4))))
                var = part
            ins.append(var)
        out = op.out
        if out is not None and out.space is Space.TEMP and whole(out) != out:
            part = fresh.temp(out.size)
            group += [MicroOp(op.kind, part, tuple(ins)), *_insert(whole(out), part, out, fresh)]
        else:
            group.append(MicroOp(op.kind, out, tuple(ins)))
        groups.append(group)
    return _renumber(groups)


def _insert(cluster: Var, part: Var, place: Var, fresh: _FreshTemps) -> list[MicroOp]:
    ops = []
    value = part
    below = place.offset - cluster.offset
    above = cluster.size - below - place.size
    if below:
        low, joined = fresh.temp(below), fresh.temp(below + value.size)
        ops += [
            MicroOp(Kind.SUBPIECE, low, (cluster, const(0, 4))),
            MicroOp(Kind.PIECE, joined, (value, low)),
        ]
        value = joined
    if above:
        high = fresh.temp(above)
        ops.append(MicroOp(Kind.SUBPIECE, high, (cluster, const(below + place.size, 4))))
        ops.append(MicroOp(Kind.PIECE, cluster, (high, value)))
    else:
        ops.append(MicroOp(Kind.COPY, cluster, (value,)))
    return ops
