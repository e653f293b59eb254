"""Records for partitions whose brokers stop or start: leaders move, ISRs change.

The rules are those of Kafka's ``ReplicationControlManager``. Functions give records that belong
into one batch. Only ``catch_up`` appends, since each partition's leader sends a request of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING
from uuid import UUID

from kafka_admin_proto.messages import BrokerRegistrationChangeRecord, UnregisterBrokerRecord
from kafka_admin_proto.records.metadata.entities import Partition, Topic
from kafka_admin_proto.server.topics.assignments import is_online
from kafka_admin_proto.server.topics.partition_changes import (
    NO_LEADER,
    Election,
    change_partition,
    eligible_replicas,
    unclean_allowed,
)
from kafka_admin_proto.values import Message

if TYPE_CHECKING:
    from kafka_admin_proto.server.state import State

_UNFENCE, _FENCE = -1, 1
_IN_CONTROLLED_SHUTDOWN = 1
#: The most elections that the controller holds at a time.
_MOST_ELECTIONS = 1000


def fence(state: State, broker: int) -> list[Message]:
    """Fence a broker whose session is over: others lead, and it leaves all ISRs."""
    epoch = state.cluster.brokers[broker].epoch
    return [*_without(state, broker), BrokerRegistrationChangeRecord(broker, epoch, fenced=_FENCE)]


def unfence(state: State, broker: int) -> list[Message]:
    """Unfence a broker: it may lead partitions that have no leader."""
    epoch = state.cluster.brokers[broker].epoch

    def can_lead(each: int) -> bool:
        return each == broker or state.is_active(each)

    records: list[Message] = [BrokerRegistrationChangeRecord(broker, epoch, fenced=_UNFENCE)]
    for topic, number, partition in _partitions(state):
        if partition.leader == NO_LEADER:
            records += _changed(state, topic, number, can_lead=can_lead)
    return records


def begin_controlled_shutdown(state: State, broker: int) -> list[Message]:
    """Let others lead a stopping broker's partitions. No records if it leads none."""
    if not any(partition.leader == broker for _, _, partition in _partitions(state)):
        return []
    epoch = state.cluster.brokers[broker].epoch
    change = BrokerRegistrationChangeRecord(
        broker, epoch, in_controlled_shutdown=_IN_CONTROLLED_SHUTDOWN
    )
    return [change, *_without(state, broker)]


def replace_incarnation(state: State, broker: int, *, clean: bool) -> list[Message]:
    """A broker has started again; if it was killed, its replicas may have lost records."""
    if clean or not eligible_replicas(state):
        return _without(state, broker)
    records: list[Message] = []
    for topic, number, partition in _partitions(state):
        if broker in partition.isr or broker in partition.elr:
            records += _changed(
                state,
                topic,
                number,
                in_sync=[each for each in partition.isr if each != broker],
                can_lead=_others(state, broker),
                unclean_shutdown=broker,
            )
    return records


def unregister(state: State, broker: int) -> list[Message]:
    """Forget a broker: others lead, and it leaves all ISRs; its replicas stay assigned to it."""
    epoch = state.cluster.brokers[broker].epoch
    return [*_without(state, broker), UnregisterBrokerRecord(broker, epoch)]


def lose_directories(state: State, broker: int, directories: Collection[UUID]) -> list[Message]:
    """Directories of a broker are offline: others lead what is there, which leaves the ISRs.

    Those that were lost before change nothing.
    """
    known = state.cluster.brokers[broker]
    lost = set(known.directories) & set(directories)
    if not lost:
        return []
    records: list[Message] = []
    for topic, number, partition in _partitions(state):
        if directory_at(partition, broker) in lost:
            records += without_replica(state, topic, number, broker)
    left = [each for each in known.directories if each not in lost]
    return [*records, BrokerRegistrationChangeRecord(broker, known.epoch, log_dirs=left)]


def found_again(state: State, broker: int) -> list[Message]:
    """The records of a broker that has lost a directory, and makes its replicas anew in another.

    In Kafka it says so by AssignReplicasToDirs; until then these replicas may not lead.
    """
    directory = state.cluster.brokers[broker].directories[0]
    records: list[Message] = []
    for topic, number, partition in _partitions(state):
        known = directory_at(partition, broker)
        if known is not None and not is_online(state, broker, known):
            record = change_partition(state, topic.id, number, directory=(broker, directory))
            records += [] if record is None else [record]
    return records


def directory_at(partition: Partition, broker: int) -> UUID | None:
    """The directory of a broker's replica; None where it has none."""
    return dict(zip(partition.replicas, partition.directories, strict=True)).get(broker)


def elect_unclean(state: State) -> list[Message]:
    """Unclean elections for partitions without a leader, of topics that allow them."""
    records: list[Message] = []
    for topic, number, partition in _partitions(state):
        if len(records) == _MOST_ELECTIONS:
            break
        if partition.leader == NO_LEADER and unclean_allowed(state, topic.name):
            record = change_partition(state, topic.id, number, election=Election.UNCLEAN)
            records += [] if record is None else [record]
    return records


def elect_preferred(state: State) -> list[Message]:
    """Let preferred replicas lead again where they can."""
    records: list[Message] = []
    for topic, number, partition in _partitions(state):
        if len(records) == _MOST_ELECTIONS:
            break
        if partition.leader != partition.replicas[0]:
            record = change_partition(state, topic.id, number, election=Election.PREFERRED)
            records += [] if record is None else [record]
    return records


def catch_up(state: State, runs: Callable[[int], bool] = lambda _: True) -> None:
    """Append that replicas have caught up, if their brokers and their leaders run.

    A reassignment whose replicas are then in sync is completed.
    """
    records: list[Message] = []
    for topic_id, number in sorted(state.out_of_sync):
        topic = state.topic_by_id(topic_id)
        if topic is None:  # it was deleted
            state.out_of_sync.discard((topic_id, number))
            continue
        partition = topic.partitions[number]
        joining = joinable(state, topic, number, runs)
        if joining:
            in_sync = [*partition.isr, *joining]
            if state.release >= (4,):  # 3.9's leaders keep them in a Scala set
                in_sync.sort()
            records += _changed(state, topic, number, in_sync=in_sync, recovered=True)
    state.append(records)


def shrink(state: State, runs: Callable[[int], bool]) -> list[Message]:
    """Leaders remove replicas that are late from the ISR (``Partition.maybeShrinkIsr``)."""
    records: list[Message] = []
    for topic, number, late in state.partitions.late():
        partition = topic.partitions[number]
        if state.is_active(partition.leader) and runs(partition.leader):
            in_sync = [each for each in partition.isr if each not in late]
            records += _changed(state, topic, number, in_sync=in_sync)
    return records


def joinable(state: State, topic: Topic, number: int, runs: Callable[[int], bool]) -> list[int]:
    """The replicas of a partition that can join its ISR now."""
    partition = topic.partitions[number]
    if not (state.is_active(partition.leader) and runs(partition.leader)):
        return []
    return [
        each
        for each in partition.replicas
        if each not in partition.isr
        and state.is_active(each)
        and runs(each)
        and state.partitions.may_join(topic.id, number, each)
    ]


def _without(state: State, broker: int) -> list[Message]:
    """The records that remove a broker from the ISRs that it is in."""
    records: list[Message] = []
    for topic, number, partition in _partitions(state):
        if broker in partition.isr:
            records += without_replica(state, topic, number, broker)
    return records


def without_replica(state: State, topic: Topic, number: int, broker: int) -> list[Message]:
    """The record that removes a broker from a partition's ISR, and lets another one lead."""
    in_sync = [each for each in topic.partitions[number].isr if each != broker]
    return _changed(state, topic, number, in_sync=in_sync, can_lead=_others(state, broker))


def _others(state: State, broker: int) -> Callable[[int], bool]:
    return lambda each: each != broker and state.is_active(each)


def _changed(
    state: State,
    topic: Topic,
    number: int,
    *,
    in_sync: Iterable[int] | None = None,
    can_lead: Callable[[int], bool] | None = None,
    unclean_shutdown: int | None = None,
    recovered: bool = False,
) -> list[Message]:
    """The record of a change, with an unclean election if the topic allows it."""
    election = Election.UNCLEAN if unclean_allowed(state, topic.name) else Election.ONLINE
    record = change_partition(
        state,
        topic.id,
        number,
        in_sync=None if in_sync is None else list(in_sync),
        election=election,
        can_lead=can_lead,
        unclean_shutdown=unclean_shutdown,
        recovered=recovered,
    )
    return [] if record is None else [record]


def _partitions(state: State) -> Iterator[tuple[Topic, int, Partition]]:
    for topic in state.cluster.topics.values():
        for number, partition in topic.partitions.items():
            yield topic, number, partition
