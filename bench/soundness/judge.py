"""One pair: the verdict, and everything that is tried against it."""

from __future__ import annotations

import tempfile
import time
import traceback
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from isoform.api import check
from isoform.borders.question import Engine, Options, Question
from isoform.borders.settle import settle
from isoform.engines.answer import answer, lifted
from isoform.lift.discovery import Discovery
from isoform.load.open import Loaded
from isoform.model.budget import Budget
from isoform.model.check_report import CheckResult
from isoform.model.errors import UserError
from isoform.model.verdict import Bounded, Different, Equivalent, Unknown, Verdict
from soundness.attack import Attack, attack, independent_outcomes
from soundness.batch import Pair, loaded


@dataclass(frozen=True)
class Judged:
    """What came of one pair. `wrong` is empty unless something contradicts the verdict."""

    label: str
    kind: str
    word: str
    seconds: float
    why: str = ""
    wrong: str = ""
    second_solver: str = ""
    """For an injected bug that was proved harmless: what the other solver said."""


@dataclass(frozen=True)
class Rules:
    attack: Attack
    budget: float
    seed: int = 1
    certificate_seconds: float = 20.0


def judge(pair: Pair, objects: tuple[Path, Path], rules: Rules) -> Judged:
    started = time.monotonic()
    try:
        sides = loaded(objects, pair.function)
        return _judge(pair, sides, rules)
    except UserError as error:
        return Judged(pair.label, pair.kind, "trouble", time.monotonic() - started, wrong=f"refused: {error}")
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        text = f"crash: {type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
        return Judged(pair.label, pair.kind, "trouble", time.monotonic() - started, wrong=text)


def _judge(pair: Pair, sides: tuple[Loaded, Loaded], rules: Rules) -> Judged:
    started = time.monotonic()
    doubtful = not pair.equal
    with tempfile.TemporaryDirectory(prefix="isoform-soundness-") as folder:
        options = Options(
            signature=pair.signature,
            engine=Engine(pair.engine),
            budget=rules.budget,
            cert=f"{folder}/certificate" if doubtful else None,
        )
        budget = Budget(options.budget)
        verdict = Discovery(budget).fixpoint(partial(answer, sides, options, budget))
        seconds = time.monotonic() - started
        wrong = contradiction(pair, sides, verdict, options, rules)
        second = ""
        if doubtful and isinstance(verdict, Equivalent):
            second = second_opinion(Path(folder) / "certificate", rules)
            if second in (CheckResult.REFUTED.value, CheckResult.TAMPERED.value):
                wrong = wrong or "the second solver refutes the proof"
    return Judged(pair.label, pair.kind, verdict.word, seconds, _reason(verdict), wrong, second)


def _reason(verdict: Verdict) -> str:
    return verdict.why if isinstance(verdict, (Unknown, Bounded)) else ""


def contradiction(pair: Pair, sides: tuple[Loaded, Loaded], verdict: Verdict, options: Options, rules: Rules) -> str:
    """What speaks against the verdict, or nothing."""
    match verdict:
        case Equivalent():
            broken = attack(_question(sides, options), rules.attack, rules.seed)
            return f"equivalent, but {broken.how}" if broken is not None else ""
        case Different():
            return _different_contradiction(pair, verdict, _question(sides, options))
        case Unknown(why=why) if "bug in isoform" in why:
            return why
    return ""


def _question(sides: tuple[Loaded, Loaded], options: Options) -> Question:
    return settle(lifted(sides[0]), lifted(sides[1]), options)


def _different_contradiction(pair: Pair, verdict: Different, question: Question) -> str:
    if len(verdict.witness.replayed_on) < 2:
        return "different, but its witness was not replayed"
    inputs = verdict.witness.inputs
    outcomes = independent_outcomes(question, (inputs, inputs))
    if not question.contract.differences(*outcomes):
        return "different, but its witness shows no difference on the independent model"
    if pair.equal:
        return f"different, but equivalent by construction ({pair.change}): {verdict.witness.differences[0]}"
    return ""


def second_opinion(folder: Path, rules: Rules) -> str:
    """The worst that the second solver said of any obligation of a certificate."""
    report = check(folder, jobs=1, seconds=rules.certificate_seconds)
    answers = {row.result for row in report.rows}
    worst = CheckResult.CONFIRMED if answers and not report.problems else CheckResult.REFUTED
    for result in (CheckResult.UNDECIDED, CheckResult.TAMPERED, CheckResult.REFUTED):
        worst = result if result in answers else worst
    return str(worst.value)
