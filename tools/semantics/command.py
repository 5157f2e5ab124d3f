"""`./scripts/semantics [ISA] [--n N] [--long] [--state FILE]`: forms tried, agreeing, unsupported, wrong.

x86-64 is checked against CPUs that run the same bytes, toy and cs241 against their plain interpreters.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from isoform.model.errors import UserError
from semantics.campaign import Oracle, Report, Standing, check_form
from semantics.encoding import Template
from semantics.forms import all_forms
from semantics.host_oracle import HostOracle, is_available
from semantics.prefixes import PrefixReport, check_prefixes
from semantics.progress import Progress
from semantics.small_machines import SMALL_MACHINES, check_small
from semantics.unicorn_oracle import UnicornOracle
from semantics.x87_forms import Report as X87Report
from semantics.x87_forms import check_x87, x87_programs

QUICK, LONG = 16, 200
PREFIX_PART = 2000
"""Encodings with needless prefixes that are tried between two looks at the clock."""


def main() -> int:
    options = _options()
    try:
        return _small_machine(options) if options.isa in SMALL_MACHINES else _x86(options)
    except UserError as error:
        print(f"semantics: {error}", file=sys.stderr)
        return 2


def _small_machine(options: argparse.Namespace) -> int:
    wanted = options.only.lower().split(",") if options.only else []
    reports = list(check_small(options.isa, _states(options), options.seed, wanted))
    wrong = [report for report in reports if report.disagreements]
    for report in wrong:
        print(f"wrong        {report.form}", *report.disagreements, sep="\n             ")
    states = sum(report.states for report in reports)
    print(f"\n{options.isa}, seed {options.seed}, {states} states, asked: the plain interpreter")
    print(
        f"{'forms tried':14} {len(reports):6}\n{'agree':14} {len(reports) - len(wrong):6}\n{'wrong':14} {len(wrong):6}"
    )
    return 1 if wrong else 0


def _states(options: argparse.Namespace) -> int:
    return int(options.n or (LONG if options.long else QUICK))


def _x86(options: argparse.Namespace) -> int:
    host = HostOracle() if is_available() and not options.no_host else None
    oracles: list[Oracle] = [UnicornOracle(), *([host] if host else [])]
    wanted = options.only.upper().split(",") if options.only else []
    forms = [form for form in all_forms() if not wanted or form.mnemonic in wanted]
    run = Run(Progress(options.state, _states(options), options.seed), _states(options), options.seed, options.seconds)
    reports = []
    with_prefixes = PrefixReport()
    of_x87: list[X87Report] = []
    try:
        for report in run.forms(forms, oracles):
            reports.append(report)
            _show(report, options.verbose)
        if host is not None:
            of_x87 = list(run.x87(host, wanted))
            with_prefixes = run.prefixes(forms, host)
    finally:
        if host is not None:
            host.close()
    _show_table(reports, oracles, options.seed, len(forms))
    _show_x87(of_x87)
    _show_prefixes(with_prefixes)
    if run.stopped:
        print("\nThe time was up: the same command goes on from here.")
    wrong = any(report.standing is Standing.WRONG for report in reports) or with_prefixes.disagreements
    return 1 if wrong or any(report.disagreements for report in of_x87) else 0


class Run:
    """What earlier runs with the same state file did is not done again; the time ends a run between two forms."""

    def __init__(self, progress: Progress, states: int, seed: int, seconds: float | None) -> None:
        self._progress = progress
        self._states = states
        self._seed = seed
        self._until = time.monotonic() + seconds if seconds is not None else None
        self.stopped = False

    def _goes_on(self) -> bool:
        self.stopped = self._until is not None and time.monotonic() > self._until
        return not self.stopped

    def forms(self, forms: list[Template], oracles: list[Oracle]) -> Iterator[Report]:
        for form in forms:
            report = self._progress.form(form)
            if report is None and self._goes_on():
                report = check_form(form, oracles, self._states, self._seed)
                self._progress.add_form(report)
            if report is not None:
                yield report

    def x87(self, host: HostOracle, wanted: list[str]) -> Iterator[X87Report]:
        for name, code in x87_programs(wanted):
            report = self._progress.x87(name)
            if report is None and self._goes_on():
                report = check_x87(name, code, host, self._states, self._seed)
                self._progress.add_x87(report)
            if report is not None:
                yield report

    def prefixes(self, forms: list[Template], host: HostOracle) -> PrefixReport:
        """A quarter as many encodings as there were states, in parts."""
        whole = PrefixReport()
        tries = len(forms) * self._states // 4
        for start in range(0, tries, PREFIX_PART):
            report = self._progress.prefixes(start)
            if report is None and self._goes_on():
                report = check_prefixes(forms, host, min(PREFIX_PART, tries - start), f"{self._seed} {start}")
                self._progress.add_prefixes(start, report)
            if report is not None:
                whole = whole.and_(report)
        return whole


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="semantics", description="Single instructions against independent CPUs.")
    parser.add_argument("isa", nargs="?", default="x86_64", choices=["x86_64", *SMALL_MACHINES])
    parser.add_argument("--n", type=int, help=f"states a form (default {QUICK}; {LONG} with --long)")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="mnemonics, separated by commas")
    parser.add_argument("--state", type=Path, metavar="FILE", help="keep what is done there, and go on from there")
    parser.add_argument("--seconds", type=float, help="stop after so many (with --state the rest is done next time)")
    parser.add_argument("--no-host", action="store_true", help="do not ask this machine's processor")
    parser.add_argument("--verbose", action="store_true", help="also show where the oracles disagree")
    return parser.parse_args()


def _show(report: Report, verbose: bool) -> None:
    lines = report.disagreements + (report.oracle_quarrels if verbose else [])
    if report.standing in (Standing.WRONG, Standing.UNSUPPORTED) or (verbose and lines):
        print(f"{report.standing.name.lower():12} {report.template.name}")
        for line in lines:
            print(f"             {line}")
    sys.stdout.flush()


def _show_table(reports: list[Report], oracles: list[Oracle], seed: int, forms: int) -> None:
    counts = Counter(report.standing for report in reports)
    print(
        f"\nx86_64, seed {seed}, {sum(r.states for r in reports)} states, asked: {', '.join(o.name for o in oracles)}"
    )
    print(f"{'forms tried':14} {len(reports):6}  of {forms}")
    for standing in Standing:
        print(f"{standing.name.lower():14} {counts[standing]:6}  {standing.value}")


def _show_x87(reports: list[X87Report]) -> None:
    wrong = [report for report in reports if report.disagreements]
    print("\nx87, in short programs (on the host)")
    print(f"{'agree':14} {len(reports) - len(wrong):6}\n{'wrong':14} {len(wrong):6}")
    for report in wrong:
        print(f"             {report.name}: {report.disagreements[0]}")


def _show_prefixes(report: PrefixReport) -> None:
    print("\nwith needless prefixes (on the host)")
    print(f"{'agree':14} {report.agree:6}\n{'unsupported':14} {report.unsupported:6}")
    print(f"{'wrong':14} {len(report.disagreements):6}")
    for line in report.disagreements[:20]:
        print(f"             {line}")


if __name__ == "__main__":
    sys.exit(main())
