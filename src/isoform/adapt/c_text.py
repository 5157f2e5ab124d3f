"""An adaptor as C: the rewrite under the target's prototype, and a harness that runs both."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from isoform import __version__
from isoform.adapt.c_expression import CExpressions, constant_text, signed, unsigned
from isoform.model.adaptor import Adaptor, AdaptorFound, expression_text
from isoform.model.errors import UserError
from isoform.model.expression import RESULT, Built, Constant, Expression, Variable
from isoform.model.signature import CType, Parameter, Signature, TypeKind
from isoform.model.values import dataclass

_WORDS = "const|volatile|unsigned|signed|int|char|short|long|float|double|void|_Bool"
_PLAIN_TYPE = re.compile(rf"(?:(?:{_WORDS})\b\s*|\*\s*)+")
"""A type that needs no declaration."""
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_KEYWORDS = re.compile(
    "auto|break|case|char|const|continue|default|do|double|else|enum|extern|float|for|goto|if|inline|int|long|register|"
    "restrict|return|short|signed|sizeof|static|struct|switch|typedef|union|unsigned|void|volatile|while"
)
BY_TARGET, BY_REWRITE = "by_target", "by_rewrite"
"""The two results, in a harness."""
_WIDTH = 96
_LARGEST_PLAIN = 1 << 31


Variables = dict[str, tuple[str, CType]]
"""What each parameter is called in C, and its type."""


@dataclass(frozen=True)
class Names:
    """What the functions are called in C."""

    target: str
    rewrite: str
    wrapper: str

    @property
    def harness(self) -> str:
        return f"{self.target}_variants"

    @property
    def all(self) -> tuple[str, ...]:
        return self.target, self.rewrite, self.wrapper, self.harness, f"{self.target}_diverged", BY_TARGET, BY_REWRITE


def names_of(signatures: tuple[Signature, Signature], is_harness: bool) -> Names:
    """Both functions are in a harness, and so cannot have one name there."""
    target, rewrite = (_identifier(signature.name) for signature in signatures)
    if is_harness and target == rewrite:
        rewrite = f"{rewrite}_rewrite"
    return Names(target, rewrite, f"{rewrite}_adapted")


def wrapper_text(found: AdaptorFound) -> str:
    """A source file with the wrapper."""
    assert found.adaptor is not None
    names = names_of(found.asked.signatures, is_harness=False)
    parts = [_comment(_said(found)), "#include <stdint.h>", *_definitions(found, names, "")]
    return "\n\n".join(parts) + "\n"


def harness_text(found: AdaptorFound, is_truth: bool) -> str:
    """A source file that runs the target and the adapted rewrite, and compares what they return, or whether that is
    zero."""
    signatures = found.asked.signatures
    target = signatures[0]
    if target.result.kind is TypeKind.VOID:
        raise UserError(f"--variants compares results, and {target.name} has none.")
    names = names_of(signatures, is_harness=True)
    parts = [
        _comment([*_said(found), "", *_harness_said(found, names)]),
        "#include <stdint.h>\n#include <stdio.h>\n#include <string.h>",
        _declaration(target, names.target, names),
        *_definitions(found, names, "static "),
        *_harness(target, names, is_truth),
    ]
    return "\n\n".join(parts) + "\n"


# -- comments -------------------------------------------------------------------------------------


def _comment(lines: Iterable[str]) -> str:
    shown = [line.replace("*/", "* /").replace("/*", "/ *") for line in lines]
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in shown), " */"])


def _said(found: AdaptorFound) -> Iterator[str]:
    """What was proved."""
    assert found.adaptor is not None
    target, rewrite = (signature.name for signature in found.asked.signatures)
    with_any = " with any arguments" if found.anything_fits else ""
    yield f"{rewrite}, called" + (" with" if found.adaptor.arguments else with_any)
    for name, expression in found.adaptor.arguments:
        yield f"    {name} = {expression_text(expression)}"
    if found.adaptor.result is not None:
        yield f"and with the result {expression_text(found.adaptor.result)}"
    domain = " && ".join(filter(None, (found.asked.domain, found.suggested_domain)))
    where = f"for every input with {domain}" if domain else "for every input"
    yield from wrap(
        f"does what {target} does, {where}: proved by isoform {__version__}, of this code as compiled.", _WIDTH
    )
    if found.assumptions:
        yield ""
        yield "Assumed:"
    for assumption in found.assumptions:
        yield from wrap(f"{assumption.name}: {assumption.why}", _WIDTH, initial_indent="  ", subsequent_indent="    ")


def _harness_said(found: AdaptorFound, names: Names) -> Iterator[str]:
    target, rewrite = (signature.name for signature in found.asked.signatures)
    text = (
        f"{names.harness} calls both. Where their results differ, it calls {names.target}_diverged, which you may "
        f"replace; the result is that of {target}. Both are called, so neither may have effects besides its result."
    )
    yield from wrap(text, _WIDTH)
    if names.rewrite != _identifier(rewrite):
        yield from wrap(f"Both are called {rewrite}: build the rewrite with -D{rewrite}={names.rewrite}.", _WIDTH)


# -- functions ------------------------------------------------------------------------------------


def _definitions(found: AdaptorFound, names: Names, linkage: str) -> Iterator[str]:
    """The declaration of the rewrite, what the wrapper calls, and the wrapper."""
    assert found.adaptor is not None
    target, rewrite = found.asked.signatures
    yield _declaration(rewrite, names.rewrite, names)
    body, functions = _body(found.adaptor, target, rewrite, names)
    yield from functions
    yield "\n".join([linkage + _head(target, names.wrapper, names), "{", *(f"    {line}" for line in body), "}"])


def _declaration(signature: Signature, name: str, names: Names) -> str:
    label = "" if _identifier(signature.name) == signature.name else f' __asm__("{signature.name}")'
    return f"extern {_head(signature, name, names)}{label};"


def _head(signature: Signature, name: str, names: Names) -> str:
    parameters = ", ".join(_declared(p.type, shown) for p, shown in _shown(signature.parameters, names))
    return f"{_declared(signature.result, name)}({parameters or 'void'})"


def _shown(parameters: Sequence[Parameter], names: Names) -> list[tuple[Parameter, str]]:
    """Parameters with names that C takes, and that mean nothing else in the text."""
    found: list[tuple[Parameter, str]] = []
    taken = {RESULT, *names.all}
    for parameter in parameters:
        name = _identifier(parameter.name)
        while name in taken:
            name += "_"
        taken.add(name)
        found.append((parameter, name))
    return found


def _body(adaptor: Adaptor, target: Signature, rewrite: Signature, names: Names) -> tuple[list[str], list[str]]:
    """The lines of the wrapper, and the functions that it needs."""
    variables = {p.name: (shown, p.type) for p, shown in _shown(target.parameters, names)}
    texts = CExpressions(variables)
    given = dict(adaptor.arguments)
    arguments: list[str] = []
    before: list[str] = []
    after: list[str] = []
    for parameter in rewrite.parameters:
        expression = given.get(parameter.name, Constant(0, parameter.type.bits))
        if isinstance(expression, Built):
            room = f"{_identifier(parameter.name)}_built"
            before += _building(expression, room, texts, variables)
            after += _copying_back(expression, room, texts, variables)
            arguments.append(f"{_cast(parameter.type)}{room}")
        else:
            arguments.append(_passed(expression, parameter.type, texts, variables))
    call = f"{names.rewrite}({', '.join(arguments)})"
    # In the expression for the result, `result` is what the rewrite returned, even if a parameter has that name.
    variables = {**variables, RESULT: (RESULT, rewrite.result)}
    at_end = CExpressions(variables)
    end = _returned(adaptor, target, rewrite, call, at_end, variables)
    if after and rewrite.result.bits:
        keep = f"{_declared(rewrite.result, RESULT)} = {call};"
        end = [keep, *after, *_returned(adaptor, target, rewrite, RESULT, at_end, variables)[-1:]]
    elif after:
        end = [end[0], *after, *end[1:]]
    return [*before, *end], [*{**texts.functions, **at_end.functions}.values()]


def _returned(
    adaptor: Adaptor, target: Signature, rewrite: Signature, call: str, texts: CExpressions, variables: Variables
) -> list[str]:
    """The lines that call the rewrite, and return."""
    if target.result.kind is TypeKind.VOID:
        return [f"{call};"]
    if adaptor.result is None:
        same = c_type(target.result) == c_type(rewrite.result)
        return [f"return {call if same else _cast(target.result) + call};"]
    return [
        f"{_declared(rewrite.result, RESULT)} = {call};" if rewrite.result.bits else f"{call};",
        f"return {_passed(adaptor.result, target.result, texts, variables)};",
    ]


def _building(built: Built, room: str, texts: CExpressions, variables: Variables) -> Iterator[str]:
    yield f"_Alignas(16) char {room}[{max(built.size, 1)}];"
    for cell in built.cells:
        bits, kind = cell.value.bits, unsigned(cell.value.bits)
        if isinstance(cell.value, Variable) and variables[cell.value.name][1].kind is TypeKind.FLOAT:
            kind = c_type(variables[cell.value.name][1])
        value = f"&({kind}){{{texts.text(cell.value)}}}"
        yield f"__builtin_memcpy({room} + {cell.offset}, {value}, {bits // 8}); /* {_in_comment(cell.label)} */"


def _copying_back(built: Built, room: str, texts: CExpressions, variables: Variables) -> Iterator[str]:
    for cell in built.cells:
        back, bits = cell.back, cell.value.bits
        if back is None:
            continue
        own = signed(bits) if cell.signed else unsigned(bits)
        value = f"({unsigned(back.bits)})({own}){texts.loaded(f'{room} + {cell.offset}', bits)}"
        place = f"(char *){variables[back.pointer][0]} + {back.offset}"
        yield (
            f"__builtin_memcpy({place}, &({unsigned(back.bits)}){{{value}}}, {back.bits // 8}); "
            f"/* {_in_comment(back.label)} */"
        )


def _in_comment(text: str) -> str:
    return text.replace("*/", "* /")


def _passed(expression: Expression, wanted: CType, texts: CExpressions, variables: dict[str, tuple[str, CType]]) -> str:
    """A value where one of this type is expected."""
    if isinstance(expression, Variable):
        name, ctype = variables[expression.name]
        return name if c_type(ctype) == c_type(wanted) else _cast(wanted) + name
    if wanted.kind is TypeKind.FLOAT:
        return texts.text(expression)
    if isinstance(expression, Constant):
        value = expression.signed_value if wanted.signed else expression.value
        if wanted.kind is TypeKind.POINTER:
            return f"{_cast(wanted)}{constant_text(expression)}"
        return str(value) if abs(value) < _LARGEST_PLAIN else constant_text(expression)
    text = texts.text(expression)
    return f"{_cast(wanted)}{text if _IDENTIFIER.fullmatch(text) else f'({text})'}"


def _cast(wanted: CType) -> str:
    return f"({c_type(wanted)})"


# -- types and names ------------------------------------------------------------------------------


def c_type(ctype: CType) -> str:
    """The type as declared where it needs no other declaration, and else one that is passed in the same way."""
    if ctype.kind is TypeKind.BOOL:
        return "_Bool"
    if _PLAIN_TYPE.fullmatch(ctype.spelling):
        return ctype.spelling.strip()
    if ctype.kind is TypeKind.POINTER:
        return "void *"
    if ctype.kind is TypeKind.VOID:
        return "void"
    if ctype.kind is TypeKind.FLOAT:
        return "float" if ctype.bits == 32 else "double"
    return signed(ctype.bits) if ctype.signed else unsigned(ctype.bits)


def _declared(ctype: CType, name: str) -> str:
    text = c_type(ctype)
    return f"{text}{name}" if text.endswith("*") else f"{text} {name}"


def _identifier(name: str) -> str:
    found = re.sub(r"\W", "_", name, flags=re.ASCII) or "_"
    found = f"_{found}" if not _IDENTIFIER.fullmatch(found) else found
    return f"{found}_" if _KEYWORDS.fullmatch(found) else found


# -- the harness ----------------------------------------------------------------------------------


def _harness(target: Signature, names: Names, is_truth: bool) -> Iterator[str]:
    parameters = _shown(target.parameters, names)
    shown = [name for _, name in parameters]
    result = target.result
    both = f"{_declared(result, BY_TARGET)}, {_declared(result, BY_REWRITE)}"
    own = ", ".join(_declared(p.type, name) for p, name in parameters)
    everything = ", ".join(filter(None, (own, both)))
    yield _report(target, names, parameters, everything)
    yield f"void (*{names.target}_diverged)({everything}) = report_divergence;"
    call = ", ".join(shown)
    lines = [
        f"{_declared(result, BY_TARGET)} = {names.target}({call});",
        f"{_declared(result, BY_REWRITE)} = {names.wrapper}({call});",
        "if (!by_target != !by_rewrite)" if is_truth else "if (memcmp(&by_target, &by_rewrite, sizeof by_target) != 0)",
        f"    {names.target}_diverged({', '.join([*shown, BY_TARGET, BY_REWRITE])});",
        "return by_target;",
    ]
    yield "\n".join([_head(target, names.harness, names), "{", *(f"    {line}" for line in lines), "}"])


def _report(target: Signature, names: Names, parameters: Sequence[tuple[Parameter, str]], everything: str) -> str:
    values = [(p.type, name, f"{name} =") for p, name in parameters]
    values += [(target.result, BY_TARGET, f"{names.target} returns")]
    values += [(target.result, BY_REWRITE, f"{names.rewrite} returns")]
    lines = [f'fprintf(stderr, "{names.target}: the variants diverge:\\n");']
    for ctype, name, said in values:
        lines.append(f'fprintf(stderr, "    {said} {_format(ctype)}\\n", {_printed(ctype, name)});')
    body = [f"    {line}" for line in lines]
    return "\n".join([f"static void report_divergence({everything})", "{", *body, "}"])


def _format(ctype: CType) -> str:
    if ctype.kind is TypeKind.FLOAT:
        return "%.17g"
    if ctype.kind is TypeKind.POINTER:
        return "%p"
    return "%lld" if ctype.signed else "%llu"


def _printed(ctype: CType, name: str) -> str:
    if ctype.kind is TypeKind.FLOAT:
        return f"(double){name}"
    if ctype.kind is TypeKind.POINTER:
        return f"(void *){name}"
    return f"({'' if ctype.signed else 'unsigned '}long long){name}"
