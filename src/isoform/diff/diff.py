"""Two versions of a library: matched, settled where the code is the same, and asked about where it is not."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isoform.diff.accept import Accepted, read_accepted
from isoform.diff.functions import Function, functions_of
from isoform.diff.matching import SURE, Matched, Matching, match, require_forced
from isoform.diff.members import ComparedFile, MemberPair, matched_members, members_of
from isoform.diff.options import DiffOptions
from isoform.diff.plan import Plan, PlanRow
from isoform.diff.unit import Unit, functions_alone, opened
from isoform.diff.whole import Whole
from isoform.engines.same_code.assumed import SAME_UNDEFINED
from isoform.engines.same_code.identical import Differs
from isoform.engines.same_code.listing import ListedFile, Listing, Named, named
from isoform.load.image import Image
from isoform.model.errors import UserError
from isoform.model.library_diff import FunctionAnswer, FunctionPlace, LibraryDiff, Row
from isoform.model.names import shown_name
from isoform.model.verdict import Assumption
from isoform.smt.certificate import require_place

if TYPE_CHECKING:
    from isoform.work.store import Store

SAME_FILE = "both files are the same"
IDENTICAL = "both are the same instructions, and all that they name is the same"


def diff(old: str, new: str, options: DiffOptions | None = None) -> LibraryDiff:
    """Which functions of two files, or of two folders of files, do something else."""
    return _Diffing(old, new, options or DiffOptions()).result()


class _Diffing:
    def __init__(self, old: str, new: str, options: DiffOptions) -> None:
        self._old, self._new = old, new
        self._options = options
        self._started = time.monotonic()
        self._why_ended = ""
        self._listing = Listing()

    def result(self) -> LibraryDiff:
        options = self._options
        if options.cert is not None:
            require_place(Path(options.cert))
        accepted = read_accepted(options.accept) if options.accept is not None else ()
        with ExitStack() as context:
            store = context.enter_context(self._store()) if options.store is not None else None
            members = self._members()
            whole = Whole(store, members, options)
            rows = whole.rows() if options.cert is None else None
            if rows is None:
                rows = self._compared(members, store)
                if not self._why_ended:
                    whole.keep(rows)
        if options.cert is not None:
            self._listing.write(Path(options.cert), self._old, self._new)
        rows = [_with_acceptance(row, accepted) for row in rows]
        return LibraryDiff(
            old=self._old,
            new=self._new,
            rows=tuple(rows),
            seconds=time.monotonic() - self._started,
            options=options.as_json(),
            complete=not self._why_ended,
            why_ended=self._why_ended,
        )

    def _compared(self, members: Sequence[MemberPair], store: Store | None) -> list[Row]:
        rows: list[Row] = []
        units: list[Unit] = []
        plans: list[PlanRow] = []
        for pair in members:
            if pair[0] is None or pair[1] is None:
                rows += self._alone(pair)
                continue
            unit = opened(len(units), (pair[0], pair[1]), self._options.loading)
            units.append(unit)
            settled, asked = self._matched(unit)
            rows += settled
            plans += asked
        if self._options.matches:
            require_forced(self._options.matches, [unit.functions for unit in units])
        if not rows and not any(plan.is_wanted for plan in plans):
            raise UserError(self._nothing())
        plan = Plan(units, plans, self._options, store)
        rows += plan.rows()
        self._why_ended = plan.why_ended
        return rows

    def _nothing(self) -> str:
        if self._options.only or self._options.skip:
            return "no function has a name that --only and --skip leave."
        return f"{self._old} and {self._new} have no functions: there is nothing to compare."

    def _store(self) -> Store:
        from isoform.work.store import Store  # takes a while to import

        assert self._options.store is not None
        return Store(self._options.store, {"command": "diff"})

    def _members(self) -> list[MemberPair]:
        return matched_members(members_of(self._old), members_of(self._new), (self._old, self._new))

    def _alone(self, members: MemberPair) -> Iterator[Row]:
        """A file that only one version has."""
        side = 0 if members[1] is None else 1
        member = members[side]
        assert member is not None
        image, functions = functions_alone(member, self._options.loading[side])
        for function in functions:
            if self._options.has(*function.aliases):
                yield _row_alone(_place(member, function, image), side)

    def _matched(self, unit: Unit) -> tuple[list[Row], list[PlanRow]]:
        self._options.progress(f"comparing the code of {unit.members[0].shown}")
        if unit.digests[0] == unit.digests[1] and not self._options.matches:
            return [*self._of_one_file(unit)], []
        matching = match(*unit.functions, self._options.matches)
        rows = [*self._of_one_version(unit, matching)]
        asked: list[PlanRow] = []
        listed: list[Named] = []
        for pair in matching.pairs:
            is_wanted = self._options.has(*pair.old.aliases, *pair.new.aliases)
            try:
                assumptions = unit.identical.assumptions((pair.old.address, pair.new.address))
            except Differs:
                asked.append(PlanRow(unit.number, pair, self._empty(unit, pair), is_wanted))
                continue
            row = self._identical(unit, pair, assumptions)
            asked.append(PlanRow(unit.number, pair, row, is_wanted=False))  # its callers may rest on it
            if is_wanted:
                rows.append(row)
                listed.append(_named(pair, assumptions))
        self._list(unit, listed)
        return rows, asked

    def _list(self, unit: Unit, listed: Sequence[Named]) -> None:
        if self._options.cert is not None:
            old, new = (ListedFile(m.shown, digest) for m, digest in zip(unit.members, unit.digests, strict=True))
            self._listing.add(unit.identical, unit.members[0].label, (old, new), listed)

    def _of_one_file(self, unit: Unit) -> Iterator[Row]:
        """Both versions are the same bytes, so every function is the same, whatever it does."""
        functions = [f for f in functions_of(unit.pair.images[0], None) if self._options.has(*f.aliases)]
        pairs = [Matched(function, function, "the same file", SURE) for function in functions]
        for pair in pairs:
            yield replace(self._identical(unit, pair, (SAME_UNDEFINED,)), why=SAME_FILE)
        if self._options.cert is not None:
            self._list(unit, [*_confirmed_alone(unit, pairs)])

    def _of_one_version(self, unit: Unit, matching: Matching) -> Iterator[Row]:
        for side, functions in ((0, matching.removed), (1, matching.added)):
            image = unit.pair.images[side]
            for function in functions:
                if self._options.has(*function.aliases):
                    yield _row_alone(_place(unit.members[side], function, image), side)

    def _empty(self, unit: Unit, pair: Matched) -> Row:
        old, new = (
            _place(member, function, image)
            for member, function, image in zip(unit.members, (pair.old, pair.new), unit.pair.images, strict=True)
        )
        return Row(old, new, FunctionAnswer.UNKNOWN, pair.how, pair.confidence, "it was not asked about")

    def _identical(self, unit: Unit, pair: Matched, assumptions: Sequence[Assumption]) -> Row:
        row = self._empty(unit, pair)
        verdict: dict[str, Any] = {
            "verdict": "equivalent",
            "engine": "same-code",
            "assumptions": [{"name": one.name, "why": one.why} for one in assumptions],
        }
        return replace(row, answer=FunctionAnswer.IDENTICAL, why=IDENTICAL, verdict=verdict)


def _named(pair: Matched, assumptions: Sequence[Assumption]) -> Named:
    old, new = pair.old, pair.new
    return named((old.name, new.name), (old.address, new.address), assumptions)


def _confirmed_alone(unit: Unit, pairs: Sequence[Matched]) -> Iterator[Named]:
    """The functions of one file whose own code shows that they are the same as themselves."""
    for pair in pairs:
        with suppress(Differs):
            yield _named(pair, unit.identical.assumptions((pair.old.address, pair.new.address)))


def _place(member: ComparedFile, function: Function, image: Image) -> FunctionPlace:
    return FunctionPlace(
        path=member.path,
        member=member.inner,
        name=function.name,
        shown=shown_name(function.name),
        address=image.address_in_file(function.address),
        size=function.symbol.size,
        digest=function.digest,
    )


def _row_alone(place: FunctionPlace, side: int) -> Row:
    if side == 0:
        return Row(place, None, FunctionAnswer.REMOVED, why="only the old version has it")
    return Row(None, place, FunctionAnswer.ADDED, why="only the new version has it")


def _with_acceptance(row: Row, accepted: Sequence[Accepted]) -> Row:
    reason = next((one.reason for one in accepted if one.fits(row)), None)
    return row if reason is None else replace(row, accepted=reason)
