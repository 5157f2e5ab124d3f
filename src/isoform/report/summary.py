"""What a report says about a verdict, in words, apart from how it looks: terminal and HTML both show this."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from isoform.model.contract import AbortRule, Contract, DataRule, MemoryRule, ReturnAs
from isoform.model.differences import Difference
from isoform.model.listing import View
from isoform.model.names import shown_name, with_shown_names
from isoform.model.values import dataclass
from isoform.model.verdict import (
    Bounded,
    Different,
    Equivalent,
    Obligation,
    Proof,
    SearchStep,
    Subject,
    Unknown,
    Verdict,
    Witness,
)
from isoform.report.causes import addresses_of, search_of, sentences_of
from isoform.report.shapes import shapes_of

SYMBOLS = {"equivalent": "✓", "different": "✗", "bounded": "~", "unknown": "?"}
RELATIONS = {"equivalent": "≡", "different": "≢"}
MOST_OBSERVABLES = 8
MOST_MEMORY_ROWS = 8
MOST_INVARIANT_LINES = 24
TOLD = ("covered", "invariant", "memory", "return-value", "ends")
"""Obligations of a proof about loops that say what it is about."""
WORTH_TELLING = 0.05
"""Seconds that make another one worth a line."""
BYTE_DIFFERENCE = re.compile(r"memory byte at (0x[0-9a-f]+)")


@dataclass(frozen=True)
class Labelled:
    """A labelled group of lines."""

    label: str
    lines: tuple[str, ...]
    detail: bool = False
    """Shown only when asked for more."""


@dataclass(frozen=True)
class VerdictSummary:
    word: str
    symbol: str
    target: str
    relation: str
    rewrite: str
    time: str
    why: str
    given: tuple[Labelled, ...]
    """The inputs that separate the two."""
    observables: tuple[Difference, ...]
    views: tuple[View, ...]
    traces: tuple[tuple[int, ...], tuple[int, ...]]
    rest: tuple[Labelled, ...]
    steps: tuple[SearchStep, ...] = ()
    causes: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
    """Addresses of the instructions where the two part, of either side."""


def summary_of(verdict: Verdict) -> VerdictSummary:
    witness = verdict.witness if isinstance(verdict, Different) else None
    return VerdictSummary(
        word=verdict.word,
        symbol=SYMBOLS[verdict.word],
        target=subject_name(verdict.target),
        relation=RELATIONS.get(verdict.word, "≟"),
        rewrite=subject_name(verdict.rewrite),
        time=duration(verdict.seconds),
        why=_why(verdict),
        given=tuple(_given(witness, verdict.contract)) if witness is not None else (),
        observables=_observables(witness) if witness is not None else (),
        views=tuple(replace(v, title=shown_name(v.title)) for v in verdict.views if isinstance(v, View)),
        traces=(witness.target.trace, witness.rewrite.trace) if witness is not None else ((), ()),
        rest=tuple(_readable(entry) for entry in _rest(verdict, witness) if entry.lines),
        steps=verdict.steps,
        causes=addresses_of(verdict.root_cause if isinstance(verdict, Different) else None),
    )


def _readable(entry: Labelled) -> Labelled:
    return replace(entry, lines=tuple(with_shown_names(line) for line in entry.lines))


def subject_name(subject: Subject) -> str:
    return f"{subject.path}:{shown_name(subject.function)}" if subject.function else subject.path


def duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 0.01 else f"{seconds * 1000:.1f} ms"


def _why(verdict: Verdict) -> str:
    if isinstance(verdict, Equivalent):
        return "For every input the contract allows, both do the same."
    if isinstance(verdict, Different):
        return _why_different(verdict.witness)
    if isinstance(verdict, Bounded):
        found = "No difference was found within the bound, and nothing is claimed beyond it"
        return _sentence(f"{found}: {verdict.why}")
    if isinstance(verdict, Unknown):
        return _sentence(verdict.why)
    return ""


def _why_different(witness: Witness) -> str:
    first = witness.differences[0]
    given = ", ".join(f"{name} = {value}" for name, value in witness.shown)
    when = f"With {given}" if given and len(given) <= 60 else "With the inputs below"
    if first.what == "how it ends":
        return f"{when} the target {first.target} and the rewrite {first.rewrite}."
    if first.what == "return value":
        return f"{when} the target returns {first.target} and the rewrite {first.rewrite}."
    return f"{when} they differ in {'memory' if BYTE_DIFFERENCE.fullmatch(first.what) else first.what}."


def _sentence(text: str) -> str:
    text = text.strip()
    return text if not text or text[-1] in ".!?" else f"{text}."


def _given(witness: Witness, contract: Contract) -> Iterator[Labelled]:
    inputs = tuple(f"{name} = {value}" for name, value in witness.shown)
    yield Labelled("inputs", inputs or ("none that matter",))
    yield from (Labelled("shape", (text,)) for _, text in shapes_of(witness, contract))
    memory = contract.machine.memory
    big_endian = memory is not None and memory.big_endian
    rows = [row for address, data in witness.memory for row in _memory_rows(address, data, big_endian)]
    if rows:
        yield Labelled("memory", _at_most(rows, MOST_MEMORY_ROWS))
    if witness.outside:
        yield Labelled("outside", witness.outside)


def _memory_rows(address: int, data: bytes, big_endian: bool) -> Iterator[str]:
    """Words of eight bytes, each beside its value where it is a whole number."""
    for start in range(0, len(data), 8):
        word = data[start : start + 8]
        value = int.from_bytes(word, "big" if big_endian else "little")
        shown = f" = {value:#x}" if len(word) in (2, 4, 8) and value else ""
        yield f"{address + start:#x}: {word.hex(' ')}{shown}"


def _observables(witness: Witness) -> tuple[Difference, ...]:
    """The differences, with neighbouring bytes of memory as one."""
    single = [d for d in witness.differences if not BYTE_DIFFERENCE.fullmatch(d.what)]
    matches = (BYTE_DIFFERENCE.fullmatch(d.what) for d in witness.differences)
    runs = _runs(sorted(int(m[1], 16) for m in matches if m is not None))
    return (*single, *(_memory_difference(run, witness) for run in runs))


def _runs(addresses: list[int]) -> list[list[int]]:
    runs = [addresses[:1]] if addresses else []
    for left, right in pairwise(addresses):
        if right == left + 1 and len(runs[-1]) < 8:
            runs[-1].append(right)
        else:
            runs.append([right])
    return runs


def _memory_difference(run: list[int], witness: Witness) -> Difference:
    what = f"memory at {run[0]:#x}" + (f", {len(run)} bytes" if len(run) > 1 else "")
    return Difference(what, *(_written(run, o.writes) for o in (witness.target, witness.rewrite)))


def _written(run: list[int], writes: Mapping[int, int]) -> str:
    if not any(address in writes for address in run):
        return "unchanged"
    return " ".join(f"{writes[a]:02x}" if a in writes else "··" for a in run)


def _rest(verdict: Verdict, witness: Witness | None) -> Iterator[Labelled]:
    if isinstance(verdict, Different):
        yield from _cause(verdict)
        yield Labelled("hint", (_sentence(verdict.hint),) if verdict.hint else ())
        yield Labelled("replayed on", (", ".join(witness.replayed_on),) if witness and witness.replayed_on else ())
    if isinstance(verdict, Bounded):
        yield Labelled("bound", tuple(_pairs(verdict.bound)))
        yield Labelled("no proof", tuple(_no_proof(verdict)))
    if isinstance(verdict, (Bounded, Unknown)):
        yield Labelled("what helps", (_sentence(verdict.helps),) if verdict.helps else ())
    if isinstance(verdict, Equivalent):
        yield from _proof(verdict)
    yield Labelled("contract", tuple(_contract(verdict.contract)))
    yield Labelled("companions", tuple(_companions(verdict)))
    yield Labelled("assuming", tuple(f"{a.name}: {a.why}" for a in verdict.assumptions))
    tried = tuple(f"{t.engine}: {t.said} ({duration(t.seconds)})" for t in verdict.tried)
    yield Labelled("tried", tried, detail=not isinstance(verdict, Unknown))


def _cause(verdict: Different) -> Iterator[Labelled]:
    if verdict.root_cause is not None:
        yield Labelled("cause", tuple(sentences_of(verdict.root_cause)))
        yield Labelled("search", (search_of(verdict.root_cause),), detail=True)


def _companions(verdict: Verdict) -> Iterator[str]:
    """Functions whose address is taken: those that are not the same in full, the others by name."""
    same = [c.name for c in verdict.companions if c.verdict == Equivalent.word]
    if same:
        yield f"the same on both sides: {', '.join(_at_most(same, 8))}"
    yield from (f"{c.name}, {c.verdict}: {c.why}" for c in verdict.companions if c.verdict != Equivalent.word)


def _no_proof(verdict: Verdict) -> Iterator[str]:
    """Why loops were not proved, under a label that says so already."""
    for tried in verdict.tried:
        if tried.engine == "loops":
            yield _sentence(tried.said.removeprefix("no proof was found for the loops: "))


def _proof(verdict: Equivalent) -> Iterator[Labelled]:
    proof = verdict.proof
    if proof.cuts:
        yield from _proof_by_cuts(proof)
        return
    if len(proof.obligations) == 1:
        yield Labelled("proof", (f"{proof.obligations[0].name}: {proof.obligations[0].shows}",))
        yield from _certificate(proof)
        return
    asked = [o for o in proof.obligations if o.seconds or o.name == "covered"]
    shown = [f"{o.name}: {o.shows} ({duration(o.seconds)})" for o in asked]
    plain = len(proof.obligations) - len(asked)
    if plain:
        rest = "the formulas are the same on both sides" if not asked else "there the formulas are the same"
        shown = [*_at_most(shown, 11), f"{plain} {'more ' if asked else ''}obligations hold without a solver: {rest}"]
    yield Labelled("proof", _at_most(shown, 12))
    yield Labelled("obligations", tuple(f"{o.name}: {o.shows}" for o in proof.obligations), detail=True)
    yield from _certificate(proof)


def _proof_by_cuts(proof: Proof) -> Iterator[Labelled]:
    """A proof about loops: what holds where, and what was shown for each path from one cut to the next."""
    invariants = [line for cut in proof.cuts for line in _at_cut(cut, cut.get("invariant", ()))]
    yield Labelled("invariants", _at_most(invariants, MOST_INVARIANT_LINES))
    by_place: dict[str, list[Obligation]] = {}
    told = [o for o in proof.obligations if o.name in TOLD or o.seconds >= WORTH_TELLING]
    for obligation in told:
        by_place.setdefault(obligation.where, []).append(obligation)
    lines = [
        f"{where}: {', '.join(o.shows.removeprefix(f'{where}, ') for o in group)} "
        f"({duration(sum(o.seconds for o in group))})"
        for where, group in by_place.items()
    ]
    more = len(proof.obligations) - len(told)
    trivial = (f"and {more} trivial obligation{'s' if more > 1 else ''}",) if more else ()
    yield Labelled("proof", (*_at_most(lines, 12), *trivial))
    every = tuple(f"{o.name}: {o.shows} ({duration(o.seconds)})" for o in proof.obligations)
    yield Labelled("obligations", every, detail=True)
    facts = tuple(line for cut in proof.cuts for line in _at_cut(cut, cut.get("facts", ())))
    yield Labelled("facts", facts, detail=True)
    yield from _certificate(proof)


def _at_cut(cut: Mapping[str, Any], facts: Sequence[str]) -> Iterator[str]:
    yield f"at {cut.get('target')} / {cut.get('rewrite')}'"
    if facts:
        yield f"  {', '.join(facts)}"


def _certificate(proof: Proof) -> Iterator[Labelled]:
    if proof.certificate is not None:
        yield Labelled("certificate", (f"{proof.certificate} (isoform check {proof.certificate})",))


def _contract(contract: Contract) -> Iterator[str]:
    if contract.signature is None and not contract.arguments and not contract.results:
        yield "not settled: the question could not be posed"
    else:
        signature = str(contract.signature) if contract.signature is not None else _convention(contract)
        yield f"{signature}, from {contract.source.value}"
    if contract.return_as is not ReturnAs.VALUE:
        rules = {ReturnAs.BOOL: "only zero or nonzero of the result counts", ReturnAs.VOID: "the result does not count"}
        yield rules[contract.return_as]
    if contract.memory is MemoryRule.IGNORE:
        yield "memory is not compared"
    if contract.aborts is AbortRule.REFINE:
        yield "where the target aborts, the rewrite may do anything"
    if contract.data_names:
        names = ", ".join(contract.data_names[:4]) + (", …" if len(contract.data_names) > 4 else "")
        rule = "what it holds at first must be the same, too" if contract.data is DataRule.INITIAL else "--data any"
        yield f"{names}: whatever it holds when called, the same on both sides; {rule}"
    yield from (f"given {precondition.text}" for precondition in contract.preconditions)


def _convention(contract: Contract) -> str:
    inputs = ", ".join(a.name for a in contract.arguments) or "nothing"
    results = ", ".join(f"{r.bits} bits of {r.register}" for r in contract.results) or "nothing"
    return f"takes {inputs}, returns {results}"


def _pairs(values: Mapping[str, Any]) -> list[str]:
    return [f"{key}: {value}" for key, value in values.items()]


def _at_most(lines: list[str], most: int) -> tuple[str, ...]:
    if len(lines) <= most:
        return tuple(lines)
    return (*lines[: most - 1], f"… and {len(lines) - most + 1} more")
