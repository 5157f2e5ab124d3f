"""A certificate of the same code: `index.json` with a listing, for the functions of two files or of many.

Unlike that of a proof by formulas, it says nothing that is not derived again from the files themselves. So the files
are needed, and a listing that somebody made up shows no more than is true.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from isoform.check.same_code.instructions import NotTheSame
from isoform.check.same_code.listing import Pair, SameCode, is_pairs, name_of_both, tables_of
from isoform.load.elf import parse_elf
from isoform.load.library_pair import LibraryPair
from isoform.model.check_report import LISTING_FORMAT, CheckReport, CheckResult, CheckRow
from isoform.model.errors import Unsupported, UserError

VERSION = 1
EVERY = "*"
"""The function of a listing that is about all functions of the files."""
LARGEST = 1 << 28
SHOWS = "both are the same instructions, and all that they name is the same"
BY = "bytes"
Listed = Mapping[str, Any]


def read_listing(folder: Path) -> dict[str, Any] | None:
    """The index; None if it is not that of a listing."""
    path = folder / "index.json"
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return None
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("format") != LISTING_FORMAT:
        return None
    if found.get("version") != VERSION or not _is_index(found):
        raise UserError(f"'{path}' is not a listing that this isoform can check; write it again")
    return found


def _is_index(index: Listed) -> bool:
    files, assumptions = index.get("files"), index.get("assumptions")
    if not isinstance(files, list) or not isinstance(assumptions, list):
        return False
    if not all(isinstance(one, dict) and isinstance(one.get("name"), str) for one in assumptions):
        return False
    sides = [index.get(side) for side in ("target", "rewrite")]
    if not all(
        isinstance(s, dict) and all(isinstance(s.get(name), str) for name in ("path", "function")) for s in sides
    ):
        return False
    return all(isinstance(one, dict) and _is_file(one) for one in files)


def _is_file(file: Listed) -> bool:
    functions, code = file.get("functions"), file.get("code")
    if not isinstance(file.get("label"), str) or not isinstance(functions, list) or not isinstance(code, list):
        return False
    if not all(isinstance(file.get(side), dict) for side in ("target", "rewrite")):
        return False
    named = all(
        isinstance(f, dict) and isinstance(f.get("name"), str) and is_pairs([f.get("entries")]) for f in functions
    )
    listed = all(isinstance(c, dict) and is_pairs([c.get("entries")]) and is_pairs(c.get("instructions")) for c in code)
    return named and listed and all(tables_of(one.get("tables")) is not None for one in code)


def digest_of(index: Listed) -> str:
    rest = {name: value for name, value in index.items() if name != "digest"}
    return sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def check_listing(
    index: Listed, files: Sequence[tuple[bytes, bytes] | None], names: tuple[str, str] | None = None
) -> CheckReport:
    """`files` are the contents of both files for each entry of `files` in the index; None if there are none. `names`
    are those of the two functions that it must be about, and of no others."""
    problems = [] if index.get("digest") == digest_of(index) else ["The listing is not the one that was written."]
    listed = [function["name"] for file in index["files"] for function in file["functions"]]
    if not listed:
        problems.append("No function is listed, so nothing is shown.")
    if names is not None and listed != [name_of_both(*names)]:
        problems.append(f"The listing is not about {name_of_both(*names)}.")
    rows: list[CheckRow] = []
    needed: set[str] = set()
    for file, contents in zip(index["files"], files, strict=True):
        rows += _rows(file, contents, needed, problems)
    unlisted = needed - {one["name"] for one in index["assumptions"]}
    if unlisted:
        problems.append(f"It rests on {', '.join(sorted(unlisted))}, which is not listed.")
    ok = not problems and all(row.result is CheckResult.CONFIRMED for row in rows)
    return CheckReport(ok, rows, problems, index, code_compared=True)


def _rows(file: Listed, contents: tuple[bytes, bytes] | None, needed: set[str], problems: list[str]) -> list[CheckRow]:
    shown = tuple(str(file[side].get("path", "?")) for side in ("target", "rewrite"))
    if contents is None:
        problems.append(f"There are no files for {shown[0]} and {shown[1]}.")
        return []
    for side, data in zip(("target", "rewrite"), contents, strict=True):
        if file[side].get("sha256") != sha256(data).hexdigest():
            problems.append(f"{file[side].get('path')} is not the file that the listing is about.")
    try:
        parsed = parse_elf(contents[0], shown[0]), parse_elf(contents[1], shown[1])
        images = tuple(library.image for library in LibraryPair(parsed, (shown[0], shown[1])).together)
    except (UserError, Unsupported) as reason:
        problems.append(str(reason))
        return []
    code = {(c["entries"][0], c["entries"][1]): c for c in file["code"]}
    tables = {pair: found for pair, c in code.items() if (found := tables_of(c["tables"]))}
    checker = SameCode((images[0], images[1]), tables)
    return [_row(function, checker, code, needed) for function in file["functions"]]


def _row(function: Listed, checker: SameCode, code: Mapping[Pair, Listed], needed: set[str]) -> CheckRow:
    started = time.monotonic()
    entries = function["entries"][0], function["entries"][1]
    result, why = CheckResult.CONFIRMED, ""
    try:
        checker.require_name(entries, function["name"])
        functions, rests_on = checker.confirm(entries)
        for pair, found in functions.items():
            listed = code.get(pair)
            if listed is None or {(a, b) for a, b in listed["instructions"]} != found.instructions:
                raise NotTheSame("the listing has other instructions than the files")
        needed |= rests_on
    except (NotTheSame, Unsupported) as reason:
        result, why = CheckResult.UNDECIDED, str(reason)
    return CheckRow(function["name"], SHOWS, result, BY, time.monotonic() - started, why)
