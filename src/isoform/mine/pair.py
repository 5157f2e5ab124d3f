"""What limited processes are asked: which targets runs do not refute for a rewrite, and the adaptor of one pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from isoform.adapt.adapt import AdaptOptions, find_adaptor, unfinished
from isoform.adapt.applicable import families_to_search
from isoform.adapt.pair import Pair
from isoform.borders.question import Options
from isoform.mine.sieve import Sieve, Subject
from isoform.model.adaptor import Adaptor, AdaptorFound, AdaptorUnknown, Answered, Family, NoAdaptor, expression_text
from isoform.model.budget import Budget
from isoform.model.errors import OutOfLimits, Unsupported, UserError
from isoform.model.expression import RESULT, Conversion, Expression, FloatOperation, Operation, Variable
from isoform.model.limits import enforced
from isoform.model.values import dataclass

PAIR_MEMORY = 1 << 30


@dataclass(frozen=True)
class Shared:
    """What all processes inherit: every function is read and lifted once."""

    subjects: Sequence[Subject]
    """By their number."""
    is_one_library: bool
    families: tuple[Family, ...]
    depth: int

    def targets_of(self, rewrite: Subject) -> list[Subject]:
        """Functions to be compared with this one: of the other library, or of the same if there is only one."""
        own = rewrite.mined.about
        return [
            subject
            for subject in self.subjects
            if subject is not rewrite and (self.is_one_library or subject.mined.about.library != own.library)
        ]


def sieve_rewrites(shared: Shared, numbers: Sequence[int]) -> list[tuple[int, int, str]]:
    """The pairs with these rewrites that are left: the target, the rewrite, and how likely they are to fit."""
    sieve = Sieve(shared.families)
    found = []
    for number in numbers:
        rewrite = shared.subjects[number]
        for target in shared.targets_of(rewrite):
            likelihood = sieve.judge(target, rewrite)
            if likelihood is not None:
                found.append((target.mined.about.number, number, likelihood.value))
    return found


def adapt_pair(shared: Shared, asked: tuple[int, int, float]) -> dict[str, Any]:
    """The adaptor of one pair, within so many seconds."""
    target, rewrite = (shared.subjects[number].mined for number in asked[:2])
    assumptions = [one.assumption for one in (target, rewrite) if one.assumption is not None]
    pair = Pair((target.loaded, rewrite.loaded), (target.signature, rewrite.signature), tuple(assumptions))
    options, budget = Options(budget=asked[2]), Budget(asked[2])
    applicable = families_to_search(pair, None)
    families = tuple(family for family in shared.families if family in applicable)
    how = AdaptOptions(families=families or None, depth=shared.depth)
    with enforced(budget, PAIR_MEMORY):
        try:
            if not families:
                return {"verdict": NoAdaptor.word, "assumptions": [], "seconds": 0.0}  # nothing to adapt
            return _as_json(find_adaptor(pair, options, how, budget))
        except (Unsupported, UserError) as reason:
            return {"verdict": AdaptorUnknown.word, "why": str(reason), "unfinished": budget.exhausted}
        except (OutOfLimits, MemoryError) as reason:
            budget.is_closed = True
            why = str(reason) or "memory ran out"
            return _as_json(unfinished(pair, options, how, budget, why))


def _as_json(answer: Answered) -> dict[str, Any]:
    assumptions = [[assumption.name, assumption.why] for assumption in answer.assumptions]
    found: dict[str, Any] = {"verdict": answer.word, "assumptions": assumptions, "seconds": round(answer.seconds, 4)}
    if isinstance(answer, AdaptorUnknown):
        found["why"] = answer.why
        found["unfinished"] = answer.is_unfinished
    if isinstance(answer, AdaptorFound) and answer.adaptor is not None:
        found["family"] = answer.family.value
        found["anything_fits"] = answer.anything_fits
        found["adaptor"] = _adaptor(answer.adaptor)
        found["text"] = call_text(answer)
    return found


def _adaptor(adaptor: Adaptor) -> dict[str, Any]:
    return {
        "arguments": {name: expression_text(expression) for name, expression in adaptor.arguments},
        "return": expression_text(adaptor.result) if adaptor.result is not None else None,
    }


def call_text(found: AdaptorFound) -> str:
    """The adaptor as a call of the rewrite. An argument that the rewrite ignores is an underscore."""
    assert found.adaptor is not None
    given = dict(found.adaptor.arguments)
    signature = found.asked.signatures[1]
    arguments = [expression_text(given[p.name]) if p.name in given else "_" for p in signature.parameters]
    call = f"{found.asked.rewrite.function}({', '.join(arguments)})"
    result = found.adaptor.result
    return call if result is None else expression_text(_with_call(result, call))


def _with_call(expression: Expression, call: str) -> Expression:
    """The expression with a call where the result is: as text it is a name like any other."""
    match expression:
        case Variable(name, bits, signed) if name == RESULT:
            return Variable(call, bits, signed)
        case Operation(operator, operands):
            return Operation(operator, tuple(_with_call(operand, call) for operand in operands))
        case FloatOperation(float_operator, (left, right)):
            return FloatOperation(float_operator, (_with_call(left, call), _with_call(right, call)))
        case Conversion(change, operand, bits):
            return Conversion(change, _with_call(operand, call), bits)
        case _:
            return expression
