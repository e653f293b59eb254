"""The header version that each version of a request or response has.

Definitions from September 2026 on say it (``headerVersions``, KIP-1313); before, it followed from
flexible versions. Source: ``HeaderVersions`` and ``ApiMessageTypeGenerator`` in Kafka's generator.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from kafka_admin_proto.errors import SchemaError
from kafka_admin_proto.schema.versions import MAX_VERSION, VersionRange

#: Versions of a message → the version of the header in front of them, lowest first.
HeaderVersions = tuple[tuple[VersionRange, int], ...]

#: The messages whose headers do not follow from flexibility alone.
_CONTROLLED_SHUTDOWN, _API_VERSIONS = "ControlledShutdownRequest", "ApiVersionsResponse"
#: The first flexible version of each header.
_FLEXIBLE_HEADER = {"request": 2, "response": 1}


def header_version(
    given: HeaderVersions, type: str, name: str, version: int, *, flexible: bool
) -> int:
    """The version of the header: as the message gives it, else as it follows from flexibility.

    Of requests that is 2 in flexible versions, else 1; 0 (without client id) for
    ControlledShutdown v0. Of responses it is 1, else 0; always 0 for ApiVersions, as a client does
    not know yet what the broker speaks when it reads that response (KIP-511).
    """
    for versions, header in given:
        if version in versions:
            return header
    if type == "request":
        if (name, version) == (_CONTROLLED_SHUTDOWN, 0):
            return 0
        return 2 if flexible else 1
    return 1 if flexible and name != _API_VERSIONS else 0


def header_faults(
    given: HeaderVersions, type: str, name: str, valid: VersionRange, flexible: VersionRange
) -> Iterator[SchemaError]:
    """The rules of Kafka's generator that the ``headerVersions`` of a message break."""
    if not given:
        return
    if type not in _FLEXIBLE_HEADER or valid.empty:
        yield SchemaError(
            "headerVersions are for requests and responses that have versions", "remove them"
        )
        return
    if given[0][0].lowest != 0:
        yield SchemaError(
            f"headerVersions begin at version {given[0][0].lowest}",
            "begin at version 0, also where that is no longer valid",
        )
    for (one, header), (other, next_header) in pairwise(given):
        if other.lowest != one.highest + 1:
            yield SchemaError(
                f"headerVersions {one} and {other} leave a gap, or overlap",
                "begin each range where the one before it ends",
            )
        if next_header < header:
            yield SchemaError(
                f"headerVersions go back from {header} to {next_header} at version {other.lowest}",
                "keep the header, or take a newer one",
            )
    last = given[-1][0]
    if last.highest != MAX_VERSION:
        yield SchemaError(
            f"the last of headerVersions, {last}, is not open-ended", f'write "{last.lowest}+"'
        )
    if last.lowest > valid.highest:
        yield SchemaError(
            f"headerVersions {last} begin above the highest valid version, {valid.highest}",
            "remove that range",
        )
    for versions, header in given:
        both = versions & flexible
        if name == _API_VERSIONS:
            if header:
                yield SchemaError(
                    f"header version {header} stands in front of an ApiVersions response",
                    "write 0, which clients of any version read (KIP-511)",
                )
        elif not both.empty and header < _FLEXIBLE_HEADER[type]:
            yield SchemaError(
                f"header version {header} stands in front of the flexible versions {both}",
                f"write {_FLEXIBLE_HEADER[type]} or more",
            )
