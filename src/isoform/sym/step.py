"""One micro-op on a symbolic state."""

from __future__ import annotations

from collections.abc import Callable

from isoform.model.evaluate_floats import FLOAT_RULES
from isoform.model.microop import Kind, MicroOp, Space, Var
from isoform.model.verdict import DEFAULT_ROUNDING_MODE
from isoform.smt import floats
from isoform.smt.terms import Term, Terms
from isoform.sym.giving import compared
from isoform.sym.state import State

Temps = dict[int, Term]
_EQUALITIES = frozenset({Kind.INT_EQUAL, Kind.INT_NOTEQUAL})
_COMPARING = _EQUALITIES | {
    Kind.INT_SUB,
    Kind.INT_SBORROW,
    Kind.INT_LESS,
    Kind.INT_LESSEQUAL,
    Kind.INT_SLESS,
    Kind.INT_SLESSEQUAL,
}


class UnwrittenTempError(Exception):
    """A temporary is read that was not written: execution began inside an instruction."""


def read(state: State, temps: Temps, var: Var) -> Term:
    if var.space in (Space.CONST, Space.CODE):
        return state.side.terms.bv(var.offset, 8 * var.size)
    if var.space is Space.TEMP:
        value = temps.get(var.offset)
        if value is None:
            raise UnwrittenTempError
        return value
    if var.space is Space.ADDRESS:
        return state.side.linked_address(var)
    return state.read_register(var)


def write(state: State, temps: Temps, var: Var, value: Term) -> None:
    if var.space is Space.TEMP:
        temps[var.offset] = value
    else:
        state.write_register(var, value)


def step(state: State, temps: Temps, op: MicroOp) -> None:
    """Execute a micro-op that neither aborts nor moves control."""
    kind = op.kind
    if kind is Kind.STORE:
        address, value = op.ins
        state.store(read(state, temps, address), read(state, temps, value), value.size)
        return
    assert op.out is not None
    if kind is Kind.LOAD:
        result = state.load(read(state, temps, op.ins[0]), op.out.size)
    elif kind is Kind.UNDEFINED:
        result = state.side.undefined(8 * op.out.size)
    else:
        values = [read(state, temps, v) for v in op.ins]
        if state.given and kind in _COMPARING:
            values = compared(state, values, kind in _EQUALITIES)
        if kind in FLOAT_RULES:
            state.side.world.assume(DEFAULT_ROUNDING_MODE)
        result = _aligned_stack(state, op, values) or _RULES[kind](state.side.terms, 8 * op.out.size, values)
    write(state, temps, op.out, result)


def _aligned_stack(state: State, op: MicroOp, values: list[Term]) -> Term | None:
    """Rounding the stack pointer down: the distance follows from its alignment at entry."""
    if op.kind is not Kind.INT_AND:
        return None
    terms, convention = state.side.terms, state.side.machine.convention
    base, constant = terms.split_sum(values[0])
    mask = terms.value(values[1])
    if base is None or mask is None or not state.side.is_stack_pointer(base):
        return None
    width = terms.width(values[0])
    alignment = (1 << width) - mask
    if alignment & (alignment - 1) or not 1 <= alignment <= convention.stack_alignment:
        return None
    state.side.world.align_stack()
    rest = (convention.stack_arguments_offset + constant) % alignment
    return terms.add(base, terms.bv(constant - rest, width))


Rule = Callable[[Terms, int, list[Term]], Term]
Build = Callable[[Terms, Term, Term], Term]
"""A constructor of two operands."""


def _comparison(build: Build) -> Rule:
    return lambda t, w, v: t.flag(build(t, v[0], v[1]), w)


def _plain(build: Build) -> Rule:
    return lambda t, w, v: build(t, v[0], v[1])


def _carry(t: Terms, w: int, v: list[Term]) -> Term:
    """a + b wraps exactly if the sum is less than a."""
    return t.flag(t.ult(t.add(v[0], v[1]), v[0]), w)


def _signed_carry(t: Terms, w: int, v: list[Term]) -> Term:
    return t.flag(_sign_differs(t, v[0], t.add(v[0], v[1]), t.not_(t.xor_(v[0], v[1]))), w)


def _signed_borrow(t: Terms, w: int, v: list[Term]) -> Term:
    """a - b overflows exactly if its sign differs from a < b. Written this way, the two flags that a signed jump
    compares become a < b again."""
    negative = t.slt(t.sub(v[0], v[1]), t.bv(0, t.width(v[0])))
    return t.flag(t.exclusive(t.slt(v[0], v[1]), negative), w)


def _sign_differs(t: Terms, operand: Term, result: Term, candidates: Term) -> Term:
    top = t.width(operand) - 1
    bit = t.extract(t.and_(candidates, t.xor_(operand, result)), top, top)
    return t.eq(bit, t.bv(1, 1))


def _subpiece(t: Terms, w: int, v: list[Term]) -> Term:
    low = 8 * (t.value(v[1]) or 0)
    if low + w <= t.width(v[0]):
        return t.extract(v[0], low + w - 1, low)
    return t.zext(t.extract(v[0], t.width(v[0]) - 1, low), w)


def _boolean(build: Build) -> Rule:
    return lambda t, w, v: t.flag(build(t, t.condition(v[0]), t.condition(v[1])), w)


def _float_result(kind: Kind) -> Rule:
    return lambda t, w, v: floats.result(t, kind, w, v)


_RULES: dict[Kind, Rule] = {
    **{kind: _float_result(kind) for kind in FLOAT_RULES},
    Kind.FLOAT_EQUAL: _comparison(floats.equal),
    Kind.FLOAT_LESS: _comparison(floats.less),
    Kind.FLOAT_LESSEQUAL: _comparison(floats.less_or_equal),
    Kind.FLOAT_NAN: lambda t, w, v: t.flag(floats.is_nan_term(t, v[0]), w),
    Kind.COPY: lambda t, w, v: v[0],
    Kind.SELECT: lambda t, w, v: t.ite(t.condition(v[0]), v[1], v[2]),
    Kind.INT_EQUAL: _comparison(Terms.eq),
    Kind.INT_NOTEQUAL: lambda t, w, v: t.flag(t.negate(t.eq(v[0], v[1])), w),
    Kind.INT_LESS: _comparison(Terms.ult),
    Kind.INT_LESSEQUAL: _comparison(Terms.ule),
    Kind.INT_SLESS: _comparison(Terms.slt),
    Kind.INT_SLESSEQUAL: _comparison(Terms.sle),
    Kind.INT_ZEXT: lambda t, w, v: t.zext(v[0], w),
    Kind.INT_SEXT: lambda t, w, v: t.sext(v[0], w),
    Kind.INT_ADD: _plain(Terms.add),
    Kind.INT_SUB: _plain(Terms.sub),
    Kind.INT_CARRY: _carry,
    Kind.INT_SCARRY: _signed_carry,
    Kind.INT_SBORROW: _signed_borrow,
    Kind.INT_2COMP: lambda t, w, v: t.neg(v[0]),
    Kind.INT_NEGATE: lambda t, w, v: t.not_(v[0]),
    Kind.INT_XOR: _plain(Terms.xor_),
    Kind.INT_AND: _plain(Terms.and_),
    Kind.INT_OR: _plain(Terms.or_),
    Kind.INT_LEFT: _plain(Terms.shl),
    Kind.INT_RIGHT: _plain(Terms.lshr),
    Kind.INT_SRIGHT: _plain(Terms.ashr),
    Kind.INT_MULT: _plain(Terms.mul),
    Kind.INT_DIV: _plain(Terms.udiv),
    Kind.INT_REM: _plain(Terms.urem),
    Kind.INT_SDIV: _plain(Terms.sdiv),
    Kind.INT_SREM: _plain(Terms.srem),
    Kind.BOOL_NEGATE: lambda t, w, v: t.flag(t.negate(t.condition(v[0])), w),
    Kind.BOOL_XOR: _boolean(Terms.exclusive),
    Kind.BOOL_AND: _boolean(Terms.conj),
    Kind.BOOL_OR: _boolean(Terms.disj),
    Kind.PIECE: _plain(Terms.concat),
    Kind.SUBPIECE: _subpiece,
    Kind.POPCOUNT: lambda t, w, v: t.popcount(v[0], w),
    Kind.LZCOUNT: lambda t, w, v: t.lzcount(v[0], w),
}
