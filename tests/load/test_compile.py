"""Sources through the compiler driver."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from isoform.load import compile as compiling
from isoform.load.compile import compile_source, compiler
from isoform.load.elf import parse_elf
from isoform.load.open import LoadOptions, open_one
from isoform.model.errors import UserError


@pytest.fixture
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.parametrize("cc", [None, "gcc", "zig", "zig cc"])
def test_a_source_becomes_an_object(tmp_path: Path, own_temporary_folder: Path, cc: str | None) -> None:
    if cc == "gcc" and shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    path = tmp_path / "t.c"
    path.write_text("#include <string.h>\nint f(const char *x) { return strlen(x); }\n")
    file = parse_elf(compile_source(path, cc), "t.c")
    assert "f" in {s.name for s in file.symbols}
    assert file.has_debug
    assert list(own_temporary_folder.iterdir()) == []


def test_undefined_behaviour_is_not_trapped_by_zig(tmp_path: Path) -> None:
    path = tmp_path / "t.c"
    path.write_text("int f(int x) { return x + 1; }\n")
    file = parse_elf(compile_source(path, "zig", ("-O0",)), "t.c")
    assert not any("ubsan" in s.name for s in file.symbols)


@pytest.mark.parametrize("suffix", [".s", ".S"])
def test_assembly(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    path.write_text("f: mov %edi, %eax\nagain: dec %eax\n jnz again\n ret\n.globl g\ng: ret\n")
    assert open_one(f"{path}:f").symbol.size == 7
    assert open_one(f"{path}").symbol.name == "g"


def test_the_users_flags_win(tmp_path: Path) -> None:
    path = tmp_path / "t.c"
    path.write_text("#ifndef VALUE\n#error no value\n#endif\nint f(void) { return VALUE; }\n")
    loaded = open_one(str(path), LoadOptions(cflags=("-DVALUE=7", "-O0")))
    assert loaded.image.from_source
    assert loaded.image.source[str(path)][3].startswith("int f")
    assert {line.number for line in loaded.image.lines.values()} == {4}


def test_the_compilers_message_is_shown(tmp_path: Path, own_temporary_folder: Path) -> None:
    path = tmp_path / "t.c"
    path.write_text("int f(int x) { return y; }\n")
    with pytest.raises(UserError, match=r"could not compile .*t\.c:\n.*error:.*y"):
        compile_source(path)
    assert list(own_temporary_folder.iterdir()) == []


def test_missing_compilers(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="no compiler 'nocc'"):
        compiler("nocc -O2")
    with pytest.raises(UserError, match="--cc is empty"):
        compiler("")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(compiling, "_has_zig", lambda: False)
    with pytest.raises(UserError, match=r"install isoform\[cc\]"):
        compiler(None)


def test_a_compiler_that_hangs_is_ended(
    tmp_path: Path, own_temporary_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "slowcc"
    fake.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nsleep 100\n")
    fake.chmod(0o755)
    source = tmp_path / "t.c"
    source.write_text("int f;")
    monkeypatch.setattr(compiling, "SECONDS_LIMIT", 0.5)
    with pytest.raises(UserError, match="took longer"):
        compile_source(source, str(fake))
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
    assert list(own_temporary_folder.iterdir()) == []


_BOMB = "\n".join(
    [
        "#define A0 x+x",
        *(f"#define A{i} A{i - 1}+A{i - 1}+A{i - 1}+A{i - 1}" for i in range(1, 16)),
        "int f(int x) { return A15; }",
    ]
)


@pytest.mark.parametrize(
    "text",
    [
        '#include "/dev/zero"\nint f(int x) { return x; }\n',
        _BOMB,
        "char a[3u << 30] = {1};\nint f(int x) { return a[x]; }\n",
    ],
    ids=["endless-include", "macro-bomb", "huge-array"],
)
def test_a_compiler_has_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_temporary_folder: Path, text: str
) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    monkeypatch.setattr(compiling, "MEMORY_LIMIT", 400 << 20)
    path = tmp_path / "t.c"
    path.write_text(text)
    with pytest.raises(UserError, match=r"needs more than a compiler gets here \(40 s of processor time, 400 MB"):
        compile_source(path, "gcc")
    assert list(own_temporary_folder.iterdir()) == []


def test_a_compiler_that_cannot_be_started(tmp_path: Path) -> None:
    fake = tmp_path / "nocc"
    fake.write_text("#!/no/such/interpreter\n")
    fake.chmod(0o755)
    source = tmp_path / "t.c"
    source.write_text("int f;")
    with pytest.raises(UserError, match=r"the compiler '.*nocc' cannot be started"):
        compile_source(source, str(fake))


def test_what_a_compiler_starts_has_the_limits_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "limitcc"
    fake.write_text(f"#!/bin/sh\n(ulimit -t; ulimit -v; ulimit -f; ulimit -c) > {tmp_path}/limits\nexit 1\n")
    fake.chmod(0o755)
    source = tmp_path / "t.c"
    source.write_text("int f;")
    monkeypatch.setattr(compiling, "MEMORY_LIMIT", 1 << 30)
    with pytest.raises(UserError, match="could not compile"):
        compile_source(source, str(fake))
    assert (tmp_path / "limits").read_text().split() == ["40", str(1 << 20), str((256 << 20) // 512), "0"]
