"""A listing of the same code, checked with the files that it names or that are given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from isoform.check.same_code.certificate import EVERY, check_listing
from isoform.diff.members import members_of
from isoform.load.open import SOURCE_SUFFIXES, LoadOptions, open_pair
from isoform.load.resolve import split_spec
from isoform.model.check_report import CheckReport
from isoform.model.errors import UserError

Paths = tuple[str | None, str | None]
Loading = tuple[LoadOptions | None, LoadOptions | None]


def checked_listing(index: Mapping[str, Any], paths: Paths, loading: Loading) -> CheckReport:
    """`paths` are None for the files that the listing names."""
    for side, path in zip(("target", "rewrite"), paths, strict=True):
        if path is None:
            _refuse_source(index[side]["path"])
    if EVERY not in (index["target"]["function"], index["rewrite"]["function"]):
        return _of_functions(index, paths, loading)
    return _of_files(index, paths, loading)


def _refuse_source(named: str) -> None:
    """A certificate does not decide what a compiler is given."""
    if split_spec(named)[0].suffix in SOURCE_SUFFIXES:
        raise UserError(f"the listing is about the source {named}: give --target and --rewrite, and how it was built.")


def _of_files(index: Mapping[str, Any], paths: Paths, loading: Loading) -> CheckReport:
    """The listing of `diff --cert`."""
    sides = [
        [(member, how or LoadOptions()) for member in members_of(path or index[side]["path"])]
        for side, path, how in zip(("target", "rewrite"), paths, loading, strict=True)
    ]
    found = []
    for file in index["files"]:
        both = [
            next(
                (member.parsed(how).data for member, how in side if len(side) == 1 or member.label == file["label"]),
                None,
            )
            for side in sides
        ]
        found.append(None if both[0] is None or both[1] is None else (both[0], both[1]))
    return check_listing(index, found)


def _of_functions(index: Mapping[str, Any], paths: Paths, loading: Loading) -> CheckReport:
    """The listing of `compare --cert`, which is about one function of each file."""
    said = [index[side] for side in ("target", "rewrite")]
    how = [replace(one or LoadOptions(), function=side["function"]) for one, side in zip(loading, said, strict=True)]
    left, right = open_pair(paths[0] or said[0]["path"], paths[1] or said[1]["path"], how[0], how[1])
    contents = None if left.data is None or right.data is None else (left.data, right.data)
    return check_listing(index, [contents] * len(index["files"]), (left.symbol.name, right.symbol.name))
