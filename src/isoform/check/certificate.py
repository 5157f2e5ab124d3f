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
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from isoform.errors import UserError

FORMAT = "isoform-certificate"
VERSIONS = (1,)
KINDS = ("smt-unsat", "polynomial-lemma")
LARGEST_INDEX = 1 << 26
LARGEST_FILE = 1 << 28
_FILE_NAME = re.compile(r"[0-9]{2,}-[A-Za-z0-9._-]{1,80}\.smt2")
_GRACE = 15.0
"""Seconds beyond its limit after which a solver is stopped from outside."""


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


@dataclass(frozen=True)
class CheckReport:
    ok: bool
    rows: list[CheckRow]
    problems: list[str]
    """Sentences about the certificate as a whole."""
    index: Mapping[str, Any] = field(default_factory=dict)


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
    obligations = index["obligations"]
    solvers = ["z3", *(["cvc5"] if find_spec("cvc5") else [])]
    rows: dict[int, CheckRow] = {}
    with ThreadPoolExecutor(max_workers=max(1, jobs)) as pool:
        futures = {
            pool.submit(_check_obligation, folder, obligation, solvers, seconds): position
            for position, obligation in enumerate(obligations)
        }
        try:
            for future in as_completed(futures):
                row = rows[futures[future]] = future.result()
                if progress:
                    progress(len(rows), len(obligations), row)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    ordered = [rows[position] for position in sorted(rows)]
    ok = not problems and all(row.result is CheckResult.CONFIRMED for row in ordered)
    return CheckReport(ok, ordered, problems, index)


# The index.


def _read_index(folder: Path) -> dict[str, Any]:
    path = folder / "index.json"
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_INDEX + 1)
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


def _check_obligation(
    folder: Path, obligation: Mapping[str, str], solvers: list[str], seconds: float | None
) -> CheckRow:
    start = time.monotonic()
    asked = ["expansion"] if obligation["kind"] == "polynomial-lemma" else solvers
    try:
        content = _verified_content(folder, obligation)
        answers = [_ask(content, obligation["kind"], solver, seconds) for solver in asked]
    except _TamperedError as error:
        answers = [(CheckResult.TAMPERED, str(error))]
    result = _together([answer for answer, _ in answers])
    why = next(reason for answer, reason in answers if answer is result)
    named = [solver for solver, (answer, _) in zip(asked, answers, strict=False) if answer is result]
    solver = "" if result is CheckResult.TAMPERED else "+".join(named)
    return CheckRow(obligation["name"], obligation["shows"], result, solver, time.monotonic() - start, why)


class _TamperedError(Exception):
    pass


def _together(answers: list[CheckResult]) -> CheckResult:
    """One solver that refutes outweighs another that confirms; one that confirms outweighs one that cannot tell."""
    order = (CheckResult.TAMPERED, CheckResult.REFUTED, CheckResult.CONFIRMED, CheckResult.UNDECIDED)
    return min(answers, key=order.index)


def _verified_content(folder: Path, obligation: Mapping[str, str]) -> bytes:
    """The bytes that were hashed are the bytes that the solver gets."""
    name = obligation["file"]
    if not _FILE_NAME.fullmatch(name) or obligation["kind"] not in KINDS:
        raise _TamperedError("the index names a file or a kind of obligation that isoform does not write")
    try:
        with (folder / name).open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise _TamperedError(f"{name} cannot be read ({error.strerror})") from None
    if len(content) > LARGEST_FILE or hashlib.sha256(content).hexdigest() != obligation["sha256"]:
        raise _TamperedError(f"{name} is not the file that was written: its hash is another")
    return content


def _ask(content: bytes, kind: str, solver: str, seconds: float | None) -> tuple[CheckResult, str]:
    command = [sys.executable, "-P", "-m", "isoform.check.confirm", "--kind", kind, "--solver", solver]
    if seconds is not None:
        command += ["--seconds", str(seconds)]
    # Two attempts at a formula with lemmas, each within the limit.
    limit = None if seconds is None else 2 * seconds + _GRACE
    try:
        done = subprocess.run(command, input=content, capture_output=True, timeout=limit, check=False)
        answer = json.loads(done.stdout)
        return CheckResult(answer["result"]), str(answer["why"])
    except subprocess.TimeoutExpired:
        return CheckResult.UNDECIDED, f"{solver} did not stop in time"
    except (ValueError, KeyError, TypeError):
        return CheckResult.UNDECIDED, f"{solver} ended without an answer{_signal(done.returncode)}"


def _signal(status: int) -> str:
    return f" (signal {-status})" if status < 0 and os.name == "posix" else ""
