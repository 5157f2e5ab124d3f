"""The family `memory`: the wrapper builds what the rewrite's pointers point to from the target's parameters and what
those point to, and copies back what the target would have written.

The places to fill are the rewrite's arguments and the members of the structures that it takes; each gets one of the
target's parameters or members, converted as C does. Which one is found by names, then by order, then by trying all. A
choice is tried on runs of the rewrite with the structure at an address of its own, and then compared as machine code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, product

from isoform.adapt.cases import Case
from isoform.adapt.ignored import ignored_by_rewrite
from isoform.adapt.layout import Member, label_of, members_of
from isoform.adapt.opened import Opened
from isoform.adapt.pair import Pair, as_c_converts
from isoform.borders.convention import place_signature
from isoform.borders.question import Options
from isoform.model.adaptor import Adaptor, Example
from isoform.model.budget import Budget
from isoform.model.contract import ReturnAs
from isoform.model.expression import (
    RESULT,
    Built,
    Cell,
    Constant,
    Conversion,
    Expression,
    Loaded,
    Variable,
    converted,
    evaluate,
    parts_of,
)
from isoform.model.outcome import Inputs, Outcome, Status
from isoform.model.placement import put_argument
from isoform.model.signature import CType, Parameter, TypeKind
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption, Different
from isoform.run.runner import run
from isoform.sym.validity import HIGHEST_ADDRESS, LOWEST_ADDRESS

MOST_CHOICES = 5_000
"""Choices for the places that are tried on runs: a few seconds."""
ROOM = 0x6A53_1000_0000
"""The address of the first structure in runs, far from everything else."""
ROOM_STEP = 0x1_0000
"""From one structure to the next."""


@dataclass(frozen=True)
class Place:
    """Something of the rewrite that needs a value."""

    parameter: int
    member: Member | None
    """None for the argument itself."""
    name: str
    type: CType


@dataclass(frozen=True)
class Source:
    """Something of the target that is a value."""

    value: Variable | Loaded
    name: str
    type: CType


class MemorySearch:
    def __init__(self, pair: Pair, options: Options, budget: Budget) -> None:
        self._pair = pair
        self._budget = budget
        self._return_as = options.return_as
        self._opened = Opened(pair, replace(options, return_as=ReturnAs.VOID), None, budget)
        question = self._opened.cases.question
        self._question = question
        self._contract = replace(question.contract, return_as=ReturnAs.VALUE)
        self._readings = [place_signature(pair.machine, one).results for one in pair.signatures]
        arguments = {argument.name: argument for argument in question.contract.arguments}
        self._arguments = [arguments[name] for name in pair.open_names]
        self._order = pair.machine.byte_order
        self._ignored = ignored_by_rewrite(pair, budget)
        self.left_out = ""

    @property
    def examples(self) -> list[Example]:
        if self._pair.signatures[0].result.kind is TypeKind.VOID:
            return [self._opened.example(case) for case in self._opened.cases.found]
        read = self._contract.result_value
        return [self._opened.example(c, read(c.outcome, self._readings[0])) for c in self._opened.cases.found]

    def assumptions(self, adaptor: Adaptor) -> tuple[Assumption, ...]:
        """A wrapper copies whole structures, of which the target may use a part."""
        read = [p.pointer for e in adaptor.expressions for p in parts_of(e) if isinstance(p, Loaded)]
        written = [cell.back.pointer for _, e in adaptor.arguments for cell in _cells(e) if cell.back is not None]
        names = ", ".join(dict.fromkeys([*read, *written]))
        why = (
            f"what {names} points to is a whole object of the declared type, of which the wrapper reads the members "
            "that it copies, and writes those that it copies back"
        )
        return (Assumption("whole-objects", why),) if names else ()

    def learn(self, verdict: Different) -> None:
        self._opened.learn(verdict)

    def proposals(self) -> Iterator[Adaptor]:
        """Adaptors that fit all cases. If a case shows that the target writes more than was known, everything is tried
        once more: what is copied back has changed."""
        wanted, given = (signature.result for signature in self._pair.signatures)
        is_returned = wanted.kind is not TypeKind.VOID and self._return_as is not ReturnAs.VOID
        if is_returned and (given.kind is TypeKind.VOID or _is_float(wanted) != _is_float(given)):
            return
        if is_returned and _is_float(wanted) and wanted.bits != given.bits:
            return
        written: frozenset[tuple[str, int]] | None = None
        while written != self._written() and not self.left_out:
            written = self._written()
            for is_built in self._which_are_built():
                yield from self._of(is_built, written)

    def _of(self, is_built: Sequence[bool], written: frozenset[tuple[str, int]]) -> Iterator[Adaptor]:
        names = [p.name for p in self._pair.signatures[1].parameters]
        result = self._result()
        tried: set[tuple[Expression, ...]] = set()
        for values in islice(self._choices(is_built), MOST_CHOICES):
            if self._budget.exhausted:
                self.left_out = self._budget.why_exhausted()
                return
            if values in tried:
                continue
            tried.add(values)
            arguments = self._filled(is_built, values, written)
            if all(self._fits(case, arguments, result) for case in self._opened.cases.found):
                if self._copies_from_null(arguments):
                    continue
                given = [(names[n], e) for n, e in enumerate(arguments) if n not in self._ignored]
                yield Adaptor(tuple(given), result)
                if written != self._written():
                    return
        if self._count(is_built) > MOST_CHOICES // 2:
            self.left_out = "not every choice of members was tried"

    def _copies_from_null(self, arguments: Sequence[Expression]) -> bool:
        """Whether the wrapper would read through a pointer that may be null for all that the target does with it."""
        names = {p.pointer for e in arguments for p in parts_of(e) if isinstance(p, Loaded)}
        accepted = sorted(name for name in names if self._accepts_null(name))
        if accepted:
            self.left_out = f"the target accepts a null {accepted[0]}, and a wrapper that copies from it does not"
        return bool(accepted)

    def _accepts_null(self, name: str) -> bool:
        """Whether the target returns in some case without using the memory that a null pointer leads to."""
        question = self._question
        argument = next(one for one in question.contract.arguments if one.name == name)
        for case in self._opened.cases.found:
            registers, memory = dict(case.inputs[0].registers), dict(case.inputs[0].memory)
            put_argument(self._contract.machine, argument, 0, registers, memory, 0)
            inputs = replace(case.inputs[0], registers=registers, memory=memory)
            options = replace(question.run_options(0), record_reads=True)
            outcome = run(question.programs[0], inputs, options, question.callees)
            used = (*outcome.reads, *outcome.writes)
            if question.admits(inputs) and outcome.status is Status.DONE and all(one >= LOWEST_ADDRESS for one in used):
                return True
        return False

    # -- what may be put where --------------------------------------------------------------------

    def _which_are_built(self) -> Iterator[tuple[bool, ...]]:
        """For each parameter of the rewrite, whether a structure is built for it: where that can be, first."""
        parameters = enumerate(self._pair.signatures[1].parameters)
        several = [(True, False) if members_of(p) and n not in self._ignored else (False,) for n, p in parameters]
        yield from product(*several)

    def _places(self, is_built: Sequence[bool]) -> list[Place]:
        found = []
        for number, (parameter, built) in enumerate(zip(self._pair.signatures[1].parameters, is_built, strict=True)):
            if built:
                members = members_of(parameter)
                found += [Place(number, one, one.name or parameter.name, one.type) for one in members]
            else:
                found.append(Place(number, None, parameter.name, parameter.type))
        return found

    def _sources(self) -> list[Source]:
        found = []
        for parameter, (variable, ctype) in zip(
            self._pair.signatures[0].parameters, self._pair.typed_parameters, strict=True
        ):
            found.append(Source(variable, parameter.name, ctype))
            found += [self._loaded(parameter, one) for one in members_of(parameter)]
        return found

    def _loaded(self, parameter: Parameter, member: Member) -> Source:
        label = label_of(parameter.name, member)
        value = Loaded(parameter.name, member.offset, member.type.bits, member.type.signed, label)
        return Source(value, member.name or parameter.name, member.type)

    def _possible(self, place: Place) -> list[Expression]:
        """What may be put there: of the same name first, then in the target's order; 0 last."""
        if place.parameter in self._ignored:
            return [Constant(0, place.type.bits)]
        sources = [source for source in self._sources() if _suits(source, place)]
        sources.sort(key=lambda source: _last(source.name) != _last(place.name))
        found = [as_c_converts(one.value, one.type.signed, place.type.bits) for one in sources]
        is_number = place.type.kind not in (TypeKind.FLOAT, TypeKind.POINTER)
        return [*found, Constant(0, place.type.bits)] if is_number else found

    def _count(self, is_built: Sequence[bool]) -> int:
        total = 1
        for place in self._places(is_built):
            total *= len(self._possible(place))
        return total

    def _choices(self, is_built: Sequence[bool]) -> Iterator[tuple[Expression, ...]]:
        """By names, by order, each source once; and then all."""
        places = self._places(is_built)
        possible = [self._possible(place) for place in places]
        if not all(possible):
            return
        yield tuple(one[0] for one in possible)
        yield from self._each_once(places, possible)
        yield from product(*possible)

    def _each_once(
        self, places: Sequence[Place], possible: Sequence[list[Expression]]
    ) -> Iterator[tuple[Expression, ...]]:
        """Injective choices, depth first, those in the target's order before others."""
        order: dict[Variable | Loaded | None, int] = {one.value: n for n, one in enumerate(self._sources())}
        ranked = [sorted(one, key=lambda e: order.get(_source_of(e), len(order))) for one in possible]

        def extended(chosen: tuple[Expression, ...]) -> Iterator[tuple[Expression, ...]]:
            if len(chosen) == len(places):
                yield chosen
                return
            used = {_source_of(e) for e in chosen}
            for one in ranked[len(chosen)]:
                if _source_of(one) not in used and not isinstance(one, Constant):
                    yield from extended((*chosen, one))

        yield from islice(extended(()), MOST_CHOICES // 2)

    def _filled(
        self, is_built: Sequence[bool], values: Sequence[Expression], written: frozenset[tuple[str, int]]
    ) -> tuple[Expression, ...]:
        """The arguments: structures with their members, and what of them is copied back."""
        places = self._places(is_built)
        found: list[Expression] = []
        for number, parameter in enumerate(self._pair.signatures[1].parameters):
            own = [(place, e) for place, e in zip(places, values, strict=True) if place.parameter == number]
            if not is_built[number]:
                found.append(own[0][1])
                continue
            cells = [self._cell(place, e, written) for place, e in own]
            pointee = parameter.type.pointee
            assert pointee is not None
            found.append(Built(pointee.size, tuple(cells)))
        return tuple(found)

    def _cell(self, place: Place, value: Expression, written: frozenset[tuple[str, int]]) -> Cell:
        assert place.member is not None
        source = _source_of(value)
        is_back = isinstance(source, Loaded) and (source.pointer, source.offset) in written
        back = source if is_back and isinstance(source, Loaded) else None
        label = place.member.name or f"*{place.name}"
        return Cell(label, place.member.offset, value, place.type.signed, back)

    def _result(self) -> Expression | None:
        wanted, given = (signature.result for signature in self._pair.signatures)
        if not wanted.bits or wanted.bits == given.bits:
            return None
        return as_c_converts(Variable(RESULT, given.bits, given.signed), given.signed, wanted.bits)

    # -- runs -------------------------------------------------------------------------------------

    def _written(self) -> frozenset[tuple[str, int]]:
        """The members that the target writes in some case."""
        found = set()
        for source in self._sources():
            if isinstance(source.value, Loaded):
                loaded = source.value
                for case in self._opened.cases.found:
                    start = case.values[loaded.pointer] + loaded.offset
                    if any(start + n in case.outcome.writes for n in range(loaded.bits // 8)):
                        found.add((loaded.pointer, loaded.offset))
        return frozenset(found)

    def _fits(self, case: Case, arguments: Sequence[Expression], result: Expression | None) -> bool:
        """Whether the run of the rewrite returns, and leaves in the members that are copied back, what the target does.
        True where that is not decided."""
        if case.outcome.status is not Status.DONE or case.outcome.calls or not self._is_valid(case, arguments):
            return True
        inputs, at_entry = case.inputs[1], case.inputs[0]
        registers, memory = dict(inputs.registers), dict(inputs.memory)
        for number, (argument, expression) in enumerate(zip(self._arguments, arguments, strict=True)):
            value = self._value(expression, case)
            if isinstance(expression, Built):
                value = ROOM + number * ROOM_STEP
                for cell in expression.cells:
                    content = self._value(cell.value, case).to_bytes(cell.value.bits // 8, self._order)
                    memory |= {value + cell.offset + n: byte for n, byte in enumerate(content)}
            put_argument(self._contract.machine, argument, value, registers, memory, 0)
        given = replace(inputs, registers=registers, memory=memory)
        options = self._question.run_options(1)
        outcome = run(self._question.programs[1], given, options, self._question.callees)
        if outcome.status is not Status.DONE:
            return outcome.status in (Status.OUT_OF_FUEL, Status.UNSUPPORTED)
        return self._returns_alike(case, outcome, result) and self._leaves_alike(
            case, outcome, given, at_entry, arguments
        )

    def _is_valid(self, case: Case, arguments: Sequence[Expression]) -> bool:
        """Whether the target, and the wrapper, use only memory that programs may use."""
        loaded = [p for e in arguments for p in parts_of(e) if isinstance(p, Loaded)]
        own = [case.values[one.pointer] + one.offset for one in loaded]
        used = (*case.outcome.reads, *case.outcome.writes, *own)
        return all(LOWEST_ADDRESS <= address < HIGHEST_ADDRESS for address in used)

    def _value(self, expression: Expression, case: Case) -> int:
        match expression:
            case Loaded(pointer, offset, bits):
                return self._read(case.inputs[0], case.values[pointer] + offset, bits)
            case Conversion(change, operand, bits):
                return converted(change, self._value(operand, case), operand.bits, bits)
            case Built():
                return 0
            case _:
                return evaluate(expression, case.values)

    def _read(self, inputs: Inputs, address: int, bits: int, outcome: Outcome | None = None) -> int:
        """What is in memory there, at entry or after a run."""
        writes = outcome.writes if outcome is not None else {}
        places = range(address, address + bits // 8)
        return int.from_bytes(bytes(writes.get(one, inputs.byte(one)) for one in places), self._order)

    def _returns_alike(self, case: Case, outcome: Outcome, result: Expression | None) -> bool:
        ctype = self._pair.signatures[0].result
        if not ctype.bits or self._return_as is ReturnAs.VOID or not self._pair.signatures[1].result.bits:
            return True
        wanted = self._contract.result_value(case.outcome, self._readings[0])
        found = self._contract.result_value(outcome, self._readings[1])
        found = evaluate(result, {**case.values, RESULT: found}) if result is not None else found
        return bool(wanted) == bool(found) if self._return_as is ReturnAs.BOOL else wanted == found

    def _leaves_alike(
        self, case: Case, outcome: Outcome, given: Inputs, at_entry: Inputs, arguments: Sequence[Expression]
    ) -> bool:
        for number, expression in enumerate(arguments):
            for cell in _cells(expression):
                if cell.back is None:
                    continue
                bits = cell.value.bits
                found = self._read(given, ROOM + number * ROOM_STEP + cell.offset, bits, outcome)
                found = evaluate(as_c_converts(Constant(found, bits), cell.signed, cell.back.bits), {})
                address = case.values[cell.back.pointer] + cell.back.offset
                if found != self._read(at_entry, address, cell.back.bits, case.outcome):
                    return False
        return True


def _cells(expression: Expression) -> tuple[Cell, ...]:
    return expression.cells if isinstance(expression, Built) else ()


def _source_of(expression: Expression) -> Variable | Loaded | None:
    return next((part for part in parts_of(expression) if isinstance(part, Variable | Loaded)), None)


def _suits(source: Source, place: Place) -> bool:
    """Numbers for numbers of one kind, pointers for pointers."""
    if source.type.kind is TypeKind.FLOAT or place.type.kind is TypeKind.FLOAT:
        is_passed = place.member is None and isinstance(source.value, Loaded)
        return source.type.kind is place.type.kind and source.type.bits == place.type.bits and not is_passed
    return (source.type.kind is TypeKind.POINTER) == (place.type.kind is TypeKind.POINTER)


def _is_float(ctype: CType) -> bool:
    return ctype.kind is TypeKind.FLOAT


def _last(name: str) -> str:
    """The name of a member itself, whatever is around it."""
    return name.rpartition(".")[2].lower()
