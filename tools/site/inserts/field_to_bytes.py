"""One field on its way from a line of a definition to bytes, in pieces taken from the code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from kafka_admin_proto import codec
from kafka_admin_proto.capture import Block, FrameDecoder
from kafka_admin_proto.cli.captures.explain import explanation_of
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.kip.writer import write_grammar
from kafka_admin_proto.wire.types.arrays import Array
from kafka_admin_proto.wire.types.blobs import Blob
from kafka_admin_proto.wire.types.containers import StructType
from kafka_admin_proto.wire.types.scalar import ScalarType
from kafka_admin_proto.wire.visitor import Visitor
from tools.site.markdown import code, table
from tools.site.pictures.message_bytes import draw_bytes
from tools.site.pictures.svg import Picture

ROOT = Path(__file__).parents[3]
MESSAGE = "DeleteTopicsRequest"
#: The newest version with fixed lengths, and the oldest that is flexible.
OLD, NEW = 3, 4


def _codec(version: int) -> Codec[Any]:
    return codec(MESSAGE, version)


def value(version: int) -> Any:
    """The value that the page follows, at a version."""
    return _codec(version).value_class(topic_names=["apples"], timeout_ms=5000)


def definition() -> str:
    """The lines of the definition that the example is about."""
    text = (ROOT / "schemas" / "kafka" / f"{MESSAGE}.json").read_text("utf-8")
    lines = [line.strip() for line in text.splitlines() if "flexibleVersions" in line]
    lines += [line.strip() for line in text.splitlines() if '"TopicNames"' in line]
    return _fenced("json", "\n".join(lines))


def grammars() -> str:
    """The grammar of both versions, as a proposal would write it."""
    spec = catalog().spec(MESSAGE)
    found = [write_grammar(spec, version).rstrip() for version in (OLD, NEW)]
    return _fenced("text", "\n".join(found))


class _Rows(Visitor[tuple[str, int], Iterator[list[str]]]):
    """A row for each wire type of a tree: field, class, what it has to know."""

    def struct(self, wire_type: StructType, context: tuple[str, int]) -> Iterator[list[str]]:
        yield _row(
            wire_type,
            context,
            "a count of tagged fields at its end" if wire_type.tagged else "no tagged fields",
        )
        for member in wire_type.members:
            if member.wire_type is not None:
                yield from self.visit(member.wire_type, (member.attribute, context[1] + 1))

    def array(self, wire_type: Array, context: tuple[str, int]) -> Iterator[list[str]]:
        yield _row(wire_type, context, _compact(wire_type.compact, "count"))
        yield from self.visit(wire_type.element, ("each element", context[1] + 1))

    def blob(self, wire_type: Blob, context: tuple[str, int]) -> Iterator[list[str]]:
        yield _row(wire_type, context, _compact(wire_type.compact, "length"))

    def scalar(self, wire_type: ScalarType, context: tuple[str, int]) -> Iterator[list[str]]:
        yield _row(wire_type, context, f"{wire_type.min_size} bytes")


def _row(wire_type: Any, context: tuple[str, int], words: str) -> list[str]:
    label, depth = context
    indent = f'<span class="depth">{"·" * depth}</span>' if depth else ""
    return [f"{indent}{code(label)}", code(type(wire_type).__name__), words]


def _compact(compact: bool, what: str) -> str:
    return f"{what} as a varint, one more than it is" if compact else f"{what} of fixed size"


def trees() -> str:
    """The tree of wire types of both versions."""
    parts = []
    for version in (OLD, NEW):
        rows = _Rows().visit(_codec(version).grammar, (f"{MESSAGE} v{version}", 0))
        parts += [*table(["Field", "Wire type", "What it knows"], rows), ""]
    return "\n".join(parts)


def reader() -> str:
    """The function that reads the older version, as ``Codec.source`` shows it."""
    source = _codec(OLD).source()
    return _fenced("python", source[: source.index("def write(")].rstrip())


def writer() -> str:
    """The function that writes it."""
    source = _codec(OLD).source()
    return _fenced("python", source[source.index("def write(") :].rstrip())


def node() -> str:
    """What the compiled engine is given for the field."""
    described = _codec(NEW).grammar.node()
    assert described is not None  # all types of this message have nodes
    (field,) = [each for each in described.fields if each.attribute == "topic_names"]
    return _fenced(
        "python", msgspec.json.format(msgspec.json.encode(field.node), indent=2).decode()
    )


def pictures() -> str:
    """The bytes of one value at both versions."""
    parts = []
    for version in (OLD, NEW):
        data = _codec(version).encode(value(version))
        decoder = FrameDecoder(unit="body", api=MESSAGE, version=version)
        (decoded,) = decoder.decode(Block(data))
        picture = Picture(f"The bytes of a {MESSAGE} of version {version}")
        picture.text(2, 14, f"version {version}, {len(data)} bytes", size=13, kind="faint")
        draw_bytes(picture, explanation_of(decoded, mask=True), 2, 24)
        parts.append(f'<div class="drawing">{picture.svg()}</div>')
    return "\n\n".join(parts)


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```"


INSERTS: dict[str, Callable[[], str]] = {
    "field-definition": definition,
    "field-grammars": grammars,
    "field-trees": trees,
    "field-reader": reader,
    "field-writer": writer,
    "field-node": node,
    "field-bytes": pictures,
}
