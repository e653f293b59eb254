"""Which versions there are, which are meant for use, and which one two peers share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import msgspec

from kafka_admin_proto.arguments import check_kind, checked_arguments
from kafka_admin_proto.errors import UnsupportedVersionError
from kafka_admin_proto.messages.api_versions_response import ApiVersion, ApiVersionsResponse
from kafka_admin_proto.protocol import api_keys, codes
from kafka_admin_proto.protocol.payload_values import Response
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.versions import VersionRange


class Api(msgspec.Struct, frozen=True):
    """An api of the protocol: its key, its name without "Request", the versions of its request."""

    api_key: int
    name: str
    versions: VersionRange


def supported(name: str, *, unstable: bool = False, dialect: str = "kafka") -> VersionRange:
    """The versions of a message, or of an api's request ("CreateTopics"), that are meant for use.

    All that Kafka ever shipped, deprecated ones too. One that is still being developed, or was so
    in each release that had it (``latestVersionUnstable``), counts only when asked for.
    Raises UnknownMessageError.
    """
    check_kind(name, str, "name")
    names = catalog().names(dialect)
    if name not in names and f"{name}Request" in names:
        name = f"{name}Request"
    entry = catalog().entry(name, dialect)
    return entry.versions if unstable else entry.stable_versions


def api_versions(*, unstable: bool = False, dialect: str = "kafka") -> list[Api]:
    """Every api that has a version meant for use, by key: what an ApiVersions response lists."""
    return [*_apis(catalog().generation, unstable, dialect)]


@lru_cache(maxsize=16)  # each connection asks; generation is the catalog's
def _apis(generation: int, unstable: bool, dialect: str) -> tuple[Api, ...]:
    apis = []
    for name in catalog().names(dialect):
        entry = catalog().entry(name, dialect)
        versions = entry.versions if unstable else entry.stable_versions
        if entry.type == "request" and entry.api_key is not None and not versions.empty:
            apis.append(Api(entry.api_key, name.removesuffix("Request"), versions))
    return tuple(sorted(apis, key=lambda api: api.api_key))


def negotiate(ours: VersionRange, theirs: VersionRange) -> int:
    """The highest version that both ranges have; UnsupportedVersionError if they share none."""
    check_kind(ours, VersionRange, "negotiate: ours")
    check_kind(theirs, VersionRange, "negotiate: theirs")
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
    checked_arguments(negotiate_apis, {"theirs": theirs})
    ours = api_versions() if ours is None else [*ours]
    said = version_ranges(theirs)
    if theirs.error_code == codes.UNSUPPORTED_VERSION:
        mine = {api.api_key: api.versions for api in ours}
        again = negotiate(
            mine.get(api_keys.API_VERSIONS, VersionRange.NONE),
            said.get(api_keys.API_VERSIONS, VersionRange(0, 0)),
        )
        return {api_keys.API_VERSIONS: again}
    return {api.api_key: api.versions.highest for api in shared_apis(said, ours)}


def shared_apis(theirs: Mapping[int, VersionRange], ours: Iterable[Api] | None = None) -> list[Api]:
    """The apis that both peers have, in the versions that both have, by key.

    ``theirs`` are versions by api key, as a client's event Ready has them; ``ours`` is all that is
    here. A proxy gives the result to its ServerConnection: it then serves what it can pass on.
    """
    checked_arguments(shared_apis, {"theirs": theirs})
    shared = [
        Api(api.api_key, api.name, api.versions & theirs.get(api.api_key, VersionRange.NONE))
        for api in (api_versions() if ours is None else ours)
    ]
    return sorted((api for api in shared if not api.versions.empty), key=lambda api: api.api_key)


def cut_versions(response: Response, ours: Iterable[Api] | None = None) -> None:
    """Cut a broker's answer to ApiVersions, in place, to the apis and versions that are read here.

    ``ours`` are the apis to cut to, by default all that the package reads. Clients that keep to the
    answer (``response.encode()``) send a proxy no request that it cannot read. An answer in a
    version that is not read here becomes that of a broker without the version: version 0,
    UNSUPPORTED_VERSION and the versions of ApiVersions that are read, with which clients ask again
    (KIP-511). Raises ValueError for the response of another api and for ``ours`` without
    ApiVersions, and DecodeError for a response that is damaged.
    """
    checked_arguments(cut_versions, {"response": response})
    if response.api_key != api_keys.API_VERSIONS:
        raise ValueError(f"a {response.api} response names no versions; only ApiVersions does")
    known = {api.api_key: api for api in (api_versions() if ours is None else ours)}
    if api_keys.API_VERSIONS not in known:
        raise ValueError("ours lacks ApiVersions, without which nothing can be negotiated")
    own = known[api_keys.API_VERSIONS].versions
    body = response.read_body()
    if response.header is None and response.error is not None:
        raise response.error
    if response.api_version not in own:
        row = ApiVersion(api_keys.API_VERSIONS, own.lowest, own.highest)
        response.api_version, response.error = 0, None
        response.body = ApiVersionsResponse(codes.UNSUPPORTED_VERSION, [row])
    elif isinstance(body, ApiVersionsResponse):
        body.api_keys = shared_rows(body.api_keys, known)
    elif response.error is not None:
        raise response.error


def shared_rows(rows: Iterable[ApiVersion], ours: Mapping[int, Api]) -> list[ApiVersion]:
    """The rows of an ApiVersions response, cut to the versions of ``ours``, apis by their key."""
    shared = []
    for row in rows:
        theirs = VersionRange(row.min_version, row.max_version)
        api = ours.get(row.api_key)
        both = VersionRange.NONE if api is None else theirs & api.versions
        if not both.empty:
            shared.append(ApiVersion(row.api_key, both.lowest, both.highest))
    return shared


def version_ranges(response: ApiVersionsResponse) -> dict[int, VersionRange]:
    """The versions that a broker's answer names, by api key."""
    return {
        row.api_key: VersionRange(row.min_version, row.max_version) for row in response.api_keys
    }
