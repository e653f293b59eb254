"""Members of share groups, asked on a clock that tests move."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_admin_proto.messages.share_acknowledge_request import (
    AcknowledgementBatch as AcknowledgeBatch,
)
from kafka_admin_proto.messages.share_acknowledge_request import (
    AcknowledgePartition,
    AcknowledgeTopic,
)
from kafka_admin_proto.messages.share_fetch_request import (
    AcknowledgementBatch,
    FetchPartition,
    FetchTopic,
)
from kafka_admin_proto.server.inspection import stored_records
from kafka_admin_proto.server.share.state import ShareKey, ShareState
from tests.server.groups.coordinated import Coordinated, Waiting

#: Heartbeats and assignments that need no time.
AT_ONCE = {"group.share.assignment.interval.ms": "0"}


def shared_cluster(
    release: str = "4.4", nodes: int = 1, configs: Mapping[str, str] | None = None
) -> Coordinated:
    """A cluster with the topic of the share coordinators, which the first heartbeat would make."""
    factors = {
        "share.coordinator.state.topic.replication.factor": str(nodes),
        "share.coordinator.state.topic.min.isr": "1",
    }
    cluster = Coordinated(release, nodes, {**AT_ONCE, **factors, **(configs or {})})
    key = "g:AAAAAAAAAAAAAAAAAAAAAA:0"
    cluster.served.ask(m.FindCoordinatorRequest(key_type=2, coordinator_keys=[key]))
    return cluster


class Sharer:
    """A client: its id and epoch, and what it was assigned."""

    def __init__(
        self, cluster: Coordinated, name: str, topics: tuple[str, ...] = ("orders",)
    ) -> None:
        self._cluster = cluster
        self.id = name
        self._topics = list(topics)
        self.epoch = 0
        self.assigned: dict[UUID, list[int]] = {}

    def beat(self, **fields: Any) -> Any:
        """The response to a heartbeat; the client has what that assigns."""
        given: dict[str, Any] = {
            "group_id": "g", "member_id": self.id, "member_epoch": self.epoch,
            "subscribed_topic_names": self._topics if self.epoch == 0 else None,
        }  # fmt: skip
        response = self._cluster.ask(m.ShareGroupHeartbeatRequest(**{**given, **fields}))
        if not response.error_code:
            self.epoch = response.member_epoch
            if response.assignment is not None:
                rows = response.assignment.topic_partitions
                self.assigned = {each.topic_id: each.partitions for each in rows}
        return response

    def join(self) -> None:
        """Join, let the partitions get a state, and get them."""
        self.beat()
        self._cluster.clock.pass_time(0.001)
        self.beat()

    @property
    def partitions(self) -> list[int]:
        """The partitions that the client has, of all topics."""
        return sorted(number for each in self.assigned.values() for number in each)


class Fetcher:
    """A client that acquires records of a partition and acknowledges them, in one session."""

    def __init__(self, cluster: Coordinated, name: str, partition: int = 0) -> None:
        self._cluster = cluster
        self.id = name
        self._partition = partition
        self.epoch = 0
        topic = cluster.state.topic("orders")
        assert topic is not None
        self.topic_id = topic.id

    def send(self, *batches: AcknowledgementBatch, **fields: Any) -> Waiting:
        """Fetch, and acknowledge."""
        part = FetchPartition(self._partition, acknowledgement_batches=list(batches))
        topics = [FetchTopic(self.topic_id, [part])]
        given: dict[str, Any] = {
            "group_id": "g", "member_id": self.id, "share_session_epoch": self.epoch,
            "max_wait_ms": 500, "min_bytes": 1, "max_records": 500, "batch_size": 500,
            "topics": topics,
        }  # fmt: skip
        if self.epoch >= 0:
            self.epoch += 1
        return self._cluster.send(m.ShareFetchRequest(**{**given, **fields}))

    def row(self, *batches: AcknowledgementBatch, **fields: Any) -> Any:
        """The row of the partition, None if the response has none."""
        response = self.send(*batches, **fields).response
        assert response.error_code == 0, response
        rows = [part for each in response.responses for part in each.partitions]
        return rows[0] if rows else None

    def get(self, *batches: AcknowledgementBatch, **fields: Any) -> list[tuple[int, int, int]]:
        """What is acquired at once: (first offset, last offset, delivery) of each range."""
        row = self.row(*batches, max_wait_ms=0, **fields)
        if row is None:
            return []
        assert (row.error_code, row.acknowledge_error_code) == (0, 0), row
        return [
            (each.first_offset, each.last_offset, each.delivery_count)
            for each in row.acquired_records
        ]

    def acknowledge(self, *batches: AcknowledgementBatch, **fields: Any) -> int:
        """The error code of the partition."""
        part = AcknowledgePartition(
            self._partition,
            [AcknowledgeBatch(each.first_offset, each.last_offset, each.acknowledge_types)
             for each in batches],
        )  # fmt: skip
        request = m.ShareAcknowledgeRequest(
            "g", self.id, self.epoch, topics=[AcknowledgeTopic(self.topic_id, [part])], **fields
        )
        self.epoch += 1
        response = self._cluster.ask(request)
        assert response.error_code == 0, response
        code: int = response.responses[0].partitions[0].error_code
        return code


def kept_states(cluster: Coordinated) -> dict[int, ShareState]:
    """The states of the group's partitions that share coordinators have, by number."""
    found = {}
    for topic in cluster.state.cluster.topics.values():
        for number in topic.partitions if topic.name == "orders" else ():
            key = ShareKey("g", topic.id, number)
            states = cluster.state.share_states.led(key.text).states
            if key in states:
                found[number] = states[key]
    return found


def acks(first: int, last: int, *types: int) -> AcknowledgementBatch:
    """An acknowledgement of records, one type for all or one for each."""
    return AcknowledgementBatch(first, last, list(types))


def produce(cluster: Coordinated, count: int, partition: int = 0) -> None:
    """Append a batch of so many records."""
    rows = [{"value": str(each), "partition": partition} for each in range(count)]
    stored_records.produce(cluster.state, "orders", rows)


def ready(release: str = "4.4", **configs: str) -> Coordinated:
    """A cluster whose group reads from the first record on."""
    cluster = shared_cluster(release)
    configure(cluster, **{"share_auto_offset_reset": "earliest", **configs})
    Sharer(cluster, "one").join()
    return cluster


def configure(cluster: Coordinated, **configs: str) -> None:
    """Set configs of the group."""
    rows = [AlterableConfig(key.replace("_", "."), 0, text) for key, text in configs.items()]
    asked = m.IncrementalAlterConfigsRequest([AlterConfigsResource(32, "g", rows)])
    (found,) = cluster.served.ask(asked).responses
    assert found.error_code == 0, found
