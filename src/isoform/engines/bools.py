"""Differences that show only where memory that may hold a `bool` holds neither 0 nor 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import cycle, product

from isoform.borders.question import Question
from isoform.load.known import known_signature
from isoform.model.contract import Argument, argument_value, bools_by_value
from isoform.model.outcome import CallKey, Inputs, Outcome, Pair, in_frame
from isoform.model.signature import Signature, TypeKind

_MOST_BYTES = 48
"""Bytes read by a run that are examined one by one."""
_NEAR = 256
"""Bytes after a pointer that may be further elements of what it points to."""
_WORD_SHIFTS = (0, 32)
"""Where a structure in a register may have a bool beside an `int`."""
_MOST_IN_WORDS = 5
"""Bools in such structures of which all values together are tried; of more, all 1 and all 0."""
_BYTES = (2, 3, 4, 7, 0x10, 0x55, 0x80, 0xFE, 0xFF)
"""What no bool holds. Code that does the same with each as with its lowest bit, or with 1, may rely on a bool."""


def may_hold_bools(question: Question) -> bool:
    """Whether debug information has the type, or there is none."""
    images = question.target.image, question.rewrite.image
    if question.contract.certain is not None:
        return True
    return bool(question.contract.bools) or any(image.pointers.has_bools for image in images)


def rests_on_bools(question: Question, inputs: tuple[Inputs, Inputs]) -> bool:
    """Whether a run reads something other than 0 or 1 where a bool is declared. For memory of unknown type: whether it
    reads bytes of which one side uses only the lowest bit, or only whether they are zero, and the two agree once these
    bytes are 0 or 1. One side may then rely on a bool being 0 or 1, and the other not."""
    passed = [argument_value(a, inputs[0]) >> (8 * at) & 0xFF for a, at in bools_by_value(question.contract.arguments)]
    if any(byte > 1 for byte in passed):
        return True
    if not may_hold_bools(question):
        return False
    outcomes = question.run_both(inputs, record=True)
    read = {address: byte for outcome in outcomes for address, byte in outcome.reads.items() if byte > 1}
    for effect in inputs[0].call_results.values():
        read |= {address: byte for address, byte in effect.memory.items() if byte > 1}
    if any(_is_declared_bool(question, inputs[0], address) for address in read):
        return True
    untyped = [a for a in read if not in_frame(a) and not _is_of_another_type(question, inputs[0], a)]
    # A bool is more often the last byte read at one place than a byte of something larger.
    everywhere = {address for outcome in outcomes for address in outcome.reads}
    untyped.sort(key=lambda address: address + 1 in everywhere)
    # Bytes of which a side uses only the lowest bit, or whether they are zero: not bytes of a pointer or a larger
    # number.
    taken = [
        address
        for address in untyped[:_MOST_BYTES]
        if any(_is_unchanged(question, inputs, outcomes, {address: bit}) for bit in {read[address] & 1, 1})
    ]
    as_bools = [{a: read[a] & 1 for a in taken}, dict.fromkeys(taken, 1)]
    return bool(taken) and any(_agree_with(question, inputs, bits) for bits in as_bools)


def _is_unchanged(question: Question, inputs: Pair, outcomes: tuple[Outcome, Outcome], bits: Mapping[int, int]) -> bool:
    """Whether a side does the same with these bytes in memory, apart from what it leaves in them."""
    before = [_apart_from(outcome, bits) for outcome in outcomes]
    after = [_apart_from(outcome, bits) for outcome in question.run_both(_with_memory(inputs, bits))]
    return not all(_changes(question, before, after))


def _changes(question: Question, before: Sequence[Outcome], after: Sequence[Outcome]) -> list[bool]:
    """For each side, whether two runs of it differ."""
    runs = enumerate(zip(before, after, strict=True))
    return [bool(question.contract.of(side).differences(old, new)) for side, (old, new) in runs]


def _agree_with(question: Question, inputs: Pair, bits: Mapping[int, int]) -> bool:
    return not question.differences(*question.run_both(_with_memory(inputs, bits)))


def _with_memory(inputs: Pair, bits: Mapping[int, int]) -> Pair:
    """With other bytes in memory, at entry and where an outside call writes them."""

    def changed(side: Inputs) -> Inputs:
        effects = {
            key: replace(effect, memory={a: bits.get(a, byte) for a, byte in effect.memory.items()})
            for key, effect in side.call_results.items()
        }
        return replace(side, memory={**side.memory, **bits}, call_results=effects)

    return changed(inputs[0]), changed(inputs[1])


def _apart_from(outcome: Outcome, bits: Mapping[int, int]) -> Outcome:
    return replace(outcome, writes={a: byte for a, byte in outcome.writes.items() if a not in bits})


def _is_declared_bool(question: Question, inputs: Inputs, address: int) -> bool:
    if any(address == start + offset for start, offset in question.contract.bool_variables):
        return True
    for cell in question.contract.bools:
        distance = address - argument_value(cell.argument, inputs) - cell.offset
        if 0 <= distance < _NEAR and distance % cell.stride == 0:
            return True
    return False


def _is_of_another_type(question: Question, inputs: Inputs, address: int) -> bool:
    """Whether an argument points there, and its type is known."""
    pointers = [a for a in question.contract.arguments if _says_what_is_there(a)]
    return any(0 <= address - argument_value(a, inputs) < _pointee_bytes(a) for a in pointers)


def _pointee_bytes(argument: Argument) -> int:
    return argument.type.pointee.bits // 8 if argument.type.pointee is not None else 0


def _says_what_is_there(argument: Argument) -> bool:
    pointee = argument.type.pointee if argument.type.kind is TypeKind.POINTER else None
    return pointee is not None and pointee.bits > 0 and not any(True for _ in pointee.bool_offsets())


def as_if_bools(question: Question, inputs: Pair) -> Iterator[list[Pair]]:
    """For arguments, and for results of outside functions, that may be bools: the inputs with 0 and with 1 instead. A
    difference counts only if one of them shows it."""
    wide = [name for name in question.contract.bytes_read if inputs[0].registers.get(name, 0) > 1]
    if wide:
        yield [_with_registers(inputs, dict.fromkeys(wide, bit)) for bit in (1, 0)]
    places = list(_bools_in_words(question, inputs))
    if places:
        several = product((1, 0), repeat=len(places)) if len(places) <= _MOST_IN_WORDS else ((1,), (0,))
        yield [_with_bits(inputs, dict(zip(places, cycle(bits), strict=False))) for bits in several]
    results = _results_of_unknown_type(question, inputs)
    if results and _looks_at_bytes_only(question, inputs, results):
        yield [
            _with_results(inputs, results, lambda value: value & ~0xFF | 1),
            _with_results(inputs, results, lambda value: value & ~0xFF),
        ]


def _bools_in_words(question: Question, inputs: Pair) -> Iterator[tuple[str, int]]:
    """Without debug information: the bytes of argument registers that may be a bool in a structure."""
    if question.contract.certain is None:
        return
    for argument in question.contract.arguments:
        name = argument.places[0].register
        if name is None or name in question.contract.bytes_read:
            continue
        for shift in range(0, 8 * argument.places[0].size, 8):
            byte = inputs[0].registers.get(name, 0) >> shift & 0xFF
            if byte > 1 and (
                _is_read_as_bool(question, inputs, name, shift)
                or (shift in _WORD_SHIFTS and _is_alone_in_word(question, inputs, name, shift, byte))
            ):
                yield name, shift


def _is_read_as_bool(question: Question, inputs: Pair, name: str, shift: int) -> bool:
    """Whether a side uses only the lowest bit of a byte, or only whether it is zero: whatever the byte holds, it does
    the same with the 0 or 1 that stands for it."""

    def runs(byte: int) -> Sequence[Outcome]:
        return question.run_both(_with_byte(inputs, name, shift, byte))

    as_zero, as_one = runs(0), runs(1)
    lowest, nonzero = {0, 1}, {0, 1}
    for byte in _BYTES:
        ran = runs(byte)
        by_one, by_zero = (_changes(question, bit, ran) for bit in (as_one, as_zero))
        lowest -= {side for side in lowest if (by_one if byte & 1 else by_zero)[side]}
        nonzero -= {side for side in nonzero if by_one[side]}
        if not lowest | nonzero:
            return False
    return True


def _is_alone_in_word(question: Question, inputs: Pair, name: str, shift: int, byte: int) -> bool:
    """Whether nothing reads the padding above a byte, and one side uses only its lowest bit."""
    lowest_bit_only = question.run_both(_with_byte(inputs, name, shift, byte & 1))
    if all(_changes(question, question.run_both(inputs), lowest_bit_only)):
        return False
    for value in (byte, 0, 1):
        changed = _with_byte(inputs, name, shift, value)
        above = _with_registers(changed, {name: changed[0].registers[name] ^ 0xFFFFFF00 << shift})
        if any(_changes(question, question.run_both(changed), question.run_both(above))):
            return False
    return True


def _with_byte(inputs: Pair, name: str, shift: int, byte: int) -> Pair:
    return _with_registers(inputs, {name: inputs[0].registers[name] & ~(0xFF << shift) | byte << shift})


def _with_bits(inputs: Pair, bits: Mapping[tuple[str, int], int]) -> Pair:
    for (name, shift), bit in bits.items():
        inputs = _with_byte(inputs, name, shift, bit)
    return inputs


def _with_registers(inputs: Pair, registers: Mapping[str, int]) -> Pair:
    left, right = (replace(side, registers={**side.registers, **registers}) for side in inputs)
    return left, right


def _results_of_unknown_type(question: Question, inputs: Pair) -> list[CallKey]:
    """The results of calls in the inputs whose type is not declared."""
    sides = question.target.image.signatures, question.rewrite.image.signatures
    return [
        key
        for key, effect in inputs[0].call_results.items()
        if any(value & 0xFF > 1 for value in effect.registers.values())
        and known_signature(key.callee) is None
        and all(_may_be_bool(signatures.get(key.callee)) for signatures in sides)
    ]


def _may_be_bool(declared: Signature | None) -> bool:
    """Whether a result may be a bool, or begin with one, according to its declaration."""
    return declared is None or 0 in declared.result.bool_offsets()


def _looks_at_bytes_only(question: Question, inputs: Pair, results: Sequence[CallKey]) -> bool:
    """Whether a side does the same whatever is above the lowest byte of these results."""
    changed = _with_results(inputs, results, lambda value: value ^ 0xFFFFFF00)
    return not all(_changes(question, question.run_both(inputs), question.run_both(changed)))


def _with_results(inputs: Pair, keys: Sequence[CallKey], change: Callable[[int], int]) -> Pair:
    def changed(side: Inputs) -> Inputs:
        effects = {key: side.call_results[key] for key in keys if key in side.call_results}
        new = {
            key: replace(effect, registers={name: change(value) for name, value in effect.registers.items()})
            for key, effect in effects.items()
        }
        return replace(side, call_results={**side.call_results, **new})

    return changed(inputs[0]), changed(inputs[1])
