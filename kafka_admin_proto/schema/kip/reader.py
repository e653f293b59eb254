"""Grammars of the proposals' notation → message definitions.

Texts have slips; each is reported, and read in the one way that ``docs/kip-notation.md`` states, so
that the proposals can be read as they are. `resolver` finds what names mean.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import SchemaError
from kafka_admin_proto.schema.fields import StructSpec
from kafka_admin_proto.schema.kip.definition import message_spec
from kafka_admin_proto.schema.kip.grammar import Production, parse_grammars
from kafka_admin_proto.schema.kip.resolver import Resolver
from kafka_admin_proto.schema.layout import LayoutField
from kafka_admin_proto.schema.model import MAX_FIELDS, MessageSpec
from kafka_admin_proto.schema.names import definition_name
from kafka_admin_proto.schema.slip import Slip


class Proposal(msgspec.Struct):
    """What a text says: its messages by name, in order, and its slips in the order of the lines.

    ``left_out`` are the messages that have no reading; a slip says why.
    """

    messages: dict[str, MessageSpec]
    slips: list[Slip]
    left_out: list[str] = []


def read_proposal(
    text: str,
    *,
    file: str = "",
    dialect: str = "kafka",
    structs: Mapping[str, StructSpec] | None = None,
) -> Proposal:
    """Read all grammars in a text of any kind, prose and wiki chrome around them.

    ``structs`` are definitions that the text may use without giving them.
    """
    return _read(text, file, dialect, structs or {}, strict=False)


def read_kip(text: str, *, file: str = "", dialect: str = "kafka") -> MessageSpec:
    """Read a definition file: one message, each of its versions a grammar, ``#`` for comments.

    Raises SchemaError for any slip.
    """
    try:
        proposal = _read(text, file, dialect, {}, strict=True)
        if proposal.slips:
            slip = proposal.slips[0]
            raise SchemaError(
                f"line {slip.line} column {slip.column}: {slip.fault}", "correct the grammar"
            )
        if len(proposal.messages) != 1:
            names = ", ".join(proposal.messages) or "none"
            raise SchemaError(f"a file defines one message, not {names}", "split the file")
    except SchemaError as error:
        error.file = error.file or file
        raise
    (spec,) = proposal.messages.values()
    return spec


def _read(
    text: str, file: str, dialect: str, structs: Mapping[str, StructSpec], *, strict: bool
) -> Proposal:
    headers, slips = parse_grammars(text, strict=strict)
    most = MAX_FIELDS + len(text)
    resolver = Resolver(headers, structs, slips, most)
    messages: dict[str, MessageSpec] = {}
    left_out: dict[str, None] = {}
    versions: dict[str, dict[int, Production]] = {}
    layouts: dict[str, dict[int, tuple[bool, tuple[LayoutField, ...]]]] = {}

    def leave_out(name: str, error: SchemaError, header: Production) -> None:
        if strict:
            raise error
        place = _place(error, header)
        field = "" if place is header else f"{place.name}: "
        resolver.slip(place, "unreadable", f"{name}: {field}{error.fault}",
                      f"left out; {error.remedy}")  # fmt: skip
        left_out[name] = None

    for position, header in enumerate(headers):
        name = header.name if strict else resolver.message_name(header)
        by_version = versions.setdefault(name, {})
        if header.version in by_version:
            resolver.slip(header, "duplicate", f"{name} v{header.version} is defined again",
                          "the first definition counts")  # fmt: skip
            continue
        by_version[header.version] = header
        if resolver.left < 0:
            fault = f"over {counted(most, 'fields')} in all messages together"
            leave_out(name, SchemaError(fault, "so are all after it; split the text"), header)
            left_out |= {each.name: None for each in headers[position:]}
            break
        try:
            layouts.setdefault(name, {})[header.version] = resolver.message(header)
        except SchemaError as error:
            leave_out(name, error, header)
    for name, by_version in versions.items():
        if name in left_out:
            continue
        read = range(max(by_version) + 1) if strict else _newest_run(name, by_version, slips)
        layout = {version: each for version, each in layouts[name].items() if version in read}
        try:
            messages[name] = message_spec(name, layout, file=file, dialect=dialect)
        except SchemaError as error:
            leave_out(name, error, by_version[max(by_version)])
    return Proposal(messages, sorted(set(slips)), list(left_out))


def _newest_run(name: str, versions: dict[int, Production], slips: list[Slip]) -> range:
    """The versions from the newest down to the first gap, which is a slip."""
    lowest = highest = max(versions)
    while lowest - 1 in versions:
        lowest -= 1
    older = max((version for version in versions if version < lowest), default=None)
    if older is not None:
        header = versions[lowest]
        fault = f"{name} has versions {older} and {lowest}, and none between them"
        remedy = f"read from version {lowest} on"
        slips.append(Slip(header.line, header.column, "gap", fault, remedy))
    return range(lowest, highest + 1)


def _place(error: SchemaError, header: Production) -> Production:
    """The line of the field that an error names, as the newest version has it, or the message's."""
    wanted = error.field.rpartition(".")[2]
    return next((each for each in header.below() if definition_name(each.name) == wanted), header)
