"""Addresses that code forms in two instructions: `auipc` or `lui` with the upper 20 bits, rounded because the lower
part has a sign, and `addi`, a load or a store with the lower 12.

The relocation of a lower part that counts from an `auipc` names a label at that instruction, and only the relocation
there names the object. `joined` makes of it one that names the object, too, with a type of isoform's own (negative, so
that no file has it).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from isoform.model.linkage import Formula, Joined, Part, Row, Rule

_NEAR = 1 << 11
_FAR = 1 << 31
_AUIPC, _LUI = 0x17, 0x37
_LOAD, _ADD_IMMEDIATE, _STORE = 0x03, 0x13, 0x23
_LONG = 3
"""The lowest two bits of an instruction of four bytes."""
_GOT_UPPER, _UPPER, _LOWER, _LOWER_STORE = 20, 23, 24, 25  # GOT_HI20, PCREL_HI20, PCREL_LO12_I, PCREL_LO12_S
_DISTANCE = 57  # 32_PCREL
_ADD, _SUBTRACT = 35, 39  # ADD32, SUB32
UNKNOWN = -1
_JOINED = {(_UPPER, _LOWER): -2, (_UPPER, _LOWER_STORE): -3, (_GOT_UPPER, _LOWER): -4, (_GOT_UPPER, _LOWER_STORE): -5}


def _number(field: bytes) -> int:
    return int.from_bytes(field[:4], "little")


def _put_upper(opcode: int) -> Callable[[bytes, int], bytes | None]:
    def put(field: bytes, value: int) -> bytes | None:
        word = _number(field)
        if word & 0x7F != opcode or not -_FAR - _NEAR <= value < _FAR - _NEAR:
            return None
        return (word & 0xFFF | (value + _NEAR) & 0xFFFF_F000).to_bytes(4, "little")

    return put


def _put_lower(field: bytes, value: int) -> bytes | None:
    word = _number(field)
    is_addition = word & 0x707F == _ADD_IMMEDIATE
    if not is_addition and word & 0x7F != _LOAD:
        return None
    return (word & 0x000F_FFFF | (value & 0xFFF) << 20).to_bytes(4, "little")


def _put_lower_store(field: bytes, value: int) -> bytes | None:
    word = _number(field)
    if word & 0x7F != _STORE:
        return None
    return (word & 0x01FF_F07F | (value >> 5 & 0x7F) << 25 | (value & 0x1F) << 7).to_bytes(4, "little")


def _rule(formula: Formula, put: Callable[[bytes, int], bytes | None], part: Part, counts: bool) -> Rule:
    return Rule(formula, 4, put=put, part=part, counts_from_upper=counts)


RULES = {
    _GOT_UPPER: _rule(Formula.SLOT, _put_upper(_AUIPC), Part.UPPER, counts=True),
    _UPPER: _rule(Formula.ABSOLUTE, _put_upper(_AUIPC), Part.UPPER, counts=True),
    26: _rule(Formula.ABSOLUTE, _put_upper(_LUI), Part.UPPER, counts=False),  # HI20
    27: _rule(Formula.ABSOLUTE, _put_lower, Part.LOWER, counts=False),  # LO12_I
    28: _rule(Formula.ABSOLUTE, _put_lower_store, Part.LOWER, counts=False),  # LO12_S
    _JOINED[_UPPER, _LOWER]: _rule(Formula.ABSOLUTE, _put_lower, Part.LOWER, counts=True),
    _JOINED[_UPPER, _LOWER_STORE]: _rule(Formula.ABSOLUTE, _put_lower_store, Part.LOWER, counts=True),
    _JOINED[_GOT_UPPER, _LOWER]: _rule(Formula.SLOT, _put_lower, Part.LOWER, counts=True),
    _JOINED[_GOT_UPPER, _LOWER_STORE]: _rule(Formula.SLOT, _put_lower_store, Part.LOWER, counts=True),
    # As they are in the file these two do not say which object is meant.
    _LOWER: Rule(Formula.UNKNOWN, 4),
    _LOWER_STORE: Rule(Formula.UNKNOWN, 4),
    UNKNOWN: Rule(Formula.UNKNOWN, 8),
}


def joined(rows: Sequence[Row], symbols: Sequence[tuple[int, int]], section: int) -> Joined:
    """With each lower part by the object that its upper part names, and with each difference of two labels, one of them
    in this section, as a distance."""
    uppers: dict[int, list[Row]] = {}
    for row in rows:
        if row[1] in (_UPPER, _GOT_UPPER):
            uppers.setdefault(row[0], []).append(row)
    differences = _differences(rows, symbols, section)
    found: list[Row] = []
    pairs: dict[int, int] = {}
    for row in rows:
        offset, kind, symbol, addend = row
        if kind in (_LOWER, _LOWER_STORE):
            home, value = symbols[symbol] if symbol < len(symbols) else (-1, 0)
            first = uppers.get(value, []) if home == section and not addend else []
            if len(first) == 1:
                _, upper, target, distance = first[0]
                row = offset, _JOINED[upper, kind], target, distance
                pairs[offset] = value
        elif kind == _ADD and offset in differences:
            row = differences[offset]
        elif kind == _SUBTRACT and offset in differences:
            continue
        elif kind in _JOINED.values():
            row = offset, UNKNOWN, symbol, addend
        found.append(row)
    return Joined(found, pairs)


def _differences(rows: Sequence[Row], symbols: Sequence[tuple[int, int]], section: int) -> Mapping[int, Row]:
    """By offset: what two relocations for one number of 32 bits say together, `label - start` with `start` in this
    section: the distance from the number to the label, and from `start` to the number."""
    by_offset: dict[int, list[Row]] = {}
    for row in rows:
        if row[1] in range(33, 41) or row[1] in range(52, 57):
            by_offset.setdefault(row[0], []).append(row)
    found: dict[int, Row] = {}
    for offset, both in by_offset.items():
        if sorted(kind for _, kind, _, _ in both) != [_ADD, _SUBTRACT]:
            continue
        add, subtract = sorted(both, key=lambda row: row[1])
        home, value = symbols[subtract[2]] if subtract[2] < len(symbols) else (-1, 0)
        if home == section:
            found[offset] = offset, _DISTANCE, add[2], add[3] + offset - value - subtract[3]
    return found
