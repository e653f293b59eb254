"""Sets of characters, as ranges of code points: classes, categories, letters of both cases."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import cache
from itertools import chain, groupby

import msgspec

LAST = 0x10FFFF
#: All characters that have a category of their own; the others are not assigned, or private.
_ASSIGNED = (range(0x34000), range(0xE0000, 0xE0200))
_PRIVATE = ((0xF0000, 0xFFFFD), (0x100000, 0x10FFFD))
#: No character from here on has cases.
_CASED_BEFORE = 0x1E944


class Characters(msgspec.Struct, frozen=True):
    """The first and the last code point of each range, in order; the ranges do not touch."""

    firsts: tuple[int, ...]
    lasts: tuple[int, ...]

    @classmethod
    def of(cls, ranges: Iterable[tuple[int, int]]) -> Characters:
        """The characters of (first, last) ranges in any order."""
        firsts: list[int] = []
        lasts: list[int] = []
        for low, high in sorted(ranges):
            if lasts and low <= lasts[-1] + 1:
                lasts[-1] = max(lasts[-1], high)
            else:
                firsts.append(low)
                lasts.append(high)
        return cls(tuple(firsts), tuple(lasts))

    def __contains__(self, code: int) -> bool:
        index = bisect_right(self.firsts, code) - 1
        return index >= 0 and code <= self.lasts[index]

    def ranges(self) -> Iterable[tuple[int, int]]:
        """(first, last) of each range."""
        return zip(self.firsts, self.lasts, strict=True)

    def others(self) -> Characters:
        starts = (0, *(each + 1 for each in self.lasts))
        ends = (*(each - 1 for each in self.firsts), LAST)
        return Characters.of(each for each in zip(starts, ends, strict=True) if each[0] <= each[1])

    def in_any_case(self) -> Characters:
        """With the other cases of each letter."""
        groups, _ = _letters()
        cases = ((each, each) for code in self.cased() for each in groups[code])
        return Characters.of([*self.ranges(), *cases])

    def cased(self) -> list[int]:
        """Those of them that have other cases."""
        _, cased = _letters()
        return [
            code
            for low, high in self.ranges()
            for code in cased[bisect_left(cased, low) : bisect_right(cased, high)]
        ]


_DIGITS, _UPPER, _LOWER = (0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)
_WORD = (_DIGITS, _UPPER, (0x5F, 0x5F), _LOWER)
#: By how a pattern names them, but for categories.
_CLASSES = {
    r"\d": (_DIGITS,), r"\s": ((9, 10), (12, 13), (32, 32)), r"\w": _WORD,
    "alnum": (_DIGITS, _UPPER, _LOWER), "alpha": (_UPPER, _LOWER), "ascii": ((0, 0x7F),),
    "blank": ((9, 9), (32, 32)), "cntrl": ((0, 0x1F), (0x7F, 0x7F)), "digit": (_DIGITS,),
    "graph": ((0x21, 0x7E),), "lower": (_LOWER,), "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((9, 13), (32, 32)), "upper": (_UPPER,), "word": _WORD,
    "xdigit": (_DIGITS, (0x41, 0x46), (0x61, 0x66)),
    r"\pAny": ((0, LAST),),
}  # fmt: skip


def known_class(name: str, *, any_case: bool, others: bool) -> Characters | None:
    r"""The characters of ``\d``, ``alpha`` or the category ``\pLu``; None for another name."""
    if name in _CLASSES or (name.startswith(r"\p") and name[2:] in _categories()):
        return _known(name, any_case, others)
    return None


@cache
def _known(name: str, any_case: bool, others: bool) -> Characters:
    found = Characters.of(_CLASSES[name] if name in _CLASSES else _categories()[name[2:]])
    if any_case:
        found = found.in_any_case()
    return found.others() if others else found


@cache
def _categories() -> dict[str, list[tuple[int, int]]]:
    """The ranges of each general category (``L``, ``Nd``)."""
    categories: dict[str, list[tuple[int, int]]] = {"Cn": [], "C": []}
    codes = chain.from_iterable(_ASSIGNED)
    for name, group in groupby(codes, lambda code: unicodedata.category(chr(code))):
        ranges = [*_runs(group)]
        categories.setdefault(name, []).extend(ranges)
        categories.setdefault(name[0], []).extend(ranges)
    rest = Characters.of([*((each.start, each.stop - 1) for each in _ASSIGNED), *_PRIVATE]).others()
    for name, ranges in (("Co", [*_PRIVATE]), ("Cn", [*rest.ranges()])):
        categories[name].extend(ranges)
        categories["C"].extend(ranges)
    return categories


def _runs(codes: Iterable[int]) -> Iterable[tuple[int, int]]:
    """Ranges of codes that follow each other."""
    first = last = -1
    for code in codes:
        if code != last + 1 or first < 0:
            if first >= 0:
                yield first, last
            first = code
        last = code
    yield first, last


def in_any_case(code: int) -> Characters:
    """A character with its other cases."""
    groups, _ = _letters()
    return Characters.of((each, each) for each in groups.get(code, (code,)))


@cache
def _letters() -> tuple[dict[int, list[int]], list[int]]:
    """Code point → those that are equal but for their case, itself among them; and all of these."""
    by_folded: dict[str, list[int]] = {}
    for code in range(_CASED_BEFORE):
        char = chr(code).upper().lower()
        if len(char) == 1:
            by_folded.setdefault(char, []).append(code)
    groups = {code: each for each in by_folded.values() if len(each) > 1 for code in each}
    return groups, sorted(groups)
