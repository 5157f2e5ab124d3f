"""A user's own tests, read from a JSON file: `--tests`.

A list of objects, one a test, with a value for each parameter:

    [{"a": [1, 2, 3], "n": 3},
     {"p": {"v": 3, "next": {"v": 4, "next": null}}},
     {"to": [0, 0, 0, 0], "from": {"same_as": "to", "offset": 4}, "n": 2, "memory": {"0x1000": "00ff"}}]

A pointer is null, a number, a list of elements or an object of fields (which get a buffer of their own), text as
`{"text": "abc"}`, or another pointer: `{"same_as": "p", "offset": 4}`, in bytes.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from random import Random
from typing import Any

from isoform.engines.inputs import BUFFERS
from isoform.model.contract import Argument, Contract
from isoform.model.errors import UserError
from isoform.model.machine import Order
from isoform.model.outcome import FRAME_LIMIT, STACK_POINTER, Inputs, Pair
from isoform.model.placement import put_argument
from isoform.model.signature import CType, TypeKind
from isoform.model.values import dataclass

FILE_LIMIT = 1 << 22
MOST_TESTS = 1000
MOST_BYTES = 1 << 18
"""Of memory that one test describes."""
_ABOVE_STACK = 1 << 16
_ALIGNMENT, _GAP = 64, 64
"""Buffers lie apart, so that no two of them are adjacent."""
_HEX = re.compile(r"[+-]?0[xX][0-9a-fA-F]{1,40}")
_BYTE = CType(TypeKind.INTEGER, 8, spelling="unsigned char")
_FORMS = "null, a number, a list of elements, an object of fields, 'to', 'text' or 'same_as'"


def read_own_tests(path: str, contract: Contract) -> tuple[Pair, ...]:
    """The tests of a file as inputs of both sides. Raises UserError for a file that does not fit the contract."""
    order = contract.machine.byte_order
    structs = structs_in(argument.type for argument in contract.arguments)
    return tuple(
        _Test(f"--tests {path}: test {number}", contract, structs, order).inputs(item, number)
        for number, item in enumerate(_items(path), 1)
    )


def _items(path: str) -> list[Any]:
    text = _text(path)
    try:
        items = json.loads(text)
    except RecursionError:
        raise UserError(f"--tests {path} is nested too deeply: link fewer cells to one another.") from None
    except ValueError as error:
        raise UserError(f"--tests {path} is not JSON: {error}.") from None
    if not isinstance(items, list) or not items:
        raise UserError(f'--tests {path} must be a list of tests, such as [{{"n": 3}}, {{"n": 4}}].')
    if len(items) > MOST_TESTS:
        raise UserError(f"--tests {path} has {len(items)} tests: {MOST_TESTS} is the most.")
    return items


def _text(path: str) -> str:
    file = Path(path)
    try:
        if file.exists() and not file.is_file():
            raise UserError(f"--tests {path} is not an ordinary file.")
        if file.stat().st_size > FILE_LIMIT:
            raise UserError(f"--tests {path} is too large: {FILE_LIMIT >> 20} MiB is the most.")
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(f"--tests {path} cannot be read: {error.strerror or error}.") from None
    except ValueError:  # also: a path with a null byte
        raise UserError(f"--tests {path} is not text in UTF-8.") from None


def structs_in(types: Iterable[CType]) -> dict[str, CType]:
    """Structs with their fields, by name: inside themselves they are only named."""
    found: dict[str, CType] = {}
    pending = list(types)
    while pending:
        kind = pending.pop()
        if kind.kind is TypeKind.STRUCT and kind.fields and _bare(kind.spelling) not in found:
            found[_bare(kind.spelling)] = kind
            pending += [ctype for _, _, ctype in kind.fields]
        elif kind.pointee is not None:
            pending.append(kind.pointee)
    return found


def _bare(spelling: str) -> str:
    return spelling.removeprefix("const ").removeprefix("volatile ").strip()


@dataclass
class _Test:
    """Reads one test."""

    where: str
    contract: Contract
    structs: Mapping[str, CType]
    order: Order
    memory: dict[int, int] = field(default_factory=dict)
    addresses: dict[str, int] = field(default_factory=dict)
    """Addresses of pointer parameters that are decided."""
    _given: Mapping[str, Any] = field(default_factory=dict)
    _pending: list[tuple[str, int, CType, Any]] = field(default_factory=list)
    """Cells that have an address and are still to be filled: their name, address, type and value."""
    _next: int = BUFFERS
    _bytes: int = 0

    def inputs(self, item: Any, number: int) -> Pair:
        if not isinstance(item, dict):
            raise UserError(f'{self.where} is no object of parameter names and values, such as {{"n": 3}}.')
        self._check_names(item)
        self._given = item
        random = Random(number)
        registers = self._background(random)
        values = {a.name: self._argument(a, item[a.name]) for a in self.contract.arguments}
        self._fill()
        self._extra(item)
        for argument in self.contract.arguments:
            put_argument(
                self.contract.machine, argument, values[argument.name], registers, self.memory, random.getrandbits(64)
            )
        left = Inputs(registers, self.memory, 0, 2 * number + 1, {}, number)
        return left, replace(left, side_seed=2 * number + 2)

    def _check_names(self, item: Mapping[str, Any]) -> None:
        names = [argument.name for argument in self.contract.arguments]
        known = f"the parameters are {', '.join(names)}" if names else "there are no parameters"
        for name in item:
            if name not in names and name != "memory":
                raise UserError(f"{self.where} gives '{name}', which is no parameter: {known}.")
        missing = [name for name in names if name not in item]
        if missing:
            raise UserError(f"{self.where} gives no value for {missing[0]}: {known}.")

    def _background(self, random: Random) -> dict[str, int]:
        """Registers that are no arguments: noise, so that reading one shows."""
        machine = self.contract.machine
        fixed = {*machine.initial, machine.convention.stack_pointer}
        sizes = {name: machine.registers[name].size for name in machine.containers if name not in fixed}
        return {name: random.getrandbits(8 * size if size > 1 else 1) for name, size in sizes.items()}

    # -- arguments ------------------------------------------------------------------------------

    def _argument(self, argument: Argument, value: Any) -> int:
        kind = argument.type
        if kind.kind is TypeKind.POINTER:
            return self._parameter_address(argument.name, ())
        if kind.kind is TypeKind.STRUCT:
            return self._struct_value(argument.name, kind, value)
        return self._scalar(argument.name, kind, value)

    def _parameter_address(self, name: str, coming_from: tuple[str, ...]) -> int:
        if name in self.addresses:
            return self.addresses[name]
        kind = next((a.type for a in self.contract.arguments if a.name == name), None)
        if kind is None or kind.kind is not TypeKind.POINTER:
            raise self._wrong(coming_from[-1], f"'same_as' names {name!r}, which is no pointer parameter")
        if name in coming_from:
            raise self._wrong(name, "'same_as' leads back to itself")
        address = self._pointer(name, kind, self._given[name], coming_from)
        self.addresses[name] = address
        return address

    def _pointer(self, name: str, kind: CType, value: Any, coming_from: tuple[str, ...] = ()) -> int:
        """The address that a value describes; its buffer is reserved and filled later."""
        if value is None:
            return 0
        if _is_number(value):
            return self._address(name, self._integer(name, kind, value))
        pointee = self._pointee(kind)
        if isinstance(value, list):
            return self._elements(name, pointee, value)
        if not isinstance(value, dict):
            raise self._wrong(name, f"is a pointer, which is given as {_FORMS}")
        if pointee.fields and value.keys() <= _field_names(pointee):
            return self._elements(name, pointee, [value])
        match sorted(value):
            case ["to"] if isinstance(value["to"], list):
                return self._elements(name, pointee, value["to"])
            case ["to"]:
                return self._elements(name, pointee, [value["to"]])
            case ["text"] if isinstance(value["text"], str):
                return self._elements(name, _BYTE, [*self._encoded(name, value["text"]), 0])
            case ["same_as"] | ["offset", "same_as"]:
                return self._same_as(name, value, coming_from)
        raise self._wrong(name, self._unknown_keys(pointee, value))

    def _encoded(self, name: str, text: str) -> bytes:
        try:
            return text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise self._wrong(name, "is text with half of a surrogate pair: write both halves") from None

    def _unknown_keys(self, pointee: CType, value: Mapping[str, Any]) -> str:
        if not pointee.fields:
            return f"is a pointer, which is given as {_FORMS}"
        wrong = next(key for key in value if key not in _field_names(pointee))
        return f"has no field {wrong!r}: {pointee.spelling} has {', '.join(sorted(_field_names(pointee)))}"

    def _same_as(self, name: str, value: Mapping[str, Any], coming_from: tuple[str, ...]) -> int:
        offset, other = value.get("offset", 0), value["same_as"]
        if not isinstance(offset, int) or isinstance(offset, bool) or abs(offset) > MOST_BYTES:
            raise self._wrong(name, f"'offset' must be a number of bytes, at most {MOST_BYTES}")
        if not isinstance(other, str):
            raise self._wrong(name, "'same_as' must name a pointer parameter")
        return self._address(name, self._parameter_address(other, (*coming_from, name)) + offset)

    def _elements(self, name: str, kind: CType, values: Sequence[Any]) -> int:
        size = max(1, kind.bits // 8)
        address = self._allocate(name, size * len(values))
        if "->" not in name and "[" not in name:
            self.addresses[name] = address  # before it is filled: a cell may point back to it
        for index, value in enumerate(values):
            label = name if len(values) == 1 else f"{name}[{index}]"
            self._pending.append((label, address + index * size, kind, value))
        return address

    def _allocate(self, name: str, size: int) -> int:
        self._spend(name, size)
        address = self._next
        self._next += -(-(size + _GAP) // _ALIGNMENT) * _ALIGNMENT
        return address

    def _spend(self, name: str, size: int) -> None:
        self._bytes += size
        if self._bytes > MOST_BYTES:
            raise self._wrong(name, f"is too large: {MOST_BYTES >> 10} KiB of memory are the most for one test")

    def _pointee(self, kind: CType) -> CType:
        """What a pointer points to, with its fields; bytes if the type is not known."""
        pointee = kind.pointee
        name = _bare(pointee.spelling if pointee is not None and pointee.spelling else kind.spelling.rstrip("* "))
        if pointee is None or pointee.kind in (TypeKind.STRUCT, TypeKind.VOID):
            found = self.structs.get(name)
            if found is not None:
                return found
        return pointee if pointee is not None and pointee.bits else _BYTE

    # -- cells ----------------------------------------------------------------------------------

    def _fill(self) -> None:
        """Lists of cells may be long: iterate, do not recurse."""
        while self._pending:
            name, address, kind, value = self._pending.pop()
            if kind.kind is TypeKind.STRUCT:
                self._fill_struct(name, address, kind, value)
            elif kind.kind is TypeKind.POINTER:
                self._put(address, self._pointer(name, kind, value), kind.bits // 8)
            else:
                self._put(address, self._scalar(name, kind, value), kind.bits // 8)

    def _fill_struct(self, name: str, address: int, kind: CType, value: Any) -> None:
        """Fields that are not given are zero."""
        if not kind.fields:
            raise self._wrong(name, f"is {kind.spelling}, whose fields are not known: give --shape, or 'memory' in hex")
        if not isinstance(value, dict) or not value.keys() <= _field_names(kind):
            fields = ", ".join(sorted(_field_names(kind)))
            raise self._wrong(name, f"is {kind.spelling}, which is given as an object of its fields {fields}")
        self.memory.update(dict.fromkeys(range(address, address + kind.bits // 8), 0))
        for label, offset, ctype in kind.fields:
            array, _, index = label.partition("[")
            if array not in value:
                continue
            given = value[array]
            if index:
                if not isinstance(given, list):
                    raise self._wrong(f"{name}->{array}", "is an array, which is given as a list")
                position = int(index.rstrip("]"))
                if position >= len(given):
                    continue
                given = given[position]
            self._pending.append((f"{name}->{label}", address + offset, ctype, given))

    def _struct_value(self, name: str, kind: CType, value: Any) -> int:
        """A struct that is passed by value."""
        address = self._allocate(name, kind.bits // 8)
        self._fill_struct(f"{name}", address, kind, value)
        self._fill()
        return int.from_bytes(bytes(self.memory[address + i] for i in range(kind.bits // 8)), self.order)

    def _put(self, address: int, value: int, size: int) -> None:
        self.memory.update(enumerate((value & ((1 << (8 * size)) - 1)).to_bytes(size, self.order), address))

    def _scalar(self, name: str, kind: CType, value: Any) -> int:
        if kind.is_float:
            return self._float(name, kind, value)
        return self._integer(name, kind, value)

    def _integer(self, name: str, kind: CType, value: Any) -> int:
        if isinstance(value, bool):
            value = int(value)
        if not _is_number(value):
            raise self._wrong(name, f"is {kind.spelling or 'a number'}, but {_shown(value)} is no whole number")
        number = value if isinstance(value, int) else int(value, 16)
        bits = 1 if kind.kind is TypeKind.BOOL else kind.bits or 64
        lowest = 0 if kind.kind is TypeKind.BOOL else -(1 << (bits - 1))
        if not lowest <= number < 1 << bits:
            raise self._wrong(name, f"{_shown(value)} does not fit its {bits} bits ({kind.spelling})")
        return number & ((1 << bits) - 1)

    def _float(self, name: str, kind: CType, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise self._wrong(name, f"is {kind.spelling}, but {_shown(value)} is no number")
        try:
            packed = struct.pack("<f" if kind.bits == 32 else "<d", float(value))
        except (ValueError, OverflowError):
            raise self._wrong(name, f"{_shown(value)} is no {kind.spelling}") from None
        return int.from_bytes(packed, "little")

    # -- further memory -------------------------------------------------------------------------

    def _extra(self, item: Mapping[str, Any]) -> None:
        """The contents of "memory": bytes in hex, or elements where a pointer points to."""
        names = {argument.name: argument.type for argument in self.contract.arguments}
        if "memory" in names or "memory" not in item:
            return
        if not isinstance(item["memory"], dict):
            raise UserError(f'{self.where}: "memory" must be an object of addresses and contents.')
        for place, content in item["memory"].items():
            if place in names and names[place].kind is TypeKind.POINTER:
                self._overwrite(place, names[place], content)
            else:
                self._bytes_at(place, content)
        self._fill()

    def _overwrite(self, name: str, kind: CType, content: Any) -> None:
        if not isinstance(content, list):
            raise self._wrong("memory", f"what {name} points to is given as a list of elements")
        pointee, address = self._pointee(kind), self.addresses[name]
        size = max(1, pointee.bits // 8)
        self._spend("memory", size * len(content))
        self._address("memory", address + size * len(content))
        for index, value in enumerate(content):
            self._pending.append((f"{name}[{index}]", address + index * size, pointee, value))

    def _bytes_at(self, place: str, content: Any) -> None:
        if not _HEX.fullmatch(place) or not isinstance(content, str):
            raise self._wrong("memory", 'is given as {"0x1000": "00ff…"} or by the name of a pointer')
        try:
            data = bytes.fromhex(content)
        except ValueError:
            raise self._wrong("memory", f"what is at {place} is not bytes in hex") from None
        self._spend("memory", len(data))
        address = self._address("memory", int(place, 16))
        self._address("memory", address + len(data))
        self.memory.update(enumerate(data, address))

    def _address(self, name: str, address: int) -> int:
        """Refuses addresses that the contract rules out: the stack of the function itself."""
        if not 0 <= address < 1 << 64:
            raise self._wrong(name, f"{address:#x} is no address")
        if STACK_POINTER - FRAME_LIMIT <= address < STACK_POINTER + _ABOVE_STACK:
            raise self._wrong(name, f"{address:#x} is in the function's own stack: choose another address")
        return address

    def _wrong(self, name: str, what: str) -> UserError:
        return UserError(f"{self.where}, {name}: {what}.")


def _field_names(kind: CType) -> set[str]:
    """Arrays are expanded element by element in a type, and are one list in a test."""
    return {label.partition("[")[0] for label, _, _ in kind.fields}


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return _HEX.fullmatch(value) is not None
    return isinstance(value, int) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:39]}…"
