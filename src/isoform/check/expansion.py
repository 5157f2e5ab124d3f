"""Verifies that two bit-vector terms are the same polynomial modulo 2^width, by expanding both.

Part of the trusted base: it reads SMT-LIB text, shares no code with `smt/`, and knows only these facts. All
operands below have been expanded already; an *atom* is a term that is no arithmetic, with its operands expanded.

- `bvadd`, `bvsub`, `bvneg`, `bvmul` are ring operations modulo 2^w; `bvnot x` is -x-1; `bvshl x c` and `concat x 0…0`
  multiply by a power of two.
- The low k bits of a polynomial are the polynomial over the low k bits of its atoms (a homomorphism of rings).
- A polynomial whose value over the integers lies in the numbers of its width may be computed at a larger width.
- A product of k consecutive integers is divisible by k!, so certain polynomials vanish modulo 2^w.
- Of n-bit words 2^n times (1 if x < y, else 0) is (x - y mod 2^n) - x + y over the integers, and w-bit numbers are
  equal if 2^w times them are equal modulo 2^2w.
- Two words are equal if their difference is 0: always if it is that, and never if it is another constant.
- A choice between two words is the second plus, under the condition, their difference; a mask is such a choice between
  -1 and 0, and extending or cutting off 0 gives 0.
- The greatest of several words does not depend on the order in which they are compared, nor does the least.
- Bitwise operators are the same if they are so for single bits (`bit_functions.py`).

Two terms are equal if they have the same expansion. The converse is not claimed: False only means "not shown".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod

from isoform.check.bit_functions import BitFunctions
from isoform.check.smtlib import Node, Script, Terms, read_term, s_expressions
from isoform.check.sorts import BOOL, ReadError, Sort, bit_vector

Monomial = tuple[int, ...]
"""Sorted numbers of atoms, repeated for powers."""
Polynomial = dict[Monomial, int]
Interval = tuple[int, int]

_POLYNOMIAL, _EXTREME = "a polynomial", "an extreme"
_COMPARISONS = {
    f"bv{sign}{relation}": (sign, relation[0] == "g") for sign in "su" for relation in ("lt", "le", "gt", "ge")
}
"""Signed or not, and whether the right operand is compared with the left one."""
_WORK = 200_000
"""Products of monomials computed for one lemma; beyond it, or beyond this degree, a term is no arithmetic."""
_DEGREE = 64


class _TooMuchWorkError(Exception):
    pass


def verify_lemma(
    left: str, right: str, declarations: Mapping[str, int], definitions: Mapping[str, str] | None = None
) -> bool:
    """Whether two terms in SMT-LIB text are shown equal for all values of the declared constants. `declarations` has
    their widths; `definitions` has terms by name, in an order in which each uses only earlier ones."""
    script = Script()
    try:
        for name, width in declarations.items():
            script.declare(name, bit_vector(width))
        for name, text in (definitions or {}).items():
            script.name(name, _only_term(text, script))
        return verify_equal(script.terms, _only_term(left, script), _only_term(right, script))
    except ReadError:
        return False


def _only_term(text: str, script: Script) -> int:
    expressions = list(s_expressions(text))
    if len(expressions) != 1:
        raise ReadError("contains more or less than one term")
    return read_term(expressions[0], script)


def verify_equation(terms: Terms, number: int) -> bool:
    """Whether the term with this number is an equation `(= left right)` that is shown."""
    node = terms.nodes[number]
    return node.operator == "=" and len(node.operands) == 2 and verify_equal(terms, *node.operands)


def verify_equal(terms: Terms, left: int, right: int) -> bool:
    if terms.width(left) is None or terms.width(left) != terms.width(right):
        return False
    expander = _Expander(terms)
    try:
        return expander.expand(left) == expander.expand(right)
    except RecursionError:
        return False


def unified(terms: Terms, roots: Sequence[int]) -> list[int]:
    """The same formulas, with subterms of the same expansion made one and the same term: the first of them."""
    expander = _Expander(terms)
    first: dict[tuple[int, Sort], int] = {}
    became: dict[int, int] = {}
    try:
        for number in terms.operands_first(roots):
            node, sort = terms.nodes[number], terms.sorts[number]
            rebuilt = terms.intern(node._replace(operands=tuple(became[o] for o in node.operands)), sort)
            became[number] = first.setdefault((expander.expand(number), sort), rebuilt)
    except RecursionError:
        return list(roots)
    return [became[root] for root in roots]


class _Expander:
    """Gives every term a number such that equal numbers mean equal values."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._expanded: dict[int, int] = {}
        self._meanings: dict[int, Polynomial] = {}
        self._intervals: dict[int, tuple[Interval, Interval]] = {}
        self._bits = BitFunctions()
        self._carrying: dict[object, int] = {}
        """The first number for each sum with carries in it."""
        self._work = 0

    def expand(self, root: int) -> int:
        if root not in self._expanded:
            for number in self._terms.operands_first([root], self._expanded):
                self._expanded[number] = self._expand_one(number)
        return self._expanded[root]

    def _expand_one(self, number: int) -> int:
        node = self._terms.nodes[number]
        operands = tuple(self._expanded[operand] for operand in node.operands)
        width = self._terms.width(number)
        if width is not None and node.operator == "ite":
            chosen = self._choice(operands, width)
            if chosen is not None:
                return chosen
        if width is not None and all(self._terms.width(operand) is not None for operand in operands):
            try:
                arithmetic = self._arithmetic(node, operands, width)
            except _TooMuchWorkError:
                arithmetic = None
            if arithmetic is not None:
                return arithmetic
        if node.operator == "=" and len(operands) == 2 and self._terms.width(operands[0]) is not None:
            operands = self._equation(operands)
            difference = self._constant(operands[0]) if self._constant(operands[1]) == 0 else None
            if difference is not None:
                return self._terms.intern(Node("false" if difference else "true", (), ()), BOOL)
        interned = self._terms.intern(node._replace(operands=operands), self._terms.sorts[number])
        if width is None:
            return interned
        interned = self._bits.same_as(node.operator, operands, interned, width)
        always = self._bits.always(interned)
        return interned if always is None else self._number({(): -always}, width)

    def _arithmetic(self, node: Node, operands: tuple[int, ...], width: int) -> int | None:
        polynomials = [self._polynomial(operand) for operand in operands]
        match node.operator, operands:
            case "bvadd", (_, *_):
                return self._number(self._sum(polynomials, width), width)
            case "bvsub", (_, *_):
                rest = [_times(p, -1) for p in polynomials[1:]]
                return self._number(self._sum([polynomials[0], *rest], width), width)
            case "bvmul", (_, *_):
                return self._number(self._product(polynomials, width), width)
            case "bvneg", (_,):
                return self._number(_times(polynomials[0], -1), width)
            case "bvnot", (operand,):
                number = self._number(self._sum([_times(polynomials[0], -1), {(): -1}], width), width)
                self._bits.note_complement(number, operand)
                return number
            case "bvshl", (_, count):
                return self._shifted(polynomials[0], self._constant(count), width)
            case "bvand", (left, right):
                masked = self._masked(left, right, width)
                masked = self._masked(right, left, width) if masked is None else masked
                return self._with_mask(node.operator, operands, width) if masked is None else masked
            case "bvor" | "bvxor", _:
                return self._with_mask(node.operator, operands, width)
            case "concat", (upper, lower):
                return self._concatenated(upper, lower, width)
            case "extract", (operand,) if node.indices[1] == 0:
                return self._low_bits(operand, width)
            case "zero_extend", (operand,):
                return self._extended(operand, width, signed=False)
            case "sign_extend", (operand,):
                return self._extended(operand, width, signed=True)
        return None

    def _equation(self, operands: tuple[int, ...]) -> tuple[int, ...]:
        """Two words are equal if their difference is 0, whichever of them is subtracted."""
        width = self._width(operands[0])
        left, right = (self._polynomial(operand) for operand in operands)
        try:
            difference = self._sum([left, _times(right, -1)], width)
        except _TooMuchWorkError:
            return tuple(sorted(operands))
        one_way, other_way = self._number(difference, width), self._number(_times(difference, -1), width)
        return min(one_way, other_way), self._number({}, width)

    def _choice(self, operands: tuple[int, ...], width: int) -> int | None:
        """One of two words: the greater or lesser of them, or the second plus their difference under the condition, if
        that difference is a constant and at most one multiple of an atom."""
        found = self._extreme(operands, width)
        if found is not None or width == 1:
            return found
        condition, then, otherwise = operands
        if self._terms.nodes[condition].operator == "not":
            condition, then, otherwise = self._terms.nodes[condition].operands[0], otherwise, then
        second = self._polynomial(otherwise)
        try:
            difference = self._sum([self._polynomial(then), _times(second, -1)], width)
        except _TooMuchWorkError:
            return None
        if sum(map(len, difference)) > 1:
            return None
        under: Polynomial = {
            (self._under(condition, monomial, width),): coefficient for monomial, coefficient in difference.items()
        }
        return self._number(self._sum([second, under], width), width)

    def _under(self, condition: int, monomial: Monomial, width: int) -> int:
        """What a condition makes of an atom, or of 1: that, or else 0."""
        one, zero = (self._number({(): value}, width) for value in (1, 0))
        operands = condition, monomial[0] if monomial else one, zero
        found = self._extreme(operands, width)
        return self._terms.intern(Node("ite", (), operands), bit_vector(width)) if found is None else found

    def _with_mask(self, operator: str, operands: tuple[int, ...], width: int) -> int | None:
        """A bitwise operator one of whose operands is -1 under some condition and else 0: the other is left, or becomes
        0, -1 or its complement."""
        for mask, word in (operands, operands[::-1]) if len(operands) == 2 and width > 1 else ():
            condition = self._all_ones_if(mask, width)
            if condition is None:
                continue
            zero, ones = (self._number({(): value}, width) for value in (0, -1))
            if operator == "bvand":
                return self._choice((condition, word, zero), width)
            if operator == "bvor":
                return self._choice((condition, ones, word), width)
            inverted = self._number(self._sum([_times(self._polynomial(word), -1), {(): -1}], width), width)
            return self._choice((condition, inverted, word), width)
        return None

    def _all_ones_if(self, mask: int, width: int) -> int | None:
        """The condition of a word that is -ite(c, 1, 0), which is c, or ite(c, 1, 0) - 1, which is not c."""
        polynomial = self._reduced(self._polynomial(mask), width)
        for monomial in polynomial:
            node = self._terms.nodes[monomial[0]] if len(monomial) == 1 else None
            if node is None or node.operator != "ite":
                continue
            if [self._constant(operand) for operand in node.operands[1:]] != [1, 0]:
                continue
            ones = (1 << width) - 1
            if polynomial == {monomial: ones}:
                return node.operands[0]
            if polynomial == {monomial: 1, (): ones}:
                return self._terms.intern(Node("not", (), (node.operands[0],)), self._terms.sorts[node.operands[0]])
        return None

    def _extreme(self, operands: tuple[int, ...], width: int) -> int | None:
        """The greater or lesser of two words, with the words of greater or lesser ones that it is made of: the order
        in which they are compared makes no difference."""
        condition, then, otherwise = operands
        compares = self._terms.nodes[condition]
        if compares.operator == "not":
            compares, then, otherwise = self._terms.nodes[compares.operands[0]], otherwise, then
        operator = _COMPARISONS.get(compares.operator)
        if operator is None or len(compares.operands) != 2:
            return None
        signedness, swapped = operator
        lesser, greater = compares.operands[::-1] if swapped else compares.operands
        if (then, otherwise) not in ((greater, lesser), (lesser, greater)):
            return None
        name = f"{_EXTREME} {signedness} {'greatest' if then == greater else 'least'}"
        words: set[int] = set()
        for operand in (then, otherwise):
            inner = self._terms.nodes[operand]
            words.update(inner.operands if inner.operator == name else (operand,))
        return self._terms.intern(Node(name, (), tuple(sorted(words))), bit_vector(width))

    # Polynomials and the numbers that stand for them.

    def _number(self, polynomial: Polynomial, width: int) -> int:
        kept = self._reduced(polynomial, width)
        if not kept or kept.keys() == {()}:
            return self._terms.intern(Node("value", (kept.get((), 0), width), ()), bit_vector(width))
        number = self._atom_or_polynomial(kept, width)
        try:
            words = self._words_of_carries(kept, width)
        except _TooMuchWorkError:
            words = None
        return number if words is None else self._carrying.setdefault((width, words), number)

    def _atom_or_polynomial(self, kept: Polynomial, width: int) -> int:
        if len(kept) == 1:
            ((monomial, coefficient),) = kept.items()
            if coefficient == 1 and len(monomial) == 1:
                return monomial[0]
        indices = tuple(repr(item) for item in sorted(kept.items()))
        atoms = tuple(sorted({atom for monomial in kept for atom in monomial}))
        number = self._terms.intern(Node(_POLYNOMIAL, indices, atoms), bit_vector(width))
        self._meanings[number] = kept
        return number

    def _words_of_carries(self, polynomial: Polynomial, width: int) -> object | None:
        """2^width times the polynomial with each comparison in it written as words: their multiples modulo 2^(2 width),
        by the word's width and polynomial, and what is no comparison as it is."""
        rest: Polynomial = {}
        words: Counter[tuple[int, tuple[tuple[Monomial, int], ...]]] = Counter()
        for monomial, coefficient in polynomial.items():
            compared = self._compared(monomial[0]) if len(monomial) == 1 else None
            if compared is None or self._width(compared[0]) > width:
                rest[monomial] = coefficient
                continue
            bits = self._width(compared[0])
            left, right = (self._polynomial(operand) for operand in compared)
            left, right = self._reduced(left, bits), self._reduced(right, bits)
            difference = self._sum([left, _times(right, -1)], bits)
            for word, sign in ((difference, 1), (left, -1), (right, 1)):
                words[bits, tuple(sorted(word.items()))] += sign * coefficient * (1 << (width - bits))
        if len(rest) == len(polynomial):
            return None
        left_over = {word: factor % (1 << 2 * width) for word, factor in words.items()}
        return tuple(sorted(rest.items())), tuple(sorted(item for item in left_over.items() if item[1]))

    def _compared(self, number: int) -> tuple[int, int] | None:
        """x and y, of a term that is 1 where x < y and else 0."""
        node = self._terms.nodes[number]
        if node.operator != "ite" or [self._constant(operand) for operand in node.operands[1:]] != [1, 0]:
            return None
        condition = self._terms.nodes[node.operands[0]]
        if condition.operator != "bvult" or len(condition.operands) != 2:
            return None
        return condition.operands[0], condition.operands[1]

    def _polynomial(self, number: int) -> Polynomial:
        value = self._constant(number)
        if value is not None:
            return {(): value}
        return self._meanings.get(number, {(number,): 1})

    def _constant(self, number: int) -> int | None:
        node = self._terms.nodes[number]
        return int(node.indices[0]) if node.operator == "value" else None

    def _sum(self, polynomials: list[Polynomial], width: int) -> Polynomial:
        total: Counter[Monomial] = Counter()
        for polynomial in polynomials:
            self._spend(len(polynomial))
            for monomial, coefficient in polynomial.items():
                total[monomial] += coefficient
        return self._reduced(total, width)

    def _product(self, polynomials: list[Polynomial], width: int) -> Polynomial:
        product: Polynomial = {(): 1}
        for polynomial in polynomials:
            self._spend(len(product) * len(polynomial))
            longer: Counter[Monomial] = Counter()
            for left, c in product.items():
                for right, d in polynomial.items():
                    if len(left) + len(right) > _DEGREE:
                        raise _TooMuchWorkError
                    longer[tuple(sorted(left + right))] += c * d
            product = self._reduced(longer, width)
        return product

    def _spend(self, work: int) -> None:
        self._work += work
        if self._work > _WORK:
            raise _TooMuchWorkError

    def _reduced(self, polynomial: Mapping[Monomial, int], width: int) -> Polynomial:
        """Coefficients modulo 2^width, and those of squares and higher powers modulo less.

        With 2^v the largest power of two that divides the product of k! over the powers x^k of a monomial, 2^(w-v)
        times the product of x(x-1)…(x-k+1) is 0 modulo 2^w. It begins with that monomial and else has lower ones only.
        """
        rest = Counter(polynomial)
        for monomial in sorted(polynomial, key=len, reverse=True):
            self._reduce_one(rest, monomial, width)
        if any(monomial not in polynomial for monomial in rest):
            return self._reduced(rest, width)
        return {monomial: c % (1 << width) for monomial, c in rest.items() if c % (1 << width)}

    def _reduce_one(self, rest: Counter[Monomial], monomial: Monomial, width: int) -> None:
        powers = Counter(monomial)
        if len(powers) == len(monomial):
            return
        twos = sum(k >> shift for k in powers.values() for shift in range(1, k.bit_length()))
        surplus = _centred(rest[monomial], width) - _centred(rest[monomial], max(0, width - twos))
        if surplus:
            self._spend(prod(power + 1 for power in powers.values()) * len(monomial))
            vanishing: dict[Monomial, int] = {(): surplus}
            for atom in monomial:
                vanishing = _next_factor(vanishing, atom)
            for lower, coefficient in vanishing.items():
                rest[lower] -= coefficient

    def _over(self, polynomial: Polynomial, change: Callable[[int], int], width: int) -> int:
        """The polynomial at another width, each atom replaced by what `change` makes of it."""
        parts = [
            self._product([{(): c}, *(self._polynomial(change(atom)) for atom in monomial)], width)
            for monomial, c in polynomial.items()
        ]
        return self._number(self._sum(parts, width), width)

    # Operators that are arithmetic only with certain operands.

    def _shifted(self, polynomial: Polynomial, count: int | None, width: int) -> int | None:
        if count is None:
            return None
        return self._number(_times(polynomial, 1 << count) if count < width else {}, width)

    def _masked(self, operand: int, mask: int, width: int) -> int | None:
        """x & (2^k - 1) is the low k bits of x."""
        value = self._constant(mask)
        if not value or value & (value + 1):
            return None
        return self._extended(self._low_bits(operand, value.bit_length()), width, signed=False)

    def _concatenated(self, upper: int, lower: int, width: int) -> int | None:
        if self._constant(lower) == 0:
            # Whatever is above the bits of `upper` is shifted out, so each atom may be extended in any way.
            wide = self._over(self._polynomial(upper), lambda atom: self._padded(atom, width), width)
            return self._number(_times(self._polynomial(wide), 1 << self._width(lower)), width)
        if self._constant(upper) == 0:
            return self._extended(lower, width, signed=False)
        return None

    def _padded(self, atom: int, width: int) -> int:
        node = self._terms.nodes[atom]
        if node.operator == "extract" and node.indices[1] == 0 and self._width(node.operands[0]) >= width:
            return self._low_bits(node.operands[0], width)
        return self._extended_atom(atom, width, signed=node.operator == "sign_extend")

    # Changes of width.

    def _width(self, number: int) -> int:
        width = self._terms.width(number)
        assert width is not None
        return width

    def _low_bits(self, number: int, width: int) -> int:
        """The low bits of an expanded term. Each step down goes to a narrower operand."""
        node = self._terms.nodes[number]
        if self._width(number) == width:
            return number
        if number in self._meanings or node.operator == "value":
            return self._over(self._polynomial(number), lambda atom: self._low_bits(atom, width), width)
        if node.operator in ("zero_extend", "sign_extend"):
            (inner,) = node.operands
            if width <= self._width(inner):
                return self._low_bits(inner, width)
            return self._extended_atom(inner, width, node.operator == "sign_extend")
        if node.operator == "concat" and len(node.operands) == 2:
            return self._low_bits_of_concat(*node.operands, width)
        if self._is_under_condition(number):
            return self._again_under(number, self._low_bits(node.operands[1], width))
        whole, low = (node.operands[0], int(node.indices[1])) if node.operator == "extract" else (number, 0)
        return self._terms.intern(Node("extract", (low + width - 1, low), (whole,)), bit_vector(width))

    def _low_bits_of_concat(self, upper: int, lower: int, width: int) -> int:
        if width <= self._width(lower):
            return self._low_bits(lower, width)
        rest = self._low_bits(upper, width - self._width(lower))
        if self._constant(rest) == 0:
            return self._extended(lower, width, signed=False)
        return self._terms.intern(Node("concat", (), (rest, lower)), bit_vector(width))

    def _extended(self, number: int, width: int, signed: bool) -> int:
        inner = self._width(number)
        if inner == width:
            return number
        polynomial = self._polynomial(number)
        for as_signed in (signed, not signed):
            bounds = self._integer_bounds(polynomial, inner, as_signed)
            shift = _shift_into(bounds, inner, signed)
            if shift is not None:
                # Over the integers polynomial + shift is the value of the term itself, so it may be computed anywhere.
                exact = {monomial: _centred(c, inner) for monomial, c in polynomial.items()}
                exact[()] = exact.get((), 0) + shift
                return self._computed_wider(exact, width, as_signed)
        return self._extended_atom(number, width, signed)

    def _computed_wider(self, exact: Polynomial, width: int, signed: bool) -> int:
        return self._over(exact, lambda atom: self._extended_atom(atom, width, signed), width)

    def _extended_atom(self, number: int, width: int, signed: bool) -> int:
        node = self._terms.nodes[number]
        value = self._constant(number)
        if value is not None:
            return self._number({(): _as_signed(value, self._width(number)) if signed else value}, width)
        if self._is_under_condition(number):
            return self._again_under(number, self._extended(node.operands[1], width, signed))
        unsigned_bounds, _ = self._bounds(number)
        if unsigned_bounds[1] >> (self._width(number) - 1) == 0:
            signed = False
        if node.operator == "zero_extend" or (node.operator == "sign_extend" and signed):
            (number,) = node.operands
            signed = node.operator == "sign_extend"
        operator = "sign_extend" if signed else "zero_extend"
        return self._terms.intern(Node(operator, (width - self._width(number),), (number,)), bit_vector(width))

    def _is_under_condition(self, number: int) -> bool:
        node = self._terms.nodes[number]
        return node.operator == "ite" and self._width(number) > 1 and self._constant(node.operands[2]) == 0

    def _again_under(self, number: int, word: int) -> int:
        """Of a word that is there only under a condition, what became of the word, under the same condition: whatever
        change of width it was, 0 stays 0."""
        condition, width = self._terms.nodes[number].operands[0], self._width(word)
        operands = condition, word, self._number({}, width)
        chosen = self._choice(operands, width)
        return self._terms.intern(Node("ite", (), operands), bit_vector(width)) if chosen is None else chosen

    # Bounds of a term's value, as an unsigned and as a signed number.

    def _integer_bounds(self, polynomial: Polynomial, width: int, signed: bool) -> Interval:
        low = high = 0
        for monomial, coefficient in polynomial.items():
            bounds = (_centred(coefficient, width),) * 2
            for atom, power in Counter(monomial).items():
                bounds = _corners(bounds, _power(self._bounds(atom)[signed], power))
            low, high = low + bounds[0], high + bounds[1]
        return low, high

    def _bounds(self, root: int) -> tuple[Interval, Interval]:
        stack = [root]
        while stack:
            number = stack[-1]
            waiting = [o for o in self._bounding_operands(number) if o not in self._intervals]
            if waiting and number not in self._intervals:
                stack.extend(waiting)
                continue
            stack.pop()
            if number not in self._intervals:
                self._intervals[number] = self._bounds_from_operands(number)
        return self._intervals[root]

    def _bounding_operands(self, number: int) -> Iterator[int]:
        node = self._terms.nodes[number]
        if number in self._meanings or node.operator in _BOUNDED:
            yield from (operand for operand in node.operands if self._terms.width(operand) is not None)

    def _bounds_from_operands(self, number: int) -> tuple[Interval, Interval]:
        node, width = self._terms.nodes[number], self._width(number)
        if number in self._meanings:
            candidates = [self._integer_bounds(self._meanings[number], width, signed) for signed in (False, True)]
        elif node.operator in _BOUNDED:
            candidates = list(self._candidates(node))
        else:
            candidates = []
        return _tightest(candidates, width, False), _tightest(candidates, width, True)

    def _candidates(self, node: Node) -> Iterator[Interval]:
        """Integer intervals that hold some number congruent to the term's value modulo 2^width."""
        operands = [o for o in node.operands if self._terms.width(o) is not None]
        unsigned, signed = ([self._intervals[o][which] for o in operands] for which in (0, 1))
        constant = self._constant(operands[1]) if len(operands) == 2 else None
        match node.operator:
            case "value":
                yield int(node.indices[0]), int(node.indices[0])
            case "zero_extend":
                yield unsigned[0]
            case "sign_extend":
                yield signed[0]
            case "bvand":
                yield 0, min(high for _, high in unsigned)
            case "bvor" | "bvxor":
                yield 0, (1 << max(high.bit_length() for _, high in unsigned)) - 1
            case "ite":
                yield _hull(unsigned)
                yield _hull(signed)
            case "bvlshr" if constant is not None:
                yield unsigned[0][0] >> constant, unsigned[0][1] >> constant
            case "bvashr" if constant is not None:
                yield signed[0][0] >> constant, signed[0][1] >> constant
            case "bvudiv" if constant:
                yield unsigned[0][0] // constant, unsigned[0][1] // constant
            case "bvurem" if constant:
                yield 0, constant - 1
            case "extract":
                low, high = (bound >> int(node.indices[1]) for bound in unsigned[0])
                if high >> (int(node.indices[0]) - int(node.indices[1]) + 1) == 0:
                    yield low, high
            case "concat" if len(operands) == 2:
                shift = self._width(operands[1])
                yield (unsigned[0][0] << shift) + unsigned[1][0], (unsigned[0][1] << shift) + unsigned[1][1]


_BOUNDED = frozenset(
    (
        *("value", "zero_extend", "sign_extend", "extract", "concat", "ite"),
        *("bvand", "bvor", "bvxor", "bvlshr", "bvashr", "bvudiv", "bvurem"),
    )
)


def _times(polynomial: Polynomial, factor: int) -> Polynomial:
    return {monomial: coefficient * factor for monomial, coefficient in polynomial.items()}


def _as_signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value


def _centred(coefficient: int, width: int) -> int:
    """The representative modulo 2^width in (-2^(width-1), 2^(width-1)]."""
    half = 1 << width >> 1
    return (coefficient + half - 1) % (1 << width) - half + 1 if width else 0


def _next_factor(product: dict[Monomial, int], atom: int) -> dict[Monomial, int]:
    """The product times (x - j), where x^j is the power of the atom x in it so far."""
    times = max(monomial.count(atom) for monomial in product)
    longer: Counter[Monomial] = Counter()
    for monomial, coefficient in product.items():
        longer[tuple(sorted((*monomial, atom)))] += coefficient
        longer[monomial] -= times * coefficient
    return dict(longer)


def _shift_into(bounds: Interval, width: int, signed: bool) -> int | None:
    """The multiple of 2^width that moves the interval into the unsigned or signed numbers of that width."""
    modulus = 1 << width
    first = -(modulus // 2) if signed else 0
    shift = (first - bounds[0] + modulus - 1) // modulus * modulus
    return shift if bounds[1] + shift < first + modulus else None


def _tightest(candidates: list[Interval], width: int, signed: bool) -> Interval:
    first = -(1 << (width - 1)) if signed else 0
    best = (first, first + (1 << width) - 1)
    for low, high in candidates:
        shift = _shift_into((low, high), width, signed)
        if shift is not None and high - low < best[1] - best[0]:
            best = low + shift, high + shift
    return best


def _hull(intervals: list[Interval]) -> Interval:
    return min(low for low, _ in intervals), max(high for _, high in intervals)


def _corners(left: Interval, right: Interval) -> Interval:
    corners = [a * b for a in left for b in right]
    return min(corners), max(corners)


def _power(bounds: Interval, power: int) -> Interval:
    low, high = sorted(bound**power for bound in bounds)
    return (0 if power % 2 == 0 and bounds[0] <= 0 <= bounds[1] else low), high
