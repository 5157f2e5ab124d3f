"""Which files of a folder are submissions, and what they are called."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from isoform.grade.submissions import find_submissions
from isoform.model.errors import UserError


def folder_with(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("jr $31\n")
    return folder


def names(folder: Path, reference: str = "reference.asm", pattern: str | None = None) -> list[str]:
    isa = "cs241" if reference.endswith(".asm") else "x86_64"
    return [s.name for s in find_submissions(folder, Path(reference), isa, pattern)]


def test_names_are_paths_without_suffix_in_order(tmp_path: Path) -> None:
    folder_with(tmp_path, "bob.asm", "alice/max.asm", "carol/max.asm", "Zoe.ASM", "notes.txt", ".hidden.asm")
    assert names(tmp_path) == ["Zoe", "alice/max", "bob", "carol/max"]


def test_the_reference_is_no_submission(tmp_path: Path) -> None:
    folder_with(tmp_path, "reference.asm", "bob.asm")
    assert names(tmp_path, str(tmp_path / "reference.asm")) == ["bob"]


def test_hidden_folders_and_what_archives_leave_behind_are_skipped(tmp_path: Path) -> None:
    folder_with(tmp_path, "a.asm", ".git/b.asm", "__MACOSX/c.asm")
    assert names(tmp_path) == ["a"]


def test_c_takes_sources_and_objects(tmp_path: Path) -> None:
    folder_with(tmp_path, "a.c", "b.s", "d.o", "e.h", "f.asm")
    assert names(tmp_path, "reference.c") == ["a", "b", "d"]


def test_a_pattern_chooses(tmp_path: Path) -> None:
    folder_with(tmp_path, "a.c", "a.o", "b.c")
    assert names(tmp_path, "reference.c", "*.c") == ["a", "b"]


@pytest.mark.parametrize("pair", [("bob.asm", "Bob.asm"), ("x/bob.asm", "X/bob.asm")])
def test_names_that_differ_only_in_case_clash(tmp_path: Path, pair: tuple[str, str]) -> None:
    folder_with(tmp_path, *pair)
    with pytest.raises(UserError, match=r"same name .*rename one"):
        names(tmp_path)


def test_names_that_differ_only_in_suffix_clash(tmp_path: Path) -> None:
    folder_with(tmp_path, "bob.c", "bob.s")
    with pytest.raises(UserError, match=r"bob\.c and .*bob\.s are two submissions of the same name 'bob'"):
        names(tmp_path, "reference.c")


def test_the_same_file_name_in_two_folders_is_no_clash(tmp_path: Path) -> None:
    folder_with(tmp_path, "alice/max.asm", "bob/max.asm")
    assert names(tmp_path) == ["alice/max", "bob/max"]


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"has no submissions: no file in it ends in \.asm; --pattern"):
        names(tmp_path)


def test_a_folder_of_other_files_says_so(tmp_path: Path) -> None:
    folder_with(tmp_path, "a.txt", "b.txt")
    with pytest.raises(UserError, match=r"2 other files are there"):
        names(tmp_path)


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not a folder"):
        names(tmp_path / "missing")


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret.asm"
    secret.write_text("jr $31\n")
    folder = folder_with(tmp_path / "in", "a.asm")
    (folder / "b.asm").symlink_to(secret)
    with pytest.raises(UserError, match=r"b\.asm is a link to a file outside"):
        names(folder)


def test_a_link_inside_the_folder_is_taken(tmp_path: Path) -> None:
    folder_with(tmp_path, "a.asm")
    (tmp_path / "b.asm").symlink_to(tmp_path / "a.asm")
    assert names(tmp_path) == ["a", "b"]


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    folder_with(tmp_path, "a.asm")
    os.mkfifo(tmp_path / "b.asm")
    with pytest.raises(UserError, match=r"b\.asm is not an ordinary file"):
        names(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    folder_with(tmp_path, "a.asm")
    (tmp_path / "a.asm").chmod(0)
    with pytest.raises(UserError, match=r"a\.asm cannot be read"):
        names(tmp_path)
