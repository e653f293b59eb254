"""DescribeShareGroupOffsets: where share groups begin, and how much is before them (KIP-932).

Versions: 1 the lag (KIP-1226).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kafka_admin_proto.messages.describe_share_group_offsets_request import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
)
from kafka_admin_proto.messages.describe_share_group_offsets_response import (
    DescribeShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import NOT_AUTHORIZED, NOT_COORDINATING, ApiFailure
from kafka_admin_proto.server.java import long_sum
from kafka_admin_proto.server.repeats import Repeats
from kafka_admin_proto.server.security.authorizer.access import allowed_topics, check_group
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE
from kafka_admin_proto.server.share.checks import check_share_version, missing_state_topic, text_of
from kafka_admin_proto.server.share.state import UNKNOWN_OFFSET, ShareKey


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: DescribeShareGroupOffsetsRequest, caller: Caller) -> Answer:
    """Describe each group, all its partitions if none are named.

    As in Kafka any broker describes partitions that are named, of any group.
    """
    rows = []
    repeats = Repeats("partitions of share groups")
    for group in request.groups:
        name = group.group_id
        try:
            check_share_version(state)
            check_group(state, caller, DESCRIBE, name)
            if group.topics is None:
                repeats.describe(name)
            topics = _topics(state, caller, group)
            repeats.described(name, sum(len(each.partitions) for each in topics))
        except ApiFailure as failure:
            code, text = failure.code, failure.message or NOT_COORDINATING.get(failure.code)
            rows.append(DescribeShareGroupOffsetsResponseGroup(name, [], code, text))
            continue
        rows.append(DescribeShareGroupOffsetsResponseGroup(name, topics))
    answer = Answer(DescribeShareGroupOffsetsResponse(groups=rows))
    if any(each.topic_id.int and each.partitions for row in rows for each in row.topics):
        answer.records = missing_state_topic(state, caller)
    return answer


def _topics(
    state: View, caller: Caller, group: DescribeShareGroupOffsetsRequestGroup
) -> list[DescribeShareGroupOffsetsResponseTopic]:
    """The rows of topics; one that is there has one, with each partition once."""
    name = group.group_id
    if group.topics is None:
        shard = state.controller_state.coordinators.shard(state, caller, name)
        found = shard.share_groups.get(name)
        initialized = {} if found is None else found.partitions.initialized
        asked = {each.name: sorted(each.partitions) for each in initialized.values()}
        allowed = allowed_topics(state, caller, DESCRIBE, asked)
        return [_topic(state, name, each, asked[each]) for each in asked if each in allowed]
    allowed = allowed_topics(state, caller, DESCRIBE, [each.topic_name for each in group.topics])
    rows = []
    known: dict[str, dict[int, None]] = {}
    for wanted in group.topics:
        if wanted.topic_name in allowed and state.topic(wanted.topic_name) is not None:
            _check(name, wanted.partitions)
            known.setdefault(wanted.topic_name, {}).update(dict.fromkeys(wanted.partitions))
            continue
        if wanted.topic_name in allowed:
            rows.append(_topic(state, name, wanted.topic_name, wanted.partitions))
            continue
        code = codes.TOPIC_AUTHORIZATION_FAILED
        parts = [
            DescribeShareGroupOffsetsResponsePartition(
                number, error_code=code, error_message=NOT_AUTHORIZED[code]
            )
            for number in wanted.partitions
        ]
        rows.append(DescribeShareGroupOffsetsResponseTopic(wanted.topic_name, partitions=parts))
    return [*rows, *(_topic(state, name, topic, known[topic]) for topic in known)]


def _check(group: str, numbers: Collection[int]) -> None:
    """Raises ApiFailure for what Kafka refuses to ask a share coordinator."""
    if not group or not numbers or min(numbers) < 0:
        code = codes.UNKNOWN_SERVER_ERROR
        raise ApiFailure(code, text_of(code))


def _topic(
    state: View, group: str, name: str, numbers: Iterable[int]
) -> DescribeShareGroupOffsetsResponseTopic:
    """The row of a topic; -1 is the start of a partition that nobody has read for."""
    topic = state.topic(name)
    row = DescribeShareGroupOffsetsResponseTopic(name)
    controller_state = state.controller_state
    if topic is not None:
        row.topic_id = topic.id
    for number in numbers:
        part = DescribeShareGroupOffsetsResponsePartition(number, UNKNOWN_OFFSET)
        row.partitions.append(part)
        if topic is None or number not in topic.partitions:
            continue
        key = ShareKey(group, topic.id, number)
        try:
            share_state = controller_state.share_states.led(key.text).states.get(key)
        except ApiFailure:
            continue
        if share_state is None:
            continue
        part.start_offset, part.leader_epoch = share_state.start_offset, share_state.leader_epoch
        if share_state.start_offset != UNKNOWN_OFFSET and share_state.completed >= 0:
            log = controller_state.partitions.log(topic, number).log
            part.lag = long_sum(
                log.high_watermark, -share_state.start_offset - share_state.completed
            )
    return row
