"""Writes a certificate: every obligation as a file, and an index that says what they show together.

Everything is kept until the end, written beside its place under another name and moved there, so that a half-written
certificate is never visible. What a killed process left behind is removed by the next one. `check/certificate.py` reads
a certificate with another solver; `docs/certificates.md` describes the format.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bitwuzla import Term

from isoform.model.check_report import LISTING_FORMAT
from isoform.model.errors import UserError
from isoform.model.values import dataclass
from isoform.smt.printer import formula_lines

FORMAT = "isoform-certificate"
VERSION = 2
SMT_UNSAT = "smt-unsat"
EQUATION = "equation"
_REQUIRED = ("verdict", "how", "target", "rewrite", "contract", "assumptions")


@dataclass(frozen=True)
class UsedStep:
    """In an obligation `term` may be replaced by `other`: with the steps before it applied, an instance of the equation
    that the obligation in another file shows."""

    label: str
    """`step-` and something that no other step of the obligation has."""
    term: Term
    other: Term
    shown_by: str
    """The file."""


class CertificateWriter:
    """An unfinished certificate leaves nothing behind."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()
        require_place(self._folder)
        self._obligations: list[dict[str, Any]] = []
        self._files: dict[str, bytes] = {}

    def add_smt(
        self,
        name: str,
        shows: str,
        assertions: Sequence[tuple[str, Term]],
        lemmas: Sequence[tuple[Term, Term]] = (),
        steps: Sequence[UsedStep] = (),
        place: Mapping[str, int | str] | None = None,
    ) -> None:
        """An obligation: the assertions, each with a label, are unsatisfiable together. `lemmas` are rewrites of the
        `Normalizer` that were used to show it; they are asserted as equations that the checker verifies itself. `steps`
        are applied first, in order; lemmas then refer to the resulting assertions. `place` says between which cuts it
        is, if there are any."""
        equations = [(step.label, step.term, step.other) for step in steps]
        more: dict[str, Any] = {"uses": {step.label: step.shown_by for step in steps}} if steps else {}
        self._add(name, shows, SMT_UNSAT, question_text(assertions, equations, lemmas), {**more, **(place or {})})

    def add_equation(
        self, name: str, shows: str, left: Term, right: Term, lemmas: Sequence[tuple[Term, Term]] = ()
    ) -> str:
        """An obligation that steps can use: two terms are equal for all values of their symbols. Returns its file."""
        return self._add(name, shows, EQUATION, question_text([], [], lemmas, [("differ", left, right)]))

    def _add(self, name: str, shows: str, kind: str, text: str, more: Mapping[str, Any] | None = None) -> str:
        number = len(self._obligations) + 1
        safe_name = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "obligation"
        file = f"{number:02}-{safe_name[:80]}.smt2"
        shows = " ".join(shows.split())
        content = f"; {_plain(shows)}\n(set-info :source |isoform: {_plain(name)}|)\n{text}".encode()
        self._files[file] = content
        entry = {"name": name, "file": file, "kind": kind, "shows": shows}
        digest = hashlib.sha256(content).hexdigest()
        self._obligations.append({**entry, "sha256": digest, **(more or {})})
        return file

    def finish(self, index: Mapping[str, Any]) -> Path:
        """Write the index and put the certificate in its place. `index` has the verdict, `how` the obligations
        together give it, `target` and `rewrite` (path, function, isa, and `code` as bytes), `contract` and
        `assumptions`; whatever else it has is kept."""
        missing = [key for key in _REQUIRED if key not in index]
        if missing:
            raise ValueError(f"the index of a certificate needs {', '.join(missing)}")
        entries = {
            "format": FORMAT,
            "version": VERSION,
            **index,
            "target": _side(index["target"]),
            "rewrite": _side(index["rewrite"]),
            "obligations": self._obligations,
        }
        entries["digest"] = index_digest(entries)
        self._files["index.json"] = (json.dumps(entries, indent=2, ensure_ascii=False) + "\n").encode()
        put_in_place(self._folder, self._files)
        return self._folder


def put_in_place(folder: Path, files: Mapping[str, bytes]) -> None:
    """The files as a folder, in the place of an older certificate."""
    folder = folder.absolute()
    unfinished: Path | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(folder)
        unfinished = _beside(folder)
        for file, content in files.items():
            (unfinished / file).write_bytes(content)
        _replace(folder, unfinished)
    except OSError as error:
        raise _not_writable(folder, error) from None
    finally:
        if unfinished is not None:
            shutil.rmtree(unfinished, ignore_errors=True)


def question_text(
    assertions: Sequence[tuple[str, Term]],
    steps: Sequence[tuple[str, Term, Term]] = (),
    lemmas: Sequence[tuple[Term, Term]] = (),
    inequations: Sequence[tuple[str, Term, Term]] = (),
) -> str:
    """The query, as a file without its heading."""
    equations = [*steps, *((f"lemma-{count}", *lemma) for count, lemma in enumerate(lemmas, 1))]
    lines = ["(set-info :status unsat)", *formula_lines(assertions, equations, inequations), "(check-sat)", ""]
    return "\n".join(lines)


def index_digest(entries: Mapping[str, Any]) -> str:
    """Over everything in the index but itself and, through the hashes in it, over every file."""
    rest = {key: value for key, value in entries.items() if key != "digest"}
    canonical = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _side(side: Mapping[str, Any]) -> dict[str, Any]:
    code: bytes = side["code"]
    return {**side, "code": code.hex(), "sha256": hashlib.sha256(code).hexdigest()}


def _plain(text: str) -> str:
    """Text that is allowed in a comment or a quoted symbol."""
    return re.sub(r"[^ -~]|[|\\]", "?", text)


def _refuse_foreign(folder: Path) -> None:
    """Only an empty folder or a certificate may be replaced, and no other content."""
    if not os.path.lexists(folder):
        return
    if not folder.is_dir():
        raise UserError(f"'{folder}' is not a folder; give --cert a folder that does not exist yet")
    try:
        names = {entry.name for entry in folder.iterdir()}
        known = _certificate_files(folder) if "index.json" in names else set()
    except OSError as error:
        raise _not_writable(folder, error) from None
    if names - known:
        raise UserError(f"'{folder}' holds something else than a certificate; give --cert a folder of its own")


def _certificate_files(folder: Path) -> set[str]:
    try:
        index = json.loads((folder / "index.json").read_bytes())
        if index["format"] == LISTING_FORMAT:
            return {"index.json"}
        if index["format"] != FORMAT:
            return set()
        return {"index.json", *(obligation["file"] for obligation in index["obligations"])}
    except (ValueError, KeyError, TypeError, RecursionError):
        return set()


def require_place(folder: Path) -> None:
    """Refuse a place where no certificate can be written, before any work is done."""
    folder = folder.absolute()
    _refuse_foreign(folder)
    there = next(parent for parent in folder.parents if os.path.lexists(parent))
    try:
        tempfile.TemporaryDirectory(prefix=_prefix(folder), dir=there).cleanup()
    except OSError as error:
        raise _not_writable(folder, error) from None


def _prefix(folder: Path) -> str:
    return f".{folder.name}-"


def _beside(folder: Path) -> Path:
    """A folder for unfinished work, whose name identifies the writing process."""
    return Path(tempfile.mkdtemp(prefix=f"{_prefix(folder)}{os.getpid()}-", dir=folder.parent))


def _remove_abandoned(folder: Path) -> None:
    """Removes what processes left that were killed while writing to the same place."""
    for path in folder.parent.glob(f"{glob.escape(_prefix(folder))}*-*"):
        writer = path.name.removeprefix(_prefix(folder)).partition("-")[0]
        if writer.isdigit() and path.is_dir() and not path.is_symlink() and not _is_running(int(writer)):
            shutil.rmtree(path, ignore_errors=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _replace(folder: Path, unfinished: Path) -> None:
    unfinished.chmod(0o755)
    _refuse_foreign(folder)
    if folder.is_dir() and any(folder.iterdir()):
        outdated = _beside(folder)
        folder.rename(outdated / "certificate")
        unfinished.rename(folder)
        shutil.rmtree(outdated, ignore_errors=True)
    else:
        unfinished.rename(folder)


def _not_writable(folder: Path, error: OSError) -> UserError:
    reason = error.strerror or str(error)
    return UserError(f"cannot write a certificate to '{folder}' ({reason}); give --cert a folder that can be written")
