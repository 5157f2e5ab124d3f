"""One submission against the reference: what a worker process does."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import field, fields, replace
from functools import partial
from hashlib import sha256
from itertools import chain, islice

from isoform.borders.question import Engine, Options, Question
from isoform.borders.settle import settle
from isoform.check.replay import independent_runner
from isoform.engines.answer import answer_question, lifted, subject, with_cause
from isoform.engines.inputs import InputMaker
from isoform.engines.pose import pose
from isoform.engines.same_code.engine import same_code
from isoform.engines.witness import confirm
from isoform.explain.explain import explainer
from isoform.grade.divergence import Divergence, divergence_of
from isoform.grade.fixed_tests import (
    BoundTest,
    FixedTest,
    bind_tests,
    refuse_useless_tests,
    run_fixed_tests,
    separating_test,
)
from isoform.grade.grouping import cause_of
from isoform.grade.reference_paths import inputs_of_paths, never_stops, separated
from isoform.grade.submissions import Submission
from isoform.isa.registry import TEXT_ISAS
from isoform.lift.discovery import Discovery
from isoform.lift.listing import views_of
from isoform.load.image import Image
from isoform.load.open import Kept, Loaded, LoadOptions, open_pair
from isoform.model.budget import Budget
from isoform.model.contract import CallRule, argument_value
from isoform.model.errors import OutOfLimits, Unsupported, UserError
from isoform.model.grades import CodeLine, GradedAnswer, Observable, Prepared, Standing
from isoform.model.limits import enforced
from isoform.model.listing import View, lines_of
from isoform.model.outcome import Inputs, Status
from isoform.model.values import dataclass
from isoform.model.verdict import Bounded, Different, Equivalent, Unknown, Verdict, Witness
from isoform.report.summary import summary_of
from isoform.run.compile import compile_function

MOST_LISTED = 400
SAMPLES = 24
SAMPLED_STEPS = 1_000_000
"""Samples and steps of the search for inputs on which a submission does not stop."""
_PLACE = re.compile(r"(\d+): (.*)")
_COMPILER_ERROR = re.compile(r"(?P<file>[^:]*):(?P<line>\d+):(\d+:)? (fatal )?error: (?P<error>.*)", re.IGNORECASE)

_NOT_OF_THE_CODE = frozenset({"path", "lines", "source", "lines_between"})
"""Fields of an image that no answer depends on."""


class Rejected(Exception):
    """The submission cannot be compared at all; the message says why."""


@dataclass
class Examiner:
    """The reference, loaded once. Everything here is made before workers start, and shared by them."""

    reference: str
    options: Options
    load_reference: LoadOptions
    load_submission: LoadOptions
    tests: tuple[FixedTest, ...] = ()
    kept: Kept = field(default_factory=Kept)
    bound_tests: tuple[BoundTest, ...] = ()

    def __post_init__(self) -> None:
        """Raises what is wrong with the reference, the options or the tests."""
        loaded, _ = open_pair(self.reference, self.reference, self.load_reference, self.load_reference, self.kept)
        self._loaded = loaded
        self.isa = loaded.image.machine
        self.function = loaded.symbol.name
        self._lifted = lifted(loaded, self._inline, Budget(self.options.budget))
        question = settle(self._lifted, self._lifted, self.options)
        self._program = question.programs[0]
        self.bound_tests = bind_tests(self.tests, question.contract)
        refuse_useless_tests(self.bound_tests, question)
        self._path_inputs = inputs_of_paths(question) if self.options.engine is Engine.AUTO else ()
        self.key = _digest(self._loaded)
        independent_runner(self.isa)  # loads its library, once for all workers

    @property
    def _inline(self) -> bool:
        return self.options.calls is not CallRule.UNINTERPRETED

    def open(self, submission: Submission) -> tuple[Prepared, tuple[Loaded, Loaded]]:
        try:
            loaded = open_pair(
                self.reference, str(submission.path), self.load_reference, self.load_submission, self.kept
            )
        except UserError as error:
            raise Rejected(_refusal(str(error), submission)) from None
        image = loaded[1].image
        key = _digest(loaded[1])
        if not _has_own_lines(image):
            return Prepared(key), loaded
        lines = {address: line.number for address, line in image.lines.items()}
        prepared = Prepared(key, image.source.get(str(submission.path), ()), lines)
        return prepared, (loaded[0], _anonymous(loaded[1]))

    def answer(self, loaded: tuple[Loaded, Loaded]) -> GradedAnswer:
        budget = Budget(self.options.budget)
        with enforced(budget):
            try:
                return Discovery(budget).fixpoint(partial(self._answer, loaded, budget))
            except OutOfLimits as reason:
                return GradedAnswer(Standing.UNKNOWN, str(reason), "lifting", budget.elapsed)

    def _answer(self, loaded: tuple[Loaded, Loaded], budget: Budget, discovery: Discovery) -> GradedAnswer:
        hints = discovery.hints(0), discovery.hints(1)
        is_kept = loaded[0].image is self._loaded.image and not hints[0]
        try:
            target = self._lifted if is_kept else lifted(loaded[0], self._inline, budget, hints[0])
            rewrite = lifted(loaded[1], self._inline, budget, hints[1])
            question = pose(target, rewrite, self.options, budget, discovery)
            if target is self._lifted:
                vars(question)["programs"] = (self._program, compile_function(rewrite))  # a cached property
        except Unsupported as reason:
            return GradedAnswer(Standing.UNKNOWN, str(reason), "lifting", budget.elapsed)
        except UserError as error:
            raise Rejected(f"cannot be compared: {error}") from None
        verdict = self._verdict(question, loaded, budget)
        answer = _answer(verdict, question, self._path_inputs)
        if not self.bound_tests:
            return replace(answer, seconds=budget.elapsed)
        test_budget = Budget(self.options.budget)
        tests = run_fixed_tests(self.bound_tests, question, test_budget)
        if not tests.all_passed:
            better = _with_separating_test(verdict, question, self.bound_tests, test_budget)
            answer = answer if better is verdict else _answer(better, question, self._path_inputs)
        return replace(answer, tests=tests, seconds=budget.elapsed)

    def _verdict(self, question: Question, loaded: tuple[Loaded, Loaded], budget: Budget) -> Verdict:
        subjects = subject(loaded[0]), subject(loaded[1])
        if never_stops(question, self._path_inputs):
            why = f"it does not stop within {question.options.fuel} steps on any input tried"
            return Unknown(*subjects, question.contract, "concolic", budget.elapsed, why=why, helps="a larger --fuel")
        witness = separated(question, self._path_inputs, budget)
        if witness is None:
            same = same_code(loaded, self.options)
            return answer_question(question, subjects, budget, explainer(self.options), same)
        views = views_of((question.target, question.rewrite))
        verdict = Different(
            *subjects,
            question.contract,
            "concolic",
            budget.elapsed,
            question.assumptions,
            views=views,
            witness=witness,
        )
        return with_cause(question, verdict, explainer(self.options), budget)


def _with_separating_test(verdict: Verdict, question: Question, tests: Sequence[BoundTest], budget: Budget) -> Verdict:
    """A fixed test on which the two differ is a witness like any other, where the engines found none."""
    test = separating_test(tests, question, budget) if not isinstance(verdict, Different) else None
    if test is None:
        return verdict
    common = {f.name: getattr(verdict, f.name) for f in fields(Verdict)}
    if isinstance(verdict, Equivalent):
        why = f"a proof says that the two are the same, but they differ on {test.shown}: this is a bug in isoform"
        return Unknown(**common, why=why, helps="please report it with both files")
    found = confirm(question, (test.inputs, test.inputs), budget)
    if not isinstance(found, Witness):
        return verdict
    return Different(**{**common, "engine": "fixed tests"}, witness=found)


def _anonymous(loaded: Loaded) -> Loaded:
    """Without its file's name, which programs of the small machines are called by: the answer is about the code."""
    symbol = replace(loaded.symbol, name="submission")
    signature = replace(loaded.image.signatures[loaded.symbol.name], name=symbol.name)
    signatures = {symbol.name: signature}
    return replace(loaded, image=replace(loaded.image, symbols=(symbol,), signatures=signatures), symbol=symbol)


def _has_own_lines(image: Image) -> bool:
    """Whether the text of the submission is its assembly, one line an instruction."""
    return image.machine in TEXT_ISAS.values()


def _digest(loaded: Loaded) -> str:
    """What the answer depends on: the code itself for the small machines; for others everything that was read of the
    file, which is linked against the reference's. What debug information says of types counts, its names of files do
    not."""
    image = loaded.image
    digest = sha256(image.machine.encode())
    if not _has_own_lines(image):
        digest.update(loaded.symbol.name.encode())
        for part in fields(Image):
            if part.name not in _NOT_OF_THE_CODE:
                digest.update(f"{part.name}: {_in_order(getattr(image, part.name))!r}\n".encode("utf-8", "replace"))
        return digest.hexdigest()
    for section in image.sections:
        flags = f"{section.name} {section.address} {section.size} {section.writable} {section.executable} "
        digest.update(flags.encode() + len(section.data).to_bytes(8, "big") + section.data)
    return digest.hexdigest()


def _in_order(value: object) -> object:
    return sorted(value) if isinstance(value, frozenset) else value


def _refusal(message: str, submission: Submission) -> str:
    """An error about the submission's own file, in one line, without the path that its row has anyway. A compiler's
    quotations are left out: they may be of any file that the submission names."""
    path = str(submission.path)
    first, *others = message.splitlines()
    if others:
        what = "did not compile" if submission.path.suffix == ".c" else "did not assemble"
        said = _COMPILER_ERROR.fullmatch(others[0])
        if said is None:
            return what
        own = said["file"] == str(submission.path.absolute())
        return f"{what}: line {said['line']}: {said['error']}" if own else f"{what}: an error in {said['file']}"
    place = _PLACE.fullmatch(first.removeprefix(f"{path}:"))
    if place is not None:
        return f"did not assemble: line {place[1]}: {place[2]}"
    what = "did not assemble" if _is_text(submission) else "cannot be compared"
    return f"{what}: {first.replace(path, 'it')}"


def _is_text(submission: Submission) -> bool:
    return submission.path.suffix.lower() in TEXT_ISAS


def _answer(verdict: Verdict, question: Question, path_inputs: tuple[Inputs, ...]) -> GradedAnswer:
    why = f"{verdict.why}; {_examined(verdict)}" if isinstance(verdict, Bounded | Unknown) else summary_of(verdict).why
    answer = GradedAnswer(
        Standing(verdict.word),
        why.replace("the target", "the reference").replace("the rewrite", "the submission"),
        verdict.engine,
        assumptions=tuple((a.name, a.why) for a in verdict.assumptions),
    )
    if isinstance(verdict, Different):
        return _with_witness(answer, verdict, question)
    if answer.standing is Standing.EQUIVALENT:
        return answer
    listing = _listing(verdict, Divergence(None, "", ()))
    return replace(answer, not_stopping=_not_stopping(question, path_inputs), listing=listing)


def _examined(verdict: Verdict) -> str:
    """How far a submission was examined that stays open: one that agrees everywhere is probably right."""
    found = {tried.engine: tried.examined for tried in verdict.tried if tried.examined}
    return f"no difference in {', '.join(found.values())}" if found else "no run of both was compared"


def _with_witness(answer: GradedAnswer, verdict: Different, question: Question) -> GradedAnswer:
    summary = summary_of(verdict)
    divergence = divergence_of(verdict, question)
    witness = verdict.witness
    memory = next((entry.lines for entry in summary.given if entry.label == "memory"), ())
    return replace(
        answer,
        inputs=witness.shown,
        memory=memory,
        observables=tuple(Observable(d.what, d.target, d.rewrite) for d in summary.observables),
        replayed_on=witness.replayed_on,
        executed=tuple(sorted(Counter(divergence.trace).items())),
        divergent=divergence.address,
        divergence=divergence.does,
        cause=cause_of(verdict),
        listing=_listing(verdict, divergence),
    )


def _listing(verdict: Verdict, divergence: Divergence) -> tuple[CodeLine, ...]:
    """The disassembly, for machines whose source has no line for each instruction."""
    views = [view for view in verdict.views if isinstance(view, View)]
    if len(views) != 2 or verdict.rewrite.isa in TEXT_ISAS.values() or not views[1].rows:
        return ()
    here = views[1].offset(divergence.address) if divergence.address is not None else ""
    return tuple(
        CodeLine(line.offset, line.text, line.times, line.is_code and line.offset == here, line.is_code)
        for line in lines_of(views[1], divergence.trace, MOST_LISTED)
    )


def _not_stopping(question: Question, path_inputs: tuple[Inputs, ...]) -> str:
    """Inputs on which the reference stops and the submission has not after many steps: no difference by the contract,
    but a thing that whoever grades wants to know."""
    fuel = min(question.options.fuel, SAMPLED_STEPS)
    bounded = replace(question, options=replace(question.options, fuel=fuel))
    made = (inputs for inputs, _ in InputMaker(question.contract, question.options.seed))
    count = max(1, min(SAMPLES, SAMPLED_STEPS // fuel))
    for inputs in islice(chain(path_inputs[: count // 2], made), count):
        if question.admits(inputs) and _only_rewrite_runs_on(bounded, (inputs, inputs)):
            return f"{_shown(question, inputs)}, {fuel} steps"
    return ""


def _only_rewrite_runs_on(question: Question, inputs: tuple[Inputs, Inputs]) -> bool:
    target, rewrite = question.run_both(inputs)
    return rewrite.status is Status.OUT_OF_FUEL and target.status in (Status.DONE, Status.ABORTED, Status.EXITED)


def _shown(question: Question, inputs: Inputs) -> str:
    contract = question.contract
    shown = []
    for argument in contract.arguments:
        bits = 8 * sum(place.size for place in argument.places)
        value = argument_value(argument, inputs)
        signed = value - (1 << bits) if argument.type.signed and value >> (bits - 1) else value
        shown.append(f"{argument.name} = {signed}")
    return ", ".join(shown)
