"""From what the user typed to the two images of a question."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from functools import partial
from pathlib import Path

from isoform.isa.registry import DEFAULT, TEXT_ISAS, require_machine
from isoform.load.code import DISPLAYED, Code, parsed_code
from isoform.load.described import Local, PointerTypes, SourceLine
from isoform.load.elf import parse_elf
from isoform.load.image import Image, LineReader, Symbol
from isoform.load.inside import content_of, located
from isoform.load.members import ArchiveMember, starts_as_archive
from isoform.load.parsed import ParsedFile
from isoform.load.place import PlacedImage, place_files
from isoform.load.resolve import choose, read_file, split_spec
from isoform.model.errors import UserError
from isoform.model.signature import Signature, TypeKind
from isoform.model.values import dataclass

SOURCE_SUFFIXES = (".c", ".s", ".S")
_UNEXTENDED_BITS = 32
"""Arguments of fewer bits are extended by callers."""


@dataclass(frozen=True)
class LoadOptions:
    cc: str | None = None
    cflags: tuple[str, ...] = ()
    isa: str | None = None
    function: str | None = None

    def __post_init__(self) -> None:
        """Splits flags that are given as one string, as on the command line. Raises TypeError for what is not text, and
        ValueError for an unknown machine."""
        given: object = self.cflags
        flags = tuple(
            shlex.split(given) if isinstance(given, str) else given if isinstance(given, Iterable) else (None,)
        )
        if not all(isinstance(flag, str) for flag in flags):
            raise TypeError(f"cflags must be a string or several, not {given!r}")
        object.__setattr__(self, "cflags", flags)
        for name in ("cc", "isa", "function"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise TypeError(f"{name} must be a string, not {value!r}")
        if self.isa is not None:
            require_machine(self.isa)


@dataclass(frozen=True)
class Loaded:
    """One function of one loaded file."""

    image: Image
    symbol: Symbol
    display_path: str
    is_alone: bool = False
    """Whether it is bytes that are in no file, with nothing around them."""
    together: Callable[[], tuple[Loaded, Loaded]] | None = None
    """For two linked files: both sides, placed so that objects with the same layout in both move as one."""
    data: bytes | None = None
    """The contents of the file; None for code that is in none, and for the texts of small machines."""


_File = Path | ArchiveMember | Code
_Built = tuple[_File, str | None, tuple[str, ...]]
_Placed = tuple[tuple[tuple[int, int], ...], int, Symbol]
"""The addresses of a file's parts, and the function that is meant."""


@dataclass(frozen=True)
class _Told:
    """What debug information says about one function and its unit."""

    signatures: dict[str, Signature]
    pointers: PointerTypes
    inlined: frozenset[str]
    locals: tuple[Local, ...]
    arrays: tuple[Local, ...]
    lines: dict[int, SourceLine]
    source: dict[str, tuple[str, ...]]
    lines_between: LineReader


@dataclass
class Kept:
    """What was read about one side, kept for the next question. Nothing in it depends on the other side: what does
    (where objects are, what the two have in common) is computed for each pair."""

    parsed: dict[_Built, ParsedFile] = field(default_factory=dict)
    images: dict[_File, Image] = field(default_factory=dict)
    """Assembled text."""
    told: dict[_Placed, _Told | None] = field(default_factory=dict)
    """By the file's place: object files are moved if the other side needs the room."""


def open_one(spec: str, options: LoadOptions | None = None) -> Loaded:
    return _open([spec], [options or LoadOptions()], Kept())[0]


def open_pair(
    spec_a: str | Code,
    spec_b: str | Code,
    options_a: LoadOptions | None = None,
    options_b: LoadOptions | None = None,
    kept: Kept | None = None,
) -> tuple[Loaded, Loaded]:
    """Both sides, placed together. `kept` belongs to the first one."""
    specs, options, first = [spec_a, spec_b], [options_a or LoadOptions(), options_b or LoadOptions()], kept or Kept()
    target, rewrite = _open(specs, options, first)
    if not (target.image.base and rewrite.image.base and target.image.moved):
        return target, rewrite

    def together() -> tuple[Loaded, Loaded]:
        left, right = _open(specs, options, first, together=True)
        return left, right

    return replace(target, together=together), rewrite


def _open(
    specs: Sequence[str | Code], options: Sequence[LoadOptions], first: Kept, together: bool = False
) -> list[Loaded]:
    sides = _meant(specs, options)
    paths, names = [path for path, _ in sides], [name for _, name in sides]
    isas = [_isa(path, option) for path, option in zip(paths, options, strict=True)]
    shown = [DISPLAYED if isinstance(path, Code) else str(path) for path in paths]
    if len(set(isas)) > 1:
        raise UserError(f"{shown[0]} is {isas[0]} but {shown[1]} is {isas[1]}: both sides must be the same machine.")
    if isas[0] not in TEXT_ISAS.values():
        files = _parse_all(paths, options, first)
        _require_one_machine(files, options)
        placements = place_files(files, together)
        symbols = choose([p.image for p in placements], names)
        images = _with_debug(placements, symbols, first)
        contents = [None if isinstance(path, Code) else f.data for path, f in zip(paths, files, strict=True)]
    else:
        images = [_assemble(isas[0], path, first if side == 0 else Kept()) for side, path in enumerate(paths)]
        symbols = choose(images, names)
        contents = [None] * len(images)
    alone = [isinstance(path, Code) and isinstance(path.content, bytes) for path in paths]
    found = zip(images, symbols, shown, alone, contents, strict=True)
    return [Loaded(image, symbol, name, is_alone, data=data) for image, symbol, name, is_alone, data in found]


def _meant(specs: Sequence[str | Code], options: Sequence[LoadOptions]) -> list[tuple[_File, str | None]]:
    """For each side the file, and the name of the function if it was given. Of an archive without a name, the member
    is meant that defines what the other side names."""
    found: dict[int, tuple[_File, str | None]] = {}
    split = {side: split_spec(spec) for side, spec in enumerate(specs) if not isinstance(spec, Code)}
    named = None
    for side in sorted(split, key=lambda side: split[side][1] is None):
        path, rest = split[side]
        other = named if rest is None and starts_as_archive(path) else None
        found[side] = located(path, rest, options[side].function or other)
        named = found[side][1] or named
    for side, spec in enumerate(specs):
        if isinstance(spec, Code):
            found[side] = spec, _named(spec) or options[side].function
    return [found[side] for side in range(len(specs))]


def _named(code: Code) -> str | None:
    """Programs in the text of a small machine have no names."""
    return None if code.isa in TEXT_ISAS.values() else code.name


def _isa(path: _File, options: LoadOptions) -> str:
    """The machine of a file: from the option, the suffix, or else the ELF header."""
    said = path.isa if isinstance(path, Code) else options.isa
    return said or TEXT_ISAS.get(path.suffix if isinstance(path, Path) else "", DEFAULT)


def _require_one_machine(files: Sequence[ParsedFile], options: Sequence[LoadOptions]) -> None:
    for file, option in zip(files, options, strict=True):
        if option.isa is not None and option.isa != file.machine:
            raise UserError(f"{file.path} is {file.machine}, not {option.isa}: leave out --isa, or give another file.")
        if file.machine != files[0].machine:
            raise UserError(
                f"{files[0].path} is {files[0].machine} but {file.path} is {file.machine}: both sides must be the same "
                "machine."
            )


def _assemble(isa: str, path: _File, kept: Kept) -> Image:
    if path not in kept.images:
        kept.images[path] = _assembled(isa, path)
    return kept.images[path]


def _assembled(isa: str, path: _File) -> Image:
    from isoform.load.text import assemble_text, load_text

    if isinstance(path, Code):
        if isinstance(path.content, bytes):
            raise UserError(f"code of {isa} is given as text, not as bytes.")
        return assemble_text(isa, path.content, DISPLAYED)
    if isinstance(path, ArchiveMember):
        raise UserError(f"code of {isa} is a text, and {path} is in an archive.")
    read_file(path)  # raises the error for a file that cannot be read
    return load_text(isa, path)


def _parse_all(paths: Sequence[_File], options: Sequence[LoadOptions], kept: Kept) -> list[ParsedFile]:
    """Parse every file; a source that is built twice in the same way is built once."""
    parsed = dict(kept.parsed)
    files = []
    for side, (path, option) in enumerate(zip(paths, options, strict=True)):
        key = (path, option.cc, option.cflags)
        if key not in parsed:
            parsed[key] = _parse(path, option)
        if side == 0:
            kept.parsed[key] = parsed[key]
        files.append(parsed[key])
    return files


def _parse(path: _File, options: LoadOptions) -> ParsedFile:
    if isinstance(path, Code):
        return parsed_code(path, options.cc, options.cflags)
    if isinstance(path, ArchiveMember):
        return parse_elf(content_of(path), str(path))
    data = read_file(path)
    if path.suffix not in SOURCE_SUFFIXES:
        return parse_elf(data, str(path))
    from isoform.load.compile import compile_source

    built = compile_source(path, options.cc, options.cflags, options.isa or DEFAULT)
    try:
        return replace(parse_elf(built, str(path)), from_source=True)
    except UserError as error:
        raise UserError(f"what the compiler made of {path} cannot be used: {error}") from error


def _with_debug(placements: Sequence[PlacedImage], symbols: Sequence[Symbol], first: Kept) -> list[Image]:
    """The images with signatures and source lines of the chosen functions. One file on both sides is read once."""
    images = []
    kept = first
    for index, (placement, symbol) in enumerate(zip(placements, symbols, strict=True)):
        if index and placement.file.data is not placements[0].file.data:
            kept = Kept()
        key = tuple(sorted(placement.code.items())), placement.base, symbol
        if key not in kept.told:
            kept.told[key] = _told(placement, symbol)
        told = kept.told[key]
        images.append(placement.image if told is None else replace(placement.image, **vars(told)))
    return images


def _told(placement: PlacedImage, symbol: Symbol) -> _Told | None:
    from isoform.load.debug.frame import frame_arrays, frame_locals
    from isoform.load.debug.lines import lines, lines_afterwards, source_text
    from isoform.load.debug.read import read_debug
    from isoform.load.debug.signatures import signatures

    debug = read_debug(placement.file, placement.code, placement.base)
    if debug is None:
        return None
    pointers: list[PointerTypes] = []
    inlined: set[str] = set()
    others = _other_names(placement, symbol)
    found = signatures(debug, {symbol.name, *others}, symbol.address, pointers, inlined)
    told = (found[name] for name in others if name in found)
    same = {replace(one, name=symbol.name) for one in told if not _has_narrow_parameters(one)}
    if symbol.name not in found and len(same) == 1:
        found[symbol.name] = same.pop()
    where = lines(debug, symbol.address, symbol.address + symbol.size)
    return _Told(
        signatures=found,
        pointers=pointers[0] if len(pointers) == 1 else PointerTypes(),
        inlined=frozenset(inlined),
        locals=frame_locals(debug, symbol.address),
        arrays=frame_arrays(debug, symbol.address),
        lines=where,
        source=source_text(where),
        lines_between=partial(lines_afterwards, debug),
    )


def _other_names(placement: PlacedImage, symbol: Symbol) -> set[str]:
    """Names that the source gives to the same function (`alias`): debug information knows it by one of them. A linker
    may also put functions with the same code, and other types, in one place, but not in an object file."""
    if placement.file.linked:
        return set()
    at_address = (s for s in placement.image.symbols if s.is_function and s.address == symbol.address)
    return {s.name for s in at_address} - {symbol.name}


def _has_narrow_parameters(signature: Signature) -> bool:
    """Whether callers extend some arguments. The declaration of another name may have wider types, which no debug
    information tells: callers by that name may pass more than the function's own type holds."""
    kinds = (parameter.type for parameter in signature.parameters)
    return any(kind.kind in (TypeKind.INTEGER, TypeKind.BOOL) and kind.bits < _UNEXTENDED_BITS for kind in kinds)


@dataclass(frozen=True)
class Library:
    """A whole file of a question about all functions of it. Debug information is read for each function when it is
    asked for."""

    placement: PlacedImage
    display_path: str

    @property
    def image(self) -> Image:
        return self.placement.image

    def loaded(self, symbol: Symbol) -> Loaded:
        told = _told(self.placement, symbol)
        image = self.image if told is None else replace(self.image, **vars(told))
        return Loaded(image, symbol, self.display_path, data=self.placement.file.data)


def open_libraries(paths: Sequence[str], options: LoadOptions) -> list[Library]:
    """One file, or two that are placed together."""
    files = _parse_all([_whole(path) for path in paths], [options] * len(paths), Kept())
    _require_one_machine(files, [options] * len(paths))
    return [Library(placement, path) for placement, path in zip(place_files(files), paths, strict=True)]


def library_bytes(path: str) -> bytes:
    whole = _whole(path)
    return content_of(whole) if isinstance(whole, ArchiveMember) else read_file(whole)


def _whole(path: str) -> Path | ArchiveMember:
    """A file, or a member of an archive."""
    file = Path(path)
    if file.exists() and not starts_as_archive(file):
        return file
    return located(*split_spec(path), None)[0]
