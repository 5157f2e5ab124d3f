"""A target and a rewrite of a few instructions, with changes between them, for tests of causes."""

from __future__ import annotations

from pathlib import Path

from assembled import lifted, source
from isoform.borders.question import Options, Question
from isoform.borders.settle import settle
from isoform.explain.candidates import Candidate, single_changes
from isoform.explain.explain import root_cause
from isoform.explain.proof import Fixed
from isoform.explain.runs import Case, Fix, Runs
from isoform.explain.sites import Marked, Role
from isoform.model.budget import Budget
from isoform.model.cause import Explain
from isoform.model.outcome import Inputs

SECONDS = 20.0
BUFFER = 0x10_0000


class Tried:
    """A target and a rewrite that differ on an input, and changes between their instructions."""

    def __init__(self, folder: Path, target: str, rewrite: str, options: Options, witness: Inputs) -> None:
        path = source(folder, {"target": target, "rewrite": rewrite})
        self.question: Question = settle(lifted(path, "target"), lifted(path, "rewrite"), options)
        self.runs = Runs(self.question, witness, Budget(SECONDS))
        assert self.runs.witness is not None
        self.case: Case = self.runs.witness
        self.fixed = Fixed(self.question, self.runs.target, self.runs.rewrite, Budget(SECONDS))

    def fix(self, target: str, rewrite: str, *roles: Role) -> Fix:
        """The values of one instruction for those of another."""
        return Fix({site(self.runs.rewrite, rewrite, *roles): site(self.runs.target, target, *roles)})

    def case_of(self, inputs: Inputs) -> Case:
        case = self.runs.case((inputs, inputs))
        assert case is not None
        return case

    def candidates(self) -> list[Candidate]:
        return list(single_changes(self.runs, self.case))


def site(marked: Marked, text: str, *roles: Role) -> int:
    """The one value of an instruction that reads so."""
    addresses = {a for a, i in marked.function.instructions.items() if i.text.replace(", ", ",").startswith(text)}
    wanted = roles or (Role.RESULT,)
    (found,) = [s.number for s in marked.sites if s.address in addresses and s.role in wanted]
    return found


def arguments(**registers: int) -> Inputs:
    return Inputs(registers, {})


def prototype(text: str) -> Options:
    return Options(signature=text)


def root_cause_of(tried: Tried) -> tuple[str, str] | None:
    witness = tried.case.inputs[0]
    found = root_cause(tried.question, WitnessOf(witness), Explain.FIRST, 4, Budget(SECONDS))  # type: ignore[arg-type]
    texts = [(c.target.text, c.rewrite.text) for c in found.causes if c.target is not None and c.rewrite is not None]
    return texts[0] if texts else None


class WitnessOf:
    """As much of a witness as the search looks at."""

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs
