"""Sets of characters, as ranges of code points: classes, categories, letters of both cases."""

from __future__ import annotations

import unicodedata
from functools import cache

#: (first, last) of each range, in any order.
Ranges = tuple[tuple[int, int], ...]

_LAST = 0x10FFFF
#: No character from here on has cases.
_CASED_BEFORE = 0x1E944
_DIGITS: Ranges = ((0x30, 0x39),)
_UPPER: Ranges = ((0x41, 0x5A),)
_LOWER: Ranges = ((0x61, 0x7A),)
_BLANKS: Ranges = ((9, 10), (12, 13), (32, 32))


def negated(ranges: Ranges) -> Ranges:
    """All other characters."""
    found = []
    start = 0
    for low, high in sorted(ranges):
        if low > start:
            found.append((start, low - 1))
        start = max(start, high + 1)
    if start <= _LAST:
        found.append((start, _LAST))
    return tuple(found)


_WORD: Ranges = (*_DIGITS, *_UPPER, (0x5F, 0x5F), *_LOWER)
#: Behind a backslash; the capital letter is all others.
SHORT_CLASSES: dict[str, Ranges] = {"d": _DIGITS, "s": _BLANKS, "w": _WORD}
#: Within brackets and colons.
NAMED_CLASSES: dict[str, Ranges] = {
    "alnum": (*_DIGITS, *_UPPER, *_LOWER), "alpha": (*_UPPER, *_LOWER), "ascii": ((0, 0x7F),),
    "blank": ((9, 9), (32, 32)), "cntrl": ((0, 0x1F), (0x7F, 0x7F)), "digit": _DIGITS,
    "graph": ((0x21, 0x7E),), "lower": _LOWER, "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((9, 13), (32, 32)), "upper": _UPPER, "word": _WORD,
    "xdigit": (*_DIGITS, (0x41, 0x46), (0x61, 0x66)),
}  # fmt: skip


@cache
def category(name: str) -> Ranges | None:
    """The characters of a general category (``L``, ``Nd``), or ``Any``; None for another name."""
    if name == "Any":
        return ((0, _LAST),)
    found: list[tuple[int, int]] = []
    if not 0 < len(name) < 3:
        return None
    for code in range(_LAST + 1):
        if unicodedata.category(chr(code)).startswith(name):
            if found and found[-1][1] == code - 1:
                found[-1] = (found[-1][0], code)
            else:
                found.append((code, code))
    return tuple(found) or None


def folded(ranges: Ranges) -> Ranges:
    """With the other cases of each letter."""
    found = list(ranges)
    for letters in _letters():
        if any(low <= each <= high for low, high in ranges for each in letters):
            found += [(each, each) for each in letters]
    return tuple(found)


@cache
def _letters() -> list[list[int]]:
    """Letters that are equal but for their case, of all scripts that have cases."""
    found: dict[str, list[int]] = {}
    for code in range(_CASED_BEFORE):
        char = chr(code).upper().lower()
        if len(char) == 1:
            found.setdefault(char, []).append(code)
    return [each for each in found.values() if len(each) > 1]
