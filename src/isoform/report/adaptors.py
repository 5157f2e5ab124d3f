"""An answer to the question for an adaptor, for people and for scripts."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator
from typing import Any, TextIO

from isoform import __version__
from isoform.model.adaptor import (
    Adaptor,
    AdaptorFound,
    AdaptorUnknown,
    Answered,
    Example,
    Family,
    NoAdaptor,
    expression_text,
)
from isoform.report.json import WIDEST_NUMBER, as_text, proof_as_json
from isoform.report.summary import Labelled
from isoform.report.terminal import NARROWEST, PIPED_WIDTH, WIDEST, Span, Spans, entry_lines, print_lines

_STYLES = {"adaptor": "equivalent", "none": "different", "unknown": "unknown"}
_SYMBOLS = {"adaptor": "✓", "none": "✗", "unknown": "?"}
_MOST_LISTED = 4
"""Counterexamples that are shown."""


# -- JSON -----------------------------------------------------------------------------------------


def answered_as_json(answer: Answered) -> dict[str, Any]:
    found = answer if isinstance(answer, AdaptorFound) else None
    none = answer if isinstance(answer, NoAdaptor) else None
    unknown = answer if isinstance(answer, AdaptorUnknown) else None
    asked = answer.asked
    families = [family.value for family in asked.families]
    return {
        "verdict": answer.word,
        "family": found.family.value if found is not None else ",".join(families),
        "depth": asked.depth,
        "target": {"path": asked.target.path, "function": asked.target.function, "isa": asked.target.isa},
        "rewrite": {"path": asked.rewrite.path, "function": asked.rewrite.function, "isa": asked.rewrite.isa},
        "signatures": [str(signature) for signature in asked.signatures],
        "adaptor": _adaptor(found.adaptor) if found is not None else None,
        "others": [_adaptor(other) for other in found.others] if found is not None else [],
        "anything_fits": found is not None and found.anything_fits,
        "domain": _domain(answer) or None,
        "suggested_domain": (found.suggested_domain or None) if found is not None else None,
        "counterexamples": [_example(e) for e in none.counterexamples] if none is not None else [],
        "proof": proof_as_json(found.proof.proof) if found is not None and found.proof is not None else None,
        "candidate": _adaptor(unknown.candidate) if unknown is not None else None,
        "why": unknown.why if unknown is not None else None,
        "excluded": [family.value for family in _excluded(answer)],
        "undecided": {family.value: why for family, why in none.undecided.items()} if none is not None else {},
        "emitted": (found.emitted or None) if found is not None else None,
        "assumptions": [{"name": a.name, "why": a.why} for a in answer.assumptions],
        "seconds": round(answer.seconds, 6),
        "version": __version__,
    }


def _excluded(answer: Answered) -> tuple[Family, ...]:
    """Families of which it was shown that no adaptor fits."""
    if isinstance(answer, AdaptorUnknown):
        return answer.excluded
    return answer.asked.families if isinstance(answer, NoAdaptor) else ()


def dumps(answer: Answered) -> str:
    return as_text(answered_as_json(answer))


def _adaptor(adaptor: Adaptor | None) -> dict[str, Any] | None:
    if adaptor is None:
        return None
    return {
        "arguments": {name: expression_text(expression) for name, expression in adaptor.arguments},
        "return": expression_text(adaptor.result) if adaptor.result is not None else None,
    }


def _example(example: Example) -> dict[str, Any]:
    inputs = {
        name: value if isinstance(value, str) or abs(value) < 1 << WIDEST_NUMBER else hex(value % (1 << 64))
        for name, value in example.inputs.items()
    }
    return {"inputs": inputs, "target": example.target}


def _domain(answer: Answered) -> str:
    suggested = answer.suggested_domain if isinstance(answer, AdaptorFound) else ""
    return " && ".join(filter(None, (answer.asked.domain, suggested)))


# -- terminal -------------------------------------------------------------------------------------


def print_answer(answer: Answered, verbose: bool = False, quiet: bool = False, stream: TextIO | None = None) -> None:
    stream = stream if stream is not None else sys.stdout
    if quiet:
        print(answer.word, file=stream)
        return
    if isinstance(answer, AdaptorFound) and answer.emitted:
        print(answer.emitted, end="", file=stream)
        return
    width = min(shutil.get_terminal_size((PIPED_WIDTH, 24)).columns, WIDEST) if stream.isatty() else PIPED_WIDTH
    print_lines(list(_lines(answer, max(width, NARROWEST), verbose)), stream)


def _lines(answer: Answered, width: int, verbose: bool) -> Iterator[Spans]:
    asked = answer.asked
    yield (
        Span(f"{_SYMBOLS[answer.word]} {answer.word}", _STYLES[answer.word]),
        Span("   "),
        Span(f"{asked.target.path}:{asked.target.function}", "name"),
        Span(" ≡ " if answer.word == "adaptor" else " ≟ "),
        Span(f"{asked.rewrite.path}:{asked.rewrite.function}", "name"),
        Span(" with other arguments"),
        Span(f"   {answer.seconds:.2f} s", "dim"),
    )
    for line in textwrap.wrap(_sentence(answer), width - 2, initial_indent="  ", subsequent_indent="  "):
        yield (Span(line),)
    yield ()
    yield from entry_lines(tuple(_entries(answer)), width, verbose)


def _sentence(answer: Answered) -> str:
    asked = answer.asked
    where = "for every input the contract allows" if not _domain(answer) else f"for every input with {_domain(answer)}"
    if isinstance(answer, AdaptorFound):
        if answer.anything_fits:
            return f"Whatever arguments the rewrite is given, it does what the target does, {where}."
        return f"Called with these arguments, the rewrite does what the target does, {where}."
    if isinstance(answer, NoAdaptor):
        return (
            f"No adaptor of {_families(asked.families, asked.depth)} makes the rewrite do what the target does: proved."
        )
    assert isinstance(answer, AdaptorUnknown)
    return f"Neither an adaptor nor a proof that there is none was found: {answer.why}."


def _families(families: tuple[Family, ...], depth: int) -> str:
    names = [f"{f.value} (depth {depth})" if f in (Family.ARITHMETIC, Family.RETURN) else f.value for f in families]
    return "the family " + names[0] if len(names) == 1 else "the families " + ", ".join(names)


def _entries(answer: Answered) -> Iterator[Labelled]:
    asked = answer.asked
    if isinstance(answer, AdaptorFound) and answer.adaptor is not None:
        yield Labelled("adaptor", tuple(_adaptor_lines(answer.adaptor)) or ("(the arguments do not matter)",))
        for other in answer.others:
            yield Labelled("or", tuple(_adaptor_lines(other)))
        yield Labelled("family", (answer.family.value,))
        if answer.suggested_domain:
            yield Labelled("domain", (f"{answer.suggested_domain} (suggested: without it no adaptor was found)",))
        if answer.proof is not None:
            shown = sum(1 for o in answer.proof.proof.obligations)
            yield Labelled("proof", (f"{answer.proof.engine}: {shown} obligations shown",))
    if isinstance(answer, NoAdaptor):
        shown_inputs = [_example_line(example) for example in answer.counterexamples[:_MOST_LISTED]]
        more = len(answer.counterexamples) - len(shown_inputs)
        shown_inputs += [f"and {more} more"] if more > 0 else []
        yield Labelled("inputs", tuple(shown_inputs) or ("(whatever the input)",))
        if answer.undecided:
            yield Labelled("undecided", tuple(f"{family.value}: {why}" for family, why in answer.undecided.items()))
    if isinstance(answer, AdaptorUnknown) and answer.candidate is not None:
        yield Labelled("candidate", (*_adaptor_lines(answer.candidate), "(fits all tests; not proved)"))
    if isinstance(answer, AdaptorUnknown) and answer.excluded:
        yield Labelled("excluded", (f"no adaptor of {_families(answer.excluded, asked.depth)}: proved",))
    if isinstance(answer, AdaptorUnknown) and answer.advice:
        yield Labelled("advice", (answer.advice,))
    yield Labelled("target", (str(asked.signatures[0]),))
    yield Labelled("rewrite", (str(asked.signatures[1]),))
    if answer.assumptions:
        yield Labelled("assuming", tuple(f"{a.name}: {a.why}" for a in answer.assumptions))


def _adaptor_lines(adaptor: Adaptor) -> Iterator[str]:
    yield from (f"{name} = {expression_text(expression)}" for name, expression in adaptor.arguments)
    if adaptor.result is not None:
        yield f"return {expression_text(adaptor.result)}"


def _example_line(example: Example) -> str:
    given = ", ".join(f"{name} = {value}" for name, value in example.inputs.items())
    return f"{given}: the target {example.target}" if given else f"the target {example.target}"
