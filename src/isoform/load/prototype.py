"""A C prototype, as `--signature` takes it, becomes a Signature."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from isoform.load.c_text import Source, cleaned, declarations, parse_c
from isoform.load.c_types import CTypeReader
from isoform.model.signature import VOID, CType, Parameter, Signature, TypeKind

LONGEST_PROTOTYPE = 16_384
MOST_PARAMETERS = 127
"""The least that a C compiler must accept."""

_SOURCE = Source("--signature", 'a C prototype such as "unsigned f(unsigned x, unsigned *p)"', limit=LONGEST_PROTOTYPE)


@lru_cache(maxsize=64)  # a checker asks about the same prototype many times
def parse_prototype(text: str, word_bits: int = 64, char_is_signed: bool = True) -> Signature:
    """The signature that a prototype declares; definitions of the structs, enums and typedefs it uses may stand
    in front. `word_bits` is the width of pointers and `long` on the machine asked about."""
    text = cleaned(_SOURCE, text).rstrip()
    tree = parse_c(_SOURCE, "", text, "" if text.endswith((";", "}")) else ";")
    try:
        found = declarations(tree)
        return signature_of(CTypeReader(_SOURCE, word_bits, found, char_is_signed), _function(found))
    except RecursionError:
        raise _SOURCE.error("is nested too deeply; write it with fewer levels") from None


def _function(found: list[Any]) -> Any:
    """The one function declared among the declarations."""
    heads = [node.decl if type(node).__name__ == "FuncDef" else node for node in found]
    functions = [node for node in heads if type(getattr(node, "type", None)).__name__ == "FuncDecl"]
    functions = [node for node in functions if type(node).__name__ == "Decl"]
    if len(functions) != 1:
        count = "no function" if not functions else f"{len(functions)} functions"
        raise _SOURCE.error(f"declares {count}; write {_SOURCE.wanted}")
    return functions[0]


def signature_of(reader: CTypeReader, function: Any) -> Signature:
    nodes = list(function.type.args.params) if function.type.args is not None else []
    variadic = bool(nodes) and type(nodes[-1]).__name__ == "EllipsisParam"
    if variadic:
        nodes.pop()
    if len(nodes) > MOST_PARAMETERS:
        raise _SOURCE.error(f"has {len(nodes)} parameters; the limit is {MOST_PARAMETERS}")
    parameters = [] if _takes_nothing(reader, nodes) else [_parameter(reader, *pair) for pair in enumerate(nodes, 1)]
    names = [parameter.name for parameter in parameters]
    for name in names:
        if names.count(name) > 1:
            raise _SOURCE.error(f"has two parameters named '{name}'; rename one")
    return Signature(function.name, tuple(parameters), _result(reader, function.type.type), variadic)


def _takes_nothing(reader: CTypeReader, nodes: list[Any]) -> bool:
    return (
        len(nodes) == 1
        and type(nodes[0]).__name__ == "Typename"
        and type(nodes[0].type).__name__ == "TypeDecl"
        and reader.parameter(nodes[0].type).kind is TypeKind.VOID
    )


def _parameter(reader: CTypeReader, number: int, node: Any) -> Parameter:
    kind = type(node).__name__
    if kind not in ("Decl", "Typename"):
        raise _SOURCE.error(f"gives no type for parameter {number}; write {_SOURCE.wanted}")
    name = node.name or f"arg{number}"
    ctype = reader.parameter(node.type)
    if ctype.kind is TypeKind.VOID:
        raise _SOURCE.error(f"gives parameter {name} the type '{ctype.spelling}', which has no value; use a pointer")
    return Parameter(name, ctype)


def _result(reader: CTypeReader, node: Any) -> CType:
    ctype = reader.read(node)
    if ctype.kind is not TypeKind.VOID:
        return ctype
    if ctype.spelling not in ("void", "const void"):
        raise _SOURCE.error(f"returns '{ctype.spelling}', which has no value; use a pointer")
    return VOID
