"""kill -9 at random moments while records are produced: what was acknowledged is there afterwards.

Segments roll and records are deleted all the while. ``KAFKA_ADMIN_PROTO_KILLS=50`` ends each
cluster 50 times.
"""

from __future__ import annotations

import random
import threading
from pathlib import Path

import pytest

from kafka_admin_proto.admin import SyncAdminClient
from kafka_admin_proto.messages import CreateTopicsRequest, DeleteRecordsRequest
from kafka_admin_proto.messages.create_topics_request import CreatableTopic, CreatableTopicConfig
from kafka_admin_proto.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsTopic,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.values import Message
from tests.helpers.profile import SEED
from tests.server.differential.wire import Nodes
from tests.server.handlers.records.asked import produced
from tests.server.kills.servers import KILLS, LONGEST_S, killed_server

_CONFIGS = {
    "internal.segment.bytes": "4000", "index.interval.bytes": "500", "file.delete.delay.ms": "100",
}  # fmt: skip
_TIMEOUT_MS = 10_000
_ALL = -1

#: Offset → value.
Values = dict[int, bytes]


class Producer(threading.Thread):
    """Produces to a topic with one partition, and deletes some of it, until the server ends."""

    def __init__(self, bootstrap: str, topic: str, turn: int, first: int, there: Values) -> None:
        super().__init__()
        self.topic = topic
        self._nodes = Nodes(bootstrap)
        self._turn = turn
        self._draw = random.Random(f"{SEED} {topic} {turn}")
        self.acknowledged = dict(there)
        self.pending: list[bytes] = []
        self.first = self.pending_first = first
        self.answers = 0
        self.first_answer = threading.Event()

    def run(self) -> None:
        with self._nodes:
            while self._draw.randrange(20) or not self.answers:
                if not self._produce():
                    return
                self.answers += 1
                self.first_answer.set()
            while self._delete_records() and self._produce():
                self.answers += 1

    def _produce(self) -> bool:
        values = [b"%d-%d-%d" % (self._turn, self.answers, each) for each in range(3)]
        self.pending = [each + bytes(self._draw.randrange(200)) for each in values]
        request = produced(self.topic, *self.pending, acks=_ALL, timeout_ms=_TIMEOUT_MS)
        answer = self._ask(request, 9)
        if answer is None:
            return False
        base = answer.responses[0].partition_responses[0].base_offset
        self.acknowledged |= {base + place: each for place, each in enumerate(self.pending)}
        self.pending = []
        return True

    def _delete_records(self) -> bool:
        self.pending_first = self._draw.randint(self.first, max(self.acknowledged))
        rows = [DeleteRecordsPartition(0, self.pending_first)]
        answer = self._ask(
            DeleteRecordsRequest([DeleteRecordsTopic(self.topic, rows)], _TIMEOUT_MS), 2
        )
        if answer is not None:
            self.first = self.pending_first
        return answer is not None

    def _ask(self, request: Message, version: int):  # type: ignore[no-untyped-def]
        """The answer of the partition's leader, None if the server has ended."""
        while True:
            for node in range(len(self._nodes.addresses)):
                answer = self._nodes.ask(node, request, version)
                if answer is None:
                    return None
                (topic,) = answer.topics if version == 2 else answer.responses
                (row,) = topic.partitions if version == 2 else topic.partition_responses
                if row.error_code != codes.NOT_LEADER_OR_FOLLOWER:
                    assert row.error_code == 0
                    return answer


def create(bootstrap: str, topics: list[str], brokers: int) -> None:
    configs = [CreatableTopicConfig(*each) for each in _CONFIGS.items()]
    wanted = [CreatableTopic(each, 1, brokers, configs=configs) for each in topics]
    with Nodes(bootstrap) as nodes:
        answer = nodes.ask(0, CreateTopicsRequest(wanted, timeout_ms=_TIMEOUT_MS), 7)
    assert [each.error_code for each in answer.topics] == [0] * len(topics)


def stored(bootstrap: str, topic: str) -> tuple[int, Values]:
    """The first offset of a topic, and all records."""
    with SyncAdminClient(bootstrap) as admin:
        plan = admin.plan_reading([topic])
        found: Values = {}
        offset, end = plan.offsets[topic, 0], plan.ends[topic, 0]
        while offset < end:
            (each,) = admin.fetch({(topic, 0): offset})
            assert each.error is None
            found |= {row.offset: row.value or b"" for row in each.records}
            offset = each.next_offset
    return plan.offsets[topic, 0], found


def check(bootstrap: str, producer: Producer) -> tuple[int, Values]:
    """All that was acknowledged is there, and nothing but that and what was being produced."""
    start, found = stored(bootstrap, producer.topic)
    assert start in (producer.first, producer.pending_first)
    assert list(found) == list(range(start, start + len(found)))
    acknowledged = {
        offset: each for offset, each in producer.acknowledged.items() if offset >= start
    }
    assert {offset: found.get(offset) for offset in acknowledged} == acknowledged
    rest = [each for offset, each in found.items() if offset not in acknowledged]
    assert rest in ([], producer.pending)
    return start, found


@pytest.mark.exhaustive
@pytest.mark.parametrize("brokers", [1, 3])
def test_acknowledged_records_are_there(brokers: int, tmp_path: Path) -> None:
    draw = random.Random(SEED)
    names = ["a", "b"]
    producers: list[Producer] = []
    answers = 0
    for turn in range(KILLS + 1):
        with killed_server(brokers, tmp_path) as bootstrap:
            if turn:
                there = [check(bootstrap, each) for each in producers]
                answers += sum(each.answers for each in producers)
            else:
                create(bootstrap, names, brokers)
                there = [(0, {}) for _ in names]
            producers = [
                Producer(bootstrap, name, turn, *each)
                for name, each in zip(names, there, strict=True)
            ]
            if turn < KILLS:
                for each in producers:
                    each.start()
                assert producers[0].first_answer.wait(60)
                threading.Event().wait(draw.uniform(0, LONGEST_S))
        for each in producers:
            if each.ident is not None:
                each.join()
    assert answers >= KILLS
