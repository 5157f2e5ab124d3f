"""Certificates of proofs about loops: confirmed by another solver; what is changed in one is noticed."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from isoform.api import compare
from isoform.borders.question import Engine, Options
from isoform.check.certificate import check_certificate
from isoform.load.open import LoadOptions
from isoform.model.check_report import CheckResult
from isoform.model.verdict import Equivalent

pytestmark = pytest.mark.compiler("gcc-12")

SOURCE = "unsigned last(const unsigned *p) { unsigned s = 0; while (*p) s = s * 31 + *p++; return s; }\n"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificate")
    (folder / "f.c").write_text(SOURCE)
    options = Options(engine=Engine.LOOPS, budget=40, cert=str(folder / "proof"))
    found = compare(f"{folder}/f.c", None, options, LoadOptions(cflags=("-O0",)), LoadOptions(cflags=("-O1",)))
    assert isinstance(found, Equivalent)
    assert found.proof.certificate == str(folder / "proof")
    return folder / "proof"


@pytest.fixture
def certificate(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "copy"))


def edit(certificate: Path, change: Callable[[dict[str, Any]], None], rehash: bool) -> None:
    path = certificate / "index.json"
    index = json.loads(path.read_text())
    change(index)
    if rehash:
        index.pop("digest")
        canonical = json.dumps(index, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        index["digest"] = hashlib.sha256(canonical.encode()).hexdigest()
    path.write_text(json.dumps(index))


def obligations(certificate: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((certificate / "index.json").read_text())["obligations"]
    return found


def test_confirmed(written: Path) -> None:
    report = check_certificate(written, seconds=30)
    assert report.ok, [row for row in report.rows if row.result is not CheckResult.CONFIRMED]
    names = [row.name for row in report.rows]
    assert names.count("covered") >= 2
    assert "invariant" in names
    assert "By induction" in report.index["how"]


def drop(certificate: Path, dropped: dict[str, Any], rehash: bool) -> None:
    (certificate / dropped["file"]).unlink()

    def change(index: dict[str, Any]) -> None:
        index["obligations"] = [o for o in index["obligations"] if o["file"] != dropped["file"]]

    edit(certificate, change, rehash)


@pytest.mark.parametrize("rehash", [False, True])
def test_a_cut_that_is_not_covered_is_noticed(certificate: Path, rehash: bool) -> None:
    """By the digest, and where that was recomputed by the gap in the numbers and by the cut that is left."""
    drop(certificate, [o for o in obligations(certificate) if o["name"] == "covered"][-1], rehash)
    report = check_certificate(certificate, seconds=30)
    assert not report.ok
    assert len(report.problems) == (2 if rehash else 3)


def without_invariant(text: str) -> str:
    """The assumption of the invariant taken away: all that is asserted by that name becomes true."""
    found, count = re.subn(r"\(assert \(! .* :named (invariant-\d+)\)\)", r"(assert (! true :named \1))", text)
    assert count
    return found


def test_a_weaker_invariant_is_noticed(certificate: Path) -> None:
    """Even by somebody who recomputes the hashes: with less assumed, what was to be shown no longer follows."""
    weakened = [o for o in obligations(certificate) if ":named invariant-" in (certificate / o["file"]).read_text()]
    hashes = {}
    for obligation in weakened:
        path = certificate / obligation["file"]
        path.write_text(without_invariant(path.read_text()))
        hashes[obligation["file"]] = hashlib.sha256(path.read_bytes()).hexdigest()

    def rehash(index: dict[str, Any]) -> None:
        for obligation in index["obligations"]:
            obligation["sha256"] = hashes.get(obligation["file"], obligation["sha256"])

    edit(certificate, rehash, rehash=True)
    report = check_certificate(certificate, seconds=30)
    assert not report.ok
    assert any(row.result in (CheckResult.REFUTED, CheckResult.TAMPERED) for row in report.rows)


def test_a_file_that_was_changed_is_noticed(certificate: Path) -> None:
    path = certificate / next(o["file"] for o in obligations(certificate) if o["name"] == "invariant")
    path.write_text(path.read_text() + "; more\n")
    report = check_certificate(certificate, seconds=30)
    assert [row.result for row in report.rows if row.result is not CheckResult.CONFIRMED] == [CheckResult.TAMPERED]


def test_an_obligation_that_a_new_index_leaves_out(certificate: Path) -> None:
    """Whoever writes a new index, hashes, numbers and all, cannot leave out what the contract compares."""
    drop(certificate, obligations(certificate)[-1], rehash=True)
    report = check_certificate(certificate, seconds=30)
    assert report.problems == ["There is no goal about memory from cut 1 to the end, which the contract compares."]
