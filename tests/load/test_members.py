"""Members of static libraries and of Debian packages."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from built import build

from isoform.load.inside import content_of, located
from isoform.load.members import ArchiveMember, members_of
from isoform.load.open import LoadOptions, library_bytes, open_libraries, open_one, open_pair
from isoform.model.errors import UserError

FIRST = (
    "__attribute__((noinline)) static int hidden(int x) { return x + 1; } int twice(int x) { return hidden(x) * 2; }"
)
SECOND = "int thrice(int x) { return x * 3; } int other(int x) { return x; }"


def members(path: Path) -> Iterator[tuple[str, bytes]]:
    return members_of(path.read_bytes(), str(path))


def entry(name: bytes, content: bytes) -> bytes:
    header = b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name, 0, 0, 0, b"100644", len(content))
    return header + content + b"\n" * (len(content) % 2)


def archive(*parts: tuple[bytes, bytes]) -> bytes:
    return b"!<arch>\n" + b"".join(entry(*part) for part in parts)


@pytest.fixture
def objects(tmp_path: Path) -> list[bytes]:
    return [build(tmp_path, text, "-O1", "-g").read_bytes() for text in (FIRST, SECOND)]


@pytest.fixture
def library(tmp_path: Path, objects: list[bytes]) -> Path:
    path = tmp_path / "libx.a"
    path.write_bytes(archive((b"/", b"index"), (b"first.o/", objects[0]), (b"second.o/", objects[1])))
    return path


def package(path: Path, suffix: str, pack: Callable[[bytes], bytes], files: dict[str, bytes]) -> Path:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(f"./{name}")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    parts = (
        (b"debian-binary", b"2.0\n"),
        (b"control.tar.xz", b""),
        (f"data.tar{suffix}".encode(), pack(made.getvalue())),
    )
    path.write_bytes(archive(*parts))
    return path


def test_long_and_repeated_names(tmp_path: Path, objects: list[bytes]) -> None:
    path = tmp_path / "liblong.a"
    names = b"a_name_of_more_than_sixteen_letters.o/\n"
    bsd = (b"#1/20", b"another_long_name.o\0" + objects[1])
    path.write_bytes(
        archive(
            (b"//", names), (b"/0", objects[0]), bsd, (b"a.o/", objects[0]), (b"a.o/", objects[1]), (b"t/", b"text")
        )
    )
    found = dict(members(path))
    assert list(found) == ["a_name_of_more_than_sixteen_letters.o", "another_long_name.o", "a.o", "a.o#2"]
    assert list(found.values()) == [objects[0], objects[1], objects[0], objects[1]]
    assert content_of(ArchiveMember(path, ("a.o#2",))) == objects[1]


def test_a_member_is_named_or_found(library: Path) -> None:
    assert located(library, "first.o:twice", None) == (ArchiveMember(library, ("first.o",)), "twice")
    assert located(library, "first.o", "twice") == (ArchiveMember(library, ("first.o",)), "twice")
    assert located(library, "thrice", None) == (ArchiveMember(library, ("second.o",)), "thrice")
    assert located(library, None, "thrice") == (ArchiveMember(library, ("second.o",)), "thrice")
    loaded = open_one(f"{library}:first.o:hidden")
    assert (loaded.symbol.name, loaded.display_path) == ("hidden", f"{library}:first.o")
    assert str(open_one(f"{library}:twice").image.signatures["twice"]) == "int twice(int x)"


def test_the_other_side_names_the_function(tmp_path: Path, library: Path) -> None:
    object_file = build(tmp_path, SECOND, "-O0")
    sides = open_pair(f"{object_file}:thrice", str(library))
    assert [side.display_path for side in sides] == [str(object_file), f"{library}:second.o"]
    both = LoadOptions(function="twice")
    assert [side.symbol.name for side in open_pair(str(library), str(library), both, both)] == ["twice", "twice"]


def test_a_whole_member_is_a_library(library: Path, objects: list[bytes]) -> None:
    (found,) = open_libraries([f"{library}:second.o"], LoadOptions())
    assert {"thrice", "other"} <= set(found.image.functions)
    assert library_bytes(f"{library}:second.o") == objects[1]


@pytest.mark.parametrize(
    ("suffix", "pack"), [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)]
)
def test_packages(
    tmp_path: Path, objects: list[bytes], library: Path, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    files = {"usr/lib/f.o": objects[0], "usr/share/doc/x": b"text", "usr/lib/libx.a": library.read_bytes()}
    path = package(tmp_path / "x.deb", suffix, pack, files)
    assert [name for name, _ in members(path)] == ["usr/lib/f.o", "usr/lib/libx.a"]
    assert open_one(f"{path}:usr/lib/f.o:twice").symbol.name == "twice"
    assert open_one(f"{path}:f.o:twice").display_path == f"{path}:usr/lib/f.o"
    nested = open_one(f"{path}:usr/lib/libx.a:second.o:thrice")
    assert (nested.symbol.name, nested.display_path) == ("thrice", f"{path}:usr/lib/libx.a:second.o")
    assert open_one(f"{path}:libx.a:thrice").display_path == nested.display_path
    assert content_of(ArchiveMember(path, ("usr/lib/libx.a", "second.o"))) == objects[1]


def test_zstd_is_read_or_refused_in_one_sentence(tmp_path: Path, objects: list[bytes]) -> None:
    path = package(tmp_path / "x.deb", ".zst", lambda data: b"\x28\xb5\x2f\xfd" + data, {"f.o": objects[0]})
    with pytest.raises(UserError, match=r"compressed with zstd, which this Python|truncated or malformed"):
        list(members(path))


def test_sentences(tmp_path: Path, library: Path) -> None:
    with pytest.raises(
        UserError, match=r"has several members \(first\.o, second\.o\): name one, as in .*libx\.a:first"
    ):
        open_one(str(library))
    with pytest.raises(UserError, match=r"no member of .*libx\.a is called 'zork' or defines it: it has first\.o"):
        open_one(f"{library}:zork")
    with pytest.raises(UserError, match="no function 'zork' in"):
        open_one(f"{library}:first.o:zork")
    twice = tmp_path / "libtwice.a"
    content = dict(members(library))["first.o"]
    twice.write_bytes(archive((b"a.o/", content), (b"b.o/", content)))
    with pytest.raises(UserError, match=r"several members of .* define 'twice' \(a\.o, b\.o\): name one, as in"):
        open_one(f"{twice}:twice")
    empty = tmp_path / "empty.a"
    empty.write_bytes(b"!<arch>\n")
    with pytest.raises(UserError, match="has no object files"):
        open_one(str(empty))


def test_hostile_archives(tmp_path: Path, library: Path, objects: list[bytes]) -> None:
    whole = library.read_bytes()
    path = tmp_path / "bad.a"
    for data, why in (
        (b"!<thin>\n", "thin archive"),
        (whole[:-100], "truncated"),
        (whole[:8] + b"x" * 60, "malformed"),
        (whole[:8] + b"a.o/".ljust(48) + b"-1".ljust(10) + b"`\n", "malformed"),
        (archive((b"/99", objects[0])), "malformed"),
        (archive((b"debian-binary", b"2.0\n")), "package without files"),
        (archive((b"debian-binary", b"2.0\n"), (b"data.tar.xz", b"no xz at all")), "truncated or malformed"),
        (archive((b"debian-binary", b"2.0\n"), (b"data.tar.rot13", b"")), r"cannot read data\.tar\.rot13"),
    ):
        path.write_bytes(data)
        with pytest.raises(UserError, match=why):
            list(members(path))


def test_what_is_unpacked_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isoform.load.members.UNPACKED_LIMIT", 1 << 20)
    path = package(tmp_path / "x.deb", ".xz", lzma.compress, {"big": bytes(4 << 20)})
    with pytest.raises(UserError, match="unpacks to more than 1 MiB"):
        list(members(path))


@pytest.mark.parametrize("kind", ["library", "package", "packed"])
def test_damaged_archives_are_refused_in_a_sentence(tmp_path: Path, kind: str) -> None:
    """Nothing but `UserError`, whatever is changed."""
    content = b"\x7fELF" + bytes(200)
    if kind == "library":
        names = (b"//", b"a_name_of_more_than_sixteen.o/\n")
        whole = archive(names, (b"/0", content), (b"#1/8", b"ccccc.o\0" + content))
    else:
        suffix, pack = ("", bytes) if kind == "package" else (".xz", lzma.compress)
        whole = package(tmp_path / "x.deb", suffix, pack, {"a.o": content, "b.o": content}).read_bytes()
    chance = random.Random(17)
    refused = 0
    for number in range(400):
        damaged = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            damaged[chance.randrange(len(damaged))] = chance.choice((0, 32, 47, 48, 57, 255))
        if number % 4 == 0:
            del damaged[chance.randrange(len(damaged)) :]
        try:
            assert all(isinstance(name, str) for name, _ in members_of(bytes(damaged), "x"))
        except UserError:
            refused += 1
    assert 50 < refused < 400
