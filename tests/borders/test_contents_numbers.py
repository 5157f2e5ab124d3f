"""Numbers in data that have the value at which isoform placed an object: they are no addresses."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from isoform import api
from isoform.borders.question import Options
from isoform.load.open import open_pair
from isoform.model.verdict import Different, Equivalent, Unknown

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")

KINDS = {"object": ("-c",), "library": ("-shared", "-fPIC", "-nostdlib")}
MOST_ROUNDS = 4
"""What the data holds may change where objects are placed."""


def built(folder: Path, kind: str, side: int, name: str, held: str, first: int = 5) -> Path:
    text, path = folder / f"{side}.c", folder / f"{side}.o"
    writes = f"{name} = 0; " if first != 5 else ""
    text.write_text(f"int {name} = {first}; long k = {held}; long f(void) {{ {writes}return k; }}")
    subprocess.run(["gcc", "-O1", "-g", *KINDS[kind], str(text), "-o", str(path)], check=True)
    return path


def verdict(
    folder: Path, kind: str, names: tuple[str, str], held: tuple[str, str], first: tuple[int, int] = (5, 5)
) -> object:
    """Asks about two files that hold these things, where `{}` is the number at which the object of the side is."""
    numbers = (0, 0)
    for _ in range(MOST_ROUNDS):
        paths = [
            built(folder, kind, side, names[side], held[side].format(numbers[side]), first[side]) for side in (0, 1)
        ]
        left, right = open_pair(f"{paths[0]}:f", f"{paths[1]}:f")
        places = [
            next(symbol.address for symbol in one.image.symbols if symbol.name == name)
            for one, name in zip((left, right), names, strict=True)
        ]
        shared = tuple(one.image.shared_address(place) for one, place in zip((left, right), places, strict=True))
        if numbers == shared:
            return api.compare(f"{paths[0]}:f", f"{paths[1]}:f", Options(budget=10))
        numbers = (shared[0], shared[1])
    pytest.fail("objects are placed anew every time")


@pytest.mark.parametrize("kind", KINDS)
def test_two_numbers_are_two_numbers(tmp_path: Path, kind: str) -> None:
    """Each is where its file has an object of the same contents, which the other file does not have."""
    assert isinstance(verdict(tmp_path, kind, ("x", "y"), ("{}", "{}")), Different)


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_is_no_address(tmp_path: Path, kind: str) -> None:
    assert isinstance(verdict(tmp_path, kind, ("x", "x"), ("(long)&x", "{}")), Unknown | Different)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("held", ["{}", "(long)&x"])
def test_the_same_is_the_same(tmp_path: Path, kind: str, held: str) -> None:
    assert isinstance(verdict(tmp_path, kind, ("x", "x"), (held, held)), Equivalent)


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_leads_to_nothing_that_differs(tmp_path: Path, kind: str) -> None:
    """What is at the address of that value differs at first, and is written before anyone reads it."""
    assert not isinstance(verdict(tmp_path, kind, ("x", "x"), ("{}", "{}"), (1, 2)), Different)


def test_addresses_of_objects_that_hold_the_same_are_alike(tmp_path: Path) -> None:
    """The twin of the first: here the two words are addresses."""
    assert isinstance(verdict(tmp_path, "object", ("x", "y"), ("(long)&x", "(long)&y")), Equivalent)
