"""Every instruction form of x86-64 that the fuzzer tries, from the opcode lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from semantics.encoding import Template
from semantics.x86_crypto_forms import CRYPTO_LINES, STRING_COMPARE_LINES
from semantics.x86_float_forms import FLOAT_LINES
from semantics.x86_general_forms import BRANCHES, GENERAL_LINES, LOCKED, VEX_GENERAL_LINES
from semantics.x86_vector_forms import VECTOR_LINES

_WIDTHS = {"v": (2, 4, 8), "z": (2, 4, 8), "y": (4, 8)}


@cache
def all_forms() -> tuple[Template, ...]:
    general = (form for line in GENERAL_LINES for form in _locked(_parse(line)))
    vex = (replace(form, vector=16, wide=form.width == 8) for line in VEX_GENERAL_LINES for form in _parse(line))
    lines = (*VECTOR_LINES, *FLOAT_LINES, *CRYPTO_LINES, *STRING_COMPARE_LINES)
    vector = (form for line in lines for form in _parse_vector(line))
    return (*general, *vex, *vector)


def _parse(line: str) -> Iterator[Template]:
    name, opcode, modrm, operands = line.split()
    template = Template(
        mnemonic=name,
        opcode=bytes.fromhex(opcode),
        modrm=modrm.strip("/-"),
        operands=tuple(operands.split(",")) if operands != "-" else (),
        wide=name == "CMPXCHG16B",
        branch=name in BRANCHES,
    )
    for width in _widths(template.operands):
        yield from _places(replace(template, width=width))


def _widths(operands: tuple[str, ...]) -> tuple[int, ...]:
    for operand in operands:
        if operand[0] in "EGMIOB" and operand[1:] in _WIDTHS:
            return _WIDTHS[operand[1:]]
    return (0,)


def _places(template: Template) -> Iterator[Template]:
    """The register and the memory variant, as far as the operands allow them."""
    kinds = {operand[0] for operand in template.operands}
    if not kinds & {"M"}:
        yield template
    if kinds & {"E", "W", "M"}:
        bit_string = template.mnemonic in ("BT", "BTS", "BTR", "BTC") and "G" in kinds
        yield replace(template, memory=True, bit_string=bit_string)


def _locked(forms: Iterator[Template]) -> Iterator[Template]:
    for form in forms:
        yield form
        if form.memory and form.mnemonic in LOCKED and form.operands[0][0] in "EM":
            yield replace(form, prefix=b"\xf0")


def _parse_vector(line: str) -> Iterator[Template]:
    """A line starts with what encodings there are: S legacy, X VEX.128, Y VEX.256; W for VEX.W or REX.W."""
    encodings, rest = line.split(maxsplit=1)
    for form in _parse(rest):
        wide = "W" in encodings or form.width == 8
        if "S" in encodings:
            yield replace(form, operands=tuple(o for o in form.operands if o[0] not in "HL"), wide=wide, width=0)
        for letter, size in (("X", 16), ("Y", 32)):
            if letter in encodings:
                yield replace(form, mnemonic="V" + form.mnemonic, vector=size, wide=wide, width=0)
