"""The cause of a difference as a grade has it: submissions with the same cause form one group."""

from __future__ import annotations

from isoform.model.cause_groups import CauseLabel, label_of
from isoform.model.verdict import Different
from isoform.report.causes import sentences_of


def cause_of(verdict: Different) -> CauseLabel | None:
    """None if no cause was found."""
    root = verdict.root_cause
    if root is None or not verdict.views:
        return None
    says = " ".join(sentences_of(root))
    for word, here in (("he target", "he reference"), ("he rewrite", "he submission")):
        says = says.replace(word, here)
    return label_of(root, verdict.views[0], says)
