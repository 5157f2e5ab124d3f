"""Real C, one source at two levels: the verdict may be anything but `different`, except where the source is undefined.

    python bench/corpora.py FOLDER --state STATE [--budget 5] [--builds "gcc -O0" "gcc -O2"] [--library musl]
    python bench/corpora.py FOLDER --state STATE --sample 60 --seed 1
    python bench/corpora.py FOLDER --state STATE --table

FOLDER holds the unpacked source packages (`apt-get source zlib lz4 musl xxhash sqlite3 libtommath cjson jansson expat
mbedtls`, or some of them; docs/soundness.md). What was asked is kept in STATE, a line a function, and not asked again.
Every question has a process of its own with a limit on memory and time. The libraries take turns, so that a part of a
run says something about each of them. --sample asks about so many functions only, drawn with the seed, an equal share
of each library.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import NoReturn

from isoform.cli.verbs import answered
from isoform.load.compile import compiler
from isoform.model.errors import UserError

MEMORY_BYTES = 4 << 30
LARGEST = 3000
"""Bytes of machine code at the lower level: what is larger takes the whole budget and ends as unknown."""
WORDS = ("equivalent", "different", "bounded", "unknown", "trouble")
ZIG_FLAGS = ("-target", "x86_64-linux-gnu", "-fno-sanitize=undefined")


@dataclass(frozen=True)
class Library:
    name: str
    folder: str
    """A pattern for the folder of its sources."""
    sources: tuple[str, ...]
    flags: tuple[str, ...]
    """{} is the folder."""


_MUSL_PATHS = ("arch/x86_64", "arch/generic", "src/include", "src/internal", "obj/include", "include")
LIBRARIES = (
    Library("zlib", "zlib*", ("*.c",), ("-I{}", "-DHAVE_HIDDEN", "-D_LARGEFILE64_SOURCE=1")),
    Library("lz4", "lz4*", ("lib/*.c",), ("-I{}/lib",)),
    Library("xxHash", "xx[hH]ash*", ("xxhash.c",), ("-I{}",)),
    Library(
        "musl",
        "musl*",
        ("src/string/*.c", "src/stdlib/*.c", "src/ctype/*.c", "src/math/*.c", "src/search/*.c", "src/prng/*.c"),
        ("-std=c99", "-nostdinc", "-ffreestanding", "-D_XOPEN_SOURCE=700", *(f"-I{{}}/{p}" for p in _MUSL_PATHS)),
    ),
    Library(
        "sqlite",
        "sqlite*",
        tuple(
            f"src/{name}.c" for name in ("hash", "util", "bitvec", "random", "utf", "complete", "fault", "func", "date")
        ),
        ("-I{}/src", "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"),
    ),
    Library("libtommath", "libtommath*", ("bn_*.c",), ("-I{}",)),
    Library("cJSON", "cjson*", ("cJSON.c", "cJSON_Utils.c"), ("-I{}",)),
    Library("jansson", "jansson*", ("src/*.c",), ("-I{}/src", "-DHAVE_STDINT_H")),
    Library("expat", "expat*", ("expat/lib/*.c",), ("-I{}/expat/lib", "-DXML_DEV_URANDOM", "-DXML_CONTEXT_BYTES=1024")),
    Library("mbedtls", "mbedtls*", ("library/*.c",), ("-I{}/include", "-I{}/library")),
)


Question = tuple[Library, tuple[str, ...]]


@dataclass(frozen=True)
class Asked:
    library: str
    source: str
    function: str
    builds: str
    verdict: str
    seconds: float
    why: str = ""

    @property
    def key(self) -> str:
        return f"{self.builds} {self.library} {self.source} {self.function}"


# -- preparing --------------------------------------------------------------------------------------


def prepare(library: Library, folder: Path) -> None:
    """Headers that the library's own build makes."""
    if library.name == "musl" and not (folder / "obj").exists():
        made = folder / "obj/include/bits"
        made.mkdir(parents=True)
        arch = folder / "arch/x86_64/bits"
        types = ["sed", "-f", "tools/mkalltypes.sed", "arch/x86_64/bits/alltypes.h.in", "include/alltypes.h.in"]
        (made / "alltypes.h").write_text(_said(types, folder))
        calls = (arch / "syscall.h.in").read_text()
        again = "".join(line.replace("__NR_", "SYS_") for line in calls.splitlines(True) if "__NR_" in line)
        (made / "syscall.h").write_text(calls + again)
    if library.name == "sqlite" and not (folder / "src/opcodes.h").exists():
        for tool in ("lemon", "mksourceid"):
            _said(["gcc", "-w", "-o", tool, f"tool/{tool}.c"], folder)
        (folder / "lempar.c").write_text((folder / "tool/lempar.c").read_text())
        _said(["./lemon", "src/parse.y"], folder)
        (folder / "src/sqlite3.h").write_text(_said(["tclsh", "tool/mksqlite3h.tcl", "."], folder))
        text = (folder / "src/parse.h").read_text() + (folder / "src/vdbe.c").read_text()
        (folder / "src/opcodes.h").write_text(_said(["tclsh", "tool/mkopcodeh.tcl"], folder, text))
    if library.name == "jansson" and not (folder / "src/jansson_config.h").exists():
        text = (folder / "src/jansson_config.h.in").read_text()
        text = text.replace("@json_inline@", "inline").replace("@json_have_long_long@", "1")
        text = text.replace("@json_have_localeconv@", "1").replace("@json_have_atomic_builtins@", "1")
        text = text.replace("@json_have_sync_builtins@", "1")
        (folder / "src/jansson_config.h").write_text(text)


def _said(command: list[str], folder: Path, text: str = "") -> str:
    try:
        done = subprocess.run(command, cwd=folder, input=text, capture_output=True, text=True, check=False)
    except OSError as error:
        raise UserError(f"'{command[0]}' cannot be run: {error.strerror}.") from error
    if done.returncode != 0:
        raise UserError(f"'{shlex.join(command)}' failed in {folder}: {done.stderr.strip()[-200:]}")
    return done.stdout


def built(source: Path, build: str, flags: Sequence[str], folder: Path) -> Path | None:
    """The object file, made once a build; None if this compiler does not take the source."""
    made = folder / (re.sub(r"\W+", "_", f"{source} {build}") + ".o")
    if not made.exists():
        cc, *level = build.split()
        words = [*compiler(cc), *(ZIG_FLAGS if cc == "zig" else ()), *flags, "-w", "-g", "-fdata-sections"]
        done = subprocess.run([*words, *level, "-c", str(source), "-o", str(made)], capture_output=True, check=False)
        if done.returncode != 0:
            return None
    return made


def functions(objects: tuple[Path, Path]) -> list[str]:
    """Functions that both have, and that are not too large."""
    left, right = (_sizes(path) for path in objects)
    return [name for name, size in left.items() if name in right and size <= LARGEST]


def _sizes(path: Path) -> dict[str, int]:
    from elftools.elf.elffile import ELFFile

    table = ELFFile(io.BytesIO(path.read_bytes())).get_section_by_name(".symtab")
    found = [s for s in table.iter_symbols() if s["st_info"]["type"] == "STT_FUNC" and s["st_shndx"] != "SHN_UNDEF"]
    counts = Counter(symbol.name for symbol in found)
    return {s.name: s["st_size"] for s in found if counts[s.name] == 1 and "." not in s.name}


# -- asking -----------------------------------------------------------------------------------------


def ask(objects: tuple[Path, Path], function: str, budget: float) -> tuple[str, float, str]:
    """The verdict, seconds of processor time, and the reason."""
    words = ["compare", *(f"{path}:{function}" for path in objects), "--budget", f"{budget:g}", "--json"]
    with tempfile.TemporaryFile("w+") as out:
        before = _children_time()
        child = os.fork()  # everything that is needed is imported already: a new process takes longer than most answers
        if child == 0:
            _answer(words, out.fileno())
        ended = _waited(child, 40 * budget + 60)
        seconds = _children_time() - before
        out.seek(0)
        said = out.read()
    if not ended:
        return "trouble", seconds, "no answer long after the budget"
    try:
        answer = json.loads(said)
    except ValueError:
        return "trouble", seconds, said.strip()[-300:] or "no answer"
    why = str(answer.get("why") or "")
    if answer["verdict"] == "different":
        witness = answer["witness"]
        why = "; ".join(f"{d['what']}: {d.get('target')} / {d.get('rewrite')}" for d in witness["differences"][:2])
        why += f" for {witness['inputs']}"
    return answer["verdict"], seconds, why[:600]


def warm(folder: Path) -> None:
    """One question in this process, so that those asked in its children find everything imported."""
    files = []
    for name in "ab":
        source = folder / f"warm_{name}.c"
        source.write_text(f"long f(long x) {{ return x * 3 + {name == 'b':d}; }}\n")
        files.append(f"{source}:f")
    with contextlib.redirect_stdout(io.StringIO()):
        answered(["compare", *files, "--json"])


def _answer(words: list[str], out: int) -> NoReturn:
    """In the child: the command, with its output in a file and a limit on memory."""
    code = 2
    try:
        os.dup2(out, 1)
        os.dup2(out, 2)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        answered(words)
        code = 0
    except BaseException as error:
        print(f"{type(error).__name__}: {error}")
    finally:
        sys.stdout.flush()
        os._exit(code)


def _waited(child: int, seconds: float) -> bool:
    """Whether the child ended by itself."""
    until = time.monotonic() + seconds
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return False
        time.sleep(0.02)
    return True


def _children_time() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def questions(library: Library, folder: Path, builds: tuple[str, str], objects: Path) -> Iterator[tuple[str, ...]]:
    """Source, function and the two files, as far as both builds take the source."""
    place = next(iter(sorted(p for p in folder.glob(library.folder) if p.is_dir())), None)
    if place is None:
        return
    prepare(library, place)
    flags = [flag.format(place) for flag in library.flags]
    sources = sorted(path for pattern in library.sources for path in place.glob(pattern))
    per_source = []
    for source in sources:
        left, right = (built(source, build, flags, objects) for build in builds)
        if left is not None and right is not None:
            shown = str(source.relative_to(place))
            per_source.append([(shown, name, str(left), str(right)) for name in functions((left, right))])
    # One function of each source before the second of any: a part of a run sees all of the library.
    yield from (question for row in zip_longest(*per_source) for question in row if question is not None)


def drawn(of_each: list[list[Question]], count: int, seed: int) -> list[list[Question]]:
    """So many in all, an equal share of each library; one that has fewer leaves its rest to those after it."""
    chance = random.Random(seed)
    chosen = []
    smallest_first = sorted(range(len(of_each)), key=lambda place: len(of_each[place]))
    shares: dict[int, int] = {}
    for done, place in enumerate(smallest_first):
        shares[place] = min(len(of_each[place]), (count - sum(shares.values())) // (len(of_each) - done))
    for place, questions_of_one in enumerate(of_each):
        chosen.append(chance.sample(questions_of_one, shares[place]))
    return chosen


def run(options: argparse.Namespace) -> None:
    done = {asked.key for asked in read(options.state)}
    builds = (options.builds[0], options.builds[1])
    named = " / ".join(builds)
    objects = options.state.with_suffix(".objects")
    objects.mkdir(exist_ok=True)
    warm(objects)
    until = time.monotonic() + options.seconds
    wanted = [library for library in LIBRARIES if not options.library or library.name == options.library]
    of_each = [[(lib, q) for q in questions(lib, options.folder, builds, objects)] for lib in wanted]
    if options.sample:
        of_each = drawn(of_each, options.sample, options.seed)
    rows = zip_longest(*of_each)
    for library, (source, name, left, right) in filter(None, chain.from_iterable(rows)):
        key = Asked(library.name, source, name, named, "", 0).key
        if key in done:
            continue
        if time.monotonic() > until:
            print("The time is up: the same command goes on from here.")
            return
        verdict, seconds, why = ask((Path(left), Path(right)), name, options.budget)
        asked = Asked(library.name, source, name, named, verdict, round(seconds, 2), why)
        with options.state.open("a") as file:
            file.write(json.dumps(asdict(asked)) + "\n")
        if verdict in ("different", "trouble"):
            print(f"{verdict}: {library.name} {source} {name} ({named}): {why}", flush=True)


def read(path: Path) -> list[Asked]:
    if not path.exists():
        return []
    lines = path.read_text().splitlines()
    return [Asked(**json.loads(line)) for line in lines if line.endswith("}")]


def table(results: Sequence[Asked]) -> str:
    lines = ["| builds | library | functions | " + " | ".join(WORDS) + " |", "|" + "---|" * (3 + len(WORDS))]
    for builds in dict.fromkeys(r.builds for r in results):
        for library in (*(lib.name for lib in LIBRARIES), "all"):
            chosen = [r for r in results if r.builds == builds and library in (r.library, "all")]
            if not chosen:
                continue
            counts = Counter(r.verdict for r in chosen)
            row = (builds, library, str(len(chosen)), *(str(counts[word]) for word in WORDS))
            lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="corpora", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of unpacked source packages")
    parser.add_argument("--state", type=Path, required=True, help="file of what was asked")
    parser.add_argument("--builds", nargs=2, default=["gcc -O0", "gcc -O2"], metavar="BUILD", help="compiler and flags")
    parser.add_argument("--budget", type=float, default=5, help="seconds a function (default 5)")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so many")
    parser.add_argument("--sample", type=int, default=0, help="ask about so many functions only (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default 1)")
    parser.add_argument("--library", choices=[library.name for library in LIBRARIES])
    parser.add_argument("--table", action="store_true", help="only show what there is")
    options = parser.parse_args()
    try:
        if not options.table:
            run(options)
    except UserError as error:
        print(f"corpora: {error}", file=sys.stderr)
        return 2
    print(table(read(options.state)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
