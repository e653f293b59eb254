"""Problems that differ in their numbers and quoted texts alone are of one kind."""

from __future__ import annotations

import re

#: The parts in which problems of one kind differ: quoted texts, sizes, addresses, other numbers. A
#: number in a word (int32, UTF-8) and one of a version (v7, TLS 1.3) stay, and an apostrophe is no
#: quote.
_PARTICULARS = re.compile(
    r"""(?<!\w)"[^"]*"(?!\w)|(?<!\w)'[^']*'(?!\w)"""
    r"""|(?<![\w.])(?<![A-Za-z]-)(?:\d+\.\d+(?= [kM]B)|\d+(?:\.\d+){2,}|\d+)(?!\w|\.\w)""",
    re.ASCII,
)
_PLACE = re.compile(r"at byte \d+: ")


def kind_of(problem: str) -> str:
    """The problem with … for each number and quoted text, and without the place in front."""
    start = _PLACE.match(problem)
    return without_particulars(problem[start.end() :] if start else problem)


def without_particulars(problem: str) -> str:
    """The problem with … for each number and quoted text."""
    return _PARTICULARS.sub("…", problem)
