"""Random schedules: events of a cluster in any order, and how the cluster comes to rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from kafka_admin_proto.simulation.controller.cluster import TOPICS_PATH
from kafka_admin_proto.simulation.rules import TEXT, Rules
from kafka_admin_proto.simulation.scenarios.client import Call
from kafka_admin_proto.simulation.scenarios.cluster import Cluster
from kafka_admin_proto.simulation.scenarios.invariants import Invariants
from kafka_admin_proto.simulation.world.world import World

#: Few names, so that they are created again and again.
NAMES = ("A", "B")
BROKERS = (1, 2, 3)
#: Shorter than Kafka's minute, so that folders have gone when a run is over.
DELETING_DELAY_MS = 2_000
#: How long a client waits for a deletion of the old format.
_TIMEOUT_MS = 3_000
_LONGEST_PAUSE_MS = 1_500
_DELAY_MS = (1, 10)
#: How long a controller may take itself for one after its session has ended.
_LONGEST_DELUSION_MS = 5_000
_QUIET_LIMIT_MS = 300_000
_REGISTRATION_MS = 2_000


class Schedule:
    """A cluster and what can be done to it; each method is one event of a schedule."""

    def __init__(
        self, seed: int, *, bumped: bool, rules: Rules = TEXT, record_states: bool = False
    ) -> None:
        rules = replace(rules, deleting_delay_ms=DELETING_DELAY_MS)
        self.cluster: Cluster = Cluster(
            seed, brokers=BROKERS, rules=rules, topic_ids=bumped, record_states=record_states
        )
        self.invariants: Invariants = Invariants(self.cluster)
        #: Ids that the client has heard of, by the topic's name.
        self.known_ids: list[tuple[str, UUID]] = []

    def create(self, name: str, replicas: list[int]) -> None:
        """Ask for a topic with one partition."""
        node = self._controller()
        if node is not None:
            self.cluster.client.create_topic(node, name, {0: replicas}, self._created)

    def delete(self, name: str) -> None:
        """Ask for a topic's deletion."""
        node = self._controller()
        if node is None:
            return
        znode = self.cluster.world.store.znodes.get(f"{TOPICS_PATH}/{name}")
        made = None if znode is None else znode.created_zxid
        self.cluster.client.delete_topic(
            node, name, _TIMEOUT_MS, lambda call: self.invariants.deletion_answered(call, made)
        )

    def create_again(self, name: str, replicas: list[int]) -> None:
        """Ask for a topic's deletion, and at once for a new one of its name."""
        self.delete(name)
        self.create(name, replicas)

    def produce(self, number: int) -> None:
        """Write a record by one of the ids that the client has heard of, to the name's leader."""
        if self.known_ids:
            name, topic_id = self.known_ids[-1 - number % len(self.known_ids)]
            leader = self.cluster.leader_of(name)
            if leader is not None:
                self.cluster.client.produce(leader, name, topic_id, 0)

    def produce_by_name(self, name: str) -> None:
        """Write a record by name, as before ids."""
        leader = self.cluster.leader_of(name)
        if leader is not None:
            self.cluster.client.produce(leader, name, None, 0)

    def fetch(self, broker: int, number: int) -> None:
        """Read by one of the ids that the client has heard of, from a broker."""
        if self.known_ids:
            name, topic_id = self.known_ids[-1 - number % len(self.known_ids)]
            on_end = self.invariants.fetch_answered
            self.cluster.client.fetch(broker, name, topic_id, 0, on_end)

    def fetch_from_leader(self, number: int) -> None:
        """Read by one of these ids from the leader of the topic that has its name now."""
        if self.known_ids:
            name, _ = self.known_ids[-1 - number % len(self.known_ids)]
            self.fetch(self.cluster.leader_of(name) or BROKERS[0], number)

    def crash(self, broker: int) -> None:
        if self.cluster.world.is_up(broker):
            self.cluster.world.crash(broker)

    def start(self, broker: int) -> None:
        if not self.cluster.world.is_up(broker):
            self.cluster.world.start(broker)
            self.invariants.restarted(broker)

    def cut(self, one: int, other: int) -> None:
        """Cut the link between two brokers."""
        if one != other:
            self.cluster.world.network.cut(one, other)

    def heal(self) -> None:
        """Heal all links, lose nothing any more, and be fast again."""
        self.cluster.world.network.heal_all()
        self.cluster.world.network.delay_ms = _DELAY_MS

    def slow(self, longest_ms: int) -> None:
        """Let frames take up to so long from here on."""
        self.cluster.world.network.delay_ms = (_DELAY_MS[0], longest_ms)

    def lose(self, percent: int) -> None:
        """Lose that share of all frames from here on."""
        self.cluster.world.network.loss = percent / 100

    def lose_api(self, api: str) -> None:
        lost = (api, "request")
        self.cluster.world.network.loses = lambda node, peer, *sent: sent == lost

    def expire(self, broker: int, heard_after_ms: int) -> None:
        """End a broker's session in the store; until it hears of it, it may act as controller."""
        for session in self.cluster.world.store.sessions_of(broker):
            session.expire(heard_after_ms)

    def depose(self, broker: int) -> None:
        """End the controller's session and its link to a broker; it takes long to hear of that."""
        controller = self.cluster.controller_id
        if controller is not None:
            self.cut(controller, broker)
            self.expire(controller, _LONGEST_DELUSION_MS)

    def resign(self) -> None:
        """Have another controller elected, by the one there is."""
        self.cluster.resign()

    def bump(self) -> None:
        if not self.cluster.config.topic_ids:
            self.cluster.bump()

    def run(self, for_ms: int) -> None:
        """Let time pass."""
        self.cluster.world.run(for_ms)

    def finish(self) -> None:
        """Start all nodes, wait until they are at rest, and check the invariants.

        A deletion that was given up is left to the next FULL, so that a controller is elected.
        """
        world = self.cluster.world
        world.step("everything is brought up, and comes to rest")
        self.heal()
        for broker in self.cluster.brokers:
            self.start(broker)
        world.run(_REGISTRATION_MS)
        if not self.cluster.wait_for_metadata(_QUIET_LIMIT_MS):
            self.invariants.broken.append("the controller waits for ever")
        given_up = any(event.text == "deletion given up" for event in world.trace.events)
        if given_up:
            self.cluster.resign()
            self.cluster.wait_for_metadata(_QUIET_LIMIT_MS)
        world.run(DELETING_DELAY_MS + _REGISTRATION_MS)
        self.invariants.check_quiet()

    def _created(self, call: Call) -> None:
        if call.topic_id is not None:
            self.known_ids.append((call.topic, call.topic_id))

    def _controller(self) -> int | None:
        """The node that a client considers the controller; None if no broker is up."""
        broker = self.cluster.controller_id
        return broker if broker is not None and self.cluster.world.is_up(broker) else None


def draw_step(schedule: Schedule) -> Callable[[], None]:
    """One event, drawn of the world's random source."""
    random = schedule.cluster.random
    broker, name = random.choice(BROKERS), random.choice(NAMES)
    number = random.randrange(4)
    replicas = random.sample(BROKERS, random.randint(1, 3))
    steps: list[tuple[int, Callable[[], None]]] = [
        (5, lambda: schedule.create(name, replicas)),
        (4, lambda: schedule.delete(name)),
        (4, lambda: schedule.create_again(name, replicas)),
        (6, lambda: schedule.produce(number)),
        (1, lambda: schedule.produce_by_name(name)),
        (1, lambda: schedule.fetch(broker, number)),
        (4, lambda: schedule.fetch_from_leader(number)),
        (3, lambda: schedule.crash(broker)),
        (4, lambda: schedule.start(broker)),
        (2, lambda: schedule.cut(broker, random.choice(BROKERS))),
        (2, schedule.heal),
        (1, lambda: schedule.lose(random.choice((2, 10, 30)))),
        (1, lambda: schedule.lose_api(random.choice(("StopReplica", "LeaderAndIsr")))),
        (1, lambda: schedule.slow(random.choice((50, 500, 2_000)))),
        (2, lambda: schedule.expire(broker, random.choice((5, 500, _LONGEST_DELUSION_MS)))),
        (2, lambda: schedule.depose(broker)),
        (1, schedule.resign),
        (1, schedule.bump),
        (8, lambda: schedule.run(random.randint(1, _LONGEST_PAUSE_MS))),
    ]
    return random.choices([step for _, step in steps], [weight for weight, _ in steps])[0]


def run_schedule(
    seed: int, steps: int, *, rules: Rules = TEXT, record_states: bool = False
) -> Schedule:
    """Run a random schedule of events until the world is idle; half the runs begin before the
    bump.
    """
    schedule = Schedule(seed, bumped=seed % 2 == 0, rules=rules, record_states=record_states)
    for _ in range(steps):
        draw_step(schedule)()
        schedule.run(schedule.cluster.random.randint(0, 20))
        schedule.invariants.check()
    schedule.finish()
    return schedule


def random_schedule(seed: int, steps: int, rules: Rules = TEXT) -> World:
    return run_schedule(seed, steps, rules=rules, record_states=True).cluster.world
