"""`path[:function]`, and the sentences for what cannot be resolved."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from built import build

from isoform.load.open import LoadOptions, open_one, open_pair
from isoform.load.resolve import split_spec
from isoform.model.errors import UserError

TEXT = "int data = 3; int used(int); int parse_header(int x) { return used(x); } int other(int x) { return x; }"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return build(tmp_path, TEXT)


def test_split(tmp_path: Path) -> None:
    assert split_spec("a/b.c:f") == (Path("a/b.c"), "f")
    assert split_spec("a/b.c") == (Path("a/b.c"), None)
    assert split_spec("a:b.c:f") == (Path("a:b.c"), "f")
    literal = tmp_path / "x.o:f"
    literal.write_bytes(b"")
    assert split_spec(str(literal)) == (literal, None)


@pytest.mark.parametrize("spec", ["", ":f", "a.c:"])
def test_specs_that_name_nothing(spec: str) -> None:
    with pytest.raises(UserError):
        split_spec(spec)


def test_a_name_is_suggested(old: Path) -> None:
    with pytest.raises(UserError, match=r"no function 'pars_header' in .*; did you mean 'parse_header'\?"):
        open_one(f"{old}:pars_header")


def test_data_is_not_a_function(old: Path) -> None:
    with pytest.raises(UserError, match=r"'data' in .* is data, not a function"):
        open_one(f"{old}:data")


def test_a_function_that_is_only_used(old: Path) -> None:
    with pytest.raises(UserError, match="only uses function 'used'"):
        open_one(f"{old}:used")


def test_candidates_are_listed(old: Path) -> None:
    with pytest.raises(UserError, match=r"several functions \(parse_header, other\)"):
        open_one(str(old))
    with pytest.raises(UserError, match=r"several functions in common .*--function"):
        open_pair(str(old), str(old))


def test_the_name_may_be_left_out(tmp_path: Path, old: Path) -> None:
    single = build(tmp_path, "int lonely(int x) { return x; }")
    shared = build(tmp_path, "int third(int x) { return x; } int other(int x) { return x; }")
    assert open_one(str(single)).symbol.name == "lonely"
    assert [s.symbol.name for s in open_pair(str(old), str(shared))] == ["other", "other"]
    assert [s.symbol.name for s in open_pair(f"{old}:parse_header", str(single))] == ["parse_header", "lonely"]
    assert [s.symbol.name for s in open_pair(f"{old}:other", str(shared))] == ["other", "other"]
    options = LoadOptions(function="other")
    assert [s.symbol.name for s in open_pair(str(old), str(shared), options, options)] == ["other", "other"]


def test_a_function_of_size_zero(tmp_path: Path) -> None:
    path = build(tmp_path, ".globl f\nf: ret\n.globl e\ne:\n", suffix=".s")
    with pytest.raises(UserError, match=r"function 'e' in .* has size 0"):
        open_one(f"{path}:e")


def test_addresses_of_stripped_files(tmp_path: Path) -> None:
    full = build(
        tmp_path, "static int hidden(int x) { return x * 3; } int (*p)(int) = hidden;", "-shared", "-fPIC", "-g"
    )
    whole = open_one(f"{full}:hidden")
    own = whole.symbol.address - whole.image.base
    stripped = build(
        tmp_path, "static int hidden(int x) { return x * 3; } int (*p)(int) = hidden;", "-shared", "-fPIC", "-s"
    )
    found = open_one(f"{stripped}:{own:#x}")
    size = whole.symbol.size
    assert found.image.code_at(found.symbol.address, size) == whole.image.code_at(whole.symbol.address, size)
    with pytest.raises(UserError, match="there is no code at 0x10"):
        open_one(f"{stripped}:0x10")
    with pytest.raises(UserError, match="neither a function"):
        open_one(f"{stripped}:0xzz")


def test_files_that_cannot_be_read(tmp_path: Path, old: Path) -> None:
    with pytest.raises(UserError, match="there is no file"):
        open_one(str(tmp_path / "missing.o"))
    with pytest.raises(UserError, match=f"did you mean .*{old.name}"):
        open_one(str(old) + "o")
    with pytest.raises(UserError, match="is a directory"):
        open_one(str(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="not an ordinary file"):
        open_one(str(tmp_path / "pipe"))
    if os.geteuid() != 0:
        old.chmod(0)
        with pytest.raises(UserError, match="permission denied"):
            open_one(str(old))


def test_two_machines(tmp_path: Path, old: Path) -> None:
    (tmp_path / "p.toy").write_text("RETC 1\n")
    with pytest.raises(UserError, match=r"is x86_64 but .*p\.toy is toy: both sides must be the same machine"):
        open_pair(f"{old}:other", str(tmp_path / "p.toy"))
    with pytest.raises(ValueError, match=r"isa must be one of 'x86_64', .*, not 'pdp11'"):
        LoadOptions(isa="pdp11")


def test_toy_files_are_dispatched(tmp_path: Path) -> None:
    (tmp_path / "p.toy").write_text("RETC 1\n")
    assert open_one(str(tmp_path / "p.toy")).image.machine == "toy"


def test_one_source_with_two_builds(tmp_path: Path) -> None:
    path = tmp_path / "t.c"
    path.write_text("int f(int x) { return x * 2; }\n")
    a, b = open_pair(str(path), str(path), LoadOptions(cflags=("-O0",)), LoadOptions(cflags=("-O2",)))
    assert a.symbol.size != b.symbol.size
    assert str(a.image.signatures["f"]) == str(b.image.signatures["f"]) == "int f(int x)"
