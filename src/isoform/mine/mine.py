"""All functions of one library against all of another, or against each other."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from isoform.adapt.adapt import AdaptOptions
from isoform.isa.registry import machine
from isoform.load.header import read_header
from isoform.load.open import Library, LoadOptions, library_bytes, open_libraries
from isoform.mine.clusters import clusters_of
from isoform.mine.functions import Choice, Mined, prepared, read_functions
from isoform.mine.pair import PAIR_MEMORY, Shared
from isoform.mine.shape import diversity
from isoform.mine.sieve import Subject
from isoform.model.adaptor import Family
from isoform.model.errors import UserError
from isoform.model.mining import Likelihood, MinedPair, Mining, Refused, Sieved
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption
from isoform.work.local import LocalWorkers
from isoform.work.queue import Progress, Queue, Rules
from isoform.work.task import ResultOrigin, Task, TaskEnd, TaskLimits, TaskResult, content_key

DEFAULT_FAMILIES = (Family.SUBSTITUTION, Family.WIDTH)
GRACE = 5.0
"""Seconds beyond its budget after which the process of a pair is ended."""
SIEVE_SECONDS = 600.0
"""Of processor time, for one rewrite. What takes longer is left unrefuted."""
SIEVED_AT_ONCE = 4
"""Rewrites in one process: a fork takes some milliseconds."""
_PAIR, _SIEVE = "adapt", "sieve"


@dataclass(frozen=True)
class MineOptions:
    families: tuple[Family, ...] = DEFAULT_FAMILIES
    depth: int = 2
    budget: float = 5.0
    """Seconds of processor time for one pair."""
    seconds: float | None = None
    """On the wall clock, for all pairs together."""
    jobs: int | None = None
    store: str | None = None
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    signatures: str | None = None
    """A C header."""
    is_declared: bool = False
    """Whether only functions of the header take part."""
    progress: Callable[[str], None] = lambda what: None


def mine(libraries: Sequence[str], options: MineOptions | None = None, loading: LoadOptions | None = None) -> Mining:
    """What adaptors there are between functions of one library, or from functions of one to those of another and
    back."""
    options = options or MineOptions()
    if not 1 <= len(libraries) <= 2:
        raise UserError("give one library, or two.")
    if options.is_declared and options.signatures is None:
        raise UserError("--declared needs --signatures, a header that declares the functions.")
    return _Mining([str(path) for path in libraries], options, loading or LoadOptions()).result()


class _Mining:
    def __init__(self, paths: Sequence[str], options: MineOptions, loading: LoadOptions) -> None:
        self._paths = paths
        self._options = options
        self._loading = loading
        AdaptOptions(families=options.families, depth=options.depth)  # refuses what is out of range
        self._digests = [sha256(library_bytes(path)).hexdigest() for path in paths]
        self._started = time.monotonic()
        self._ended = ""

    def result(self) -> Mining:
        options = self._options
        with ExitStack() as context:
            store = context.enter_context(self._store()) if options.store is not None else None
            mined, refused, same = self._functions()
            is_one = len(self._paths) == 1
            subjects = [Subject(one, is_one) for one in mined]
            idle = [subject.mined.about.name for subject in subjects if subject.is_idle]
            shared = self._shared([subject for subject in subjects if not subject.is_idle], is_one)
            sieved, left = self._sieved(shared)
            pairs = tuple(self._asked(shared, left, store))
        numbers = [subject.mined.about for subject in shared.subjects]
        return Mining(
            libraries=tuple(self._paths),
            families=tuple(family.value for family in options.families),
            depth=options.depth,
            budget=options.budget,
            functions=tuple(numbers),
            same_code=tuple((n.number, same[n.library, n.digest]) for n in numbers if same.get((n.library, n.digest))),
            idle=tuple(idle),
            refused=tuple(refused),
            sieved=sieved,
            pairs=pairs,
            clusters=clusters_of(pairs),
            seconds=time.monotonic() - self._started,
            why_ended=self._ended,
        )

    def _store(self) -> Any:
        from isoform.work.store import Store  # takes a while to import

        question = {"command": "mine", **{f"library {n}": digest for n, digest in enumerate(self._digests, 1)}}
        question["families"] = ",".join(family.value for family in self._options.families)
        question["depth"] = str(self._options.depth)
        assert self._options.store is not None
        return Store(self._options.store, question)

    # -- functions --------------------------------------------------------------------------------

    def _functions(self) -> tuple[list[Mined], list[Refused], dict[tuple[int, str], tuple[str, ...]]]:
        """One of each code; and the names of the others, by library and code."""
        libraries = [prepared(library) for library in open_libraries(self._paths, self._loading)]
        header = self._header(libraries[0])
        choice = Choice(self._options.only, self._options.skip, header, self._options.is_declared)
        found: list[Mined] = []
        refused: list[Refused] = []
        for number, library in enumerate(libraries):
            here, not_here = read_functions(library, number, choice, 0, self._options.progress)
            if not here and not not_here:
                raise UserError(f"{library.display_path} has no functions to compare{self._but()}.")
            if not here:
                why = not_here[0]
                raise UserError(f"{library.display_path} has no function that can be compared: {why.name}: {why.why}.")
            found += here
            refused += not_here
        first: dict[Hashable, Mined] = {}
        others: dict[tuple[int, str], tuple[str, ...]] = {}
        for one in found:
            about, types = one.about, (*(p.type for p in one.signature.parameters), one.signature.result)
            shapes = tuple((ctype.kind, ctype.bits, ctype.signed) for ctype in types)
            kept = first.setdefault((about.library, about.digest, shapes), one).about
            if kept is not about:
                others[kept.library, kept.digest] = (*others.get((kept.library, kept.digest), ()), about.name)
        kept_ones = [*first.values()]
        if len(kept_ones) < 2:
            raise UserError(f"{self._paths[0]} has only one function to compare{self._but()}: there are no pairs.")
        return kept_ones, refused, others

    def _but(self) -> str:
        options = self._options
        return " that the options leave" if options.only or options.skip or options.is_declared else ""

    def _header(self, library: Library) -> Mapping[str, Any] | None:
        if self._options.signatures is None:
            return None
        of = machine(library.image.machine)
        return read_header(Path(self._options.signatures), of.word_bits, of.char_is_signed, "--signatures")

    def _shared(self, subjects: Sequence[Subject], is_one: bool) -> Shared:
        """Numbered anew, and with what their own runs show, so that no process finds it out again."""
        for number, subject in enumerate(subjects):
            about = replace(subject.mined.about, number=number)
            subject.mined = replace(subject.mined, about=about)
            self._options.progress(f"running {number} of {len(subjects)} functions")
            assert subject.needed is not None
            assert subject.decided is not None
        return Shared(subjects, is_one, self._options.families, self._options.depth)

    # -- pairs ------------------------------------------------------------------------------------

    def _sieved(self, shared: Shared) -> tuple[Sieved, list[tuple[int, int, Likelihood]]]:
        started = time.monotonic()
        count = len(shared.subjects)
        total = sum(len(shared.targets_of(subject)) for subject in shared.subjects)
        tasks = [
            Task(_SIEVE, str(first), "isoform.mine.pair:sieve_rewrites", chunk, TaskLimits(SIEVE_SECONDS, PAIR_MEMORY))
            for first in range(0, count, SIEVED_AT_ONCE)
            for chunk in [[*range(first, min(count, first + SIEVED_AT_ONCE))]]
        ]
        left: list[tuple[int, int, Likelihood]] = []

        def show(progress: Progress) -> None:
            done = progress.done * total // max(1, progress.total)
            rate = done / progress.seconds if progress.seconds else 0.0
            self._options.progress(f"{done} of {total} pairs tried on runs, {rate:.0f} a second, {len(left)} left")

        workers = LocalWorkers(self._options.jobs, shared)
        with Queue(workers, None, Rules(), progress=show) as queue:
            queue.add_all(tasks)
            for answer in queue.answers():
                left += _left_by(shared, answer)
            self._ended = queue.why_ended
        return Sieved(total, total - len(left), time.monotonic() - started), left

    def _asked(self, shared: Shared, left: Sequence[tuple[int, int, Likelihood]], store: Any) -> Iterator[MinedPair]:
        """The pairs that are left, answered as far as the time goes."""
        by_key: dict[str, list[tuple[int, int, Likelihood]]] = {}
        tasks = []
        for pair in left:
            task = self._task(shared, pair)
            by_key.setdefault(task.key, []).append(pair)
            if len(by_key[task.key]) == 1:
                tasks.append(task)
        fitting = sum(likelihood is Likelihood.FITS for *_, likelihood in left)

        def show(progress: Progress) -> None:
            wait = "" if progress.seconds_left is None else f", about {progress.seconds_left:.0f} s left"
            self._options.progress(
                f"{progress.done} of {progress.total} pairs asked ({fitting} fit all runs), "
                f"{progress.rate:.1f} a second{wait}"
            )

        answered: set[str] = set()
        if not self._ended:
            workers = LocalWorkers(self._options.jobs, shared)
            with Queue(
                workers, store, Rules(is_final=_is_final), progress=show, seconds=self._options.seconds
            ) as queue:
                queue.add_all(tasks)
                for answer in queue.answers():
                    answered.add(answer.key)
                    yield from (_pair(shared, pair, answer) for pair in by_key[answer.key])
                self._ended = queue.why_ended
        for key, pairs in by_key.items():
            if key not in answered:
                yield from (MinedPair(target, rewrite, likelihood, "") for target, rewrite, likelihood in pairs)

    def _task(self, shared: Shared, pair: tuple[int, int, Likelihood]) -> Task:
        from isoform.work.store import current_versions

        target, rewrite = (shared.subjects[number].mined for number in pair[:2])
        budget = self._options.budget
        parts = [
            (self._digests[one.about.library], one.about.name, one.loaded.symbol.address, str(one.signature))
            for one in (target, rewrite)
        ]
        return Task(
            kind=_PAIR,
            key=content_key(
                [current_versions(), parts, [f.value for f in self._options.families], self._options.depth]
            ),
            function="isoform.mine.pair:adapt_pair",
            payload=(pair[0], pair[1], budget),
            limits=TaskLimits(budget + GRACE, PAIR_MEMORY),
            effort=budget,
            priority=0 if pair[2] is Likelihood.FITS else 1,
            cost=target.about.shape.count + rewrite.about.shape.count,
            label=f"{target.about.name} / {rewrite.about.name}",
        )


def _is_final(answer: TaskResult) -> bool:
    return answer.ending is TaskEnd.DONE and answer.result["verdict"] != "unknown"


def _left_by(shared: Shared, answer: TaskResult) -> list[tuple[int, int, Likelihood]]:
    if answer.ending is TaskEnd.DONE:
        return [(target, rewrite, Likelihood(word)) for target, rewrite, word in answer.result]
    return [
        (target.mined.about.number, number, Likelihood.OPEN)
        for number in answer.task.payload
        for target in shared.targets_of(shared.subjects[number])
    ]


def _pair(shared: Shared, pair: tuple[int, int, Likelihood], answer: TaskResult) -> MinedPair:
    target, rewrite = (shared.subjects[number].mined.about for number in pair[:2])
    result: Mapping[str, Any] = {"verdict": "unknown", "why": answer.reason}
    result = answer.result if answer.ending is TaskEnd.DONE else result
    return MinedPair(
        target=pair[0],
        rewrite=pair[1],
        likelihood=pair[2],
        verdict=result["verdict"],
        adaptor=result.get("adaptor"),
        text=result.get("text", ""),
        family=result.get("family", ""),
        why=result.get("why", ""),
        is_unfinished=result.get("unfinished", True) and result["verdict"] == "unknown",
        anything_fits=result.get("anything_fits", False),
        seconds=answer.seconds,
        assumptions=tuple(Assumption(*one) for one in result.get("assumptions", ())),
        diversity=diversity(target.shape, rewrite.shape) if result["verdict"] == "adaptor" else None,
        is_kept=answer.origin is ResultOrigin.KEPT,
    )
