"""A cluster in a world: brokers with their disks, a client, and what one does to them."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

from kafka_admin_proto.simulation.broker.broker import Broker
from kafka_admin_proto.simulation.broker.storage.disk import Disk
from kafka_admin_proto.simulation.controller.cluster import (
    CONTROLLER_EPOCH_PATH,
    CONTROLLER_PATH,
    TOPICS_PATH,
    ClusterConfig,
)
from kafka_admin_proto.simulation.controller.controller import Controller
from kafka_admin_proto.simulation.controller.process import BrokerProcess
from kafka_admin_proto.simulation.controller.topics import NO_LEADER, Topic
from kafka_admin_proto.simulation.node import NodeContext
from kafka_admin_proto.simulation.rules import TEXT, Rules
from kafka_admin_proto.simulation.scenarios.client import Client
from kafka_admin_proto.simulation.world.world import World

#: The client's node id, far from those of brokers.
CLIENT = 100
#: How long it takes at most until all brokers are registered and have a controller.
_STARTUP_MS = 1_000


class Cluster:
    """Brokers of one world, and a client that asks them.

    The brokers start in the order that they are named in: the first one becomes controller.
    """

    def __init__(
        self,
        seed: int,
        *,
        brokers: tuple[int, ...] = (1, 2, 3),
        rules: Rules = TEXT,
        topic_ids: bool = True,
        record_states: bool = False,
        log_dirs: tuple[str, ...] = ("d1",),
    ) -> None:
        self.world: World = World(seed, dialect=rules.dialect, record_states=record_states)
        by_text = rules.dialect == "kip-516"
        self.world.step(
            f"The rules are {'those of the text' if by_text else 'those that Kafka shipped'}"
        )
        self.config: ClusterConfig = ClusterConfig(rules=rules, topic_ids=topic_ids)
        self.disks: dict[int, Disk] = {each: Disk(log_dirs) for each in brokers}
        #: The controller's epoch when the protocol was bumped; None before.
        self.bumped_at_epoch: int | None = None
        for broker in self.disks:
            self.world.add(broker, f"broker {broker}", self._maker(broker))
        self.world.add(CLIENT, "client", Client)
        self.world.run_until(self.is_ready, _STARTUP_MS)
        self.world.trace.start_up = len(self.world.trace.events)

    @property
    def brokers(self) -> list[int]:
        return sorted(self.disks)

    @property
    def random(self) -> Random:
        """The world's source, for what a scenario draws."""
        return self.world.random

    @property
    def client(self) -> Client:
        node = self.world.node(CLIENT)
        assert isinstance(node, Client)
        return node

    @property
    def controller_id(self) -> int | None:
        """Who the store says is controller."""
        data = self.world.store.read(CONTROLLER_PATH)
        return None if data is None else int(json.loads(data)["brokerid"])

    @property
    def controller(self) -> Controller | None:
        """The active controller; None while there is none, or while it is down."""
        broker = self.controller_id
        if broker is None or not self.world.is_up(broker):
            return None
        return self.process(broker).controller

    @property
    def controller_epoch(self) -> int:
        """The newest epoch in the store; 0 before the first election."""
        return int(self.world.store.read(CONTROLLER_EPOCH_PATH) or b"0")

    def leader_of(self, name: str) -> int | None:
        """Who leads a topic's first partition, by the store; None without a topic or a leader."""
        data = self.world.store.read(f"{TOPICS_PATH}/{name}/partitions/0/state")
        leader = None if data is None else int(json.loads(data)["leader"])
        return None if leader == NO_LEADER else leader

    def process(self, broker: int) -> BrokerProcess:
        node = self.world.node(broker)
        assert isinstance(node, BrokerProcess)
        return node

    def is_ready(self) -> bool:
        """Whether a controller knows all brokers that are up, and awaits no response of theirs."""
        controller = self.controller
        if controller is None:
            return False
        up = [broker for broker in self.brokers if self.world.is_up(broker)]
        return controller.state()["brokers"] == up and controller.idle()

    def wait_for_metadata(self, limit_ms: int = 120_000) -> bool:
        """Run until all brokers that are up have the full metadata. Returns whether they got it."""
        return self.world.run_until(self.is_ready, limit_ms)

    def create(self, name: str, assignment: dict[int, list[int]]) -> Topic:
        call = self.client.create_topic(self._controller_or_any(), name, assignment)
        self.world.run_until(lambda: call.ended)
        controller = self.controller
        if call.error_code or controller is None:
            raise RuntimeError(f"topic {name} was not created: error {call.error_code}")
        return controller.topics[name]

    def delete(self, name: str, timeout_ms: int = 5_000) -> int:
        """Delete a topic by the client and wait for the answer: its error code."""
        call = self.client.delete_topic(self._controller_or_any(), name, timeout_ms)
        self.world.run_until(lambda: call.ended)
        assert call.error_code is not None, "a call has a code when it has ended"
        return call.error_code

    def bump(self) -> None:
        """Bump the inter-broker protocol: one moment for all, and the controller resigns."""
        self.config.topic_ids = True
        self.bumped_at_epoch = self.controller_epoch
        self.world.step("inter.broker.protocol.version is bumped")
        self.resign()

    def resign(self) -> None:
        """Have the active controller give up its office, as on a restart that loses nothing."""
        broker = self.controller_id
        if broker is not None and self.world.is_up(broker):
            self.process(broker).resign()

    def _controller_or_any(self) -> int:
        return self.controller_id or next(iter(self.disks))

    def _maker(self, broker: int) -> Callable[[NodeContext], BrokerProcess]:
        def make(context: NodeContext) -> BrokerProcess:
            node = Broker(context, self.disks[broker], self.config.rules)
            return BrokerProcess(context, self.world.store, self.config, node)

        return make
