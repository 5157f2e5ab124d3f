"""What a course might ask for: tasks of about a hundred instructions, with nested decisions, loops and procedures."""

from __future__ import annotations

from minicompiler.source import parse
from minicompiler.tree import Program

_DAYS = """
def leap(year):
    r = 0
    if year % 4 == 0:
        r = 1
        if year % 100 == 0:
            if year % 400 != 0:
                r = 0
    return r
def main(a, b):
    r = -1
    if b >= 1:
        if b <= 12:
            r = 30
            if b == 2:
                r = 28 + leap(a)
            else:
                if b > 7:
                    b = b + 1
                if b % 2 == 1:
                    r = 31
    return r
"""

_FEE = """
def clamp(x, low, high):
    if x < low:
        x = low
    if x > high:
        x = high
    return x
def main(a, b):
    fee = 0
    if a > 15:
        hours = (a - 1) / 60 + 1
        if b >= 5:
            fee = clamp(hours * 150, 300, 900)
        else:
            fee = clamp(hours * 250, 250, 40000)
        i = 0
        while i < b % 3:
            fee = fee - fee / 10
            i = i + 1
    return fee
"""

_POWER = """
def scaled(x, y):
    r = x * y
    if r > 100000:
        r = r - 65537
    return r
def main(a, b):
    r = 1
    i = 0
    if b < 0:
        r = 0
        if a == 1:
            r = 1
        if a == -1:
            r = 1 - b % 2 * b % 2 * 2
    else:
        while i < b % 5:
            r = scaled(r, a)
            i = i + 1
    return r
"""

_GRADE = """
def grade(points):
    r = 5
    if points >= 90:
        r = 1
    else:
        if points >= 75:
            r = 2
        else:
            if points >= 50:
                r = 4
    return r
def bonus(points, extra):
    if extra > 0:
        points = points + extra / 2
    return points
def main(a, b):
    best = grade(bonus(a, b))
    i = 0
    while i < 2:
        if grade(a + i * b) < best:
            best = grade(a + i * b)
        i = i + 1
    return best * 100 - (a - (b - 1))
"""

TASKS: tuple[Program, ...] = tuple(parse(text) for text in (_DAYS, _FEE, _POWER, _GRADE))
