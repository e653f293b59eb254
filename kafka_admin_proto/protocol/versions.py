"""Which versions there are, which are meant for use, and which one two peers share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import msgspec

from kafka_admin_proto.errors import UnsupportedVersionError
from kafka_admin_proto.messages.api_versions_response import ApiVersionsResponse
from kafka_admin_proto.protocol.headers import API_VERSIONS_KEY
from kafka_admin_proto.protocol.payloads import UNSUPPORTED_VERSION
from kafka_admin_proto.schema.catalog import Entry, catalog
from kafka_admin_proto.schema.versions import VersionRange


class Api(msgspec.Struct, frozen=True):
    """An api of the protocol: its key, its name without "Request", the versions of its request."""

    api_key: int
    name: str
    versions: VersionRange


def supported(name: str, *, unstable: bool = False, dialect: str = "kafka") -> VersionRange:
    """The versions of a message, or of an api's request ("CreateTopics"), that are meant for use.

    All that Kafka ever shipped, deprecated ones too. The newest of an api that is still being
    developed (``latestVersionUnstable``) counts only when asked for: its layout may change.
    Raises UnknownMessageError.
    """
    names = catalog().names(dialect)
    if name not in names and f"{name}Request" in names:
        name = f"{name}Request"
    return _usable(catalog().entry(name, dialect), unstable)


def api_versions(*, unstable: bool = False, dialect: str = "kafka") -> list[Api]:
    """Every api that has a version meant for use, by key: what an ApiVersions response lists."""
    return [*_apis(catalog().generation, unstable, dialect)]


@lru_cache(maxsize=16)  # each connection asks; generation is the catalog's
def _apis(generation: int, unstable: bool, dialect: str) -> tuple[Api, ...]:
    apis = []
    for name in catalog().names(dialect):
        entry = catalog().entry(name, dialect)
        versions = _usable(entry, unstable)
        if entry.type == "request" and entry.api_key is not None and not versions.empty:
            apis.append(Api(entry.api_key, name.removesuffix("Request"), versions))
    return tuple(sorted(apis, key=lambda api: api.api_key))


def negotiate(ours: VersionRange, theirs: VersionRange) -> int:
    """The highest version that both ranges have; UnsupportedVersionError if they share none."""
    shared = ours & theirs
    if shared.empty:
        raise UnsupportedVersionError(
            f"no version in common: we have {ours}, the peer has {theirs}"
        )
    return shared.highest


def negotiate_apis(
    theirs: ApiVersionsResponse, ours: Iterable[Api] | None = None
) -> Mapping[int, int]:
    """For each api that both peers know, by key, the version to use; ``ours`` is all that is here.

    KIP-511: a broker that lacks the version of an ApiVersions request answers UNSUPPORTED_VERSION,
    and newer ones name the versions they have. The result is then ApiVersions' alone: the version
    to ask with again, 0 where the broker does not say. Raises UnsupportedVersionError when even
    that cannot be.
    """
    mine = {api.api_key: api.versions for api in (api_versions() if ours is None else ours)}
    said = {row.api_key: VersionRange(row.min_version, row.max_version) for row in theirs.api_keys}
    if theirs.error_code == UNSUPPORTED_VERSION:
        again = negotiate(
            mine.get(API_VERSIONS_KEY, VersionRange.NONE),
            said.get(API_VERSIONS_KEY, VersionRange(0, 0)),
        )
        return {API_VERSIONS_KEY: again}
    shared = {key: mine[key] & said[key] for key in mine.keys() & said.keys()}
    return {key: shared[key].highest for key in sorted(shared) if not shared[key].empty}


def _usable(entry: Entry, unstable: bool) -> VersionRange:
    versions = entry.versions
    if entry.latest_version_unstable and not unstable:
        return VersionRange(versions.lowest, versions.highest - 1)
    return versions
