"""A function that calls itself: what the induction hypothesis says about the deeper call, and what it requires.

The claim is: for all arguments and memory that the contract allows and on which both end, the two agree in what the
contract compares, whatever else each finds at entry (`World.open_inputs`). It is shown by induction on the number of
nested calls of the longer of the two runs. A deeper call nests fewer, so that the claim may be used for it, and no more
than the claim: its inputs must be allowed (that is shown), and only what the contract compares is the same afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from isoform.lift.cfg import SELF
from isoform.lift.function import Function, outside_call
from isoform.model.contract import MemoryRule, Result, ReturnAs
from isoform.model.errors import Unsupported
from isoform.model.microop import Kind
from isoform.model.verdict import Assumption
from isoform.smt.floats import with_one_nan
from isoform.smt.terms import Term, Terms
from isoform.sym.chain import Base
from isoform.sym.entry import content_at_call, entry_conditions
from isoform.sym.side import Side
from isoform.sym.state import State

RECURSION = Assumption(
    "recursion-by-induction",
    "where a function calls itself the two agree on that deeper call, by induction on the number of nested calls: what "
    "is shown holds where both end",
)

IS_NONZERO = "is nonzero"
"""The part of the result of a deeper call that is known with `--return-as bool`."""


def allowed_at_deeper_call(state: State) -> Term:
    """The condition that the contract allows the inputs of a deeper call: what is assumed at entry must hold there."""
    side = state.side
    accesses = side.heap_accesses, side.fixed_accesses
    made = [len(each) for each in accesses]
    conditions = [condition for _, condition in entry_conditions(side.world, state, partial(content_at_call, state))]
    for each, count in zip(accesses, made, strict=True):
        del each[count:]  # the function need not read what a condition reads
    return side.terms.all_of(conditions)


def calls_itself(*functions: Function) -> bool:
    calls = (outside_call(block.exit) for function in functions for block in function.blocks.values())
    return any(call is not None and call.callee == SELF for call in calls)


def may_end(function: Function) -> bool:
    """Whether a run of a function may end other than by returning."""
    return any(
        (call is not None and call.then is None) or any(op.kind is Kind.ABORT for op in block.ops)
        for block in function.blocks.values()
        for call in (outside_call(block.exit),)
    )


def is_silent(function: Function) -> bool:
    """Whether a run of a function shows nothing but its result and the memory it leaves."""
    others = (
        call is not None and not call.carried_out and call.callee != SELF
        for block in function.blocks.values()
        for call in (outside_call(block.exit),)
    )
    return not may_end(function) and not any(others)


def compares_calls(side: Side, function: Function) -> bool:
    """Whether deeper calls are observables: only if they can be observed, by their effect on memory, their calls, or
    how they end."""
    if side.contract.memory is MemoryRule.COMPARE:
        return True
    if not is_silent(function):
        raise Unsupported(
            f"{function.name} calls itself, and calls other functions or may abort: --memory ignore does not "
            "handle that"
        )
    return False


def after_deeper_call(result: Callable[[str, int], Term], memory: Term, state: State) -> None:
    """Results and memory after the deeper call. `result` makes a function of what was passed, `memory` is one."""
    side = state.side
    _give_results(state, lambda part, left: _same(side, part, result, left))
    if side.contract.memory is MemoryRule.COMPARE:
        state.heap = Base(lambda: memory, side.constant_byte)
    else:
        _lose_memory(state)


def after_other_side(state: State) -> None:
    """Results and memory where the other side's code stands in the place of the deeper call and has returned: the
    hypothesis says that they are the same as far as the contract compares them."""
    side, terms = state.side, state.side.terms
    found = {
        part: terms.extract(state.container_named(part.register), 8 * part.offset + part.bits - 1, 8 * part.offset)
        for part in side.contract.results
    }

    def shown(part: Result, left: Term) -> Term:
        value = found[part]
        sign = 1 << (part.bits - 1) if part.is_float else 0
        magnitude = terms.and_(value, terms.not_(terms.bv(sign, part.bits)))
        is_zero = terms.eq(magnitude, terms.bv(0, part.bits))
        nonzero = terms.flag(terms.negate(is_zero), 1)
        return _same(side, part, lambda what, width: nonzero if what == IS_NONZERO else value, left)

    _give_results(state, shown)
    if side.contract.memory is not MemoryRule.COMPARE:
        _lose_memory(state)


def _give_results(state: State, known: Callable[[Result, Term], Term]) -> None:
    """The result registers: `known` are the bits that the contract compares, the others are each side's own."""
    side, terms = state.side, state.side.terms
    machine = side.machine
    for register in (*machine.convention.result, *machine.convention.float_result):
        value = side.undefined(8 * machine.registers[register].size)
        for part in (r for r in side.contract.results if r.register == register):
            low = 8 * part.offset
            same = known(part, terms.extract(value, low + part.bits - 1, low))
            value = _inserted(terms, value, same, low)
        state.registers[machine.container_positions[register]] = value


def _lose_memory(state: State) -> None:
    own = state.side.unknown_memory()
    state.heap = Base(lambda: own, state.side.constant_byte)


def _same(side: Side, part: Result, result: Callable[[str, int], Term], left: Term) -> Term:
    """A result of the deeper call: the same for both as far as it is compared, and otherwise what is `left` there."""
    terms, contract = side.terms, side.contract
    if contract.return_as is ReturnAs.BOOL:
        if len(contract.results) > 1:
            return left
        return _as_bool(terms, part, left, terms.eq(result(IS_NONZERO, 1), terms.bv(1, 1)))
    value = result(f"{part.register}[{8 * part.offset}]", part.bits)
    if not part.is_float:
        return value
    # All NaNs are alike here: which one it is may differ.
    canonical = with_one_nan(terms, value)
    own = terms.eq(with_one_nan(terms, left), canonical)
    return terms.ite(own, left, canonical)


def _as_bool(terms: Terms, part: Result, left: Term, is_nonzero: Term) -> Term:
    """A result of which only zero or nonzero is known, and otherwise what is `left` there: the sign of a zero is
    undefined."""
    zero = terms.bv(0, part.bits)
    sign = terms.bv(1 << (part.bits - 1) if part.is_float else 0, part.bits)
    signed_zero = terms.and_(left, sign)
    nonzero = terms.ite(terms.eq(terms.and_(left, terms.not_(sign)), zero), terms.bv(1, part.bits), left)
    return terms.ite(is_nonzero, nonzero, signed_zero)


def _inserted(terms: Terms, value: Term, part: Term, low: int) -> Term:
    width, size = terms.width(value), terms.width(part)
    if low:
        part = terms.concat(part, terms.extract(value, low - 1, 0))
    if low + size < width:
        part = terms.concat(terms.extract(value, width - 1, low + size), part)
    return part
