"""The workloads of the benchmarks, and every codec that takes part in them."""

from __future__ import annotations

import gzip
import importlib
from collections.abc import Callable, Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from types import GenericAlias, UnionType
from typing import Any, get_args, get_origin, get_type_hints
from uuid import UUID

import msgspec

from kafka_admin_proto import codec

OURS = "kafka_admin_proto"


class Workload(msgspec.Struct, frozen=True):
    """One file of ``workloads/``: a message at a version, and where others define its class."""

    message: str
    version: int
    kafka_python: str = ""
    kio: str = ""
    aiokafka: str = ""

    @property
    def name(self) -> str:
        return f"{self.message} v{self.version}"

    def data(self) -> bytes:
        stem = "".join(f"_{c.lower()}" if c.isupper() else c for c in self.message).strip("_")
        return gzip.decompress(
            (Path(__file__).parent / "workloads" / f"{stem}_v{self.version}.bin.gz").read_bytes()
        )


WORKLOADS = (
    Workload("CreateTopicsRequest", 4, "kafka.protocol.admin", "create_topics.v4.request",
             "CreateTopicsRequest_v3"),  # laid out as v4
    Workload("CreateTopicsRequest", 7, "kafka.protocol.admin", "create_topics.v7.request"),
    Workload("MetadataResponse", 12, "kafka.protocol.metadata", "metadata.v12.response"),
    Workload("UpdateMetadataRequest", 7),
    Workload("MetadataRequest", 12, "kafka.protocol.metadata", "metadata.v12.request"),
    Workload("ApiVersionsRequest", 3, "kafka.protocol.metadata", "api_versions.v3.request"),
    Workload("VoteRequest", 0, "", "vote.v0.request"),
    Workload("ProduceRequest", 9, "kafka.protocol.producer", "produce.v9.request"),
    Workload("FetchResponse", 13, "kafka.protocol.consumer", "fetch.v13.response"),
)  # fmt: skip


class Codec(msgspec.Struct, frozen=True):
    """How one library decodes and encodes one message."""

    name: str
    decode: Callable[[bytes], Any]
    encode: Callable[[Any], bytes]
    #: Whether it is a limit to aim at: it handles the same tree in a format of its own.
    is_limit: bool = False


def codecs(workload: Workload, data: bytes) -> list[Codec]:
    """Every codec that has the message; ours first."""
    mine = codec(workload.message, workload.version)
    found = [Codec(OURS, mine.decode, mine.encode)]
    if workload.kafka_python:
        class_ = getattr(importlib.import_module(workload.kafka_python), workload.message)
        version = workload.version
        found.append(
            Codec("kafka-python", lambda b: class_.decode(b, version=version), lambda v: v.encode())
        )
    if workload.kio:
        found.append(_kio(workload))
    if workload.aiokafka:
        struct = getattr(importlib.import_module("aiokafka.protocol.admin"), workload.aiokafka)
        found.append(Codec("aiokafka", struct.decode, lambda v: v.encode()))
    if workload.name == "CreateTopicsRequest v4":
        interpreted = create_topics_v4()
        compiled = interpreted.compile()
        found.append(Codec("construct", interpreted.parse, interpreted.build))
        found.append(Codec("construct compiled", compiled.parse, compiled.build))
    if len(data) < 1 << 20:  # for more bytes it would measure one copy of opaque bytes
        found.append(_msgpack(mine.decode(data)))
    return found


def taking_part(workload: Workload, data: bytes) -> Iterator[tuple[Codec, Any]]:
    """Every codec with the value that it decodes; SystemExit where its bytes are others again."""
    for each in codecs(workload, data):
        value = each.decode(data)
        if not each.is_limit and each.encode(value) != data:
            raise SystemExit(f"{each.name} does not give {workload.name}'s bytes again")
        yield each, value


def _kio(workload: Workload) -> Codec:
    from kio.serial import entity_reader, entity_writer

    entity = getattr(importlib.import_module(f"kio.schema.{workload.kio}"), workload.message)
    read, write = entity_reader(entity), entity_writer(entity)

    def encode(value: Any) -> bytes:
        buffer = BytesIO()
        write(buffer, value)
        return buffer.getvalue()

    return Codec("kio", lambda b: read(b, 0)[0], encode)


def create_topics_v4() -> Any:
    """The message as one would write it in construct by hand."""
    c: Any = importlib.import_module("construct")
    name = c.PascalString(c.Int16ub, "utf8")
    text = c.StringEncoded(c.Bytes(c.this.size), "utf8")
    value = c.Struct("size" / c.Int16sb, "text" / c.If(c.this.size >= 0, text))
    config = c.Struct("name" / name, "value" / value)
    brokers = c.PrefixedArray(c.Int32sb, c.Int32sb)
    assignment = c.Struct("partition" / c.Int32sb, "brokers" / brokers)
    topic = c.Struct(
        "name" / name,
        "partitions" / c.Int32sb,
        "replication_factor" / c.Int16sb,
        "assignments" / c.PrefixedArray(c.Int32sb, assignment),
        "configs" / c.PrefixedArray(c.Int32sb, config),
    )
    topics = c.PrefixedArray(c.Int32sb, topic)
    return c.Struct("topics" / topics, "timeout_ms" / c.Int32sb, "validate_only" / c.Flag)


def _msgpack(value: Any) -> Codec:
    """msgspec's MessagePack of the same tree, structs as arrays: what C can do with such values."""
    shadow = _shadow(value)
    packed = msgspec.msgpack.encode(shadow)
    decoder = msgspec.msgpack.Decoder(type(shadow))
    encoder = msgspec.msgpack.Encoder()
    return Codec(
        "msgspec.msgpack",
        lambda data: decoder.decode(packed),
        lambda decoded: encoder.encode(shadow),
        is_limit=True,
    )


def _shadow(value: Any) -> Any:
    """The same tree of structs that are arrays in msgpack, a UUID being its bytes."""
    if isinstance(value, list):
        return [_shadow(item) for item in value]
    if isinstance(value, UUID):
        return value.bytes
    if not isinstance(value, msgspec.Struct):
        return value
    return _shadow_class(type(value))(*(_shadow(getattr(value, n)) for n in _fields(value)))


@cache
def _shadow_class(of: type[Any]) -> type[Any]:
    hints = get_type_hints(of)
    fields = [(name, _shadow_type(hints[name])) for name in _fields(of)]
    return msgspec.defstruct(of.__name__, fields, array_like=True, gc=False)


def _shadow_type(hint: Any) -> Any:
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return _shadow_class(hint)
    if hint is UUID:
        return bytes
    if get_origin(hint) is list:
        return GenericAlias(list, _shadow_type(get_args(hint)[0]))
    if get_origin(hint) is UnionType:
        return _shadow_type(get_args(hint)[0]) | None
    return hint


def _fields(of: Any) -> list[str]:
    return [name for name in of.__struct_fields__ if name != "unknown_tagged_fields"]
