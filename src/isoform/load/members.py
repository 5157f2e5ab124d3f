"""Files inside files: the members of static libraries (`.a`) and of Debian packages (`.deb`).

Archives are hostile: every size is checked before it is used, and what is unpacked is bounded.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Protocol

from isoform.load.elf import FILE_LIMIT
from isoform.model.errors import UserError
from isoform.model.values import dataclass

ARCHIVE, THIN_ARCHIVE, ELF = b"!<arch>\n", b"!<thin>\n", b"\x7fELF"
UNPACKED_LIMIT = 1 << 30
"""Bytes of a package after decompression."""
MOST_MEMBERS = 100_000
_HEADER_BYTES, _HEADER_END = 60, b"`\n"
_PACKAGE_MARK = "debian-binary"
_PARTS_OF_INDEX = ("/", "//", "/SYM64/", "__.SYMDEF", "__.SYMDEF SORTED")
_CHUNK = 1 << 20


@dataclass(frozen=True)
class ArchiveMember:
    """A file inside an archive: `libx.a:f.o`, or `x.deb:usr/lib/libx.a:f.o`."""

    path: Path
    inside: tuple[str, ...]

    def __str__(self) -> str:
        return ":".join((str(self.path), *self.inside))

    @property
    def name(self) -> str:
        return self.inside[-1]

    @property
    def suffix(self) -> str:
        return Path(self.name).suffix


def is_archive(data: bytes) -> bool:
    return data.startswith((ARCHIVE, THIN_ARCHIVE))


def starts_as_archive(path: Path) -> bool:
    """Whether a file is a static library or a package, by its first bytes; False where it cannot be read."""
    try:
        if not path.is_file():  # to open a pipe would wait for a writer
            return False
        with path.open("rb") as stream:
            return is_archive(stream.read(len(ARCHIVE)))
    except (OSError, ValueError):
        return False


def members_of(data: bytes, shown: str) -> Iterator[tuple[str, bytes]]:
    """The ELF files and static libraries in an archive, by name. A second member of one name has `#2` added."""
    seen: dict[str, int] = {}
    for name, content in _packaged(data, shown) if _is_package(data) else _archived(data, shown):
        if content.startswith((ELF, ARCHIVE)):
            seen[name] = seen.get(name, 0) + 1
            yield name if seen[name] == 1 else f"{name}#{seen[name]}", content


def _unusable(shown: str, why: str) -> UserError:
    return UserError(f"{shown} is not a usable archive: {why}.")


def _is_package(data: bytes) -> bool:
    return data[len(ARCHIVE) :].startswith(_PACKAGE_MARK.encode())


def _archived(data: bytes, shown: str) -> Iterator[tuple[str, bytes]]:
    """The members of an `ar` archive, of GNU's and of BSD's kind."""
    if data.startswith(THIN_ARCHIVE):
        raise _unusable(shown, "it is a thin archive, whose members are files of their own; name one of those")
    if not data.startswith(ARCHIVE):
        raise _unusable(shown, "it does not begin as one")
    at, count, long_names = len(ARCHIVE), 0, b""
    while at < len(data):
        header, count = data[at : at + _HEADER_BYTES], count + 1
        if len(header) < _HEADER_BYTES or header[58:] != _HEADER_END:
            raise _unusable(shown, "it is truncated or malformed")
        if count > MOST_MEMBERS:
            raise _unusable(shown, "it has too many members")
        start, size = at + _HEADER_BYTES, _number(header[48:58], shown)
        if start + size > len(data):
            raise _unusable(shown, "it is truncated")
        name, skipped = _name(header[:16], data[start : start + size], long_names, shown)
        if name == "//":
            long_names = data[start : start + size]
        if name not in _PARTS_OF_INDEX:
            yield name, data[start + skipped : start + size]
        at = start + size + size % 2


def _number(field: bytes, shown: str) -> int:
    text = field.rstrip(b" ")
    if not text.isdigit():
        raise _unusable(shown, "it is malformed")
    return int(text)


def _name(field: bytes, content: bytes, long_names: bytes, shown: str) -> tuple[str, int]:
    """The name of a member, and how many bytes of its content are that name (in BSD's archives)."""
    text = field.rstrip(b" ")
    if text in (b"/", b"//", b"/SYM64/"):
        return text.decode(), 0
    if text.startswith(b"/"):
        start = _number(text[1:], shown)
        if start >= len(long_names):
            raise _unusable(shown, "it is malformed")
        return _readable(long_names[start:].split(b"\n", 1)[0].removesuffix(b"/")), 0
    if text.startswith(b"#1/"):
        length = _number(text[3:], shown)
        return _readable(content[:length].rstrip(b"\0")), length
    return _readable(text.removesuffix(b"/")), 0


def _readable(name: bytes) -> str:
    text = name.decode("utf-8", "surrogateescape")
    return text if text.isprintable() else text.encode("unicode_escape").decode()


def _packaged(data: bytes, shown: str) -> Iterator[tuple[str, bytes]]:
    """The files that a Debian package installs."""
    packed = next(((name, part) for name, part in _archived(data, shown) if name.startswith("data.tar")), None)
    if packed is None:
        raise _unusable(shown, "it is a package without files (data.tar)")
    stream: Any = _Bounded(_decompressed(*packed, shown), shown)
    try:
        with tarfile.open(fileobj=stream, mode="r|") as files:
            for count, entry in enumerate(files):
                if count > MOST_MEMBERS or entry.size > FILE_LIMIT:
                    raise _unusable(shown, "it has too many or too large files")
                content = files.extractfile(entry) if entry.isfile() else None
                if content is not None:
                    yield entry.name.removeprefix("./"), content.read()
    except UserError:
        raise
    except Exception as error:  # each library of a compression has an exception of its own for malformed data
        raise _unusable(shown, "its data.tar is truncated or malformed") from error


class _Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


def _decompressed(name: str, data: bytes, shown: str) -> _Readable:
    raw = io.BytesIO(data)
    match name.removeprefix("data.tar"):
        case "":
            return raw
        case ".gz":
            import gzip

            return gzip.GzipFile(fileobj=raw)
        case ".xz" | ".lzma":
            import lzma

            return lzma.LZMAFile(raw)
        case ".bz2":
            import bz2

            return bz2.BZ2File(raw)
        case ".zst":
            return _from_zstd(raw, shown)
    raise _unusable(shown, f"isoform cannot read {name}")


def _from_zstd(raw: IO[bytes], shown: str) -> _Readable:
    """Python reads zstd from 3.14 on, and before that with a package."""
    from importlib import import_module

    for name in ("compression.zstd", "backports.zstd"):
        try:
            module: Any = import_module(name)
        except ImportError:
            continue
        opened: _Readable = module.ZstdFile(raw)
        return opened
    raise UserError(
        f"{shown} is compressed with zstd, which this Python cannot read: pip install backports.zstd, or unpack it "
        f"first (dpkg-deb -x)."
    )


class _Bounded:
    """A stream that ends in an error after so many bytes: a small archive may unpack to any number of them."""

    def __init__(self, stream: _Readable, shown: str) -> None:
        self._stream = stream
        self._shown = shown
        self._left = UNPACKED_LIMIT

    def read(self, size: int = -1, /) -> bytes:
        wanted = _CHUNK if size < 0 else min(size, self._left + 1)
        data = self._stream.read(wanted)
        self._left -= len(data)
        if self._left < 0:
            raise _unusable(self._shown, f"it unpacks to more than {UNPACKED_LIMIT >> 20} MiB")
        return data
