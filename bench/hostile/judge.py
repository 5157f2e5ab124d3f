"""What is wrong with an answer, in one sentence; empty where nothing is."""

from __future__ import annotations

import json

from hostile.case import Case, Damaged, Expect
from hostile.fingerprint import fingerprint
from hostile.runner import SECONDS_LIMIT, Answer

MEMORY_LIMIT = 1 << 30
EQUIVALENT, DIFFERENT, TROUBLE, OPEN = 0, 1, 2, 3
_VERDICTS = {"equivalent": EQUIVALENT, "different": DIFFERENT, "bounded": OPEN, "unknown": OPEN}


def wrong(case: Case, answer: Answer) -> str:
    if answer.died:
        return answer.died
    if answer.trace:
        return f"a traceback: {answer.trace.strip().splitlines()[-1]}"
    if answer.executed:
        return f"something was executed: {answer.executed[0]}"
    if answer.peak > MEMORY_LIMIT:
        return f"{answer.peak >> 20} MiB of memory"
    if answer.seconds > SECONDS_LIMIT and answer.processor > SECONDS_LIMIT:
        return f"{answer.processor:.1f} s of processor time"
    return _wrong_words(answer, "--json" in case.words) or _wrong_verdict(case, answer)


def _wrong_words(answer: Answer, json_asked: bool) -> str:
    if answer.code not in (EQUIVALENT, DIFFERENT, TROUBLE, OPEN):
        return f"exit code {answer.code}"
    if _unprintable(answer.out + answer.err):
        return "control characters reach the terminal"
    if answer.code != TROUBLE:
        return f"stderr has {answer.err[:200]!r}" if answer.err else "" if answer.out.strip() else "no output"
    if json_asked and _sentence_in_object(answer.out) != answer.err.removeprefix("isoform: ").rstrip("\n"):
        return f"exit code 2, but stdout is not one object with the same complaint: {answer.out[:300]!r}"
    if answer.out and not json_asked:
        return "exit code 2, but there is text on stdout"
    if answer.err.count("\n") != 1 or not answer.err.startswith("isoform: "):
        return f"the complaint is not one line: {answer.err[:300]!r}"
    if answer.err.rstrip()[-1] not in ".?!…":
        return f"the complaint is no sentence: {answer.err[:300]!r}"
    return ""


def _sentence_in_object(out: str) -> str:
    try:
        found = json.loads(out)
    except ValueError:
        return ""
    return str(found["error"]) if isinstance(found, dict) and list(found) == ["error"] else ""


def _unprintable(text: str) -> bool:
    return any((ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 for c in text)


def _wrong_verdict(case: Case, answer: Answer) -> str:
    if "--json" in case.words and answer.code != TROUBLE:
        try:
            word = json.loads(answer.out)["verdict"]
        except (ValueError, KeyError, TypeError):
            return "what --json printed is not one object with a verdict"
        if _VERDICTS.get(word) != answer.code:
            return f"verdict {word} with exit code {answer.code}"
    if answer.code != EQUIVALENT:
        return ""
    if case.expect is Expect.NEVER_EQUIVALENT:
        return "equivalent, though the two functions differ"
    if case.expect is Expect.NEVER_CONFIRMED:
        return "a damaged certificate was confirmed"
    if case.expect is Expect.SAME_CODE:
        contents = [file.content for file in case.files.values() if isinstance(file, Damaged)]
        if len({repr(fingerprint(data, case.function, case.original)) for data in (case.original, *contents)}) > 1:
            return "equivalent, though the damage changed the function or what it refers to"
    return ""
