"""C and assembly sources become object files, through the compiler driver. Nothing that is built is ever run."""

from __future__ import annotations

import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from math import ceil
from pathlib import Path

from isoform.isa.registry import DEFAULT, TARGETS
from isoform.model.budget import WALL_FACTOR
from isoform.model.errors import UserError
from isoform.model.limits import as_size

SECONDS_LIMIT = 40
"""Of processor time, for one process of the compiler; a large source at -O3 takes half of that."""
MEMORY_LIMIT = 2 << 30
"""Bytes, for one process of the compiler."""
FILE_LIMIT = 256 << 20
"""Bytes of a file that it writes."""
_OVER_LIMITS = re.compile(
    r"out of memory|memory exhausted|cannot allocate|bad_alloc|OutOfMemory|CPU time limit|file size limit|"
    r"file too large|(killed|terminated) .*signal|signal terminated|stack overflow|LLVM ERROR|diagnostic msg",
    re.IGNORECASE,
)
"""How compilers and assemblers report that one of these limits stopped them."""
POSIX_BLOCK = 512
"""Bytes: the unit in which `ulimit` takes sizes of files."""
NOT_STARTED = (126, 127)
"""What a shell returns for a program that cannot be executed; compilers use small numbers."""
OUTPUT_LIMIT = 1 << 20
SHOWN_LINES = 12
DEFAULT_FLAGS = ("-O2",)
ZIG_FLAGS = ("-fno-sanitize=undefined",)
SEPARATE_DATA = ("-fdata-sections", "-fmerge-constants")
"""One section for each object and literals in mergeable sections, so that the loader knows them apart."""


def compile_source(path: Path, cc: str | None = None, cflags: Sequence[str] = (), isa: str = DEFAULT) -> bytes:
    """The object file of one source file, with debug information."""
    driver = compiler(cc if cc is not None or isa == DEFAULT else "zig")
    with tempfile.TemporaryDirectory(prefix="isoform-", ignore_cleanup_errors=True) as folder:
        output = Path(folder) / "out.o"
        command = [*driver, *_flags(path, driver, cflags, isa), "-g", "-c", str(path.absolute()), "-o", str(output)]
        messages = _run(command, Path(folder), path)
        if not output.is_file():
            raise UserError(f"{_shown(driver)} made no object file from {path}{messages}")
        return output.read_bytes()


def compiler(cc: str | None) -> list[str]:
    """The words that start the compiler driver."""
    if cc is None:
        if shutil.which("cc"):
            return ["cc"]
        if _has_zig():
            return _zig()
        raise UserError("no C compiler was found: install isoform[cc], or name one with --cc.")
    try:
        words = shlex.split(cc)
    except ValueError as error:
        raise UserError(f"--cc '{cc}' cannot be split into words: {error}.") from error
    if not words:
        raise UserError("--cc is empty: name a compiler, as in --cc gcc.")
    if words[0] == "zig" and not shutil.which("zig"):
        if not _has_zig():
            raise UserError("--cc zig needs zig's clang: install isoform[cc].")
        rest = words[2:] if words[1:2] == ["cc"] else words[1:]
        return [*_zig(), *rest]
    if words == ["zig"]:
        return ["zig", "cc"]
    if shutil.which(words[0]) is None:
        raise UserError(f"there is no compiler '{words[0]}' on this machine: install it, or name another with --cc.")
    return words


def _has_zig() -> bool:
    return find_spec("ziglang") is not None


def _zig() -> list[str]:
    """The program of the package itself: starting Python to start it takes as long as compiling a small source."""
    package = find_spec("ziglang")
    program = Path(package.origin).with_name("zig") if package is not None and package.origin else None
    if program is not None and os.access(program, os.X_OK):
        return [str(program), "cc"]
    return [sys.executable, "-m", "ziglang", "cc"]


def _is_zig(driver: Sequence[str]) -> bool:
    return "ziglang" in driver or Path(driver[0]).name == "zig"


def _flags(path: Path, driver: Sequence[str], cflags: Sequence[str], isa: str) -> list[str]:
    """The user's flags come after ours, so that they win."""
    ours = ["-target", *TARGETS[isa].split(), *ZIG_FLAGS] if _is_zig(driver) else []
    if path.suffix == ".c":
        ours.extend(SEPARATE_DATA)
        ours.append("-fno-lto")
    return [*ours, *(cflags or DEFAULT_FLAGS)]


def _shown(driver: Sequence[str]) -> str:
    return "zig cc" if _is_zig(driver) else driver[0]


def _run(command: list[str], folder: Path, path: Path) -> str:
    """Run the driver; what it said, for a message. The user's folder stays the current one: `-I` may be relative."""
    log = folder / "messages"
    environment = {**os.environ, "TMPDIR": str(folder)}
    if _is_zig(command):
        environment |= {"ZIG_LOCAL_CACHE_DIR": str(folder / "zig"), "ZIG_GLOBAL_CACHE_DIR": str(folder / "zig")}
    with log.open("wb") as out:
        try:
            process = subprocess.Popen(
                [*_limited(), *command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise UserError(f"the shell that limits compilers cannot be started: {error.strerror}.") from error
        try:
            code = process.wait(WALL_FACTOR * SECONDS_LIMIT)
        except subprocess.TimeoutExpired:
            raise UserError(f"compiling {path} took longer than {WALL_FACTOR * SECONDS_LIMIT:g} seconds.") from None
        finally:
            _end(process)
    messages = _first_errors(log)
    if code in NOT_STARTED:
        raise UserError(f"the compiler '{command[0]}' cannot be started{messages}")
    if code < 0 or (code != 0 and _OVER_LIMITS.search(messages)):
        limits = f"{SECONDS_LIMIT} s of processor time, {as_size(MEMORY_LIMIT)} of memory, {as_size(FILE_LIMIT)} a file"
        raise UserError(f"compiling {path} needs more than a compiler gets here ({limits}).")
    if code != 0:
        raise UserError(f"{_shown(command)} could not compile {path}{messages}")
    return messages


def _limited() -> list[str]:
    """The words before a command that limit it and what it starts. Sources are hostile: they include /dev/zero.

    A shell sets the limits and becomes the compiler. Code of ours between fork and exec would have Python copy the
    tables of all its memory to the new process: several milliseconds where much is loaded, and a fault afterwards for
    each page that is written. Without such code the memory is shared until the shell starts."""
    limits = (
        ("-t", resource.RLIMIT_CPU, ceil(SECONDS_LIMIT), 1),
        ("-v", resource.RLIMIT_AS, MEMORY_LIMIT, 1 << 10),
        ("-f", resource.RLIMIT_FSIZE, FILE_LIMIT, POSIX_BLOCK),
        ("-c", resource.RLIMIT_CORE, 0, POSIX_BLOCK),
    )
    settings = [f"ulimit {option} {_at_most(what, limit) // unit}" for option, what, limit, unit in limits]
    return ["/bin/sh", "-c", " && ".join([*settings, 'exec "$@"']), "sh"]


def _at_most(what: int, limit: int) -> int:
    """A limit that is already lower stays."""
    hard = resource.getrlimit(what)[1]
    return limit if hard == resource.RLIM_INFINITY else min(limit, hard)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the driver and all it started, also when interrupted."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _first_errors(log: Path) -> str:
    with log.open("rb") as stream:
        said = stream.read(OUTPUT_LIMIT).decode("utf-8", "replace").strip().splitlines()
    if not said:
        return "."
    first = next((i for i, line in enumerate(said) if "error" in line.lower()), 0)
    return ":\n" + "\n".join(said[first : first + SHOWN_LINES])
