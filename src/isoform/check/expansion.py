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
  -1 and 0, and extending or cutting off 0 gives 0. Of two words of which always one is 0, `or` is a choice.
- The greatest of several words does not depend on the order in which they are compared, nor does the least.
- Bitwise operators are the same if they are so for single bits (`bit_functions.py`).

Two terms are equal if they have the same expansion. The converse is not claimed: False only means "not shown".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isoform.check.bit_functions import BitFunctions
from isoform.check.polynomials import Monomial, Polynomial, Polynomials, TooMuchWorkError, centred, shift_into, times
from isoform.check.smtlib import Node, ReadTerms, Script, read_term, s_expressions
from isoform.check.sorts import BOOL, ReadError, Sort, bit_vector

_EXTREME = "an extreme"
_COMPARISONS = {
    f"bv{sign}{relation}": (sign, relation[0] == "g") for sign in "su" for relation in ("lt", "le", "gt", "ge")
}
"""Signed or not, and whether the right operand is compared with the left one."""


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


def verify_equation(terms: ReadTerms, number: int) -> bool:
    """Whether the term with this number is an equation `(= left right)` that is shown."""
    node = terms.nodes[number]
    return node.operator == "=" and len(node.operands) == 2 and verify_equal(terms, *node.operands)


def verify_equal(terms: ReadTerms, left: int, right: int) -> bool:
    if terms.width(left) is None or terms.width(left) != terms.width(right):
        return False
    expander = _Expander(terms)
    try:
        return expander.expand(left) == expander.expand(right)
    except RecursionError:
        return False


def unified(terms: ReadTerms, roots: Sequence[int]) -> list[int]:
    """The same formulas, in which subterms with the same expansion are one term: the first of them."""
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


class _Expander(Polynomials):
    """Gives every term a number such that equal numbers mean equal values."""

    def __init__(self, terms: ReadTerms) -> None:
        super().__init__(terms)
        self._expanded: dict[int, int] = {}
        self._bits = BitFunctions()

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
            except TooMuchWorkError:
                arithmetic = None
            if arithmetic is not None:
                return arithmetic
        if node.operator == "=" and len(operands) == 2 and self._terms.width(operands[0]) is not None:
            operands = self._equation(operands)
            difference = self._constant(operands[0]) if self._constant(operands[1]) == 0 else None
            if difference is not None:
                return self._terms.intern(Node("false" if difference else "true", (), ()), BOOL)
        if node.operator == "ite" and self._terms.nodes[operands[0]].operator == "not":
            operands = self._terms.nodes[operands[0]].operands[0], operands[2], operands[1]
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
                rest = [times(p, -1) for p in polynomials[1:]]
                return self._number(self._sum([polynomials[0], *rest], width), width)
            case "bvmul", (_, *_):
                return self._number(self._product(polynomials, width), width)
            case "bvneg", (_,):
                return self._number(times(polynomials[0], -1), width)
            case "bvnot", (operand,):
                number = self._number(self._sum([times(polynomials[0], -1), {(): -1}], width), width)
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
            difference = self._sum([left, times(right, -1)], width)
        except TooMuchWorkError:
            return tuple(sorted(operands))
        one_way, other_way = self._number(difference, width), self._number(times(difference, -1), width)
        return min(one_way, other_way), self._number({}, width)

    def _choice(self, operands: tuple[int, ...], width: int) -> int | None:
        """One of two words: the greater or lesser of them; or, if their difference is a constant plus at most one
        multiple of an atom, the second plus the difference under the condition."""
        found = self._extreme(operands, width)
        if found is not None or width == 1:
            return found
        condition, then, otherwise = operands
        if self._terms.nodes[condition].operator == "not":
            condition, then, otherwise = self._terms.nodes[condition].operands[0], otherwise, then
        second = self._polynomial(otherwise)
        try:
            difference = self._sum([self._polynomial(then), times(second, -1)], width)
        except TooMuchWorkError:
            return None
        if sum(map(len, difference)) > 1:
            return None
        under: Polynomial = {
            (self._under(condition, monomial, width),): coefficient for monomial, coefficient in difference.items()
        }
        return self._number(self._sum([second, under], width), width)

    def _under(self, condition: int, monomial: Monomial, width: int) -> int:
        """An atom, or 1, under a condition: its value, or else 0."""
        one, zero = (self._number({(): value}, width) for value in (1, 0))
        operands = condition, monomial[0] if monomial else one, zero
        found = self._extreme(operands, width)
        return self._terms.intern(Node("ite", (), operands), bit_vector(width)) if found is None else found

    def _with_mask(self, operator: str, operands: tuple[int, ...], width: int) -> int | None:
        """A bitwise operator one of whose operands is -1 under some condition and else 0: the other operand is
        unchanged, or becomes 0, -1 or its complement."""
        for mask, word in (operands, operands[::-1]) if len(operands) == 2 and width > 1 else ():
            condition = self._all_ones_if(mask, width)
            if condition is None:
                continue
            if operator == "bvand":
                return self._only_under(condition, word, width)
            ones = self._number({(): -1}, width)
            if operator == "bvor":
                return self._choice((condition, ones, word), width)
            inverted = self._number(self._sum([times(self._polynomial(word), -1), {(): -1}], width), width)
            return self._choice((condition, inverted, word), width)
        return None if operator == "bvand" or len(operands) != 2 else self._either(operands, width)

    def _only_under(self, condition: int, word: int, width: int) -> int:
        """A word under a condition, else 0."""
        node = self._terms.nodes[condition]
        chosen = self._choice((condition, word, self._number({}, width)), width)
        if chosen is not None:
            return chosen
        if node.operator == "not":
            opposite = self._only_under(node.operands[0], word, width)
            rest = times(self._polynomial(opposite), -1)
            return self._number(self._sum([self._polynomial(word), rest], width), width)
        return self._terms.intern(Node("ite", (), (condition, word, self._number({}, width))), bit_vector(width))

    def _either(self, operands: tuple[int, ...], width: int) -> int | None:
        """`bvor` or `bvxor` of two words of which, by some condition, always one is 0: a choice between them."""
        atoms = [monomial[0] for monomial in self._polynomial(operands[0]) if len(monomial) == 1]
        for atom in filter(self._is_under_condition, atoms):
            condition = self._terms.nodes[atom].operands[0]
            then, otherwise = (
                [self._given(condition, holds, word, width) for word in operands] for holds in (True, False)
            )
            for kept, dropped in ((0, 1), (1, 0)):
                if self._constant(then[dropped]) == 0 and self._constant(otherwise[kept]) == 0:
                    chosen = condition, then[kept], otherwise[dropped]
                    found = self._choice(chosen, width)
                    return self._terms.intern(Node("ite", (), chosen), bit_vector(width)) if found is None else found
        return None

    def _given(self, condition: int, holds: bool, number: int, width: int) -> int:
        """A word where a condition holds, or where it does not: summands under it are there, or 0."""
        summands: list[Polynomial] = [{}]
        for monomial, coefficient in self._polynomial(number).items():
            node = self._terms.nodes[monomial[0]] if len(monomial) == 1 else None
            if node is None or not self._is_under_condition(monomial[0]) or node.operands[0] != condition:
                summands.append({monomial: coefficient})
            elif holds:
                summands.append(times(self._polynomial(node.operands[1]), coefficient))
        return self._number(self._sum(summands, width), width)

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
        """The greater or lesser of two words, together with the words of nested ones: the order of comparisons makes no
        difference."""
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

    # Operators that are arithmetic only with certain operands.

    def _shifted(self, polynomial: Polynomial, count: int | None, width: int) -> int | None:
        if count is None:
            return None
        return self._number(times(polynomial, 1 << count) if count < width else {}, width)

    def _masked(self, operand: int, mask: int, width: int) -> int | None:
        """x & (2^k - 1) is the low k bits of x."""
        value = self._constant(mask)
        if not value or value & (value + 1):
            return None
        return self._extended(self._low_bits(operand, value.bit_length()), width, signed=False)

    def _concatenated(self, upper: int, lower: int, width: int) -> int | None:
        if self._constant(lower) == 0:
            # Bits above those of `upper` are shifted out, so each atom may be extended in any way.
            wide = self._over(self._polynomial(upper), lambda atom: self._padded(atom, width), width)
            return self._number(times(self._polynomial(wide), 1 << self._width(lower)), width)
        if self._constant(upper) == 0:
            return self._extended(lower, width, signed=False)
        return None

    def _padded(self, atom: int, width: int) -> int:
        node = self._terms.nodes[atom]
        if node.operator == "extract" and node.indices[1] == 0 and self._width(node.operands[0]) >= width:
            return self._low_bits(node.operands[0], width)
        return self._extended_atom(atom, width, signed=node.operator == "sign_extend")

    # Changes of width.

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
            shift = shift_into(bounds, inner, signed)
            if shift is not None:
                # Over the integers polynomial + shift is the value of the term itself, so it may be computed at any
                # width.
                exact = {monomial: centred(c, inner) for monomial, c in polynomial.items()}
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
        """A change of width of a word that is present only under a condition: the changed word, under the same
        condition. Every change of width maps 0 to 0."""
        condition, width = self._terms.nodes[number].operands[0], self._width(word)
        operands = condition, word, self._number({}, width)
        chosen = self._choice(operands, width)
        return self._terms.intern(Node("ite", (), operands), bit_vector(width)) if chosen is None else chosen


def _as_signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value
