"""What the coordinators of two clusters have written about the groups of a story."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.fetch_request import FetchPartition, FetchTopic
from kafka_admin_proto.messages.metadata_request import MetadataRequestTopic
from kafka_admin_proto.records import read_batches, read_known_record
from kafka_admin_proto.server.topics.names import CONSUMER_OFFSETS
from tests.server.groups.stories import Side

#: Fields with ids and times of the cluster.
_OF_CLUSTER = re.compile(
    r"(metadata_hash|assignment_timestamp|commit_timestamp|topic_id)=(UUID\([^)]*\)|[^,)]*)"
)
_MOST_BYTES = 1 << 22


def stored_differences(left: Side, right: Side, groups: Collection[str]) -> list[str]:
    """Records of the groups that differ, in their order, by their keys, values and sizes."""
    rows = [_stored(side, groups) for side in (left, right)]
    found = [
        f"record {at}\n  {one}\n  {other}"
        for at, (one, other) in enumerate(zip(*rows, strict=False))
        if one != other
    ]
    counts = [len(each) for each in rows]
    return found + ([] if counts[0] == counts[1] else [f"numbers of records: {counts}"])


def _stored(side: Side, groups: Collection[str]) -> list[tuple[Any, ...]]:
    asked = m.MetadataRequest([MetadataRequestTopic(name=CONSUMER_OFFSETS)])
    (topic,) = side.ask(asked, 12).topics
    found = []
    for number in sorted(each.partition_index for each in topic.partitions):
        offset = 0
        while records := _fetched(side, topic.topic_id, number, offset):
            offset = records[-1].offset + 1
            for record in records:
                known = read_known_record(CONSUMER_OFFSETS, record.key, record.value)
                group = getattr(known.key, "group_id", getattr(known.key, "group", None))
                if group in groups:
                    value = record.value or b""
                    text = _OF_CLUSTER.sub(r"\1=?", repr(known.value))
                    found.append((number, known.key, bytes(value[:2]), len(value), text))
    return found


def _fetched(side: Side, topic_id: Any, number: int, offset: int) -> list[Any]:
    row = FetchPartition(number, fetch_offset=offset, partition_max_bytes=_MOST_BYTES)
    request = m.FetchRequest(
        max_wait_ms=0, min_bytes=0, topics=[FetchTopic(topic_id=topic_id, partitions=[row])]
    )
    (part,) = side.ask(request, 13).responses[0].partitions
    assert part.error_code == 0, part
    batches = read_batches(part.records)
    return [record for each in batches for record in each.records if record.offset >= offset]
