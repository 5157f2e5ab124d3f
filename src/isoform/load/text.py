"""Assembly text of one of the small machines becomes an Image."""

from __future__ import annotations

from pathlib import Path

from isoform.isa.assembly import SOURCE_LIMIT, check_size
from isoform.isa.registry import assembler
from isoform.load.described import SourceLine
from isoform.load.image import Image, Section, Symbol
from isoform.model.errors import UserError
from isoform.model.signature import CType, Parameter, Signature, TypeKind

_INT = CType(TypeKind.INTEGER, 32, signed=True, spelling="int")


def load_text(isa: str, path: Path) -> Image:
    return assemble_text(isa, read_source(path), str(path))


def assemble_text(isa: str, text: str, path_name: str) -> Image:
    made = assembler(isa)(text, path_name)
    name = Path(path_name).stem
    return Image(
        path=path_name,
        machine=isa,
        sections=(Section(".text", 0, made.code, len(made.code), made.writable, executable=True),),
        symbols=(Symbol(name, 0, len(made.code), is_function=True),),
        signatures={name: Signature(name, tuple(Parameter(one, _INT) for one in made.parameters), _INT)},
        lines={address: SourceLine(path_name, line) for address, line in made.lines.items()},
        source={path_name: made.source},
        from_source=True,
    )


def read_source(path: Path) -> str:
    try:
        if not path.exists():
            raise UserError(f"{path}: no such file; check the path")
        if not path.is_file():
            raise UserError(f"{path} is not a regular file; give a file of assembly text")
        with path.open("rb") as file:
            data = file.read(SOURCE_LIMIT + 1)
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}); check its permissions") from error
    check_size(len(data), str(path))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not a text file in UTF-8; give assembly source") from error
