"""The entities and values of client quotas (Kafka's QuotaConfig)."""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Iterable, Mapping

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.entities import QuotaEntity
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.java import SMALL_TABLE, bucket_order, hash_order, string_hash

USER, CLIENT_ID, IP = "user", "client-id", "ip"
ENTITY_TYPES = (USER, CLIENT_ID, IP)

_OF_CLIENTS = {
    "producer_byte_rate": "LONG",
    "consumer_byte_rate": "LONG",
    "request_percentage": "DOUBLE",
    "controller_mutation_rate": "DOUBLE",
}
_OF_ADDRESSES = {"connection_creation_rate": "INT"}
#: Places in the table of an entity's map, before it grows.
_TABLE = 2
_LARGEST = {"INT": (1 << 31) - 1, "LONG": (1 << 63) - 1}
#: The largest difference from a whole number.
_ROUNDING = 1e-6


def entity_text(names: Mapping[str, str | None]) -> str:
    """As ClientQuotaEntity.toString: a Java map, with Java's null."""
    shown = (
        f"{kind}={'null' if names[kind] is None else names[kind]}"
        for kind in hash_order(names, _TABLE)
    )
    return "ClientQuotaEntity(entries={" + ", ".join(shown) + "})"


def entity_order(entities: Iterable[QuotaEntity], table: int = SMALL_TABLE) -> list[QuotaEntity]:
    """Entities in the order in which a HashMap of Java's lists them as its keys."""
    return bucket_order(entities, table, _entity_hash)


def _entity_hash(entity: QuotaEntity) -> int:
    """As ClientQuotaEntity.hashCode, as an unsigned number of 32 bits."""
    pairs = (
        string_hash(kind) ^ (0 if name is None else string_hash(name)) for kind, name in entity
    )
    return (31 + sum(pairs)) & 0xFFFFFFFF


def quota_types(names: Mapping[str, str | None]) -> dict[str, str]:
    """The quotas of an entity, with their types. Raises ApiFailure for an invalid entity."""
    if not names:
        raise ApiFailure(codes.INVALID_REQUEST, "Invalid empty client quota entity")
    for kind in hash_order(names, _TABLE):
        if kind not in ENTITY_TYPES:
            raise ApiFailure(codes.INVALID_REQUEST, f"Unhandled client quota entity type: {kind}")
        if names[kind] == "":
            raise ApiFailure(codes.INVALID_REQUEST, f"Empty {kind} not supported")
    if IP not in names:
        return _OF_CLIENTS
    if len(names) > 1:
        text = "Invalid quota entity combination, IP entity shouldnot be combined with User or "
        text += "ClientId"
        raise ApiFailure(codes.INVALID_REQUEST, text)
    address = names[IP]
    if address is not None and not _is_address(address):
        raise ApiFailure(codes.INVALID_REQUEST, f"{address} is not a valid IP or resolvable host.")
    return _OF_ADDRESSES


def check_quota(types: Mapping[str, str], key: str, value: float, *, finite: bool) -> None:
    """Raise ApiFailure for a quota or a value that the entity cannot have, ``finite`` or any."""
    kind = types.get(key)
    if kind is None:
        raise ApiFailure(codes.INVALID_REQUEST, f"Invalid configuration key {key}")
    if finite and not math.isfinite(value):
        raise ApiFailure(codes.INVALID_REQUEST, f"Quota {key} must be a finite number")
    if value <= 0:
        raise ApiFailure(codes.INVALID_REQUEST, f"Quota {key} must be greater than 0")
    if kind == "DOUBLE":
        return
    if value > float(_LARGEST[kind]):
        article = "an" if kind == "INT" else "a"
        text = f"Proposed value for {key} is too large for {article} {kind}."
        raise ApiFailure(codes.INVALID_REQUEST, text)
    if value % 1.0 > _ROUNDING:
        raise ApiFailure(codes.INVALID_REQUEST, f"{key} cannot be a fractional value.")


def _is_address(text: str) -> bool:
    """Whether a name is an address; Kafka resolves names, here only localhost is known."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return text == "localhost"
    return True
