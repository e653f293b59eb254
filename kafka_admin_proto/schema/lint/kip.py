"""Slips of a proposal's text: those of its grammars, of its prose, and against what shipped."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from functools import cache

from kafka_admin_proto.errors import SchemaError
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


def lint_proposal(text: str) -> list[Slip]:
    """All slips of a text in the order of its lines; none for a text without grammars or names."""
    try:
        headers, _ = parse_grammars(text)
        proposal = read_with_shipped(text)
    except SchemaError as error:
        return [Slip(1, 1, "unreadable", f"{error.field}: {error.fault}", error.remedy)]
    slips = set(proposal.slips)
    taken = {(slip.line, slip.column) for slip in slips if slip.rule == "misspelt"}
    for slip in (*_misspelt(text, list(proposal.messages)), *_outdated(headers)):
        if (slip.line, slip.column) not in taken:
            slips.add(slip)
    return sorted(slips)


def read_with_shipped(text: str, *, file: str = "", dialect: str = "kafka") -> Proposal:
    """``read_proposal``, with the structs of the shipped messages for those not defined."""
    structs: dict[str, StructSpec] = {}
    for header in parse_grammars(text)[0]:
        if header.name in catalog().names():
            structs |= catalog().spec(header.name).structs()
    return read_proposal(text, file=file, dialect=dialect, structs=structs)


def _misspelt(text: str, defined: list[str]) -> Iterator[Slip]:
    """Message names in the prose that are nearly those of messages defined here, or shipped."""
    shipped = [name for name in catalog().names() if name.endswith(("Request", "Response"))]

    @cache
    def nearest(said: str) -> str | None:
        return _nearest(said, defined) or _nearest(said, shipped)

    for number, line in enumerate(text.split("\n"), 1):
        for match in _CAMEL_WORD.finditer(line):
            word = match.group()
            if any(name in word for name in (*defined, *shipped)):
                continue
            chunks = list(_CHUNK.finditer(word))
            for start, end in _message_like(chunks):
                said = word[chunks[start].start() : chunks[end].end()]
                meant = nearest(said)
                if meant is not None:
                    column = match.start() + chunks[start].start() + 1
                    yield Slip(
                        number, column, "misspelt", f"there is no {said}", f"read as {meant}"
                    )
                    break


def _message_like(chunks: list[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """First and last chunk of what may be a message's name in a word: tables glue words."""
    for end, chunk in enumerate(chunks):
        if _MESSAGE_KIND.match(chunk.group()):
            yield from ((start, end) for start in range(max(0, end - _MOST_WORDS), end))


def _nearest(said: str, names: list[str]) -> str | None:
    words = _words(said)
    for name in names:
        if _words(name) == words:
            return name
    close = difflib.get_close_matches(said, names, n=1, cutoff=_ALIKE)
    return close[0] if close else None


def _words(name: str) -> list[str]:
    """The words of a name whatever their order, each without a plural's s."""
    return sorted(chunk.removesuffix("s") for chunk in _CHUNK.findall(name))


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
    found: dict[str, list[FieldSpec]] = {}
    for struct in (spec.struct, *spec.structs().values()):
        for field in struct.fields:
            found.setdefault(python_name(field.name), []).append(field)
    return found
