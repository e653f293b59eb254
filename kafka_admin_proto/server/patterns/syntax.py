"""Parse the syntax of RE2, as Java's RE2J has it, into a tree of nodes.

Scripts (``\\p{Greek}``) are not known; general categories of characters are.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from kafka_admin_proto.server.patterns.characters import (
    NAMED_CLASSES,
    SHORT_CLASSES,
    Ranges,
    category,
    folded,
    negated,
)

#: The most times that something may be repeated, all repeats around it included.
_MOST_REPEATS = 1000
#: So deep groups may be nested.
_DEEPEST = 100
_LAST = 0x10FFFF
_ESCAPED = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
_ALMOST_ALL: Ranges = ((0, 9), (11, _LAST))

Where = Literal["text-start", "text-end", "line-start", "line-end", "word", "no-word"]


class PatternError(ValueError):
    """A text that is no pattern, with RE2J's description of the fault."""


class OneOf(msgspec.Struct, frozen=True):
    """A character of these ranges."""

    ranges: Ranges


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

    @property
    def at_end(self) -> bool:
        """Whether all is read."""
        return self._at >= len(self._text)

    def _peek(self, text: str) -> bool:
        return self._text.startswith(text, self._at)

    def _take(self, text: str) -> bool:
        found = self._peek(text)
        self._at += len(text) if found else 0
        return found

    def _next(self) -> str:
        self._at += 1
        return self._text[self._at - 1]

    def choice(self, depth: int) -> Node:
        """Alternatives, up to the end or the ``)`` of their group."""
        if depth > _DEEPEST:
            raise PatternError("expression nests too deeply")
        flags = self._flags
        found = [self._sequence(depth)]
        while self._take("|"):
            found.append(self._sequence(depth))
        self._flags = flags
        return found[0] if len(found) == 1 else Choice(tuple(found))

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
            found = self._atom(depth)
            is_repeated = False
            repeatable = bool(found) or repeatable
            nodes += found
        return nodes[0] if len(nodes) == 1 else Sequence(tuple(nodes))

    def _repeat(self) -> tuple[int, int | None] | None:
        """(least, most) of a repeat; None for anything else."""
        found: tuple[int, int | None] | None
        if self._take("*"):
            found = 0, None
        elif self._take("+"):
            found = 1, None
        elif self._take("?"):
            found = 0, 1
        else:
            found = self._counted()
        if found is not None:
            self._take("?")
        return found

    def _counted(self) -> tuple[int, int | None] | None:
        """``{2}``, ``{2,}`` or ``{2,3}``; other braces stand for themselves."""
        if not self._peek("{"):
            return None
        end = self._text.find("}", self._at)
        first, comma, last = self._text[self._at + 1 : max(end, self._at + 1)].partition(",")
        if end < 0 or not _is_count(first) or (last and not _is_count(last)):
            return None
        least = int(first[:5])
        most = (int(last[:5]) if last else None) if comma else least
        if max(least, most or 0) > _MOST_REPEATS or (most is not None and least > most):
            raise PatternError("invalid repeat count")
        self._at = end + 1
        return least, most

    def _atom(self, depth: int) -> list[Node]:
        """One node, several literal characters, or nothing for a group of flags alone."""
        if self._take("("):
            return self._group(depth)
        if self._take("["):
            return [OneOf(self._set())]
        char = self._next()
        if char == ".":
            return [OneOf(((0, _LAST),) if self._flags.s else _ALMOST_ALL)]
        if char == "^":
            return [Assertion("line-start" if self._flags.m else "text-start")]
        if char == "$":
            return [Assertion("line-end" if self._flags.m else "text-end")]
        if char != "\\":
            return [self._literal(ord(char))]
        return self._escape()

    def _literal(self, code: int) -> OneOf:
        ranges = ((code, code),)
        return OneOf(folded(ranges) if self._flags.i else ranges)

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
            quoted, _, _ = self._text[self._at :].partition("\\E")
            self._at += len(quoted)
            self._take("\\E")
            return [self._literal(ord(each)) for each in quoted]
        ranges = self._class()
        if ranges is not None:
            return [OneOf(ranges)]
        return [self._literal(self._character())]

    def _class(self) -> Ranges | None:
        """The characters of ``\\d``, ``\\pL`` and the like behind a backslash."""
        char = self._text[self._at]
        if char.lower() in SHORT_CLASSES:
            self._at += 1
            return self._cased(SHORT_CLASSES[char.lower()], wants_others=char.isupper())
        if char not in "pP":
            return None
        self._at += 1
        if self.at_end:
            raise PatternError("invalid character class range")
        name = self._next()
        if name == "{":
            name, brace, _ = self._text[self._at :].partition("}")
            self._at += len(name) + 1
            if not brace:
                raise PatternError("invalid character class range")
        wants_others = (char == "P") != name.startswith("^")
        found = category(name.removeprefix("^"))
        if found is None:
            raise PatternError("invalid character class range")
        return self._cased(found, wants_others=wants_others)

    def _cased(self, ranges: Ranges, *, wants_others: bool) -> Ranges:
        """Characters, or all others, of any case if the flags say so."""
        found = folded(ranges) if self._flags.i else ranges
        return negated(found) if wants_others else found

    def _character(self) -> int:
        """The character that an escape stands for."""
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
            digits, brace, _ = self._text[self._at :].partition("}")
            self._at += len(digits) + 1
        else:
            digits, brace = self._text[self._at : self._at + 2], "}"
            self._at += 2
            if len(digits) < 2:
                brace = ""
        known = "0123456789abcdefABCDEF"
        if not brace or not 0 < len(digits) <= 8 or any(each not in known for each in digits):
            raise PatternError("invalid escape sequence")
        if int(digits, 16) > _LAST:
            raise PatternError("invalid escape sequence")
        return int(digits, 16)

    def _group(self, depth: int) -> list[Node]:
        flags = self._flags
        if self._take("?P<") or self._take("?<"):
            name, bracket, _ = self._text[self._at :].partition(">")
            self._at += len(name) + 1
            if not bracket or not name or not (name.isascii() and name.replace("_", "a").isalnum()):
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

    def _set(self) -> Ranges:
        """The characters of brackets."""
        wants_others = self._take("^")
        found: list[tuple[int, int]] = []
        is_first = True
        while is_first or not self._peek("]"):
            if self.at_end:
                raise PatternError("missing closing ]")
            if self._peek("-") and not is_first and not self._peek("-]"):
                # Perl takes it for itself; RE2 wants it at an end, or escaped.
                raise PatternError("invalid character class range")
            is_first = False
            named = self._named_class()
            if named is not None:
                found += named
                continue
            low = self._set_character()
            high = low
            if self._peek("-") and not self._peek("-]"):
                self._at += 1
                high = self._set_character()
                if high < low:
                    raise PatternError("invalid character class range")
            ranges = ((low, high),)
            found += folded(ranges) if self._flags.i else ranges
        self._at += 1
        return negated(tuple(found)) if wants_others else tuple(found)

    def _named_class(self) -> Ranges | None:
        """``[:alpha:]`` or a class behind a backslash."""
        if self._peek("[:"):
            name, end, _ = self._text[self._at + 2 :].partition(":]")
            if end:
                known = NAMED_CLASSES.get(name.removeprefix("^"))
                if known is None:
                    raise PatternError("invalid character class range")
                self._at += len(name) + 4
                return self._cased(known, wants_others=name.startswith("^"))
        if self._peek("\\") and self._at + 1 < len(self._text):
            self._at += 1
            found = self._class()
            self._at -= found is None
            return found
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


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and (text == "0" or text[0] != "0")
