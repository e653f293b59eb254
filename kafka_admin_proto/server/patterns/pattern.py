"""A pattern as a machine without memory, which follows all its ways through a text at once.

Each set of places in the machine is a state that is made once, so that most characters of most
texts cost one look-up.
"""

from __future__ import annotations

import msgspec

from kafka_admin_proto.server.patterns.characters import Characters
from kafka_admin_proto.server.patterns.syntax import (
    Assertion,
    Choice,
    Node,
    OneOf,
    PatternError,
    Repeat,
    Sequence,
    Where,
    parse,
)

#: The places of a machine, and the steps that one pattern may take in all its states.
_MOST_PLACES = 10_000
_MOST_STEPS = 500_000
_MOST_STATES = 5_000


class _Place(msgspec.Struct):
    """A place in the machine: where it goes on, and what it needs for that."""

    then: list[int] = []
    needs: Characters | None = None
    where: Where | None = None


class Pattern:
    """A compiled pattern. Raises PatternError for no pattern, and for too many repeats."""

    def __init__(self, text: str) -> None:
        self._places: list[_Place] = []
        self._last = self._place()
        self._start = self._made(parse(text), self._last)
        self._has_assertions = any(each.where for each in self._places)
        self._states: dict[tuple[frozenset[int], str, str], frozenset[int]] = {}
        self._steps = 0

    def matches(self, text: str) -> bool:
        """Whether the whole text matches. Raises PatternError if that takes too long."""
        state = frozenset((self._start,))
        before = ""
        for char in text:
            state = self._next(state, before, char)
            if not state:
                return False
            before = char
        return self._last in self._closed(state, before, "")

    def _next(self, state: frozenset[int], before: str, char: str) -> frozenset[int]:
        """The places behind a character."""
        key = (state, before if self._has_assertions else "", char)
        following = self._states.get(key)
        if following is None:
            code = ord(char)
            following = frozenset(
                then
                for number in self._closed(state, before, char)
                if (needs := self._places[number].needs) is not None and code in needs
                for then in self._places[number].then
            )
            if len(self._states) >= _MOST_STATES:
                self._states.clear()
            self._states[key] = following
        return following

    def _closed(self, state: frozenset[int], before: str, after: str) -> set[int]:
        """The places that are reached without a character between two others."""
        closed = set(state)
        waiting = list(state)
        while waiting:
            each = self._places[waiting.pop()]
            if each.needs is not None or (each.where and not _holds(each.where, before, after)):
                continue
            for then in each.then:
                if then not in closed:
                    closed.add(then)
                    waiting.append(then)
        self._steps += len(closed)
        if self._steps > _MOST_STEPS:
            raise PatternError("it takes too long")
        return closed

    # Making.

    def _place(self, *then: int) -> int:
        if len(self._places) >= _MOST_PLACES:
            raise PatternError("invalid repeat count")
        self._places.append(_Place(list(then)))
        return len(self._places) - 1

    def _made(self, node: Node, then: int) -> int:
        """The first place of a node, behind which ``then`` comes."""
        if isinstance(node, OneOf):
            place = self._place(then)
            self._places[place].needs = node.characters
        elif isinstance(node, Assertion):
            place = self._place(then)
            self._places[place].where = node.where
        elif isinstance(node, Sequence):
            place = then
            for each in reversed(node.nodes):
                place = self._made(each, place)
        elif isinstance(node, Choice):
            place = self._place(*(self._made(each, then) for each in node.nodes))
        else:
            place = self._repeated(node, then)
        return place

    def _repeated(self, node: Repeat, then: int) -> int:
        if node.most is None:
            loop = self._place(then)
            self._places[loop].then.append(self._made(node.node, loop))
            then = loop
        else:
            for _ in range(node.most - node.least):
                then = self._place(self._made(node.node, then), then)
        for _ in range(node.least):
            then = self._made(node.node, then)
        return then


def _holds(where: Where, before: str, after: str) -> bool:
    """Whether an assertion holds between two characters; an empty one is an end of the text."""
    if where == "text-start":
        return not before
    if where == "text-end":
        return not after
    if where == "line-start":
        return before in ("", "\n")
    if where == "line-end":
        return after in ("", "\n")
    return (_is_word(before) != _is_word(after)) == (where == "word")


def _is_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")
