"""DescribeTopicPartitions, page by page."""

from __future__ import annotations

from kafka_admin_proto.admin.caller import Caller
from kafka_admin_proto.admin.errors import AdminError
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.messages.describe_topic_partitions_request import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from kafka_admin_proto.messages.describe_topic_partitions_response import (
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponseTopic,
)

#: Brokers' own limit by default (max.request.partition.size.limit): a larger one changes nothing.
_PARTITIONS_PER_PAGE = 2000


async def read_pages(
    caller: Caller, names: list[str] | None, deadline: Deadline
) -> dict[str, DescribeTopicPartitionsResponseTopic]:
    """These topics, or all of them, by name; a topic that two pages share is one here.

    Any broker goes on from another's cursor: it is a topic's name and a partition. A topic that is
    deleted between two of its pages is left out, or is in the last page with its error.
    """
    by_name: dict[str, DescribeTopicPartitionsResponseTopic] = {}
    topics = [TopicRequest(name=name) for name in sorted(set(names or ()))]
    cursor: Cursor | None = None
    while True:
        reply = await caller.call(
            DescribeTopicPartitionsRequest(
                topics=topics, response_partition_limit=_PARTITIONS_PER_PAGE, cursor=cursor
            ),
            DescribeTopicPartitionsResponse,
            timeout=deadline.left,
        )
        page = {topic.name: topic for topic in reply.body.topics if topic.name is not None}
        if cursor is not None:
            begun = by_name.pop(cursor.topic_name, None)
            rest = page.get(cursor.topic_name)
            if begun is not None and rest is not None and rest.error_code == 0:
                rest.partitions = [*begun.partitions, *rest.partitions]
        by_name |= page
        after = reply.body.next_cursor
        if after is None:
            return by_name
        place = after.topic_name, after.partition_index
        if cursor is not None and place <= (cursor.topic_name, cursor.partition_index):
            raise AdminError(
                f"broker {reply.broker} answers DescribeTopicPartitions with the cursor "
                f"{after.topic_name!r}, {after.partition_index} where it was asked from: the pages "
                "would have no end; describe the topics by name"
            )
        cursor = Cursor(topic_name=after.topic_name, partition_index=after.partition_index)
