"""What the formula of a goal says: whether it asserts exactly one difference, of its own observable, and what it
assumes. Works on the parsed formula, never on its text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from isoform.check.required import MEMORY, RETURN_VALUE
from isoform.check.smtlib import Node, Script, read_script

DIFFERS, LEFT_OUT = "differs", "left-out"
"""Labels of what a goal shows to be impossible: an observable differs; an input was not examined."""
SOME_ADDRESS = "some_address"
"""The symbol of the address at which two memories differ; nothing else has it."""
_APART = frozenset(("aborts", "returns", "covered", "addresses", "invariant", "ends"))
"""Goals that may share a formula with others: a function that does not abort returns."""


@dataclass(frozen=True)
class Seen:
    """One goal."""

    bad: str
    """Hash of the formula that it shows to be impossible; "" if that is literally `false`."""
    assumed: str
    """Hash of all its other assertions; "" if there are none."""
    problem: str = ""
    """Why the formula does not match the goal's name, as the rest of a sentence."""


def see(text: str, name: str, lemmas: tuple[str, ...]) -> Seen:
    """`lemmas` are the beginnings of labels whose assertions are shown elsewhere."""
    script = read_script(text)
    shown = [(label, term) for label, term in script.assertions if not label.startswith(lemmas)]
    bad = [(label, term) for label, term in shown if label in (DIFFERS, LEFT_OUT)]
    if len(bad) != 1:
        return Seen("", "", "does not assert one difference")
    hashes = _hashes(script, [term for _, term in shown])
    (_, root), node = bad[0], script.terms.nodes[bad[0][1]]
    assumed = sorted(hashes[term] for label, term in shown if label not in (DIFFERS, LEFT_OUT))
    together = hashlib.sha256("".join(assumed).encode()).hexdigest() if assumed else ""
    if node == Node("false", (), ()):
        return Seen("", together)
    return Seen(hashes[root], together, _unlike_its_name(script, root, name))


def _unlike_its_name(script: Script, root: int, name: str) -> str:
    found = {script.terms.nodes[number].operator for number in script.terms.operands_first([root])}
    of_memory = any(operator.startswith(f" {SOME_ADDRESS}") for operator in found)
    if name == MEMORY and not of_memory:
        return "does not say that memory differs at some address"
    if name == RETURN_VALUE and of_memory:
        return "is about memory, not about a return value"
    return ""


def _hashes(script: Script, roots: Sequence[int]) -> dict[int, str]:
    """By structure, so that terms of two files can be compared."""
    terms = script.terms
    found: dict[int, str] = {}
    for number in terms.operands_first(roots):
        node = terms.nodes[number]
        said = (node.operator, str(node.indices), str(terms.sorts[number]), *(found[o] for o in node.operands))
        found[number] = hashlib.sha256("\0".join(said).encode()).hexdigest()
    return found


def repeated(goals: Iterable[tuple[Mapping[str, Any], Seen]]) -> list[str]:
    """Goals with different names but the same formulas, in one place: one of them is missing."""
    asked: dict[tuple[Any, Any, str], set[str]] = {}
    for obligation, seen in goals:
        name = obligation["name"]
        if seen.bad and name not in _APART and not name.startswith(("ends-in-", "covered")):
            asked.setdefault((obligation.get("from"), obligation.get("to"), name), set()).add(seen.bad)
    problems = []
    first: dict[tuple[Any, Any, frozenset[str]], str] = {}
    for (start, end, name), formulas in asked.items():
        other = first.setdefault((start, end, frozenset(formulas)), name)
        if other != name:
            problems.append(f"The goals {other} and {name} are one and the same formula.")
    return problems
