"""`./scripts/semantics [ISA] [--n N] [--long]`: the table of forms tried, agreeing, unsupported and wrong.

x86-64 is held against CPUs that run the same bytes, toy and cs241 against their plain interpreters.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from isoform.semantics.campaign import Oracle, Report, Standing, check_forms
from isoform.semantics.forms import all_forms
from isoform.semantics.host_oracle import HostOracle, is_available
from isoform.semantics.prefixes import PrefixReport, check_prefixes
from isoform.semantics.small_machines import SMALL_MACHINES, check_small
from isoform.semantics.unicorn_oracle import UnicornOracle
from isoform.semantics.x87_forms import Report as X87Report
from isoform.semantics.x87_forms import check_x87

QUICK, LONG = 16, 200


def main() -> int:
    options = _options()
    return _small_machine(options) if options.isa in SMALL_MACHINES else _x86(options)


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
    wanted = options.only.upper().split(",") if options.only else None
    forms = [form for form in all_forms() if wanted is None or form.mnemonic in wanted]
    states = _states(options)
    reports = []
    with_prefixes = PrefixReport()
    of_x87: list[X87Report] = []
    try:
        for report in check_forms(forms, oracles, states, options.seed):
            reports.append(report)
            _show(report, options.verbose)
        if host is not None:
            of_x87 = list(check_x87(host, states, options.seed, wanted or ()))
            if forms:
                with_prefixes = check_prefixes(forms, host, len(forms) * states // 4, options.seed)
    finally:
        if host is not None:
            host.close()
    _show_table(reports, oracles, options.seed)
    _show_x87(of_x87)
    _show_prefixes(with_prefixes)
    wrong = any(report.standing is Standing.WRONG for report in reports) or with_prefixes.disagreements
    return 1 if wrong or any(report.disagreements for report in of_x87) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="semantics", description="Single instructions against independent CPUs.")
    parser.add_argument("isa", nargs="?", default="x86_64", choices=["x86_64", *SMALL_MACHINES])
    parser.add_argument("--n", type=int, help=f"states a form (default {QUICK}; {LONG} with --long)")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="mnemonics, separated by commas")
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


def _show_table(reports: list[Report], oracles: list[Oracle], seed: int) -> None:
    counts = Counter(report.standing for report in reports)
    print(
        f"\nx86_64, seed {seed}, {sum(r.states for r in reports)} states, asked: {', '.join(o.name for o in oracles)}"
    )
    print(f"{'forms tried':14} {len(reports):6}")
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
