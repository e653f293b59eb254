"""AlterPartition: a leader changes the ISR of partitions that it leads (KIP-497).

Versions: 2 topic ids (KIP-841), 3 the epochs of the brokers in the ISR (KIP-903).
"""

from __future__ import annotations

from kafka_admin_proto.messages.alter_partition_request import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
)
from kafka_admin_proto.messages.alter_partition_response import (
    AlterPartitionResponse,
    TopicData,
)
from kafka_admin_proto.messages.alter_partition_response import PartitionData as Row
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.entities import Partition, Topic
from kafka_admin_proto.records.metadata.topic_rules import merged
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.failures import ApiFailure, RequestFailure
from kafka_admin_proto.server.quorum.broker_states import check_epoch
from kafka_admin_proto.server.security.authorizer.rules import CLUSTER_ACTION
from kafka_admin_proto.server.state import State
from kafka_admin_proto.server.topics.partition_changes import (
    Election,
    change_partition,
    unclean_allowed,
)
from kafka_admin_proto.values import Message

_WITH_EPOCHS = 3
_ANY_EPOCH = -1
_RECOVERED, _RECOVERING = 0, 1
_SAME_LEADER = -2


@handler(of_broker=False, needs=Gate(CLUSTER_ACTION, "none"), kept=False)
def handle(state: State, request: AlterPartitionRequest, caller: Caller) -> Answer:
    """Change each partition by itself; STALE_BROKER_EPOCH for another incarnation of the leader."""
    check_epoch(state, request.broker_id, request.broker_epoch)
    response = AlterPartitionResponse()
    records: list[Message] = []
    for asked in request.topics:
        topic = state.topic_by_id(asked.topic_id)
        rows = []
        for each in asked.partitions:
            try:
                if topic is None:
                    raise ApiFailure(codes.UNKNOWN_TOPIC_ID)
                partition = topic.partitions.get(each.partition_index)
                _check(state, request.broker_id, partition, each, _in_sync(each, caller.version))
                row, changes = _changed(state, request.broker_id, topic, each, caller.version)
                rows.append(row)
                records += changes
            except RequestFailure:
                raise
            except ApiFailure as failure:
                rows.append(Row(each.partition_index, failure.code))
        response.topics.append(TopicData(topic_id=asked.topic_id, partitions=rows))
    return Answer(response, records)


def _in_sync(asked: PartitionData, version: int) -> list[BrokerState]:
    """The new ISR with the brokers' epochs, which older versions do not have."""
    if version >= _WITH_EPOCHS:
        return asked.new_isr_with_epochs
    return [BrokerState(each, _ANY_EPOCH) for each in asked.new_isr]


def _check(
    state: State,
    leader: int,
    partition: Partition | None,
    asked: PartitionData,
    in_sync: list[BrokerState],
) -> None:
    """Raises ApiFailure for a change that is refused (``validateAlterPartitionData``).

    A leader that knows a later epoch than the controller looks for another controller.
    """
    if partition is None:
        raise ApiFailure(codes.UNKNOWN_TOPIC_OR_PARTITION)
    epoch, version = partition.leader_epoch, partition.partition_epoch
    if asked.leader_epoch > epoch or asked.partition_epoch > version:
        raise ApiFailure(codes.NOT_CONTROLLER)
    if asked.leader_epoch < epoch:
        raise ApiFailure(codes.FENCED_LEADER_EPOCH)
    if leader != partition.leader:
        raise ApiFailure(codes.INVALID_REQUEST)
    if asked.partition_epoch < version:
        raise ApiFailure(codes.INVALID_UPDATE_VERSION)
    ids = [each.broker_id for each in in_sync]
    is_valid = len(set(ids)) == len(ids) and set(ids) <= set(partition.replicas)
    if not is_valid or leader not in ids:
        raise ApiFailure(codes.INVALID_REQUEST)
    recovery = asked.leader_recovery_state
    if recovery not in (_RECOVERED, _RECOVERING):
        raise RequestFailure(codes.UNKNOWN_SERVER_ERROR)
    was_recovered = partition.leader_recovery_state == _RECOVERED
    if recovery == _RECOVERING and (len(ids) > 1 or was_recovered):
        raise ApiFailure(codes.INVALID_REQUEST)
    for each in in_sync:
        is_same = each.broker_epoch == _ANY_EPOCH or (
            each.broker_id in state.cluster.brokers
            and state.cluster.brokers[each.broker_id].epoch == each.broker_epoch
        )
        if not (state.is_active(each.broker_id) and is_same):
            raise ApiFailure(codes.INELIGIBLE_REPLICA)


def _changed(
    state: State, leader: int, topic: Topic, asked: PartitionData, version: int
) -> tuple[Row, list[Message]]:
    """The answer to a change, and its record where something changes."""
    number = asked.partition_index
    record = change_partition(
        state,
        topic.id,
        number,
        in_sync=[each.broker_id for each in _in_sync(asked, version)],
        election=Election.UNCLEAN if unclean_allowed(state, topic.name) else Election.ONLINE,
        recovered=asked.leader_recovery_state == _RECOVERED,
    )
    now = topic.partitions[number]
    if record is None:
        return _row(number, now), []
    if record.leader not in (leader, _SAME_LEADER):  # a reassignment is complete
        return Row(number, codes.NEW_LEADER_ELECTED), [record]
    return _row(number, merged(now, record)), [record]


def _row(number: int, partition: Partition) -> Row:
    return Row(
        number,
        0,
        partition.leader,
        partition.leader_epoch,
        list(partition.isr),
        partition.leader_recovery_state,
        partition.partition_epoch,
    )
