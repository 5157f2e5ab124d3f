"""For each bug a program on which it shows, and an input that shows it. Most hide it behind a condition that random
inputs hardly ever meet."""

from __future__ import annotations

from dataclasses import dataclass

from minicompiler.bugs import Bug
from minicompiler.source import parse
from minicompiler.tree import Program


@dataclass(frozen=True)
class Case:
    bug: Bug
    program: Program
    witness: tuple[int, int]
    """Inputs on which code compiled with the bug ends otherwise than it should."""


def _case(bug: Bug, witness: tuple[int, int], source: str) -> Case:
    return Case(bug, parse(source), witness)


CASES: tuple[Case, ...] = (
    _case(
        Bug.BRANCH_SENSE,
        (3, 4),
        """
def main(a, b):
    if a == b:
        r = a * 2
    else:
        r = a - b
    return r
""",
    ),
    _case(
        Bug.SUBTRACT_ORDER,
        (1_000_037, 5),
        """
def main(a, b):
    if a > 1000000:
        if a < 1000050:
            b = a - b
    return b
""",
    ),
    _case(
        Bug.LINK_NOT_SAVED,
        (3000, -3000),
        """
def twice(x):
    return x + x
def fourfold(x):
    return twice(twice(x))
def main(a, b):
    r = a + b
    if r == 0:
        if a > 2000:
            if a < 4000:
                r = fourfold(a) + 1
    return r
""",
    ),
    _case(
        Bug.FRAME_OFFSET,
        (77, 1_999_923),
        """
def main(a, b):
    small = 0
    large = 1
    if a + b == 2000000:
        if a < 100:
            if a > 0:
                large = b
                small = a
    return large * 3 - small
""",
    ),
    _case(
        Bug.UNSIGNED_COMPARE,
        (-5, 0),
        """
def main(a, b):
    r = 0
    if b == 0:
        if a < 7:
            r = 1
    return r
""",
    ),
    _case(
        Bug.LOW_FOR_HIGH,
        (41, 12_345_678),
        """
def main(a, b):
    r = a + 1
    if b == 12345678:
        r = (a + b) % 1000
    return r
""",
    ),
    _case(
        Bug.EQUAL_LEFT_OUT,
        (400, 5_000_000),
        """
def main(a, b):
    r = 0
    if a * 12500 <= b:
        if b <= 5000000:
            if a >= 400:
                r = 1
    return r
""",
    ),
    _case(
        Bug.EQUAL_LET_IN,
        (31_337, 62_674),
        """
def largest(x, y):
    if x + x > y:
        y = x + 1
    return y
def main(a, b):
    r = 0
    if a >= 31337:
        if a < 31340:
            r = largest(a, b)
    return r
""",
    ),
    _case(
        Bug.ELSE_NOT_SKIPPED,
        (90, 10),
        """
def main(a, b):
    if a - b == 80:
        if a + b == 100:
            r = 1
        else:
            r = 2
    else:
        r = 2
    return r
""",
    ),
    _case(
        Bug.ARGUMENT_ORDER,
        (7, 700),
        """
def weigh(x, y, z):
    return x * 100 + y * 10 + z
def main(a, b):
    r = 0
    if a * 100 == b:
        if a > 5:
            if a < 9:
                r = weigh(a, b, 1)
    return r
""",
    ),
    _case(
        Bug.STALE_AFTER_CALL,
        (-40_000, 40_001),
        """
def square(x):
    return (x + 1) * (x + 1)
def main(a, b):
    r = b
    if a < -39990:
        if a + b == 1:
            r = (a + 3) - square(b)
    return r
""",
    ),
    _case(
        Bug.NESTED_ARGUMENTS,
        (65_536, 2),
        """
def minus(x, y):
    return x - y
def main(a, b):
    r = minus(a, b)
    if r == 65534:
        r = minus(a, minus(b, 1))
    return r
""",
    ),
    _case(
        Bug.REGISTER_NOT_RESTORED,
        (21, 1_000_021),
        """
def middle(x, y):
    half = (x + y) / 2
    if half > x:
        x = half
    return x
def main(a, b):
    kept = 17
    other = 4
    r = b - a
    if r == 1000000:
        other = middle(a, b)
    return other * 2 + kept + r
""",
    ),
    _case(
        Bug.SPILL_SLOT,
        (1234, 1235),
        """
def main(a, b):
    r = 1
    if b - a == 1:
        if a > 1233:
            x = (a + 2) - ((b + 3) - ((a + 4) - ((b + 5) - ((a + 6) - ((b + 7) - ((a + 8) - (b - 9)))))))
            r = x
    return r
""",
    ),
    _case(
        Bug.REGROUPED,
        (99_991, 3),
        """
def main(a, b):
    r = a
    while r > 99990:
        r = r - 99990
        b = a - (b - r)
    return b
""",
    ),
    _case(
        Bug.FOLDED_QUOTIENT_DOWN,
        (10_003, -3),
        """
def main(a, b):
    r = a
    if a + b == 10000:
        if b + 3 == 0:
            r = a * (-7 / 2)
    return r
""",
    ),
    _case(
        Bug.CANCELLED_FACTOR,
        (800_000_000, 0),
        """
def main(a, b):
    if a > 0:
        r = a * 3 / 3
    else:
        r = b
    return r
""",
    ),
    _case(
        Bug.SELF_QUOTIENT,
        (-250_000, 1_000_000),
        """
def main(a, b):
    x = a * 4 + b
    r = 0
    if b > 999999:
        if b < 1000001:
            r = x / x
    return r
""",
    ),
    _case(
        Bug.UNSIGNED_DIVIDE,
        (-100, 100),
        """
def main(a, b):
    r = 0
    if a + b == 0:
        if a < -90:
            if a > -110:
                r = a / 7
    return r
""",
    ),
    _case(
        Bug.REMAINDER_SIGN,
        (100, -7),
        """
def remainder(x, y):
    r = 0
    if y != 0:
        r = x % y
    return r
def main(a, b):
    r = 1
    if a == 100:
        if b > -8:
            if b < 100:
                r = remainder(a, b)
    return r
""",
    ),
    _case(
        Bug.HALF_IMMEDIATE,
        (25_536, 40_000),
        """
def main(a, b):
    r = 0
    if a - b == -14464:
        if b == 40000:
            r = a
    return r
""",
    ),
    _case(
        Bug.LOOP_ONCE,
        (3, 54_321),
        """
def main(a, b):
    i = 0
    r = b
    if b - a == 54318:
        while i < a % 5:
            r = r + r
            i = i + 1
    return r
""",
    ),
    _case(
        Bug.COMPARE_BY_SUBTRACTION,
        (-2_147_483_600, 100),
        """
def main(a, b):
    r = 0
    if b == 100:
        if a < b:
            r = b - 1
    return r
""",
    ),
    _case(
        Bug.LARGE_PRODUCT,
        (11, 22),
        """
def main(a, b):
    r = a - b
    if a * 2 == b:
        if a > 10:
            if a < 13:
                r = a * 100003 - b
    return r
""",
    ),
)
