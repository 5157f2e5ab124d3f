"""What commands write to."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from isoform.cli.streams import write_whole


def test_what_is_no_ordinary_file_stays_what_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_whole(pipe, "page", "--html")
    reader.join()
    assert read == ["page"]
    assert pipe.is_fifo()


def test_a_link_leads_to_the_file(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    link.symlink_to(file)
    write_whole(link, "new", "--html")
    assert file.read_text() == "new"
    assert link.is_symlink()
