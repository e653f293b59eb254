"""Limits of what replication may use while replicas move, as Kafka's own tool sets them.

A broker's rates (bytes/s) hold for the replicas that the topics' configs list as throttled:
"partition:broker", of leaders those that replicas are copied from, of followers the new ones.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

import msgspec

from kafka_admin_proto.admin.operations.common.topic_partitions import Partition
from kafka_admin_proto.admin.operations.configs.altering import AlterConfigs, ConfigChange
from kafka_admin_proto.admin.operations.configs.resources import ConfigResource
from kafka_admin_proto.admin.operations.partitions.moves import OngoingReassignment

RATES = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
LOG_DIRS_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
LEADERS = "leader.replication.throttled.replicas"
FOLLOWERS = "follower.replication.throttled.replicas"

_UNKNOWN_TOPIC = "UNKNOWN_TOPIC_OR_PARTITION"

#: From where to where replicas of a partition are copied.
Copies = tuple[set[int], set[int]]


def copies(
    ongoing: Iterable[OngoingReassignment],
    current: Mapping[Partition, Sequence[int]],
    wanted: Mapping[Partition, Sequence[int]],
) -> dict[Partition, Copies]:
    """All copies of the partitions that move already, and of those that are to move."""
    copies: dict[Partition, Copies] = {
        (each.topic, each.partition): ({*each.replicas} - {*each.adding}, {*each.adding})
        for each in ongoing
    }
    for partition, replicas in wanted.items():
        sources = copies[partition][0] if partition in copies else {*current[partition]}
        copies[partition] = sources, {*replicas} - sources
    return copies


def throttling(
    copies: Mapping[Partition, Copies], rate: int, live: Container[int]
) -> list[ConfigChange]:
    """The configs that hold the copies to ``rate`` bytes/s on each live broker.

    A broker that is down copies nothing, and nobody else takes its configs.
    """
    topics: dict[str, tuple[set[str], set[str]]] = {}
    for (topic, number), (sources, targets) in copies.items():
        leaders, followers = topics.setdefault(topic, (set(), set()))
        leaders.update(f"{number}:{broker}" for broker in sources)
        followers.update(f"{number}:{broker}" for broker in targets)
    brokers = {broker for ends in copies.values() for broker in set.union(*ends) if broker in live}
    return [
        *(
            ConfigChange(
                resource=ConfigResource("topic", topic),
                set={LEADERS: ",".join(sorted(leaders)), FOLLOWERS: ",".join(sorted(followers))},
            )
            for topic, (leaders, followers) in topics.items()
        ),
        *(
            ConfigChange(
                resource=ConfigResource("broker", str(broker)), set=dict.fromkeys(RATES, str(rate))
            )
            for broker in sorted(brokers)
        ),
    ]


def log_dirs_throttling(brokers: Iterable[int], rate: int) -> list[ConfigChange]:
    """The configs that hold moves between log dirs to ``rate`` bytes/s on each broker."""
    return [
        ConfigChange(resource=ConfigResource("broker", str(broker)), set={LOG_DIRS_RATE: str(rate)})
        for broker in sorted({*brokers})
    ]


def unthrottling(topics: Iterable[str], brokers: Iterable[int]) -> list[ConfigChange]:
    """The configs that take all these limits away."""
    return [
        *(
            ConfigChange(resource=ConfigResource("topic", topic), delete=[LEADERS, FOLLOWERS])
            for topic in sorted({*topics})
        ),
        *(
            ConfigChange(
                resource=ConfigResource("broker", str(broker)), delete=[*RATES, LOG_DIRS_RATE]
            )
            for broker in sorted({*brokers})
        ),
    ]


async def apply(caller: AlterConfigs, changes: list[ConfigChange], *, timeout: float) -> list[str]:
    """Alter the configs; a sentence for each topic and broker where that failed.

    A topic that does not exist has no limits to take away.
    """
    joined: dict[ConfigResource, ConfigChange] = {}
    for change in changes:
        before = joined.get(change.resource)
        if before is not None:
            change = msgspec.structs.replace(change, set={**before.set, **change.set})
        joined[change.resource] = change
    if not joined:
        return []
    answers = await caller.alter_configs(joined.values(), timeout=timeout)
    return [
        f"{each.type} {each.name}: {each.error}: {each.message}"
        for each in answers
        if each.error is not None
        and (each.error != _UNKNOWN_TOPIC or joined[ConfigResource(each.type, each.name)].set)
    ]
