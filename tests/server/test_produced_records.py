"""Records that a test gives a cluster without a client: what they become, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.inspection.stored_records import produce


@pytest.fixture(scope="module")
def cluster() -> Iterator[SyncCluster]:
    topics: Any = {
        "orders": 1,
        "led by 2": {"assignment": {0: [2]}},
        "stamped": {"partitions": 1, "configs": {"message.timestamp.type": "LogAppendTime"}},
        "small": {"partitions": 1, "configs": {"max.message.bytes": "100"}},
    }
    topics = {name.replace(" ", "-"): value for name, value in topics.items()}
    with SyncCluster(2, topics=topics) as cluster:
        yield cluster


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ({"value": "v"}, "got one record; put it into a list"),
        (("k", "v"), "got a tuple, which is a record; put it into one"),
        ("v", "records"),
    ],
)
def test_one_record_is_no_list(cluster: SyncCluster, records: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        cluster.produce("orders", records)


@pytest.mark.parametrize(
    ("topic", "record", "said"),
    [
        ("nowhere", "v", "there is no topic 'nowhere'; there are "),
        ("orders", {"valu": "v"}, "record 0 has 'valu'; it may have key, value, headers"),
        ("orders", {"value": "v", "partition": 1}, "orders has no partition 1; see record 0"),
        ("orders", {"value": "v", "timestamp": "now"}, "record 0"),
        ("orders", {"value": "v", "headers": "name"}, "record 0 has the header 'name'"),
        ("small", {"value": bytes(200)}, "small-0 refused the records: MESSAGE_TOO_LARGE: "),
    ],
)
def test_records_that_are_refused(cluster: SyncCluster, topic: str, record: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        cluster.produce(topic, [record])
    assert cluster.records("orders") == []


def test_a_log_may_stamp_records(cluster: SyncCluster) -> None:
    (record,) = cluster.produce("stamped", [{"value": "v", "timestamp": 1}])
    assert record.timestamp > 1
    assert cluster.records("stamped") == [record]


def test_a_partition_without_a_leader(cluster: SyncCluster) -> None:
    cluster.stop_broker(2)
    with pytest.raises(ValueError, match=r"led-by-2-0 has no leader; start one of its brokers \[2"):
        produce(cluster.state, "led-by-2", ["v"])
    cluster.start_broker(2)
    assert len(cluster.produce("led-by-2", ["v"])) == 1
