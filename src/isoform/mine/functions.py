"""The functions of a library: each lifted once, with its signature, and ready to run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from isoform.adapt.pair import from_liveness, infer_signature, require_adaptable, with_names
from isoform.borders.question import Options, Question
from isoform.borders.settle import settle
from isoform.engines.answer import lifted
from isoform.isa.registry import machine, wrapper_code
from isoform.lift.function import Function
from isoform.lift.resolvers import with_resolved
from isoform.load.image import Symbol
from isoform.load.open import Library, Loaded
from isoform.mine.shape import digest_of, shape_of
from isoform.model.budget import Budget
from isoform.model.errors import OutOfLimits, Unsupported, UserError
from isoform.model.limits import enforced
from isoform.model.mining import MinedFunction, Refused, SignatureOrigin
from isoform.model.signature import Signature, TypeKind
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption

MOST_PARAMETERS = 4
LIFT_SECONDS = 1.0
"""Of processor time, to lift one function and settle how it is run. Three of four functions of libc take less than
0.3."""
FIRST_SECONDS = 10.0
"""The same for the first function: modules are imported with it."""
LIFT_MEMORY = 1 << 30
FUEL = 600
"""Steps of one run. Functions that run longer on small inputs are rare, and such a run only decides nothing."""


@dataclass(frozen=True)
class Mined:
    """A function that takes part."""

    about: MinedFunction
    loaded: Loaded
    signature: Signature
    question: Question
    """The function against itself: how it is run."""
    assumption: Assumption | None


@dataclass(frozen=True)
class Choice:
    """Which functions take part."""

    only: tuple[str, ...] = ()
    """Patterns; none: all."""
    skip: tuple[str, ...] = ()
    signatures: Mapping[str, Signature] | None = None
    """By name, from a header."""
    is_declared: bool = False
    """Whether only functions of the header take part."""

    def has(self, name: str) -> bool:
        if self.is_declared and name not in (self.signatures or {}):
            return False
        wanted = not self.only or any(fnmatchcase(name, pattern) for pattern in self.only)
        return wanted and not any(fnmatchcase(name, pattern) for pattern in self.skip)


def prepared(library: Library) -> Library:
    """With the functions that are chosen when it is loaded: that is found out once."""
    of = machine(library.image.machine)
    if wrapper_code(of.name) is None:
        raise UserError(f"adaptors are not made for {of.title} yet.")
    return replace(library, placement=replace(library.placement, image=with_resolved(library.image, of)))


def read_functions(
    library: Library, number: int, choice: Choice, first: int, progress: Callable[[str], None]
) -> tuple[list[Mined], list[Refused]]:
    """The functions of a library that can be compared, numbered from `first` on, and those that cannot."""
    found: list[Mined] = []
    refused: list[Refused] = []
    entries = [*_entries(library, choice)]
    for done, (symbol, names) in enumerate(entries):
        progress(f"lifting {done} of {len(entries)} functions of {library.display_path}")
        try:
            with enforced(budget := Budget(LIFT_SECONDS if done else FIRST_SECONDS), LIFT_MEMORY):
                found.append(_read(library, number, symbol, names, choice, first + len(found), budget))
        except (Unsupported, UserError) as reason:
            refused.append(Refused(number, symbol.name, str(reason)))
        except (OutOfLimits, MemoryError, RecursionError) as reason:
            refused.append(Refused(number, symbol.name, f"lifting it takes too long ({reason or 'memory'})"))
    return found, refused


def _entries(library: Library, choice: Choice) -> Iterator[tuple[Symbol, tuple[str, ...]]]:
    """One symbol for each address, the name that says most, and all its names."""
    image = library.image
    by_address: dict[int, list[Symbol]] = {}
    for symbol in image.symbols:
        if symbol.is_function and symbol.address not in image.resolvers and image.code_at(symbol.address):
            by_address.setdefault(symbol.address, []).append(symbol)
    for symbols in by_address.values():
        names = tuple(sorted({symbol.name for symbol in symbols}, key=_plainness))
        wanted = [name for name in names if choice.has(name)]
        if wanted:
            declared = [name for name in wanted if choice.signatures and name in choice.signatures]
            chosen = (declared or wanted)[0]
            yield next(symbol for symbol in symbols if symbol.name == chosen), names


def _plainness(name: str) -> tuple[int, int, str]:
    """Names without leading underscores first."""
    return len(name) - len(name.lstrip("_")), len(name), name


def _read(
    library: Library, number: int, symbol: Symbol, names: Sequence[str], choice: Choice, index: int, budget: Budget
) -> Mined:
    loaded = library.loaded(symbol)
    function = lifted(loaded, True, budget)
    signature, origin = _signature(loaded, function, choice)
    require_adaptable(signature)
    _require_few_integers(signature)
    signature = replace(signature, name=symbol.name)
    image = replace(loaded.image, signatures={**loaded.image.signatures, symbol.name: signature})
    loaded, function = replace(loaded, image=image), replace(function, image=image)
    question = settle(function, function, Options(fuel=FUEL))
    if question.contract.bools or question.contract.bool_variables:
        raise Unsupported("it reads a bool in memory, which made-up contents would not be")
    about = MinedFunction(
        number=index,
        library=number,
        name=symbol.name,
        aliases=tuple(name for name in names if name != symbol.name),
        signature=str(signature),
        origin=origin,
        parameters=len(signature.parameters),
        digest=digest_of(function),
        shape=shape_of(function),
    )
    guessed = origin is SignatureOrigin.LIVENESS
    return Mined(about, loaded, signature, question, from_liveness(signature, "--signatures") if guessed else None)


def _signature(loaded: Loaded, function: Function, choice: Choice) -> tuple[Signature, SignatureOrigin]:
    name = loaded.symbol.name
    if choice.signatures is not None and name in choice.signatures:
        return with_names(choice.signatures[name]), SignatureOrigin.HEADER
    declared = loaded.image.signatures.get(name)
    if declared is not None:
        return with_names(declared), SignatureOrigin.DEBUG
    return infer_signature(function), SignatureOrigin.LIVENESS


def _require_few_integers(signature: Signature) -> None:
    if len(signature.parameters) > MOST_PARAMETERS:
        raise Unsupported(f"it takes more than {MOST_PARAMETERS} arguments")
    if any(ctype.kind is TypeKind.FLOAT for ctype in (*(p.type for p in signature.parameters), signature.result)):
        raise Unsupported("it takes or returns floating point")
