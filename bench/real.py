"""How many questions about loops as programs have them are answered: shares by group, processor time, and why not.

    python bench/real.py [--frozen | --tuning] [--budget SECONDS] [--group NAME] [--broken | --equivalent] [-v]

The questions are those of `tests/pairs/real`, grouped by the first word of their names. Those in `frozen` were written
before any measurement: changes are made for the others and measured with these, whose code nobody looks at meanwhile
(`-v` prints one line for each question, and is for the others). A wrong answer is always printed.

A report, not a test: nothing here asserts a share or a time.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import statistics
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass

from pairfile import PAIRS, Pair, read_all

REAL = PAIRS / "real"
DECIDED = ("equivalent", "different")
ANY_NUMBER = re.compile(r"-?(0x[0-9a-f]+|\b\d[\d,.]*)")
LONGEST_REASON = 110


@dataclass(frozen=True)
class Answer:
    pair: Pair
    verdict: str
    why: str
    seconds: float
    """Processor time of the whole command."""

    @property
    def group(self) -> str:
        return self.pair.name.rpartition("/")[2].partition("-")[0]

    @property
    def is_decided(self) -> bool:
        return self.verdict in DECIDED

    @property
    def is_wrong(self) -> bool:
        return self.is_decided and self.verdict != self.pair.verdict


def ask(pair: Pair, budget: float) -> Answer:
    command = [sys.executable, "-m", "isoform", *pair.command("--json", "--explain", "none", "--budget", str(budget))]
    before = processor_seconds()
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = processor_seconds() - before
    answer = json.loads(said.stdout) if said.stdout else {"error": said.stderr[-200:]}
    return Answer(pair, answer.get("verdict", "error"), answer.get("why") or answer.get("error") or "", seconds)


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def bucket(answer: Answer) -> str:
    """The reason without the numbers of this question."""
    return ANY_NUMBER.sub("N", answer.why)[:LONGEST_REASON]


def print_groups(answers: list[Answer]) -> None:
    groups: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        groups[answer.group].append(answer)
    print(f"\n{'group':12}{'equivalent':>12}{'different':>12}{'median s':>10}{'most s':>8}{'total s':>9}")
    for group, rows in [*sorted(groups.items()), ("all", answers)]:
        shares = "".join(f"{share(rows, verdict):>12}" for verdict in DECIDED)
        seconds = [row.seconds for row in rows]
        print(f"{group:12}{shares}{statistics.median(seconds):10.1f}{max(seconds):8.1f}{sum(seconds):9.0f}")


def share(rows: list[Answer], verdict: str) -> str:
    asked = [row for row in rows if row.pair.verdict == verdict]
    return f"{sum(row.verdict == verdict for row in asked)} of {len(asked)}"


def print_reasons(answers: list[Answer]) -> None:
    reasons = Counter(f"{a.verdict}: {bucket(a)}" for a in answers if not a.is_decided)
    print()
    for reason, times in reasons.most_common():
        print(f"{times:4}  {reason}")


def chosen(arguments: argparse.Namespace) -> list[Pair]:
    def is_wanted(pair: Pair) -> bool:
        is_frozen = "frozen" in pair.path.parts
        wanted = (is_frozen or not arguments.frozen) and not (is_frozen and arguments.tuning)
        kind = {"equivalent": not arguments.broken, "different": not arguments.equivalent}
        name = pair.name.rpartition("/")[2]
        return wanted and kind.get(pair.verdict, True) and arguments.group in name and not pair.missing

    return [pair for pair in read_all([REAL]) if is_wanted(pair)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frozen", action="store_true", help="only the questions that nothing was tuned for")
    parser.add_argument("--tuning", action="store_true", help="only the others")
    parser.add_argument("--broken", action="store_true", help="only those that differ")
    parser.add_argument("--equivalent", action="store_true", help="only those that do not")
    parser.add_argument("--group", default="", help="a part of the name")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds for each question")
    parser.add_argument("-v", action="store_true", dest="verbose", help="a line for each question")
    arguments = parser.parse_args()
    answers = []
    for pair in chosen(arguments):
        answers.append(answer := ask(pair, arguments.budget))
        if arguments.verbose or answer.is_wrong or answer.verdict == "error":
            wrong = "WRONG " if answer.is_wrong else ""
            print(f"{wrong}{pair.name:44}{answer.verdict:11}{answer.seconds:7.1f}  {answer.why}", flush=True)
    print_groups(answers)
    print_reasons(answers)


if __name__ == "__main__":
    main()
