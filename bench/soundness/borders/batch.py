"""Border cases by number, and the runs of a batch of them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

from soundness.borders import calls, data, effects, linking, names, pointers, recursion, unlabelled
from soundness.borders.case import Case, Part, drawn_parts
from soundness.borders.judge import judge_case
from soundness.judge import Judged

Make = Callable[[Random], Case]
TOPICS: dict[str, tuple[Make, int]] = {
    "call": (calls.call, 5),
    "formatted": (calls.formatted, 2),
    "variadic": (calls.variadic, 2),
    "no-prototype": (calls.no_prototype, 2),
    "other-prototype": (calls.other_prototype, 1),
    "pointer-parameter": (calls.through_parameter, 2),
    "padding": (calls.padding_in_memory, 1),
    "narrow-result": (calls.narrow_result, 1),
    "function-address": (pointers.function_addresses, 5),
    "callback": (pointers.callbacks, 1),
    "initial-pointer": (pointers.initial_pointer, 1),
    "contents": (data.contents, 5),
    "same-contents": (data.same_contents, 1),
    "past-objects": (data.past_objects, 1),
    "placement": (linking.placement, 2),
    "symbols": (linking.symbols, 3),
    "recursion": (recursion.recursion, 4),
    "reused": (names.reused, 3),
    "no-return": (names.not_returning, 2),
    "library": (names.library, 2),
    "allocated": (names.allocated, 1),
    "floats": (unlabelled.floats, 2),
    "without-debug": (unlabelled.without_debug, 2),
    "assembly": (unlabelled.assembly, 2),
    "frames": (unlabelled.frames, 2),
    "ifunc": (linking.resolved, 1),
    "seen": (effects.seen, 4),
    "given": (effects.given, 2),
    "own-variadic": (effects.own_variadic, 1),
    "options": (effects.options, 3),
    "direct": (effects.direct, 2),
    "helpers": (effects.helpers, 1),
}
"""By name: what makes a case, and how often it is drawn."""


def border_case(
    number: int, index: int, seed: int, compilers: tuple[str, ...], topic: str = ""
) -> tuple[Case, tuple[Part, Part]]:
    random = Random(f"{seed} border {number} {index}")
    drawn = random.choices(list(TOPICS), [weight for _, weight in TOPICS.values()])[0]
    case = TOPICS[topic or drawn][0](random)
    return case, drawn_parts(case, random, compilers)


def run_border(
    number: int, index: int, seed: int, compilers: tuple[str, ...], budget: float, topic: str = ""
) -> tuple[Case, tuple[Part, Part], Judged]:
    case, parts = border_case(number, index, seed, compilers, topic)
    with tempfile.TemporaryDirectory(prefix="isoform-borders-") as folder:
        judged = judge_case(case, parts, Path(folder), f"b{number}.{index}", budget)
    return case, parts, judged
