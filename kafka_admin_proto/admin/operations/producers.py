"""Producers whose sequences or transactions brokers keep: describe, fence."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kafka_admin_proto.admin.caller import Caller
from kafka_admin_proto.admin.operations.common.coordinators import KeyType, ask_coordinators
from kafka_admin_proto.admin.operations.common.failures import Failure, failure
from kafka_admin_proto.admin.operations.common.routing import ask_brokers, ask_leaders
from kafka_admin_proto.admin.operations.common.topic_partitions import by_topic
from kafka_admin_proto.messages import InitProducerIdRequest, InitProducerIdResponse
from kafka_admin_proto.messages.describe_producers_request import (
    DescribeProducersRequest,
    TopicRequest,
)
from kafka_admin_proto.messages.describe_producers_response import (
    DescribeProducersResponse,
    PartitionResponse,
)
from kafka_admin_proto.schema.versions import VersionRange

#: Versions before those of two-phase commit.
_FENCING = VersionRange.parse("0-5")
#: The timeout of transactions under the new epoch; this client begins none.
_TRANSACTION_TIMEOUT_MS = 60_000


class ActiveProducer(msgspec.Struct, frozen=True):
    """A producer whose sequence numbers a partition's leader keeps.

    ``coordinator_epoch`` and ``transaction_start_offset`` are None of producers that have written
    no marker, have no open transaction.
    """

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp_ms: int
    coordinator_epoch: int | None
    transaction_start_offset: int | None


class PartitionProducers(msgspec.Struct, frozen=True):
    """The producers of a partition, sorted by id, as ``broker`` knows them."""

    topic: str
    partition: int
    broker: int | None = None
    producers: Sequence[ActiveProducer] = ()
    error: str | None = None
    message: str | None = None


class FencedProducer(msgspec.Struct, frozen=True):
    """A transactional id whose producers are fenced by a new epoch, unless there is an error."""

    transactional_id: str
    producer_id: int | None = None
    producer_epoch: int | None = None
    error: str | None = None
    message: str | None = None


class ProducerOperations(Caller):
    """Producers of partitions, and of transactional ids."""

    async def describe_producers(
        self,
        partitions: Iterable[tuple[str, int]],
        *,
        broker: int | None = None,
        timeout: float | None = None,
    ) -> list[PartitionProducers]:
        """The active producers of (topic, partition) pairs, as their leaders know them.

        ``broker`` asks that replica in the place of the leaders.
        """

        async def ask(
            broker: int, mine: list[tuple[str, int]], seconds: float
        ) -> Mapping[tuple[str, int], PartitionProducers]:
            topics = [TopicRequest(name, own) for name, own in by_topic(mine).items()]
            reply = await self.call_owner(
                DescribeProducersRequest(topics),
                DescribeProducersResponse,
                to=broker,
                timeout=seconds,
            )
            return {
                (topic.name, each.partition_index): _producers(topic.name, each, broker)
                for topic in reply.body.topics
                for each in topic.partitions
            }

        def failed(partition: tuple[str, int], why: Failure) -> PartitionProducers:
            return PartitionProducers(*partition, None, (), **why)

        async def find(
            pending: list[tuple[str, int]], seconds: float
        ) -> Mapping[tuple[str, int], int | Failure]:
            assert broker is not None
            return dict.fromkeys(pending, broker)

        wanted = list(partitions)
        if broker is None:
            return await ask_leaders(self, wanted, ask, failed, timeout=timeout)
        return await ask_brokers(self, wanted, find, ask, failed, timeout=timeout)

    async def fence_producers(
        self, transactional_ids: Iterable[str], *, timeout: float | None = None
    ) -> list[FencedProducer]:
        """Fence off the producers of transactional ids; their open transactions are aborted."""

        async def ask(broker: int, mine: list[str], seconds: float) -> Mapping[str, FencedProducer]:
            fenced = await asyncio.gather(*(_fence(self, broker, id_, seconds) for id_ in mine))
            return dict(zip(mine, fenced, strict=True))

        def failed(id_: str, why: Failure) -> FencedProducer:
            return FencedProducer(id_, None, None, **why)

        return await ask_coordinators(
            self, list(transactional_ids), KeyType.TRANSACTION, ask, failed, timeout=timeout
        )


async def _fence(
    caller: Caller, broker: int, transactional_id: str, timeout: float
) -> FencedProducer:
    request = InitProducerIdRequest(transactional_id, _TRANSACTION_TIMEOUT_MS)
    reply = await caller.call_owner(
        request, InitProducerIdResponse, to=broker, timeout=timeout, versions=_FENCING
    )
    if reply.body.error_code:
        return FencedProducer(transactional_id, **failure(reply.body.error_code))
    return FencedProducer(transactional_id, reply.body.producer_id, reply.body.producer_epoch)


def _producers(topic: str, partition: PartitionResponse, broker: int) -> PartitionProducers:
    return PartitionProducers(
        topic,
        partition.partition_index,
        broker,
        [
            ActiveProducer(
                each.producer_id,
                each.producer_epoch,
                each.last_sequence,
                each.last_timestamp,
                None if each.coordinator_epoch < 0 else each.coordinator_epoch,
                None if each.current_txn_start_offset < 0 else each.current_txn_start_offset,
            )
            for each in sorted(partition.active_producers, key=lambda each: each.producer_id)
        ],
        **failure(partition.error_code, partition.error_message),
    )
