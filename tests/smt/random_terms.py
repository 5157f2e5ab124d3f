"""Random bit-vector terms, for tests of the normal form and of its checker."""

from __future__ import annotations

import random
from collections.abc import Sequence

from bitwuzla import Bitwuzla, Kind, Option, Options, Term, TermManager

NAMES = "xyz"


class RandomTerms:
    def __init__(self, rng: random.Random, widths: Sequence[int]) -> None:
        self.rng = rng
        self.widths = widths
        self.manager = TermManager()
        self.inputs = {
            width: [self.manager.mk_const(self.manager.mk_bv_sort(width), f"{name}{width}") for name in NAMES]
            for width in widths
        }
        options = Options()
        options.set(Option.PRODUCE_MODELS, True)
        self._evaluator = Bitwuzla(self.manager, options)
        self._evaluator.check_sat()

    def declarations(self) -> dict[str, int]:
        return {f"{name}{width}": width for width in self.widths for name in NAMES}

    def value(self, value: int, width: int) -> Term:
        return self.manager.mk_bv_value(self.manager.mk_bv_sort(width), value % (1 << width))

    def make(self, kind: Kind, operands: Sequence[Term], indices: Sequence[int] = ()) -> Term:
        return self.manager.mk_term(kind, list(operands), list(indices))

    def point(self) -> dict[Term, Term]:
        """A value for every input, boundary values often."""
        return {term: self._boundary_value(width) for width, terms in self.inputs.items() for term in terms}

    def _boundary_value(self, width: int) -> Term:
        half, ones = 1 << (width - 1), (1 << width) - 1
        return self.value(self.rng.choice([self.rng.getrandbits(width), 0, 1, ones, half, half - 1, ones // 3]), width)

    def evaluate(self, term: Term, point: dict[Term, Term]) -> int:
        return int(self._evaluator.get_value(self.manager.substitute_term(term, point)).value(10))

    def term(self, width: int, depth: int) -> Term:
        rng = self.rng
        if depth == 0 or rng.random() < 0.1:
            return rng.choice(self.inputs[width]) if rng.random() < 0.7 else self._constant(width)
        return rng.choice(_MAKERS)(self, width, depth - 1)

    def _constant(self, width: int) -> Term:
        rng = self.rng
        interesting = [0, 1, 2, 3, 5, -1, -2, 1 << (width - 1), (1 << rng.randrange(width)) - 1, rng.getrandbits(width)]
        return self.value(rng.choice(interesting), width)

    def _arithmetic(self, width: int, depth: int) -> Term:
        kind = self.rng.choice([Kind.BV_ADD, Kind.BV_SUB, Kind.BV_MUL, Kind.BV_MUL])
        return self.make(kind, [self.term(width, depth), self.term(width, depth)])

    def _unary(self, width: int, depth: int) -> Term:
        kind = self.rng.choice([Kind.BV_NEG, Kind.BV_NOT, Kind.BV_INC, Kind.BV_DEC])
        return self.make(kind, [self.term(width, depth)])

    def _shift(self, width: int, depth: int) -> Term:
        kind = self.rng.choice([Kind.BV_SHL, Kind.BV_SHL, Kind.BV_SHR, Kind.BV_ASHR, Kind.BV_UDIV, Kind.BV_UREM])
        return self.make(kind, [self.term(width, depth), self.value(self.rng.randrange(width + 1), width)])

    def _mask(self, width: int, depth: int) -> Term:
        mask = self.value((1 << self.rng.randrange(1, width + 1)) - 1, width)
        return self.make(Kind.BV_AND, self.rng.sample([self.term(width, depth), mask], 2))

    def _bitwise(self, width: int, depth: int) -> Term:
        kind = self.rng.choice([Kind.BV_AND, Kind.BV_OR, Kind.BV_XOR])
        return self.make(kind, [self.term(width, depth), self.term(width, depth)])

    def _conditional(self, width: int, depth: int) -> Term:
        """A sum with a summand under a condition, written in one of the ways in which compilers do."""
        word, summand = self.term(width, depth), self.term(width, depth)
        compared = self.rng.sample(self.inputs[width], 2)
        condition = self.make(self.rng.choice([Kind.EQUAL, Kind.BV_ULT, Kind.BV_SLT]), compared)
        if self.rng.random() < 0.3:
            condition = self.make(Kind.NOT, [condition])
        mask = self.make(Kind.ITE, [condition, self.value(-1, width), self.value(0, width)])
        if self.rng.random() < 0.3:
            mask = self.make(Kind.BV_NOT, [mask])
        total = self.make(Kind.BV_ADD, [word, summand])
        return self.rng.choice(
            [
                self.make(Kind.ITE, self.rng.choice([[condition, total, word], [condition, word, total]])),
                self.make(Kind.BV_ADD, [word, self.make(Kind.BV_AND, self.rng.sample([mask, summand], 2))]),
                self.make(self.rng.choice([Kind.BV_OR, Kind.BV_XOR]), self.rng.sample([mask, word], 2)),
                self.make(Kind.BV_SUB, [word, mask]),
            ]
        )

    def _choice(self, width: int, depth: int) -> Term:
        condition = self.make(Kind.BV_ULT, [self.term(width, depth), self.term(width, depth)])
        return self.make(Kind.ITE, [condition, self.term(width, depth), self.term(width, depth)])

    def _extract(self, width: int, depth: int) -> Term:
        whole = self.rng.choice([w for w in self.widths if w >= width])
        low = self.rng.choice([0, 0, self.rng.randrange(whole - width + 1)])
        return self.make(Kind.BV_EXTRACT, [self.term(whole, depth)], [low + width - 1, low])

    def _extend(self, width: int, depth: int) -> Term:
        narrower = [w for w in self.widths if w < width]
        if not narrower:
            return self.term(width, depth)
        inner = self.rng.choice(narrower)
        kind = self.rng.choice([Kind.BV_ZERO_EXTEND, Kind.BV_SIGN_EXTEND])
        return self.make(kind, [self.term(inner, depth)], [width - inner])

    def _concat(self, width: int, depth: int) -> Term:
        narrower = [w for w in self.widths if w < width]
        if not narrower:
            return self.term(width, depth)
        inner = self.rng.choice(narrower)
        other = self.value(self.rng.choice([0, 0, self.rng.getrandbits(width - inner)]), width - inner)
        return self.make(Kind.BV_CONCAT, self.rng.sample([self.term(inner, depth), other], 2))


_MAKERS = [
    *[RandomTerms._arithmetic] * 8,
    *[RandomTerms._extend] * 3,
    *[RandomTerms._extract] * 2,
    RandomTerms._unary,
    RandomTerms._shift,
    RandomTerms._mask,
    RandomTerms._bitwise,
    RandomTerms._choice,
    *[RandomTerms._conditional] * 2,
    RandomTerms._concat,
]
