"""Which header version stands in front of which body.

Source: ``ApiMessageType.requestHeaderVersion`` and ``responseHeaderVersion`` in kafka-clients.
"""

from __future__ import annotations

from functools import lru_cache

from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.schema.catalog import catalog


def request_header_version(api_key: int, api_version: int, dialect: str = "kafka") -> int:
    """2 in flexible versions, else 1; 0 (without client id) for ControlledShutdown v0.

    An api that nobody here knows is taken to be newer than this package, so flexible.
    """
    if api_key == api_keys.CONTROLLED_SHUTDOWN and api_version == 0:
        return 0
    return 2 if _is_flexible(api_key, api_version, "request", dialect) else 1


def response_header_version(api_key: int, api_version: int, dialect: str = "kafka") -> int:
    """1 in flexible versions, else 0; always 0 for ApiVersions.

    A client does not know yet what the broker speaks when it reads that response (KIP-511).
    """
    if api_key == api_keys.API_VERSIONS:
        return 0
    return 1 if _is_flexible(api_key, api_version, "response", dialect) else 0


def message_of(
    api_key: int, api_version: int, type: str, dialect: str = "kafka"
) -> tuple[str, str] | None:
    """Name and dialect of an api's request or response; None for an unknown key.

    What a dialect does not have, Kafka's own definitions may: a folder that was loaded need not
    repeat them.
    """
    found = _find(catalog().generation, api_key, api_version, type, dialect)
    return None if found is None else found[:2]


def _is_flexible(api_key: int, api_version: int, type: str, dialect: str) -> bool:
    found = _find(catalog().generation, api_key, api_version, type, dialect)
    return found is None or found[2]


@lru_cache(maxsize=4096)  # each payload asks; a hostile peer may ask for every number
def _find(
    generation: int, api_key: int, api_version: int, type: str, dialect: str
) -> tuple[str, str, bool] | None:
    """Name, dialect and whether that version is flexible."""
    known = [
        (name, each, catalog().entry(name, each))
        for each in dict.fromkeys((dialect, "kafka"))
        if (name := catalog().name_of(api_key, type, each)) is not None
    ]
    known.sort(key=lambda row: api_version not in row[2].versions)
    for name, each, entry in known:
        return name, each, entry.is_flexible(api_version)
    return None
