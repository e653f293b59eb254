"""Which header version stands in front of which body.

Source: ``ApiMessageType.requestHeaderVersion`` and ``responseHeaderVersion`` in kafka-clients.
"""

from __future__ import annotations

from kafka_admin_proto.schema.catalog import Entry, catalog

API_VERSIONS_KEY = 18
_CONTROLLED_SHUTDOWN_KEY = 7


def request_header_version(api_key: int, api_version: int) -> int:
    """2 in flexible versions, else 1; 0 (without client id) for ControlledShutdown v0.

    An api that nobody here knows is taken to be newer than this package, so flexible.
    """
    if api_key == _CONTROLLED_SHUTDOWN_KEY and api_version == 0:
        return 0
    return 2 if _is_flexible(api_key, api_version, "request") else 1


def response_header_version(api_key: int, api_version: int) -> int:
    """1 in flexible versions, else 0; always 0 for ApiVersions.

    A client does not know yet what the broker speaks when it reads that response (KIP-511).
    """
    if api_key == API_VERSIONS_KEY:
        return 0
    return 1 if _is_flexible(api_key, api_version, "response") else 0


def entry_of(api_key: int, type: str) -> tuple[str, Entry] | None:
    """The name and index entry of an api's request or response; None for an unknown key."""
    name = catalog().name_of(api_key, type)
    return None if name is None else (name, catalog().entry(name))


def _is_flexible(api_key: int, api_version: int, type: str) -> bool:
    found = entry_of(api_key, type)
    if found is None:
        return True
    return found[1].is_flexible(api_version)
