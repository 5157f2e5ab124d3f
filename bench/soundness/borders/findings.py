"""What contradicts a verdict is kept: as a folder that says all of it, and as a pair that the test suite asks about."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from pairfile import versioned
from soundness.batch import Pair
from soundness.borders.case import LIBRARY, OBJECT, PROGRAM, Case, Part
from soundness.borders.judge import ALWAYS, judge_case, words_of
from soundness.judge import Judged
from soundness.shrink import shrunk

SHRINK_SECONDS = 60.0
_SIMPLE = (("-O0",), ("-O2",), ("-O1",))

Found = tuple[Case, tuple[Part, Part], Judged]


def smaller(found: Found, budget: float, seconds: float = SHRINK_SECONDS) -> Found:
    """The same contradiction with plainer builds and fewer lines."""
    case, parts, judged = found
    until = time.monotonic() + seconds

    def again(candidate: Case, builds: tuple[Part, Part]) -> Judged | None:
        with tempfile.TemporaryDirectory(prefix="isoform-borders-") as folder:
            result = judge_case(candidate, builds, Path(folder), judged.label, budget)
        return result if result.wrong and _sort(result) == _sort(judged) else None

    for builds in _plainer(case, parts):
        if time.monotonic() < until and again(case, builds):
            parts = builds
            break
    pair = Pair(
        judged.label, judged.kind, case.same, case.change, case.function, _lines(case.target), _lines(case.rewrite)
    )
    less = shrunk(
        pair,
        lambda p: again(replace(case, target=p.target, rewrite=p.rewrite), parts) is not None,
        max(0.0, until - time.monotonic()),
    )
    case = replace(case, target=less.target, rewrite=less.rewrite)
    return case, parts, again(case, parts) or judged


def _sort(judged: Judged) -> str:
    """The verdict, and what speaks against it without the details."""
    return f"{judged.word} {judged.wrong.split('[')[0][-60:]}"


def _lines(text: str) -> str:
    return text.replace("; ", ";\n").replace("{ ", "{\n")


def _plainer(case: Case, parts: tuple[Part, Part]) -> list[tuple[Part, Part]]:
    if case.suffix == ".s":
        return []
    found = []
    for left in _SIMPLE:
        for right in _SIMPLE:
            builds = tuple(
                replace(part, cc="gcc", flags=(*level, *case.flags), form=OBJECT)
                for part, level in zip(parts, (left, right), strict=True)
            )
            found.append((builds[0], builds[1]))
    return found


def keep(found: Found, folder: Path) -> Path:
    """A folder with both sources, the harness and the commands that show it."""
    case, parts, judged = found
    place = folder / judged.label.replace(".", "-")
    place.mkdir(parents=True, exist_ok=True)
    for side, text in (("a", case.target), ("b", case.rewrite)):
        (place / f"{side}{case.suffix}").write_text(text)
    if case.harness:
        (place / "harness.c").write_text(case.harness)
    (place / "README").write_text(
        f"{case.topic}\n{case.change}\n{judged.word}: {judged.wrong}\n\n{commands(case, parts)}\n"
    )
    return place


def commands(case: Case, parts: tuple[Part, Part]) -> str:
    lines = []
    for side, part in zip("ab", parts, strict=True):
        words = [*("zig cc" if part.cc == "zig" else part.cc).split(), *words_of(part), *ALWAYS, *part.flags]
        words += ["-g" if part.debug else "-g0", "-c", f"{side}{case.suffix}", "-o", f"{side}.o"]
        lines.append(" ".join(words))
        if part.form == LIBRARY:
            lines.append(f"gcc -shared -nostdlib {side}.o -o {side}.so")
        elif part.form == PROGRAM:
            lines.append("gcc -O1 -w -fno-builtin -shared -fPIC -nostdlib harness.c -o libharness.so")
            kind = "-no-pie" if "-fno-pic" in part.flags else "-pie"
            lines.append(f"gcc {kind} -nostdlib -Wl,-e,f {side}.o libharness.so -lgcc -o {side}.program")
    ends = [{LIBRARY: "so", PROGRAM: "program"}.get(part.form, "o") for part in parts]
    options = " ".join(f"'{word}'" if " " in word else word for word in case.options)
    lines.append(f"isoform compare a.{ends[0]}:{case.function} b.{ends[1]}:{case.function} {options}".rstrip())
    return "\n".join(lines)


def save(found: Found, folder: Path) -> Path | None:
    """A pair with its header; None for what no pair can say (a library, a program)."""
    case, parts, judged = found
    if any(part.form != OBJECT for part in parts):
        return None
    folder.mkdir(parents=True, exist_ok=True)
    name = f"campaign-{judged.label.replace('.', '-')}"
    suffix = case.suffix if parts[0].debug else ".s"
    for side, text, part in zip("ab", (case.target, case.rewrite), parts, strict=True):
        (folder / f"{name}-{side}{suffix}").write_text(text if suffix == case.suffix else _assembly(text, part))
    builds = " | ".join(shlex.join([versioned(part.cc), *ALWAYS, *part.flags]) for part in parts)
    shown = " ".join(f'"{word}"' if " " in word or not word else word for word in case.options)
    lines = [
        f"# found by ./scripts/soundness --only {judged.label}",
        f"verdict: {'equivalent' if case.same else 'different'}",
        f"because: {case.topic}: {' '.join(case.change.split())}.",
        f"a: {name}-a{suffix}:{case.function}",
        f"b: {name}-b{suffix}:{case.function}",
        *([f"build: {builds}"] if suffix == ".c" else []),
        *([f"options: {shown}"] if shown else []),
        f"todo: {' '.join(judged.wrong.split())}",
    ]
    header = folder / f"{name}.pair"
    header.write_text("\n".join(lines) + "\n")
    return header


def _assembly(text: str, part: Part) -> str:
    """What the compiler makes of it without debug information: a pair's own sources are always compiled with it."""
    from isoform.load.compile import compiler

    with tempfile.TemporaryDirectory(prefix="isoform-borders-") as folder:
        source = Path(folder) / "source.c"
        source.write_text(text)
        command = [*compiler(part.cc), *words_of(part), *ALWAYS, *part.flags, "-g0", "-S", str(source), "-o", "-"]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
