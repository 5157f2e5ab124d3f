"""The open question as a formula: the target and the rewrite differ, over the target's inputs and the rewrite's
arguments. It is made once; candidates and cases are put into it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bitwuzla import Kind

from isoform.adapt import float_terms
from isoform.adapt.cases import Case, entry_values
from isoform.borders.question import Question
from isoform.engines.encoding import Encoding, encode
from isoform.engines.model import pairs_from_model
from isoform.engines.obligations import Obligations
from isoform.lift.cfg import SELF, SYSTEM_CALL
from isoform.model.budget import Budget
from isoform.model.contract import AbortRule, MemoryRule
from isoform.model.expression import (
    Change,
    Constant,
    Conversion,
    Expression,
    FloatOperation,
    Operation,
    Operator,
    Variable,
)
from isoform.model.library import library_function
from isoform.model.outcome import STACK_POINTER, Status
from isoform.model.outcome import Pair as InputPair
from isoform.model.signature import TypeKind
from isoform.smt.simulate import topological
from isoform.smt.solver import Answer, Solver
from isoform.smt.terms import Term, Terms
from isoform.sym.arguments import THROUGH_POINTER
from isoform.sym.compare import POSSIBLE_RESULT, SOME_ADDRESS, Goal
from isoform.sym.entry import argument_term
from isoform.sym.frame import SLOT_BYTES
from isoform.sym.state import initial_state
from isoform.sym.summary import CallSite
from isoform.sym.validity import HIGHEST_ADDRESS, LOWEST_ADDRESS, usable_accesses

if TYPE_CHECKING:
    from isoform.adapt.bulk import BulkFormula  # numpy takes a while to import

_NOT_CERTAIN = (POSSIBLE_RESULT, "same-things", "same-things-computed")
"""Goals whose failure does not imply an observable difference."""
POINTED_BYTES = 1 << 20
"""Bytes after each pointer of the target that are assumed to be accessible."""
MOST_CELLS = 512
"""Bytes of memory that the formula for a case holds."""
MOST_WRITES = 64
"""Bytes that a target writes and that the formula for a case compares."""
VERIFY_SECONDS = 0.2
"""Counted, for one goal about a candidate. Most counterexamples take milliseconds; what is not decided then is left to
the comparison of the wrapper, which has the rest of the budget."""
LONGER_SECONDS = 2.0
"""The same for a candidate that nothing else refutes and that no comparison will see."""


class OpenFormula:
    def __init__(self, question: Question, open_names: Sequence[str], budget: Budget) -> None:
        self._question = question
        self._budget = budget
        self.encoding = encode(question, budget)
        self.terms = self.encoding.world.terms
        entry = initial_state(self.encoding.target.side)
        arguments = {a.name: argument_term(entry, a) for a in question.contract.arguments}
        self.open = [arguments.pop(name) for name in open_names]
        """What the rewrite's arguments are."""
        self.parameters = arguments
        self._places = {a.name: a.places for a in question.contract.arguments}
        self._open_names = tuple(open_names)
        self.in_bulk: dict[int, tuple[Case, BulkFormula]] = {}
        """The formulas of cases for many numbers at once, by the identity of the case."""
        self._same = self._nothing_differs()
        self._not_covered = self.terms.any_of([gap.condition for gap in self.encoding.gaps])
        self._same_variables = _variables(self.terms.disj(self._same, self._not_covered))
        self._shown = _shown_variables(self.terms.disj(self._same, self._not_covered))

    @property
    def is_whole(self) -> bool:
        """Whether it covers all inputs."""
        return all(gap.condition == self.terms.false for gap in self.encoding.gaps)

    def depends_on(self, argument: int) -> bool:
        """Whether anything that the rewrite does may depend on this argument."""
        parts = [*(goal.bad for goal in self.encoding.goals), *(gap.condition for gap in self.encoding.gaps)]
        registers = {place.register for place in self._places[self._open_names[argument]]}
        variables = [self.terms.variable(name, 64) for name in registers if name is not None and self._is_word(name)]
        if not variables:
            return True  # on the stack, or in a vector register
        return any(self.terms.depends_on(part, variable) for part in parts for variable in variables)

    def _is_word(self, name: str) -> bool:
        return self._question.contract.machine.registers[name].size == SLOT_BYTES

    # -- one case ---------------------------------------------------------------------------------

    def _nothing_differs(self) -> Term:
        """That nothing but memory certainly differs. What is unknown in it (results of outside calls, undefined values,
        where objects are) may be chosen so that it holds."""
        terms = self.terms
        some = terms.variable(SOME_ADDRESS, self.encoding.target.side.width)
        certain = [
            goal.bad
            for goal in self.encoding.goals
            if goal.name not in _NOT_CERTAIN and not terms.depends_on(goal.bad, some)
        ]
        return terms.negate(terms.any_of([*certain, self._calls_differ()]))

    def _writes_the_same(self, case: Case) -> Term:
        """That the rewrite leaves, wherever the target writes in this case, what the target leaves there."""
        terms, contract = self.terms, self._question.contract
        target, rewrite = self.encoding.target.final, self.encoding.rewrite.final
        if target is None or rewrite is None or contract.memory is MemoryRule.IGNORE or self._question.contract.padded:
            return terms.true
        if case.outcome.status is not Status.DONE:
            return terms.true
        heap, width = self.encoding.rewrite.side.heap.array(rewrite.heap), self.encoding.target.side.width
        written = [*contract.observed_writes(case.outcome).items()][:MOST_WRITES]
        same = [terms.eq(terms.select(heap, terms.bv(at, width)), terms.bv(byte, 8)) for at, byte in written]
        return terms.implies(terms.conj(target.condition, rewrite.condition), terms.all_of(same))

    def _calls_differ(self) -> Term:
        """That one side makes a call with arguments with which the other makes none. Memory does not say so with
        certainty: what two calls leave there may be the same."""
        target, rewrite = (
            [site for site in side.calls if not site.pure] for side in (self.encoding.target, self.encoding.rewrite)
        )
        if not all(self._is_plain(site) for site in (*target, *rewrite)):
            return self.terms.false
        pairs = [*((site, rewrite) for site in target), *((site, target) for site in rewrite)]
        missing = self.terms.any_of([self._is_missing(site, others) for site, others in pairs])
        if self._question.contract.aborts is AbortRule.REFINE:
            return self.terms.conj(missing, self.terms.negate(self.encoding.target.aborts))
        return missing

    def _is_plain(self, site: CallSite) -> bool:
        """Whether a call is the same as another exactly if callee and arguments are. Of text that is written, and of
        calls that compilers replace, the effect counts; what is behind a pointer may be any function."""
        if len(site.keys) != 1 or site.keys[0][0] != self.terms.true or site.callee in (SELF, THROUGH_POINTER):
            return False
        if any(site.callee in image.inlined for image in (self._question.target.image, self._question.rewrite.image)):
            return False
        known = library_function(site.callee)
        by_effect = known.writes_text, known.format, known.replaced, known.allocation, known.meaning, known.computes
        return not any(by_effect)

    def _is_missing(self, site: CallSite, others: Sequence[CallSite]) -> Term:
        terms = self.terms
        same = [other for other in others if other.callee == site.callee]
        made = [terms.conj(other.condition, self._same_arguments(site, other)) for other in same]
        return terms.conj(site.condition, terms.negate(terms.any_of(made)))

    def _same_arguments(self, left: CallSite, right: CallSite) -> Term:
        """Of a system call the first is the number of the service, which says what else it reads. Addresses in a
        side's own frame are not compared."""
        terms = self.terms
        ours, theirs = left.keys[0][1], right.keys[0][1]
        if left.callee == SYSTEM_CALL:
            numbers = [terms.value(one[0]) for one in (ours, theirs)]
            if numbers[0] is None or numbers[0] != numbers[1]:
                return terms.eq(ours[0], theirs[0])
        if [terms.width(one) for one in ours] != [terms.width(one) for one in theirs]:
            return terms.true
        name = self._question.contract.machine.convention.stack_pointer
        frame = terms.variable(name, self.encoding.target.side.width) if name is not None else None
        pairs = [
            (a, b)
            for a, b in zip(ours, theirs, strict=True)
            if frame is None or not any(terms.depends_on(one, frame) for one in (a, b))
        ]
        return terms.all_of([terms.eq(a, b) for a, b in pairs])

    def fits(self, case: Case, arguments: Sequence[Term], also_read: Collection[int] = ()) -> Term:
        """That the rewrite, called with these arguments, may do what the target does in this case: true of at least
        the arguments with which it does. Where the formula does not cover the input, they all may fit. `also_read`:
        addresses of which the contents in this case count as well."""
        terms = self.terms
        same, written = self._same, self._writes_the_same(case)
        variables = self._same_variables
        if written != terms.true:
            same = terms.conj(same, written)
            variables = list(dict.fromkeys([*variables, *_variables(written)]))
        given = self._at_entry(case, frozenset(variables), also_read)
        for name, value in zip(self._open_names, arguments, strict=True):
            given |= self._passed(name, value)
        for variable in variables:
            if variable not in given:  # an undefined value, say: in another case it may be another
                name = f"{variable.symbol()} in case {id(case)}"
                given[variable] = terms.manager.mk_const(variable.sort(), name)
        return terms.manager.substitute_term(terms.disj(same, self._not_covered), given)

    def _at_entry(self, case: Case, used: frozenset[Term], also_read: Collection[int]) -> dict[Term, Term]:
        """What these variables are there; others may be in it too. Objects that only contents are read and written of
        are where they were in the run: an adaptor has to fit wherever they are, so there, too."""
        terms, machine, inputs = self.terms, self._question.contract.machine, case.inputs[0]
        found = {}
        for name, value in entry_values(self._question, inputs).items():
            width = 8 * machine.registers[name].size
            variable = terms.variable(name, width)
            if variable in used:
                found[variable] = terms.bv(value, width)
        for places in self._places.values():
            for place in places:
                if place.register is None:
                    start = place.offset - place.offset % SLOT_BYTES
                    word = sum(inputs.byte(STACK_POINTER + start + i) << (8 * i) for i in range(SLOT_BYTES))
                    found[terms.variable(f"stack_{start}", 64)] = terms.bv(word, 64)
        for address, number in terms.layout.placement().items():
            if address in used and address not in self._shown:
                found[address] = terms.bv(number, terms.width(address))
        return {**found, **self._memory(case, also_read)}

    def _memory(self, case: Case, also_read: Collection[int]) -> dict[Term, Term]:
        """The bytes that the target reads and writes there, and those of `also_read`. The others are 0 if the input has
        no fill, or arbitrary."""
        terms, width, inputs = self.terms, self.encoding.target.side.width, case.inputs[0]
        if self._question.contract.machine.memory is None:
            return {}
        memory = terms.array_variable("memory", width)
        cells = {**dict.fromkeys((*case.outcome.reads, *case.outcome.writes)), **dict.fromkeys(inputs.memory)}
        cells |= dict.fromkeys(also_read)
        if inputs.fill_seed or len(cells) > MOST_CELLS:
            array = terms.array_variable(f"memory of case {id(case)}", width)
        else:
            array = terms.manager.mk_const_array(terms.array_sort(width), terms.bv(0, 8))
        for address in [*cells][:MOST_CELLS]:
            array = terms.store(array, terms.bv(address, width), terms.bv(inputs.byte(address), 8))
        return {memory: array}

    def _passed(self, name: str, value: Term) -> dict[Term, Term]:
        terms, (place,) = self.terms, self._places[name]
        if place.register is None:
            return {terms.variable(f"stack_{place.offset}", 64): terms.zext(value, 64)}
        register = place.register
        width = 8 * self._question.contract.machine.registers[register].size
        if width == terms.width(value):
            return {terms.variable(register, width): value}
        return {terms.variable(register, width): terms.zext(value, width)}

    # -- one candidate ----------------------------------------------------------------------------

    def verify(
        self, arguments: Sequence[Expression], seconds: float = VERIFY_SECONDS
    ) -> tuple[Answer, list[InputPair]]:
        """UNSAT if the rewrite with these arguments does what the target does, as far as the formula goes; SAT with
        inputs that may show otherwise."""
        values = [expression_term(self.terms, e, self.parameters) for e in arguments]
        same = [
            (f"argument-{n}", self.terms.eq(hole, v)) for n, (hole, v) in enumerate(zip(self.open, values, strict=True))
        ]
        world = replace(self.encoding.world, constraints=[*self.encoding.world.constraints, *same])
        encoding = Encoding(world, self.encoding.target, self.encoding.rewrite, self._certain_goals())
        obligations = Obligations(self._question, self._budget, encoding)
        answer = obligations.all_hold(seconds)
        if answer is not Answer.SAT:
            return answer, []
        return answer, [*pairs_from_model(self._question, encoding, obligations.solver)]

    def keeps_to_memory(self, arguments: Sequence[Expression]) -> bool:
        """Whether the rewrite, called with these arguments, uses only memory that a program may use, if the target does
        and its pointers lead there. The comparison takes this for granted of both sides: of code in files it is a fair
        assumption, of arguments that were made up it is not."""
        terms = self.terms
        prefixes = ("frame-b-", "block-b-", "result-space-b-")
        rules = usable_accesses(self.encoding.rewrite.side)
        rules += [term for label, term in self.encoding.world.constraints if label.startswith(prefixes)]
        if not rules:
            return True
        values = [expression_term(terms, e, self.parameters) for e in arguments]
        same = [terms.eq(hole, value) for hole, value in zip(self.open, values, strict=True)]
        pointers = [a for a in self._question.contract.arguments if a.type.kind is TypeKind.POINTER]
        usable = [self._is_pointer(self.parameters[a.name]) for a in pointers if a.name in self.parameters]
        known = [term for label, term in self.encoding.world.constraints if not label.startswith(prefixes)]
        known += [*usable_accesses(self.encoding.target.side), *usable, *same]
        broken = terms.negate(terms.all_of(rules))
        return Solver(terms, self._budget).check([*known, broken], VERIFY_SECONDS) is Answer.UNSAT

    def _is_pointer(self, value: Term) -> Term:
        terms, width = self.terms, self.terms.width(value)
        room = HIGHEST_ADDRESS - LOWEST_ADDRESS - POINTED_BYTES
        return terms.ult(terms.sub(value, terms.bv(LOWEST_ADDRESS, width)), terms.bv(room, width))

    def verify_open(self) -> Answer:
        """UNSAT if the rewrite does what the target does with any arguments."""
        encoding = Encoding(self.encoding.world, self.encoding.target, self.encoding.rewrite, self._certain_goals())
        return Obligations(self._question, self._budget, encoding).all_hold(VERIFY_SECONDS)

    def refuse_impossible_preconditions(self) -> None:
        Obligations(self._question, self._budget, self.encoding).refuse_impossible_preconditions()

    def _certain_goals(self) -> list[Goal]:
        return [goal for goal in self.encoding.goals if goal.name not in _NOT_CERTAIN]


# -- expressions as terms -------------------------------------------------------------------------


def _variables(term: Term) -> list[Term]:
    """All that is in a term and not determined by it; of outside functions, what they do is the same in every case."""
    return [part for part in topological([term]) if part.is_const() and not part.sort().is_fun()]


def _shown_variables(term: Term) -> frozenset[Term]:
    """Variables of a term that are in it not only as part of an address that something is read from or written to."""
    seen: set[Term] = set()
    pending = [term]
    while pending:
        top = pending.pop()
        if top not in seen:
            seen.add(top)
            is_access = top.kind() in (Kind.ARRAY_SELECT, Kind.ARRAY_STORE)
            pending += [child for n, child in enumerate(top.children()) if not (is_access and n == 1)]
    return frozenset(part for part in seen if part.is_const())


def expression_term(terms: Terms, expression: Expression, values: Mapping[str, Term]) -> Term:
    match expression:
        case Variable(name):
            return values[name]
        case Constant(value, bits):
            return terms.bv(value, bits)
        case Operation(operator, operands):
            return applied(terms, operator, [expression_term(terms, operand, values) for operand in operands])
        case Conversion(change, operand, bits):
            return converted(terms, change, expression_term(terms, operand, values), bits)
        case FloatOperation(float_operator, (left, right)):
            both = [expression_term(terms, operand, values) for operand in (left, right)]
            return float_terms.arithmetic(terms, float_operator.kind, both)
        case _:
            raise TypeError(expression)


def converted(terms: Terms, change: Change, value: Term, bits: int) -> Term:
    match change:
        case Change.SIGN_EXTENDED:
            return terms.sext(value, bits)
        case Change.ZERO_EXTENDED:
            return terms.zext(value, bits)
        case Change.TRUNCATED:
            return terms.extract(value, bits - 1, 0)
        case Change.TRUTH:
            return terms.flag(terms.negate(terms.eq(value, terms.bv(0, terms.width(value)))), bits)
        case _:
            return float_terms.converted(terms, change, value, bits)


def applied(terms: Terms, operator: Operator, operands: Sequence[Term]) -> Term:
    """An operator as `model.expression` defines it."""
    left, width = operands[0], terms.width(operands[0])
    if operator is Operator.NEGATE:
        return terms.neg(left)
    if operator is Operator.NOT:
        return terms.not_(left)
    right = operands[1]
    if operator.is_shift:
        right = terms.and_(right, terms.bv(width - 1, width))
    match operator:
        case Operator.ADD:
            return terms.add(left, right)
        case Operator.SUBTRACT:
            return terms.sub(left, right)
        case Operator.MULTIPLY:
            return terms.mul(left, right)
        case Operator.AND:
            return terms.and_(left, right)
        case Operator.OR:
            return terms.or_(left, right)
        case Operator.XOR:
            return terms.xor_(left, right)
        case Operator.SHIFT_LEFT:
            return terms.shl(left, right)
        case Operator.SHIFT_RIGHT:
            return terms.lshr(left, right)
        case Operator.ARITHMETIC_SHIFT_RIGHT:
            return terms.ashr(left, right)
        case _:
            return _divided(terms, operator, left, right)


def _divided(terms: Terms, operator: Operator, left: Term, right: Term) -> Term:
    divide = {
        Operator.UNSIGNED_DIVIDE: terms.udiv,
        Operator.SIGNED_DIVIDE: terms.sdiv,
        Operator.UNSIGNED_REMAINDER: terms.urem,
        Operator.SIGNED_REMAINDER: terms.srem,
    }[operator]
    zero = terms.bv(0, terms.width(right))
    return terms.ite(terms.eq(right, zero), zero, divide(left, right))
