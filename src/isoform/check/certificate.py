"""Re-checks a certificate with other solvers, from its files alone.

What a confirmed certificate shows: the files are the ones that were written (hashes), nothing was dropped from or added
to the list (digest), every formula is unsatisfiable according to a solver that did not find the proof, and every
polynomial identity holds by our own expansion. What it does not show: that the formulas say what the functions do.
That rests on the lifter and the encoder, which are checked elsewhere (replay on independent CPU models). Nor do
hashes stop somebody who writes a new certificate with new hashes. What can be seen of that is looked for: an index
without a goal for each observable of its contract (`required.py`), goals that are not what their names say
(`goals.py`), and a certificate about other code than there is at hand.

Imports nothing of `engines/`, `sym/`, `lift/` or `smt/`.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from isoform.check.confirm import (
    EQUATION,
    KINDS,
    LEMMA,
    POSSIBLE,
    SMT_UNSAT,
    STEP,
    TRIVIAL,
    Confirmation,
    Request,
    trivially_confirmed,
)
from isoform.check.goals import Seen, repeated, see
from isoform.check.required import END, goal_problems
from isoform.check.workers import Confirmers
from isoform.model.check_report import CheckReport, CheckResult, CheckRow
from isoform.model.errors import UserError

FORMAT = "isoform-certificate"
VERSIONS = (2,)
LARGEST_INDEX = 1 << 26
LARGEST_FILE = 1 << 28
_FILE_NAME = re.compile(r"[0-9]{2,}-[A-Za-z0-9._-]{1,80}\.smt2")
_MOST_NAMED = 5
"""Parts that do not fit."""
_POSSIBLE_SECONDS = 2.0
"""For checking whether the assumptions contradict each other."""
_SHORT = 1 << 16
"""Characters of a text that is examined without a process of its own."""
Obligation = Mapping[str, Any]


DECLARATION = "declaration"
"""The kind of a part that says how a function is declared."""
UNNAMED = "unnamed "
"""How the names of parts begin that have none in their file."""


class Part(NamedTuple):
    """A piece of a file that a proof rests on: a function, constants, data, or a declaration."""

    kind: str
    name: str
    sha256: str


@dataclass(frozen=True)
class AtHand:
    """A function of a file that a certificate should be about."""

    path: str
    function: str
    isa: str
    declared: str | None
    """How the file declares it, if it does."""
    parts: Sequence[Part]
    """The function and all that it rests on."""


@dataclass(frozen=True)
class _Asked:
    """The background of every obligation."""

    workers: Confirmers
    solvers: list[str]
    seconds: float | None
    equations: Mapping[str, Obligation]
    """The obligations that show steps, by their files."""


Progress = Callable[[int, int, CheckRow], None]
"""Called as each obligation is done: how many are done, of how many, and the result."""


def check_certificate(
    folder: Path,
    jobs: int = 2,
    progress: Progress | None = None,
    seconds: float | None = None,
    at_hand: tuple[AtHand, AtHand] | None = None,
) -> CheckReport:
    """Confirm every obligation, `jobs` at a time, each within `seconds`. `at_hand` are the target and the rewrite that
    the certificate must be about."""
    index = read_index(folder)
    problems = [*_index_problems(index, folder), *goal_problems(index), *_code_problems(index, at_hand)]
    obligations: list[Obligation] = index["obligations"]
    equations = {o["file"]: o for o in obligations if o["kind"] == EQUATION}
    solvers = ["z3", *(["cvc5"] if find_spec("cvc5") else [])]
    rows: dict[int, CheckRow] = {}
    with ThreadPoolExecutor(max_workers=max(1, jobs)) as pool, Confirmers(max(1, jobs)) as workers:
        asked = _Asked(workers, solvers, seconds, equations)
        futures = {pool.submit(_check_obligation, folder, o, asked): position for position, o in enumerate(obligations)}
        try:
            for future in as_completed(futures):
                row = rows[futures[future]] = future.result()
                if progress:
                    progress(len(rows), len(obligations), row)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        ordered = _resting_on_steps([rows[position] for position in sorted(rows)], obligations)
        problems += _formula_problems(folder, index, ordered, asked)
    ok = not problems and all(row.result is CheckResult.CONFIRMED for row in ordered)
    return CheckReport(ok, ordered, problems, index, at_hand is not None)


def _read_regular(path: Path, most: int) -> bytes:
    """The start of a regular file: opening a pipe could block."""
    if path.exists() and not path.is_file():
        raise OSError(0, "it is no regular file")
    with path.open("rb") as file:
        return file.read(most)


# The index.


def read_index(folder: Path) -> dict[str, Any]:
    path = folder / "index.json"
    try:
        content = _read_regular(path, LARGEST_INDEX + 1)
    except OSError as error:
        raise UserError(
            f"cannot read '{path}' ({error.strerror}); give the folder that --cert wrote, with its index.json"
        ) from None
    try:
        if len(content) > LARGEST_INDEX:
            raise ValueError
        index = json.loads(content)
    except (ValueError, RecursionError):
        raise UserError(f"'{path}' is not the index of a certificate; give the folder that --cert wrote") from None
    _require_shape(index, path)
    return dict(index)


def _require_shape(index: Any, path: Path) -> None:
    if not isinstance(index, dict) or index.get("format") != FORMAT:
        raise UserError(f"'{path}' is not the index of a certificate; give the folder that --cert wrote")
    if index.get("version") not in VERSIONS:
        raise UserError(f"'{path}' has a format that this isoform does not know; check it with the one that wrote it")
    obligations = index.get("obligations")
    fields = ("name", "file", "kind", "shows", "sha256")
    well_formed = isinstance(obligations, list) and all(
        isinstance(o, dict) and all(isinstance(o.get(field), str) for field in fields) for o in obligations
    )
    sides = [index.get(side) for side in ("target", "rewrite")]
    if not well_formed or not all(isinstance(s, dict) and _is_side(s) for s in sides):
        raise UserError(f"'{path}' lacks parts of a certificate's index; write the certificate again")


def _is_side(side: Mapping[str, Any]) -> bool:
    return all(isinstance(side.get(name), str) for name in ("path", "function", "isa", "code"))


def _index_problems(index: Mapping[str, Any], folder: Path) -> list[str]:
    problems = []
    rest = {key: value for key, value in index.items() if key != "digest"}
    canonical = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    if index.get("digest") != hashlib.sha256(canonical.encode()).hexdigest():
        problems.append("The index is not the one that was written: its digest is another.")
    files = [obligation["file"] for obligation in index["obligations"]]
    if not files:
        problems.append("There is no obligation, so nothing is shown.")
    if len(set(files)) != len(files) or [_leading_number(file) for file in files] != list(range(1, len(files) + 1)):
        problems.append("The obligations are not numbered one after the other: some are missing or twice there.")
    unlisted = sorted(path.name for path in folder.glob("*.smt2") if path.name not in files)
    if unlisted:
        problems.append(f"The index does not list {', '.join(unlisted[:5])}.")
    return problems


def _leading_number(file: str) -> int:
    return int(file.split("-")[0]) if _FILE_NAME.fullmatch(file) and file.index("-") < 10 else 0


def _code_problems(index: Mapping[str, Any], at_hand: tuple[AtHand, AtHand] | None) -> Iterator[str]:
    for position, side in enumerate(("target", "rewrite")):
        try:
            written = bytes.fromhex(index[side]["code"])
        except ValueError:
            yield f"The code of the {side} in the index is not a hexadecimal number."
            continue
        if index[side].get("sha256") != hashlib.sha256(written).hexdigest():
            yield f"The code of the {side} in the index does not have the hash beside it."
        if at_hand is not None:
            yield from _unlike(index[side], at_hand[position])


def _unlike(side: Mapping[str, Any], at_hand: AtHand) -> Iterator[str]:
    """What the certificate says about one side that does not hold for the given code."""
    if side.get("function") != at_hand.function:
        yield f"The certificate is about {side.get('function')}, not about {at_hand.function} of {at_hand.path}."
        return
    if side.get("isa") != at_hand.isa:
        yield f"The certificate is about code for {side.get('isa')}, {at_hand.path} has code for {at_hand.isa}."
    rows = side.get("parts")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        yield f"The index does not say what {at_hand.function} of {at_hand.path} consists of."
        return
    said = [Part(*(str(row.get(name)) for name in Part._fields)) for row in rows]
    yield from _declared_otherwise(said, at_hand)
    parts, own = ([part for part in found if part.kind != DECLARATION] for found in (said, at_hand.parts))
    there = {part.name: part for part in own}
    others = [part for part in parts if there.get(part.name) != part]
    unlike = [f"{_in_words(part)} in {at_hand.path} is not what the certificate is about." for part in others]
    yield from list(dict.fromkeys(unlike))[:_MOST_NAMED]
    if not others and parts != own:
        yield f"{at_hand.function} in {at_hand.path} is made of other parts than the certificate is about."
    if side.get("declared") and at_hand.declared and side["declared"] != at_hand.declared:
        yield f"{at_hand.path} declares {at_hand.declared}, the certificate is about {side['declared']}."


def _declared_otherwise(said: Sequence[Part], at_hand: AtHand) -> Iterator[str]:
    """Declarations in the given file that the proof did not rest on. A file without debug information has none: what
    the certificate says of them is then assumed of it."""
    known = {part for part in said if part.kind == DECLARATION}
    others = [part.name for part in at_hand.parts if part.kind == DECLARATION and part not in known]
    for name in others[:_MOST_NAMED]:
        yield f"{name[:1].upper()}{name[1:]} in {at_hand.path} is not what the certificate is about."


def _in_words(part: Part) -> str:
    if part.name.startswith(UNNAMED):
        return "Code without a name" if part.kind == "function" else f"A piece of {part.kind} without a name"
    return f"The code of {part.name}" if part.kind == "function" else f"What {part.name} holds"


# What the goals say together.


def _formula_problems(folder: Path, index: Mapping[str, Any], rows: list[CheckRow], asked: _Asked) -> Iterator[str]:
    """For confirmed goals: which of them are not what their names say."""
    seen: list[tuple[Obligation, Seen]] = []
    assumed: dict[str, str] = {}
    # If a goal was shown in several steps, only one of them is about the observable itself.
    steps = Counter(_place(obligation) for obligation in index["obligations"])
    for obligation, row in zip(index["obligations"], rows, strict=True):
        if obligation["kind"] != SMT_UNSAT or row.result is not CheckResult.CONFIRMED:
            continue
        try:
            text = _verified_text(folder, obligation)
        except _TamperedError as error:
            yield f"While it was checked, the certificate was changed: {error}."
            continue
        whole = steps[_place(obligation)] == 1 and obligation.get("to", END) == END
        goal = see(text, obligation["name"] if whole else "", (LEMMA, STEP))
        if goal.problem:
            yield f"The goal {obligation['name']} {goal.problem}."
        seen.append((obligation, goal))
        if goal.bad and goal.assumed and _is_about_inputs(index):
            assumed.setdefault(goal.assumed, text)
    yield from repeated(seen)
    for text in assumed.values():
        answer = asked.workers.ask(Request(text, POSSIBLE, asked.solvers[0], _POSSIBLE_SECONDS))
        if answer.result == "refuted":
            yield f"The certificate shows nothing: {answer.why}."


def _place(obligation: Obligation) -> tuple[str, str, str]:
    return obligation["name"], str(obligation.get("from")), str(obligation.get("to"))


def _is_about_inputs(index: Mapping[str, Any]) -> bool:
    """Whether the assumptions of goals concern all inputs. From a cut they are an invariant, which no run may reach;
    and if cases are distinguished, some may be impossible."""
    return index.get("engine") != "loops"


# One obligation.


def _check_obligation(folder: Path, obligation: Obligation, request: _Asked) -> CheckRow:
    start = time.monotonic()
    answers = _answers(folder, obligation, request)
    result = _together([CheckResult(answer.result) for answer in answers])
    deciding = [answer for answer in answers if answer.result == result.value]
    solver = "" if result is CheckResult.TAMPERED else "+".join(answer.by for answer in deciding)
    seconds = time.monotonic() - start
    is_step = obligation["kind"] == EQUATION
    return CheckRow(obligation["name"], obligation["shows"], result, solver, seconds, deciding[0].why, is_step)


def _answers(folder: Path, obligation: Obligation, asked: _Asked) -> list[Confirmation]:
    try:
        text = _verified_text(folder, obligation)
        uses = _steps_used(obligation, asked.equations)
        steps = {label: _verified_text(folder, shown_by) for label, shown_by in uses.items()}
    except _TamperedError as error:
        return [Confirmation("tampered", str(error))]
    kind = obligation["kind"]
    if kind == SMT_UNSAT and not steps and len(text) < _SHORT and trivially_confirmed(text):
        return [Confirmation("confirmed", by=TRIVIAL)]
    answers: list[Confirmation] = []
    for solver in asked.solvers:
        answers.append(asked.workers.ask(Request(text, kind, solver, asked.seconds, steps)))
        if answers[-1].by != solver:  # decided without a solver: another one would give the same answer
            break
    return answers


class _TamperedError(Exception):
    pass


def _together(answers: list[CheckResult]) -> CheckResult:
    """A solver that refutes outweighs one that confirms; one that confirms outweighs one that cannot decide."""
    order = (CheckResult.TAMPERED, CheckResult.REFUTED, CheckResult.CONFIRMED, CheckResult.UNDECIDED)
    return min(answers, key=order.index)


def _verified_text(folder: Path, obligation: Obligation) -> str:
    """The bytes that were hashed are the bytes that are checked."""
    name: str = obligation["file"]
    if not _FILE_NAME.fullmatch(name) or obligation["kind"] not in KINDS:
        raise _TamperedError("the index names a file or a kind of obligation that isoform does not write")
    try:
        content = _read_regular(folder / name, LARGEST_FILE + 1)
    except OSError as error:
        raise _TamperedError(f"{name} cannot be read ({error.strerror})") from None
    if len(content) > LARGEST_FILE or hashlib.sha256(content).hexdigest() != obligation["sha256"]:
        raise _TamperedError(f"{name} is not the file that was written: its hash is another")
    try:
        return content.decode("ascii")
    except UnicodeDecodeError:
        raise _TamperedError(f"{name} is not plain text") from None


# Steps: equations that one obligation shows and others use.


def _steps_used(obligation: Obligation, equations: Mapping[str, Obligation]) -> dict[str, Obligation]:
    """The obligations that show the steps, by the labels of these."""
    uses = obligation.get("uses", {})
    if not isinstance(uses, dict) or (uses and obligation["kind"] != SMT_UNSAT):
        raise _TamperedError("the index gives steps to an obligation that has none")
    unshown = [str(label) for label, file in uses.items() if not isinstance(file, str) or file not in equations]
    if unshown:
        raise _TamperedError(f"no obligation shows {unshown[0]}")
    return {label: equations[file] for label, file in uses.items()}


def _resting_on_steps(rows: list[CheckRow], obligations: list[Obligation]) -> list[CheckRow]:
    """An obligation that uses a step is confirmed only if the step is."""
    unconfirmed = {
        obligation["file"]: row
        for obligation, row in zip(obligations, rows, strict=True)
        if row.result is not CheckResult.CONFIRMED
    }
    rested = []
    for obligation, row in zip(obligations, rows, strict=True):
        uses = obligation.get("uses") if row.result is CheckResult.CONFIRMED else None
        failed = [unconfirmed[file] for file in (uses or {}).values() if file in unconfirmed]
        why = f"it rests on {failed[0].name}, which is {failed[0].result.value}" if failed else row.why
        rested.append(replace(row, result=CheckResult.UNDECIDED, why=why) if failed else row)
    return rested
