"""The rows of `isoform grade` as one JSON object."""

from __future__ import annotations

from typing import Any

from isoform import __version__
from isoform.model.grades import FixedTestResults, Grades, Row
from isoform.report.grade_words import note_of
from isoform.report.json import as_text


def grades_dumps(grades: Grades) -> str:
    return as_text(grades_as_json(grades))


def grades_as_json(grades: Grades) -> dict[str, Any]:
    return {
        "reference": {"path": grades.reference, "function": grades.function},
        "folder": grades.folder,
        "submissions": [_row(row) for row in grades.rows],
        "counts": {standing.value: count for standing, count in grades.counts().items()},
        "causes": [
            {
                "kind": g.kind,
                "place": g.place,
                "count": len(g.members),
                "submissions": list(g.members),
                "example": g.example,
            }
            for g in grades.causes()
        ],
        "found": grades.total,
        "interrupted": grades.interrupted,
        "tests": grades.tests,
        "missed_by_tests": [row.name for row in grades.rows if row.missed_by_tests],
        "seconds": round(grades.seconds, 3),
        "version": __version__,
    }


def _row(row: Row) -> dict[str, Any]:
    answer = row.answer
    return {
        "name": row.name,
        "path": row.path,
        "verdict": answer.standing.value,
        "note": note_of(row),
        "why": answer.why,
        "engine": answer.engine,
        "seconds": round(answer.seconds, 3),
        "inputs": dict(answer.inputs),
        "memory": list(answer.memory),
        "differences": [
            {"what": o.what, "reference": o.reference, "submission": o.submission} for o in answer.observables
        ],
        "divergent": None
        if answer.divergent is None
        else {"address": hex(answer.divergent), "line": row.line, "does": answer.divergence},
        "cause": None
        if answer.cause is None
        else {"kind": answer.cause.kind, "place": answer.cause.place, "strength": answer.cause.strength},
        "not_stopping": answer.not_stopping or None,
        "replayed_on": list(answer.replayed_on),
        "assumptions": [{"name": name, "why": why} for name, why in answer.assumptions],
        "tests": _tests(answer.tests),
        "missed_by_tests": row.missed_by_tests,
        "same_code_as": row.same_code_as,
    }


def _tests(tests: FixedTestResults | None) -> dict[str, Any] | None:
    if tests is None:
        return None
    failures = [
        {"number": f.number, "inputs": f.given, "reference": f.reference, "submission": f.submission}
        for f in tests.failures
    ]
    return {"passed": tests.passed, "ran": tests.ran, "failures": failures}
