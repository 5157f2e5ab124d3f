"""A verdict as one self-contained HTML page, with the content of the terminal's report."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from isoform.model.listing import ListingLine, View, lines_of
from isoform.model.verdict import Verdict
from isoform.report.summary import Labelled, VerdictSummary, summary_of
from isoform.report.terminal import printable

MOST_LINES = 200

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --soft: #6a737d; --line: #d8dee4; --band: #f4f6f8;
  --equivalent: #1a7f37; --different: #cf222e; --bounded: #9a6700; --unknown: #8250df; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --soft: #8b949e; --line: #30363d;
  --band: #161b22; --equivalent: #3fb950; --different: #f85149; --bounded: #d29922; --unknown: #a371f7; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 70rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; margin: 0; } h1 code { font-weight: 600; }
.equivalent { color: var(--equivalent); } .different { color: var(--different); } .bounded { color: var(--bounded); }
.unknown { color: var(--unknown); } .soft { color: var(--soft); font-weight: normal; }
code, pre, .code { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .9em; }
dl { display: grid; grid-template-columns: 8rem 1fr; gap: .2rem 1rem; } dt { color: var(--soft); } dd { margin: 0; }
table { border-collapse: collapse; margin: 1rem 0; } th { text-align: left; color: var(--soft); }
td, th { padding: .15rem 1.5rem .15rem 0; }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
.code { overflow-x: auto; background: var(--band); border: 1px solid var(--line); border-radius: 6px; padding: .5rem; }
.code div { white-space: pre; } .skipped { color: var(--soft); opacity: .7; }
.source { color: var(--soft); font-style: italic; } .taken::before { content: "▸ "; color: var(--bounded); }
.skipped::before, .source::before { content: "  "; }
"""


def verdict_as_html(verdict: Verdict) -> str:
    summary = summary_of(verdict)
    names = f"{summary.target} {summary.relation} {summary.rewrite}"
    return "\n".join(
        (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escaped(summary.word)}: {escaped(names)}</title><style>{STYLE}</style></head><body>",
            _heading(summary),
            _entries(summary.given),
            _observables(summary),
            _sides(summary),
            _entries(summary.rest),
            "</body></html>\n",
        )
    )


def escaped(text: str) -> str:
    return escape(printable(text))


def _heading(summary: VerdictSummary) -> str:
    return (
        f'<h1><span class="{summary.word}">{summary.symbol} {summary.word}</span> '
        f"<code>{escaped(summary.target)}</code> {summary.relation} <code>{escaped(summary.rewrite)}</code> "
        f'<span class="soft">{escaped(summary.time)}</span></h1><p>{escaped(summary.why)}</p>'
    )


def _entries(entries: Iterable[Labelled]) -> str:
    rows = (f"<dt>{escaped(e.label)}</dt><dd>{'<br>'.join(map(escaped, e.lines))}</dd>" for e in entries)
    return f"<dl>{''.join(rows)}</dl>"


def _observables(summary: VerdictSummary) -> str:
    if not summary.observables:
        return ""
    rows = (
        f"<tr><td>{escaped(d.what)}</td><td><code>{escaped(d.target)}</code></td><td><code>{escaped(d.rewrite)}</code></td></tr>"
        for d in summary.observables
    )
    return f"<table><tr><th></th><th>target</th><th>rewrite</th></tr>{''.join(rows)}</table>"


def _sides(summary: VerdictSummary) -> str:
    if len(summary.views) != 2:
        return ""
    sides = (_side(*side) for side in zip(summary.views, summary.traces, summary.causes, strict=True))
    return f'<div class="sides">{"".join(sides)}</div>'


def _side(view: View, trace: tuple[int, ...], causes: frozenset[int]) -> str:
    lines = lines_of(view, trace, MOST_LINES, causes)
    wide = max((len(line.offset) for line in lines), default=0)
    shown = "".join(_line(line, wide, bool(trace)) for line in lines)
    return f'<div class="code"><b>{escaped(view.title)}</b>{shown}</div>'


def _line(line: ListingLine, wide: int, marked: bool) -> str:
    if not line.is_code:
        return f'<div class="source">{" " * (wide + 2)}{escaped(line.text)}</div>'
    remark = (f"  {line.note}" if line.note else "") + (f"  ×{line.times}" if line.times > 1 else "")
    kind = ("taken" if line.times else "skipped") if marked else ""
    kind = f"{kind} cause".strip() if line.is_cause else kind
    offset = f'<span class="soft">{line.offset:>{wide}}</span>'
    return f'<div class="{kind}">{offset}  {escaped(line.text)}<span class="soft">{escaped(remark)}</span></div>'
