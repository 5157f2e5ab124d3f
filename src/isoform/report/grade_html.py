"""The rows of `isoform grade` as one self-contained HTML page. Submissions are hostile: all text is escaped, and the
page forbids itself scripts and anything from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from isoform.model.grades import CodeLine, Grades, Row, Standing
from isoform.report.grade_words import (
    SYMBOLS,
    inputs_in_words,
    missed_in_words,
    note_of,
    summary_of_grades,
    tests_in_words,
    time_of_grades,
    where_in_words,
)
from isoform.report.html import STYLE, escaped
from isoform.report.summary import duration

MOST_LINES = 400
LONGEST_LINE = 400

GRADE_STYLE = """
.rejected, .no-answer, .crashed { color: var(--unknown); }
table.grades { width: 100%; } table.grades td { border-top: 1px solid var(--line); vertical-align: top; }
table.grades td.word { white-space: nowrap; }
.missed { color: var(--different); font-weight: 600; }
details { border-top: 1px solid var(--line); padding: .5rem 0; } summary { cursor: pointer; }
.code .divergent { background: color-mix(in srgb, var(--different) 22%, transparent); font-weight: 600; }
.code .remark { color: var(--different); font-weight: normal; }
.code .number { display: inline-block; min-width: 3rem; text-align: right; padding-right: 1rem; color: var(--soft); }
"""


def grades_as_html(grades: Grades) -> str:
    missed = missed_in_words(grades)
    return "\n".join(
        (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escaped(summary_of_grades(grades))}</title><style>{STYLE}{GRADE_STYLE}</style></head><body>",
            f"<h1>{escaped(summary_of_grades(grades))} "
            f'<span class="soft">{escaped(time_of_grades(grades))}</span></h1>',
            f"<p>Compared with <code>{escaped(grades.reference)}</code>. {escaped(missed)}</p>",
            _table(grades),
            _causes(grades),
            *(_details(number, row) for number, row in enumerate(grades.rows)),
            "</body></html>\n",
        )
    )


def _table(grades: Grades) -> str:
    tests = "<th>tests</th>" if grades.tests else ""
    rows = "".join(_table_row(number, row, bool(grades.tests)) for number, row in enumerate(grades.rows))
    head = f"<tr><th>submission</th><th>verdict</th>{tests}<th></th><th>time</th></tr>"
    return f'<table class="grades">{head}{rows}</table>'


def _causes(grades: Grades) -> str:
    """Each cause with how many submissions have it and one example."""
    groups = grades.causes()
    if not groups:
        return ""
    rows = "".join(
        f"<tr><td>{len(group.members)}</td><td>{escaped(group.kind)}</td><td><code>{escaped(group.place)}</code></td>"
        f"<td>{escaped(', '.join(group.members))}</td><td>{escaped(group.example)}</td></tr>"
        for group in groups
    )
    head = "<tr><th>count</th><th>cause</th><th>place in the reference</th><th>submissions</th><th>example</th></tr>"
    return f'<table class="grades causes">{head}{rows}</table>'


def _table_row(number: int, row: Row, with_tests: bool) -> str:
    missed = ' class="missed"' if row.missed_by_tests else ""
    tests = f"<td{missed}>{escaped(tests_in_words(row))}</td>" if with_tests else ""
    return (
        f'<tr><td><a href="#s{number}">{escaped(row.name)}</a></td><td class="word">{_word(row.answer.standing)}</td>'
        f'{tests}<td>{escaped(note_of(row))}</td><td class="soft">{escaped(duration(row.answer.seconds))}</td></tr>'
    )


def _word(standing: Standing) -> str:
    kind = standing.value.replace(" ", "-")
    return f'<span class="{kind}">{SYMBOLS[standing]} {standing.value}</span>'


def _details(number: int, row: Row) -> str:
    opened = " open" if row.answer.standing is Standing.DIFFERENT else ""
    return (
        f'<details id="s{number}"{opened}><summary><b>{escaped(row.name)}</b> {_word(row.answer.standing)} '
        f'<span class="soft">{escaped(row.path)}</span></summary><dl>{"".join(_entries(row))}</dl>'
        f"{_outcomes(row)}{_failures(row)}{_code(row)}</details>"
    )


def _entries(row: Row) -> Iterator[str]:
    answer = row.answer
    if answer.why:
        yield _entry("answer", *answer.why.splitlines()[:20])
    if answer.inputs:
        yield _entry("inputs", inputs_in_words(answer))
    if answer.memory:
        yield _entry("memory", *answer.memory)
    where = where_in_words(row)
    if where:
        yield _entry("divergent", f"{where}: {answer.divergence}")
    if answer.cause is not None:
        yield _entry("cause", answer.cause.says)
    if answer.not_stopping:
        yield _entry("not stopping", f"does not stop where the reference does: {answer.not_stopping}")
    if answer.tests is not None:
        missed = " — and yet it differs" if row.missed_by_tests else ""
        yield _entry("tests", f"{answer.tests.passed} of {answer.tests.ran} pass{missed}")
    if answer.replayed_on:
        yield _entry("replayed on", ", ".join(answer.replayed_on))
    if row.same_code_as is not None:
        yield _entry("same code as", row.same_code_as)
    if answer.assumptions:
        yield _entry("assuming", *(f"{name}: {why}" for name, why in answer.assumptions))


def _entry(label: str, *lines: str) -> str:
    return f"<dt>{escaped(label)}</dt><dd>{'<br>'.join(map(escaped, lines))}</dd>"


def _outcomes(row: Row) -> str:
    if not row.answer.observables:
        return ""
    rows = "".join(
        f"<tr><td>{escaped(o.what)}</td><td><code>{escaped(o.reference)}</code></td><td><code>{escaped(o.submission)}</code></td></tr>"
        for o in row.answer.observables
    )
    return f"<table><tr><th></th><th>reference</th><th>submission</th></tr>{rows}</table>"


def _failures(row: Row) -> str:
    tests = row.answer.tests
    if tests is None or not tests.failures:
        return ""
    rows = "".join(
        f"<tr><td>{f.number}</td><td><code>{escaped(f.given)}</code></td><td><code>{escaped(f.reference)}</code></td>"
        f"<td><code>{escaped(f.submission)}</code></td></tr>"
        for f in tests.failures
    )
    head = "<tr><th>failed test</th><th>inputs</th><th>reference</th><th>submission</th></tr>"
    return f"<table>{head}{rows}</table>"


def _code(row: Row) -> str:
    if not row.listing:
        return ""
    lines = _most_telling(row.listing)
    marked = any(line.times for line in row.listing)
    shown = "".join(_code_line(line, marked, row.answer.divergence) for line in lines)
    return f'<div class="code">{shown}</div>'


def _most_telling(listing: tuple[CodeLine, ...]) -> tuple[CodeLine, ...]:
    """As many lines as a page should have, around the divergent one."""
    if len(listing) <= MOST_LINES:
        return listing
    centre = next((index for index, line in enumerate(listing) if line.divergent), 0)
    start = max(0, min(centre - MOST_LINES // 2, len(listing) - MOST_LINES))
    return listing[start : start + MOST_LINES]


def _code_line(line: CodeLine, marked: bool, divergence: str) -> str:
    kind = ("taken" if line.times else "skipped") if marked else "plain"
    times = f'<span class="soft">  ×{line.times}</span>' if line.times > 1 else ""
    remark = f'<span class="remark">  ◂ {escaped(divergence)}</span>' if line.divergent and divergence else ""
    classes = f"{kind} divergent" if line.divergent else kind
    number = f'<span class="number">{escaped(line.label)}</span>'
    return f'<div class="{classes}">{number}{escaped(_cut(line.text.expandtabs()))}{times}{remark}</div>'


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}…"
