"""Damaged ELF files: every table and field, with numbers that a reader is likely to trust."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from hostile.case import Case, Damaged, Edit, Expect
from hostile.elf_map import HEADER_SIZE, NO_BITS, RELOCATIONS, SYMBOL_TABLE, ElfMap, Field
from hostile.samples import SIGNATURES, Samples

Edits = tuple[str, list[Edit]]
_HUGE = (1 << 16, 1 << 20, 1 << 28, 1 << 30, (1 << 31) - 1, 1 << 31, 1 << 32, 1 << 40, 1 << 62, 1 << 63, (1 << 64) - 1)
_TYPES = (0, 1, 2, 3, 4, 6, 7, 8, 9, 11, 14, 15, 17, 18, 19, 0x6FFFFFF6, 0x7FFFFFFF)
_FLAGS = (0, 1, 2, 4, 6, 7, 0x10, 0x20, 0x32, 0x42, 0x82, 0x200, 0x402, 0x800, 0x802, 0x80000002)


def elf_case(random: Random, samples: Samples) -> Case:
    name = random.choice(list(samples.files))
    base = samples.files[name]
    elf = ElfMap(base)
    named = [_one(random, elf) for _ in range(random.choice((1, 1, 1, 2, 3, 6)))]
    what = "; ".join(text for text, _ in named)
    edits = tuple(edit for _, edits in named for edit in edits)
    return question(random, samples, "elf", name, Damaged(base, edits), what)


def question(random: Random, samples: Samples, kind: str, name: str, damaged: Damaged, what: str) -> Case:
    """A command about a damaged file: alone, against itself undamaged, or against functions that surely differ."""
    function = random.choice(list(SIGNATURES))
    files = {name: damaged}
    spec = f"{name}:{function}"
    budget = random.choice(("0.3", "0.3", "0.5", "1", "3"))
    shape = random.randrange(10)
    if shape == 0:
        return Case(kind, what, ("show", spec), files)
    if shape == 1:
        return Case(kind, what, ("run", spec, "--fuel", "2000", *["3"] * SIGNATURES[function].count(",")), files)
    options = ("--budget", budget, *(("--json",) if random.random() < 0.7 else ()))
    if shape < 6:
        pair = [spec, f"undamaged-{name}:{function}"]
        random.shuffle(pair)
        files = {**files, f"undamaged-{name}": Damaged(damaged.base)}
        words = ("compare", *pair, *options)
        if random.random() < 0.5:
            words = (*words, "--signature", SIGNATURES[function])
        return Case(kind, what, words, files, Expect.SAME_CODE, damaged.base, function)
    pair = [spec, f"twin.o:{function}"]
    random.shuffle(pair)
    files = {**files, "twin.o": Damaged(samples.twin)}
    words = ("compare", *pair, *options, "--signature", SIGNATURES[function])
    return Case(kind, what, words, files, Expect.NEVER_EQUIVALENT)


def _one(random: Random, elf: ElfMap) -> Edits:
    ways: list[Callable[[Random, ElfMap], Edits]] = [
        *[_field] * 8,
        _entries_exchanged,
        _overlap,
        _self_reference,
        _truncated,
        _bytes_of_a_table,
        _large_common,
        _many_sections,
        _many_symbols,
        _section_bytes,
    ]
    return random.choice(ways)(random, elf)


def number(random: Random, elf: ElfMap, field: Field) -> int:
    """A number that a reader is likely to trust."""
    now = elf.number(field)
    same_kind = [f for f in _fields_like(elf, field) if f.size == field.size]
    if field.name.endswith(" type") and random.random() < 0.5:
        return random.choice(_TYPES)
    if field.name.endswith(" flags") and random.random() < 0.5:
        return random.choice(_FLAGS)
    choices = [
        0,
        1,
        now + 1,
        now - 1,
        now + random.choice((4, 8, 16, 4096)),
        now ^ (1 << random.randrange(8 * field.size)),
        len(elf.data),
        len(elf.data) - now,
        random.randrange(len(elf.data)),
        random.choice(_HUGE),
        -random.choice(_HUGE),
        random.getrandbits(8 * field.size),
        elf.number(random.choice(same_kind)),
    ]
    return random.choice(choices)


def _fields_like(elf: ElfMap, field: Field) -> list[Field]:
    for fields in (elf.file_fields(), elf.section_fields(), elf.symbol_fields(), elf.relocation_fields()):
        if field in fields:
            last = field.name.rsplit(" ", 1)[1]
            return [f for f in fields if f.name.endswith(last)]
    return [field]


def _field(random: Random, elf: ElfMap) -> Edits:
    groups = [
        elf.file_fields(),
        elf.section_fields(),
        elf.section_fields(),
        elf.symbol_fields(),
        elf.symbol_fields(),
        elf.relocation_fields(),
        elf.relocation_fields(),
        elf.segment_fields(),
    ]
    field = random.choice(random.choice([group for group in groups if group]))
    value = number(random, elf, field) % (1 << (8 * field.size))
    return f"{field.name} = {value:#x}", [Edit(field.offset, value.to_bytes(field.size, "little"))]


def _entries_exchanged(random: Random, elf: ElfMap) -> Edits:
    """Two headers, symbols or relocations in each other's place."""
    starts = random.choice(
        [
            [(elf.section_table + HEADER_SIZE * i, HEADER_SIZE) for i in range(len(elf.sections))],
            [(f.offset, 24) for f in elf.symbol_fields() if f.name.endswith(" name")],
            [(f.offset, 24) for f in elf.relocation_fields() if f.name.endswith(" offset")] or [(0, 16)],
        ]
    )
    (first, size), (second, _) = random.choice(starts), random.choice(starts)
    data = elf.data
    edits = [Edit(first, data[second : second + size]), Edit(second, data[first : first + size])]
    if random.random() < 0.3:
        edits.pop()
    return f"entries at {first:#x} and {second:#x} exchanged", edits


def _overlap(random: Random, elf: ElfMap) -> Edits:
    """One section's bytes or addresses are those of another."""
    one, other = random.randrange(len(elf.sections)), random.randrange(len(elf.sections))
    at = elf.section_table + HEADER_SIZE * one
    place = random.choice((16, 24))
    value = elf.sections[other].address if place == 16 else elf.sections[other].offset
    value += random.choice((0, 0, 1, 8, -8))
    edits = [Edit(at + place, (value % (1 << 64)).to_bytes(8, "little"))]
    return f"section {one} over section {other}", edits


def _self_reference(random: Random, elf: ElfMap) -> Edits:
    """A table that is its own string table, symbol table or target; a relocation of its own field."""
    tables = elf.indexes_of(SYMBOL_TABLE, RELOCATIONS)
    index = random.choice(tables)
    at = elf.section_table + HEADER_SIZE * index
    place = random.choice((40, 44))
    return f"section {index} refers to itself", [Edit(at + place, index.to_bytes(4, "little"))]


def _truncated(random: Random, elf: ElfMap) -> Edits:
    length = random.choice((random.randrange(len(elf.data)), len(elf.data) - random.randrange(1, 65), 64, 63))
    return f"cut to {length} bytes", [Edit(length, None)]


def _bytes_of_a_table(random: Random, elf: ElfMap) -> Edits:
    """Garbage in a string table, symbol table, relocation table or any other section that is not code."""
    candidates = [i for i, s in enumerate(elf.sections) if s.type != NO_BITS and s.size and not s.flags & 4]
    index = random.choice(candidates)
    return _garbage(random, elf, index)


def _section_bytes(random: Random, elf: ElfMap) -> Edits:
    candidates = [i for i, s in enumerate(elf.sections) if s.type != NO_BITS and s.size]
    return _garbage(random, elf, random.choice(candidates))


def _garbage(random: Random, elf: ElfMap, index: int) -> Edits:
    section = elf.sections[index]
    start = random.randrange(section.size)
    size = min(random.choice((1, 1, 2, 4, 8, 64)), section.size - start)
    new = random.choice((random.randbytes(size), b"\xff" * size, bytes(size), b"A" * size))
    return f"{elf.names[index]}+{start:#x} = {new[:8].hex()}…", [Edit(section.offset + start, new)]


def _large_common(random: Random, elf: ElfMap) -> Edits:
    """A symbol that claims memory of its own, or a section without bytes that claims much."""
    if random.random() < 0.5:
        symbol = random.choice([f for f in elf.symbol_fields() if f.name.endswith(" name")])
        size = random.choice(_HUGE).to_bytes(8, "little")
        new = bytes([0x11, 0]) + (0xFFF2).to_bytes(2, "little") + (16).to_bytes(8, "little") + size
        return "an enormous common symbol", [Edit(symbol.offset + 4, new)]
    index = random.randrange(1, len(elf.sections))
    at = elf.section_table + HEADER_SIZE * index
    size = random.choice((*_HUGE, (1 << 30) - 4096, 1 << 29)).to_bytes(8, "little")
    return f"section {index} claims memory", [Edit(at + 4, NO_BITS.to_bytes(4, "little")), Edit(at + 32, size)]


def _many_sections(random: Random, elf: ElfMap) -> Edits:
    """A long section table at the end of the file: copies of one header."""
    count = random.choice((0xFEFF, 5000, 300))
    index = random.randrange(len(elf.sections))
    header = elf.data[elf.section_table + HEADER_SIZE * index :][:HEADER_SIZE]
    table = elf.data[elf.section_table :][: HEADER_SIZE * len(elf.sections)] + header * count
    end = len(elf.data)
    edits = [Edit(end, table), Edit(40, end.to_bytes(8, "little"))]
    edits.append(Edit(60, min(0xFFFF, count + len(elf.sections)).to_bytes(2, "little")))
    return f"{count} times section {index}", edits


def _many_symbols(random: Random, elf: ElfMap) -> Edits:
    """A table of symbols or relocations repeated many times at the end of the file."""
    index = random.choice(elf.indexes_of(SYMBOL_TABLE, RELOCATIONS))
    content = elf.content(index) * random.choice((10, 200, 2000))
    content = content[: 8 << 20]
    at = elf.section_table + HEADER_SIZE * index
    end = len(elf.data)
    edits = [
        Edit(end, content),
        Edit(at + 24, end.to_bytes(8, "little")),
        Edit(at + 32, len(content).to_bytes(8, "little")),
    ]
    return f"{elf.names[index]} of {len(content)} bytes", edits
