"""A formula of our own terms as SMT-LIB text, for a solver.

Solvers never see the text of a certificate, only what our reader understood of it. So there is one reading, which the
matching of steps, the expansion of lemmas and every solver share. Names are generated here and contain a `!`, which no
operator does, so nothing in a file can be mistaken for one of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from isoform.check.smtlib import CONSTANT_ARRAY, Node, Script, as_text
from isoform.check.sorts import ReadError

_LONGEST = 1 << 20
"""Characters of a term whose sort is not known, which therefore cannot get a name of its own."""


def formula_text(script: Script, asserted: Sequence[int], mentioned: Sequence[int] = ()) -> str:
    """The assertions in order. `mentioned` terms are defined too: the solver then checks their sorts."""
    writer = _Writer(script)
    for number in script.terms.operands_first([*mentioned, *asserted]):
        writer.write(number)
    return "\n".join([*writer.lines, *(f"(assert {writer.texts[number]})" for number in asserted)])


class _Writer:
    def __init__(self, script: Script) -> None:
        self._script = script
        self._functions = {name: f"f!{count}" for count, name in enumerate(script.functions)}
        self.texts: dict[int, str] = {}
        self.lines: list[str] = []
        for name, signature in script.functions.items():
            domain = " ".join(as_text(sort) for sort in signature.operands if sort is not None)
            self.lines.append(f"(declare-fun {self._functions[name]} ({domain}) {as_text(signature.result or '')})")

    def write(self, number: int) -> None:
        node, sort = self._script.terms.nodes[number], self._script.terms.sorts[number]
        name = f"n!{number}"
        if node.is_symbol:
            assert sort is not None
            self.lines.append(f"(declare-const {name} {as_text(sort)})")
        elif sort is None or not node.operands:
            name = self._application(node)
            if len(name) > _LONGEST:
                raise ReadError("contains a large term of unknown sort")
        else:
            self.lines.append(f"(define-fun {name} () {as_text(sort)} {self._application(node)})")
        self.texts[number] = name

    def _application(self, node: Node) -> str:
        if node.operator == "value":
            return f"(_ bv{node.indices[0]} {node.indices[1]})"
        if node.operator == CONSTANT_ARRAY:
            head = f"(as const {node.indices[0]})"
        elif node.operator[0] == " ":
            head = self._functions[node.operator[1:]]
        elif node.indices:
            head = f"(_ {node.operator} {' '.join(map(str, node.indices))})"
        else:
            head = node.operator
        operands = [self.texts[operand] for operand in node.operands]
        return f"({' '.join([head, *operands])})" if operands else head
