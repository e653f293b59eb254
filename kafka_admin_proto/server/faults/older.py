"""A cluster that plays an older one, api by api: it serves fewer versions."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_admin_proto.protocol.headers import API_VERSIONS_KEY
from kafka_admin_proto.protocol.versions import Api
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.server.faults.words import FaultError, api_key_of, versions_of


def with_versions(apis: tuple[Api, ...], wanted: Mapping[str, str]) -> tuple[Api, ...]:
    """The apis, some of them in the given versions only ("0-9"), or left out ("none").

    Raises FaultError for an unknown api, and for versions that the api does not have.
    """
    ranges = {api_key_of(name, apis): versions_of(text) for name, text in wanted.items()}
    return tuple(
        capped
        for each in apis
        if not (capped := _capped(each, ranges.get(each.api_key, each.versions))).versions.empty
    )


def _capped(api: Api, wanted: VersionRange) -> Api:
    if wanted.empty:
        if api.api_key == API_VERSIONS_KEY:
            raise FaultError("ApiVersions cannot be left out: clients begin with it")
        return Api(api.api_key, api.name, wanted)
    shared = api.versions & wanted
    if shared.empty:
        raise FaultError(
            f"{api.name} is served in versions {api.versions}, and none of them is in {wanted}; "
            "'none' leaves the api out"
        )
    return Api(api.api_key, api.name, shared)
