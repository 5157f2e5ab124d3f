"""What a pointer parameter points to, as `--shape` takes it: a C declaration of the parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from isoform.load.c_text import Source, cleaned, declarations, parse_c
from isoform.load.c_types import CTypeReader
from isoform.model.signature import Parameter, Signature, TypeKind

LONGEST_SHAPE = 16_384
_SOURCE = Source("--shape", 'a declaration such as "struct node { int v; struct node *next; } *p"', limit=LONGEST_SHAPE)


def parse_shape(text: str, word_bits: int = 64) -> Parameter:
    """The parameter that a declaration names, and its type."""
    text = cleaned(_SOURCE, text).rstrip()
    tree = parse_c(_SOURCE, "", text, "" if text.endswith(";") else ";")
    try:
        found = declarations(tree)
        named = [node for node in found if type(node).__name__ == "Decl" and node.name]
        if len(named) != 1:
            raise _SOURCE.error(f"declares {len(named) or 'no'} parameters; write {_SOURCE.wanted}")
        ctype = CTypeReader(_SOURCE, word_bits, found).parameter(named[0].type)
    except RecursionError:
        raise _SOURCE.error("is nested too deeply; write it with fewer levels") from None
    if ctype.kind is not TypeKind.POINTER:
        raise _SOURCE.error(f"declares '{named[0].name}' as no pointer; write {_SOURCE.wanted}")
    return Parameter(named[0].name, ctype)


def shaped(signature: Signature, texts: Sequence[str], word_bits: int = 64) -> Signature:
    """The signature with what is known about the pointees of its pointers."""
    for text in texts:
        shape = parse_shape(text, word_bits)
        names = [parameter.name for parameter in signature.parameters]
        if shape.name not in names:
            known = ", ".join(names) or "none"
            raise _SOURCE.error(f"is about '{shape.name}', which is no parameter; the parameters are {known}")
        old = next(p.type for p in signature.parameters if p.name == shape.name)
        if old.bits != shape.type.bits or old.is_float or old.kind is TypeKind.STRUCT:
            raise _SOURCE.error(f"declares '{shape.name}' as a pointer, but its type is '{old.spelling}'")
        parameters = tuple(shape if p.name == shape.name else p for p in signature.parameters)
        signature = replace(signature, parameters=parameters)
    return signature
