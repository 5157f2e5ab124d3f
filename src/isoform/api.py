"""The verbs of the command line as Python functions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isoform import __version__
from isoform.borders.question import Options, Question
from isoform.borders.settle import settle
from isoform.engines.answer import Explainer, answer, explained, lifted, refused, seconds_for_explaining
from isoform.isa.registry import DEFAULT, TEXT_ISAS, machine
from isoform.lift.discovery import Discovery
from isoform.lift.function import Function
from isoform.lift.lift import lift
from isoform.load.code import DISPLAYED, Code
from isoform.load.open import SOURCE_SUFFIXES, Kept, Loaded, LoadOptions, open_one, open_pair
from isoform.load.resolve import split_spec
from isoform.model.budget import Budget, interruptible
from isoform.model.cause import Explain, RootCause
from isoform.model.contract import BoundsRule, CallRule, Contract, DataRule
from isoform.model.errors import OutOfLimits, Unsupported, UserError
from isoform.model.limits import DEFAULT_MEMORY, enforced
from isoform.model.outcome import Inputs, Outcome
from isoform.model.placement import put_argument
from isoform.model.saved import SavedQuestion, saved_from_json
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption, Different, Subject, Verdict, Witness, merged_assumptions
from isoform.run.compile import compile_function
from isoform.run.runner import RunOptions, run
from isoform.smt.certificate import require_place

if TYPE_CHECKING:
    from isoform.adapt.adapt import AdaptOptions
    from isoform.adapt.pair import Pair as AdaptedPair
    from isoform.check.certificate import AtHand, Progress
    from isoform.grade.grade import GradeOptions
    from isoform.model.adaptor import Answered, Emit
    from isoform.model.check_report import CheckReport
    from isoform.model.grades import Grades
    from isoform.model.inventory import Inventory

SHOWING_SECONDS = 8.0
"""Of processor time, for the commands that only lift a function."""
CHECKING_SECONDS = 2.0
"""Of processor time, for the look at whether a source is defined for the inputs of a witness."""


Side = str | Path | Code
"""`path[:function]`, or code that is in no file."""


def compare(
    target: Side,
    rewrite: Side | None = None,
    options: Options | None = None,
    load_target: LoadOptions | None = None,
    load_rewrite: LoadOptions | None = None,
    **keywords: Any,
) -> Verdict:
    """Do the two functions compute the same thing? Each is `path[:function]` or `isoform.code(...)`; without `rewrite`
    the target is built twice, with other compilers or flags.

    `keywords` are the options by name, as in `compare("old.o:f", "new.o:f", budget=5, assume="n > 0")`: those of
    `Options`, of `LoadOptions` for both sides, and `cc_a`, `cc_b`, `cflags_a` and `cflags_b` for one."""
    options, load_target, load_rewrite = _chosen(options, load_target, load_rewrite, keywords)
    if rewrite is None:
        _refuse_itself(target, load_target, load_rewrite)
    return _ask(target, target if rewrite is None else rewrite, options, load_target, load_rewrite, Kept())


class Checker:
    """One target and many rewrites: what is known of the target alone is read once. Arguments and keywords are those of
    `compare`."""

    def __init__(
        self,
        target: Side,
        options: Options | None = None,
        load_target: LoadOptions | None = None,
        load_rewrite: LoadOptions | None = None,
        **keywords: Any,
    ) -> None:
        self._target = target
        chosen = _chosen(options, load_target, load_rewrite, keywords)
        self._how = replace(chosen[0], explain=chosen[0].explain or Explain.NONE), *chosen[1:]
        self._kept = Kept()

    def compare(self, rewrite: Side) -> Verdict:
        """Does this rewrite compute the same thing as the target?"""
        return _ask(self._target, rewrite, *self._how, self._kept)


def _chosen(
    options: Options | None,
    load_target: LoadOptions | None,
    load_rewrite: LoadOptions | None,
    keywords: Mapping[str, Any],
) -> tuple[Options, LoadOptions, LoadOptions]:
    for value, kind in ((options, Options), (load_target, LoadOptions), (load_rewrite, LoadOptions)):
        if value is not None and not isinstance(value, kind):
            raise TypeError(
                f"compare() takes isoform.{kind.__name__}(...) there, not {value!r}; options also go by name"
            )
    if keywords:
        return with_keywords(options, load_target, load_rewrite, keywords)
    return options or Options(), load_target or LoadOptions(), load_rewrite or LoadOptions()


def _ask(
    target: Side, rewrite: Side, options: Options, load_target: LoadOptions, load_rewrite: LoadOptions, kept: Kept
) -> Verdict:
    if options.cert is not None:
        require_place(Path(options.cert))
    options = _with_signature(options, (target, rewrite))
    sides = [side if isinstance(side, Code) else str(side) for side in (target, rewrite)]
    budget = Budget(options.budget)
    with interruptible(budget), enforced(budget, options.memory_limit):
        options.progress("loading")
        budget.begin_loading()
        try:
            loaded = open_pair(sides[0], sides[1], load_target, load_rewrite, kept)
        except OutOfLimits as reason:
            subjects = _unread(sides[0], load_target), _unread(sides[1], load_rewrite)
            return refused(subjects, options, budget, f"{reason} while the files were read")
        budget.end_loading()
        asking = partial(answer, loaded, options, budget, explainer=_explainer(options), advises=True)
        verdict = Discovery(budget).fixpoint(asking)
        if isinstance(verdict, Different) and options.explain is not Explain.NONE:
            verdict = _with_undefined_behaviour(verdict, loaded, (load_target, load_rewrite))
    return _with_files(verdict, (target, rewrite), (load_target, load_rewrite))


def _with_undefined_behaviour(
    verdict: Different, loaded: Sequence[Loaded], loading: Sequence[LoadOptions]
) -> Different:
    """A difference with a hint, if it is one because the C source leaves open what happens."""
    if not any(side.image.from_source for side in loaded):
        return verdict
    from isoform.explain.undefined_behaviour import undefined_behaviour  # only differences between sources need it

    said = undefined_behaviour(verdict, [side.image for side in loaded], loading, Budget(CHECKING_SECONDS))
    return replace(verdict, hint=said or verdict.hint)


def _with_files(verdict: Verdict, sides: Sequence[Side], loading: Sequence[LoadOptions]) -> Verdict:
    """A difference between files, with where they are, so that it can be explained later."""
    if not isinstance(verdict, Different) or verdict.asked is None:
        return verdict
    if any(isinstance(side, Code) for side in sides):
        return replace(verdict, asked=None)
    left, right = (
        {"spec": str(side), "cc": how.cc, "cflags": list(how.cflags), "isa": how.isa, "function": how.function}
        for side, how in zip(sides, loading, strict=True)
    )
    return replace(verdict, asked=replace(verdict.asked, sides=(left, right)))


def _explainer(options: Options) -> Explainer | None:
    if options.explain is Explain.NONE:
        return None

    def cause(question: Question, witness: Witness, budget: Budget) -> RootCause:
        from isoform.explain.explain import root_cause  # only a difference needs it

        return root_cause(question, witness, options.explain or Explain.FIRST, options.causes, budget)

    return cause


def _with_signature(options: Options, sides: Sequence[Side]) -> Options:
    """With the signature that code in no file comes with: one question has one."""
    said = {side.signature for side in sides if isinstance(side, Code) and side.signature is not None}
    if options.signature is not None or not said:
        return options
    if len(said) > 1:
        raise UserError(f"the two sides have two signatures ({', '.join(sorted(said))}): give the same, or one option.")
    return replace(options, signature=said.pop())


def _unread(side: str | Code, options: LoadOptions) -> Subject:
    """What a side is called, though nothing more is known of it."""
    if isinstance(side, Code):
        return Subject(DISPLAYED, side.name, side.isa)
    path, name = split_spec(side)
    isa = options.isa or TEXT_ISAS.get(path.suffix, DEFAULT)
    return Subject(str(path), name or options.function or "", isa)


_SIDES = ("cc_a", "cc_b", "cflags_a", "cflags_b")


def with_keywords(
    options: Options | None,
    load_target: LoadOptions | None,
    load_rewrite: LoadOptions | None,
    keywords: Mapping[str, Any],
) -> tuple[Options, LoadOptions, LoadOptions]:
    """The options with those that are given by name."""
    of_options = {field.name for field in fields(Options)}
    of_loading = {field.name for field in fields(LoadOptions)}
    unknown = [name for name in keywords if name not in {*of_options, *of_loading, *_SIDES}]
    if unknown:
        raise TypeError(f"compare() got an unexpected keyword argument '{unknown[0]}'")
    both = {name: value for name, value in keywords.items() if name in of_loading}
    sides = [
        replace(
            side or LoadOptions(),
            **both | {n: keywords[f"{n}_{tag}"] for n in ("cc", "cflags") if f"{n}_{tag}" in keywords},
        )
        for side, tag in ((load_target, "a"), (load_rewrite, "b"))
    ]
    chosen = {name: value for name, value in keywords.items() if name in of_options}
    return replace(options or Options(), **chosen), sides[0], sides[1]


def _refuse_itself(target: Side, load_target: LoadOptions, load_rewrite: LoadOptions) -> None:
    """One function, built the same way: that it is equivalent to itself is no answer to anything."""
    if isinstance(target, Code):
        raise UserError("This compares code with itself: give a second side.")
    path, name = split_spec(str(target))
    if path.suffix not in SOURCE_SUFFIXES or load_target == load_rewrite:
        shown = name or load_target.function or path.name
        raise UserError(f"This compares {shown} with itself: give a second file or --cflags-b")


def explain(path: str | Path, **keywords: Any) -> Different:
    """The cause of a difference that `compare --json` saved: the witness is replayed, and nothing else is asked again.
    `keywords` are `explain`, `explain_budget`, `causes`, `memory_limit` and `progress`, as in `compare`."""
    asked, inputs, assumptions = _saved_difference(Path(path))
    sides = [replace(_loading(side), function=side.get("function")) for side in asked.sides]
    options = Options(**{**asked.options, "explain": Explain.FIRST, **keywords})
    budget = Budget(seconds_for_explaining(options))
    with interruptible(budget), enforced(budget, options.memory_limit):
        specs = [str(side.get("spec")) for side in asked.sides]
        loaded = open_pair(specs[0], specs[1], sides[0], sides[1])
        verdict = explained(loaded, options, budget, asked.code, inputs, _explainer(options))
    # The cause is proved under the assumptions of the question, those that its engines made included.
    every = merged_assumptions((*assumptions, *verdict.assumptions))
    return replace(verdict, asked=replace(asked, code=asked.code), assumptions=every)


def _loading(side: Mapping[str, Any]) -> LoadOptions:
    try:
        return LoadOptions(side.get("cc"), tuple(side.get("cflags") or ()), side.get("isa"), side.get("function"))
    except (TypeError, ValueError):
        raise UserError("the question in the file cannot be read; ask it again with `compare --json`") from None


def _saved_difference(path: Path) -> tuple[SavedQuestion, Inputs, tuple[Assumption, ...]]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.") from None
    except ValueError:
        raise UserError(f"{path} is not what `isoform compare --json` prints.") from None
    if not isinstance(content, dict) or content.get("verdict") != Different.word:
        raise UserError(f"{path} has no difference to explain: only a `different` has a cause.")
    if content.get("version") != __version__:
        raise UserError(f"{path} is of isoform {content.get('version')}, and this is {__version__}: ask it again.")
    witness = content.get("witness")
    if not isinstance(witness, dict) or "saved" not in witness:
        raise UserError(f"{path} does not have the question: it was not asked about files.")
    return *saved_from_json(witness["saved"]), tuple(_saved_assumptions(content.get("assumptions"), path))


def _saved_assumptions(saved: object, path: Path) -> Iterator[Assumption]:
    for each in saved if isinstance(saved, list) else ():
        if not isinstance(each, dict) or not all(isinstance(each.get(key), str) for key in ("name", "why")):
            raise UserError(f"{path} is not what `isoform compare --json` prints.")
        yield Assumption(each["name"], each["why"])


def adapt(
    target: str | Path,
    rewrite: str | Path,
    options: Options | None = None,
    adapting: AdaptOptions | None = None,
    load_target: LoadOptions | None = None,
    load_rewrite: LoadOptions | None = None,
    signatures: tuple[str | None, str | None] = (None, None),
    emit: Emit | None = None,
    variants: bool = False,
) -> Answered:
    """An adaptor that makes the rewrite do what the target does, a proof that there is none, or neither. `emit`: the
    adaptor as a text too; `variants`: in C, with a harness that runs both functions."""
    from isoform.adapt.adapt import AdaptOptions, find_adaptor, unfinished
    from isoform.adapt.applicable import families_to_search
    from isoform.adapt.pair import pair_of

    options, adapting = options or Options(), adapting or AdaptOptions()
    cc = load_rewrite.cc if load_rewrite is not None else None
    _require_emittable(emit, variants, cc)
    if options.cert is not None:
        require_place(Path(options.cert))
    budget = Budget(options.budget)
    with interruptible(budget), enforced(budget, options.memory_limit):
        options.progress("loading")
        budget.begin_loading()
        loaded = open_pair(str(target), str(rewrite), load_target, load_rewrite)
        budget.end_loading()
        pair = pair_of(loaded, signatures, budget)
        families_to_search(pair, adapting.families, options.return_as)
        try:
            answer = find_adaptor(pair, options, adapting, budget)
            if adapting.suggest_domain:
                from isoform.adapt.domain import with_suggested_domain

                answer = with_suggested_domain(answer, pair, options, adapting, budget)
            return answer if emit is None else _emitted(answer, pair, options, budget, emit, variants, cc)
        except (OutOfLimits, MemoryError) as reason:
            budget.is_closed = True
            return unfinished(pair, options, adapting, budget, str(reason) or "memory ran out")


def _require_emittable(emit: Emit | None, variants: bool, cc: str | None) -> None:
    if emit is not None:
        from isoform.adapt.emit import require_emittable

        require_emittable(emit, variants, cc)
    elif variants:
        raise UserError("--variants writes a harness in C: give --emit c too.")


def _emitted(
    answer: Answered, pair: AdaptedPair, options: Options, budget: Budget, emit: Emit, variants: bool, cc: str | None
) -> Answered:
    from isoform.adapt.emit import with_emitted
    from isoform.model.adaptor import AdaptorFound

    if not isinstance(answer, AdaptorFound):
        return answer
    return with_emitted(answer, pair, options, budget, emit, variants, cc)


def show(spec: str, options: LoadOptions | None = None, seconds: float = SHOWING_SECONDS) -> Function:
    """One function, lifted: with what it calls where that can be inlined, else with its calls as they stand."""
    loaded = open_one(spec, options)
    try:
        with _limited(seconds / 2) as budget:
            return lifted(loaded, budget=budget)
    except Unsupported:
        with _limited(seconds / 2) as budget:
            return lifted(loaded, inline=False, budget=budget)


def inventory(
    path: str,
    options: LoadOptions | None = None,
    only: tuple[str, ...] = (),
    infers: bool = True,
    progress: Callable[[str], None] = lambda _: None,
) -> Inventory:
    """The functions of a file, or of all members of an archive."""
    from isoform.borders.inventory import read_inventory

    return read_inventory(path, options or LoadOptions(), only, infers, progress)


@contextmanager
def _limited(seconds: float) -> Iterator[Budget]:
    """A budget that holds whether or not it is asked; `Unsupported` once it is spent."""
    budget = Budget(seconds)
    try:
        with enforced(budget, DEFAULT_MEMORY):
            yield budget
    except (OutOfLimits, MemoryError) as reason:
        raise Unsupported(f"{reason or 'memory ran out'} while lifting; a larger --budget may help") from None


@dataclass(frozen=True)
class ConcreteRun:
    """One function run on isoform's own runner."""

    function: Function
    contract: Contract
    inputs: Inputs
    outcome: Outcome


def run_one(
    spec: str,
    arguments: Sequence[int],
    load_options: LoadOptions | None = None,
    signature: str | None = None,
    fuel: int = 1_000_000,
    trace: bool = False,
) -> ConcreteRun:
    """Run one function on numbers; memory it reads is zero."""
    with _limited(SHOWING_SECONDS) as budget:
        function = lifted(open_one(spec, load_options), budget=budget)
    question = settle(function, function, Options(signature=signature, fuel=fuel))
    wanted = question.contract.arguments
    if len(arguments) != len(wanted):
        names = ", ".join(a.name for a in wanted) or "none"
        raise UserError(f"{function.name} takes {len(wanted)} arguments ({names}), but {len(arguments)} were given.")
    registers: dict[str, int] = {}
    memory: dict[int, int] = {}
    for argument, value in zip(wanted, arguments, strict=True):
        bits = 8 * sum(p.size for p in argument.places)
        if not -(1 << (bits - 1)) <= value < 1 << bits:
            raise UserError(f"{value} does not fit the {bits} bits of argument {argument.name}.")
        put_argument(question.contract.machine, argument, value & ((1 << bits) - 1), registers, memory, 0)
    inputs = Inputs(registers, memory)
    options = RunOptions(fuel, trace, True, question.contract.stack_argument_bytes)
    outcome = run(compile_function(function), inputs, options, question.callees)
    return ConcreteRun(function, question.contract, inputs, outcome)


def grade(
    reference: str,
    folder: str | Path,
    options: Options | None = None,
    load_reference: LoadOptions | None = None,
    load_submission: LoadOptions | None = None,
    grading: GradeOptions | None = None,
) -> Grades:
    """Compare every submission in a folder with one reference."""
    from isoform.grade.grade import grade as grade_all

    return grade_all(reference, folder, options, load_reference, load_submission, grading)


def check(
    folder: str | Path,
    target: str | None = None,
    rewrite: str | None = None,
    load_target: LoadOptions | None = None,
    load_rewrite: LoadOptions | None = None,
    jobs: int = 2,
    seconds: float | None = 60.0,
    progress: Progress | None = None,
) -> CheckReport:
    """Re-check a certificate with another solver: with `target` and `rewrite`, each `path[:function]`, also whether it
    is about this code."""
    from isoform.borders.unwritten import UNWRITTEN
    from isoform.check.certificate import check_certificate, read_index
    from isoform.check.same_code.certificate import read_listing

    if (target is None) != (rewrite is None):
        raise UserError("give both --target and --rewrite: a certificate is about two functions")
    listing = read_listing(Path(folder))
    if listing is not None:
        from isoform.diff.checked import checked_listing

        return checked_listing(listing, (target, rewrite), (load_target, load_rewrite))
    at_hand = None
    if target is not None and rewrite is not None:
        index = read_index(Path(folder))
        specs = [(target, index["target"], load_target), (rewrite, index["rewrite"], load_rewrite)]
        sides = [replace(side or LoadOptions(), function=said["function"]) for _, said, side in specs]
        with _limited(SHOWING_SECONDS) as budget:
            loaded = open_pair(target, rewrite, sides[0], sides[1])
            if any(isinstance(one, dict) and one.get("name") == UNWRITTEN for one in index.get("assumptions", ())):
                loaded = _with_constants(loaded, index, budget)
            at_hand = _at_hand(loaded[0], index), _at_hand(loaded[1], index)
    return check_certificate(Path(folder), jobs, progress, seconds, at_hand)


def _with_constants(loaded: tuple[Loaded, Loaded], index: Mapping[str, Any], budget: Budget) -> tuple[Loaded, Loaded]:
    """Both files with the static variables as constants that nothing writes. That depends on the whole file, so that it
    is found anew and not taken from the certificate."""
    from isoform.borders.unwritten import with_constants

    inline = _rules(index)[0] is not CallRule.UNINTERPRETED
    one, other = (
        lift(one.image, machine(one.image.machine), one.symbol.name, one.symbol.address, inline, None, budget)
        for one in loaded
    )
    left, right = with_constants((one, other), inline, budget).functions
    return replace(loaded[0], image=left.image), replace(loaded[1], image=right.image)


def _rules(index: Mapping[str, Any]) -> tuple[CallRule, DataRule, BoundsRule]:
    said = index.get("contract")
    said = said if isinstance(said, dict) else {}
    try:
        return CallRule(said.get("calls")), DataRule(said.get("data")), BoundsRule(said.get("bounds"))
    except ValueError:
        raise UserError("the contract in the certificate's index cannot be read; write the certificate again") from None


def _at_hand(loaded: Loaded, index: Mapping[str, Any]) -> AtHand:
    """What of a loaded file a certificate under the contract in `index` must be about."""
    from isoform.borders.parts import declared, parts_of
    from isoform.check.certificate import AtHand, Part

    image, name = loaded.image, loaded.symbol.name
    found = parts_of(image, loaded.symbol.address, *_rules(index))
    parts = [Part(part.kind, part.name, part.sha256) for part in found]
    return AtHand(loaded.display_path, name, image.machine, declared(image, name), parts)
