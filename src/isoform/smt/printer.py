"""Terms as SMT-LIB 2 text that a person can follow.

Inputs keep their names; a term that is used more than once, or that would nest deeply, is defined under a name of its
own (`t1`, `t2`, …) before it is used. Nothing recurses. The library's own printer is not used: it nests everything in
one `let` and ends the process on a symbol it cannot write.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bitwuzla import Kind, Sort, Term

from isoform.model.errors import Unsupported

_NESTING = 8
"""Nested operators in one line; beyond that a term gets a name."""
_SIMPLE_SYMBOL = re.compile(r"[A-Za-z~!@$%^&*_+=<>.?/-][A-Za-z0-9~!@$%^&*_+=<>.?/-]*")
_TAKEN = re.compile(r"(bv|fp|to_fp|re\.|str\.|seq\.|RN|RT|round).*")
"""Names that solvers use for operators of their own."""

_OPERATORS: dict[Kind, str] = {
    Kind.AND: "and",
    Kind.OR: "or",
    Kind.NOT: "not",
    Kind.XOR: "xor",
    Kind.IMPLIES: "=>",
    Kind.IFF: "=",
    Kind.EQUAL: "=",
    Kind.DISTINCT: "distinct",
    Kind.ITE: "ite",
    Kind.ARRAY_SELECT: "select",
    Kind.ARRAY_STORE: "store",
    Kind.BV_ADD: "bvadd",
    Kind.BV_SUB: "bvsub",
    Kind.BV_MUL: "bvmul",
    Kind.BV_NEG: "bvneg",
    Kind.BV_NOT: "bvnot",
    Kind.BV_AND: "bvand",
    Kind.BV_OR: "bvor",
    Kind.BV_XOR: "bvxor",
    Kind.BV_NAND: "bvnand",
    Kind.BV_NOR: "bvnor",
    Kind.BV_XNOR: "bvxnor",
    Kind.BV_SHL: "bvshl",
    Kind.BV_SHR: "bvlshr",
    Kind.BV_ASHR: "bvashr",
    Kind.BV_UDIV: "bvudiv",
    Kind.BV_UREM: "bvurem",
    Kind.BV_SDIV: "bvsdiv",
    Kind.BV_SREM: "bvsrem",
    Kind.BV_SMOD: "bvsmod",
    Kind.BV_CONCAT: "concat",
    Kind.BV_COMP: "bvcomp",
    Kind.BV_ULT: "bvult",
    Kind.BV_ULE: "bvule",
    Kind.BV_UGT: "bvugt",
    Kind.BV_UGE: "bvuge",
    Kind.BV_SLT: "bvslt",
    Kind.BV_SLE: "bvsle",
    Kind.BV_SGT: "bvsgt",
    Kind.BV_SGE: "bvsge",
    Kind.BV_UADD_OVERFLOW: "bvuaddo",
    Kind.BV_SADD_OVERFLOW: "bvsaddo",
    Kind.BV_USUB_OVERFLOW: "bvusubo",
    Kind.BV_SSUB_OVERFLOW: "bvssubo",
    Kind.BV_UMUL_OVERFLOW: "bvumulo",
    Kind.BV_SMUL_OVERFLOW: "bvsmulo",
    Kind.BV_SDIV_OVERFLOW: "bvsdivo",
    Kind.BV_NEG_OVERFLOW: "bvnego",
    Kind.BV_EXTRACT: "extract",
    Kind.BV_ZERO_EXTEND: "zero_extend",
    Kind.BV_SIGN_EXTEND: "sign_extend",
    Kind.BV_REPEAT: "repeat",
    Kind.BV_ROLI: "rotate_left",
    Kind.BV_RORI: "rotate_right",
    Kind.FP_ABS: "fp.abs",
    Kind.FP_ADD: "fp.add",
    Kind.FP_DIV: "fp.div",
    Kind.FP_EQUAL: "fp.eq",
    Kind.FP_FMA: "fp.fma",
    Kind.FP_FP: "fp",
    Kind.FP_GEQ: "fp.geq",
    Kind.FP_GT: "fp.gt",
    Kind.FP_IS_INF: "fp.isInfinite",
    Kind.FP_IS_NAN: "fp.isNaN",
    Kind.FP_IS_NEG: "fp.isNegative",
    Kind.FP_IS_NORMAL: "fp.isNormal",
    Kind.FP_IS_POS: "fp.isPositive",
    Kind.FP_IS_SUBNORMAL: "fp.isSubnormal",
    Kind.FP_IS_ZERO: "fp.isZero",
    Kind.FP_LEQ: "fp.leq",
    Kind.FP_LT: "fp.lt",
    Kind.FP_MAX: "fp.max",
    Kind.FP_MIN: "fp.min",
    Kind.FP_MUL: "fp.mul",
    Kind.FP_NEG: "fp.neg",
    Kind.FP_REM: "fp.rem",
    Kind.FP_RTI: "fp.roundToIntegral",
    Kind.FP_SQRT: "fp.sqrt",
    Kind.FP_SUB: "fp.sub",
    Kind.FP_TO_FP_FROM_BV: "to_fp",
    Kind.FP_TO_FP_FROM_FP: "to_fp",
    Kind.FP_TO_FP_FROM_SBV: "to_fp",
    Kind.FP_TO_FP_FROM_UBV: "to_fp_unsigned",
    Kind.FP_TO_SBV: "fp.to_sbv",
    Kind.FP_TO_UBV: "fp.to_ubv",
}
_RESERVED = frozenset(_OPERATORS.values()) | frozenset(
    (
        "true",
        "false",
        "let",
        "forall",
        "exists",
        "lambda",
        "match",
        "as",
        "par",
        "_",
        "!",
        "const",
        "assert",
        "check-sat",
    )
)


def formula_lines(
    assertions: Sequence[tuple[str, Term]],
    equations: Sequence[tuple[str, Term, Term]] = (),
    inequations: Sequence[tuple[str, Term, Term]] = (),
) -> list[str]:
    """Logic, declarations, definitions and named assertions, one command a line. An equation (label, left, right) is
    the assertion that the two are equal, an inequation that they are not. Labels are made unique."""
    return _Formula(
        [
            *(_Assertion(label, "", (term,)) for label, term in assertions),
            *(_Assertion(label, "distinct", (left, right)) for label, left, right in inequations),
            *(_Assertion(label, "=", (left, right)) for label, left, right in equations),
        ]
    ).lines()


class _Assertion(NamedTuple):
    label: str
    operator: str
    """Over the terms; none if there is just one."""
    terms: tuple[Term, ...]


def sort_text(sort: Sort) -> str:
    if sort.is_bool():
        return "Bool"
    if sort.is_bv():
        return f"(_ BitVec {sort.bv_size()})"
    if sort.is_array():
        return f"(Array {sort_text(sort.array_index())} {sort_text(sort.array_element())})"
    if sort.is_fp():
        return f"(_ FloatingPoint {sort.fp_exp_size()} {sort.fp_sig_size()})"
    if sort.is_rm():
        return "RoundingMode"
    raise Unsupported("a certificate cannot hold a term of this sort")


class _Formula:
    def __init__(self, assertions: Sequence[_Assertion]) -> None:
        self._assertions = assertions
        self._texts: dict[int, str] = {}
        self._depths: dict[int, int] = {}
        self._uses: Counter[int] = Counter()
        self._names: set[str] = set()
        self._declarations: list[str] = []
        self._definitions: list[str] = []
        self._theories: set[str] = set()
        self._defined = 0

    def lines(self) -> list[str]:
        terms = list(self._operands_first())
        # All inputs are named before any definition, so that t1 the parameter is never taken for t1 the definition.
        for term in terms:
            self._note_sort(term.sort())
            if term.is_const():
                self._declare(term)
        labels = [self._claim(assertion.label) for assertion in self._assertions]
        for term in terms:
            if not term.is_const():
                self._write(term)
        written = zip(labels, self._assertions, strict=True)
        asserted = [f"(assert (! {self._text(assertion)} :named {label}))" for label, assertion in written]
        return [f"(set-logic {self._logic()})", *self._declarations, *self._definitions, *asserted]

    def _text(self, assertion: _Assertion) -> str:
        text = " ".join(self._texts[term.id()] for term in assertion.terms)
        return f"({assertion.operator} {text})" if assertion.operator else text

    def _operands_first(self) -> Iterator[Term]:
        seen: set[int] = set()
        stack = [term for assertion in reversed(self._assertions) for term in reversed(assertion.terms)]
        self._uses.update(term.id() for term in stack)
        while stack:
            term = stack[-1]
            if term.id() in seen:
                stack.pop()
                continue
            children = term.children()
            waiting = [child for child in children if child.id() not in seen]
            if waiting:
                stack.extend(reversed(waiting))
                continue
            stack.pop()
            seen.add(term.id())
            self._uses.update(child.id() for child in children)
            yield term

    def _note_sort(self, sort: Sort) -> None:
        if sort.is_array():
            self._theories.add("A")
        elif sort.is_fun():
            self._theories.add("UF")
        elif sort.is_fp() or sort.is_rm():
            self._theories.add("FP")

    def _logic(self) -> str:
        theories = self._theories
        if "FP" in theories:
            return "ALL" if "UF" in theories else f"QF_{'A' if 'A' in theories else ''}BVFP"
        return f"QF_{'A' if 'A' in theories else ''}{'UF' if 'UF' in theories else ''}BV"

    def _declare(self, term: Term) -> None:
        name = self._claim(term.symbol() or "unnamed")
        self._texts[term.id()] = name
        self._depths[term.id()] = 0
        sort = term.sort()
        if sort.is_fun():
            domain = " ".join(map(sort_text, sort.fun_domain()))
            self._declarations.append(f"(declare-fun {name} ({domain}) {sort_text(sort.fun_codomain())})")
        else:
            self._declarations.append(f"(declare-const {name} {sort_text(sort)})")

    def _claim(self, wanted: str) -> str:
        """A symbol that nothing else has: two different inputs of the same name must stay different."""
        plain = re.sub(r"[|\\]|[^ -~]", "_", wanted) or "unnamed"
        if plain in _RESERVED or _TAKEN.fullmatch(plain):
            plain += "!"
        name, count = plain, 1
        while name in self._names:
            count += 1
            name = f"{plain}!{count}"
        self._names.add(name)
        return name if _SIMPLE_SYMBOL.fullmatch(name) else f"|{name}|"

    def _write(self, term: Term) -> None:
        number, children = term.id(), term.children()
        if term.is_value():
            self._texts[number], self._depths[number] = _value_text(term), 0
            return
        text = _application_text(term, [self._texts[child.id()] for child in children])
        depth = 1 + max(self._depths[child.id()] for child in children)
        if self._uses[number] > 1 or depth >= _NESTING:
            text, depth = self._define(term, text), 0
        self._texts[number], self._depths[number] = text, depth

    def _define(self, term: Term, text: str) -> str:
        self._defined += 1
        while f"t{self._defined}" in self._names:
            self._defined += 1
        name = f"t{self._defined}"
        self._definitions.append(f"(define-fun {name} () {sort_text(term.sort())} {text})")
        return name


def _value_text(term: Term) -> str:
    sort = term.sort()
    if not sort.is_bv():
        return str(term)
    width, value = sort.bv_size(), int(term.value(10))
    return f"#x{value:0{width // 4}x}" if width % 4 == 0 else f"#b{value:0{width}b}"


def _application_text(term: Term, operands: list[str]) -> str:
    kind = term.kind()
    joined = " ".join(operands)
    if kind is Kind.APPLY:
        return f"({joined})"
    if kind is Kind.CONST_ARRAY:
        return f"((as const {sort_text(term.sort())}) {joined})"
    if kind in (Kind.BV_INC, Kind.BV_DEC):
        return f"({'bvadd' if kind is Kind.BV_INC else 'bvsub'} {joined} (_ bv1 {term.sort().bv_size()}))"
    if kind in (Kind.BV_REDAND, Kind.BV_REDOR):
        width = term[0].sort().bv_size()
        if kind is Kind.BV_REDAND:
            return f"(bvcomp {joined} (_ bv{(1 << width) - 1} {width}))"
        return f"(bvnot (bvcomp {joined} (_ bv0 {width})))"
    operator = _OPERATORS.get(kind)
    if operator is None:
        raise Unsupported(f"a certificate cannot hold the operator {kind.name}")
    indices = term.indices()
    head = f"(_ {operator} {' '.join(map(str, indices))})" if indices else operator
    return f"({head} {joined})"
