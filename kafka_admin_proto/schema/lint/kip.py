"""Slips of a proposal's text: those of its grammars, of its prose, and against what shipped."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.fields import FieldSpec, StructSpec
from kafka_admin_proto.schema.kip.grammar import Production, parse_grammars
from kafka_admin_proto.schema.kip.reader import Proposal, read_proposal
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.schema.slip import Slip

_CAMEL_WORD = re.compile(r"[A-Z][a-z]+(?:[A-Z][a-z]+)+")
_CHUNK = re.compile(r"[A-Z][a-z]+")
#: A word's last part says that a message is meant, even where it is misspelt.
_MESSAGE_KIND = re.compile(r"Re(?:[a-z]{5}|[a-z]{6})\Z")
#: The most words of a name; Kafka's longest has seven.
_MOST_WORDS = 9
#: How alike two names are, from 0 to 1, for one to be the other misspelt.
_ALIKE = 0.92
#: The most pairs of names to compare letter by letter: a second's work.
_MAX_COMPARED = 100_000


def lint_proposal(text: str) -> list[Slip]:
    """All slips of a text in the order of its lines; none for a text without grammars or names."""
    headers, _ = parse_grammars(text)
    proposal = read_with_shipped(text)
    slips = set(proposal.slips)
    taken = {(slip.line, slip.column) for slip in slips if slip.rule == "misspelt"}
    for slip in (*_misspelt(text, [*proposal.messages, *proposal.left_out]), *_outdated(headers)):
        if (slip.line, slip.column) not in taken:
            slips.add(slip)
    return sorted(slips)


def read_with_shipped(text: str, *, file: str = "") -> Proposal:
    """``read_proposal``, with the structs of the shipped messages for those not defined."""
    structs: dict[str, StructSpec] = {}
    for header in parse_grammars(text)[0]:
        if header.name in catalog().names():
            structs |= catalog().spec(header.name).structs()
    return read_proposal(text, file=file, structs=structs)


def _misspelt(text: str, defined: list[str]) -> Iterator[Slip]:
    """Message names in the prose that are nearly those of messages defined here, or shipped."""
    shipped = [name for name in catalog().names() if name.endswith(("Request", "Response"))]
    known = {*defined, *shipped}
    nearest = _Nearest(defined, shipped)
    for number, line in enumerate(text.split("\n"), 1):
        for match in _CAMEL_WORD.finditer(line):
            runs = list(_runs(match.group()))
            if any(said in known or said[:-1] in known for _, said, _ in runs):
                continue
            for start, said, is_message in runs:
                if not is_message:
                    continue
                had_more = nearest.has_more
                meant = nearest.name(said)
                place = (number, match.start() + start + 1, "misspelt")
                if meant is not None:
                    yield Slip(*place, f"there is no {said}", f"read as {meant}")
                    break
                if had_more and not nearest.has_more:
                    yield Slip(*place, "too many unknown names to compare them with messages",
                               "from here on only other orders of words are seen")  # fmt: skip


def _runs(word: str) -> Iterator[tuple[int, str, bool]]:
    """Each run of a word's parts, as tables glue words: its start, its text, and whether it may be
    a message's name, misspelt or not.
    """
    chunks = list(_CHUNK.finditer(word))
    for end, chunk in enumerate(chunks):
        is_kind = _MESSAGE_KIND.match(chunk.group()) is not None
        for start in range(max(0, end - _MOST_WORDS), end + 1):
            place = chunks[start].start()
            yield place, word[place : chunk.end()], is_kind and start < end


class _Nearest:
    """Finds the message that a misspelt name means; those of the first group go before."""

    def __init__(self, *groups: list[str]) -> None:
        self._groups = [(names, {_words(name): name for name in reversed(names)})
                        for names in groups]  # fmt: skip
        self._pairs = sum(map(len, groups))
        self._left = _MAX_COMPARED
        self._found: dict[str, str | None] = {}

    @property
    def has_more(self) -> bool:
        """Whether names are still compared letter by letter."""
        return self._left >= self._pairs

    def name(self, said: str) -> str | None:
        """The name that is meant, None if there is none like it."""
        if said not in self._found:
            self._found[said] = self._search(said)
        return self._found[said]

    def _search(self, said: str) -> str | None:
        words, has_more = _words(said), self.has_more
        self._left -= self._pairs
        for names, by_words in self._groups:
            if words in by_words:
                return by_words[words]
            close = difflib.get_close_matches(said, names if has_more else (), 1, _ALIKE)
            if close:
                return close[0]
        return None


def _words(name: str) -> tuple[str, ...]:
    """The words of a name whatever their order, each without a plural's s."""
    return tuple(sorted(chunk.removesuffix("s") for chunk in _CHUNK.findall(name)))


def _outdated(headers: list[Production]) -> Iterator[Slip]:
    """Fields that the shipped message has in other versions than the one the text says."""
    for header in headers:
        if header.name not in catalog().names():
            continue
        spec = catalog().spec(header.name)
        if header.version not in spec.valid_versions:
            continue
        shipped = _fields_by_name(spec)
        for production in header.below():
            ranges = [field.versions for field in shipped.get(production.name, ())]
            if ranges and not any(header.version in versions for versions in ranges):
                where = ", ".join(str(versions) for versions in ranges)
                yield Slip(
                    production.line,
                    production.column,
                    "other-version",
                    f"Kafka ships {production.name} in version {where}, not {header.version}",
                    "kept as the text has it",
                )


def _fields_by_name(spec: MessageSpec) -> dict[str, list[FieldSpec]]:
    by_name: dict[str, list[FieldSpec]] = {}
    for struct in (spec.struct, *spec.structs().values()):
        for field in struct.fields:
            by_name.setdefault(python_name(field.name), []).append(field)
    return by_name
