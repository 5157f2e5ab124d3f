"""`--suggest-domain`: where no adaptor fits all inputs, one that fits most, and the inputs for which it does.

Adaptors are looked for on small positive numbers, which most functions are meant for. Then the domain is made as large
as a short list of restrictions allows: first one value left out, then half of all numbers, then ranges. What is
suggested was proved under that restriction; that no weaker one would do was not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from isoform.adapt.adapt import AdaptOptions, find_adaptor, proved_on
from isoform.adapt.pair import Pair
from isoform.borders.question import Options
from isoform.model.adaptor import AdaptorFound, AdaptorUnknown, Answered, NoAdaptor
from isoform.model.budget import Budget
from isoform.model.contract import argument_value
from isoform.model.signature import Parameter, TypeKind
from isoform.model.values import dataclass
from isoform.model.verdict import Different, Equivalent

NARROW = "0 < {0} && {0} < 100"
CANDIDATES = 3
"""Adaptors on the narrow domain that are tried on larger ones."""
SHARE = 0.4
"""Of what is left, for finding them."""
MOST_VALUES = 3
"""Values that are left out one by one."""


def with_suggested_domain(first: Answered, pair: Pair, options: Options, how: AdaptOptions, budget: Budget) -> Answered:
    """The answer, or an adaptor on a part of the domain where there is none on all of it."""
    if not isinstance(first, NoAdaptor | AdaptorUnknown):
        return first
    numbers = [p for p in pair.signatures[0].parameters if p.type.kind is TypeKind.INTEGER]
    if not numbers or budget.exhausted:
        return first
    narrow = tuple(NARROW.format(p.name) for p in numbers)
    part = budget.part(budget.left * SHARE)
    found = find_adaptor(
        pair, replace(options, assume=(*options.assume, *narrow)), replace(how, count=CANDIDATES), part
    )
    if not isinstance(found, AdaptorFound) or found.adaptor is None:
        return first
    best: tuple[_Restriction, AdaptorFound] | None = None
    for adaptor in (found.adaptor, *found.others):
        one = _widest(replace(found, adaptor=adaptor, others=()), pair, options, numbers, budget)
        if one is not None and (best is None or one[0].excluded < best[0].excluded):
            best = one
    if best is None:
        text = " && ".join(narrow)
        return replace(found, asked=first.asked, others=(), suggested_domain=text, seconds=budget.elapsed)
    return replace(best[1], asked=first.asked, suggested_domain=best[0].text, seconds=budget.elapsed)


@dataclass(frozen=True)
class _Restriction:
    text: str
    excluded: float
    """The share of inputs that it excludes."""


def _widest(
    found: AdaptorFound, pair: Pair, options: Options, numbers: Sequence[Parameter], budget: Budget
) -> tuple[_Restriction, AdaptorFound] | None:
    """The first restriction under which an adaptor is proved, weakest first."""
    assert found.adaptor is not None
    without = _values_left_out(found, pair, options, numbers, budget)
    if without is not None:
        return without
    for restriction in sorted(_restrictions(numbers), key=lambda one: one.excluded):
        if budget.exhausted:
            return None
        verdict = proved_on(pair, found.adaptor, replace(options, assume=(*options.assume, restriction.text)), budget)
        if isinstance(verdict, Equivalent):
            return restriction, replace(
                found, proof=verdict, assumptions=tuple(dict.fromkeys((*found.assumptions, *verdict.assumptions)))
            )
    return None


def _values_left_out(
    found: AdaptorFound, pair: Pair, options: Options, numbers: Sequence[Parameter], budget: Budget
) -> tuple[_Restriction, AdaptorFound] | None:
    """Leave out the value of the one parameter on which they differ, and the next, a few times."""
    assert found.adaptor is not None
    if len(numbers) != 1:
        return None
    parameter, excluded = numbers[0], list[str]()
    while len(excluded) <= MOST_VALUES and not budget.exhausted:
        text = " && ".join(excluded)
        assume = (*options.assume, text) if text else options.assume
        verdict = proved_on(pair, found.adaptor, replace(options, assume=assume), budget)
        if isinstance(verdict, Equivalent) and text:
            proved = replace(
                found, proof=verdict, assumptions=tuple(dict.fromkeys((*found.assumptions, *verdict.assumptions)))
            )
            return _Restriction(text, len(excluded) / 2.0**parameter.type.bits), proved
        argument = next((a for a in verdict.contract.arguments if a.name == parameter.name), None)
        if not isinstance(verdict, Different) or argument is None:
            return None
        excluded.append(f"{parameter.name} != {_literal(argument_value(argument, verdict.witness.inputs), parameter)}")
    return None


def _literal(value: int, parameter: Parameter) -> str:
    bits = parameter.type.bits
    if parameter.type.signed and value >> (bits - 1):
        low = value - (1 << bits)
        return f"(-{-low - 1} - 1)" if low == -(1 << (bits - 1)) else str(low)
    return f"{value}u" if not parameter.type.signed and value >> (bits - 1) else str(value)


def _restrictions(numbers: Sequence[Parameter]) -> Iterator[_Restriction]:
    """Ranges of one parameter, and of all of them."""
    for parameter in numbers:
        yield from _of_one(parameter)
    if len(numbers) < 2:
        return
    for together in zip(*(list(_of_one(p)) for p in numbers), strict=False):
        text = " && ".join(one.text for one in together)
        kept = 1.0
        for one in together:
            kept *= 1 - one.excluded
        yield _Restriction(text, 1 - kept)


def _of_one(parameter: Parameter) -> Iterator[_Restriction]:
    name, bits = parameter.name, parameter.type.bits
    all_numbers = 2.0**bits
    if parameter.type.signed:
        yield _Restriction(f"{name} >= 0", 0.5)
        yield _Restriction(f"{name} > 0", 0.5 + 1 / all_numbers)
    else:
        yield _Restriction(f"{name} > 0", 1 / all_numbers)
    sizes = [size for size in (62, 48, 31, 30, 24, 16, 15, 12, 8, 7) if size < bits]
    for size in sizes:
        lower = f"0 <= {name} && " if parameter.type.signed else ""
        yield _Restriction(f"{lower}{name} < {1 << size}", 1 - 2.0**size / all_numbers)
