"""The state of a KRaft cluster, as replaying its metadata log makes it.

``ClusterState`` holds what Kafka's ``MetadataImage`` holds, and what the control records of the log
say of its voters. ``ClusterState.items`` gives it flat, for tables, JSON and ``diff``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, Literal
from uuid import UUID

import msgspec

from kafka_admin_proto.records.metadata.names import (
    METADATA_VERSION,
    mechanism_name,
    name_of,
    version_name,
)
from kafka_admin_proto.topic_ids import topic_id_to_text
from kafka_admin_proto.wire.blobs import replace_invalid_utf8
from kafka_admin_proto.wire.secrets import MASK, is_secret_name

#: Kind → name → fields, in JSON's types. See ``ClusterState.items``.
Items = dict[str, dict[str, dict[str, Any]]]

#: The kinds of things in a cluster, in the order in which they are shown.
KINDS = (
    "features", "voters", "controllers", "brokers", "topics", "partitions", "configs", "acls",
    "quotas", "scram_users", "delegation_tokens", "producer_ids", "zk_migration",
)  # fmt: skip


class Endpoint(msgspec.Struct, frozen=True):
    """A listener of a node; ``security_protocol`` is None where the log does not tell (voters)."""

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

    ``cordoned_directories`` is None where its release does not know of such.
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
        """By what to tell the credential from another one: SHA-256 of salt and keys."""
        secrets = (self.salt, self.stored_key, self.server_key)
        return sha256(b"".join(sha256(secret).digest() for secret in secrets)).digest()

    def __repr__(self) -> str:
        return f"ScramUser(iterations={self.iterations})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("iterations", self.iterations)]


class Token(msgspec.Struct):
    """A delegation token; the log has no secret of it. Timestamps: milliseconds since 1970."""

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


class ClusterState(msgspec.Struct, kw_only=True):
    """A cluster after the record at ``offset``; -1 where no record was read."""

    offset: int = -1
    epoch: int = -1
    features: dict[str, int] = {}
    kraft_version: int = 0
    voters: dict[int, Voter] = {}
    controllers: dict[int, Controller] = {}
    brokers: dict[int, Broker] = {}
    topics: dict[UUID, Topic] = {}
    #: Resource type and name → its configs; the name is "" for the default of all brokers.
    configs: dict[tuple[int, str], ConfigValues] = {}
    acls: dict[UUID, Acl] = {}
    quotas: dict[QuotaEntity, dict[str, float]] = {}
    #: User and mechanism → the credential.
    scram_users: dict[tuple[str, int], ScramUser] = {}
    delegation_tokens: dict[str, Token] = {}
    next_producer_id: int | None = None
    zk_migration_state: int | None = None

    @property
    def metadata_version(self) -> str | None:
        """Name of the metadata.version in force, "4.0-IV3"; None before one is set."""
        level = self.features.get(METADATA_VERSION)
        return None if level is None else version_name(level)

    def copied(self) -> ClusterState:
        """An independent cluster: what is applied to one of them does not change the other.

        Partitions and credentials are shared, since a record replaces them.
        """
        return msgspec.structs.replace(
            self,
            features=dict(self.features),
            voters=dict(self.voters),
            controllers=dict(self.controllers),
            brokers={each: msgspec.structs.replace(one) for each, one in self.brokers.items()},
            topics={
                each: Topic(one.name, one.id, dict(one.partitions))
                for each, one in self.topics.items()
            },
            configs={each: ConfigValues(values) for each, values in self.configs.items()},
            acls=dict(self.acls),
            quotas={each: dict(rates) for each, rates in self.quotas.items()},
            scram_users=dict(self.scram_users),
            delegation_tokens=dict(self.delegation_tokens),
        )

    def items(self, *, mask: bool = True) -> Items:
        """Everything as kind → name → fields, kinds and names in a settled order.

        Kinds are those of KINDS. ``mask`` hides configs that hold secrets; the item keeps its name.
        """
        return self._items(mask, digests=False)

    def compared(self) -> Items:
        """As ``items`` without masks, and with a digest of each credential: not to be shown."""
        return self._items(mask=False, digests=True)

    def _items(self, mask: bool, digests: bool) -> Items:
        items: Items = {kind: {} for kind in KINDS}
        counts: dict[tuple[str, str], int] = {}
        for kind, name, fields in self._walk(mask, digests):
            named = items[kind]
            unique = name
            while unique in named:  # two topics of one name, say, in a log gone wrong
                count = counts[kind, name] = counts.get((kind, name), 1) + 1
                unique = f"{name} ({count})"
            named[unique] = fields
        return items

    def _walk(self, mask: bool, digests: bool) -> Iterator[tuple[str, str, dict[str, Any]]]:
        for feature, level in sorted(self.features.items()):
            fields: dict[str, Any] = {"featureLevel": level}
            if feature == METADATA_VERSION:
                fields["release"] = self.metadata_version
            yield "features", replace_invalid_utf8(feature), fields
        if self.kraft_version:
            yield "features", "kraft.version", {"featureLevel": self.kraft_version}
        for kind, nodes in (
            ("voters", self.voters),
            ("controllers", self.controllers),
            ("brokers", self.brokers),
        ):
            for number in sorted(nodes):
                yield kind, str(number), nodes[number].fields()
        for topic in sorted(self.topics.values(), key=lambda topic: (topic.name, topic.id)):
            name = replace_invalid_utf8(topic.name)
            about = {"topicId": topic_id_to_text(topic.id), "partitions": len(topic.partitions)}
            yield "topics", name, about
            for number, partition in sorted(topic.partitions.items()):
                yield "partitions", f"{name}-{number}", partition.fields()
        for (resource, name), values in sorted(self.configs.items()):
            shown = dict(sorted(values.shown(mask=mask).items()))
            kind = name_of("config_resource_type", resource)
            yield "configs", f"{kind} {replace_invalid_utf8(name) or '<default>'}", shown
        for acl_id, acl in sorted(self.acls.items()):
            yield "acls", topic_id_to_text(acl_id), acl.fields()
        for entity, quotas in sorted(self.quotas.items(), key=lambda item: entity_text(item[0])):
            rates = {
                replace_invalid_utf8(key): _json_float(rate) for key, rate in sorted(quotas.items())
            }
            yield "quotas", entity_text(entity), rates
        for (user, mechanism), credential in sorted(self.scram_users.items()):
            fields = {"iterations": credential.iterations}
            if digests:
                fields["credential"] = credential.digest
            yield "scram_users", f"{replace_invalid_utf8(user)} {mechanism_name(mechanism)}", fields
        for token_id, token in sorted(self.delegation_tokens.items()):
            yield "delegation_tokens", replace_invalid_utf8(token_id), token.fields()
        if self.next_producer_id is not None:
            yield "producer_ids", "next", {"nextProducerId": self.next_producer_id}
        if self.zk_migration_state is not None:
            state = name_of("zk_migration_state", self.zk_migration_state)
            yield "zk_migration", "state", {"zkMigrationState": state}


class Change(msgspec.Struct, frozen=True):
    """What differs in one item, or in one of its fields.

    ``field`` is "" where the whole item was added or removed; ``before`` and ``after`` are JSON
    values, None where there is nothing on that side. A secret that changed shows two masks.
    """

    kind: str
    name: str
    change: Literal["added", "removed", "changed"]
    field: str = ""
    before: Any = None
    after: Any = None


def diff(before: ClusterState, after: ClusterState, *, mask: bool = True) -> list[Change]:
    """What changed, by kind and name in the order of ``ClusterState.items``."""
    changes = []
    # Compared as they are and shown masked: that a secret changed is no secret.
    old, new = before.compared(), after.compared()
    old_shown, new_shown = before.items(mask=mask), after.items(mask=mask)
    for kind in KINDS:
        for name in [*old[kind], *(name for name in new[kind] if name not in old[kind])]:
            was, now = old_shown[kind].get(name), new_shown[kind].get(name)
            if was is None or now is None:
                how: Literal["added", "removed"] = "added" if was is None else "removed"
                changes.append(Change(kind, name, how, before=was, after=now))
                continue
            for field in {**old[kind][name], **new[kind][name]}:
                if old[kind][name].get(field) != new[kind][name].get(field):
                    hidden = None if field in was or field in now else MASK
                    sides = was.get(field, hidden), now.get(field, hidden)
                    changes.append(Change(kind, name, "changed", field, *sides))
    return changes


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


def _json_float(value: float) -> float | str:
    """A number as Java's JSON has it: NaN and the infinities are texts."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
