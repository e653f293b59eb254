"""The things in a cluster's metadata: topics, brokers, controllers, ACLs, quotas, credentials.

Each has ``fields``, its JSON form by the names of the metadata record that creates it.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any
from uuid import UUID

import msgspec

from kafka_admin_proto.render.meanings import name_of
from kafka_admin_proto.topic_ids import topic_id_to_text
from kafka_admin_proto.wire.secrets import MASK, is_secret_name
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8


class Endpoint(msgspec.Struct, frozen=True):
    """A listener of a node; voters' records have no ``security_protocol``, which is None then."""

    name: str
    host: str
    port: int
    security_protocol: int | None = None

    def fields(self) -> dict[str, Any]:
        """Its JSON form."""
        shown = {
            "name": replace_invalid_utf8(self.name),
            "host": replace_invalid_utf8(self.host),
            "port": self.port,
        }
        if self.security_protocol is not None:
            shown["securityProtocol"] = name_of("security_protocol", self.security_protocol)
        return shown


class Partition(msgspec.Struct):
    """One partition. ``elr``: eligible leader replicas (KIP-966); ids are those of brokers."""

    replicas: list[int]
    directories: list[UUID]
    isr: list[int]
    removing_replicas: list[int]
    adding_replicas: list[int]
    leader: int
    leader_recovery_state: int
    leader_epoch: int
    partition_epoch: int
    elr: list[int]
    last_known_elr: list[int]

    def fields(self) -> dict[str, Any]:
        """Its JSON form, by the names of PartitionRecord."""
        return {
            "leader": self.leader,
            "replicas": list(self.replicas),
            "isr": list(self.isr),
            "addingReplicas": list(self.adding_replicas),
            "removingReplicas": list(self.removing_replicas),
            "eligibleLeaderReplicas": list(self.elr),
            "lastKnownElr": list(self.last_known_elr),
            "leaderEpoch": self.leader_epoch,
            "partitionEpoch": self.partition_epoch,
            "leaderRecoveryState": name_of("leader_recovery_state", self.leader_recovery_state),
            "directories": _ids(self.directories),
        }


class Topic(msgspec.Struct):
    """A topic and its partitions by their numbers."""

    name: str
    id: UUID
    partitions: dict[int, Partition] = {}


class Broker(msgspec.Struct):
    """A registered broker; ``features`` are (lowest, highest) levels that it supports.

    ``cordoned_directories`` is None for a release that does not have them.
    """

    id: int
    epoch: int
    incarnation_id: UUID
    endpoints: dict[str, Endpoint]
    features: dict[str, tuple[int, int]]
    rack: str | None
    fenced: bool
    in_controlled_shutdown: bool
    is_migrating_zk_broker: bool
    directories: list[UUID]
    cordoned_directories: list[UUID] | None

    def fields(self) -> dict[str, Any]:
        """Its JSON form, by the names of RegisterBrokerRecord."""
        return {
            "fenced": self.fenced,
            "inControlledShutdown": self.in_controlled_shutdown,
            "brokerEpoch": self.epoch,
            "rack": None if self.rack is None else replace_invalid_utf8(self.rack),
            "endPoints": _endpoints(self.endpoints),
            "features": _feature_ranges(self.features),
            "incarnationId": topic_id_to_text(self.incarnation_id),
            "isMigratingZkBroker": self.is_migrating_zk_broker,
            "logDirs": sorted(_ids(self.directories)),
            "cordonedLogDirs": (
                None
                if self.cordoned_directories is None
                else sorted(_ids(self.cordoned_directories))
            ),
        }


class Controller(msgspec.Struct):
    """A registered controller; features as in Broker."""

    id: int
    incarnation_id: UUID
    zk_migration_ready: bool
    endpoints: dict[str, Endpoint]
    features: dict[str, tuple[int, int]]

    def fields(self) -> dict[str, Any]:
        """Its JSON form, by the names of RegisterControllerRecord."""
        return {
            "endPoints": _endpoints(self.endpoints),
            "features": _feature_ranges(self.features),
            "incarnationId": topic_id_to_text(self.incarnation_id),
            "zkMigrationReady": self.zk_migration_ready,
        }


class Voter(msgspec.Struct):
    """A voter of a dynamic quorum (KIP-853)."""

    id: int
    directory_id: UUID
    endpoints: list[Endpoint]
    kraft_versions: tuple[int, int]

    def fields(self) -> dict[str, Any]:
        """Its JSON form, by the names of VotersRecord."""
        lowest, highest = self.kraft_versions
        return {
            "endpoints": [endpoint.fields() for endpoint in self.endpoints],
            "voterDirectoryId": topic_id_to_text(self.directory_id),
            "kRaftVersions": f"{lowest}-{highest}",
        }


class Acl(msgspec.Struct, frozen=True):
    """One access control entry."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int

    def fields(self) -> dict[str, Any]:
        """Its JSON form, by the names of AccessControlEntryRecord."""
        return {
            "principal": replace_invalid_utf8(self.principal),
            "host": replace_invalid_utf8(self.host),
            "permissionType": name_of("acl_permission_type", self.permission_type),
            "operation": name_of("acl_operation", self.operation),
            "resourceType": name_of("acl_resource_type", self.resource_type),
            "patternType": name_of("pattern_type", self.pattern_type),
            "resourceName": replace_invalid_utf8(self.resource_name),
        }


class ConfigValues(dict[str, str]):
    """Configs by name; those that hold secrets are masked in ``repr``."""

    def shown(self, *, mask: bool = True) -> dict[str, str]:
        """Their texts, secrets masked."""
        return {
            replace_invalid_utf8(name): MASK
            if mask and is_secret_name(name)
            else replace_invalid_utf8(value)
            for name, value in self.items()
        }

    def __repr__(self) -> str:
        return repr(self.shown())


class ScramUser(msgspec.Struct):
    """A user's credential for one mechanism. Salt and keys are never shown."""

    iterations: int
    salt: bytes
    stored_key: bytes
    server_key: bytes

    @property
    def digest(self) -> bytes:
        """SHA-256 of salt and keys, by which credentials are compared."""
        secrets = (self.salt, self.stored_key, self.server_key)
        return sha256(b"".join(sha256(secret).digest() for secret in secrets)).digest()

    def __repr__(self) -> str:
        return f"ScramUser(iterations={self.iterations})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("iterations", self.iterations)]


class Token(msgspec.Struct):
    """A delegation token, whose secret is not in the log. Timestamps: milliseconds since 1970."""

    owner: str
    requester: str
    renewers: list[str]
    issue_timestamp: int
    expiration_timestamp: int
    max_timestamp: int

    def fields(self) -> dict[str, Any]:
        """Its JSON form, by the names of DelegationTokenRecord."""
        return {
            "owner": replace_invalid_utf8(self.owner),
            "requester": replace_invalid_utf8(self.requester),
            "renewers": [replace_invalid_utf8(renewer) for renewer in self.renewers],
            "issueTimestamp": self.issue_timestamp,
            "expirationTimestamp": self.expiration_timestamp,
            "maxTimestamp": self.max_timestamp,
        }


#: Entity type ("user", "client-id", "ip") and name, None for the default; sorted by type.
QuotaEntity = tuple[tuple[str, str | None], ...]


def entity_text(entity: QuotaEntity) -> str:
    """An entity of quotas in words: "user=alice, client-id=<default>"."""
    parts = (
        f"{replace_invalid_utf8(kind)}="
        f"{'<default>' if name is None else replace_invalid_utf8(name)}"
        for kind, name in entity
    )
    return ", ".join(parts)


def _ids(ids: list[UUID]) -> list[str]:
    return [topic_id_to_text(each) for each in ids]


def _endpoints(endpoints: Mapping[str, Endpoint]) -> list[dict[str, Any]]:
    return [endpoints[name].fields() for name in sorted(endpoints)]


def _feature_ranges(features: Mapping[str, tuple[int, int]]) -> dict[str, str]:
    return {
        replace_invalid_utf8(name): f"{low}-{high}"
        for name, (low, high) in sorted(features.items())
    }
