"""Certificates: what is written is confirmed by another solver, and whatever is changed in one is noticed."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bitwuzla import Kind, Term, TermManager

from isoform.check.certificate import AtHand, Part, check_certificate
from isoform.model.check_report import CheckResult
from isoform.model.errors import Unsupported, UserError
from isoform.smt.certificate import CertificateWriter
from isoform.smt.polynomial import Normalizer

TARGET, REWRITE = b"\x8d\x04\x37\xc3", b"\x01\xf7\x89\xf8\xc3"
PARTS = [Part("function", "f", "11")._asdict(), Part("constants", "table", "22")._asdict()]


class Question:
    """At 32 bits x(x+1)(x+2)(x+3) against its expansion, behind a load; and a sum in two orders."""

    def __init__(self) -> None:
        self.manager = TermManager()
        self.sort = self.manager.mk_bv_sort(32)
        x = self.x = self.manager.mk_const(self.sort, "x")
        memory = self.manager.mk_const(self.manager.mk_array_sort(self.sort, self.sort), "memory")
        square = self.make(Kind.BV_MUL, x, x)
        cube = self.make(Kind.BV_MUL, square, x)
        factors = [self.make(Kind.BV_ADD, x, self.value(count)) for count in range(4)]
        product = factors[0]
        for factor in factors[1:]:
            product = self.make(Kind.BV_MUL, product, factor)
        total = self.make(Kind.BV_MUL, cube, x)
        for count, power in ((6, cube), (11, square), (6, x)):
            total = self.make(Kind.BV_ADD, total, self.make(Kind.BV_MUL, self.value(count), power))
        self.product, self.total = product, total
        loads = [self.make(Kind.ARRAY_SELECT, memory, address) for address in (product, total)]
        self.goal = self.make(Kind.DISTINCT, *loads)
        y = self.manager.mk_const(self.sort, "t1")
        self.sum_goal = self.make(Kind.DISTINCT, self.make(Kind.BV_ADD, x, y), self.make(Kind.BV_ADD, y, x))
        self.satisfiable = self.make(Kind.DISTINCT, x, y)

    def make(self, kind: Kind, *operands: Term) -> Term:
        return self.manager.mk_term(kind, list(operands))

    def value(self, value: int) -> Term:
        return self.manager.mk_bv_value(self.sort, value)


def index(**changes: Any) -> dict[str, Any]:
    """Of two functions that never return, so that a goal each for that and for aborts is all it takes."""
    sides = {
        name: {"path": f"{name}.o", "function": "f", "isa": "x86_64", "code": code, "declared": None, "parts": parts}
        for name, code, parts in (("target", TARGET, PARTS[:1]), ("rewrite", REWRITE, PARTS))
    }
    contract = {"return_as": "void", "memory": "compare", "aborts": "equal", "results": []}
    rest = {"verdict": "equivalent", "how": "Every obligation is unsatisfiable.", "assumptions": []}
    more = {"contract": contract, "engine": "loopfree", "returns": False, "calls": False, "apart": False}
    return {**sides, **rest, **more, **changes}


def write(folder: Path) -> Path:
    question = Question()
    normalizer = Normalizer(question.manager)
    normalizer.normalize(question.goal)
    writer = CertificateWriter(folder)
    writer.add_smt("aborts", "the loads agree", [("differs", question.goal)], normalizer.lemmas)
    writer.add_smt("returns", "the sums agree", [("differs", question.sum_goal)])
    writer.add_equation("expansion", "the addresses are one polynomial", *normalizer.lemmas[0])
    writer.finish(index())
    return folder


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    return write(tmp_path / "certificate")


def test_confirmed(certificate: Path) -> None:
    seen: list[int] = []
    report = check_certificate(certificate, progress=lambda done, total, row: seen.append(total * 10 + done))
    assert report.ok, report
    assert [row.result for row in report.rows] == [CheckResult.CONFIRMED] * 3
    assert [row.solver for row in report.rows] == ["expansion"] * 3
    assert seen == [31, 32, 33]


def test_confirmed_by_a_solver(tmp_path: Path) -> None:
    question = Question()
    x, y = question.x, question.manager.mk_const(question.sort, "y")
    total = question.make(Kind.BV_ADD, question.make(Kind.BV_AND, x, y), question.make(Kind.BV_OR, x, y))
    writer = CertificateWriter(tmp_path / "solver")
    goal = question.make(Kind.DISTINCT, total, question.make(Kind.BV_ADD, x, y))
    writer.add_smt("same sum", "the sums agree", [("sums-differ", goal)])
    writer.finish(index())
    (row,) = check_certificate(tmp_path / "solver").rows
    assert row.result is CheckResult.CONFIRMED
    assert "z3" in row.solver


def at_hand(**changes: Any) -> tuple[AtHand, AtHand]:
    target = AtHand("old.o", "f", "x86_64", None, [Part(**PARTS[0])])
    declared = "int f(int x)"
    parts = [Part(**p) for p in PARTS]
    rewrite = {"path": "new.o", "function": "f", "isa": "x86_64", "declared": declared, "parts": parts}
    return target, AtHand(**{**rewrite, **changes})


def test_the_code_at_hand(certificate: Path) -> None:
    report = check_certificate(certificate, at_hand=at_hand())
    assert report.ok
    assert report.code_compared
    assert not check_certificate(certificate).code_compared


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"function": "g"}, "The certificate is about f, not about g of new.o."),
        ({"isa": "toy"}, "The certificate is about code for x86_64, new.o has code for toy."),
        ({"parts": [Part("function", "f", "12"), Part(**PARTS[1])]}, "The code of f in new.o is not what"),
        ({"parts": [Part(**PARTS[0]), Part("constants", "table", "23")]}, "What table holds in new.o is not what"),
        ({"parts": [Part(**PARTS[0])]}, "What table holds in new.o is not what"),
        ({"parts": [*(Part(**p) for p in PARTS), Part("data", "more", "33")]}, "is made of other parts"),
    ],
)
def test_other_code_is_noticed(certificate: Path, changes: dict[str, Any], said: str) -> None:
    report = check_certificate(certificate, at_hand=at_hand(**changes))
    assert not report.ok
    assert said in report.problems[0]


def test_another_declaration_is_noticed(certificate: Path) -> None:
    edit_index(certificate, lambda entries: entries["rewrite"].update(declared="long f(int x)"), rehash=True)
    assert check_certificate(certificate, at_hand=at_hand(declared=None)).ok
    (problem,) = check_certificate(certificate, at_hand=at_hand()).problems
    assert problem == "new.o declares int f(int x), the certificate is about long f(int x)."


def edit_index(certificate: Path, change: Callable[[dict[str, Any]], None], rehash: bool = False) -> None:
    path = certificate / "index.json"
    entries = json.loads(path.read_text())
    change(entries)
    if rehash:
        entries.pop("digest")
        canonical = json.dumps(entries, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        entries["digest"] = hashlib.sha256(canonical.encode()).hexdigest()
    path.write_text(json.dumps(entries))


def drop_an_obligation(certificate: Path) -> None:
    edit_index(certificate, lambda entries: entries["obligations"].pop())


def drop_one_and_its_file(certificate: Path) -> None:
    drop_an_obligation(certificate)
    (certificate / "03-expansion.smt2").unlink()


def drop_a_file(certificate: Path) -> None:
    (certificate / "02-returns.smt2").unlink()


def weaken(certificate: Path) -> None:
    path = certificate / "02-returns.smt2"
    path.write_text(path.read_text().replace("(bvadd x t1)", "(bvadd x x)"))


def swap_files(certificate: Path) -> None:
    one, other = certificate / "01-aborts.smt2", certificate / "02-returns.smt2"
    texts = one.read_text(), other.read_text()
    one.write_text(texts[1])
    other.write_text(texts[0])


def change_the_code(certificate: Path) -> None:
    edit_index(certificate, lambda entries: entries["target"].update(code="8d0438c3"))


def change_the_verdict_text(certificate: Path) -> None:
    edit_index(certificate, lambda entries: entries.update(how="Trust me."))


def add_a_file(certificate: Path) -> None:
    (certificate / "04-more.smt2").write_text("(check-sat)")


@pytest.mark.parametrize(
    "tamper",
    [
        drop_an_obligation,
        drop_one_and_its_file,
        drop_a_file,
        weaken,
        swap_files,
        change_the_code,
        change_the_verdict_text,
        add_a_file,
    ],
)
def test_tampering_is_noticed(certificate: Path, tamper: Callable[[Path], None]) -> None:
    tamper(certificate)
    report = check_certificate(certificate)
    assert not report.ok
    assert report.problems or any(row.result is CheckResult.TAMPERED for row in report.rows)


def rewrite_file(certificate: Path, file: str, old: str, new: str) -> None:
    """Somebody who also recomputes the hashes."""
    path = certificate / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))

    def change(entries: dict[str, Any]) -> None:
        for obligation in entries["obligations"]:
            if obligation["file"] == file:
                obligation["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()

    edit_index(certificate, change, rehash=True)


@pytest.mark.parametrize(
    ("file", "old", "new", "result"),
    [
        ("02-returns.smt2", "(bvadd x t1)", "(bvadd x x)", CheckResult.REFUTED),
        ("01-aborts.smt2", "#x0000000b", "#x0000000c", CheckResult.REFUTED),
        ("03-expansion.smt2", "#x0000000b", "#x0000000c", CheckResult.REFUTED),
        ("02-returns.smt2", ":named differs", ":named lemma-1", CheckResult.REFUTED),
        ("02-returns.smt2", "(check-sat)", "(assert false)", CheckResult.TAMPERED),
        ("02-returns.smt2", "(check-sat)", "(reset)", CheckResult.TAMPERED),
        ("03-expansion.smt2", "(distinct ", "(= ", CheckResult.TAMPERED),
    ],
)
def test_tampering_that_mends_the_hashes(certificate: Path, file: str, old: str, new: str, result: CheckResult) -> None:
    rewrite_file(certificate, file, old, new)
    report = check_certificate(certificate)
    assert not report.problems
    assert not report.ok
    assert [row.result for row in report.rows if row.result is not CheckResult.CONFIRMED] == [result]


def test_a_false_lemma_proves_nothing(tmp_path: Path) -> None:
    """With x = x + 1 everything is unsatisfiable; it must not be believed."""
    question = Question()
    writer = CertificateWriter(tmp_path / "false")
    lie = (question.x, question.make(Kind.BV_ADD, question.x, question.value(1)))
    writer.add_smt("lie", "nothing", [("goal", question.satisfiable)], [lie])
    writer.finish(index())
    (row,) = check_certificate(tmp_path / "false").rows
    assert row.result is CheckResult.REFUTED
    assert "lemma-1" in row.why


def factors_of_a_prime(question: Question) -> Term:
    sort = question.manager.mk_bv_sort(32)
    factors = [question.manager.mk_const(sort, name) for name in "pq"]
    one = question.manager.mk_bv_value(sort, 1)
    wide = [question.manager.mk_term(Kind.BV_ZERO_EXTEND, [factor], [32]) for factor in factors]
    prime = question.manager.mk_bv_value(question.manager.mk_bv_sort(64), 2**61 - 1)
    product = question.make(Kind.EQUAL, question.make(Kind.BV_MUL, *wide), prime)
    return question.make(Kind.AND, product, *(question.make(Kind.BV_UGT, factor, one) for factor in factors))


def test_undecided_in_time(tmp_path: Path) -> None:
    question = Question()
    writer = CertificateWriter(tmp_path / "hard")
    writer.add_smt("hard", "a prime number has no factors", [("factors", factors_of_a_prime(question))])
    writer.finish(index())
    report = check_certificate(tmp_path / "hard", seconds=1)
    assert not report.ok
    assert report.rows[0].result is CheckResult.UNDECIDED


def test_names_stay_apart(tmp_path: Path) -> None:
    """Two different inputs of one name, names of operators, and names that SMT-LIB cannot write."""
    question = Question()
    names = ["x", "bvadd", "select", "a|b", "a b", "größe", ""]
    inputs = [question.manager.mk_const(question.sort, name) for name in names]
    equal = [question.make(Kind.EQUAL, question.x, other) for other in inputs]
    writer = CertificateWriter(tmp_path / "names")
    unequal = question.make(Kind.AND, question.make(Kind.NOT, equal[0]), *equal[1:])
    writer.add_smt("names", "not unsatisfiable", [("goal", unequal), ("goal", equal[1])])
    writer.finish(index())
    (row,) = check_certificate(tmp_path / "names").rows
    assert row.result is CheckResult.REFUTED


def test_no_form_in_smtlib(tmp_path: Path) -> None:
    question = Question()
    strange = question.make(Kind.EQUAL, question.x, question.make(Kind.BV_ROL, question.x, question.x))
    writer = CertificateWriter(tmp_path / "strange")
    with pytest.raises(Unsupported, match="BV_ROL"):
        writer.add_smt("strange", "", [("goal", strange)])
    assert list(tmp_path.iterdir()) == []


def test_an_old_certificate_is_replaced(certificate: Path) -> None:
    write(certificate)
    assert sorted(path.name for path in certificate.parent.iterdir()) == ["certificate"]
    assert check_certificate(certificate).ok


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    writer = CertificateWriter(tmp_path / "c")
    writer.add_smt("sum", "", [("goal", Question().sum_goal)])
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    """And nothing else: not what somebody else is writing, nor what only looks like it."""
    done = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    ended = int(done.stdout)
    (tmp_path / f".certificate-{ended}-abc").mkdir()
    (tmp_path / f".certificate-{ended}-abc" / "01-aborts.smt2").write_text("(check-sat)")
    kept = [f".certificate-{os.getpid()}-abc", ".certificate-notes", f".certificates-{ended}-abc"]
    for name in kept:
        (tmp_path / name).mkdir()
    write(tmp_path / "certificate")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["certificate", *kept])


def test_a_disk_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path, content: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(UserError, match="No space left on device"):
        write(tmp_path / "certificate")
    assert list(tmp_path.iterdir()) == []


def test_places_refused(tmp_path: Path, certificate: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.tex").write_text("")
    (certificate / "notes.txt").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "inside", tmp_path / "folder", certificate, Path("/proc/c")):
        with pytest.raises(UserError, match="--cert"):
            CertificateWriter(place)
    assert (tmp_path / "folder" / "thesis.tex").exists()


@pytest.mark.parametrize("content", [None, "", "[]", "{}", '{"format": "isoform-certificate"}', "[" * 100_000])
def test_folders_that_are_no_certificate(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "index.json").write_text(content)
    with pytest.raises(UserError, match=r"index\.json"):
        check_certificate(tmp_path)


def test_index_that_leads_elsewhere(certificate: Path) -> None:
    edit_index(certificate, lambda entries: entries["obligations"][0].update(file="../02-returns.smt2"), rehash=True)
    report = check_certificate(certificate)
    assert not report.ok
    assert report.rows[0].result is CheckResult.TAMPERED


def test_checker_imports_no_engine() -> None:
    unwanted = ("isoform.engines", "isoform.sym", "isoform.lift", "isoform.smt", "bitwuzla")
    program = (
        "import sys, isoform.check.certificate, isoform.check.confirm\n"
        f"print([name for name in sys.modules if name.startswith({unwanted})])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "index.json")
    with pytest.raises(UserError, match="no regular file"):
        check_certificate(tmp_path)
