"""Any text is a definition or a SchemaError; a definition is written, read again and compiled.

The first byte chooses the reader: Kafka's JSON, a grammar, a proposal, ``partition.metadata``.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from kafka_admin_proto.errors import DecodeError, PartitionMetadataError, SchemaError
from kafka_admin_proto.loaded_schemas import make_classes
from kafka_admin_proto.records.segments.partition_metadata import PartitionMetadata
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.kafka_json.reader import read_message
from kafka_admin_proto.schema.kafka_json.writer import write_message
from kafka_admin_proto.schema.kip.reader import read_kip, read_proposal
from kafka_admin_proto.schema.kip.writer import write_grammar
from kafka_admin_proto.schema.layout import LayoutField, layout
from kafka_admin_proto.schema.lint.kip import lint_proposal
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.wire.grammar import message_type
from tests.fuzz.limits import bounded_memory

#: Versions that are compiled of a definition; most have fewer.
_MOST_VERSIONS = 4
#: Of a grammar each name may mean a struct, up to the most fields that a message can have.
_GRAMMAR = 16 * 1024 * 1024


def one_input(data: bytes) -> None:
    kind, rest = data[:1], data[1:]
    if kind == b"p":
        partition_metadata(rest)
        return
    text = rest.decode("utf-8", "replace")
    if kind == b"j":
        from_json(text)
    elif kind == b"g":
        from_grammar(text)
    else:
        for slip in lint_proposal(text):
            assert slip.line >= 1
            assert slip.column >= 1
        try:
            with bounded_memory(rest, allowance=_GRAMMAR):
                read_proposal(text)
        except SchemaError as error:
            check(error)


def from_json(text: str) -> None:
    try:
        with bounded_memory(text.encode()):
            spec = read_message(text, file="X.json")
    except SchemaError as error:
        assert error.file == "X.json"
        check(error)
        return
    written = write_message(spec)
    again = read_message(written, file="X.json")
    assert again == spec
    assert write_message(again) == written
    compiled(spec)
    for version in versions(spec):
        grammar_of(spec, version)


def from_grammar(text: str) -> None:
    try:
        with bounded_memory(text.encode(), allowance=_GRAMMAR):
            spec = read_kip(text)
    except SchemaError as error:
        check(error)
        return
    compiled(spec)
    for version in versions(spec):
        grammar_of(spec, version)


def grammar_of(spec: MessageSpec, version: int) -> None:
    """The grammar of a version reads back to the same layout."""
    try:
        grammar = write_grammar(spec, version)
    except SchemaError as error:  # a name that is too long for the notation
        check(error)
        return
    again = read_kip(grammar)
    assert spelled(layout(again, version)) == spelled(layout(spec, version))


def spelled(fields: tuple[LayoutField, ...]) -> tuple[LayoutField, ...]:
    """The layout with the names that grammars write."""
    return tuple(
        msgspec.structs.replace(field, name=python_name(field.name), fields=spelled(field.fields))
        for field in fields
    )


def compiled(spec: MessageSpec) -> None:
    try:
        classes = make_classes(spec)
    except SchemaError as error:
        check(error)
        return
    for version in versions(spec):
        grammar = message_type(spec, version, classes.__getitem__)
        built = grammar.build(classes[spec.name]())
        assert grammar.build(grammar.parse(built)) == built
        try:
            grammar.parse(built[:-1])
        except DecodeError:
            continue
        assert not built


def versions(spec: MessageSpec) -> list[int]:
    return list(spec.valid_versions)[-_MOST_VERSIONS:]


def partition_metadata(data: bytes) -> None:
    try:
        with bounded_memory(data):
            found = PartitionMetadata.parse(data)
    except PartitionMetadataError as error:
        assert error.fault
        return
    assert PartitionMetadata.parse(found.format()) == found


def check(error: SchemaError) -> None:
    assert error.fault
    assert error.remedy


def seeds() -> Iterator[bytes]:
    folder = catalog().folder
    for path in sorted(folder.glob("*/*.json")):
        yield b"j" + path.read_bytes()
    for path in sorted(folder.glob("*/*.kip")):
        yield b"g" + path.read_bytes()
        yield b"t" + path.read_bytes()
    for name in catalog().names()[::7]:
        spec = catalog().spec(name)
        yield b"g" + write_grammar(spec, spec.valid_versions.highest).encode()
    for path in sorted((folder.parent / "tests" / "schema" / "kip" / "proposals").glob("*.txt")):
        yield b"t" + path.read_bytes()
    yield b"pversion: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"
    yield b"pversion: 0\n\ntopic_id: 46bdb63f-9e8d-4a38-bf7b-ee4eb2a794e4\nmore: x\n"
