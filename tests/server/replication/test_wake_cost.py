"""A change wakes who waits for it, at the cost of what has changed; sessions are bounded too."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages import delete_records_request, fetch_request, produce_request
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records import Batch, Record, write_batch
from kafka_admin_proto.server.apis import Answer, Caller
from kafka_admin_proto.server.replication import fetch_sessions
from kafka_admin_proto.server.respond import respond
from kafka_admin_proto.values import Message
from tests.server.served import Served

_FEW, _MANY = 10, 2_000
_BATCH = write_batch(Batch.of([Record(0, int(time.time() * 1000), None, b"v")]))
_FETCH_VERSION = 12


@pytest.fixture
def served() -> Served:
    """A topic whose partitions are led by node 1; node 2 has ended and is in sync still."""
    found = Served(nodes=2)
    created = CreatableTopic("t", -1, -1)
    created.assignments = [
        m.create_topics_request.CreatableReplicaAssignment(each, [1, 2]) for each in range(_MANY)
    ]
    assert found.ask(m.CreateTopicsRequest([created], 1000)).topics[0].error_code == 0
    found.ask(_produced(_MANY), 9)
    found.state.partitions.left(2)
    return found


def _fetched(partitions: int, min_bytes: int = 1 << 30, **fields: Any) -> Message:
    rows = [
        fetch_request.FetchPartition(each, partition_max_bytes=1 << 30)
        for each in range(partitions)
    ]
    return m.FetchRequest(
        max_wait_ms=60_000,
        min_bytes=min_bytes,
        max_bytes=1 << 30,
        topics=[fetch_request.FetchTopic("t", partitions=rows)],
        **fields,
    )


def _produced(partitions: int) -> Message:
    rows = [produce_request.PartitionProduceData(each, _BATCH) for each in range(partitions)]
    topic = produce_request.TopicProduceData("t", partition_data=rows)
    return m.ProduceRequest(None, -1, 60_000, [topic])


def _deleted(partitions: int) -> Message:
    rows = [delete_records_request.DeleteRecordsPartition(each, -1) for each in range(partitions)]
    return m.DeleteRecordsRequest([delete_records_request.DeleteRecordsTopic("t", rows)], 60_000)


def _asked(served: Served, request: Message, version: int) -> Answer:
    return respond(served.state, request.api_key or 0, request, Caller(1, version))


def _wake_s(served: Served, request: Message, version: int) -> float:
    """Processor time of 500 wakes of a waiting answer by a change of one partition."""
    (topic,) = served.state.cluster.topics.values()
    answer = _asked(served, request, version)
    wait = answer.wait
    assert wait is not None
    start = time.thread_time()
    for _ in range(500):
        assert not wait.complete(answer, served.state, {(topic.id, 3)}, False)
    return time.thread_time() - start


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("made", "version"), [(_fetched, _FETCH_VERSION), (_produced, 9), (_deleted, 2)]
)
def test_a_wake_costs_what_has_changed(
    served: Served, made: Callable[[int], Message], version: int
) -> None:
    few = min(_wake_s(served, made(_FEW), version) for _ in range(3))
    many = min(_wake_s(served, made(_MANY), version) for _ in range(3))
    assert many < 5 * few, f"{many:.3f} s for {_MANY} partitions, {few:.3f} s for {_FEW}"


def test_a_wake_reads_what_a_new_fetch_would() -> None:
    """Records that come one by one are those that a Fetch of all partitions reads at once."""
    served = Served(nodes=1)
    served.ask(m.CreateTopicsRequest([CreatableTopic("t", 5, 1)], 1000))
    (topic,) = served.state.cluster.topics.values()
    request = _fetched(5, min_bytes=3 * len(_BATCH))
    answer = _asked(served, request, _FETCH_VERSION)
    assert answer.wait is not None
    done = []
    for number in (3, 1, 4):
        now_ms = int(time.time() * 1000)
        served.state.partitions.log(topic, number).append(_BATCH, leader_epoch=0, now_ms=now_ms)
        done.append(answer.wait.complete(answer, served.state, {(topic.id, number)}, False))
    assert done == [False, False, True]
    assert answer.response == _asked(served, request, _FETCH_VERSION).response


@pytest.mark.exhaustive
def test_sessions_are_bounded(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of sessions keep no more partitions than a node may have of them together."""
    monkeypatch.setattr(fetch_sessions, "MOST_OF_SHARD", 1_000)
    made = 0
    for _ in range(3_000):
        found = _asked(served, _fetched(10, min_bytes=0, session_epoch=0), _FETCH_VERSION).response
        assert isinstance(found, m.FetchResponse)
        made += found.session_id != 0
    assert made == 8 * 1_000 // 10


@pytest.mark.exhaustive
def test_a_session_that_grows_too_large_ends(served: Served) -> None:
    first = _asked(served, _fetched(1, min_bytes=0, session_epoch=0), _FETCH_VERSION).response
    assert isinstance(first, m.FetchResponse)
    assert first.session_id
    ids = {"session_id": first.session_id, "session_epoch": 1}
    more = _fetched(fetch_sessions.MOST_PARTITIONS + 1, min_bytes=0, **ids)
    second = _asked(served, more, _FETCH_VERSION).response
    assert isinstance(second, m.FetchResponse)
    assert second.error_code == codes.FETCH_SESSION_ID_NOT_FOUND
    alone = _fetched(fetch_sessions.MOST_PARTITIONS + 1, min_bytes=0, session_epoch=0)
    third = _asked(served, alone, _FETCH_VERSION).response
    assert isinstance(third, m.FetchResponse)
    assert (third.error_code, third.session_id) == (0, 0)
