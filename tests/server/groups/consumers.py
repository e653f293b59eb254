"""Members of KIP-848's protocol, asked on a clock that tests move."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.consumer_group_heartbeat_request import TopicPartitions
from tests.server.groups.coordinated import Coordinated

Owned = Mapping[UUID, list[int]]


class Consumer:
    """A client: its id and epoch, and what it was assigned and has."""

    def __init__(self, cluster: Coordinated, name: str, group: str = "g", **fields: Any) -> None:
        self._cluster = cluster
        self.id = name
        self._group = group
        self._fields = {"subscribed_topic_names": ["orders"], **fields}
        self.epoch = 0
        self.owned: dict[UUID, list[int]] = {}

    def beat(self, **fields: Any) -> Any:
        """The response to a heartbeat; the client has what that assigns."""
        given: dict[str, Any] = {"topic_partitions": self._rows()}
        if self.epoch == 0:
            given = {
                "rebalance_timeout_ms": 60_000, "topic_partitions": [], **self._fields,
            }  # fmt: skip
        given = {"group_id": self._group, "member_id": self.id, "member_epoch": self.epoch, **given}
        request = m.ConsumerGroupHeartbeatRequest(**{**given, **fields})
        if "instance_id" in self._fields:
            request.instance_id = self._fields["instance_id"]
        response = self._cluster.ask(request)
        if not response.error_code:
            self.epoch = response.member_epoch
            if response.assignment is not None:
                rows = response.assignment.topic_partitions
                self.owned = {each.topic_id: each.partitions for each in rows}
        return response

    def _rows(self) -> list[TopicPartitions]:
        return [TopicPartitions(*each) for each in self.owned.items()]

    def settle(self) -> None:
        """Send heartbeats until nothing changes."""
        for _ in range(3):
            self.beat()

    @property
    def partitions(self) -> list[int]:
        """The partitions that the client has, of all topics."""
        return sorted(number for each in self.owned.values() for number in each)

    def leave(self, epoch: int = -1) -> Any:
        """The response when the client leaves."""
        return self.beat(member_epoch=epoch)
