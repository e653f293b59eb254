"""Which header version stands in front of which body.

Source: ``ApiMessageType.requestHeaderVersion`` and ``responseHeaderVersion`` in kafka-clients.
"""

from __future__ import annotations

from kafka_admin_proto.schema.catalog import catalog

API_VERSIONS_KEY = 18
_CONTROLLED_SHUTDOWN_KEY = 7


def request_header_version(api_key: int, api_version: int, dialect: str = "kafka") -> int:
    """2 in flexible versions, else 1; 0 (without client id) for ControlledShutdown v0.

    An api that nobody here knows is taken to be newer than this package, so flexible.
    """
    if api_key == _CONTROLLED_SHUTDOWN_KEY and api_version == 0:
        return 0
    return 2 if _is_flexible(api_key, api_version, "request", dialect) else 1


def response_header_version(api_key: int, api_version: int, dialect: str = "kafka") -> int:
    """1 in flexible versions, else 0; always 0 for ApiVersions.

    A client does not know yet what the broker speaks when it reads that response (KIP-511).
    """
    if api_key == API_VERSIONS_KEY:
        return 0
    return 1 if _is_flexible(api_key, api_version, "response", dialect) else 0


def message_of(
    api_key: int, api_version: int, type: str, dialect: str = "kafka"
) -> tuple[str, str] | None:
    """Name and dialect of an api's request or response; None for an unknown key.

    What a dialect does not have, Kafka's own definitions may: a folder that was loaded need not
    repeat them.
    """
    known = [
        (name, each)
        for each in dict.fromkeys((dialect, "kafka"))
        if (name := catalog().name_of(api_key, type, each)) is not None
    ]
    for name, each in known:
        if api_version in catalog().entry(name, each).versions:
            return name, each
    return known[0] if known else None


def _is_flexible(api_key: int, api_version: int, type: str, dialect: str) -> bool:
    found = message_of(api_key, api_version, type, dialect)
    if found is None:
        return True
    return catalog().entry(*found).is_flexible(api_version)
