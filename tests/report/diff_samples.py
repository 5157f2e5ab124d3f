"""Rows of `isoform diff` for tests of its reports."""

from __future__ import annotations

from typing import Any

from isoform.model.library_diff import FunctionAnswer, FunctionPlace, LibraryDiff, Row

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"


def place(name: str, size: int = 40, file: str = "new.so", line: int | None = 12) -> FunctionPlace:
    source = "/src/lib/scan.c" if line is not None else None
    return FunctionPlace(file, None, name, name, 0x1200 + size, size, source, line, "d" * 8)


def line(address: int, text: str, number: int, on_path: bool = True, is_cause: bool = False) -> dict[str, Any]:
    return {
        "address": address,
        "text": text,
        "file": "/src/lib/scan.c",
        "line": number,
        "on_path": on_path,
        "is_cause": is_cause,
    }


def verdict() -> dict[str, Any]:
    spot = {"address": "0x1203", "text": "shr eax,0x1", "what": "result", "file": "/src/lib/scan.c", "line": 14}
    return {
        "verdict": "different",
        "engine": "testing",
        "assumptions": [{"name": "valid-memory", "why": "every load and store is permitted"}],
        "contract": {"signature": "unsigned int average(unsigned int x, unsigned int y)"},
        "witness": {
            "inputs": {"x": 4294967295, "y": 1},
            "memory": [{"address": "0x100000", "bytes": "00ff"}],
            "shapes": {"p": "p -> {3}"},
            "outside": [],
            "differences": [{"what": "return value", "target": "2147483648", "rewrite": "0"}],
            "replayed_on": ["isoform's runner", "unicorn"],
        },
        "root_cause": {
            "strength": "all-inputs",
            "causes": [{"target": {**spot, "value": "0x80000000"}, "rewrite": {**spot, "value": "0x0"}}],
        },
        "tried": [{"engine": "testing", "said": "a difference", "seconds": 0.1}],
    }


def different(name: str = "average", lines: int = 3) -> Row:
    listing = [line(0x1200 + 4 * i, f"add eax,{i}", 13 + i // 2, i != 1, i == lines - 1) for i in range(lines)]
    return Row(
        place(name, file="old.so"),
        place(name),
        FunctionAnswer.DIFFERENT,
        "name",
        1.0,
        "With x = 4294967295, y = 1 the old one returns 2147483648 and the new one 0.",
        0.5,
        (),
        verdict(),
        {"target": listing, "rewrite": listing},
    )


def sample(*more: Row) -> LibraryDiff:
    rows = (
        Row(place("same", 8, "old.so"), place("same", 8), FunctionAnswer.IDENTICAL, "name"),
        different(),
        Row(
            place("calls", 90, "old.so"), place("calls", 90), FunctionAnswer.AFFECTED, "name", affected_by=("average",)
        ),
        Row(
            place("hard", 900, "old.so"),
            place("hard", 900, line=None),
            FunctionAnswer.UNKNOWN,
            "name",
            1.0,
            "The budget is used up.",
            20.0,
            verdict={"verdict": "unknown", "why": "the budget is used up", "helps": "a larger --budget", "tried": []},
        ),
        Row(None, place("fresh", 30), FunctionAnswer.ADDED),
        Row(place("gone", 30, "old.so"), None, FunctionAnswer.REMOVED),
        Row(place("b_old", 30, "old.so"), place("b_new", 30), FunctionAnswer.EQUIVALENT, "the same callees", 0.8),
    )
    return LibraryDiff("old.so", "new.so", (*rows, *more), 21.5, {"budget": 20.0}, True)


def many(count: int) -> LibraryDiff:
    """As a large library looks: most functions are the same, every tenth differs."""
    rows = []
    for number in range(count):
        name = f"library_function_{number:05}"
        if number % 10 == 0:
            rows.append(different(name, 60))
        elif number % 10 == 1:
            found = {"verdict": "unknown", "why": "the budget is used up", "helps": "", "tried": []}
            why = "The budget is used up."
            rows.append(Row(place(name), place(name), FunctionAnswer.UNKNOWN, "name", 1.0, why, 20.0, verdict=found))
        else:
            rows.append(Row(place(name, number), place(name, number), FunctionAnswer.IDENTICAL, "name"))
    return LibraryDiff("old.so", "new.so", tuple(rows), 100.0, {}, False, "the time was up")
