"""What code can get at by addresses: also by those that are far from what they are meant for."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from isoform import api
from isoform.borders.reach import addresses_in
from isoform.model.verdict import Bounded, Different, Equivalent, Unknown, Verdict

SOURCE = """
typedef int (*function)(int);
__attribute__((noinline)) static int plain(int x) { return x + 3; }
__attribute__((noinline)) static int special(int x) { return x == 123456 ? OTHER : x * 2; }
int variables[300] = {[17] = OTHER};
const int constants[300] = {[17] = OTHER};
const function functions[300] = {plain, [20] = special};
function actions[300] = {plain, [20] = special};
static __thread int threads[300] = {[17] = OTHER};
int variable(long i) { return variables[i - 2000]; }
int constant(long i) { return constants[i - 2000]; }
function chosen(long i) { return functions[i - 2000]; }
function action(long i) { return actions[i - 2000]; }
int *place(long i) { return &variables[i - 2000]; }
const int *constant_place(long i) { return &constants[i - 2000]; }
const function *table_place(long i) { return &functions[i - 2000]; }
const int *end(void) { return constants + 300; }
int *variable_end(void) { return variables + 300; }
int thread(long i) { return threads[i - 2000]; }
void set_thread(int x) { threads[17] = x; }
int main(void) { return 0; }
"""
PLACES = ["place", "constant_place", "table_place", "end", "variable_end"]
NAMES = ["variable", "constant", "chosen", "action", "thread", *PLACES]
KINDS = {
    "program": ("-pie", "-fPIE"),
    "fixed": ("-no-pie", "-fno-pie"),
    "fixed-of-pie": ("-no-pie", "-fPIE"),
    "library": ("-shared", "-fPIC"),
    "object": ("-c", "-fPIC"),
    "object-fixed": ("-c", "-fno-pie"),
}

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")


def built(folder: Path, name: str, *flags: str) -> Path:
    text = folder / "source.c"
    text.write_text(SOURCE)
    subprocess.run(["gcc", "-g", "-w", *flags, str(text), "-o", str(folder / name)], check=True)
    return folder / name


def asked(left: Path, right: Path, name: str) -> Verdict:
    return api.compare(f"{left}:{name}", f"{right}:{name}")


@pytest.fixture(scope="module", params=KINDS)
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder, flags = tmp_path_factory.mktemp("reach"), KINDS[request.param]
    made = {"first": ("-O2", "-DOTHER=1"), "again": ("-O1", "-DOTHER=1"), "other": ("-O2", "-DOTHER=2")}
    return {"kind": Path(request.param)} | {name: built(folder, name, *flags, *more) for name, more in made.items()}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_reached_by_a_base_far_away_is_compared(files: dict[str, Path], name: str) -> None:
    verdict = asked(files["first"], files["other"], name)
    assert isinstance(verdict, Different | Unknown | Bounded)


@pytest.mark.parametrize("name", ["chosen", "place", "thread"])
def test_what_is_the_same_is_equivalent(files: dict[str, Path], name: str) -> None:
    if files["kind"].name.startswith("fixed") and name != "place":
        pytest.skip("nothing is assumed of accesses in programs at fixed addresses")
    is_linked = files["kind"].name in ("program", "library")
    # In a linked file an address far from its object may be meant for any other, unless all of them lie alike.
    expected = Equivalent | Unknown if is_linked else Equivalent
    assert isinstance(asked(files["first"], files["again"], name), expected)


def test_addresses_in_packed_data() -> None:
    content = bytes(100_001) + (0x7000_0010).to_bytes(8, "little") + bytes(30_000)
    assert 0x7000_0010 in set(addresses_in(content, 0x1000_0000, {0x7000_0010 >> 12}))


def test_distances_in_packed_data_lead_to_functions_only() -> None:
    content = b"\1" + (0x10_0000).to_bytes(4, "little") + bytes(3)
    target = 0x1010_0001
    assert target in set(addresses_in(content, 0x1000_0000, {target >> 12}, {target}))
    assert target not in set(addresses_in(content, 0x1000_0000, {target >> 12}))
