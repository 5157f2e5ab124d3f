"""The family `memory`: the wrapper builds what the rewrite's pointers point to from the target's parameters and what
those point to, and copies back what the target would have written.

The places to fill are the rewrite's arguments and the members of the structures that it takes; each gets one of the
target's parameters or members, converted as C does. Which one is found by names, then by order, then by trying all. A
choice is tried on runs of the rewrite with the structure at an address of its own, and then compared as machine code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product
from types import MappingProxyType

from isoform.adapt.cases import UNCERTAIN, Case
from isoform.adapt.float_space import are_nans, is_float
from isoform.adapt.ignored import ignored_by_rewrite
from isoform.adapt.layout import StructMember, label_of, members_of
from isoform.adapt.opened import Opened
from isoform.adapt.pair import as_c_converts
from isoform.borders.convention import place_signature
from isoform.engines.separate import are_certain
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
EMPTY: Mapping[int, int] = MappingProxyType({})
ROOM_STEP = 0x1_0000
"""From one structure to the next."""


@dataclass(frozen=True)
class Slot:
    """Something of the rewrite that needs a value."""

    parameter: int
    member: StructMember | None
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
    def __init__(self, opened: Opened, return_as: ReturnAs, budget: Budget) -> None:
        """`opened` does not compare results."""
        self._pair = pair = opened.pair
        self._budget = budget
        self._return_as = return_as
        self._opened = opened
        question = self._opened.cases.question
        self._question = question
        self._contract = replace(question.contract, return_as=ReturnAs.VALUE)
        self._readings = [place_signature(pair.machine, one).results for one in pair.signatures]
        arguments = {argument.name: argument for argument in question.contract.arguments}
        self._arguments = [arguments[name] for name in pair.open_names]
        self._order = pair.machine.byte_order
        self._ignored = ignored_by_rewrite(pair, budget)
        self.left_out = ""
        self._is_ended = False
        """Whether the budget or a bound ended the search."""

    @property
    def examples(self) -> list[Example]:
        return [self._opened.example(case) for case in self._opened.cases.found]

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
        if is_returned and (given.kind is TypeKind.VOID or is_float(wanted) != is_float(given)):
            return
        if is_returned and is_float(wanted) and wanted.bits != given.bits:
            return
        written: frozenset[tuple[str, int]] | None = None
        while written != self._written() and not self._is_ended:
            written = self._written()
            for is_built in self._which_are_built():
                yield from self._of(is_built, written)

    def _of(self, is_built: Sequence[bool], written: frozenset[tuple[str, int]]) -> Iterator[Adaptor]:
        names = [p.name for p in self._pair.signatures[1].parameters]
        result = self._result()
        tried: set[tuple[Expression, ...]] = set()
        for values in islice(self._choices(is_built), MOST_CHOICES):
            if self._budget.exhausted:
                self._end(self._budget.why_exhausted())
                return
            if values in tried:
                continue
            tried.add(values)
            for arguments in self._filled(is_built, values, written):
                if not all(self._fits(case, arguments, result) for case in self._opened.cases.found):
                    continue
                if self._copies_from_null(arguments):
                    continue
                given = [(names[n], e) for n, e in enumerate(arguments) if n not in self._ignored]
                yield Adaptor(tuple(given), result)
                if written != self._written():
                    return
        if self._count(is_built) > MOST_CHOICES // 2:
            self._end("not every choice of members was tried")

    def _end(self, why: str) -> None:
        self.left_out, self._is_ended = why, True

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

    def _places(self, is_built: Sequence[bool]) -> list[Slot]:
        found = []
        for number, (parameter, built) in enumerate(zip(self._pair.signatures[1].parameters, is_built, strict=True)):
            if built:
                members = members_of(parameter)
                found += [Slot(number, one, one.name or parameter.name, one.type) for one in members]
            else:
                found.append(Slot(number, None, parameter.name, parameter.type))
        return found

    def _sources(self) -> list[Source]:
        found = []
        for parameter, (variable, ctype) in zip(
            self._pair.signatures[0].parameters, self._pair.typed_parameters, strict=True
        ):
            found.append(Source(variable, parameter.name, ctype))
            found += [self._loaded(parameter, one) for one in members_of(parameter)]
        return found

    def _loaded(self, parameter: Parameter, member: StructMember) -> Source:
        label = label_of(parameter.name, member)
        value = Loaded(parameter.name, member.offset, member.type.bits, member.type.signed, label)
        return Source(value, member.name or parameter.name, member.type)

    def _possible(self, place: Slot) -> list[Expression]:
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
        self, places: Sequence[Slot], possible: Sequence[list[Expression]]
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
    ) -> Iterator[tuple[Expression, ...]]:
        """The arguments: structures with their members, and what of them is copied back. Where several hold the same
        member of the target, each in turn is the one that is copied back."""
        places = self._places(is_built)
        holding: dict[Loaded, list[int]] = {}
        for n, (place, value) in enumerate(zip(places, values, strict=True)):
            source = _source_of(value)
            if place.member is not None and isinstance(source, Loaded) and (source.pointer, source.offset) in written:
                holding.setdefault(source, []).append(n)
        for chosen in product(*holding.values()):
            yield self._with_copies(is_built, values, dict(zip(chosen, holding, strict=True)))

    def _with_copies(
        self, is_built: Sequence[bool], values: Sequence[Expression], back: Mapping[int, Loaded]
    ) -> tuple[Expression, ...]:
        """The arguments with these copies, by the number of the place."""
        cells: dict[int, list[Cell]] = {}
        passed: dict[int, Expression] = {}
        for n, (place, value) in enumerate(zip(self._places(is_built), values, strict=True)):
            if place.member is None:
                passed[place.parameter] = value
                continue
            label = place.member.name or f"*{place.name}"
            cell = Cell(label, place.member.offset, value, place.type.signed, back.get(n))
            cells.setdefault(place.parameter, []).append(cell)
        for number, own in cells.items():
            pointee = self._pair.signatures[1].parameters[number].type.pointee
            assert pointee is not None
            passed[number] = Built(pointee.size, tuple(own))
        return tuple(passed[number] for number in range(len(is_built)))

    def _result(self) -> Expression | None:
        wanted, given = (signature.result for signature in self._pair.signatures)
        if not wanted.bits or wanted.bits == given.bits:
            return None
        return as_c_converts(Variable(RESULT, given.bits, given.signed), given.signed, wanted.bits)

    # -- runs -------------------------------------------------------------------------------------

    def _written(self) -> frozenset[tuple[str, int]]:
        """The members that the target writes in some case. If pointers lead to the same bytes there, it is not known
        which of the members that is."""
        found: set[tuple[str, int]] = set()
        unclear: list[set[tuple[str, int]]] = []
        loaded = [source.value for source in self._sources() if isinstance(source.value, Loaded)]
        for case in self._opened.cases.found:
            places = [(one, self._bytes_of(one, case)) for one in loaded]
            for own in (own for _, own in places if any(at in case.outcome.writes for at in own)):
                there = {(one.pointer, one.offset) for one, other in places if _overlap(own, other)}
                if len(there) == 1:
                    found |= there
                else:
                    unclear.append(there)
        if any(not there & found for there in unclear):
            self.left_out = self.left_out or "members that the target writes overlap in all inputs that were tried"
        return frozenset(found)

    def _bytes_of(self, loaded: Loaded, case: Case) -> range:
        start = case.values[loaded.pointer] + loaded.offset
        return range(start, start + loaded.bits // 8)

    def _fits(self, case: Case, arguments: Sequence[Expression], result: Expression | None) -> bool:
        """Whether the run of the rewrite returns, and leaves in the members that are copied back, what the target does.
        True where that is not decided."""
        if case.outcome.status is not Status.DONE or case.outcome.calls or not self._is_valid(case, arguments):
            return True
        given = self._given(case, arguments)
        options = self._question.run_options(1)
        outcome = run(self._question.programs[1], given, options, self._question.callees)
        if outcome.status in (Status.OUT_OF_FUEL, Status.UNSUPPORTED):
            return True
        is_alike = outcome.status is Status.DONE and self._returns_alike(case, outcome, result)
        if is_alike and self._leaves_alike(case, outcome, given, arguments):
            return True
        if not self.left_out and not are_certain(self._question, (case.inputs[0], given), self._readings):
            self.left_out = UNCERTAIN
        return False

    def _given(self, case: Case, arguments: Sequence[Expression]) -> Inputs:
        """What the rewrite finds at entry: the arguments, and the structures at addresses of their own."""
        inputs = case.inputs[1]
        registers, memory = dict(inputs.registers), dict(inputs.memory)
        for number, (argument, expression) in enumerate(zip(self._arguments, arguments, strict=True)):
            value = self._value(expression, case)
            if isinstance(expression, Built):
                value = ROOM + number * ROOM_STEP
                for cell in expression.cells:
                    content = self._value(cell.value, case).to_bytes(cell.value.bits // 8, self._order)
                    memory |= {value + cell.offset + n: byte for n, byte in enumerate(content)}
            put_argument(self._contract.machine, argument, value, registers, memory, 0)
        return replace(inputs, registers=registers, memory=memory)

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

    def _read(self, inputs: Inputs, address: int, bits: int, writes: Mapping[int, int] = EMPTY) -> int:
        """What is in memory there after these writes."""
        places = range(address, address + bits // 8)
        return int.from_bytes(bytes(writes.get(one, inputs.byte(one)) for one in places), self._order)

    def _returns_alike(self, case: Case, outcome: Outcome, result: Expression | None) -> bool:
        ctype = self._pair.signatures[0].result
        if not ctype.bits or self._return_as is ReturnAs.VOID or not self._pair.signatures[1].result.bits:
            return True
        wanted = self._contract.result_value(case.outcome, self._readings[0])
        found = self._contract.result_value(outcome, self._readings[1])
        found = evaluate(result, {**case.values, RESULT: found}) if result is not None else found
        if self._return_as is ReturnAs.BOOL:
            return bool(wanted) == bool(found)
        return wanted == found or are_nans(ctype, wanted, found)

    def _leaves_alike(self, case: Case, outcome: Outcome, given: Inputs, arguments: Sequence[Expression]) -> bool:
        """Whether the members that are copied back hold what the target leaves there, once all are copied: a later copy
        may lead to the same bytes as an earlier one."""
        left = dict(outcome.writes)
        copied = [
            (number, cell, cell.back)
            for number, one in enumerate(arguments)
            for cell in _cells(one)
            if cell.back is not None
        ]
        for number, cell, back in copied:
            bits = cell.value.bits
            held = self._read(given, ROOM + number * ROOM_STEP + cell.offset, bits, outcome.writes)
            held = evaluate(as_c_converts(Constant(held, bits), cell.signed, back.bits), {})
            left |= zip(self._bytes_of(back, case), held.to_bytes(back.bits // 8, self._order), strict=True)
        at_entry = case.inputs[0]
        for _, _, back in copied:
            address = case.values[back.pointer] + back.offset
            found = self._read(at_entry, address, back.bits, left)
            wanted = self._read(at_entry, address, back.bits, case.outcome.writes)
            if found != wanted and not are_nans(self._type_of(back), found, wanted):
                return False
        return True

    def _type_of(self, loaded: Loaded) -> CType:
        return next(source.type for source in self._sources() if source.value == loaded)


def _overlap(left: range, right: range) -> bool:
    return left.start < right.stop and right.start < left.stop


def _cells(expression: Expression) -> tuple[Cell, ...]:
    return expression.cells if isinstance(expression, Built) else ()


def _source_of(expression: Expression) -> Variable | Loaded | None:
    return next((part for part in parts_of(expression) if isinstance(part, Variable | Loaded)), None)


def _suits(source: Source, place: Slot) -> bool:
    """Numbers for numbers of one kind, pointers for pointers."""
    if source.type.kind is TypeKind.FLOAT or place.type.kind is TypeKind.FLOAT:
        is_passed = place.member is None and isinstance(source.value, Loaded)
        return source.type.kind is place.type.kind and source.type.bits == place.type.bits and not is_passed
    return (source.type.kind is TypeKind.POINTER) == (place.type.kind is TypeKind.POINTER)


def _last(name: str) -> str:
    """The name of a member itself, whatever is around it."""
    return name.rpartition(".")[2].lower()
