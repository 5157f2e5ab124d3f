"""Code that is in no file: machine code as bytes, or the text of its assembly."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from isoform.isa.registry import DEFAULT, require_machine
from isoform.load.elf import parse_elf
from isoform.load.parsed import FUNCTION, GLOBAL, NOTYPE, FileSection, FileSymbol, ParsedFile
from isoform.model.errors import UserError
from isoform.model.values import dataclass

DISPLAYED = "(code)"
"""Shown in reports instead of a path."""
DEFAULT_NAME = "f"
CODE_LIMIT = 1 << 24
ALIGNMENT = 16
_CODE_FLAGS = 0x6  # in memory, executable
_NAME = re.compile(r"[A-Za-z_.$][\w.$]*")
_LAST_NAME = re.compile(r"([A-Za-z_]\w*)\s*\(")


@dataclass(frozen=True)
class Code:
    """One function. It starts at the first byte, or at the label with its name if its text has that."""

    content: bytes | str
    isa: str
    name: str = DEFAULT_NAME
    signature: str | None = None
    """C prototype of both sides, unless the options say otherwise."""

    def __post_init__(self) -> None:
        """Raises TypeError for a value of the wrong type, and ValueError for a value that cannot be meant."""
        if not isinstance(self.content, bytes | str):
            raise TypeError(f"code is bytes or the text of its assembly, not {self.content!r}")
        for name in ("isa", "name", "signature"):
            value = getattr(self, name)
            if not isinstance(value, str) and not (value is None and name == "signature"):
                raise TypeError(f"{name} must be a string, not {value!r}")
        require_machine(self.isa)
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"'{self.name}' is not the name of a function")
        if not self.content or len(self.content) > CODE_LIMIT:
            raise ValueError("code is empty, or too long" if self.content else "code is empty")


def code(content: bytes | str, isa: str = DEFAULT, signature: str | None = None, name: str | None = None) -> Code:
    """Machine code (bytes) or assembly (text) as one side of a question. `signature` is a C prototype; `name` is taken
    from it if not given."""
    content = bytes(content) if isinstance(content, bytearray | memoryview) else content
    if name is None:
        named = _LAST_NAME.search(signature) if isinstance(signature, str) else None
        name = named.group(1) if named else DEFAULT_NAME
    return Code(content, isa, name, signature)


def parsed_code(code: Code, cc: str | None, cflags: Sequence[str]) -> ParsedFile:
    """As an object file that holds this one function."""
    if isinstance(code.content, str):
        from isoform.load.compile import compile_source

        with tempfile.TemporaryDirectory(prefix="isoform-", ignore_cleanup_errors=True) as folder:
            path = Path(folder) / "code.s"
            path.write_text(_with_label(code.content, code.name), "utf-8")
            try:
                built = compile_source(path, cc, cflags, code.isa)
            except UserError as error:
                raise UserError(str(error).replace(str(path), DISPLAYED)) from error
        # An assembler's debug information has no types, and its lines would name a file that no longer exists.
        return replace(parse_elf(built, DISPLAYED), debug={}, from_source=True)
    size = len(code.content)
    text = FileSection(1, ".text", 0, code.content, size, ALIGNMENT, 0, _CODE_FLAGS)
    symbols = (FileSymbol("", NOTYPE, 0, 0, 0, 0), FileSymbol(code.name, FUNCTION, GLOBAL, 1, 0, size))
    return ParsedFile(
        path=DISPLAYED,
        data=code.name.encode() + b"\0" + code.content,  # contents tell files apart, so the name counts
        machine=code.isa,
        linked=False,
        fixed=False,
        sections={1: text},
        symbols=symbols,
        dynamic_symbols=(),
        relocations={},
    )


def _with_label(text: str, name: str) -> str:
    if re.search(rf"^\s*{re.escape(name)}:", text, re.MULTILINE):
        return f"\t.text\n\t.globl {name}\n\t.type {name}, @function\n{text}\n"
    begin = f"\t.text\n\t.globl {name}\n\t.type {name}, @function\n{name}:\n"
    return f"{begin}{text}\n\t.size {name}, .-{name}\n"
