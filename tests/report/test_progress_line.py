"""The line that says how far a long command is."""

from __future__ import annotations

import io

import pytest

from isoform.report import progress
from isoform.report.progress import ProgressLine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "REDRAWN_SECONDS", 1e-9)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")


def test_rate_and_what_is_left() -> None:
    stream = Terminal()
    with ProgressLine("mining", stream=stream) as line:
        line(3, 10, 2.0, 3.5)
        line(4, 4000, 2.0, 4000.0)
    shown = stream.getvalue()
    assert "mining" in shown
    assert "3/10" in shown.replace(" ", "")
    assert "2.0/s, 0:04 left" in shown
    assert "4/4000" in shown.replace(" ", "")
    assert "1:06:40 left" in shown


def test_a_rate_of_its_own() -> None:
    stream = Terminal()
    with ProgressLine("grading", stream=stream) as line:
        line(1, 10)
        line(2, 10)
    assert "/s, 0:00 left" in stream.getvalue()


@pytest.mark.parametrize(("stream", "enabled"), [(io.StringIO(), True), (Terminal(), False)])
def test_nothing_where_nobody_looks(stream: io.StringIO, enabled: bool) -> None:
    with ProgressLine("grading", enabled, stream) as line:
        line(1, 10)
        line(10, 10)
    assert stream.getvalue() == ""


def test_many_calls_are_drawn_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "REDRAWN_SECONDS", 1000.0)
    stream = Terminal()
    with ProgressLine("grading", stream=stream) as line:
        for done in range(2000):
            line(done, 2000)
        line(2000, 2000)
    assert stream.getvalue().count("grading") < 10
