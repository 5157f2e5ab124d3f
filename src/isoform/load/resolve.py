"""`path[:function]`: which file is meant, and which function of it."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from isoform.load.elf import FILE_LIMIT
from isoform.load.image import Image, Symbol
from isoform.model.errors import UserError
from isoform.model.names import shown_name, without_parameters, without_spaces

SHOWN_NAMES = 12
STARTUP = frozenset(
    {
        "_init",
        "_fini",
        "_start",
        "deregister_tm_clones",
        "register_tm_clones",
        "__do_global_dtors_aux",
        "frame_dummy",
        "_dl_relocate_static_pie",
    }
)
"""Added to every file by linkers: never the function that is meant."""


def split_spec(spec: str) -> tuple[Path, str | None]:
    """`path:function` as a path and a name. A file with a colon in its name is found too, and names may have colons, as
    in C++ and in members of archives: the path is the longest part that is a file."""
    if not spec:
        raise UserError("an empty path was given: name a file, as in old.o:f.")
    if os.path.lexists(spec) or ":" not in spec:
        return Path(spec), None
    path, function = _parts(spec)
    if not path:
        raise UserError(f"'{spec}' names no file: write path:function.")
    if not function:
        raise UserError(f"'{spec}' names no function after the colon.")
    return Path(path), function


def _parts(spec: str) -> tuple[str, str]:
    colons = [at for at, letter in enumerate(spec) if letter == ":"]
    existing = next((at for at in reversed(colons) if at and os.path.lexists(spec[:at])), None)
    is_cxx = "::" in spec or "(" in spec
    at = existing if existing is not None else colons[0] if is_cxx else colons[-1]
    return spec[:at], spec[at + 1 :]


def read_file(path: Path) -> bytes:
    """The bytes of an ordinary file of bounded size."""
    try:
        if path.is_dir():
            raise UserError(f"{path} is a directory: name a file in it.")
        if path.is_symlink() and not path.exists():
            raise UserError(f"{path} is a symbolic link to a file that does not exist.")
        if not path.exists():
            raise UserError(f"there is no file {path}{_similar_file(path)}")
        if not path.is_file():
            raise UserError(f"{path} is not an ordinary file.")
        if path.stat().st_size > FILE_LIMIT:
            raise UserError(f"{path} is too large: isoform reads files of up to {FILE_LIMIT >> 20} MiB.")
        return path.read_bytes()
    except PermissionError as error:
        raise UserError(f"{path} cannot be read: permission denied.") from error
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from error


def _similar_file(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir()][:5000]
    except OSError:
        return "."
    close = difflib.get_close_matches(path.name, names, 1, 0.75)
    return f"; did you mean {path.parent / close[0]}?" if close else "."


def choose(images: Sequence[Image], names: Sequence[str | None]) -> list[Symbol]:
    """The function meant on each side. If a side has no name, it is the only function of its file, or the one that the
    other side names, or the only name that both files have in common."""
    given = [None if n is None else find_function(image, n) for image, n in zip(images, names, strict=True)]
    chosen = [None if symbol is None else symbol.name for symbol in given]
    candidates = [_candidates(image) for image in images]
    for side, image in enumerate(images):
        if not candidates[side] and chosen[side] is None:
            raise UserError(f"{image.path} has no function.")
    if len(images) == 2 and None in chosen:
        chosen = _common_choice(candidates, chosen)
    for side, name in enumerate(chosen):
        if name is None and len(candidates[side]) == 1:
            chosen[side] = candidates[side][0]
    for side, name in enumerate(chosen):
        if name is None:
            raise UserError(_which(images[side], candidates, side, named=any(names)))
    sides = zip(images, given, chosen, strict=True)
    return [symbol or find_function(image, name) for image, symbol, name in sides if name is not None]


def _common_choice(candidates: Sequence[Sequence[str]], chosen: list[str | None]) -> list[str | None]:
    if all(name is None for name in chosen):
        if all(len(names) == 1 for names in candidates):
            return chosen
        common = sorted(set(candidates[0]) & set(candidates[1]))
        return [common[0], common[0]] if len(common) == 1 else chosen
    missing = chosen.index(None)
    given = chosen[1 - missing]
    if given in candidates[missing]:
        chosen[missing] = given
    return chosen


def _candidates(image: Image) -> list[str]:
    """Functions that can be meant without being named: the global-looking ones with code. Names with a dot are parts
    that a compiler split off (`f.part.0`), unless there are no others: a program given as text has the name of its
    file."""
    names = [name for name, symbol in image.functions.items() if symbol.size and name not in STARTUP]
    return [name for name in names if "." not in name] or names


def _which(image: Image, candidates: Sequence[Sequence[str]], side: int, named: bool) -> str:
    if len(candidates) == 2 and not named:
        common = sorted(set(candidates[0]) & set(candidates[1]))
        if len(common) > 1:
            shown = _listed([shown_name(name) for name in common])
            return f"both files have several functions in common ({shown}): name one with --function."
    names = [shown_name(name) for name in candidates[side]]
    return f"{image.path} has several functions ({_listed(names)}): name one, as in {image.path}:{names[0]}."


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:SHOWN_NAMES])
    return shown if len(names) <= SHOWN_NAMES else f"{shown}, … {len(names) - SHOWN_NAMES} more"


def find_function(image: Image, name: str) -> Symbol:
    """The function of this name, or at this hexadecimal address. C++ names may be written as in the source."""
    if name not in image.functions and not name.lower().startswith("0x"):
        name = _symbol_name(image, name)
    symbol = image.functions.get(name)
    places = sorted({s.address for s in image.symbols if s.is_function and s.name == name})
    if len(places) > 1:
        shown = ", ".join(f"{image.path}:{place - image.base:#x}" for place in places[:SHOWN_NAMES])
        raise UserError(f"{image.path} has {len(places)} functions called '{name}': name one by its address ({shown}).")
    if symbol is None and name.lower().startswith("0x"):
        return _at_address(image, name)
    if symbol is None:
        symbol = _label(image, name)
    if symbol.size == 0:
        symbol = Symbol(symbol.name, symbol.address, extent_of(image, symbol.address), True)
    if symbol.size == 0:
        raise UserError(f"function '{name}' in {image.path} has size 0: there is no code to compare.")
    if not image.code_at(symbol.address):
        raise UserError(f"function '{name}' in {image.path} has no code: it lies outside every section of code.")
    return symbol


def _symbol_name(image: Image, typed: str) -> str:
    """The symbol of a function that is given by its C++ name; what was typed if there is none."""
    found = as_typed(image.functions, typed)
    places = {image.functions[name].address for name in found}
    if len(places) > 1:
        shown = ", ".join(f"{shown_name(name)} = {name}" for name in found[:SHOWN_NAMES])
        raise UserError(f"{image.path} has {len(places)} functions that '{typed}' may mean ({shown}): name one symbol.")
    return found[0] if found else typed


def as_typed(names: Iterable[str], typed: str) -> list[str]:
    """Those of some symbols that a person may mean: this symbol itself; else the functions that are written like this,
    blanks aside; else those that are, without parameters and result."""
    names = list(names)
    if typed in names:
        return [typed]
    wanted = without_spaces(typed)
    written = [(name, shown_name(name)) for name in names]
    exact = [name for name, shown in written if shown != name and without_spaces(shown) == wanted]
    if exact:
        return exact
    whole = [(name, shown) for name, shown in written if shown != name and not shown.endswith("]")]
    return [name for name, shown in whole if without_spaces(without_parameters(shown)) == wanted]


def _label(image: Image, name: str) -> Symbol:
    found = [s for s in image.symbols if s.name == name]
    for symbol in found:
        section = image.section_at(symbol.address)
        if section is not None and section.executable:
            return Symbol(name, symbol.address, 0, True)
    if found:
        raise UserError(f"'{name}' in {image.path} is data, not a function.")
    if name in image.externals.values():
        raise UserError(f"{image.path} only uses function '{name}', it does not define it.")
    raise UserError(f"no function '{name}' in {image.path}{_hint(image, name)}")


def _hint(image: Image, name: str) -> str:
    names = [shown_name(own) for own in image.functions]
    close = difflib.get_close_matches(name, names, 1, 0.6)
    if close:
        return f"; did you mean '{close[0]}'?"
    if not names:
        return ": it has no function symbols; name an address instead, as in lib.so:0x1234."
    return f": it has {_listed(names)}."


def extent_of(image: Image, address: int) -> int:
    """Bytes from `address` to the next function or the end of the section."""
    section = image.section_at(address)
    if section is None or not section.executable:
        return 0
    later = [s.address for s in image.symbols if s.is_function and address < s.address < section.end]
    return min([section.end, *later]) - address


def _at_address(image: Image, text: str) -> Symbol:
    try:
        address = int(text, 16)
    except ValueError as error:
        raise UserError(f"'{text}' is neither a function of {image.path} nor a hexadecimal address.") from error
    for candidate in (address, address + image.base):
        if image.code_at(candidate):
            known = image.symbol_at(candidate)
            if known is not None and known.is_function and known.size:
                return known
            return Symbol(text, candidate, extent_of(image, candidate), True)
    raise UserError(f"there is no code at {text} in {image.path}.")
