"""A cluster that plays an older one, api by api: it serves fewer versions."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.faults.words import FaultError, api_key_of, versions_of
from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.protocol.versions import Api
from kafka_admin_proto.schema.versions import VersionRange


def with_versions(apis: tuple[Api, ...], wanted: Mapping[str, str]) -> tuple[Api, ...]:
    """The apis, some of them in the given versions only ("0-9", "2+"), or left out ("none").

    Raises SettingsError for an unknown api, one that is there twice, and a version that the api is
    not served in.
    """
    ranges: dict[int, VersionRange] = {}
    try:
        for name, text in wanted.items():
            key = api_key_of(name, apis)
            if key in ranges:
                raise FaultError(f"{name!r} is there twice, in another spelling; leave one out")
            ranges[key] = versions_of(text)
        fewer = [_fewer(each, ranges.get(each.api_key, each.versions)) for each in apis]
    except FaultError as error:
        raise SettingsError(f"api_versions: {error}") from None
    return tuple(each for each in fewer if not each.versions.empty)


def _fewer(api: Api, wanted: VersionRange) -> Api:
    if wanted.empty and api.api_key == api_keys.API_VERSIONS:
        raise FaultError("ApiVersions cannot be left out: clients begin with it")
    highest = api.versions.highest if wanted.open_ended else wanted.highest
    versions = VersionRange(wanted.lowest, highest)
    if not api.versions.covers(versions) or (versions.empty and not wanted.empty):
        raise FaultError(
            f"{api.name} is served in versions {api.versions}, and not all of {wanted} are among "
            "them; write a range within, N+ for all from N on, or none to leave the api out"
        )
    return Api(api.api_key, api.name, versions)
