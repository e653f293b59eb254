"""Which header version stands in front of which body, and the codec of that header.

Source: ``ApiMessageType.requestHeaderVersion`` and ``responseHeaderVersion`` in kafka-clients.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeVar

from kafka_admin_proto.codec import Codec, codec
from kafka_admin_proto.schema.catalog import Entry, catalog
from kafka_admin_proto.values import Message

H = TypeVar("H", bound=Message)


def request_header_version(api_key: int, api_version: int, dialect: str = "kafka") -> int:
    """What the definition gives (KIP-1313), else 2 in flexible versions, and 1 in others.

    It is 0 (without client id) for ControlledShutdown v0. An api that nobody here knows is taken
    to be newer than this package, so that its header is the newest one.
    """
    return _header_version(api_key, api_version, "request", dialect)


def response_header_version(api_key: int, api_version: int, dialect: str = "kafka") -> int:
    """What the definition gives (KIP-1313), else 1 in flexible versions, and 0 in others.

    It is always 0 for ApiVersions: a client does not know yet what the broker speaks when it reads
    that response (KIP-511).
    """
    return _header_version(api_key, api_version, "response", dialect)


def header_codec(name: str, version: int, dialect: str) -> Codec[Any]:
    """The codec of a RequestHeader or ResponseHeader: Kafka's own, of a newer one the dialect's."""
    shipped = version in catalog().entry(name).versions
    return codec(name, version, dialect="kafka" if shipped else dialect)


def is_header(value: object, name: str) -> bool:
    """Whether this is a RequestHeader or ResponseHeader, as ``name`` says, of any dialect."""
    return isinstance(value, Message) and value.message_name == name


def fitted_header(header: H, found: Codec[Any]) -> H:
    """The header as a value of the codec's class, which may be that of a newer header."""
    if isinstance(header, found.value_class):
        return header
    fields = {name: getattr(header, name) for name in header.__struct_fields__}
    fitted: H = found.value_class(**fields)
    return fitted


def message_of(
    api_key: int, api_version: int, type: str, dialect: str = "kafka"
) -> tuple[str, str] | None:
    """Name and dialect of an api's request or response; None for an unknown key.

    What a dialect does not have, Kafka's own definitions may: a folder that was loaded need not
    repeat them.
    """
    found = _find(catalog().generation, api_key, api_version, type, dialect)
    return None if found is None else found[:2]


def _header_version(api_key: int, api_version: int, type: str, dialect: str) -> int:
    found = _find(catalog().generation, api_key, api_version, type, dialect)
    if found is not None:
        return found[2].header_version(found[0], api_version)
    name = f"{type.capitalize()}Header"
    has_own = catalog().is_loaded(dialect) and name in catalog().names(dialect)
    return catalog().entry(name, dialect if has_own else "kafka").versions.highest


@lru_cache(maxsize=4096)  # each payload asks; a hostile peer may ask for every number
def _find(
    generation: int, api_key: int, api_version: int, type: str, dialect: str
) -> tuple[str, str, Entry] | None:
    """Name, dialect and what the index says."""
    known = [
        (name, each, catalog().entry(name, each))
        for each in dict.fromkeys((dialect, "kafka"))
        if (name := catalog().name_of(api_key, type, each)) is not None
    ]
    known.sort(key=lambda row: api_version not in row[2].versions)
    return known[0] if known else None
