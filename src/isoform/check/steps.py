"""Applies the steps of a goal: equations between its subterms, each an instance of one that was shown on its own.

Why this is right. The obligation of a step shows that its two patterns have the same value whatever their symbols stand
for; so have any two terms that come from the patterns by putting terms in the place of symbols. `Merged` keeps, for
some terms, what each *became*: a term with the same value for every input. An entry is the same operator over what the
operands became; or, for the left side of a step, what the right side became, after the two were found to be such an
instance. Entries rest on earlier ones only and are never changed, so by induction each is right, whatever the steps.
"""

from __future__ import annotations

from collections.abc import Iterable

from isoform.check.smtlib import Script


class StepError(Exception):
    """The steps do not fit the goal. The message is part of a sentence."""


def sides(script: Script, number: int, operator: str) -> tuple[int, int]:
    """The operands of an equation (`=`) or of its negation (`distinct`)."""
    node = script.terms.nodes[number]
    if node.operator != operator or node.indices or len(node.operands) != 2:
        raise StepError("does not say of two terms whether they are equal")
    return node.operands[0], node.operands[1]


class Merged:
    """The terms of one goal, with the steps that were applied to them."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._became: dict[int, int] = {}

    def apply(self, equation: tuple[int, int], shown: Script, patterns: tuple[int, int]) -> None:
        """Let the left side of the equation become what the right side became. `patterns` are two terms of `shown` that
        are equal for all values of their symbols."""
        term, other = equation
        result = self.became(other)
        for operand in self._script.terms.nodes[term].operands:
            self.became(operand)
        if term in self._became:
            raise StepError("replaces a term that was used before")
        if not is_instance(shown, zip(patterns, (self._rebuilt(term), result), strict=True), self._script):
            raise StepError("is not an instance of the equation that was shown")
        self._became[term] = result

    def became(self, root: int) -> int:
        for number in self._script.terms.operands_first([root], self._became):
            self._became[number] = self._rebuilt(number)
        return self._became[root]

    def _rebuilt(self, number: int) -> int:
        """The same operator over what the operands became."""
        terms = self._script.terms
        node = terms.nodes[number]
        operands = tuple(self._became[operand] for operand in node.operands)
        return terms.intern(node._replace(operands=operands), terms.sorts[number])


def is_instance(shown: Script, pairs: Iterable[tuple[int, int]], script: Script) -> bool:
    """Whether one choice of terms of `script` for the constants of `shown`, and of functions for its functions, turns
    the first of every pair into the second."""
    stands_for: dict[int, int] = {}
    functions: dict[str, str] = {}
    waiting = list(pairs)
    while waiting:
        pattern, number = waiting.pop()
        if pattern in stands_for:
            if stands_for[pattern] != number:
                return False
            continue
        stands_for[pattern] = number
        shape, node = shown.terms.nodes[pattern], script.terms.nodes[number]
        if shape.is_symbol:
            sort = shown.terms.sorts[pattern]
            if sort is None or sort != script.terms.sorts[number]:
                return False
            continue
        if shape.operator[0] == " ":
            if not _same_function(shown, shape.operator, script, node.operator, functions):
                return False
        elif shape.operator != node.operator:
            return False
        if shape.indices != node.indices or len(shape.operands) != len(node.operands):
            return False
        waiting.extend(zip(shape.operands, node.operands, strict=True))
    return True


def _same_function(shown: Script, pattern: str, script: Script, operator: str, functions: dict[str, str]) -> bool:
    if operator[0] != " " or functions.setdefault(pattern, operator) != operator:
        return False
    signature = script.functions.get(operator[1:])
    return signature is not None and shown.functions[pattern[1:]] == signature
