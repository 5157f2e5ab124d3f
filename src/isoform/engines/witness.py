"""From inputs that seem to separate the two functions to a witness: minimised, then replayed elsewhere.

`different` is printed only after this (DESIGN section 7, rule 2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from isoform.borders.padding import leave_out
from isoform.borders.question import Question
from isoform.check.replay import independent_runner
from isoform.check.surroundings import Surroundings
from isoform.engines.bools import rests_on_bools
from isoform.engines.minimise import minimise
from isoform.engines.open_bytes import OPEN_BYTES, with_open_bytes
from isoform.engines.outside import outside_results, show_value
from isoform.engines.placement import differ_by_placement, rests_on_placement, without_private
from isoform.engines.separate import as_callers_pass, differs, gives_objects, in_own_frame, is_stack_argument
from isoform.lift.cfg import SELF
from isoform.lift.function import Call, Function, Switch
from isoform.lift.liveness import Liveness
from isoform.load.image import Image
from isoform.model.budget import Budget
from isoform.model.contract import CallRule, argument_value
from isoform.model.differences import Difference
from isoform.model.outcome import THROUGH_A_POINTER, Inputs, Outcome, Pair, Status
from isoform.model.values import dataclass
from isoform.model.verdict import Witness

_OPEN_TEXT = (0,)
_OPEN_BYTES_FILLED = (0, 1)


@dataclass(frozen=True)
class NotConfirmed:
    """The difference did not show on the independent model."""

    why: str
    is_bug: bool
    """Whether that means a bug in isoform's semantics (rather than a value that the manual leaves undefined)."""
    unreplayable: bool = False
    """Whether the independent model cannot run it: the difference may be real."""

    def sentence(self) -> str:
        if self.is_bug:
            why = "this is a bug in isoform's semantics of some instruction"
            return f"a difference was found that does not replay ({self.why}): {why}"
        return f"a difference was found that cannot be replayed: {self.why}" if self.unreplayable else self.why


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
        replayed = _replay(question, as_callers_pass(question, candidate))
        if isinstance(replayed, Witness):
            return replayed
    return replayed


def replayed(question: Question, inputs: Pair) -> Witness | NotConfirmed:
    """A witness that was confirmed before, run again on both."""
    return _replay(question, inputs)


def _alike(question: Question, inputs: Pair) -> Pair | None:
    """Inputs that are the same for both sides to the last undefined value, wherever a side keeps it: a function never
    differs from itself. An object of the frame that an outside function fills holds what any type may hold."""
    open_bytes: tuple[int, ...] = OPEN_BYTES
    if gives_objects(question, inputs):
        # The text that is written may be what a callee put into the frame: a zero ends it.
        calls = [call for outcome in question.run_both(inputs) for call in outcome.calls]
        open_bytes = _OPEN_TEXT if any(call.output is not None for call in calls) else _OPEN_BYTES_FILLED
    for byte in open_bytes:
        left, right = (with_open_bytes(question, side, byte) for side in inputs)
        if differs(question, (left, right)):
            return left, right
    return None


# -- replay ---------------------------------------------------------------------------------------


def _replay(question: Question, inputs: Pair) -> Witness | NotConfirmed:
    ours = question.run_both(inputs, trace=True, record=True)
    name, theirs = _run_elsewhere(question, inputs)
    theirs = [leave_out(outcome, mine.unread, mine.unseen) for outcome, mine in zip(theirs, ours, strict=True)]
    if _may_be_placement(question, inputs, ours):
        return NotConfirmed("the difference may only be where unnamed data was placed in memory", False)
    if _jumps_by_return(ours):
        return NotConfirmed("one side returns to the address that the other one jumps to", False)
    if _calls_by_name_and_pointer((question.target.image, question.rewrite.image), ours):
        return NotConfirmed("one side calls a function by its name, and the other may call it through a pointer", False)
    found = question.differences(*theirs)
    disagrees = [question.contract.of(n).differences(*pair) for n, pair in enumerate(zip(ours, theirs, strict=True))]
    relies = _relies_on_scratch(question) if any(disagrees) else ""
    if relies:
        return NotConfirmed(relies, False, unreplayable=True)
    if not found:
        return _not_confirmed(question, name, ours, theirs)
    if any(disagrees):
        return NotConfirmed(f"{name} disagrees with isoform's own runner on this input", True)
    return _witness(question, inputs, ours, tuple(found), name)


def _relies_on_scratch(question: Question) -> str:
    """Which side, if any, reads a register after calling itself that a call need not preserve. Our own runs do not have
    its value then: what no caller may read is not computed (`lift/liveness.py`)."""
    for function in (question.target, question.rewrite):
        registers, convention = function.machine.registers, function.machine.convention
        results = *convention.result, *convention.float_result
        scratch = [name for name in convention.scratch_after_call if name not in results]
        calls = [b.exit for b in function.blocks.values() if isinstance(b.exit, Call) and b.exit.callee == SELF]
        live = Liveness(function, results) if calls else None
        after = [live.entry.get(call.then, 0) for call in calls if call.then is not None] if live else []
        for name in scratch if live else ():
            if live and any(bits & live.mask(registers[name]) for bits in after):
                return f"{function.name} reads {name} after calling itself, and a call need not preserve that register"
    return ""


def _run_elsewhere(question: Question, inputs: Pair) -> tuple[str, list[Outcome]]:
    """Both runs on the independent model, and its name."""
    functions, found = (question.target, question.rewrite), question.inputs_of_sides(inputs)
    models = [independent_runner(function.machine.name) for function in functions]
    left, right = (
        runner(
            function.image,
            function.entry.address,
            side,
            4 * question.options.fuel + 100,
            around=Surroundings(
                question.callees,
                question.contract.of(number).stack_argument_bytes,
                outside=_left_out(question, function),
                watched=question.watched,
                through=_through(function),
                library=function.library,
            ),
        )
        for number, ((_, runner), function, side) in enumerate(zip(models, functions, found, strict=True))
    )
    return " and ".join(dict.fromkeys(name for name, _ in models)), [*question.judged_alone(found, (left, right))]


def _may_be_placement(question: Question, inputs: Pair, outcomes: tuple[Outcome, Outcome]) -> bool:
    layout = question.contract.machine.memory
    if layout is None or layout.zeroed:
        return False  # the program itself says where everything is
    results = {result.register for side in range(2) for result in question.contract.of(side).results}
    images = question.target.image, question.rewrite.image
    left, right = (without_private(image, outcome) for image, outcome in zip(images, outcomes, strict=True))
    if (left, right) != outcomes and not question.differences(left, right):
        return True
    outcomes = left, right
    sides = zip(images, reversed(images), outcomes, strict=True)
    return any(rests_on_placement(image, other, outcome, results) for image, other, outcome in sides) or (
        differ_by_placement(images, outcomes, results, inputs)
    )


def _left_out(question: Question, function: Function) -> dict[int, str]:
    """Functions that are present but count as outside code."""
    if question.contract.calls is not CallRule.UNINTERPRETED:
        return {}
    present = function.image.functions.values()
    own = function.name
    return {s.address: s.name for s in present if s.name != own and not s.name.startswith(f"{own}.")}


def _called_apart(question: Question, inputs: Pair) -> NotConfirmed | None:
    """Why runs that call different functions show nothing, if the code of such a function is present and only one of
    the two runs goes through it."""
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


def _jumps_by_return(outcomes: tuple[Outcome, Outcome]) -> bool:
    """Whether a side ends by a return to an address (pushed before) at which the other side calls a function."""
    for outcome, other in zip(outcomes, reversed(outcomes), strict=True):
        last = other.calls[-1] if other.calls else None
        if last is not None and last.callee == THROUGH_A_POINTER and outcome.return_target == last.arguments[0]:
            return True
    return False


def _calls_by_name_and_pointer(images: tuple[Image, Image], outcomes: tuple[Outcome, Outcome]) -> bool:
    """Whether a side calls through a pointer what the other side knows by name, and this side does not."""
    for image, other, outcome in zip(images, reversed(images), outcomes, strict=True):
        for call in outcome.calls:
            if call.callee == THROUGH_A_POINTER and call.arguments:
                name = other.externals.get(call.arguments[0])
                if name is not None and call.arguments[0] not in image.externals:
                    return True
    return False


def _not_confirmed(question: Question, name: str, ours: tuple[Outcome, Outcome], theirs: list[Outcome]) -> NotConfirmed:
    for outcome in theirs:
        if outcome.status is Status.UNSUPPORTED:
            return NotConfirmed(f"{name} cannot run it: {outcome.reason}", False, unreplayable=True)
    pairs = enumerate(zip(ours, theirs, strict=True))
    if all(not question.contract.of(number).differences(mine, other) for number, (mine, other) in pairs):
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
        reads.update(
            {
                a: b
                for a, b in outcome.reads.items()
                if not in_own_frame(question, a) and not is_stack_argument(question, a)
            }
        )
    return reads


def _runs(memory: Mapping[int, int]) -> Iterator[tuple[int, bytes]]:
    """Adjacent bytes together."""
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
