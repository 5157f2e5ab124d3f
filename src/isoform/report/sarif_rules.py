"""The rules of `isoform diff` in SARIF: one for each answer that somebody should look at."""

from __future__ import annotations

from typing import Any

from isoform.model.library_diff import FunctionAnswer
from isoform.model.values import dataclass


@dataclass(frozen=True)
class Rule:
    name: str
    level: str
    says: str
    """One sentence."""
    help: str

    def as_sarif(self, answer: FunctionAnswer) -> dict[str, Any]:
        severity = "error" if self.level == "error" else "warning" if self.level == "warning" else "recommendation"
        return {
            "id": rule_id(answer),
            "name": self.name,
            "shortDescription": {"text": self.says},
            "fullDescription": {"text": f"{self.says} {self.help}"},
            "help": {"text": f"{self.says} {self.help}", "markdown": f"**{self.says}** {self.help}"},
            "defaultConfiguration": {"level": self.level},
            "properties": {"tags": ["behaviour", "regression"], "precision": "very-high", "problem.severity": severity},
        }


def rule_id(answer: FunctionAnswer) -> str:
    return f"isoform/{answer.value}"


RULES = {
    FunctionAnswer.DIFFERENT: Rule(
        "FunctionBehavesDifferently",
        "error",
        "The function does something else than in the old version.",
        "The message has an input on which the two versions differ; both runs were replayed on an independent model of "
        "the processor. The code flow is the path of the new version on this input. If the change is meant, add the "
        "function to the file of --accept with a reason.",
    ),
    FunctionAnswer.AFFECTED: Rule(
        "CalleeBehavesDifferently",
        "warning",
        "A function that this one calls does something else than in the old version.",
        "Whether that shows in this function was not decided. Look at the callee first; a larger --budget may help.",
    ),
    FunctionAnswer.UNKNOWN: Rule(
        "BehaviourNotDecided",
        "note",
        "The function has changed, and it was not decided whether it does the same.",
        "Neither a proof nor a difference was found. The message says what stopped it; --retry unknown with a larger "
        "--budget asks again.",
    ),
    FunctionAnswer.BOUNDED: Rule(
        "NoDifferenceWithinBound",
        "note",
        "The function has changed; no difference was found within a bound.",
        "Nothing is claimed beyond the bound. A larger --budget may give a proof.",
    ),
    FunctionAnswer.ADDED: Rule(
        "FunctionAdded",
        "note",
        "The function is only in the new version.",
        "There is nothing to compare it with. If it is an old function with a new name, --match OLD=NEW compares them.",
    ),
    FunctionAnswer.REMOVED: Rule(
        "FunctionRemoved",
        "note",
        "The function is only in the old version.",
        "There is nothing to compare it with. If it has a new name, --match OLD=NEW compares the two.",
    ),
}
"""Functions that are the same give no result."""
