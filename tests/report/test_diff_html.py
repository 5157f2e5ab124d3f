"""The page of `isoform diff`, as text and in a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from diff_samples import HOSTILE, different, many, sample

from browser import Browser, chromium
from isoform.model.library_diff import FunctionAnswer, LibraryDiff
from isoform.report.diff_html import MOST_LINES, library_diff_as_html


class _Elements(HTMLParser):
    """Start tags, and what data elements hold."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.data: dict[str, str] = {}
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = str(dict(attrs).get("id") or "") if tag == "script" else ""

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.data[self._inside] = self.data.get(self._inside, "") + data


def test_rows_in_the_order_a_person_wants() -> None:
    content = json.loads(_Elements(library_diff_as_html(sample())).data["rows"])
    rows = [(answer, name) for answer, name, *_ in content["rows"]]
    assert rows == [
        ("different", "average"),
        ("affected", "calls"),
        ("unknown", "hard"),
        ("added", "fresh"),
        ("removed", "gone"),
        ("equivalent", "b_old → b_new"),
        ("identical", "same"),
    ]


def test_details_of_a_difference() -> None:
    content = json.loads(_Elements(library_diff_as_html(sample())).data["d0"])
    entries = dict(content["entries"])
    assert entries["inputs"] == ["x = 4294967295", "y = 1"]
    assert entries["cause"] == [
        "The new version's `shr eax,0x1` (scan.c:14) should hold what the old version's `shr eax,0x1` (scan.c:14) "
        "holds (0x80000000, not 0x0).",
        "With that change the two do the same for every input (all-inputs).",
    ]
    assert content["observables"] == [["return value", "2147483648", "0"]]
    assert [side["title"] for side in content["sides"]] == ["old: average", "new: average"]
    assert content["sides"][1]["lines"] == [
        ["where", "", "/src/lib/scan.c:13"],
        ["taken", "+0x0", "add eax,0"],
        ["skipped", "+0x4", "add eax,1"],
        ["where", "", "/src/lib/scan.c:14"],
        ["taken cause", "+0x8", "add eax,2"],
    ]


def test_long_listings_are_cut_around_the_cause() -> None:
    diff = LibraryDiff("a", "b", (different(lines=5000),), 1.0, {}, True)
    lines = json.loads(_Elements(library_diff_as_html(diff)).data["d0"])["sides"][0]["lines"]
    assert sum(kind != "where" for kind, _, _ in lines) == MOST_LINES
    assert lines[-1][0] == "taken cause"


def hostile() -> LibraryDiff:
    row = different()
    assert row.new is not None
    assert row.listings is not None
    listing = [{**row.listings["target"][0], "text": HOSTILE, "file": HOSTILE}]
    told = replace(row, why=HOSTILE, new=replace(row.new, shown=HOSTILE), accepted=HOSTILE)
    return sample(replace(told, listings={"target": listing, "rewrite": listing}))


def test_nothing_of_a_file_is_html() -> None:
    page = library_diff_as_html(hostile())
    elements = _Elements(page)
    assert not [tag for tag, _ in elements.tags if tag == "img"]
    assert [attributes for tag, attributes in elements.tags if tag == "script" and "type" not in attributes] == [{}]
    assert not re.search(r"https?://", page)


def test_unfinished_work_is_said() -> None:
    assert "Not everything was asked: the time was up." in library_diff_as_html(many(10))


# -- in a browser -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = chromium()
    if program is None:
        pytest.skip("there is no chromium on this machine (Debian's package chromium)")
    made = Browser(program, tmp_path_factory.mktemp("browser"))
    yield made
    made.close()


def written(tmp_path: Path, diff: LibraryDiff) -> Path:
    path = tmp_path / "diff.html"
    path.write_text(library_diff_as_html(diff), encoding="utf-8")
    return path


NAMES = "Array.from(document.querySelectorAll('tr.row button'), button => button.textContent)"


def test_filter_and_sort(tmp_path: Path, browser: Browser) -> None:
    browser.open(written(tmp_path, sample()))
    assert browser.run(NAMES) == ["average", "calls", "hard", "fresh", "gone"]
    browser.run("document.querySelector('input[value=identical]').click()")
    assert browser.run(NAMES)[-1] == "same"
    browser.run("document.querySelector('th[data-key=size] button').click()")
    assert browser.run(NAMES)[0] == "same"
    browser.run("document.querySelector('th[data-key=size] button').click()")
    assert browser.run(NAMES)[0] == "hard"
    browser.run("search.value = 'BUDGET used'; search.dispatchEvent(new Event('input'))")
    assert browser.run(NAMES) == ["hard"]
    assert browser.run("shownCount.textContent") == "1 of 7 shown"
    browser.run("search.value = 'zork'; search.dispatchEvent(new Event('input'))")
    assert browser.run("[document.querySelectorAll('tr.row').length, none.hidden]") == [0, False]


def test_details_open_and_close(tmp_path: Path, browser: Browser) -> None:
    path = written(tmp_path, sample())
    browser.open(path)
    browser.run("document.querySelector('#f0 button').click()")
    shown = browser.run("document.querySelector('tr.details').innerText")
    assert "x = 4294967295" in shown
    assert browser.run("document.querySelectorAll('tr.details .code .cause').length") == 2
    assert browser.run("document.querySelector('#f0 button').getAttribute('aria-expanded')") == "true"
    browser.run("document.querySelector('#f0 button').click()")
    assert browser.run("document.querySelectorAll('tr.details').length") == 0
    browser.open(path, "#f2")
    assert "a larger --budget" in browser.run("document.querySelector('tr.details').innerText")


def test_sides_are_side_by_side(tmp_path: Path, browser: Browser) -> None:
    browser.open(written(tmp_path, sample()), "#f0")
    left, right = browser.run(
        "Array.from(document.querySelectorAll('.sides .code'), e => e.getBoundingClientRect().toJSON())"
    )
    assert left["top"] == right["top"]
    assert left["right"] <= right["left"]


def test_light_and_dark(tmp_path: Path, browser: Browser) -> None:
    path, colour = written(tmp_path, sample()), "getComputedStyle(document.body).backgroundColor"
    browser.open(path)
    assert browser.run(colour) == "rgb(255, 255, 255)"
    browser.open(path, dark=True)
    assert browser.run(colour) == "rgb(13, 17, 23)"


def test_hostile_names_run_nothing(tmp_path: Path, browser: Browser) -> None:
    browser.open(written(tmp_path, hostile()))
    browser.run("boxes.forEach(box => box.checked || box.click()); shown.forEach(row => row.details || toggle(row)); 0")
    assert browser.run("document.querySelectorAll('tr.details').length") >= 4
    assert browser.run("[document.title, document.images.length]") == ["2 of 8 functions differ", 0]
    assert "<img src=x" in browser.run("document.querySelector('table.diff').innerText")


def test_five_thousand_functions(tmp_path: Path, browser: Browser) -> None:
    """A few hundred rows are laid out at a time; the filter sees all."""
    browser.open(written(tmp_path, many(5000)))
    assert browser.run("shownCount.textContent") == "1000 of 5000 shown"
    assert browser.run(f"{NAMES}.length") == 300
    browser.run("more.click()")
    assert browser.run(f"[{NAMES}.length, more.textContent]") == [600, "show 300 of 400 more"]
    browser.run("search.value = '04990'; search.dispatchEvent(new Event('input'))")
    assert browser.run(f"[{NAMES}, more.hidden]") == [["library_function_04990"], True]
    browser.open(tmp_path / "diff.html", "#f4321")
    assert browser.run("[shownCount.textContent, asked.tr.isConnected]") == ["5000 of 5000 shown", True]


def test_a_page_without_any_difference(tmp_path: Path) -> None:
    rows = tuple(row for row in sample().rows if row.answer is FunctionAnswer.IDENTICAL)
    page = library_diff_as_html(LibraryDiff("a", "b", rows, 0.1, {}, True))
    assert "No difference found in 1 function" in page
    assert 'value="identical" checked' in page


def test_rows_without_details_cannot_be_opened(tmp_path: Path, browser: Browser) -> None:
    browser.open(written(tmp_path, sample()))
    browser.run("document.querySelector('#f3 button').click()")
    assert browser.run("[rows[3].name, rows[3].opens, document.querySelectorAll('tr.details').length]") == [
        "fresh",
        False,
        0,
    ]
