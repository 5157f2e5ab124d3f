"""The meaning of the floating-point functions in formulas, in the SMT theory of floating point (see `floats.py`).

A definition is total: for all operands exactly one result satisfies it (a float is its bit pattern except for NaNs, and
the definition names the NaN that is meant). So asserting definitions excludes no input. Leaving them out only admits
more: a formula that is unsatisfiable without them is unsatisfiable with them. Only a model needs all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bitwuzla import Kind as K  # noqa: N817 (as in terms.py)
from bitwuzla import RoundingMode, TermManager

from isoform.model.evaluate_floats import canonical_nan, to_bits
from isoform.model.microop import ROUNDING_MODES, Kind
from isoform.smt.floats import FloatOperation, operation_of
from isoform.smt.terms import Term, Terms

_FORMATS = {4: (8, 24), 8: (11, 53)}
"""Bits of the exponent and of the significand."""
_MODES = {
    "nearest": RoundingMode.RNE,
    "down": RoundingMode.RTN,
    "up": RoundingMode.RTP,
    "zero": RoundingMode.RTZ,
}


def definitions(t: Terms, roots: Iterable[Term]) -> list[Term]:
    """What every application in these terms stands for."""
    if not t.uses_floats:
        return []
    found = []
    for term in _operands_first(roots):
        operation = operation_of(term)
        if operation is not None:
            found.append(_Definition(t.manager, operation, term, term.children()[1:]).formula())
    return found


def without_functions(t: Terms, roots: Sequence[Term]) -> tuple[list[Term], list[Term]]:
    """The same terms with a constant for each application, and the definitions of those constants. Solvers are faster
    without functions, and nothing is lost: that equal operands give equal results follows from the definitions."""
    made: dict[Term, Term] = {}
    found: list[Term] = []
    for term in _operands_first(roots):
        operands = [made[child] for child in term.children()]
        operation = operation_of(term)
        if operation is None:
            made[term] = _over(t, term, operands)
            continue
        made[term] = t.manager.mk_const(term.sort(), f"{operation.name}_{len(found) + 1}")
        found.append(_Definition(t.manager, operation, made[term], operands[1:]).formula())
    return [made[root] for root in roots], found


def _over(t: Terms, term: Term, operands: list[Term]) -> Term:
    if operands == term.children():
        return term
    indices = term.indices()
    return t.manager.mk_term(term.kind(), operands, indices) if indices else t.manager.mk_term(term.kind(), operands)


def _operands_first(roots: Iterable[Term]) -> Iterator[Term]:
    seen: set[Term] = set()
    pending = [(root, False) for root in roots]
    while pending:
        term, ready = pending.pop()
        if ready:
            yield term
        elif term not in seen:
            seen.add(term)
            pending.append((term, True))
            pending += [(child, False) for child in term.children() if child not in seen]


class _Definition:
    def __init__(self, manager: TermManager, operation: FloatOperation, term: Term, operands: Sequence[Term]) -> None:
        self._manager = manager
        self._operation = operation
        self._term = term
        self._operands = operands

    def formula(self) -> Term:
        kind = self._operation.kind
        if kind is Kind.FLOAT_TO_INT:
            return self._integer("zero")
        if kind is Kind.FLOAT_ROUND_TO_INT:
            return self._integer("nearest")
        return self._float(self._number())

    def _number(self) -> Term:
        """The result as a float."""
        operation, mode = self._operation, self._mode("nearest")
        match operation.kind:
            case Kind.FLOAT_FROM_INT:
                exponent, significand = _FORMATS[operation.out]
                return self._make(K.FP_TO_FP_FROM_SBV, mode, self._operands[0], indices=[exponent, significand])
            case Kind.FLOAT_FROM_FLOAT:
                exponent, significand = _FORMATS[operation.out]
                return self._make(K.FP_TO_FP_FROM_FP, mode, self._operand(0), indices=[exponent, significand])
            case Kind.FLOAT_SQRT:
                return self._make(K.FP_SQRT, mode, self._operand(0))
            case Kind.FLOAT_ROUND:
                return self._make(K.FP_RTI, self._mode(ROUNDING_MODES[operation.constants[0]]), self._operand(0))
        operator = {Kind.FLOAT_ADD: K.FP_ADD, Kind.FLOAT_MUL: K.FP_MUL, Kind.FLOAT_DIV: K.FP_DIV}[operation.kind]
        return self._make(operator, mode, self._operand(0), self._operand(1))

    def _float(self, number: Term) -> Term:
        """Equality of floats distinguishes zeros and holds between NaNs: which NaN it is is stated separately."""
        size = self._operation.out
        is_result = self._make(K.EQUAL, self._as_float(self._term, size), number)
        nan = self._manager.mk_bv_value(self._manager.mk_bv_sort(8 * size), canonical_nan(size))
        is_canonical = self._make(K.EQUAL, self._term, nan)
        return self._make(K.AND, is_result, self._make(K.IMPLIES, self._make(K.FP_IS_NAN, number), is_canonical))

    def _integer(self, mode: str) -> Term:
        size, bits = self._operation.sizes[0], 8 * self._operation.out
        whole = self._make(K.FP_RTI, self._mode(mode), self._operand(0))
        low, high = (self._constant(sign * 2.0 ** (bits - 1), size) for sign in (-1, 1))
        fits = self._make(K.AND, self._make(K.FP_LEQ, low, whole), self._make(K.FP_LT, whole, high))
        inside = self._make(K.FP_TO_SBV, self._mode(mode), whole, indices=[bits])
        outside = self._manager.mk_bv_value(self._manager.mk_bv_sort(bits), 1 << (bits - 1))
        return self._make(K.EQUAL, self._term, self._make(K.ITE, fits, inside, outside))

    def _operand(self, number: int) -> Term:
        return self._as_float(self._operands[number], self._operation.sizes[number])

    def _constant(self, number: float, size: int) -> Term:
        bits = self._manager.mk_bv_value(self._manager.mk_bv_sort(8 * size), to_bits(number, size))
        return self._as_float(bits, size)

    def _as_float(self, bits: Term, size: int) -> Term:
        return self._make(K.FP_TO_FP_FROM_BV, bits, indices=list(_FORMATS[size]))

    def _mode(self, name: str) -> Term:
        return self._manager.mk_rm_value(_MODES[name])

    def _make(self, kind: K, *operands: Term, indices: Sequence[int] = ()) -> Term:
        if indices:
            return self._manager.mk_term(kind, list(operands), list(indices))
        return self._manager.mk_term(kind, list(operands))
