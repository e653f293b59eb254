"""A value of any message with something in each field, and its bytes explained."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from kafka_admin_proto import codec
from kafka_admin_proto.capture import Block, FrameDecoder
from kafka_admin_proto.cli.captures.explain import explanation_of
from kafka_admin_proto.protocol import frame, write_request, write_response
from kafka_admin_proto.records import Batch, Record, write_batch
from kafka_admin_proto.render.explain import Explanation
from kafka_admin_proto.render.meanings import meaning_of
from kafka_admin_proto.schema.fields import FieldSpec
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.names import python_name

_TOPIC_ID = UUID("7b0f3a52-91c4-4d1e-8a6b-2f60c6f1d0aa")
#: The end of a string field's path → its value; the first row that fits counts.
_TEXTS = {
    "host": "broker1", "clientid": "me", "topicname": "orders", "topic": "orders", "rack": "a",
    "groupid": "billing", "memberid": "me-1", "transactionalid": "pay", "clusterid": "Jx0aUS2k",
    "configs.name": "retention.ms", "configs.value": "86400000",
    "principaltype": "User", "principalname": "alice", "name": "orders",
}  # fmt: skip
#: The same for numbers; all others are 1.
_NUMBERS = {
    "errorcode": 0, "timeoutms": 30_000, "timems": 0, "port": 9092, "offset": 42, "epoch": 5,
    "timestamp": 1_729_826_000_000, "partitionindex": 0, "index": 0, "bytes": 1_048_576,
    "replicationfactor": 3, "numpartitions": 6, "operations": 0x0D08,
}  # fmt: skip


def _by_path(path: str, table: dict[str, Any], default: Any) -> Any:
    lowered = path.replace("_", "").lower()
    return next((value for end, value in table.items() if lowered.endswith(end)), default)


def _records() -> bytes:
    """A batch of one record, as a producer sends it."""
    record = Record(offset=0, timestamp=1_729_826_000_000, key=b"k", value=b"v", headers=())
    return write_batch(Batch(base_offset=0, base_timestamp=record.timestamp or 0, records=[record]))


def _scalar(field: FieldSpec, spec: MessageSpec, path: str) -> Any:
    element = field.type.element
    if element == "string":
        default = "orders" if field.entity_type == "topicName" else "text"
        return _by_path(path, _TEXTS, default)
    if element in ("bytes", "records"):
        return _records() if element == "records" else b"\x01\x02\x03"
    if element == "uuid":
        return _TOPIC_ID
    if element == "bool":
        return True
    if element == "float64":
        return 0.5
    meaning = meaning_of(spec.name, path)
    if meaning is not None and meaning.values and "0" not in meaning.values:
        return int(next(iter(meaning.values)))
    return _by_path(path, _NUMBERS, 1)


def _values(
    fields: tuple[FieldSpec, ...], spec: MessageSpec, version: int, prefix: str = ""
) -> dict[str, Any]:
    """Attribute → value of the fields that the version has, but for tagged ones."""
    structs = spec.structs()
    classes = codec(spec.name, version, dialect=spec.dialect).value_class
    found: dict[str, Any] = {}
    for field in fields:
        if version not in field.versions or version in field.tagged_versions:
            continue
        name = python_name(field.name)
        if name == "error_message" and version in field.nullable_versions:
            found[name] = None
            continue
        if field.type.is_struct:
            nested = structs[field.type.element].fields
            made = getattr(classes, field.type.element)
            value = made(**_values(nested, spec, version, f"{prefix}{name}."))
        else:
            value = _scalar(field, spec, f"{prefix}{name}")
        found[name] = [value] if field.type.is_array else value
    return found


def example(spec: MessageSpec, version: int) -> Explanation:
    """An example of a message at one version, every byte explained."""
    message = codec(spec.name, version, dialect=spec.dialect)
    value = message.value_class(**_values(spec.fields, spec, version))
    dialect = spec.dialect
    if spec.type == "request" and spec.api_key is not None:
        payload = write_request(value, version, 7, "me")
        decoder, data = FrameDecoder(dialect=dialect), frame(payload)
    elif spec.type == "response" and spec.api_key is not None:
        decoder = FrameDecoder(
            direction="response", api=spec.name, version=version, dialect=dialect
        )
        data = frame(write_response(value, version, 7))
    else:
        decoder = FrameDecoder(unit="body", api=spec.name, version=version, dialect=dialect)
        data = message.encode(value)
    (decoded,) = decoder.decode(Block(data))
    if decoded.problem is not None:
        raise ValueError(f"the example of {spec.name} v{version}: {decoded.problem}")
    return explanation_of(decoded, mask=True)
