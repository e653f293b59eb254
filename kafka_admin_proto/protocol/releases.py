"""Which versions of which apis Kafka's releases take, from 2.8 on: ``schemas/releases.json``.

    release("4.0").versions_of(1)      # 4 to 17 of Fetch
    removed_versions("4.0")[1]         # what no 4.0 takes any more (KIP-896): 0 to 3 of Fetch

Releases are named by their minor version; the facts are those of its last patch.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

import msgspec

from kafka_admin_proto.errors import UnknownReleaseError
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.structs import decodable

#: Apis that only brokers and controllers send to each other: each needs the right
#: ``ClusterAction``. Those of them that KRaft did without are gone in 4.0.
BROKER_APIS = frozenset(
    {
        "LeaderAndIsr", "StopReplica", "UpdateMetadata", "ControlledShutdown", "WriteTxnMarkers",
        "AlterPartition", "Envelope", "Vote", "BeginQuorumEpoch", "EndQuorumEpoch",
        "FetchSnapshot", "BrokerRegistration", "BrokerHeartbeat", "AllocateProducerIds",
        "ControllerRegistration", "AssignReplicasToDirs", "UpdateRaftVoter",
        "InitializeShareGroupState", "ReadShareGroupState", "WriteShareGroupState",
        "DeleteShareGroupState", "ReadShareGroupStateSummary",
    }
)  # fmt: skip

#: The names that Kafka's brokers give the clients inside them.
BROKER_CLIENT = r"^(broker-\d+-(fetcher-\d+|txn-marker-sender)|raft-client-\d+)$"


@decodable
class Release(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A release: by api key the versions of requests that it takes and those deprecated in it."""

    patch: str
    versions: dict[int, str]
    deprecated: dict[int, str]

    @property
    def name(self) -> str:
        """The minor release: "4.0" of 4.0.1."""
        return self.patch.rpartition(".")[0]

    def versions_of(self, api_key: int) -> VersionRange:
        """The versions of an api's request; empty where the release does not have the api."""
        return VersionRange.parse(self.versions.get(api_key, "none"))

    def deprecated_of(self, api_key: int) -> VersionRange:
        """Those of them that a later release may lack."""
        return VersionRange.parse(self.deprecated.get(api_key, "none"))


class Removed(msgspec.Struct, frozen=True):
    """A version that a release does not take any more: in which release it went, and the least
    version of that api which is left; None where all of it went.
    """

    since: str
    least: int | None


class UpgradeRule(msgspec.Struct, frozen=True):
    """What an upgrade means for those who send one version of an api.

    ``status`` is "version removed", "api removed" (all versions of it) or "deprecated" (still
    taken, and named as going). ``least`` is the version that a client has to speak at least, None
    where the api is gone; ``removed_in`` the release that dropped it, "" if none did.
    """

    status: str
    least: int | None
    removed_in: str


@cache
def releases() -> tuple[Release, ...]:
    """All releases, oldest first."""
    data = (catalog().folder / "releases.json").read_bytes()
    return msgspec.json.decode(data, type=tuple[Release, ...])


def release(name: str) -> Release:
    """The release of that name, "4.0" or "4.0.1"; raises UnknownReleaseError."""
    for each in releases():
        if re.fullmatch(rf"{re.escape(each.name)}(\.\d+)?", name, re.ASCII):
            return each
    known = releases()
    raise UnknownReleaseError(
        f"no release {name!r}; known are {known[0].name} to {known[-1].name}, as in 4.0"
    )


def removed_versions(name: str) -> dict[int, dict[int, Removed]]:
    """By api key and version, what that release lacks and an older one had.

    Raises UnknownReleaseError.
    """
    target = release(name)
    before = [each for each in releases() if _order(each) <= _order(target)]
    gone: dict[int, dict[int, Removed]] = {}
    for older, newer in pairwise(before):
        for key in older.versions:
            left = target.versions_of(key)
            for version in older.versions_of(key):
                if version not in newer.versions_of(key) and version not in left:
                    least = None if left.empty else left.lowest
                    gone.setdefault(key, {})[version] = Removed(newer.name, least)
    return gone


def upgrade_rules(name: str) -> dict[tuple[int, int], UpgradeRule]:
    """By api key and version: all that the release lacks and an older one had, or deprecates.

    Raises UnknownReleaseError.
    """
    rules: dict[tuple[int, int], UpgradeRule] = {}
    for key, gone in removed_versions(name).items():
        for version, removed in gone.items():
            status = "api removed" if removed.least is None else "version removed"
            rules[key, version] = UpgradeRule(status, removed.least, removed.since)
    target = release(name)
    for key in target.deprecated:
        old = target.deprecated_of(key)
        for version in old:
            rules[key, version] = UpgradeRule("deprecated", old.highest + 1, "")
    return rules


def _order(each: Release) -> tuple[int, ...]:
    return tuple(map(int, each.patch.split(".")))
