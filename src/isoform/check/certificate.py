"""Re-checks a certificate with other solvers, from its files alone.

What a confirmed certificate shows: the files are the ones that were written (hashes), nothing was dropped from or added
to the list (digest), every formula is unsatisfiable according to a solver that did not find the proof, and every
polynomial identity holds by our own expansion. What it does not show: that the formulas say what the functions do.
That rests on the lifter and the encoder, which are checked elsewhere (replay on independent CPU models). Nor do
hashes stop somebody who writes a new certificate with new hashes: a formula for other code is then noticed
only by comparing the code in the index with the code at hand, which is what `code` is for.

Imports nothing of `engines/`, `sym/`, `lift/` or `smt/`.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from isoform.check.confirm import EQUATION, KINDS, SMT_UNSAT, TRIVIAL, Answer, Request, trivially_confirmed
from isoform.check.workers import Workers
from isoform.errors import UserError

FORMAT = "isoform-certificate"
VERSIONS = (1,)
LARGEST_INDEX = 1 << 26
LARGEST_FILE = 1 << 28
_FILE_NAME = re.compile(r"[0-9]{2,}-[A-Za-z0-9._-]{1,80}\.smt2")
_SHORT = 1 << 16
"""Characters of a text that is looked at without a process of its own."""
Obligation = Mapping[str, Any]


class CheckResult(Enum):
    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    """Not unsatisfiable, or not an identity."""
    UNDECIDED = "undecided"
    TAMPERED = "tampered"
    """Not the file that was written, or not one that isoform writes."""


@dataclass(frozen=True)
class CheckRow:
    """What became of one obligation."""

    name: str
    shows: str
    result: CheckResult
    solver: str
    seconds: float
    why: str = ""
    is_step: bool = False
    """Shows an equation that others use."""


@dataclass(frozen=True)
class CheckReport:
    ok: bool
    rows: list[CheckRow]
    problems: list[str]
    """Sentences about the certificate as a whole."""
    index: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class _Asked:
    """What every obligation is asked with."""

    workers: Workers
    solvers: list[str]
    seconds: float | None
    equations: Mapping[str, Obligation]
    """The obligations that show steps, by their files."""


Progress = Callable[[int, int, CheckRow], None]
"""Told, as each obligation is done: how many are, of how many, and what became of it."""


def check_certificate(
    folder: Path,
    jobs: int = 2,
    progress: Progress | None = None,
    seconds: float | None = None,
    code: tuple[bytes, bytes] | None = None,
) -> CheckReport:
    """Confirm every obligation, `jobs` at a time, each within `seconds`. `code` is the code of the target and of the
    rewrite at hand: the certificate must be about these very bytes."""
    index = _read_index(folder)
    problems = [*_index_problems(index, folder), *_code_problems(index, code)]
    obligations: list[Obligation] = index["obligations"]
    equations = {o["file"]: o for o in obligations if o["kind"] == EQUATION}
    solvers = ["z3", *(["cvc5"] if find_spec("cvc5") else [])]
    rows: dict[int, CheckRow] = {}
    with ThreadPoolExecutor(max_workers=max(1, jobs)) as pool, Workers(max(1, jobs)) as workers:
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
    ok = not problems and all(row.result is CheckResult.CONFIRMED for row in ordered)
    return CheckReport(ok, ordered, problems, index)


def _read_regular(path: Path, most: int) -> bytes:
    """The start of a regular file: opening a pipe could wait without end."""
    if path.exists() and not path.is_file():
        raise OSError(0, "it is no regular file")
    with path.open("rb") as file:
        return file.read(most)


# The index.


def _read_index(folder: Path) -> dict[str, Any]:
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
    if not well_formed or not all(isinstance(s, dict) and isinstance(s.get("code"), str) for s in sides):
        raise UserError(f"'{path}' lacks parts of a certificate's index; write the certificate again")


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


def _code_problems(index: Mapping[str, Any], code: tuple[bytes, bytes] | None) -> list[str]:
    problems = []
    for position, side in enumerate(("target", "rewrite")):
        try:
            written = bytes.fromhex(index[side]["code"])
        except ValueError:
            problems.append(f"The code of the {side} in the index is no hexadecimal number.")
            continue
        if index[side].get("sha256") != hashlib.sha256(written).hexdigest():
            problems.append(f"The code of the {side} in the index does not have the hash beside it.")
        if code is not None and code[position] != written:
            problems.append(f"The certificate is about other code than the {side} given.")
    return problems


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


def _answers(folder: Path, obligation: Obligation, asked: _Asked) -> list[Answer]:
    try:
        text = _verified_text(folder, obligation)
        uses = _steps_used(obligation, asked.equations)
        steps = {label: _verified_text(folder, shown_by) for label, shown_by in uses.items()}
    except _TamperedError as error:
        return [Answer("tampered", str(error))]
    kind = obligation["kind"]
    if kind == SMT_UNSAT and not steps and len(text) < _SHORT and trivially_confirmed(text):
        return [Answer("confirmed", by=TRIVIAL)]
    answers: list[Answer] = []
    for solver in asked.solvers:
        answers.append(asked.workers.ask(Request(text, kind, solver, asked.seconds, steps)))
        if answers[-1].by != solver:  # decided without a solver, so another one would not say anything else
            break
    return answers


class _TamperedError(Exception):
    pass


def _together(answers: list[CheckResult]) -> CheckResult:
    """One solver that refutes outweighs another that confirms; one that confirms outweighs one that cannot tell."""
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
    """What uses a step is confirmed only if the step is."""
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
