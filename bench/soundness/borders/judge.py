"""One case: build it, run it, ask isoform, and hold the verdict against what is known."""

from __future__ import annotations

import contextlib
import io
import json
import signal
import subprocess
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from elftools.elf.elffile import ELFFile

from isoform.load.compile import compiler
from isoform.model.errors import UserError
from soundness.borders.case import LIBRARY, PROGRAM, Case, Part
from soundness.borders.emulate import Unrunnable, built_harness, recorded
from soundness.judge import Judged

HANGS_AFTER = 150
"""Seconds: a question that takes longer whatever its budget is trouble of its own."""
_ZIG = ("-target", "x86_64-linux-gnu", "-fno-sanitize=undefined")
ALWAYS = ("-w", "-fno-strict-aliasing", "-ffp-contract=off")


@dataclass(frozen=True)
class Truth:
    """What is known of a case. Neither: nothing."""

    same: bool = False
    differs: bool = False
    note: str = ""
    """Why the harness decided nothing."""


class Refused(Exception):
    """The compiler does not take this source."""


def build(text: str, part: Part, path: Path, suffix: str, harness: str = "") -> tuple[Path, Path]:
    """The object file for the harness, and the file that isoform is asked about."""
    source = path.with_suffix(suffix)
    source.write_text(text)
    made = path.with_suffix(".o")
    words = [*compiler(part.cc), *words_of(part), *ALWAYS]
    _run([*words, *part.flags, "-g" if part.debug else "-g0", "-c", str(source), "-o", str(made)])
    asked = made
    if part.form == LIBRARY:
        asked = path.with_suffix(".so")
        _run(["gcc", "-shared", "-nostdlib", "-Wl,-z,noexecstack", str(made), "-o", str(asked)])
    elif part.form == PROGRAM:
        asked, around = path.with_suffix(".program"), path.with_name("libharness.so")
        if not around.exists():
            source = path.with_name("library.c")
            source.write_text(harness)
            _run(["gcc", "-O1", "-w", "-fno-builtin", "-shared", "-fPIC", "-nostdlib", str(source), "-o", str(around)])
        kind = "-no-pie" if "-fno-pic" in part.flags else "-pie"
        _run(
            [
                "gcc",
                kind,
                "-nostdlib",
                "-Wl,-e,f",
                "-Wl,-z,noexecstack,--allow-shlib-undefined",
                str(made),
                str(around),
                "-lgcc",
                "-o",
                str(asked),
            ]
        )
    return made, asked


def words_of(part: Part) -> tuple[str, ...]:
    """What this compiler needs whatever is built."""
    return _ZIG if part.cc == "zig" else ()


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != 0:
        raise Refused(done.stderr.strip()[-400:])


def truth(case: Case, sides: tuple[Path, Path], folder: Path) -> Truth:
    """By construction, and by what the two do in the harness; a contradiction between the two says nothing."""
    if not case.harness:
        return Truth(same=case.same, differs=case.differs)
    try:
        harness = built_harness(case.harness, folder)
        left, right = (recorded(harness, side) for side in sides)
    except Unrunnable as reason:
        return Truth(same=case.same, differs=case.differs, note=str(reason))
    if case.same and left != right:
        return Truth(note="the harness sees a difference though there is none by construction")
    return Truth(same=case.same, differs=case.differs or left != right)


def asked(case: Case, files: tuple[Path, Path], budget: float) -> dict[str, object]:
    """The answer of `isoform compare --json`, in this process: starting a new one takes longer than most questions."""
    from isoform.cli.verbs import answered

    words = ["compare", *(f"{file}:{case.function}" for file in files), *case.options]
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()) as err, _alarm():
        code = answered([*words, "--budget", f"{budget:g}", "--json"])
    if not out.getvalue().strip():
        raise UserError(f"exit code {code}: {err.getvalue().strip()[-300:]}")
    answer: dict[str, object] = json.loads(out.getvalue())
    return answer


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"no answer after {HANGS_AFTER} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(HANGS_AFTER)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def judge_case(case: Case, parts: tuple[Part, Part], folder: Path, label: str, budget: float) -> Judged:
    kind = "same" if case.same else "differs"
    topic = f"{case.topic}: {case.change}"
    try:
        texts = (case.target, case.rewrite)
        built = [build(t, p, folder / n, case.suffix, case.harness) for t, p, n in zip(texts, parts, "ab", strict=True)]
    except Refused as error:
        return Judged(label, kind, "trouble", 0.0, why=f"{topic}: does not compile: {error}")
    started = time.process_time()
    try:
        answer = asked(case, (built[0][1], built[1][1]), budget)
    except UserError as error:
        return Judged(label, kind, "trouble", time.process_time() - started, why=f"{case.topic}: refused: {error}")
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{topic}: crash: {type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
        return Judged(label, kind, "trouble", time.process_time() - started, wrong=text)
    word = str(answer["verdict"])
    contested = (word == "equivalent" and not case.same) or (word == "different" and case.same)
    # The harness is run where its word counts: building and running it takes longer than most answers.
    known = truth(case, (built[0][0], built[1][0]), folder) if contested else Truth()
    why = known.note or str(answer.get("why") or "")
    if case.topic == "placement" and _is_same_code(built[0][0], built[1][0]):
        known = Truth(note="the compiler knew the answer")
    if case.change.startswith("high bits") and any("-fno-pic" in part.flags for part in parts):
        known = Truth(note="code that holds the address in 32 bits is linked only where it fits")
    violated = case.violates + (() if any(part.debug for part in parts) else case.violates_stripped)
    excused = {*_assumed(answer)} & {*violated} | {*_differences(answer)} & {*case.allowed}
    if excused and _wrong(known, word, answer):
        known, why = Truth(), f"excused by {', '.join(sorted(excused))}"
    wrong = _wrong(known, word, answer)
    return Judged(label, kind, word, time.process_time() - started, why, f"{topic}: {wrong}" if wrong else "")


def _is_same_code(left: Path, right: Path) -> bool:
    texts = [_section(path, ".text") for path in (left, right)]
    return texts[0] == texts[1]


def _section(path: Path, name: str) -> bytes:
    with path.open("rb") as file:
        section = ELFFile(file).get_section_by_name(name)
        return b"" if section is None else bytes(section.data())


def _wrong(known: Truth, word: str, answer: dict[str, object]) -> str:
    names = ", ".join(_assumed(answer)) or "none"
    if word == "equivalent" and known.differs:
        return f"equivalent, but they differ [assumptions: {names}]"
    if word == "different" and known.same:
        shown = next(iter(_differences(answer)), "")
        return f"different, but equivalent by construction: {shown} [assumptions: {names}]"
    if "bug in isoform" in str(answer.get("why") or ""):
        return str(answer["why"])
    return ""


def _differences(answer: dict[str, object]) -> list[str]:
    witness = answer.get("witness")
    return [found["what"] for found in witness.get("differences", ())] if isinstance(witness, dict) else []


def _assumed(answer: dict[str, object]) -> list[str]:
    listed = answer.get("assumptions")
    if not isinstance(listed, list):
        return []
    return [str(item.get("name", item)) if isinstance(item, dict) else str(item) for item in listed]
