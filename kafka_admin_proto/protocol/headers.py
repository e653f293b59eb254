"""The header version of each body, and the codec of that header.

Source: ``ApiMessageType.requestHeaderVersion`` and ``responseHeaderVersion`` in kafka-clients.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeVar

from kafka_admin_proto.codec import Codec, codec
from kafka_admin_proto.errors import EncodeError
from kafka_admin_proto.schema.catalog import Entry, catalog
from kafka_admin_proto.values import Message

H = TypeVar("H", bound=Message)


def request_header_version(api_key: int, api_version: int, dialect: str = "kafka") -> int:
    """What the definition gives (KIP-1313), else 2 in flexible versions, and 1 in others.

    It is 0 (without client id) for ControlledShutdown v0. An api that nobody here knows is taken
    to be newer than this package, so that its header is the newest one.
    """
    return _header_version(catalog().generation, api_key, api_version, "request", dialect)


def response_header_version(api_key: int, api_version: int, dialect: str = "kafka") -> int:
    """What the definition gives (KIP-1313), else 1 in flexible versions, and 0 in others.

    It is always 0 for ApiVersions: a client does not know yet what the broker speaks when it reads
    that response (KIP-511).
    """
    return _header_version(catalog().generation, api_key, api_version, "response", dialect)


def header_codec(name: str, version: int, dialect: str) -> Codec[Any]:
    """The codec of a RequestHeader or ResponseHeader: Kafka's own, of a newer one the dialect's."""
    return _header_codec(catalog().generation, name, version, dialect)


def is_header(value: object, name: str) -> bool:
    """Whether this is a RequestHeader or ResponseHeader, as ``name`` says, of any dialect."""
    return isinstance(value, Message) and value.message_name == name


def header_writer(header: H, found: Codec[H]) -> tuple[Codec[H], H]:
    """The codec of a header of another class than ``found`` has, and the value that it writes.

    It is that of its own class, which refuses or leaves out what an older version lacks. A class
    that does not have the version gives its fields to that of ``found``. Raises EncodeError for a
    value for which that class has no field.
    """
    wanted = found.value_class
    if found.version in catalog().entry(header.message_name, header.dialect).versions:
        return codec(type(header), found.version), header
    fields, unset = {}, type(header)()
    for name in header.__struct_fields__:
        value = getattr(header, name)
        if name in wanted.__struct_fields__:
            fields[name] = value
        elif value != getattr(unset, name):
            raise EncodeError(
                f"version {found.version} of the header has no such field; set it to its default",
                message=header.message_name,
                path=name,
            )
    return found, wanted(**fields)


def message_of(
    api_key: int, api_version: int, type: str, dialect: str = "kafka"
) -> tuple[str, str] | None:
    """Name and dialect of an api's request or response; None for an unknown key.

    What a dialect does not have, Kafka's own definitions may: a folder that was loaded need not
    repeat them.
    """
    found = _find(catalog().generation, api_key, api_version, type, dialect)
    return None if found is None else found[:2]


@lru_cache(maxsize=4096)
def _header_version(
    generation: int, api_key: int, api_version: int, type: str, dialect: str
) -> int:
    found = _find(generation, api_key, api_version, type, dialect)
    if found is not None:
        return found[2].header_version(found[0], api_version)
    name = f"{type.capitalize()}Header"
    having = [each for each in ("kafka", dialect) if name in catalog().names(each)]
    return max(catalog().entry(name, each).versions.highest for each in having)


@lru_cache(maxsize=1024)
def _header_codec(generation: int, name: str, version: int, dialect: str) -> Codec[Any]:
    shipped = version in catalog().entry(name).versions
    return codec(name, version, dialect="kafka" if shipped else dialect)


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
