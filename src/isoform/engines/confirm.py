"""From inputs that seem to separate the two functions to a witness: minimised, then replayed elsewhere.

`different` is printed only after this (DESIGN section 7, rule 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random

from isoform.borders.apart import Apart
from isoform.borders.library import with_signs_only
from isoform.borders.library_names import ORDERS
from isoform.borders.padding import leave_out
from isoform.borders.question import Question
from isoform.borders.result_space import with_space_apart
from isoform.check.replay import independent_runner
from isoform.engines.bools import as_if_bools, rests_on_bools
from isoform.engines.inputs import BUFFERS
from isoform.engines.minimise import minimise
from isoform.engines.outside import outside_results, show_value
from isoform.engines.replaceable import rests_on_replaceable_calls
from isoform.lift.function import Call, Function, Switch
from isoform.load.image import Image
from isoform.model.budget import Budget
from isoform.model.contract import CallRule, Difference, argument_value
from isoform.model.outcome import (
    FRAME_LIMIT,
    RESULT_SPACES,
    STACK_POINTER,
    THROUGH_A_POINTER,
    Inputs,
    Outcome,
    Pair,
    Status,
    in_frame,
    is_own_object,
)
from isoform.model.signature import TypeKind
from isoform.model.verdict import Witness

LOWEST_ADDRESS = 0x1000
HIGHEST_ADDRESS = 1 << 47
"""Addresses that a program may use: not the page around null, and those that x86-64 gives to programs."""

NOT_COMPARED = "the runs differ only in what is not compared, such as padding or undefined values"
"""Of runs that end differently for a reason that no `different` may rest on: they show nothing either way."""

_WORD_BYTES = 8
_FILLED_BYTES = (4, 8, 64, 16, 1, 2, 12, 32, -64)
"""Sizes in bytes that a callee may write into a local whose size is not known. A difference must be visible for each of
them: otherwise what the local held before the call (an older variable, a pushed register) may be all that differs. The
usual sizes come first, because one without a difference decides. The negative one is a text that ends early."""
_OPEN_TEXT = (0,)
_OPEN_BYTES_FILLED = (0, 1)
_OPEN_BYTES = (0, 1, 0xA5, 0xFF)
"""What every byte of undefined values may be in a witness."""


@dataclass(frozen=True)
class NotConfirmed:
    """The difference did not show on the independent model."""

    why: str
    is_bug: bool
    """Whether that means a bug in isoform's semantics (rather than a value the manual leaves open)."""
    unreplayable: bool = False
    """Whether the independent model cannot run it: the difference may be real."""

    def sentence(self) -> str:
        if self.is_bug:
            why = "this is a bug in isoform's semantics of some instruction"
            return f"a difference was found that does not replay ({self.why}): {why}"
        return f"a difference was found that cannot be replayed: {self.why}" if self.unreplayable else self.why


def differs(question: Question, inputs: Pair) -> bool:
    """Whether these inputs are allowed, only touch memory that may be used, and separate the two, wherever the space
    for a result in memory is."""
    starts = RESULT_SPACES if question.contract.result_space else RESULT_SPACES[:1]
    if not all(_differs(question, _as_callers_pass(question, inputs, start)) for start in starts):
        return False
    sizes = filter(None, (question.contract.result_space, *_FILLED_BYTES))
    if _gives_objects(question, inputs) and not all(
        _differs(question, _as_callers_pass(question, _filled(inputs, size))) for size in sizes
    ):
        return False
    return all(
        any(_differs(question, _as_callers_pass(question, variant)) for variant in variants)
        for variants in as_if_bools(question, inputs)
    )


def _gives_objects(question: Question, inputs: Pair) -> bool:
    """Whether an outside function is given an address of the frame, or of the space for the result."""
    outcomes = question.run_both(_as_callers_pass(question, inputs))
    return any(is_own_object(a) for outcome in outcomes for call in outcome.calls for a in call.arguments)


def _filled(inputs: Pair, size: int) -> Pair:
    return replace(inputs[0], bytes_filled=size), replace(inputs[1], bytes_filled=size)


def _as_callers_pass(question: Question, inputs: Pair, start: int = RESULT_SPACES[0]) -> Pair:
    """The inputs with the space for a result in memory away from all else, and with initial contents in the variables
    that perhaps nothing writes."""
    held = {address + i: byte for _, address, data in question.border.unclear for i, byte in enumerate(data)}
    left, right = (with_space_apart(question.contract, side, start) for side in inputs)
    return replace(left, memory={**left.memory, **held}), replace(right, memory={**right.memory, **held})


def _differs(question: Question, inputs: Pair) -> bool:
    if not question.admits(inputs[0]) or any(_holds_placed(question, side) for side in inputs):
        return False
    if not _are_extended(question, inputs[0]):
        return False
    outcomes = question.run_both(inputs)
    if not question.differences(*outcomes) or _rests_on_calls(question, outcomes):
        return False
    if any(outcome.overlaps for outcome in outcomes):
        return False
    if not question.contract.differences(*outcomes) and not _depends_on_what_differs(question, inputs, outcomes):
        return False
    if any(_shows_frame(question, outcome) for outcome in outcomes):
        return False
    if rests_on_bools(question, inputs):
        return False
    return uses_valid_memory(question, inputs) and _differs_by_signs(question, inputs, outcomes)


def _rests_on_calls(question: Question, outcomes: tuple[Outcome, Outcome]) -> bool:
    inlined = question.target.image.inlined | question.rewrite.image.inlined
    return rests_on_replaceable_calls(*outcomes, question.callees, inlined)


def _differs_by_signs(question: Question, inputs: Pair, outcomes: tuple[Outcome, Outcome]) -> bool:
    """Whether the difference also shows if `memcmp` and its like give -1 or 1 where they do not give 0."""
    if not any(result.callee in ORDERS for outcome in outcomes for result in outcome.results):
        return True
    other = replace(question, target=with_signs_only(question.target), rewrite=with_signs_only(question.rewrite))
    return bool(other.differences(*other.run_both(inputs)))


def _holds_placed(question: Question, inputs: Inputs) -> bool:
    """Whether inputs hold addresses of code, or of data that only one side has: where isoform placed it says nothing,
    and functions that are passed in are not the pair's own."""
    layout, memory = question.contract.machine.memory, inputs.memory
    if layout is None or layout.zeroed:
        return False  # a program that is at the addresses it was written for
    words = [sum(memory[a + i] << (8 * i) for i in range(8)) for a in memory if all(a + i in memory for i in range(8))]
    values = {*inputs.registers.values(), *words}
    images = question.target.image, question.rewrite.image
    return any(
        value in image.aliases or image.code_at(value, 1) or any(low <= value <= high for low, high in image.private)
        for image in images
        for value in values
    )


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
    """Whether what one side does depends on the bits of `part` that are not the same at first on both sides."""
    assert part.held is not None
    size = len(part.held[0])
    left, right = (int.from_bytes(held, "little") for held in part.held)
    bits = left ^ right
    random = Random(part.low)
    values = [left, right, left & ~bits, left | bits, *(left ^ (bits & random.getrandbits(8 * size)) for _ in range(4))]
    ran = [_with_contents(question, side, inputs, part, value.to_bytes(size, "little")) for value in values]
    first, first_left = ran[0]
    for value, (outcome, then) in zip(values[1:], ran[1:], strict=True):
        # Bits that both runs leave unchanged do not count: code that sets a bit-field keeps the bits around it.
        changed = (first_left ^ left) | (then ^ value)
        if question.contract.differences(first, outcome) or (first_left ^ then) & changed:
            return True
    return False


def _with_contents(question: Question, side: int, inputs: Inputs, part: Apart, held: bytes) -> tuple[Outcome, int]:
    """The outcome of one side with these contents of `part`, without its writes there; and what `part` then holds."""
    memory = {**inputs.memory, **dict(enumerate(held, part.low))}
    changed = replace(inputs, memory=memory)
    outcome = question.run_both((changed, changed))[side]
    then = bytes(outcome.writes.get(address, memory[address]) for address in range(part.low, part.high))
    kept = {address: byte for address, byte in outcome.writes.items() if not part.low <= address < part.high}
    return replace(outcome, writes=kept), int.from_bytes(then, "little")


def _are_extended(question: Question, inputs: Inputs) -> bool:
    """Whether arguments that may be of a narrow type are numbers that look the same extended with zeros and with the
    sign, so that they are what a caller passes whatever the type is."""
    return all(inputs.registers.get(name, 0) < 1 << (bits - 1) for name, bits in question.contract.narrow)


def _shows_frame(question: Question, outcome: Outcome) -> bool:
    """Whether a run leaves an address of its own frame behind: where that is differs without meaning anything."""
    words = [sum(outcome.writes.get(a + i, 0) << (8 * i) for i in range(8)) for a in outcome.writes]
    results = [outcome.registers.get(result.register, 0) for result in question.contract.results]
    return any(in_frame(value) for value in (*words, *results))


def uses_valid_memory(question: Question, inputs: Pair) -> bool:
    """The assumption `valid-memory`, on concrete runs."""
    layout = question.contract.machine.memory
    if layout is None or layout.size is not None:
        return True
    outcomes = question.run_both(inputs, record=True)
    if not layout.zeroed and any(_is_constant(question.target.image, a) for a in outcomes[0].writes):
        return False
    touched = [a for o in outcomes for a in (*o.reads, *o.writes)]
    if _passes_null(question, inputs[0]) and any(a < BUFFERS for a in touched):
        return False  # compilers rely on a pointer that is followed, at whatever distance, not being null
    return all(
        LOWEST_ADDRESS <= a < HIGHEST_ADDRESS and not _in_frame(a) for a in touched if not _is_argument(question, a)
    )


def _passes_null(question: Question, inputs: Inputs) -> bool:
    pointers = (a for a in question.contract.arguments if a.type.kind is TypeKind.POINTER)
    return any(argument_value(argument, inputs) == 0 for argument in pointers)


def _is_constant(image: Image, address: int) -> bool:
    """Whether memory is never written: a store there is a fault."""
    section = image.section_at(image.own_address(address))
    return section is not None and not section.writable


def _in_frame(address: int) -> bool:
    return STACK_POINTER - FRAME_LIMIT <= address < STACK_POINTER + 8


def _is_argument(question: Question, address: int) -> bool:
    start = STACK_POINTER + question.contract.machine.convention.stack_arguments_offset
    return start <= address < start + question.contract.stack_argument_bytes


def confirm(question: Question, inputs: Pair, budget: Budget) -> Witness | NotConfirmed:
    """Minimise inputs that separate the two on our runner, then replay them on the independent model. A difference that
    cannot be replayed is remembered: no other engine may then answer that there is none."""
    found = _confirm(question, inputs, budget)
    if isinstance(found, NotConfirmed) and (found.is_bug or found.unreplayable):
        question.unreplayed.append(found.sentence())
    return found


def _confirm(question: Question, inputs: Pair, budget: Budget) -> Witness | NotConfirmed:
    alike = _alike(question, inputs)
    if alike is None and rests_on_bools(question, inputs):
        return NotConfirmed("the two differ only where memory that may hold a bool holds neither 0 nor 1", False)
    if alike is None:
        return NotConfirmed(
            "the two differ only if what a frame holds before it is written, or a value that the manual leaves "
            "undefined, is not the same for both",
            False,
        )
    calls = _called_apart(question, alike)
    if calls is not None:
        return calls
    smallest = minimise(question, alike, budget, differs)
    for candidate in (smallest, alike):
        replayed = _replay(question, _as_callers_pass(question, candidate))
        if isinstance(replayed, Witness):
            return replayed
    return replayed


def _alike(question: Question, inputs: Pair) -> Pair | None:
    """Inputs that are the same for both sides to the last open value, wherever a side keeps it: a function never
    differs from itself. An object of the frame that an outside function is given to fill holds what any type may
    hold."""
    open_bytes: tuple[int, ...] = _OPEN_BYTES
    if _gives_objects(question, inputs):
        # The text that is written may be what a callee put into the frame: a zero ends it.
        calls = [call for outcome in question.run_both(inputs) for call in outcome.calls]
        open_bytes = _OPEN_TEXT if any(call.output is not None for call in calls) else _OPEN_BYTES_FILLED
    for byte in open_bytes:
        left, right = (_with_open_bytes(question, side, byte) for side in inputs)
        if differs(question, (left, right)):
            return left, right
    return None


def _with_open_bytes(question: Question, inputs: Inputs, byte: int) -> Inputs:
    """The inputs where all that is undefined consists of `byte`, registers included that hold no argument and need not
    be kept: code that makes room by pushing one leaves its value in a local."""
    machine, convention = question.contract.machine, question.contract.machine.convention
    arguments = {place.register for argument in question.contract.arguments for place in argument.places}
    scratch = {*convention.integer_arguments, *convention.scratch_after_call, *convention.result[:1]} - arguments
    sizes = {name: machine.registers[name].size for name in scratch if name is not None}
    open_ = {
        name: int.from_bytes(bytes([byte]) * size, "little") for name, size in sizes.items() if size == _WORD_BYTES
    }
    return replace(inputs, side_seed=-byte, registers={**inputs.registers, **open_})


# -- replay ---------------------------------------------------------------------------------------


def _replay(question: Question, inputs: Pair) -> Witness | NotConfirmed:
    ours = question.run_both(inputs, trace=True, record=True)
    name, runner = independent_runner(question.contract.machine.name)
    theirs: list[Outcome] = []
    for function, side in zip((question.target, question.rewrite), inputs, strict=True):
        theirs.append(
            runner(
                function.image,
                function.entry.address,
                side,
                4 * question.options.fuel + 100,
                call_arguments=question.callees,
                stack_argument_bytes=question.contract.stack_argument_bytes,
                outside=_left_out(question, function),
                watched=question.watched,
                through=_through(function),
                library=function.library,
            )
        )
    theirs = [leave_out(outcome, mine.unread, mine.unseen) for outcome, mine in zip(theirs, ours, strict=True)]
    results = {result.register for result in question.contract.results}
    images = question.target.image, question.rewrite.image
    sides = zip(images, reversed(images), ours, strict=True)
    layout = question.contract.machine.memory
    is_linked = layout is not None and not layout.zeroed  # else the program itself says where everything is
    if is_linked and (
        any(rests_on_placement(image, other, outcome, results) for image, other, outcome in sides)
        or _differ_by_placement(images, ours, results, inputs)
    ):
        return NotConfirmed("the difference may only be where unnamed data was placed in memory", False)
    if _calls_by_name_and_pointer(images, ours):
        return NotConfirmed("one side calls a function by its name, and the other may call it through a pointer", False)
    found = question.differences(*theirs)
    if not found:
        return _not_confirmed(question, name, ours, theirs)
    for mine, other in zip(ours, theirs, strict=True):
        if question.contract.differences(mine, other):
            return NotConfirmed(f"{name} disagrees with isoform's own runner on this input", True)
    return _witness(question, inputs, ours, tuple(found), name)


def _left_out(question: Question, function: Function) -> dict[int, str]:
    """Functions that are present but count as outside code."""
    if question.contract.calls is not CallRule.UNINTERPRETED:
        return {}
    present = function.image.functions.values()
    own = function.name
    return {s.address: s.name for s in present if s.name != own and not s.name.startswith(f"{own}.")}


def _called_apart(question: Question, inputs: Pair) -> NotConfirmed | None:
    """Why runs that call different functions show nothing, if the code of such a function is here and only one of the
    two runs goes through it."""
    functions = question.target, question.rewrite
    left_out = {name for function in functions for name in _left_out(question, function).values()}
    once = _defined_once(functions)
    if not left_out and not once:
        return None
    outcomes = question.run_both(inputs)
    called = [[c.callee for c in outcome.calls if c.callee in left_out | once] for outcome in outcomes]
    if called[0] == called[1]:
        return None
    names = ", ".join(sorted({*called[0], *called[1]} & once))
    if names:
        why = f"only one file defines {names}, which the other one calls; --calls uninterpreted compares the calls"
        return NotConfirmed(why, False)
    why = "the two call different functions whose code is here, and --calls uninterpreted does not look into them"
    return NotConfirmed(why, False)


def _defined_once(functions: tuple[Function, Function]) -> set[str]:
    """Functions whose code one file has, and the other only the name."""
    images = [function.image for function in functions]
    return {
        name
        for image, other in zip(images, reversed(images), strict=True)
        for name in image.externals.values()
        if name in other.functions and name not in image.functions
    }


def _through(function: Function) -> dict[int, str]:
    """The types of pointers that are called through, by the address of the instruction."""
    return {
        block.steps[-1]: block.exit.through
        for block in function.blocks.values()
        if block.steps and isinstance(block.exit, (Call, Switch)) and block.exit.through
    }


def _calls_by_name_and_pointer(images: tuple[Image, Image], outcomes: tuple[Outcome, Outcome]) -> bool:
    """Whether a side calls through a pointer what the other side knows by name, and this side does not."""
    for image, other, outcome in zip(images, reversed(images), outcomes, strict=True):
        for call in outcome.calls:
            if call.callee == THROUGH_A_POINTER and call.arguments:
                name = other.externals.get(call.arguments[0])
                if name is not None and call.arguments[0] not in image.externals:
                    return True
    return False


def rests_on_placement(image: Image, other: Image, outcome: Outcome, results: Iterable[str]) -> bool:
    """Whether a run shows, or used as input, an address or cell of data that only this side has, or shows an address of
    code that is only this side's: a function of another name may well do the same."""

    def private(address: int) -> bool:
        return any(low <= address < high for low, high in image.private)

    def unnamed(address: int) -> bool:
        """Whether it is in a program at fixed addresses, where nothing that both sides have by name is."""
        return image.is_fixed and image.section_at(address) is not None

    def own_code(address: int) -> bool:
        if address in image.aliases:
            return address not in other.aliases and address not in other.externals
        return address not in image.externals and bool(image.code_at(address, 1)) and not other.code_at(address, 1)

    shown = [outcome.registers.get(name, 0) for name in results]
    shown += [argument for call in outcome.calls if call.output is None for argument in call.arguments]
    words = [sum(outcome.writes.get(a + i, 0) << (8 * i) for i in range(8)) for a in outcome.writes]
    # Bytes that did not change were zero, as those of an address often are.
    starts = {address - back for address in outcome.writes for back in range(8)}
    left = [sum(outcome.writes.get(start + i, 0) << (8 * i) for i in range(8)) for start in starts]
    if any(own_code(value) or unnamed(value) for value in (*shown, *left)):
        return True
    return any(private(value) for value in (*shown, *words, *outcome.writes, *outcome.reads))


def _differ_by_placement(
    images: tuple[Image, Image], outcomes: tuple[Outcome, Outcome], results: Iterable[str], inputs: Pair
) -> bool:
    """Whether two results or arguments differ by the distance between unnamed data of the one side and unnamed data of
    the other: then both may be addresses with something added, and the difference only their placement. Small numbers
    are no such sums, unless an input is about as large as an address and takes it away again."""
    shown = [
        [
            *(outcome.registers.get(name, 0) for name in results),
            *(argument for call in outcome.calls if call.output is None for argument in call.arguments),
        ]
        for outcome in outcomes
    ]
    private = images[0].private, images[1].private
    pairs = [(left, right) for left, right in zip(*shown, strict=False) if left != right]
    if not _may_cancel_address(inputs, (*private[0], *private[1])):
        pairs = [pair for pair in pairs if not all(_is_small(value) for value in pair)]
    return any(
        (low - other_high) % (1 << 64) <= (left - right) % (1 << 64) <= (high - other_low) % (1 << 64)
        for left, right in pairs
        for low, high in private[0]
        for other_low, other_high in private[1]
    )


_NEAR = 1 << 20
"""Bytes around unnamed data within which a number counts as an address of it; less than the lowest such address."""


def _is_small(value: int) -> bool:
    """As a number of 64 or of 32 bits, with a sign."""
    return any((value + _NEAR) % (1 << bits) < 2 * _NEAR and value >> bits == 0 for bits in (32, 64))


def _may_cancel_address(inputs: Pair, private: Iterable[tuple[int, int]]) -> bool:
    """Whether an input is close to an address of unnamed data, or to its negative."""
    memory = {**inputs[0].memory, **inputs[1].memory}
    words = [sum(memory.get(start + i, 0) << (8 * i) for i in range(8)) for start in memory]
    numbers = [*words, *(value for side in inputs for value in side.registers.values())]
    return any(
        (sign * number - low + _NEAR) % (1 << bits) < high - low + 2 * _NEAR
        for low, high in private
        for number in numbers
        for sign in (1, -1)
        for bits in (32, 64)
    )


def _not_confirmed(question: Question, name: str, ours: tuple[Outcome, Outcome], theirs: list[Outcome]) -> NotConfirmed:
    for outcome in theirs:
        if outcome.status is Status.UNSUPPORTED:
            return NotConfirmed(f"{name} cannot run it: {outcome.reason}", False, unreplayable=True)
    if all(not question.contract.differences(mine, other) for mine, other in zip(ours, theirs, strict=True)):
        return NotConfirmed(f"on {name} the difference does not show", True)
    return NotConfirmed(
        f"the difference found does not show on {name}: it may rest on a value that the manual leaves undefined",
        False,
    )


def _witness(
    question: Question, inputs: Pair, ours: tuple[Outcome, Outcome], found: tuple[Difference, ...], name: str
) -> Witness:
    memory = _memory_that_matters(question, ours)
    absent = _absent(question, inputs[0])
    arguments = tuple((a.name, argument_value(a, inputs[0])) for a in question.contract.arguments)
    arguments += tuple((f"&{name}", 0) for name in absent)
    shown = tuple((a.name, show_value(a.type, argument_value(a, inputs[0]))) for a in question.contract.arguments)
    shown += tuple((f"&{name}", "null (a weak symbol without a definition)") for name in absent)
    found += tuple(_past(*ours))
    return Witness(
        inputs[0],
        arguments,
        shown,
        ours[0],
        ours[1],
        found,
        ("isoform's runner", name),
        tuple(_runs(memory)),
        outside_results(question, ours),
    )


def _past(target: Outcome, rewrite: Outcome) -> Iterator[Difference]:
    """That a side accesses memory past an object: this often explains the other differences."""
    if target.outside or rewrite.outside:
        shown = [outcome.outside or "stays inside objects" for outcome in (target, rewrite)]
        yield Difference("accesses", shown[0], shown[1])


def _absent(question: Question, inputs: Inputs) -> list[str]:
    """The weak symbols that have no definition in these inputs."""
    bits = inputs.registers.get(question.contract.machine.absent_symbols or "", 0)
    weak = {**question.target.image.weak, **question.rewrite.image.weak}
    return sorted(name for name, symbol in weak.items() if bits >> symbol.bit & 1)


def _memory_that_matters(question: Question, outcomes: tuple[Outcome, Outcome]) -> dict[int, int]:
    reads: dict[int, int] = {}
    for outcome in outcomes:
        reads.update({a: b for a, b in outcome.reads.items() if not _in_frame(a) and not _is_argument(question, a)})
    return reads


def _runs(memory: Mapping[int, int]) -> Iterator[tuple[int, bytes]]:
    """Neighbouring bytes together."""
    start, data = 0, bytearray()
    for address in sorted(memory):
        if data and address == start + len(data):
            data.append(memory[address])
            continue
        if data:
            yield start, bytes(data)
        start, data = address, bytearray([memory[address]])
    if data:
        yield start, bytes(data)
