"""What sections are for, by the names that linkers and loaders know.

A program may have sections of its own, with variables, whose names only begin alike (`.gotham`, `.hashtable`). So a
name counts if it is one of these, or one of these and a further part after a dot, as `.init_array.00100`.
"""

from __future__ import annotations

from collections.abc import Iterable

_OF_LOADER = (
    ".eh_frame",
    ".eh_frame_hdr",
    ".gcc_except_table",
    ".note",
    ".dynamic",
    ".dynsym",
    ".dynstr",
    ".gnu.hash",
    ".gnu.version",
    ".gnu.version_d",
    ".gnu.version_r",
    ".gnu.conflict",
    ".gnu.liblist",
    ".rel",
    ".rela",
    ".relr",
    ".relro_padding",
    ".hash",
    ".interp",
)
_NOTES = (".note.gnu.build-id", ".note.ABI-tag", ".note.gnu.property", ".note.gnu.gold-version", ".note.package")
_IN_LINKED_FILES = frozenset(
    {*_OF_LOADER, *_NOTES, ".rela.dyn", ".rela.plt", ".rela.iplt", ".rel.dyn", ".rel.plt", ".relr.dyn"}
)
_RUN_BY_LOADER = (".init_array", ".fini_array", ".preinit_array", ".ctors", ".dtors")
_OFFSET_TABLES = (".got", ".got.plt")
_FILLED_ONCE = (".data.rel.ro", *_RUN_BY_LOADER)
_NOT_REFERRED_TO = (".eh_frame", ".note", ".gcc_except_table", ".llvm", ".llvm_addrsig", ".llvmbc", ".llvmcmd")
LOADER_CODE = ".loader"
"""The section that isoform itself makes for what a loader provides."""


_BOUNDS = ("__start_", "__stop_")
_BOUNDS_OF_TABLES = tuple(f"__{table}_array_{end}" for table in ("preinit", "init", "fini") for end in ("start", "end"))


def is_section_bound(name: str) -> bool:
    """Whether a symbol is the start or end of a section that a linker assembles from many files: what is there is not
    known from its name."""
    return name.startswith(_BOUNDS) or name in _BOUNDS_OF_TABLES


def is_made_by_linkers(name: str) -> bool:
    """Whether a section of a linked file that counts as a loader's by its name is one. Linkers join those that have a
    further part in object files."""
    return name in _IN_LINKED_FILES


def is_of_loader(name: str) -> bool:
    """Whether only a loader or an unwinder reads it, in a linked file."""
    return is_one_of(name, _OF_LOADER)


def is_run_by_loader(name: str) -> bool:
    """Whether it is a table of constructors or destructors."""
    return is_one_of(name, _RUN_BY_LOADER)


def is_offset_table(name: str) -> bool:
    """Whether it is a global offset table. Linkers know no further names of it."""
    return name in _OFFSET_TABLES


def has_no_variables(name: str) -> bool:
    """Whether it contains no variables of the program, in a linked file: no base of an index is meant for it."""
    return is_of_loader(name) or is_run_by_loader(name) or is_offset_table(name) or name == LOADER_CODE


def is_filled_once(name: str) -> bool:
    """Whether only the loader writes it, before the program runs."""
    return is_one_of(name, _FILLED_ONCE) or is_offset_table(name)


def is_referred_to(name: str) -> bool:
    """Whether code may refer to it, in an object file: not if only an unwinder or a linker reads it."""
    return not is_one_of(name, _NOT_REFERRED_TO)


def is_one_of(name: str, families: Iterable[str]) -> bool:
    """Whether a name is one of these, or one of these and a further part."""
    return any(name == one or name.startswith(f"{one}.") for one in families)
