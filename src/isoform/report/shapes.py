"""Memory behind pointers as a person draws it: `p -> {3, next -> null}`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from isoform.model.contract import Contract, show_float, show_number
from isoform.model.signature import CType, TypeKind
from isoform.model.values import dataclass
from isoform.model.verdict import Witness

MOST_CELLS = 32
MOST_WORDS = 16
"""Of one cell without a type."""


def shapes_of(witness: Witness, contract: Contract) -> tuple[tuple[str, str], ...]:
    """For each pointer parameter its name and what it leads to, where anything behind it matters."""
    memory = {start + i: byte for start, data in witness.memory for i, byte in enumerate(data)}
    values = dict(witness.arguments)
    layout = contract.machine.memory
    order = "big" if layout is not None and layout.big_endian else "little"
    found = []
    drawing = _Drawing(memory, order, _structs(contract))
    for argument in contract.arguments:
        value = values.get(argument.name)
        if value is None or not _may_point(argument.type, value, memory):
            continue
        text = drawing.pointer(value, argument.type.pointee, argument.name)
        if text.startswith("{"):
            found.append((argument.name, f"{argument.name} -> {text}"))
    return tuple(found)


def _may_point(kind: CType, value: int, memory: Mapping[int, int]) -> bool:
    """A word that memory was read at is a pointer, whatever its type."""
    return kind.kind is TypeKind.POINTER or (kind.kind is TypeKind.INTEGER and kind.bits == 64 and value in memory)


def _structs(contract: Contract) -> dict[str, CType]:
    """Structs with their fields, by name: inside themselves they are only named."""
    found: dict[str, CType] = {}
    pending = [argument.type for argument in contract.arguments]
    while pending:
        kind = pending.pop()
        if kind.kind is TypeKind.STRUCT and kind.fields:
            found.setdefault(kind.spelling.removeprefix("const "), kind)
            pending += [ctype for _, _, ctype in kind.fields]
        elif kind.pointee is not None:
            pending.append(kind.pointee)
    return found


@dataclass
class _Drawing:
    memory: Mapping[int, int]
    order: str
    structs: Mapping[str, CType]
    _names: dict[int, str] = field(default_factory=dict)
    """Cells that were drawn already, and what to call them."""

    def pointer(self, address: int, pointee: CType | None, name: str) -> str:
        if address == 0:
            return "null"
        if address in self._names:
            return self._names[address]
        if not any(address + i in self.memory for i in range(8)) or len(self._names) >= MOST_CELLS:
            kind = self._known(pointee)
            if kind is None or not any(a in self.memory for a in range(address, address + min(kind.bits // 8, 4096))):
                return hex(address)
        self._names[address] = name
        kind = self._known(pointee)
        parts = self._fields(address, kind, name) if kind is not None else self._words(address, pointee, name)
        return f"{{{', '.join(parts)}}}"

    def _known(self, pointee: CType | None) -> CType | None:
        """The struct pointed to, with its fields."""
        if pointee is None:
            return None
        return self.structs.get(pointee.spelling.removeprefix("const "))

    def _fields(self, address: int, struct: CType, name: str) -> list[str]:
        parts = []
        for label, offset, kind in struct.fields:
            value = self._value(address + offset, kind.bits // 8)
            if value is None:
                continue
            if kind.kind is TypeKind.POINTER:
                pointee = kind.pointee if kind.pointee is not None and kind.pointee.bits else _named(kind)
                parts.append(f"{label} -> {self.pointer(value, pointee, f'{name}->{label}')}")
            else:
                parts.append(_shown(value, kind))
        return parts

    def _words(self, address: int, pointee: CType | None, name: str) -> list[str]:
        """What matters from an address on, where nothing says what is there."""
        size = pointee.bits // 8 if pointee is not None and pointee.kind is not TypeKind.STRUCT else 0
        parts: list[str] = []
        offset = 0
        while len(parts) < MOST_WORDS:
            run = self._run(address + offset)
            if run == 0:
                after = next((o for o in range(offset + 1, offset + 16) if address + o in self.memory), None)
                if after is None:
                    break
                offset = after
                continue
            take = size if 0 < size <= run else next(n for n in (8, 4, 2, 1) if n <= run)
            value = self._value(address + offset, take)
            assert value is not None
            label = f"+{offset}" if offset else ""
            if take == 8 and not size and (value == 0 or value in self.memory):
                parts.append(f"+{offset} -> {self.pointer(value, None, f'{name}+{offset}')}")
            elif pointee is not None and pointee.kind is TypeKind.POINTER and take == 8:
                target = self.pointer(value, pointee.pointee, f"{name}[{offset // 8}]")
                parts.append(f"{label or '+0'} -> {target}")
            else:
                shown = _shown(value, pointee) if size and pointee is not None else show_number(value, 8 * take, True)
                parts.append(f"{label}: {shown}" if label and not size else shown)
            offset += take
        return parts

    def _run(self, address: int) -> int:
        """Bytes from an address on that matter, up to a word."""
        count = 0
        while count < 8 and address + count in self.memory:
            count += 1
        return count

    def _value(self, address: int, size: int) -> int | None:
        """A number of which any byte matters; the others are zero."""
        data = [self.memory.get(address + i) for i in range(size)]
        if not size or all(byte is None for byte in data):
            return None
        return int.from_bytes(bytes(byte or 0 for byte in data), self.order)  # type: ignore[arg-type]


def _named(pointer: CType) -> CType:
    """What a pointer points to, if only by name."""
    return CType(TypeKind.STRUCT, 0, spelling=pointer.spelling.rstrip("* ").strip())


def _shown(value: int, kind: CType) -> str:
    if kind.is_float:
        return show_float(value, kind.bits)
    if kind.kind is TypeKind.POINTER:
        return hex(value)
    return show_number(value, kind.bits, kind.signed)
