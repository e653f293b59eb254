"""Log dirs described on each broker, and replicas moved between them, each on its own broker."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin import ConnectionFailedError, LogDirReplica, ReplicaMove
from kafka_admin_proto.admin.operations.cluster.log_dirs import LogDirOperations
from kafka_admin_proto.messages import AlterReplicaLogDirsRequest, DescribeLogDirsRequest
from kafka_admin_proto.messages import alter_replica_log_dirs_response as moved_messages
from kafka_admin_proto.messages import describe_log_dirs_response as described_messages
from kafka_admin_proto.values import Message
from tests.admin.fake_caller import Call, FakeCaller

_MOVES = st.lists(
    st.builds(
        ReplicaMove,
        st.sampled_from(["a", "b"]),
        st.integers(0, 3),
        st.sampled_from([1, 2, 3]),
        st.sampled_from(["/d1", "/d2"]),
    ),
    unique_by=lambda move: (move.topic, move.partition, move.broker),
)


class Client(LogDirOperations, FakeCaller):
    """Brokers with one log dir; 3 has ended. A move to /d2 of an odd partition is refused."""

    def __init__(self) -> None:
        super().__init__(
            {DescribeLogDirsRequest: self._describe, AlterReplicaLogDirsRequest: self._move}
        )

    def _describe(self, request: Message, call: Call) -> Message | Exception:
        assert isinstance(request, DescribeLogDirsRequest)
        if call.broker == 3:
            return ConnectionFailedError("gone")
        row = described_messages.DescribeLogDirsPartition
        partitions = [row(index, 10, index - 1, index == 1) for index in (1, 0)]
        topic = described_messages.DescribeLogDirsTopic(name="a", partitions=partitions)
        return described_messages.DescribeLogDirsResponse(
            results=[
                described_messages.DescribeLogDirsResult(log_dir="/d1", topics=[topic]),
                described_messages.DescribeLogDirsResult(log_dir="/d2", error_code=56),
            ]
        )

    def _move(self, request: Message, call: Call) -> Message | Exception:
        assert isinstance(request, AlterReplicaLogDirsRequest)
        if call.broker == 3:
            return ConnectionFailedError("gone")
        result = moved_messages.AlterReplicaLogDirPartitionResult
        results = []
        for each in request.dirs:
            for topic in each.topics:
                rows = [result(n, 57 if _refused(each.path, n) else 0) for n in topic.partitions]
                results.append(moved_messages.AlterReplicaLogDirTopicResult(topic.name, rows))
        return moved_messages.AlterReplicaLogDirsResponse(results=results)


def _refused(path: str, partition: int) -> bool:
    return path == "/d2" and partition % 2 == 1


def test_a_broker_or_a_folder_that_fails_leaves_the_others() -> None:
    found = asyncio.run(Client().describe_log_dirs())
    assert [(each.broker, each.error) for each in found] == [
        (1, None),
        (2, None),
        (3, "ConnectionFailedError"),
    ]
    first, second = found[0].log_dirs
    assert first.replicas == [
        LogDirReplica("a", 0, 10, None, False),
        LogDirReplica("a", 1, 10, 0, True),
    ]
    assert (first.total_bytes, second.error) == (None, "KAFKA_STORAGE_ERROR")
    only = asyncio.run(Client().describe_log_dirs([2], topics={"a": [0]}))
    assert [each.broker for each in only] == [2]


@given(_MOVES)
def test_each_replica_is_moved_on_its_own_broker(moves: list[ReplicaMove]) -> None:
    client = Client()
    results = asyncio.run(client.alter_replica_log_dirs(moves))
    assert [(each.topic, each.partition, each.broker, each.path) for each in results] == [
        (each.topic, each.partition, each.broker, each.path) for each in moves
    ]
    for each in results:
        refused = "LOG_DIR_NOT_FOUND" if _refused(each.path, each.partition) else None
        assert each.error == ("ConnectionFailedError" if each.broker == 3 else refused)
    assert len(client.calls) == len({each.broker for each in moves})
