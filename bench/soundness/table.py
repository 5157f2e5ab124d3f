"""The counts of a campaign, for people."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from soundness.judge import Judged

WORDS = ("equivalent", "different", "bounded", "unknown", "trouble")
SLOW = 2.0
KINDS = ("levels", "rewrite", "bug", "same", "differs")


def table(results: Sequence[Judged], seconds: float) -> str:
    lines = [f"{'':10}{'pairs':>8}" + "".join(f"{word:>12}" for word in WORDS) + f"{'wrong':>8}"]
    for kind in (*KINDS, "all"):
        chosen = [r for r in results if kind in (r.kind, "all")]
        counts = Counter(r.word for r in chosen)
        wrong = sum(1 for r in chosen if r.wrong)
        lines.append(f"{kind:10}{len(chosen):8}" + "".join(f"{counts[w]:12}" for w in WORDS) + f"{wrong:8}")
    lines += ["", f"{len(results)} pairs in {seconds:.0f} s; {_times(results)}"]
    second = Counter(r.second_solver for r in results if r.second_solver)
    if second:
        lines.append("injected bugs proved harmless, by the second solver: " + _counted(second))
    reasons = Counter(general(r.why) for r in results if r.word in ("unknown", "bounded"))
    if reasons:
        lines += ["", "reasons for unknown and bounded, most frequent first:"]
        lines += [f"{count:6}  {why} ({_labels(results, why)})" for why, count in reasons.most_common(20)]
    slow = sorted((r for r in results if r.seconds > SLOW), key=lambda r: -r.seconds)
    if slow:
        shown = ", ".join(f"{r.label} {r.seconds:.1f} s {r.word}" for r in slow[:20])
        lines += ["", f"{len(slow)} verdicts took more than {SLOW:g} s: {shown}"]
    wrong_ones = [r for r in results if r.wrong]
    if wrong_ones:
        lines += ["", "wrong:", *(f"  {r.label} ({r.kind}): {r.wrong}" for r in wrong_ones)]
    return "\n".join(lines)


def _labels(results: Sequence[Judged], why: str) -> str:
    labels = [r.label for r in results if r.word in ("unknown", "bounded") and general(r.why) == why]
    return ", ".join(labels[:4]) + (", …" if len(labels) > 4 else "")


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {word}" for word, count in counts.most_common())


def _times(results: Sequence[Judged]) -> str:
    times = sorted(r.seconds for r in results)
    if not times:
        return "no verdict"
    shares = ((50, "half"), (90, "90%"), (99, "99%"), (100, "all"))
    shown = (f"{name} within {times[min(len(times) - 1, len(times) * share // 100)]:.2f} s" for share, name in shares)
    return "verdicts: " + ", ".join(shown)


def general(why: str) -> str:
    """A reason without what is particular to one pair."""
    why = re.sub(r"0x[0-9a-f]+", "ADDRESS", why)
    why = re.sub(r"\bf\d+(_helper\d+)?(\.\w+)*", "FUNCTION", why)
    return re.sub(r"\s+", " ", why)
