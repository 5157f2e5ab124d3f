"""From the text of `--assume` to a precondition: C expressions, and facts such as `p[0..n] disjoint q[0..m]`."""

from __future__ import annotations

import itertools
import re
from typing import Any

from isoform.borders.precondition.elaborate import Elaborator
from isoform.borders.precondition.evaluate import Precondition
from isoform.borders.precondition.tree import Condition, Disjoint, Every, Index, Range
from isoform.load.c_text import Source, cleaned, parse_c, printable
from isoform.model.signature import Signature
from isoform.model.values import dataclass

LONGEST_PRECONDITION = 4096
DEEPEST_NESTING = 64
"""Levels of a C expression. Evaluation recurses a few frames a level."""

SOURCE = Source(
    "--assume", 'a C condition over the parameters such as "0 <= x && x <= 255"', limit=LONGEST_PRECONDITION
)

_TOKEN = re.compile(r"[A-Za-z_$][\w$]*|[0-9]\w*|'(?:\\.|[^'\\])+'|&&|\|\||\.\.+|\S")
_CLOSING = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True)
class Token:
    text: str
    start: int
    depth: int
    """How many brackets it is in; a bracket itself is outside."""


@dataclass(frozen=True)
class TextSpan:
    """A part of the text, by columns."""

    start: int
    end: int


def read_precondition(text: str, signature: Signature, word_bits: int) -> Precondition:
    return _Reader(cleaned(SOURCE, text), signature, word_bits).read()


class _Reader:
    def __init__(self, text: str, signature: Signature, word_bits: int) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._elaborator = Elaborator(SOURCE, signature, word_bits)
        self._parameters = {parameter.name for parameter in signature.parameters}

    def read(self) -> Precondition:
        try:
            expression = self._whole()
        except RecursionError:
            raise SOURCE.error("is nested too deeply; write it with fewer brackets") from None
        elaborator = self._elaborator
        widths = tuple(sorted(elaborator.widths.items()))
        return Precondition(self._text.strip(), expression, widths, elaborator.reads_memory)

    def _whole(self) -> Condition:
        facts = [token for token in self._tokens if self._is_fact(token)]
        if not facts:
            return self._condition(TextSpan(0, len(self._text)))
        for token in self._tokens:
            if token.text in ("||", "?") and token.depth == 0:
                raise SOURCE.error(
                    f"joins 'disjoint' with '{token.text}' at column {token.start + 1}; only && can join it"
                )
        if any(token.depth for token in facts):
            raise SOURCE.error("has 'disjoint' inside brackets; write it without, joined by && to the rest")
        parts = [part for span in self._split("&&") for part in self._part(span, facts)]
        return Every(tuple(parts))

    def _is_fact(self, token: Token) -> bool:
        return token.text == "disjoint" and token.text not in self._parameters

    def _split(self, separator: str) -> list[TextSpan]:
        """The text between the separators that are in no brackets."""
        cuts = [token for token in self._tokens if token.text == separator and token.depth == 0]
        starts = [0, *(token.start + len(separator) for token in cuts)]
        ends = [*(token.start for token in cuts), len(self._text)]
        return [TextSpan(start, end) for start, end in zip(starts, ends, strict=True)]

    def _part(self, span: TextSpan, facts: list[Token]) -> list[Condition]:
        inside = [token for token in facts if span.start <= token.start < span.end]
        if not inside:
            return [self._condition(span)]
        starts = [span.start, *(token.start + len(token.text) for token in inside)]
        ends = [*(token.start for token in inside), span.end]
        ranges = [self._range(TextSpan(start, end)) for start, end in zip(starts, ends, strict=True)]
        return [Disjoint(left, right) for left, right in itertools.combinations(ranges, 2)]

    def _range(self, span: TextSpan) -> Range:
        """`base[low..high]`."""
        tokens = [token for token in self._tokens if span.start <= token.start < span.end]
        outer = min((token.depth for token in tokens), default=0)
        opening = [token for token in tokens if token.text == "[" and token.depth == outer]
        dots = [token for token in tokens if token.text == ".." and token.depth == outer + 1]
        if not opening or tokens[-1].text != "]" or len(dots) != 1 or dots[0].start < opening[-1].start:
            shown = printable(self._text[span.start : span.end].strip())
            raise SOURCE.error(f"has '{shown}' beside 'disjoint', which is no range of elements; write p[0..n]")
        low = self._index(TextSpan(opening[-1].start + 1, dots[0].start))
        high = self._index(TextSpan(dots[0].start + 2, tokens[-1].start))
        base, bits, element = self._elaborator.buffer(self._expression(TextSpan(span.start, opening[-1].start)))
        return Range(base, bits, low, high, element)

    def _index(self, span: TextSpan) -> Index:
        return self._elaborator.index(self._expression(span))

    def _condition(self, span: TextSpan) -> Condition:
        return self._elaborator.condition(self._expression(span))

    def _expression(self, span: TextSpan) -> Any:
        """pycparser's tree of a part of the text, with columns of the whole."""
        part = " " * span.start + self._text[span.start : span.end]
        if not part.strip():
            raise SOURCE.does_not_parse(f"at column {span.start + 1}: something is missing there")
        tree = parse_c(SOURCE, "void precondition(void){return", part, ";}")
        expression = tree.ext[-1].body.block_items[0].expr
        if _nesting(expression) > DEEPEST_NESTING:
            raise SOURCE.error("is nested too deeply; write it as several --assume options")
        return expression


def _tokens(text: str) -> list[Token]:
    """The tokens with their depth, brackets checked to match. A text that passes is one expression or none: it
    cannot close what `parse_c` puts around it."""
    found: list[Token] = []
    opened: list[str] = []
    for match in _TOKEN.finditer(text):
        word = match[0]
        if word in (";", "{", "}"):
            raise SOURCE.does_not_parse(f"at column {match.start() + 1}, before '{word}'")
        if word in _CLOSING and (not opened or opened.pop() != _CLOSING[word]):
            raise SOURCE.does_not_parse(f"at column {match.start() + 1}: nothing is open that '{word}' closes")
        found.append(Token(word, match.start(), len(opened)))
        if word in _CLOSING.values():
            opened.append(word)
    if opened:
        raise SOURCE.does_not_parse(f"because a '{opened[-1]}' is never closed")
    return found


def _nesting(expression: Any) -> int:
    """Levels of a tree, a chain of && or of || counting as one. No recursion: the tree may be very deep."""
    deepest, pending = 0, [(expression, 1)]
    while pending:
        node, level = pending.pop()
        deepest = max(deepest, level)
        for _, child in node.children():
            chained = getattr(node, "op", None) in ("&&", "||") and getattr(child, "op", None) == node.op
            pending.append((child, level if chained else level + 1))
    return deepest
