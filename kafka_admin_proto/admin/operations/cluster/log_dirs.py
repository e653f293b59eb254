"""Log dirs of brokers: describing them, and moving replicas between them."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kafka_admin_proto.admin.caller import Caller, Reply, call_deadline
from kafka_admin_proto.admin.operations.common.failures import (
    Failure,
    failure,
    failure_of,
    unanswered,
)
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.messages import AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse
from kafka_admin_proto.messages.describe_log_dirs_request import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from kafka_admin_proto.messages.describe_log_dirs_response import (
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)


class LogDirReplica(msgspec.Struct, frozen=True):
    """A replica in a log dir.

    ``offset_lag`` is the broker's own high watermark less the end of the log, or for a ``future``
    one, which is being moved here, what it lacks of the log that it will replace; None is unknown.
    """

    topic: str
    partition: int
    size: int
    offset_lag: int | None
    future: bool


class LogDir(msgspec.Struct, frozen=True, kw_only=True):
    """A folder of logs. Sizes are in bytes, None where the broker does not say (before 3.3).

    ``cordoned`` says that no new replicas are put here (brokers from 4.3).
    """

    path: str
    replicas: list[LogDirReplica] = []
    total_bytes: int | None = None
    usable_bytes: int | None = None
    cordoned: bool = False
    error: str | None = None
    message: str | None = None


class BrokerLogDirs(msgspec.Struct, frozen=True, kw_only=True):
    """The log dirs of one broker, or the error."""

    broker: int
    log_dirs: list[LogDir] = []
    error: str | None = None
    message: str | None = None


class ReplicaMove(msgspec.Struct, frozen=True):
    """A replica, and the log dir of the same broker to move it into."""

    topic: str
    partition: int
    broker: int
    path: str


class MovedReplica(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one move; the broker copies the log after it has answered."""

    topic: str
    partition: int
    broker: int
    path: str
    error: str | None = None
    message: str | None = None


class LogDirOperations(Caller):
    """DescribeLogDirs and AlterReplicaLogDirs."""

    async def describe_log_dirs(
        self,
        brokers: Sequence[int] | None = None,
        *,
        topics: Mapping[str, Sequence[int]] | None = None,
        timeout: float | None = None,
    ) -> list[BrokerLogDirs]:
        """The log dirs of these brokers, of all live ones by default.

        ``topics`` are the partitions to show, by topic; all by default. A broker that does not
        answer leaves the others.
        """
        deadline = call_deadline(self, timeout)
        if brokers is None:
            brokers = sorted(await self.brokers(refresh=True, timeout=deadline.left))
        ids = list(brokers)
        request = DescribeLogDirsRequest(
            topics=None
            if topics is None
            else [
                DescribableLogDirTopic(topic=name, partitions=list(partitions))
                for name, partitions in topics.items()
            ]
        )
        answers = await self.call_all(
            request, DescribeLogDirsResponse, brokers=ids, timeout=deadline.left
        )
        return [_described(broker, answers[broker]) for broker in ids]

    async def alter_replica_log_dirs(
        self, moves: Iterable[ReplicaMove], *, timeout: float | None = None
    ) -> list[MovedReplica]:
        """Move replicas between the log dirs of their brokers, each of them on its own.

        For a replica that the broker does not have yet, the folder is kept in mind. The answer
        comes before the logs are copied: ``describe_log_dirs`` shows ``future`` replicas until
        then.
        """
        wanted = list(dict.fromkeys(moves))
        deadline = call_deadline(self, timeout)
        by_broker: dict[int, list[ReplicaMove]] = defaultdict(list)
        for move in wanted:
            by_broker[move.broker].append(move)

        async def ask(broker: int) -> dict[ReplicaMove, MovedReplica]:
            own = by_broker[broker]
            try:
                reply = await self.call(
                    _move_request(own),
                    AlterReplicaLogDirsResponse,
                    to=broker,
                    timeout=deadline.left,
                )
            except KafkaAdminProtoError as failed:
                return {move: _moved(move, failure_of(failed)) for move in own}
            failures = {
                (topic.topic_name, each.partition_index): failure(each.error_code)
                for topic in reply.body.results
                for each in topic.partitions
            }
            lost = unanswered("partition", "broker")
            return {
                move: _moved(move, failures.get((move.topic, move.partition), lost)) for move in own
            }

        results: dict[ReplicaMove, MovedReplica] = {}
        for part in await asyncio.gather(*map(ask, by_broker)):
            results |= part
        return [results[move] for move in wanted]


def _described(broker: int, answer: Reply[DescribeLogDirsResponse] | Exception) -> BrokerLogDirs:
    if isinstance(answer, Exception):
        return BrokerLogDirs(broker=broker, **failure_of(answer))
    return BrokerLogDirs(
        broker=broker,
        log_dirs=[_log_dir(each) for each in answer.body.results],
        **failure(answer.body.error_code),
    )


def _log_dir(result: DescribeLogDirsResult) -> LogDir:
    replicas = [
        LogDirReplica(
            topic.name,
            each.partition_index,
            each.partition_size,
            each.offset_lag if each.offset_lag >= 0 else None,
            each.is_future_key,
        )
        for topic in result.topics
        for each in topic.partitions
    ]
    return LogDir(
        path=result.log_dir,
        replicas=sorted(replicas, key=lambda each: (each.topic, each.partition)),
        total_bytes=result.total_bytes if result.total_bytes >= 0 else None,
        usable_bytes=result.usable_bytes if result.usable_bytes >= 0 else None,
        cordoned=result.is_cordoned,
        **failure(result.error_code),
    )


def _move_request(moves: Iterable[ReplicaMove]) -> AlterReplicaLogDirsRequest:
    by_path: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for move in moves:
        by_path[move.path][move.topic].append(move.partition)
    return AlterReplicaLogDirsRequest(
        dirs=[
            AlterReplicaLogDirsRequest.AlterReplicaLogDir(
                path=path,
                topics=[
                    AlterReplicaLogDirsRequest.AlterReplicaLogDirTopic(
                        name=name, partitions=partitions
                    )
                    for name, partitions in topics.items()
                ],
            )
            for path, topics in by_path.items()
        ]
    )


def _moved(move: ReplicaMove, why: Failure) -> MovedReplica:
    return MovedReplica(
        topic=move.topic, partition=move.partition, broker=move.broker, path=move.path, **why
    )
