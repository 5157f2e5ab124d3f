"""Clusters of interchangeable functions as one self-contained page. All text is escaped, and the page forbids itself
scripts and anything from elsewhere."""

from __future__ import annotations

from isoform.model.mining import Cluster, MinedPair, Mining
from isoform.report.html import STYLE, escaped
from isoform.report.mining import STRENGTH, diversity_in_words, name_of, parameter_names, summary_lines
from isoform.report.summary import duration

MINING_STYLE = """
table.mined { width: 100%; } table.mined td { border-top: 1px solid var(--line); vertical-align: top; }
details { border-top: 1px solid var(--line); padding: .5rem 0; } summary { cursor: pointer; }
"""


def mining_as_html(mining: Mining) -> str:
    title = f"{len(mining.clusters)} clusters of interchangeable functions"
    libraries = " and ".join(f"<code>{escaped(path)}</code>" for path in mining.libraries)
    return "\n".join(
        (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escaped(title)}</title><style>{STYLE}{MINING_STYLE}</style></head><body>",
            f'<h1>{escaped(title)} <span class="soft">{escaped(duration(mining.seconds))}</span></h1>',
            f"<p>Of {libraries}; families {escaped(', '.join(mining.families))}.</p>",
            *(f"<p>{escaped(line)}</p>" for line in summary_lines(mining)),
            *(_cluster(mining, number, cluster) for number, cluster in enumerate(mining.clusters, 1)),
            "</body></html>\n",
        )
    )


def _cluster(mining: Mining, number: int, cluster: Cluster) -> str:
    names = ", ".join(name_of(mining, function) for function in cluster.functions)
    signatures = "".join(f"<li><code>{escaped(_signature(mining, n))}</code></li>" for n in cluster.functions)
    head = "<tr><th>call</th><th>does the same as</th><th>for</th><th>how different the code is</th></tr>"
    rows = "".join(_row(mining, pair) for pair in cluster.pairs)
    return (
        f"<details open><summary><b>{number}</b> {escaped(names)}</summary><ul>{signatures}</ul>"
        f'<table class="mined">{head}{rows}</table></details>'
    )


def _signature(mining: Mining, number: int) -> str:
    function = mining.functions[number]
    others = dict(mining.same_code).get(number, ())
    also = f"   also {', '.join((*function.aliases, *others))}" if function.aliases or others else ""
    return f"{function.signature}   ({function.origin.value}){also}"


def _row(mining: Mining, pair: MinedPair) -> str:
    target = f"{name_of(mining, pair.target)}({', '.join(parameter_names(mining.functions[pair.target]))})"
    diverse = "" if pair.diversity is None else diversity_in_words(pair.diversity)
    return (
        f"<tr><td><code>{escaped(target)}</code></td><td><code>{escaped(pair.text)}</code></td>"
        f"<td>{escaped(STRENGTH)}</td><td>{escaped(diverse)}</td></tr>"
    )
