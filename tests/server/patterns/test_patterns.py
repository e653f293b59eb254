"""Patterns match what RE2J's do, refuse what it refuses, and never take long."""

from __future__ import annotations

import contextlib
import time
from base64 import b64encode
from collections.abc import Sequence
from random import Random

import pytest

from kafka_admin_proto.server.patterns import Pattern, PatternError
from tests.helpers.profile import draws
from tests.helpers.release_tool import ReleaseTool

_SEED = 5
_PARTS = (
    "a", "b", "orders", "-", ".", "x.y", "é", "_", "1", "a*", "b+", "(a|b)", "(?:ab)?", "[ab]",
    "[^a]", "[a-c.]",
    "[[:alpha:]]", "[[:^digit:]]", "\\d", "\\w+", "\\S", "\\W", "^", "$", "\\b", "\\B", "\\A",
    "\\z", "a{2}",
    "b{1,2}", "b{0,}", "{", "a{,2}", "}", "|", "(?i)", "(?i:aB)", "(?s).", "(?P<n>a)",
    "\\Qa.b\\E", "\\x61", "\\x{62}",
    "\\101", "\\.", "\\pL", "\\p{Lu}", "\\PN", "\\p{^L}", "[\\d\\-a]", "[]a]", "[^]a]", "a*?",
    "b??", "()", "(?m)^", "(?m)$", "(?U)a+", "\\n", "\\Qa", "\\p{Any}", "{*", "[[:]",
)  # fmt: skip
_WRONG = (
    "(", ")", "*", "a**", "[", "[b-a]", "\\", "\\1", "(?=a)", "(?<=a)", "\\Z",
    "(?P<a>b)(?P<a>c)", "[[:nope:]]", "a{1001}",
    "a{3,2}", "(?z)", "\\p{Nope}", "(a", "a)", "+", "?a", "(?", "(?P<>a)", "\\x{zz}", "\\xg",
    "[a-", "x{2}{3}", "a+*",
    "(?P=n)", "(?P<n", "\\8", "|*", "^*", "(|a)*", "(?i", "(?i-)", "(?-)", "[a-\\d]", "[\\",
    "\\pq", "a{1,1001}",
    "\\k", "\\_", "\\é", "[a--b]", "(?:", "(?i)(?-i)a", "a{01}", "(?im-s:a)", "(?--i)", "(?)",
    "(?:)", "(?<n>a)", "\\p", "\\p{L", "\\p{^^L}", "\\x{110000}", "[[:\\d:]]", "[[:^\\d:]]", "{?",
    "a{,2}{2}",
)  # fmt: skip
#: What stands in brackets, and characters that have a meaning somewhere.
_IN_SETS = (
    "a", "z", "-", "^", "]", "[", ":", "\\d", "\\W", "\\pL", "\\p{^N}", "[:alpha:]", "[:^digit:]",
    "[:x", "[:Lu:]", "[:]", "\\x41", "\\Q", "\\b", "\\-", "\\]", "A-Z", "0-9", "é",
)  # fmt: skip
_SIGNS = (*"()[]{}*+?|^$.\\-:<>PpQEabAZdwSWBzxUim0178,= é", "(?", "[:", ":]", "\\p{", "\\x{")
_TEXTS = (
    "", "a", "A", "b", "ab", "aB", "orders", "a.b", "x.y", "bb", "aa", "a-b", "1", "é", "É", "_",
    "\n", "a\n", "{", "}",
    "a{,2}", "aab", "abab", "orders-1", "-", "K", "\u212a",
)  # fmt: skip


def _drawn(count: int) -> list[str]:
    """Patterns of parts, of a set in brackets, and of signs, most of which are wrong."""
    random = Random(_SEED)

    def some(parts: Sequence[str]) -> str:
        return "".join(random.choices(parts, k=random.randint(1, 5)))

    def some_set() -> str:
        return f"{random.choice(('', '(?i)'))}[{some(_IN_SETS)}]*"

    drawn = ((some(_PARTS), some_set(), some(_SIGNS)) for _ in range(count // 3))
    return [each for three in drawn for each in three]


def _answer(text: str) -> str:
    try:
        pattern = Pattern(text)
    except PatternError as error:
        return f"! {error}"
    return "".join("01"[pattern.matches(each)] for each in _TEXTS)


def _word(text: str) -> str:
    return "." + b64encode(text.encode()).decode()


@pytest.mark.exhaustive
def test_as_re2j() -> None:
    patterns = [*_PARTS, *_WRONG, *_drawn(draws(1500))]
    with contextlib.closing(ReleaseTool("Patterns.java", "4.4")) as tool:
        theirs = tool.ask([" ".join(map(_word, (each, *_TEXTS))) for each in patterns])
    ours = map(_answer, patterns)
    different = [each for each in zip(patterns, theirs, ours, strict=True) if each[1] != each[2]]
    assert not different


@pytest.mark.parametrize(
    "text", ["(a*)*b", "(a|a)*b", "(a|aa)+b", "a{0,900}a{0,90}b", "(.*)(.*)(.*)b"]
)
def test_none_takes_long(text: str) -> None:
    started = time.monotonic()
    assert not Pattern(text).matches("a" * 249)
    assert time.monotonic() - started < 5


def test_what_would_take_long_is_refused() -> None:
    with pytest.raises(PatternError, match="invalid repeat count"):
        Pattern("(a{100}){100}")
    with pytest.raises(PatternError, match="invalid repeat count"):
        Pattern("a{1000}" * 30)
    with pytest.raises(PatternError, match="nests too deeply"):
        Pattern("(" * 101 + ")" * 101)
    with pytest.raises(PatternError, match="it takes too long"):
        Pattern("[\\pL]" * 100)
    pattern = Pattern("(.{0,500}a){2}")
    texts = (f"{number:a>249}" for number in range(100_000))
    with pytest.raises(PatternError, match="it takes too long"):
        next(filter(pattern.matches, texts))


def test_a_text_of_many_characters() -> None:
    text = "".join(map(chr, range(0x4E00, 0x4E00 + 6000)))
    pattern = Pattern(".*a")
    assert (pattern.matches(text + "a"), pattern.matches(text)) == (True, False)
