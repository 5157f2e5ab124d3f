"""A C header without a preprocessor: the signatures of the functions that it declares."""

from __future__ import annotations

import re
from pathlib import Path

from isoform.load.c_text import Source, cleaned, declarations, parse_c
from isoform.load.c_types import CTypeReader
from isoform.load.prototype import signature_of
from isoform.load.resolve import read_file
from isoform.model.errors import UserError
from isoform.model.signature import Signature

LONGEST_HEADER = 1 << 20
"""Characters."""
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#.*?(?<!\\)$", re.MULTILINE | re.DOTALL)


def read_header(path: Path, word_bits: int, char_is_signed: bool, option: str) -> dict[str, Signature]:
    """Signatures by name. Comments and preprocessor lines are skipped; functions whose declaration uses something that
    isoform does not know (a structure by value without its definition) are left out."""
    source = Source(f"{option} {path}", "C declarations such as `int f(int x);`", limit=LONGEST_HEADER)
    try:
        text = read_file(path).decode()
    except UnicodeDecodeError:
        raise UserError(f"{option} {path} is not a text.") from None
    text = _DIRECTIVE.sub(" ", _COMMENT.sub(" ", text))
    found = declarations(parse_c(source, "", cleaned(source, text), ""))
    reader = CTypeReader(source, word_bits, found, char_is_signed)
    functions = [node for node in found if type(getattr(node, "type", None)).__name__ == "FuncDecl"]
    signatures = {}
    for node in functions:
        try:
            signatures[node.name] = signature_of(reader, node)
        except UserError:
            continue
    if not signatures:
        raise source.error("declares no function")
    return signatures
