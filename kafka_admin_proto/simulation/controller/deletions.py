"""Deletion of topics as the text has it: collect, remove, finalize, retry, give up.

Two kinds stand side by side. A *staged* deletion is the old format: a znode in
``/admin/delete_topics`` asks for it, the topic stays in the store until every replica is gone, and
the client waits for that. An *immediate* one is the new format: the topic is out of the store and
the client has its answer, and what is left is in this object's memory alone, which ends with its
controller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.simulation.controller.cluster import ClusterConfig
from kafka_admin_proto.simulation.controller.messages import RequestBuilder, stopped
from kafka_admin_proto.simulation.controller.sending import FindQueue
from kafka_admin_proto.simulation.controller.topics import Topic
from kafka_admin_proto.simulation.node import NodeContext
from kafka_admin_proto.values import Message


@dataclass(slots=True)
class Deletion:
    """A topic that is being deleted."""

    topic: Topic
    #: Whether it is of the old format.
    staged: bool
    began_ms: int
    #: Broker → partitions whose replica on it may still be there.
    remaining: dict[int, list[int]]
    tries: int = 0
    #: Brokers whose StopReplica has no response yet.
    under_way: set[int] = field(default_factory=set)
    #: Called with an error code when it is done: clients that wait for a staged one.
    waiting: list[Callable[[int], None]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Deletions:
    """All deletions of one controller's term."""

    _context: NodeContext
    _config: ClusterConfig
    _builder: RequestBuilder
    _find_queue: FindQueue
    _finish_staged: Callable[[Topic], bool]
    #: How many deletions were given up.
    given_up: int = 0
    _by_topic: dict[tuple[str, str], Deletion] = field(default_factory=dict)
    _retry_is_set: bool = False

    def add(self, topic: Topic, *, staged: bool) -> Deletion:
        """Begin a deletion; ``run`` sends its first requests."""
        remaining = {broker: topic.partitions_on(broker) for broker in topic.brokers()}
        deletion = Deletion(topic, staged, self._context.now_ms, remaining)
        self._by_topic[topic.name, topic.text_id] = deletion
        return deletion

    def staged(self, name: str) -> Deletion | None:
        """The deletion of the old format that keeps a topic's name taken."""
        staged_deletions = (each for each in self._by_topic.values() if each.staged)
        return next((each for each in staged_deletions if each.topic.name == name), None)

    @property
    def pending(self) -> list[Deletion]:
        return list(self._by_topic.values())

    def run(self) -> None:
        """Steps 1 to 3 for each deletion: send what can be sent, finish what is done."""
        for deletion in self.pending:
            if not deletion.remaining:
                self._finalize(deletion)
            elif self._may_try(deletion):
                self._try(deletion)

    def resign(self, error_code: int) -> None:
        """The term is over: clients that wait get an error, and everything is forgotten."""
        deletions, self._by_topic = self.pending, {}
        for deletion in deletions:
            self._answer(deletion, error_code)

    def _may_try(self, deletion: Deletion) -> bool:
        """The old logic waits until every broker with a replica is up."""
        brokers = deletion.remaining
        return not deletion.staged or all(self._find_queue(broker) for broker in brokers)

    def _try(self, deletion: Deletion) -> None:
        deletion.tries += not deletion.under_way
        for broker, numbers in list(deletion.remaining.items()):
            queue = self._find_queue(broker)
            if broker in deletion.under_way:
                continue
            if queue is None:
                self._retry_later()
                continue
            deletion.under_way.add(broker)
            built = self._builder.stop_replica(queue.broker_epoch, deletion.topic, numbers)
            queue.add(built, partial(self._stopped, deletion, broker))

    def _stopped(self, deletion: Deletion, broker: int, body: Message | None) -> None:
        deletion.under_way.discard(broker)
        if self._by_topic.get((deletion.topic.name, deletion.topic.text_id)) is not deletion:
            return
        errors = stopped(body, deletion.topic)
        numbers = deletion.remaining.get(broker, [])
        left = [number for number in numbers if errors.get(number) != codes.NONE]
        if left:
            deletion.remaining[broker] = left
            self._retry_later()
        else:
            deletion.remaining.pop(broker, None)
            if not deletion.remaining:
                self._finalize(deletion)

    def _finalize(self, deletion: Deletion) -> None:
        """Nothing of the topic is left on any broker."""
        topic = deletion.topic
        if deletion.staged and not self._finish_staged(topic):
            return
        del self._by_topic[topic.name, topic.text_id]
        self._context.note("deletion finalized", topic=topic.name, topic_id=topic.text_id)
        self._answer(deletion, codes.NONE)

    def _answer(self, deletion: Deletion, error_code: int) -> None:
        waiting, deletion.waiting = deletion.waiting, []
        for answer in waiting:
            answer(error_code)

    def _retry_later(self) -> None:
        if not self._retry_is_set:
            self._retry_is_set = True
            self._context.call_later(self._config.retry_ms, self._retry)

    def _retry(self) -> None:
        self._retry_is_set = False
        for deletion in self.pending:
            if self._is_hopeless(deletion):
                self._give_up(deletion)
        self.run()

    def _is_hopeless(self, deletion: Deletion) -> bool:
        """Whether an immediate deletion has been tried often and long enough."""
        config = self._config
        passed_ms = self._context.now_ms - deletion.began_ms
        return (
            config.rules.deletion_gives_up
            and not deletion.staged
            and deletion.tries >= config.deletion_tries
            and passed_ms >= config.deletion_give_up_ms
        )

    def _give_up(self, deletion: Deletion) -> None:
        """Leave the rest to the FULL request that the brokers get when they start."""
        topic = deletion.topic
        del self._by_topic[topic.name, topic.text_id]
        self.given_up += 1
        self._context.note(
            "deletion given up",
            topic=topic.name,
            topic_id=topic.text_id,
            brokers=sorted(deletion.remaining),
        )
