"""Regular expressions of RE2 for names that have a prefix: whole names have to match."""

from __future__ import annotations

import re

#: A quotation, an escaped character, a set, or any other character.
_TOKEN = re.compile(
    r"\\Q.*?(?:\\E|\Z) | \\. | \[\^?\]?(?:\[:\^?\w+:\]|\\.|[^]\\])*\] | .", re.DOTALL | re.VERBOSE
)
#: Tokens for the beginning of a name, which a prefix is now in front of, and their replacement.
_BEGINNINGS, _NOTHING = ("^", r"\A"), "(?:)"


class PrefixedPatterns:
    """Patterns with a prefix in front of what they match."""

    def __init__(self, prefix: str) -> None:
        self._front = re.escape(prefix) + "(?:"
        self._quoted = re.compile(rf"{re.escape(self._front)}(.*?)\)(?=[`'\"])", re.DOTALL)

    def add(self, pattern: str) -> str | None:
        """The pattern of names with the prefix.

        None for a pattern whose parentheses do not match, which might otherwise end the group
        behind the prefix, and match names without it.
        """
        depth, tokens = 0, []
        for token in _TOKEN.findall(pattern):
            depth += (token == "(") - (token == ")")
            if depth < 0:
                return None
            tokens.append(_NOTHING if token in _BEGINNINGS else token)
        return None if depth else f"{self._front}{''.join(tokens)})"

    def remove(self, pattern: str) -> str | None:
        """The pattern as its client has given it; None for one without the prefix."""
        if not (pattern.startswith(self._front) and pattern.endswith(")")):
            return None
        return pattern[len(self._front) : -1].replace(_NOTHING, _BEGINNINGS[0])

    def remove_in_text(self, text: str) -> str:
        """A sentence that quotes a pattern, with the pattern as its client has given it."""
        return self._quoted.sub(r"\1", text)
