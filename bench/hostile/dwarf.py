"""Damaged debug information."""

from __future__ import annotations

import zlib
from functools import cache
from random import Random

from hostile.case import Case, Damaged, Edit
from hostile.elf import Edits, question
from hostile.elf_map import HEADER_SIZE, NO_BITS, RELOCATIONS, ElfMap
from hostile.samples import Samples

_LEB = (b"\xff\xff\xff\xff\x0f", b"\xff" * 9 + b"\x01", b"\x80" * 12, b"\x00", b"\x7f", b"\x80\x80\x80\x80\x10")
_NUMBERS = (b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x01\0\0\0", b"\xf0\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x40")
_COMPRESSED = 0x800


def dwarf_case(random: Random, samples: Samples) -> Case:
    name = random.choice([name for name, data in samples.files.items() if b".debug_info" in data])
    base = samples.files[name]
    elf = ElfMap(base)
    named = [_one(random, elf) for _ in range(random.choice((1, 1, 2, 4, 16)))]
    what = "; ".join(text for text, _ in named[:4])
    edits = tuple(edit for _, edits in named for edit in edits)
    return question(random, samples, "dwarf", name, Damaged(base, edits), what)


def _one(random: Random, elf: ElfMap) -> Edits:
    ways = (_bytes, _bytes, _bytes, _bytes, _moved, _relocation, _repeated, _nested, _compressed)
    return random.choice(ways)(random, elf)


def _debug_sections(elf: ElfMap) -> list[int]:
    return [
        index
        for index, name in enumerate(elf.names)
        if name.startswith(".debug_")
        and elf.sections[index].type not in (NO_BITS, RELOCATIONS)
        and elf.sections[index].size
    ]


def _bytes(random: Random, elf: ElfMap) -> Edits:
    """A few bytes, as a tag, a form, a length, a count or a reference would be."""
    index = random.choice(_debug_sections(elf))
    section = elf.sections[index]
    start = random.choice((random.randrange(section.size), random.randrange(min(section.size, 40))))
    new = random.choice(
        (random.randbytes(random.choice((1, 1, 1, 2, 4))), random.choice(_LEB), random.choice(_NUMBERS))
    )
    new = new[: section.size - start]
    return f"{elf.names[index]}+{start:#x} = {new.hex()}", [Edit(section.offset + start, new)]


def _header(elf: ElfMap, index: int, place: int, value: int, size: int = 8) -> Edit:
    return Edit(elf.section_table + HEADER_SIZE * index + place, value.to_bytes(size, "little"))


def _moved(random: Random, elf: ElfMap) -> Edits:
    """A debug section whose bytes are those of another section, or begin in the middle of its own."""
    index, other = random.choice(_debug_sections(elf)), random.randrange(len(elf.sections))
    section = elf.sections[index]
    if random.random() < 0.5:
        shift = random.randrange(section.size)
        edits = [_header(elf, index, 24, section.offset + shift), _header(elf, index, 32, section.size - shift)]
        return f"{elf.names[index]} begins {shift} bytes later", edits
    source = elf.sections[other]
    if source.type == NO_BITS:
        return "nothing", []
    edits = [_header(elf, index, 24, source.offset), _header(elf, index, 32, source.size)]
    return f"{elf.names[index]} is {elf.names[other]}", edits


def _relocation(random: Random, elf: ElfMap) -> Edits:
    fields = [f for f in elf.relocation_fields() if f.name.startswith(".rela.debug")]
    if not fields:
        return _bytes(random, elf)
    field = random.choice(fields)
    value = random.choice((0, 1, (1 << 8 * field.size) - 1, random.getrandbits(8 * field.size), random.randrange(4096)))
    return f"{field.name} = {value:#x}", [Edit(field.offset, value.to_bytes(field.size, "little"))]


def _appended(elf: ElfMap, index: int, content: bytes) -> list[Edit]:
    end = len(elf.data)
    return [Edit(end, content), _header(elf, index, 24, end), _header(elf, index, 32, len(content))]


def _repeated(random: Random, elf: ElfMap) -> Edits:
    """A debug section many times over: units, rows or abbreviations without end."""
    index = random.choice(_debug_sections(elf))
    content = (elf.content(index) * random.choice((20, 500, 20_000)))[: 16 << 20]
    return f"{elf.names[index]} repeated to {len(content)} bytes", _appended(elf, index, content)


def _nested(random: Random, elf: ElfMap) -> Edits:
    """One entry in another without end: the same abbreviation, which has children, again and again."""
    if ".debug_info" not in elf.names:
        return _bytes(random, elf)
    index = elf.names.index(".debug_info")
    content = elf.content(index)
    depth = random.choice((100, 5000, 200_000))
    body = content[:12] + bytes([random.choice((1, 2, 3, random.randrange(1, 30)))]) * depth
    length = (len(body) - 4).to_bytes(4, "little")
    return f".debug_info nested {depth} deep", _appended(elf, index, length + body[4:])


def _compressed(random: Random, elf: ElfMap) -> Edits:
    """A section that says it is compressed, and grows out of all proportion."""
    index = random.choice(_debug_sections(elf))
    size = random.choice((1 << 20, 1 << 27, 1 << 31, 1 << 62))
    kind = random.choice((1, 1, 1, 2, 77))
    packed = _bomb(min(size, 1 << 29))
    if random.random() < 0.3:
        packed = zlib.compress(elf.content(index))
    header = kind.to_bytes(8, "little") + size.to_bytes(8, "little") + (1).to_bytes(8, "little")
    edits = [*_appended(elf, index, header + packed), _header(elf, index, 8, _COMPRESSED)]
    return f"{elf.names[index]} compressed, of {size} bytes", edits


@cache
def _bomb(size: int) -> bytes:
    return zlib.compress(bytes(size), 1)
