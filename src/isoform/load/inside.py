"""Which file of an archive is meant: `libx.a:member.o:function`, `libx.a:function`, `x.deb:usr/lib/libx.so:f`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from isoform.load.elf import parse_elf
from isoform.load.members import ELF, ArchiveMember, is_archive, members_of, starts_as_archive
from isoform.load.parsed import FUNCTION, IFUNC, UNDEFINED_SECTION, ParsedFile
from isoform.load.resolve import SHOWN_NAMES, as_typed, read_file, split_spec
from isoform.model.errors import UserError


def located(path: Path, rest: str | None, function: str | None) -> tuple[Path | ArchiveMember, str | None]:
    """The file that `path:rest` names and the function of it, which `function` names if `rest` does not. In an archive,
    `rest` begins with a member; without one, the member that defines the function is meant."""
    if not starts_as_archive(path):
        return path, rest or function
    state = path.stat()
    return _in_archive(ArchiveMember(path, ()), _kept(path, state.st_mtime_ns, state.st_size), rest, function)


@lru_cache(maxsize=2)
def _kept(path: Path, modified: int, size: int) -> Mapping[str, bytes]:
    """The members of the last two archives: a package takes long to unpack, and a question reads each side several
    times."""
    return dict(members_of(read_file(path), str(path)))


def content_of(member: ArchiveMember) -> bytes:
    state = member.path.stat()
    found: Mapping[str, bytes] = _kept(member.path, state.st_mtime_ns, state.st_size)
    for name in member.inside[:-1]:
        found = dict(members_of(found[name], name))
    return found[member.name]


def every_file(spec: str) -> list[str]:
    """A file as it was given; of an archive all its members, also those of archives in it."""
    path, rest = split_spec(spec)
    if not starts_as_archive(path):
        return [spec]
    state = path.stat()
    found: list[str] = []
    pending = [(str(path), _kept(path, state.st_mtime_ns, state.st_size))]
    while pending:
        shown, content = pending.pop()
        for name, data in content.items():
            if is_archive(data):
                pending.append((f"{shown}:{name}", dict(members_of(data, f"{shown}:{name}"))))
            else:
                found.append(f"{shown}:{name}")
    if not found:
        raise UserError(f"{path} has no object files, libraries or programs in it.")
    if rest is None:
        return found
    meant = str(located(path, rest, None)[0])
    return [file for file in found if _begins(file, meant)]


def _in_archive(
    archive: ArchiveMember, content: Mapping[str, bytes], rest: str | None, function: str | None
) -> tuple[ArchiveMember, str | None]:
    if not content:
        raise UserError(f"{archive} has no object files, libraries or programs in it.")
    name = _member_named(archive, content, rest) if rest else None
    if name is not None and rest:
        after = rest.removeprefix(name if rest.startswith(name) else Path(name).name).removeprefix(":") or None
        return _opened(archive, content, name, after, function)
    wanted = rest or function
    if wanted is None:
        if len(content) == 1:
            return _opened(archive, content, next(iter(content)), None, None)
        first = next(iter(content))
        raise UserError(f"{archive} has several members ({_listed(list(content))}): name one, as in {archive}:{first}.")
    return _opened(archive, content, _defining(archive, content, wanted), wanted, None)


def _opened(
    archive: ArchiveMember, content: Mapping[str, bytes], name: str, rest: str | None, function: str | None
) -> tuple[ArchiveMember, str | None]:
    member = ArchiveMember(archive.path, (*archive.inside, name))
    if is_archive(content[name]):
        return _in_archive(member, dict(members_of(content[name], str(member))), rest, function)
    return member, rest or function


def _member_named(archive: ArchiveMember, content: Mapping[str, bytes], rest: str) -> str | None:
    """The member that `rest` begins with, by its whole name or by the last part of its path."""
    whole = [name for name in content if _begins(rest, name)]
    if whole:
        return max(whole, key=len)
    short = [name for name in content if _begins(rest, Path(name).name)]
    if len(short) > 1:
        raise UserError(f"{archive} has several such members ({_listed(short)}): write the whole name of one.")
    return short[0] if short else None


def _begins(rest: str, name: str) -> bool:
    return rest == name or rest.startswith(f"{name}:")


def _defining(archive: ArchiveMember, content: Mapping[str, bytes], function: str) -> str:
    found = [name for name, data in content.items() if data.startswith(ELF) and _defines(data, name, function)]
    if not found:
        raise UserError(
            f"no member of {archive} is called '{function}' or defines it: it has {_listed(list(content))}."
        )
    if len(found) > 1:
        raise UserError(
            f"several members of {archive} define '{function}' ({_listed(found)}): name one, as in "
            f"{archive}:{found[0]}:{function}."
        )
    return found[0]


def _defines(data: bytes, name: str, function: str) -> bool:
    """Members of other machines, and malformed ones, define nothing here."""
    if function.isidentifier() and function.encode("utf-8", "surrogateescape") not in data:
        return False
    try:
        file = parse_elf(data, name)
    except UserError:
        return False
    return bool(as_typed(function_names(file), function))


def function_names(file: ParsedFile) -> set[str]:
    tables = (*file.symbols, *file.dynamic_symbols)
    return {s.name for s in tables if s.kind in (FUNCTION, IFUNC) and s.section != UNDEFINED_SECTION and s.name}


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:SHOWN_NAMES])
    return shown if len(names) <= SHOWN_NAMES else f"{shown}, … {len(names) - SHOWN_NAMES} more"
