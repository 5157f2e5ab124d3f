"""The certificate of a proof: every obligation as it was asked, for another solver to confirm."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from isoform.question import Question
from isoform.smt.certificate import CertificateWriter
from isoform.verdict import Assumption, Subject

if TYPE_CHECKING:
    from isoform.engines.loopfree import Encoding

_HOW = (
    "Each obligation asserts the rules for the inputs, that the input is one the encoding covers, and that one "
    "observable differs between the two functions; each is unsatisfiable. The obligations named 'covered' show "
    "that no input is left out. So for every input the contract allows, all observables agree."
)


def write_certificate(
    question: Question,
    subjects: tuple[Subject, Subject],
    encoding: Encoding,
    assumptions: tuple[Assumption, ...],
    folder: str,
) -> str:
    from isoform.report.json import contract_as_json

    with CertificateWriter(Path(folder)) as writer:
        for part in encoding.asserted:
            writer.add_smt(part.goal.name, part.goal.shows, part.labelled, part.lemmas)
        sides = [
            {"path": s.path, "function": s.function, "isa": s.isa, "code": f.code_bytes}
            for s, f in zip(subjects, (question.target, question.rewrite), strict=True)
        ]
        writer.finish(
            {
                "verdict": "equivalent",
                "how": _HOW,
                "target": sides[0],
                "rewrite": sides[1],
                "contract": contract_as_json(question.contract),
                "assumptions": [{"name": a.name, "why": a.why} for a in assumptions],
            }
        )
    return folder
