"""The world: nodes with a clock, a network and a store, all driven by one seed."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from kafka_admin_proto.simulation.node import Cancel, Node, NodeContext, OnResponse, Request
from kafka_admin_proto.simulation.world.network import Network, Peer
from kafka_admin_proto.simulation.world.scheduler import Scheduler
from kafka_admin_proto.simulation.world.store import Store
from kafka_admin_proto.simulation.world.trace import Trace
from kafka_admin_proto.values import Message

#: Makes a node for one life; what outlives a crash, the function keeps.
MakeNode = Callable[[NodeContext], Node]


class World:
    """Nodes that live and crash. The same seed and calls give the same trace, byte for byte."""

    def __init__(self, seed: int, *, dialect: str = "kip-516", record_states: bool = False) -> None:
        self.seed: int = seed
        #: For what the world itself draws: delays, losses, and what a scenario does next.
        self.random: Random = Random(seed)
        self.trace: Trace = Trace(dialect)
        self.scheduler: Scheduler = Scheduler()
        self.store: Store = Store(self.scheduler, self.trace)
        self.network: Network = Network(self.scheduler, self.trace, self.random)
        self._record_states = record_states
        self._make: dict[int, MakeNode] = {}
        self._lives: dict[int, Life] = {}
        self._lives_begun = 0
        self._last_states: dict[int, dict[str, Any]] = {}

    @property
    def now_ms(self) -> int:
        """Virtual time since the world began."""
        return self.scheduler.now_ms

    @property
    def node_ids(self) -> list[int]:
        """All nodes, those that have crashed included, in the order they were added."""
        return list(self._make)

    def add(self, node_id: int, name: str, make: MakeNode) -> None:
        self.trace.names[node_id] = name
        self._make[node_id] = make
        self.start(node_id)

    def start(self, node_id: int) -> None:
        """Begin a node's next life."""
        if node_id in self._lives:
            raise ValueError(f"{self.trace.names[node_id]} is up already")
        self._lives_begun += 1
        life = Life(self, node_id, self._lives_begun)
        self.trace.add(self.now_ms, "start", node_id)
        self._lives[node_id] = life
        self.network.peers[node_id] = life
        node = life.node = self._make[node_id](life)
        node.start()
        life.after_call()

    def crash(self, node_id: int) -> None:
        """End a node's life: what it had in memory is gone, its session ends after a while."""
        life = self._lives.pop(node_id)
        self.trace.add(self.now_ms, "crash", node_id)
        self.network.crashed(life)
        self.store.node_crashed(node_id)
        self._last_states.pop(node_id, None)

    def is_up(self, node_id: int) -> bool:
        """Whether the node has been started and not crashed since."""
        return node_id in self._lives

    def node(self, node_id: int) -> Node:
        """The node in its present life; KeyError while it is down."""
        node = self._lives[node_id].node
        assert node is not None, "a life has its node from the start"
        return node

    def step(self, text: str) -> None:
        """Put a sentence of the scenario into the trace."""
        self.trace.add(self.now_ms, "step", text=text)

    def run(self, for_ms: int) -> None:
        """Let virtual time pass."""
        until_ms = self.now_ms + for_ms
        while self.scheduler.step(until_ms):
            pass

    def run_until(self, condition: Callable[[], bool], limit_ms: int = 60_000) -> bool:
        """Run until the condition holds; whether it did within ``limit_ms`` of virtual time."""
        until_ms = self.now_ms + limit_ms
        while not condition():
            if not self.scheduler.step(until_ms):
                return condition()
        return True

    def note_state(self, life: Life) -> None:
        """Put a node's state into the trace if it is another than the last one there."""
        if not self._record_states or not life.alive or life.node is None:
            return
        state = life.node.state()
        if state != self._last_states.get(life.node_id):
            self._last_states[life.node_id] = state
            self.trace.add(self.now_ms, "state", life.node_id, fields=state)


class Life(Peer):
    """What a node is given from its start to its crash: see ``NodeContext``."""

    def __init__(self, world: World, node_id: int, number: int) -> None:
        super().__init__(node_id, world.trace.names[node_id])
        self.random: Random = Random(f"{world.seed}/{node_id}/{number}")
        self._world = world

    @property
    def now_ms(self) -> int:
        return self._world.scheduler.now_ms

    def call_later(self, delay_ms: int, call: Callable[[], None]) -> Cancel:
        def call_alive() -> None:
            if self.alive:
                call()
                self.after_call()

        return self._world.scheduler.call_later(delay_ms, call_alive)

    def send(self, node_id: int, body: Message, version: int, on_response: OnResponse) -> None:
        if self.alive:
            self._world.network.send(self, node_id, body, version, on_response)

    def respond(self, request: Request, body: Message) -> None:
        if self.alive:
            self._world.network.respond(self, request, body)

    def note(self, text: str, **fields: Any) -> None:
        self._world.trace.add(self.now_ms, "note", self.node_id, text=text, fields=fields)

    def after_call(self) -> None:
        self._world.note_state(self)
