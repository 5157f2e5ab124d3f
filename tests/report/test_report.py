"""What a reader sees of a verdict, in each of its forms."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace

import pytest
import report_samples as samples

from isoform.lift.listing import view_of
from isoform.load.image import Image, Symbol
from isoform.model.contract import AbortRule, MemoryRule, ReturnAs
from isoform.model.differences import Difference
from isoform.model.listing import ListingRow, View, lines_of
from isoform.model.microop import Instruction
from isoform.model.outcome import Outcome, Status
from isoform.model.verdict import Subject, Verdict, Witness
from isoform.report.html import verdict_as_html
from isoform.report.json import dumps, verdict_as_json
from isoform.report.terminal import print_verdict, printable, verdict_as_text

ALL = [samples.equivalent(), samples.different(), samples.bounded(), samples.unknown()]
KEYS = {
    *("verdict", "engine", "seconds", "target", "rewrite", "contract", "assumptions", "witness"),
    *("root_cause", "proof", "bound", "tried", "version"),
}


# --- JSON ---


def test_a_path_that_is_no_text_is_escaped() -> None:
    verdict = replace(samples.equivalent(), target=Subject("bad\udcff.o", "f", "x86_64"))
    text = dumps(verdict)
    assert "bad\\udcff.o" in text
    assert text.encode()
    assert json.loads(text)["target"]["path"] == "bad\udcff.o"
    assert "bad\\xff.o" in printable("bad\udcff.o")


@pytest.mark.parametrize("verdict", ALL, ids=lambda v: v.word)
def test_json_has_every_key_and_reads_back(verdict: Verdict) -> None:
    read = json.loads(dumps(verdict))
    assert read == verdict.to_json()
    assert read.keys() >= KEYS
    assert read["verdict"] == verdict.word
    present = {"equivalent": "proof", "different": "witness", "bounded": "bound"}.get(verdict.word)
    assert {key for key in ("proof", "witness", "bound") if read[key] is not None} == ({present} - {None})


def test_json_numbers_go_by_width_and_sign() -> None:
    witness = verdict_as_json(samples.different())["witness"]
    assert witness["inputs"] == {"x": -(2**31), "p": "0x1000", "rbx": "0x8000000000000000", "cf": 1}
    assert witness["target"] == {"status": "done", "return": -(2**31), "reason": None}
    assert witness["rewrite"]["return"] == 7
    assert witness["memory"] == [{"address": "0x1000", "bytes": "01020000"}]
    assert witness["replayed_on"] == ["isoform's runner", "unicorn"]


def test_json_of_an_abort_has_no_return_value() -> None:
    verdict = samples.different()
    aborted = replace(verdict.witness, rewrite=Outcome(Status.ABORTED, "trap", {"rax": 5}))
    rewrite = verdict_as_json(replace(verdict, witness=aborted))["witness"]["rewrite"]
    assert rewrite == {"status": "aborted", "return": None, "reason": "trap"}


def test_json_of_a_bound_keeps_large_numbers() -> None:
    verdict = replace(samples.bounded(), bound={"paths": 3, "seen": [2**60, True, None], "rule": ReturnAs.BOOL})
    assert verdict_as_json(verdict)["bound"] == {"paths": 3, "seen": [hex(2**60), True, None], "rule": "ReturnAs.BOOL"}


# --- terminal ---


def test_the_first_line_is_the_answer() -> None:
    firsts = [verdict_as_text(verdict).splitlines()[0] for verdict in ALL]
    assert firsts == [
        "✓ equivalent   abs.c:branchy ≡ abs.c:bithack   0.02 s",
        "✗ different   abs.c:branchy ≢ abs.c:bithack   0.02 s",
        "~ bounded   abs.c:branchy ≟ abs.c:bithack   1.50 s",
        "? unknown   abs.c:branchy ≟ abs.c:bithack   60.00 s",
    ]


def test_a_difference_shows_inputs_observables_path_and_replay() -> None:
    text = str(samples.different())
    assert "the target returns -2147483648 (0x80000000) and the rewrite 7" in " ".join(text.split())
    assert "inputs       x = -2147483648 (0x80000000)\n               p = 0x1000\n" in text
    assert "0x1000: 01 02 00 00 = 0x201" in text
    assert re.search(r"memory at 0x1000, 2 bytes +00 ·· +05 01\n", text)
    assert re.search(r"memory at 0x1003 +80 +unchanged\n", text)
    assert "▸  +0x8  jns +0x10" in text
    assert re.search(r"^     \+0xc  neg eax +│", text, re.M), "an instruction off the path has no mark"
    assert re.search(r"^ +return \*p = x; +│", text, re.M)
    assert "replayed on  isoform's runner, unicorn" in text
    assert "valid-memory: every load" in text
    assert "tried" not in text


def test_more_is_shown_when_asked() -> None:
    assert "loopfree: the formula has a model" in verdict_as_text(samples.different(), verbose=True)
    assert "│" not in verdict_as_text(samples.equivalent())
    assert "│" in verdict_as_text(samples.equivalent(), verbose=True)


def test_the_others_say_what_they_rest_on() -> None:
    equivalent, _, bounded, unknown = (verdict_as_text(v) for v in ALL)
    assert "return-value: both return the same 32 bits (0.01 s)" in equivalent
    assert "isoform check proofs/abs" in equivalent
    assert "unrollings: 8" in bounded
    assert "nothing is claimed beyond it" in bounded
    assert "fsin at 0x401010" in unknown
    assert "a longer --budget" in unknown
    assert "testing: ran 400 inputs" in unknown


@pytest.mark.parametrize("width", [60, 72, 80, 100, 140])
@pytest.mark.parametrize("verdict", ALL, ids=lambda v: v.word)
def test_nothing_is_wider_than_asked(verdict: Verdict, width: int) -> None:
    long = "vpgatherqq ymm1,qword ptr [rax + ymm2*0x8 + 0x12345678],ymm3 and then some more that never ends"
    views = tuple(
        replace(v, rows=(*v.rows, ListingRow(v.rows[-1].address + 4, long, None, "table"))) for v in verdict.views
    )
    text = verdict_as_text(replace(verdict, views=views), width, verbose=True)
    assert max(map(len, text.splitlines())) <= width


def test_rules_of_the_contract_that_are_not_the_usual_ones_are_named() -> None:
    contract = replace(
        samples.CONTRACT,
        signature=None,
        return_as=ReturnAs.BOOL,
        memory=MemoryRule.IGNORE,
        aborts=AbortRule.REFINE,
    )
    text = verdict_as_text(replace(samples.equivalent(), contract=contract))
    for part in ("takes x, p, returns 32 bits of rax", "zero or nonzero", "memory is not compared", "may do anything"):
        assert part in text


def test_many_differences_are_cut_short() -> None:
    verdict = samples.different()
    many = tuple(Difference(f"memory byte at {a:#x}", "unchanged", "0x01") for a in range(0, 4000, 2))
    text = verdict_as_text(replace(verdict, witness=replace(verdict.witness, differences=many)))
    assert "… and 1992 more" in text
    assert "they differ in memory" in text
    assert len(text.splitlines()) < 50


def test_colour_only_marks_and_never_changes_the_words() -> None:
    for verdict in ALL:
        coloured = verdict_as_text(verdict, color=True)
        assert "\x1b[" in coloured
        stripped = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
        assert [line.rstrip() for line in stripped.splitlines()] == verdict_as_text(verdict).splitlines()


def test_a_hostile_name_cannot_steer_the_terminal_or_the_page() -> None:
    hostile = Subject("a\x1b[2J.c", "<script>alert(1)</script>\n", "x86_64")
    verdict = replace(samples.different(), target=hostile)
    assert "\x1b" not in verdict_as_text(verdict)
    assert "\\x1b[2J" in verdict_as_text(verdict)
    assert "<script>" not in verdict_as_html(verdict)


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_printing_to_a_terminal_has_colour_unless_told_not_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for no_color, expected in (("", True), ("1", False)):
        monkeypatch.setenv("NO_COLOR", no_color)
        stream = Terminal()
        print_verdict(samples.different(), stream=stream)
        assert ("\x1b[" in stream.getvalue()) is expected
    piped = io.StringIO()
    print_verdict(samples.different(), stream=piped)
    assert "\x1b[" not in piped.getvalue()


def test_printing_to_an_ascii_stream() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    print_verdict(samples.different(), stream=stream)
    stream.flush()
    text = raw.getvalue().decode("ascii")
    assert text.startswith("x different   abs.c:branchy != abs.c:bithack")
    assert "> +0x10  mov dword ptr [rsi],eax" in text


def test_quiet_prints_the_word(capsys: pytest.CaptureFixture[str]) -> None:
    print_verdict(samples.unknown(), quiet=True)
    assert capsys.readouterr().out == "unknown\n"


# --- listing ---


def long_view(count: int) -> View:
    return View("f", tuple(ListingRow(0x1000 + 4 * n, f"nop {n}", f"line {n}") for n in range(count)))


def test_a_long_function_shows_what_was_executed() -> None:
    view = long_view(500)
    trace = [0x1000, 0x1004, 0x1400, 0x1404, 0x1400, 0x1404]
    lines = lines_of(view, trace)
    shown = [(line.text, line.times) for line in lines]
    assert shown == [
        ("nop 0", 1),
        ("nop 1", 1),
        ("⋮ 254 not executed", 0),
        ("nop 256", 2),
        ("nop 257", 2),
        ("⋮ 242 not executed", 0),
    ]


@pytest.mark.parametrize("step", [1, 2, 3, 7])
def test_a_long_path_keeps_its_start_and_end(step: int) -> None:
    view = long_view(1000)
    lines = lines_of(view, [0x1000 + 4 * n for n in range(0, 1000, step)])
    assert 10 <= len(lines) <= 30
    code = [line.text for line in lines if line.is_code]
    assert code[0] == "nop 0"
    assert code[-1] == f"nop {999 - 999 % step}"
    assert any("more" in line.text for line in lines)


def test_a_medium_function_loses_only_its_source_lines() -> None:
    lines = lines_of(long_view(25), [0x1000])
    assert [line.text for line in lines] == [f"nop {n}" for n in range(25)]


def test_an_empty_function_is_no_trouble() -> None:
    empty = view_of([], Image("f", "toy", (), ()), "f")
    assert lines_of(empty) == []
    assert "│" in verdict_as_text(replace(samples.different(), views=(empty, samples.views()[1])))


def test_jump_targets_are_offsets_and_calls_are_names() -> None:
    image = Image("f", "x86_64", (), (Symbol("table", 0x5000, 8, False),), externals={0x9000: "puts"})
    code = samples.instructions(0x1000, ["jmp 0x1008", "call 0x9000", "call 0x7777"])
    code.append(Instruction(0x100C, 4, "lea rax,[0x5000]", ()))
    rows = view_of(code, image, "f").rows
    assert [row.text for row in rows] == ["jmp +0x8", "call puts", "call 0x7777", "lea rax,[0x5000]"]
    assert rows[3].note == "table"


def test_an_offset_before_the_entry_is_negative() -> None:
    assert View("f", (ListingRow(0x1000, "nop"),), entry=0x1010).offset(0x1000) == "-0x10"


# --- HTML ---


@pytest.mark.parametrize("verdict", ALL, ids=lambda v: v.word)
def test_the_page_stands_alone_and_says_the_same(verdict: Verdict) -> None:
    page = verdict_as_html(verdict)
    assert page.startswith("<!doctype html>")
    assert "http" not in page
    assert f'<span class="{verdict.word}">' in page
    for assumption in verdict.assumptions:
        assert assumption.why in page
    assert page.count("<div") == page.count("</div>")


def test_the_page_marks_the_path() -> None:
    page = verdict_as_html(samples.different())
    assert re.search(r'<div class="taken"><span class="soft"> \+0x8</span>  jns \+0x10', page)
    assert re.search(r'<div class="skipped"><span class="soft"> \+0xc</span>  neg eax', page)
    assert "x &lt; 0" in page


def test_a_witness_without_inputs_still_prints() -> None:
    verdict = samples.different()
    bare: Witness = replace(verdict.witness, shown=(), arguments=(), memory=())
    shown = replace(verdict, witness=bare)
    assert verdict_as_text(shown).startswith("✗ different")
    assert verdict_as_html(shown)
    assert dumps(shown)
