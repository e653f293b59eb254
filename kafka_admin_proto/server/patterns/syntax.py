"""Parse the syntax of RE2, as Java's RE2J has it, into a tree of nodes.

Scripts (``\\p{Greek}``) are not known; general categories of characters are.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from kafka_admin_proto.server.patterns.characters import (
    LAST,
    Characters,
    in_any_case,
    known_class,
)

#: The most times that something may be repeated, all repeats around it included.
_MOST_REPEATS = 1000
#: So deep groups may be nested.
_DEEPEST = 100
#: So many ranges the sets of a pattern may be made of, and letters whose other cases they have.
_MOST_RANGES = 50_000
_ESCAPED = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
_ALL = Characters((0,), (LAST,))
_ALMOST_ALL = Characters((0, 11), (9, LAST))
_COUNTED = re.compile(r"\{(0|[1-9][0-9]*)(,(0|[1-9][0-9]*)?)?\}")

Where = Literal["text-start", "text-end", "line-start", "line-end", "word", "no-word"]


class PatternError(ValueError):
    """A text that is no pattern, with RE2J's description of the fault."""


class OneOf(msgspec.Struct, frozen=True):
    """One of these characters."""

    characters: Characters


class Assertion(msgspec.Struct, frozen=True):
    """A place in the text."""

    where: Where


class Sequence(msgspec.Struct, frozen=True):
    """Nodes one behind the other."""

    nodes: tuple[Node, ...]


class Choice(msgspec.Struct, frozen=True):
    """One of several nodes."""

    nodes: tuple[Node, ...]


class Repeat(msgspec.Struct, frozen=True):
    """A node so often; ``most`` is None for any number."""

    node: Node
    least: int
    most: int | None


Node = OneOf | Assertion | Sequence | Choice | Repeat


class _Flags(msgspec.Struct, frozen=True):
    """i: letters of any case, m: lines, s: dots match newlines, U: lazy repeats, as others."""

    i: bool = False
    m: bool = False
    s: bool = False
    U: bool = False


def parse(text: str) -> Node:
    """The tree of a pattern. Raises PatternError."""
    parser = _Parser(text)
    node = parser.choice(0)
    if not parser.at_end:
        raise PatternError("regexp/syntax: internal error")
    if _repeats(node) > _MOST_REPEATS:
        raise PatternError("invalid repeat count")
    return node


def _repeats(node: Node) -> int:
    """The greatest product of repeats in each other."""
    if isinstance(node, Repeat):
        return max(node.least, node.most or 0, 1) * _repeats(node.node)
    if isinstance(node, Sequence | Choice):
        return max((_repeats(each) for each in node.nodes), default=1)
    return 1


class _Parser:
    """The text and the place in it; flags hold until the end of their group."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._flags = _Flags()
        self._names: set[str] = set()
        self._ranges = 0

    @property
    def at_end(self) -> bool:
        return self._at >= len(self._text)

    def _peek(self, text: str) -> bool:
        return self._text.startswith(text, self._at)

    def _take(self, text: str) -> bool:
        is_next = self._peek(text)
        self._at += len(text) if is_next else 0
        return is_next

    def _next(self) -> str:
        self._at += 1
        return self._text[self._at - 1]

    def _take_until(self, end: str) -> str | None:
        """Take the text up to ``end``, and ``end`` with it; None where ``end`` does not follow."""
        end_at = self._text.find(end, self._at)
        if end_at < 0:
            return None
        text = self._text[self._at : end_at]
        self._at = end_at + len(end)
        return text

    def choice(self, depth: int) -> Node:
        """Alternatives, up to the end or the ``)`` of their group."""
        if depth > _DEEPEST:
            raise PatternError("expression nests too deeply")
        flags = self._flags
        branches = [self._sequence(depth)]
        while self._take("|"):
            branches.append(self._sequence(depth))
        self._flags = flags
        return branches[0] if len(branches) == 1 else Choice(tuple(branches))

    def _sequence(self, depth: int) -> Node:
        nodes: list[Node] = []
        #: Whether the last node may be repeated, and whether it is already.
        repeatable, is_repeated = False, False
        while not self.at_end and not self._peek("|") and not self._peek(")"):
            repeat = self._repeat()
            if repeat is not None:
                if not repeatable:
                    raise PatternError("missing argument to repetition operator")
                if is_repeated:
                    raise PatternError("invalid nested repetition operator")
                nodes[-1] = Repeat(nodes[-1], *repeat)
                is_repeated = True
                continue
            is_repeated = self._peek("{")  # braces that count nothing cannot be repeated either
            atom = self._atom(depth)
            repeatable = bool(atom) or repeatable
            nodes += atom
        return nodes[0] if len(nodes) == 1 else Sequence(tuple(nodes))

    def _repeat(self) -> tuple[int, int | None] | None:
        """(least, most) of a repeat; None for anything else."""
        bounds: tuple[int, int | None] | None
        if self._take("*"):
            bounds = 0, None
        elif self._take("+"):
            bounds = 1, None
        elif self._take("?"):
            bounds = 0, 1
        else:
            bounds = self._counted()
        if bounds is not None:
            self._take("?")
        return bounds

    def _counted(self) -> tuple[int, int | None] | None:
        """``{2}``, ``{2,}`` or ``{2,3}``; other braces stand for themselves."""
        match = _COUNTED.match(self._text, self._at)
        if match is None:
            return None
        least = int(match[1][:5])
        most = (int(match[3][:5]) if match[3] else None) if match[2] else least
        if max(least, most or 0) > _MOST_REPEATS or (most is not None and least > most):
            raise PatternError("invalid repeat count")
        self._at = match.end()
        return least, most

    def _atom(self, depth: int) -> list[Node]:
        """One node, several literal characters, or nothing for a group of flags alone."""
        if self._take("("):
            return self._group(depth)
        if self._take("["):
            return [OneOf(self._set())]
        char = self._next()
        if char == ".":
            return [OneOf(_ALL if self._flags.s else _ALMOST_ALL)]
        if char == "^":
            return [Assertion("line-start" if self._flags.m else "text-start")]
        if char == "$":
            return [Assertion("line-end" if self._flags.m else "text-end")]
        if char != "\\":
            return [self._literal(ord(char))]
        return self._escape()

    def _literal(self, code: int) -> OneOf:
        return OneOf(in_any_case(code) if self._flags.i else Characters((code,), (code,)))

    def _escape(self) -> list[Node]:
        if self.at_end:
            raise PatternError("trailing backslash at end of expression")
        places: dict[str, Where] = {
            "A": "text-start", "z": "text-end", "b": "word", "B": "no-word",
        }  # fmt: skip
        for char, where in places.items():
            if self._take(char):
                return [Assertion(where)]
        if self._take("Q"):
            quoted = self._take_until("\\E")
            if quoted is None:
                quoted, self._at = self._text[self._at :], len(self._text)
            return [self._literal(ord(each)) for each in quoted]
        characters = self._class()
        if characters is not None:
            return [OneOf(characters)]
        return [self._literal(self._character())]

    def _class(self) -> Characters | None:
        """The characters of ``\\d``, ``\\pL`` and the like behind a backslash."""
        char = self._text[self._at]
        if char.lower() in "dsw":
            self._at += 1
            return self._known("\\" + char.lower(), others=char.isupper())
        if char not in "pP":
            return None
        self._at += 1
        if self.at_end:
            raise PatternError("invalid character class range")
        name: str | None = self._next()
        if name == "{":
            name = self._take_until("}")
            if name is None:
                raise PatternError("invalid character class range")
        assert name is not None
        others = (char == "P") != name.startswith("^")
        return self._known("\\p" + name.removeprefix("^"), others=others)

    def _known(self, name: str, *, others: bool) -> Characters:
        """Characters with a name, or all others, of any case if the flags say so."""
        characters = known_class(name, any_case=self._flags.i, others=others)
        if characters is None:
            raise PatternError("invalid character class range")
        return characters

    def _character(self) -> int:
        char = self._next()
        if char in _ESCAPED:
            return _ESCAPED[char]
        if char in "1234567" and not (not self.at_end and self._text[self._at] in "01234567"):
            raise PatternError("invalid escape sequence")  # a reference to a group
        if char in "01234567":
            digits = char
            while not self.at_end and len(digits) < 3 and self._text[self._at] in "01234567":
                digits += self._next()
            return int(digits, 8)
        if char == "x":
            return self._hexadecimal()
        if not (char.isascii() and char.isalnum()):
            return ord(char)
        raise PatternError("invalid escape sequence")

    def _hexadecimal(self) -> int:
        if self._take("{"):
            digits = self._take_until("}") or ""
        else:
            digits = self._text[self._at : self._at + 2]
            self._at += 2
            if len(digits) < 2:
                digits = ""
        known = "0123456789abcdefABCDEF"
        if not 0 < len(digits) <= 8 or any(each not in known for each in digits):
            raise PatternError("invalid escape sequence")
        if int(digits, 16) > LAST:
            raise PatternError("invalid escape sequence")
        return int(digits, 16)

    def _group(self, depth: int) -> list[Node]:
        flags = self._flags
        if self._take("?P<") or self._take("?<"):
            name = self._take_until(">")
            if not name or not (name.isascii() and name.replace("_", "a").isalnum()):
                raise PatternError("invalid named capture")
            if name in self._names:
                raise PatternError("duplicate capture group name")
            self._names.add(name)
        elif self._take("?") and self._new_flags():
            return []
        node = self.choice(depth + 1)
        if not self._take(")"):
            raise PatternError("missing closing )")
        self._flags = flags
        return [node]

    def _new_flags(self) -> bool:
        """Flags behind ``(?``; whether no group follows, but they hold for the one around them."""
        value, is_empty = True, True
        while not self.at_end:
            char = self._next()
            if char in "imsU":
                self._flags = msgspec.structs.replace(self._flags, **{char: value})
                is_empty = False
            elif char == "-" and value:
                value, is_empty = False, True
            elif char in ":)" and not (is_empty and (char == ")" or not value)):
                return char == ")"
            elif char == ")" and value:
                return True
            else:
                break
        raise PatternError("invalid or unsupported Perl syntax")

    def _set(self) -> Characters:
        others = self._take("^")
        ranges: list[tuple[int, int]] = []
        is_first = True
        while is_first or not self._peek("]"):
            if self.at_end:
                raise PatternError("missing closing ]")
            is_first = False
            characters = self._named_class()
            if characters is None:
                low = high = self._set_character()
                if self._peek("-") and not self._peek("-]"):
                    self._at += 1
                    high = self._set_character()
                    if high < low:
                        raise PatternError("invalid character class range")
                characters = Characters((low,), (high,))
                if self._flags.i:
                    self._count(len(characters.cased()))
                    characters = characters.in_any_case()
            self._count(len(characters.firsts))
            ranges += characters.ranges()
        self._at += 1
        made = Characters.of(ranges)
        return made.others() if others else made

    def _count(self, ranges: int) -> None:
        self._ranges += ranges
        if self._ranges > _MOST_RANGES:
            raise PatternError("it takes too long")

    def _named_class(self) -> Characters | None:
        """``[:alpha:]`` or a class behind a backslash."""
        end = self._text.find(":]", self._at) if self._peek("[:") else -1
        if end >= 0:
            name = self._text[self._at + 2 : end]  # of "[:]" nothing
            self._at = end + 2
            if "\\" in name:
                raise PatternError("invalid character class range")
            return self._known(name.removeprefix("^"), others=name.startswith("^"))
        if self._peek("\\") and self._at + 1 < len(self._text):
            self._at += 1
            characters = self._class()
            self._at -= characters is None
            return characters
        return None

    def _set_character(self) -> int:
        if self.at_end:
            raise PatternError("missing closing ]")
        char = self._next()
        if char != "\\":
            return ord(char)
        if self.at_end:
            raise PatternError("trailing backslash at end of expression")
        return self._character()
