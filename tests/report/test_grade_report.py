"""The reports of `isoform grade`: complete, the same every time, and safe whatever a submission contains."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pytest

from isoform.model.grades import CodeLine, FailedTest, FixedTestResults, GradedAnswer, Grades, Observable, Row, Standing
from isoform.report.grade_csv import COLUMNS, grades_as_csv
from isoform.report.grade_html import grades_as_html
from isoform.report.grade_json import grades_as_json, grades_dumps
from isoform.report.grade_table import print_grades
from isoform.report.grade_words import missed_in_words, note_of, summary_of_grades

HOSTILE = '<script>alert("1")</script><img src=x onerror=alert(2)>\x1b[31m\u202e=cmd|x'


def hostile_row() -> Row:
    answer = GradedAnswer(
        Standing.DIFFERENT,
        why=HOSTILE,
        engine=HOSTILE,
        inputs=((HOSTILE, HOSTILE),),
        memory=(HOSTILE,),
        observables=(Observable(HOSTILE, HOSTILE, HOSTILE),),
        replayed_on=(HOSTILE,),
        assumptions=((HOSTILE, HOSTILE),),
        divergent=4,
        divergence=HOSTILE,
        not_stopping=HOSTILE,
        tests=FixedTestResults(1, 2, (FailedTest(1, HOSTILE, HOSTILE, HOSTILE),)),
    )
    return Row(HOSTILE, HOSTILE, answer, 2, (CodeLine(HOSTILE, HOSTILE, 1, True),), HOSTILE)


def different(name: str, passed: int = 20) -> Row:
    answer = GradedAnswer(
        Standing.DIFFERENT,
        seconds=0.25,
        inputs=(("$1", "0"), ("$2", "-2147483648 (0x80000000)")),
        observables=(Observable("return value", "0", "-2147483648 (0x80000000)"),),
        divergent=8,
        divergence="this sets $3 for the last time",
        tests=FixedTestResults(passed, 20),
    )
    listing = (CodeLine("1", "; comment", is_code=False), CodeLine("2", "\tadd $3, $2, $0", 1, True))
    return Row(name, f"in/{name}.asm", answer, 2, listing)


def grades(*rows: Row, total: int | None = None) -> Grades:
    return Grades("reference.asm", "reference", "in", rows, len(rows) if total is None else total, 20, 1.5)


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text)))


def test_the_note_says_what_tests_missed() -> None:
    note = "differs on $1 = 0, $2 = -2147483648 (0x80000000): reference 0, submission -2147483648 (0x80000000) (line 2)"
    assert note_of(different("a")) == f"passes all 20 tests, but {note}"
    assert note_of(different("a", passed=19)) == note


def test_the_summary_counts() -> None:
    some = grades(different("a"), different("b", 3), Row("c", "c", GradedAnswer(Standing.EQUIVALENT)))
    assert summary_of_grades(some) == "3 submissions: 1 equivalent, 2 different"
    assert missed_in_words(some) == "1 submission passes all of the 20 tests and yet differs: a."
    assert summary_of_grades(grades(different("a"), total=9)) == "1 of 9 submissions: 1 different"


def test_csv_has_no_times() -> None:
    text = grades_as_csv(grades(different("a")))
    (row,) = rows_of(text)
    assert tuple(row) == COLUMNS
    assert row["missed_by_tests"] == "true"
    assert row["submission_does"] == "-2147483648 (0x80000000)"
    assert "0.25" not in text


@pytest.mark.parametrize("name", ["=1+1", "+x", "-x", "@SUM(A1)", "-1+cmd|' /C calc'!A0", "\tx"])
def test_csv_starts_no_formula(name: str) -> None:
    (row,) = rows_of(grades_as_csv(grades(different(name))))
    assert row["submission"][0] in "'\\"


def test_csv_of_hostile_text_has_one_line_a_row() -> None:
    assert len(grades_as_csv(grades(hostile_row(), hostile_row())).splitlines()) == 3


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


def test_html_of_hostile_text() -> None:
    page = grades_as_html(grades(hostile_row()))
    found = _Tags()
    found.feed(page)
    assert not {"script", "img", "link", "iframe", "object"} & set(found.tags)
    assert not [name for name, _ in found.attributes if name.startswith("on") or name == "src"]
    assert all(value is not None and value.startswith("#") for name, value in found.attributes if name == "href")
    assert not re.search("[\x1b\u202e]", page)
    assert "Content-Security-Policy" in page


def test_html_needs_nothing_from_elsewhere() -> None:
    page = grades_as_html(grades(different("a")))
    assert "http://" not in page
    assert "https://" not in page
    assert "url(" not in page
    assert "@import" not in page


def test_html_highlights_the_divergent_line() -> None:
    page = grades_as_html(grades(different("a")))
    (line,) = re.findall(r'<div class="taken divergent">(.*?)</div>', page)
    assert "add $3, $2, $0" in line
    assert "this sets $3 for the last time" in line


def test_html_shows_the_divergent_line_of_a_long_program() -> None:
    listing = tuple(CodeLine(str(n), f"add ${n}", 0, n == 5000) for n in range(1, 9001))
    row = Row("a", "a.asm", different("a").answer, 5000, listing)
    page = grades_as_html(grades(row))
    assert 'divergent"><span class="number">5000' in page
    assert page.count('class="number"') <= 400


def test_json_is_plain() -> None:
    everything = grades(different("a"), hostile_row())
    assert json.loads(grades_dumps(everything)) == grades_as_json(everything)
    assert grades_as_json(everything)["submissions"][0]["divergent"]["line"] == 2


class _Terminal(StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_a_piped_table_has_one_line_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    print_grades(grades(different("a"), different("b" * 80)))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert "b" * 80 in lines[1]
    assert "\x1b" not in "".join(lines)


def test_a_table_fits_its_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    stream = _Terminal()
    print_grades(grades(different("a"), different("b" * 80)), stream=stream)
    table = stream.getvalue().split("\n\n")[0].splitlines()
    assert max(map(len, table)) <= 80
    assert len(table) > 2


def test_a_table_of_hostile_text_steers_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_grades(grades(hostile_row()))
    assert not re.search("[\x1b\u202e]", capsys.readouterr().out)


def test_quiet_is_the_summary(capsys: pytest.CaptureFixture[str]) -> None:
    print_grades(grades(different("a")), quiet=True)
    assert capsys.readouterr().out.startswith("1 submission: 1 different")


def test_nothing_done() -> None:
    assert grades_as_csv(grades(total=3)).count("\n") == 1
    assert "0 of 3 submissions" in grades_as_html(grades(total=3))


def test_the_page_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(grades_as_html(grades(hostile_row())), encoding="utf-8")
