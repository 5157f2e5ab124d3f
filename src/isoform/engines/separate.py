"""Whether inputs separate the two functions, by runs on our own runner alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

from isoform.borders.apart import Apart
from isoform.borders.library import with_signs_only
from isoform.borders.question import Question
from isoform.borders.restrict_space import as_promised
from isoform.borders.result_space import with_space_apart
from isoform.engines.aligned import differs_aligned
from isoform.engines.bools import as_if_bools, rests_on_bools
from isoform.engines.inputs import BUFFERS
from isoform.engines.open_bytes import OPEN_BYTES, rests_on_open_arguments
from isoform.engines.replaceable import rests_on_replaceable_calls
from isoform.load.image import Image
from isoform.model.contract import BoundsRule, Contract, Reading, ReturnAs, argument_value
from isoform.model.library import library_function
from isoform.model.machine import Machine
from isoform.model.outcome import (
    FRAME_LIMIT,
    RESULT_SPACES,
    STACK_POINTER,
    Inputs,
    Outcome,
    Pair,
    Status,
    in_frame,
    is_own_object,
)
from isoform.model.signature import TypeKind
from isoform.sym.validity import HIGHEST_ADDRESS, LOWEST_ADDRESS

NOT_COMPARED = "the runs differ only in what is not compared, such as padding or undefined values"
"""For runs that end differently for a reason on which no `different` may rest: they show nothing."""

_FILLED_BYTES = (4, 8, 64, 16, 1, 2, 12, 32, -64)
"""Sizes in bytes that a callee may write into a local whose size is not known. A difference must be visible for each of
them: otherwise what the local held before the call (an older variable, a pushed register) may be all that differs. The
usual sizes come first, because one without a difference decides. The negative one is a text that ends early."""


def differs(question: Question, inputs: Pair) -> bool:
    """Whether these inputs are allowed, only touch valid memory, and separate the two, wherever the space for a result
    in memory is."""
    starts = RESULT_SPACES if question.contract.result_space else RESULT_SPACES[:1]
    if not all(_differs(question, as_callers_pass(question, inputs, start)) for start in starts):
        return False
    sizes = filter(None, (question.contract.result_space, *_FILLED_BYTES))
    if gives_objects(question, inputs) and not all(
        _differs(question, as_callers_pass(question, _filled(inputs, size))) for size in sizes
    ):
        return False
    if not all(
        any(_differs(question, as_callers_pass(question, variant)) for variant in variants)
        for variants in as_if_bools(question, inputs)
    ):
        return False
    return not rests_on_open_arguments(question, as_callers_pass(question, inputs))


def are_certain(question: Question, inputs: Pair, readings: Sequence[Reading]) -> bool:
    """Whether each side's own run shows what it returns and writes on these inputs: it is the same whatever undefined
    values are, and no outside function, no address of its frame and nothing that the contract excludes has a part in
    it. For results that are compared with something else than each other."""
    if not question.admits(inputs[0]) or any(_holds_placed(question, side) for side in inputs):
        return False
    if not _are_extended(question, inputs[0]) or rests_on_bools(question, inputs):
        return False
    if not uses_valid_memory(question, inputs):
        return False
    alike = [(replace(inputs[0], side_seed=-byte), replace(inputs[1], side_seed=-byte)) for byte in OPEN_BYTES]
    runs = [question.run_both(as_callers_pass(question, variant)) for variant in (inputs, *alike)]
    return all(_is_one_outcome(question, side, readings[side], [run[side] for run in runs]) for side in range(2))


def _is_one_outcome(question: Question, side: int, reading: Reading, outcomes: Sequence[Outcome]) -> bool:
    first, contract = outcomes[0], replace(question.contract.of(side), return_as=ReturnAs.VALUE)
    if first.status in (Status.OUT_OF_FUEL, Status.UNSUPPORTED):
        return False
    for one in outcomes:
        if one.calls or one.results or one.overlaps or (one.outside and contract.bounds is BoundsRule.ASSUME):
            return False
        if one.status is not first.status or one.reason != first.reason or one.writes != first.writes:
            return False
        if contract.result_value(one, reading) != contract.result_value(first, reading):
            return False
    return not shows_frame(replace(contract, results=reading), first)


def gives_objects(question: Question, inputs: Pair) -> bool:
    """Whether an outside function gets an address of the frame, or of the space for the result."""
    outcomes = question.run_both(as_callers_pass(question, inputs))
    return any(is_own_object(a) for outcome in outcomes for call in outcome.calls for a in call.arguments)


def _filled(inputs: Pair, size: int) -> Pair:
    return replace(inputs[0], bytes_filled=size), replace(inputs[1], bytes_filled=size)


def as_callers_pass(question: Question, inputs: Pair, start: int = RESULT_SPACES[0]) -> Pair:
    """The inputs with the space for a result in memory and what `restrict` pointers lead to away from everything else,
    and with initial contents in the variables that perhaps nothing writes."""
    held = {address + i: byte for _, address, data in question.border.unclear for i, byte in enumerate(data)}
    left, right = (with_space_apart(question.contract, side, start) for side in as_promised(question, inputs))
    return replace(left, memory={**left.memory, **held}), replace(right, memory={**right.memory, **held})


def _differs(question: Question, inputs: Pair) -> bool:
    if not question.admits(inputs[0]) or any(_holds_placed(question, side) for side in inputs):
        return False
    if not _are_extended(question, inputs[0]):
        return False
    outcomes = question.run_both(inputs)
    if not question.differences(*outcomes) or _rests_on_calls(question, outcomes):
        return False
    if any(outcome.overlaps for outcome in outcomes) or _copies_overlap(question, inputs):
        return False
    if not question.contract.differences(*outcomes) and not _depends_on_what_differs(question, inputs, outcomes):
        return False
    if any(shows_frame(question.contract.of(side), outcome) for side, outcome in enumerate(outcomes)):
        return False
    if all(one.what.startswith(_LEFT_BEHIND) for one in question.differences(*outcomes)) and any(
        _shows_distance(question.contract.of(side), outcome) for side, outcome in enumerate(outcomes)
    ):
        return False
    if _gives_argument_or_copy(*outcomes) or rests_on_bools(question, inputs):
        return False
    if not differs_aligned(question, inputs):
        return False
    return uses_valid_memory(question, inputs) and _differs_by_signs(question, inputs, outcomes)


def _copies_overlap(question: Question, inputs: Pair) -> bool:
    """Whether a `memcpy` that was expanded to a loop, where this does not show, is called with blocks that overlap."""
    plain = question.as_called
    return plain is not None and any(outcome.overlaps for outcome in plain.run_both(inputs))


def _gives_argument_or_copy(left: Outcome, right: Outcome) -> bool:
    """Whether one side gives the address of an argument on its stack away where the other gives one of a local: both
    are objects of its own, and one may be a copy of the other."""
    for calls in zip(left.calls, right.calls, strict=False):
        for pair in zip(*(call.arguments for call in calls), strict=False):
            for one, other in (pair, pair[::-1]):
                if in_frame(one) and STACK_POINTER < other <= STACK_POINTER + _ARGUMENTS_LIMIT:
                    return True
    return False


_ARGUMENTS_LIMIT = 1 << 12
"""Bytes of arguments on the stack."""


def _rests_on_calls(question: Question, outcomes: tuple[Outcome, Outcome]) -> bool:
    inlined = question.target.image.inlined | question.rewrite.image.inlined
    return rests_on_replaceable_calls(*outcomes, question.callees, inlined)


def _differs_by_signs(question: Question, inputs: Pair, outcomes: tuple[Outcome, Outcome]) -> bool:
    """Whether the difference also shows if `memcmp` and the like return -1 or 1 instead of other nonzero values."""
    if not any(library_function(result.callee).only_sign for outcome in outcomes for result in outcome.results):
        return True
    other = replace(question, target=with_signs_only(question.target), rewrite=with_signs_only(question.rewrite))
    return bool(other.differences(*other.run_both(inputs)))


def _holds_placed(question: Question, inputs: Inputs) -> bool:
    """Whether inputs, or what outside functions return in them, hold addresses of code, or of data that only one side
    has: isoform's placement of it has no meaning, and functions that are passed in are not the pair's own."""
    layout, memory = question.contract.machine.memory, inputs.memory
    if layout is None or layout.zeroed:
        return False  # a program that is at the addresses it was written for
    values = {*inputs.registers.values(), *_words(memory)}
    for effect in inputs.call_results.values():
        values |= {*effect.registers.values(), *_words(effect.memory)}
    images = question.target.image, question.rewrite.image
    if any(
        value in image.aliases or image.code_at(value, 1) or any(low <= value <= high for low, high in image.private)
        for image in images
        for value in values
    ):
        return True
    # An outside function that writes a variable which one side has not: the two are not given the same memory.
    return any(
        low <= address < high
        for effect in inputs.call_results.values()
        for address in effect.memory
        for image in images
        for low, high in image.private
    )


def _words(memory: Mapping[int, int]) -> list[int]:
    return [sum(memory[a + i] << (8 * i) for i in range(8)) for a in memory if all(a + i in memory for i in range(8))]


def _depends_on_what_differs(question: Question, inputs: Pair, outcomes: tuple[Outcome, Outcome]) -> bool:
    """Whether runs that otherwise agree use something that differs: a function, constants, or bits of data on which
    they depend."""
    parts = [one for one in question.border.apart if one.certain and one.held is not None]
    rest = replace(question.border, apart=tuple(one for one in question.border.apart if one not in parts))
    if replace(question, border=rest).differences(*outcomes):
        return True
    return any(
        one.is_read(outcome) and _depends(question, side, inputs[side], one)
        for one in parts
        for side, outcome in enumerate(outcomes)
    )


def _depends(question: Question, side: int, inputs: Inputs, part: Apart) -> bool:
    """Whether the behaviour of one side depends on the bits of `part` whose initial contents differ between the
    sides."""
    assert part.held is not None
    size, order = len(part.held[0]), question.contract.machine.byte_order
    left, right = (int.from_bytes(held, order) for held in part.held)
    bits = left ^ right
    random = Random(part.low)
    values = [left, right, left & ~bits, left | bits, *(left ^ (bits & random.getrandbits(8 * size)) for _ in range(4))]
    ran = [_with_contents(question, side, inputs, part, value.to_bytes(size, order)) for value in values]
    first, first_left = ran[0]
    for value, (outcome, then) in zip(values[1:], ran[1:], strict=True):
        # Bits that both runs leave unchanged do not count: code that sets a bit-field keeps the bits around it.
        changed = (first_left ^ left) | (then ^ value)
        if question.contract.of(side).differences(first, outcome) or (first_left ^ then) & changed:
            return True
    return False


def _with_contents(question: Question, side: int, inputs: Inputs, part: Apart, held: bytes) -> tuple[Outcome, int]:
    """The outcome of one side with these contents of `part`, without its writes there; and the contents of `part`
    afterwards."""
    memory = {**inputs.memory, **dict(enumerate(held, part.low))}
    changed = replace(inputs, memory=memory)
    outcome = question.run_both((changed, changed))[side]
    then = bytes(outcome.writes.get(address, memory[address]) for address in range(part.low, part.high))
    kept = {address: byte for address, byte in outcome.writes.items() if not part.low <= address < part.high}
    return replace(outcome, writes=kept), int.from_bytes(then, question.contract.machine.byte_order)


def _are_extended(question: Question, inputs: Inputs) -> bool:
    """Whether arguments that may be of a narrow type are numbers with the same zero and sign extension, so that a
    caller may pass them whatever the type is."""
    return all(inputs.registers.get(name, 0) < 1 << (bits - 1) for name, bits in question.contract.narrow)


def shows_frame(contract: Contract, outcome: Outcome) -> bool:
    """Whether a run leaves an address of its own frame behind: its value differs without any meaning."""
    words = [sum(outcome.writes.get(a + i, 0) << (8 * i) for i in range(8)) for a in outcome.writes]
    results = [outcome.registers.get(result.register, 0) for result in contract.results]
    return any(in_frame(value) for value in (*words, *results))


def _shows_distance(contract: Contract, outcome: Outcome) -> bool:
    """Whether a run that gave an address of its frame away leaves the distance of another value from its frame behind:
    if the callee had returned a pointer into what it was given, that would be a number which does not depend on where
    the frame is."""
    if not any(in_frame(argument) for call in outcome.calls for argument in call.arguments):
        return False
    given = {0, *(value for result in outcome.results for _, value in result.registers)}
    sizes = [(result.bits, outcome.registers.get(result.register, 0)) for result in contract.results]
    for size in (4, 8):
        sizes += [
            (8 * size, sum(outcome.writes[a + i] << (8 * i) for i in range(size)))
            for a in outcome.writes
            if all(a + i in outcome.writes for i in range(size))
        ]
    return any(
        _is_frame_in(bits, total)
        for bits, value in sizes
        if bits >= _SMALLEST_DISTANCE_BITS
        for other in given
        for total in (other - value, other + value)
    )


_SMALLEST_DISTANCE_BITS = 32
_LEFT_BEHIND = ("return value", "memory")
"""How differences begin that are in what a function leaves behind, and not in what it does."""


def _is_frame_in(bits: int, value: int) -> bool:
    """Whether the low bits of a value may be those of an address of the frame."""
    return (STACK_POINTER - value) % (1 << min(bits, 64)) <= FRAME_LIMIT


def uses_valid_memory(question: Question, inputs: Pair) -> bool:
    """The assumption `valid-memory`, on concrete runs."""
    layout = question.contract.machine.memory
    if layout is None or layout.size is not None:
        return True
    outcomes = question.run_both(inputs, record=True)
    if not layout.zeroed and any(_is_constant(question.target.image, a) for a in outcomes[0].writes):
        return False
    touched = [a for o in outcomes for a in (*o.reads, *o.writes)]
    if not layout.zeroed and _meets_private(question, outcomes):
        return False
    if any(_is_thread_container(question.contract.of(side).machine, a) for side in range(2) for a in touched):
        return False
    if _passes_null(question, inputs[0]) and any(a < BUFFERS for a in touched):
        return False  # compilers assume that a pointer which is dereferenced, at any distance, is not null
    return all(
        LOWEST_ADDRESS <= a < HIGHEST_ADDRESS and not in_own_frame(question, a)
        for a in touched
        if not is_stack_argument(question, a)
    )


def _is_thread_container(machine: Machine, address: int) -> bool:
    if machine.thread_pointer is None:
        return False
    return address - machine.initial[machine.thread_pointer] in machine.thread_containers


def _meets_private(question: Question, outcomes: tuple[Outcome, Outcome]) -> bool:
    """Whether a side uses memory where only the other has data: its own image has nothing there, so that the pointer
    which led there was made from isoform's placement."""
    images = question.target.image, question.rewrite.image
    return any(
        low <= address < high
        for side, outcome in enumerate(outcomes)
        for low, high in images[1 - side].private
        for address in (*outcome.reads, *outcome.writes)
    )


def _passes_null(question: Question, inputs: Inputs) -> bool:
    pointers = (a for a in question.contract.arguments if a.type.kind is TypeKind.POINTER)
    return any(argument_value(argument, inputs) == 0 for argument in pointers)


def _is_constant(image: Image, address: int) -> bool:
    """Whether memory is never written: a store there is a fault."""
    section = image.section_at(image.own_address(address))
    return section is not None and not section.writable


def in_own_frame(question: Question, address: int) -> bool:
    """Whether an address is in the frame of a side, or where its return address is."""
    above = max(question.contract.of(side).machine.convention.stack_arguments_offset for side in range(2))
    return STACK_POINTER - FRAME_LIMIT <= address < STACK_POINTER + above


def is_stack_argument(question: Question, address: int) -> bool:
    for contract in (question.contract.of(side) for side in range(2)):
        start = STACK_POINTER + contract.machine.convention.stack_arguments_offset
        if start <= address < start + contract.stack_argument_bytes:
            return True
    return False
