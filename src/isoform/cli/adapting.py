"""`isoform adapt`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isoform.cli.options import Cc, Cflags, Isa, Spec, checked_seconds, load_options, refuse_compiler, size_in_bytes
from isoform.cli.question_options import (
    Aborting,
    AsJson,
    CcOfA,
    CcOfB,
    CflagsOfA,
    CflagsOfB,
    Fuel,
    MemoryCompared,
    MemoryLimit,
    Returning,
    Seconds,
    Seed,
    Shapes,
    Unrolled,
)
from isoform.cli.streams import Progress
from isoform.model.adaptor import Emit, Family
from isoform.model.contract import AbortRule, MemoryRule, ReturnAs
from isoform.model.errors import UserError

if TYPE_CHECKING:
    from isoform.model.expression import Operator

ADAPT_HELP = """Find an adaptor: expressions over A's parameters with which B, called with them, does what A does.

A and B are `path[:function]`, as in `compare`, and may take other arguments. The simplest adaptor of the families is
looked for, and the result is proved by comparing A with the adapted B.

Exit code: 0 an adaptor, 1 none exists in these families (proved), 3 unknown, 2 trouble."""

FAMILIES = ", ".join(family.value for family in Family)


def adapt(
    a: Spec,
    b: Annotated[
        str, typer.Argument(metavar="B", help="The rewrite, whose arguments are adapted.", show_default=False)
    ],
    family: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help=f"Families to search, separated by commas: {FAMILIES}. Without it, all that apply.",
            show_default=False,
        ),
    ] = None,
    depth: Annotated[int, typer.Option(metavar="N", help="Depth of expressions, 1 to 4: a leaf is 1.")] = 2,
    operators: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Operators to use, separated by commas, of all: + - * & | ^ /u /s %u %s << >>u >>s neg ~",
        ),
    ] = None,
    count: Annotated[
        int, typer.Option("--all", metavar="N", help="Look for up to N adaptors that mean different things.", min=1)
    ] = 1,
    suggest_domain: Annotated[
        bool, typer.Option(help="Where no adaptor fits all inputs, look for one that fits most, and say which.")
    ] = False,
    assume: Annotated[
        list[str] | None,
        typer.Option(metavar="FACT", help='The domain, in C over A\'s parameters: "0 <= x && x <= 255". Repeatable.'),
    ] = None,
    shape: Shapes = None,
    return_as: Returning = ReturnAs.VALUE,
    memory: MemoryCompared = MemoryRule.COMPARE,
    aborts: Aborting = AbortRule.EQUAL,
    signature_a: Annotated[str | None, typer.Option(metavar="PROTOTYPE", help="C prototype of A.")] = None,
    signature_b: Annotated[str | None, typer.Option(metavar="PROTOTYPE", help="C prototype of B.")] = None,
    budget: Seconds = 60.0,
    memory_limit: MemoryLimit = "2G",
    fuel: Fuel = 10_000,
    unroll: Unrolled = 64,
    seed: Seed = 1,
    cert: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder to write the proof's certificate to.")
    ] = None,
    emit: Annotated[
        Emit | None,
        typer.Option(help="Print the adaptor as C, compiled and compared again, or as SMT-LIB.", show_default=False),
    ] = None,
    variants: Annotated[
        bool, typer.Option("--variants", help="With --emit c: a harness that runs A and the adapted B and compares.")
    ] = False,
    isa: Isa = None,
    cc: Cc = None,
    cc_a: CcOfA = None,
    cc_b: CcOfB = None,
    cflags: Cflags = None,
    cflags_a: CflagsOfA = None,
    cflags_b: CflagsOfB = None,
    as_json: AsJson = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Only the answer's word.")] = False,
) -> None:
    from isoform.adapt.adapt import AdaptOptions
    from isoform.adapt.space import ALL_OPERATORS
    from isoform.api import adapt as ask
    from isoform.borders.question import Options

    refuse_compiler(a, cc_a, cflags_a, "a")
    refuse_compiler(b, cc_b, cflags_b, "b")
    progress = Progress(enabled=not (quiet or as_json))
    how = AdaptOptions(
        families=None if family is None else families_named(family),
        depth=depth,
        operators=ALL_OPERATORS if operators is None else operators_named(operators),
        count=count,
        suggest_domain=suggest_domain,
    )
    options = Options(
        assume=tuple(assume or ()),
        shapes=tuple(shape or ()),
        return_as=return_as,
        memory=memory,
        aborts=aborts,
        budget=checked_seconds(budget),
        fuel=fuel,
        unroll=unroll,
        seed=seed,
        cert=str(cert) if cert else None,
        memory_limit=size_in_bytes(memory_limit),
        progress=progress,
    )
    sides = [
        load_options(own_cc or cc, own_flags if own_flags is not None else cflags, isa, None)
        for own_cc, own_flags in ((cc_a, cflags_a), (cc_b, cflags_b))
    ]
    answer = ask(a, b, options, how, sides[0], sides[1], (signature_a, signature_b), emit, variants)
    progress.clear()
    if as_json:
        from isoform.report.adaptors import dumps

        print(dumps(answer))
    else:
        from isoform.report.adaptors import print_answer

        print_answer(answer, quiet=quiet)
    raise typer.Exit(answer.exit_code)


def families_named(text: str) -> tuple[Family, ...]:
    """In the order in which they are tried, whatever the order of the words."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    unknown = [word for word in words if word not in [family.value for family in Family]]
    if unknown or not words:
        raise UserError(f"--family '{unknown[0] if unknown else text}' is none of {FAMILIES}.")
    return tuple(family for family in Family if family.value in words)


def operators_named(text: str) -> tuple[Operator, ...]:
    from isoform.adapt.space import ALL_OPERATORS

    words = [word.strip() for word in text.split(",") if word.strip()]
    by_word = {operator.value: operator for operator in ALL_OPERATORS}
    unknown = [word for word in words if word not in by_word]
    if unknown or not words:
        raise UserError(f"--operators '{unknown[0] if unknown else text}' is none of {' '.join(by_word)}.")
    return tuple(operator for operator in ALL_OPERATORS if operator.value in words)
