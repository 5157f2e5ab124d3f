"""A run that is stopped goes on where it was; what is in the file is not tried again."""

from __future__ import annotations

from pathlib import Path

import pytest

from isoform.model.errors import UserError
from semantics.campaign import Report, Standing
from semantics.forms import all_forms
from semantics.prefixes import PrefixReport
from semantics.progress import Progress
from semantics.x87_forms import Report as X87Report

FORM, OTHER = all_forms()[:2]


def _kept(path: Path) -> Report:
    report = Report(FORM, Standing.WRONG, 4, {"unicorn", "host"}, ["01c0: rax"], ["quarrel"])
    progress = Progress(path, 4, 1)
    progress.add_form(report)
    progress.add_x87(X87Report("FLD m32", 4, []))
    progress.add_prefixes(0, PrefixReport(3, 1, ["66"]))
    return report


def test_reports_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "state"
    report = _kept(path)
    again = Progress(path, 4, 1)
    assert again.form(FORM) == report
    assert again.form(OTHER) is None
    assert again.x87("FLD m32") == X87Report("FLD m32", 4, [])
    assert again.prefixes(0) == PrefixReport(3, 1, ["66"])


def test_another_number_of_states_or_seed_is_another_run(tmp_path: Path) -> None:
    path = tmp_path / "state"
    _kept(path)
    assert Progress(path, 5, 1).form(FORM) is None
    assert Progress(path, 4, 2).form(FORM) is None


def test_a_line_that_was_cut_off_is_done_again(tmp_path: Path) -> None:
    path = tmp_path / "state"
    _kept(path)
    path.write_text(path.read_text() + '{"key": "4 1 ')
    again = Progress(path, 4, 1)
    again.add_form(Report(OTHER, Standing.AGREE, 4, {"host"}))
    last = Progress(path, 4, 1).form(OTHER)
    assert last is not None
    assert last.standing is Standing.AGREE


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.write_text("int f;\nint g;\n")
    with pytest.raises(UserError, match="not a state file"):
        Progress(path, 4, 1)
