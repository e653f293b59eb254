"""The state of a KRaft cluster, which the replay of its metadata log builds.

``ClusterState`` has the contents of Kafka's ``MetadataImage``, and the voters from the log's
control records. ``ClusterState.items`` is its flat form for tables, JSON and ``diff``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal
from uuid import UUID

import msgspec

from kafka_admin_proto.records.metadata.entities import (
    Acl,
    Broker,
    ConfigValues,
    Controller,
    QuotaEntity,
    ScramUser,
    Token,
    Topic,
    Voter,
    entity_text,
)
from kafka_admin_proto.records.metadata.names import METADATA_VERSION, mechanism_name, version_name
from kafka_admin_proto.render.meanings import name_of
from kafka_admin_proto.topic_ids import topic_id_to_text
from kafka_admin_proto.wire.secrets import MASK
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8

#: Kind → name → fields, in JSON's types. See ``ClusterState.items``.
Items = dict[str, dict[str, dict[str, Any]]]

#: The kinds of things in a cluster, in the order in which they are shown.
KINDS = (
    "features", "voters", "controllers", "brokers", "topics", "partitions", "configs", "acls",
    "quotas", "scram_users", "delegation_tokens", "producer_ids", "zk_migration",
)  # fmt: skip


class ClusterState(msgspec.Struct, kw_only=True):
    """A cluster after the record at ``offset``, which is -1 before the first record."""

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
        """A copy: records that are applied to one of the two do not change the other.

        Partitions and credentials are shared, because a record replaces them as a whole.
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
        """The whole state as kind → name → fields, with kinds and names in a fixed order.

        Kinds are those of KINDS. With ``mask``, the values of secret configs are masked.
        """
        return self._items(mask, digests=False)

    def compared(self) -> Items:
        """``items`` for comparison only: unmasked, and with a digest of each credential."""
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
    """A difference in one item, or in one of its fields.

    ``field`` is "" if the whole item was added or removed. ``before`` and ``after`` are JSON
    values, None for an absent item or field. A secret that changed shows two masks.
    """

    kind: str
    name: str
    change: Literal["added", "removed", "changed"]
    field: str = ""
    before: Any = None
    after: Any = None


def diff(before: ClusterState, after: ClusterState, *, mask: bool = True) -> list[Change]:
    """All changes, by kind and name in the order of ``ClusterState.items``."""
    changes = []
    # Unmasked values are compared and masked values are shown: a change of a secret is visible.
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


def _json_float(value: float) -> float | str:
    """A number in the JSON of Java: NaN and the infinities are texts."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
