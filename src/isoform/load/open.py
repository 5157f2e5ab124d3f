"""From what the user typed to the two images of a question."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from isoform.load.elf import ParsedFile, parse_elf
from isoform.load.image import Image, PointerTypes, Symbol
from isoform.load.place import Placement, place_files
from isoform.load.resolve import choose, read_file, split_spec
from isoform.model.errors import UserError

SOURCE_SUFFIXES = (".c", ".s", ".S")
TEXT_ISAS = {".toy": "toy", ".asm": "cs241"}
ELF_ISAS = ("x86_64",)


@dataclass(frozen=True)
class LoadOptions:
    cc: str | None = None
    cflags: tuple[str, ...] = ()
    isa: str | None = None
    function: str | None = None

    def __post_init__(self) -> None:
        """Flags in one string, as on the command line, are several; what is no text raises TypeError."""
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


@dataclass(frozen=True)
class Loaded:
    """One function of one loaded file."""

    image: Image
    symbol: Symbol
    display_path: str


_Built = tuple[Path, str | None, tuple[str, ...]]


@dataclass
class Kept:
    """Files that were read or built for one question, for the next one."""

    images: dict[Path, Image] = field(default_factory=dict)
    """Assembled text."""
    parsed: dict[_Built, ParsedFile] = field(default_factory=dict)


def open_one(spec: str, options: LoadOptions | None = None) -> Loaded:
    return _open([spec], [options or LoadOptions()])[0]


def open_pair(
    spec_a: str,
    spec_b: str,
    options_a: LoadOptions | None = None,
    options_b: LoadOptions | None = None,
    kept: Kept | None = None,
) -> tuple[Loaded, Loaded]:
    target, rewrite = _open([spec_a, spec_b], [options_a or LoadOptions(), options_b or LoadOptions()], kept)
    return target, rewrite


def _open(specs: Sequence[str], options: Sequence[LoadOptions], kept: Kept | None = None) -> list[Loaded]:
    kept = kept or Kept()
    split = [split_spec(spec) for spec in specs]
    paths = [path for path, _ in split]
    isas = [_isa(path, option) for path, option in zip(paths, options, strict=True)]
    if len(set(isas)) > 1:
        raise UserError(f"{paths[0]} is {isas[0]} but {paths[1]} is {isas[1]}: both sides must be the same machine.")
    names = [name or option.function for (_, name), option in zip(split, options, strict=True)]
    if isas[0] in ELF_ISAS:
        placements = place_files(_parse_all(paths, options, kept.parsed))
        symbols = choose([p.image for p in placements], names)
        images = _with_debug(placements, symbols)
    else:
        images = [_assemble(isas[0], path, kept.images) for path in paths]
        symbols = choose(images, names)
    return [Loaded(image, s, str(path)) for image, s, path in zip(images, symbols, paths, strict=True)]


def _isa(path: Path, options: LoadOptions) -> str:
    """The machine of a file: the option, the suffix, or else an ELF file that says so itself."""
    known = (*TEXT_ISAS.values(), *ELF_ISAS)
    if options.isa is not None and options.isa not in known:
        raise UserError(f"--isa '{options.isa}' is not a machine isoform knows: {', '.join(known)}.")
    return options.isa or TEXT_ISAS.get(path.suffix, ELF_ISAS[0])


def _assemble(isa: str, path: Path, kept: dict[Path, Image]) -> Image:
    if path not in kept:
        kept[path] = _text_loader(isa)(path)
    return kept[path]


def _text_loader(isa: str) -> Callable[[Path], Image]:
    def load(path: Path) -> Image:
        read_file(path)  # for its sentences on files that cannot be read
        if isa == "toy":
            from isoform.load.toy import load_toy

            return load_toy(path)
        from isoform.load.cs241 import load_cs241

        return load_cs241(path)

    return load


def _parse_all(
    paths: Sequence[Path], options: Sequence[LoadOptions], parsed: dict[_Built, ParsedFile]
) -> list[ParsedFile]:
    """Parse every file; a source that is built twice in the same way is built once."""
    files = []
    for path, option in zip(paths, options, strict=True):
        key = (path, option.cc, option.cflags)
        if key not in parsed:
            parsed[key] = _parse(path, option)
        files.append(parsed[key])
    return files


def _parse(path: Path, options: LoadOptions) -> ParsedFile:
    data = read_file(path)
    if path.suffix not in SOURCE_SUFFIXES:
        return parse_elf(data, str(path))
    from isoform.load.compile import compile_source

    built = compile_source(path, options.cc, options.cflags)
    try:
        return replace(parse_elf(built, str(path)), from_source=True)
    except UserError as error:
        raise UserError(f"what the compiler made of {path} cannot be used: {error}") from error


def _with_debug(placements: Sequence[Placement], symbols: Sequence[Symbol]) -> list[Image]:
    """The images with signatures and source lines of the chosen functions. One file on both sides is read once."""
    from isoform.load.debug.frame import frame_arrays, frame_locals
    from isoform.load.debug.lines import lines, source_text
    from isoform.load.debug.read import read_debug
    from isoform.load.debug.signatures import signatures

    images = []
    debug = None
    for index, (placement, symbol) in enumerate(zip(placements, symbols, strict=True)):
        if index == 0 or placement.file.data is not placements[0].file.data:
            debug = read_debug(placement.file, placement.code, placement.base)
        if debug is None:
            images.append(placement.image)
            continue
        where = lines(debug, symbol.address, symbol.address + symbol.size)
        pointers: list[PointerTypes] = []
        inlined: set[str] = set()
        found = signatures(debug, {symbol.name}, symbol.address, pointers, inlined)
        names = frame_locals(debug, symbol.address)
        text = source_text(where)
        types = pointers[0] if len(pointers) == 1 else PointerTypes()
        known = replace(placement.image, signatures=found, pointers=types, arrays=frame_arrays(debug, symbol.address))
        images.append(replace(known, lines=where, source=text, locals=names, inlined=frozenset(inlined)))
    return images
