"""The ids of producers that a broker gives away, from blocks that the controller gives to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_admin_proto.messages import ProducerIdsRecord
from kafka_admin_proto.server.failures import ControllerUnavailable
from kafka_admin_proto.values import Message

if TYPE_CHECKING:
    from kafka_admin_proto.server.state import State

#: The ids that the controller gives to a broker at a time.
BLOCK = 1000


def next_block(controller: State, broker: int) -> tuple[int, ProducerIdsRecord]:
    """The first id of the next block, and the record that gives the block to a broker."""
    first = controller.cluster.next_producer_id or 0
    epoch = controller.cluster.brokers[broker].epoch
    return first, ProducerIdsRecord(broker, epoch, first + BLOCK)


class ProducerIds:
    """The ids of one node; ``records`` are those of the blocks that it was given."""

    def __init__(self, controller: State, node: int) -> None:
        self._controller = controller
        self._node = node
        self.records: list[Message] = []

    def take(self) -> int:
        """The next id. Raises ControllerUnavailable where that is of a new block."""
        controller, node = self._controller, self._node
        next_id, end = controller.producer_ids.get(node, (0, 0))
        if next_id == end:
            if not controller.quorum.available:
                raise ControllerUnavailable
            next_id, record = next_block(controller, node)
            end = record.next_producer_id
            self.records.append(record)
        controller.producer_ids[node] = next_id + 1, end
        return next_id
