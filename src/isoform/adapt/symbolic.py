"""All expressions of a space at once: a tree with a choice and a constant at each node (seed 001, figure 4.1).

Trees that mean the same as another are excluded where a rule can say so (seed 001, section 4.2.1): a constant is the
right operand of an operator that commutes and never an operand beside another constant, nodes that are not used have
a fixed content, and nothing is subtracted that is a constant where it can be added instead. Every expression that is
left out has an equal one, with no more operators, that is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from isoform.adapt.formula import applied, expression_term
from isoform.adapt.space import Space
from isoform.model.expression import Constant, Expression, Operation, Operator
from isoform.smt.solver import Solver
from isoform.smt.terms import Term, Terms


class Tree:
    """One expression that is not known yet."""

    def __init__(self, terms: Terms, space: Space, name: str) -> None:
        self._terms = terms
        self._space = space
        self._constant = terms.variable(f"{name} constant", space.bits) if space.has_constants else None
        self._operators = space.operators if space.depth > 1 else ()
        self._children: tuple[Tree, ...] = ()
        if self._operators:
            below = Space(space.bits, space.leaves, space.operators, space.depth - 1, space.has_constants)
            sides = ("left", "right") if any(not o.is_unary for o in self._operators) else ("left",)
            self._children = tuple(Tree(terms, below, f"{name} {side}") for side in sides)
        count = len(space.leaves) + (self._constant is not None) + len(self._operators)
        boolean = terms.manager.mk_bool_sort()
        self._choices = [terms.manager.mk_const(boolean, f"{name} is {n}") for n in range(count)]

    # -- which of its choices -------------------------------------------------------------------

    @property
    def is_constant(self) -> Term:
        return self._choices[len(self._space.leaves)] if self._constant is not None else self._terms.false

    def _is_operator(self) -> Sequence[Term]:
        return self._choices[len(self._choices) - len(self._operators) :] if self._operators else ()

    @property
    def has_operator(self) -> Term:
        return self._terms.any_of(self._is_operator())

    def operators_used(self) -> Iterator[Term]:
        """For each node that may have one: whether it has an operator."""
        if self._operators:
            yield self.has_operator
        for child in self._children:
            yield from child.operators_used()

    def uses_operator(self, wanted: frozenset[Operator]) -> Term:
        """Whether one of these operators is in it: nodes that are not used have none."""
        own = [c for c, operator in zip(self._is_operator(), self._operators, strict=True) if operator in wanted]
        return self._terms.any_of([*own, *(child.uses_operator(wanted) for child in self._children)])

    def constants(self) -> Iterator[Term]:
        if self._constant is not None:
            yield self._constant
        for child in self._children:
            yield from child.constants()

    def uses(self, wanted: Callable[[Expression], bool]) -> Term:
        """Whether a leaf of some kind is in it."""
        terms = self._terms
        chosen = [c for c, leaf in zip(self._choices, self._space.leaves, strict=False) if wanted(leaf)]
        found = terms.any_of(chosen)
        for choice, operator in zip(self._is_operator(), self._operators, strict=True):
            below = self._children[: 1 if operator.is_unary else 2]
            found = terms.disj(found, terms.conj(choice, terms.any_of([child.uses(wanted) for child in below])))
        return found

    def rules(self) -> Iterator[Term]:
        terms, choices = self._terms, self._choices
        yield terms.any_of(choices)
        for number, one in enumerate(choices):
            yield from (terms.negate(terms.conj(one, other)) for other in choices[:number])
        if self._constant is not None:
            zero = terms.eq(self._constant, terms.bv(0, self._space.bits))
            yield terms.disj(self.is_constant, zero)
        for chosen, operator in zip(self._is_operator(), self._operators, strict=True):
            yield from (terms.implies(chosen, rule) for rule in self._operand_rules(operator))
        for child in self._children:
            yield terms.implies(terms.negate(self.has_operator), child._choices[0])
            yield from child.rules()

    def _operand_rules(self, operator: Operator) -> Iterator[Term]:
        terms = self._terms
        left = self._children[0]
        if operator.is_unary:
            yield terms.negate(left.is_constant)
            yield from (child._choices[0] for child in self._children[1:])
            return
        right = self._children[1]
        if operator.is_commutative:
            yield terms.negate(left.is_constant)
        if operator is Operator.SUBTRACT and Operator.ADD in self._operators:
            yield terms.negate(right.is_constant)  # x - c is x + (-c)
        yield terms.negate(terms.conj(left.is_constant, right.is_constant))

    # -- values -----------------------------------------------------------------------------------

    def value(self, values: Mapping[str, Term]) -> Term:
        """What it is worth where the parameters have these values."""
        terms = self._terms
        found = [expression_term(terms, leaf, values) for leaf in self._space.leaves]
        if self._constant is not None:
            found.append(self._constant)
        below = [child.value(values) for child in self._children]
        found += [applied(terms, operator, below) for operator in self._operators]
        chosen = found[-1]
        for choice, value in zip(self._choices[-2::-1], found[-2::-1], strict=True):
            chosen = terms.ite(choice, value, chosen)
        return chosen

    def read(self, solver: Solver) -> Expression:
        """The expression of the model that the solver has."""
        chosen = next(n for n, choice in enumerate(self._choices) if solver.holds(choice))
        leaves = self._space.leaves
        if chosen < len(leaves):
            return leaves[chosen]
        if self._constant is not None and chosen == len(leaves):
            return Constant(solver.value(self._constant), self._space.bits)
        operator = self._operators[chosen - len(self._choices) + len(self._operators)]
        operands = self._children[:1] if operator.is_unary else self._children
        return Operation(operator, tuple(child.read(solver) for child in operands))

    def differs_from(self, expression: Expression) -> Term:
        """That it is not exactly this expression."""
        return self._terms.negate(self._is(expression))

    def _is(self, expression: Expression) -> Term:
        terms, leaves = self._terms, self._space.leaves
        if expression in leaves:
            return self._choices[leaves.index(expression)]
        if isinstance(expression, Constant):
            if self._constant is None:
                return terms.false
            return terms.conj(self.is_constant, terms.eq(self._constant, terms.bv(expression.value, expression.bits)))
        if not isinstance(expression, Operation) or expression.operator not in self._operators:
            return terms.false
        chosen = self._is_operator()[self._operators.index(expression.operator)]
        below = [c._is(e) for c, e in zip(self._children, expression.operands, strict=False)]
        return terms.all_of([chosen, *below])
