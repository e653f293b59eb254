"""The controller: one term of the process that holds ``/controller`` in the store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeVar
from uuid import UUID

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.simulation.controller.cluster import (
    BROKERS_PATH,
    CONTROLLER_EPOCH_PATH,
    DELETIONS_PATH,
    ClusterConfig,
)
from kafka_admin_proto.simulation.controller.deletions import Deletion, Deletions
from kafka_admin_proto.simulation.controller.messages import FULL, INCREMENTAL, RequestBuilder
from kafka_admin_proto.simulation.controller.sending import BrokerQueue
from kafka_admin_proto.simulation.controller.topics import (
    Partition,
    Topic,
    TopicStore,
    new_topic_id,
)
from kafka_admin_proto.simulation.node import NodeContext
from kafka_admin_proto.simulation.world.store import Session, StoreError

_T = TypeVar("_T")


class Controller:
    """Elected with an epoch; ends with ``resign``, and its memory with it."""

    def __init__(
        self,
        context: NodeContext,
        session: Session,
        config: ClusterConfig,
        epoch: int,
        epoch_version: int,
        resigned: Callable[[], None],
    ) -> None:
        self.epoch: int = epoch
        self.topics: dict[str, Topic] = {}
        self.active: bool = True
        self._context = context
        self._session = session
        self._config = config
        self._check = (CONTROLLER_EPOCH_PATH, epoch_version)
        self._resigned = resigned
        self._store = TopicStore(session, self._check)
        dialect = config.rules.dialect
        self._builder = RequestBuilder(context.node_id, epoch, config.topic_ids, dialect)
        self._queues: dict[int, BrokerQueue] = {}
        self.deletions: Deletions = Deletions(
            context, config, self._builder, self._queues.get, self._finish_staged
        )

    def start(self) -> None:
        """Read the store, give ids to topics without one, and tell every broker everything."""
        self._while_active(self._start)

    def resign(self) -> None:
        """End the term: nothing more is sent, and clients that wait get NOT_CONTROLLER."""
        if not self.active:
            return
        self.active = False
        for queue in list(self._queues.values()):
            queue.close()
        self._queues.clear()
        self._context.note("controller resigned", epoch=self.epoch)
        self.deletions.resign(codes.NOT_CONTROLLER)
        self._resigned()

    def create_topic(
        self, name: str, assignment: dict[int, list[int]] | None, partitions: int, factor: int
    ) -> tuple[int, Topic | None]:
        """Error code and topic; ``assignment`` says each partition's replicas, else they are drawn.

        The code is NOT_CONTROLLER when the term turns out to be over.
        """
        made = self._while_active(lambda: self._create(name, assignment, partitions, factor))
        return made or (codes.NOT_CONTROLLER, None)

    def delete_topic(
        self,
        name: str | None,
        topic_id: UUID | None,
        timeout_ms: int,
        answer: Callable[[int], None],
    ) -> None:
        """Delete a topic by name or id; ``answer`` gets the error code, at once or later."""
        codes_given: list[int] = []

        def answer_once(code: int) -> None:
            codes_given.append(code)
            if len(codes_given) == 1:
                answer(code)

        self._while_active(lambda: self._delete(name, topic_id, timeout_ms, answer_once))
        if not self.active:
            answer_once(codes.NOT_CONTROLLER)

    def state(self) -> dict[str, Any]:
        """The controller's state, as values of JSON."""
        topics = {name: topic.text_id for name, topic in sorted(self.topics.items())}
        return {
            "epoch": self.epoch,
            "brokers": sorted(self._queues),
            "topics": topics,
            "deletions": [
                {
                    "topic": each.topic.name,
                    "topic_id": each.topic.text_id,
                    "format": "old" if each.staged else "new",
                    "brokers": sorted(each.remaining),
                    "tries": each.tries,
                }
                for each in self.deletions.pending
            ],
        }

    def idle(self) -> bool:
        """Whether no request and no deletion is waiting."""
        return not self.deletions.pending and all(each.idle for each in self._queues.values())

    def _while_active(self, call: Callable[[], _T]) -> _T | None:
        """Call if the term lasts. A StoreError means that there is another controller: resign."""
        if self.active:
            try:
                return call()
            except StoreError:
                self.resign()
        return None

    def _start(self) -> None:
        self._context.note("became controller", epoch=self.epoch)
        self.topics = {name: self._store.read(name) for name in self._store.names()}
        if self._config.topic_ids:
            for topic in self.topics.values():
                if topic.topic_id is None:
                    topic.topic_id = new_topic_id(self._context.random)
                    self._store.write_id(topic)
        self._session.watch(BROKERS_PATH, lambda path: self._while_active(self._brokers_changed))
        for name in self._session.children(DELETIONS_PATH):
            if name in self.topics:
                self.deletions.add(self.topics[name], staged=True)
            else:
                self._session.delete(f"{DELETIONS_PATH}/{name}", check=self._check)
        self._brokers_changed()
        for deletion in self.deletions.pending:
            self._send_deletion(deletion.topic)
        self.deletions.run()

    def _brokers_changed(self) -> None:
        """Compare the registrations with the brokers that were live, and act on the difference."""
        epochs = {
            int(name): self._session.created_zxid(f"{BROKERS_PATH}/{name}") or 0
            for name in self._session.children(BROKERS_PATH)
        }
        for broker, queue in list(self._queues.items()):
            if epochs.get(broker) != queue.broker_epoch:
                queue.close()
                del self._queues[broker]
        started = [broker for broker in sorted(epochs) if broker not in self._queues]
        for broker in started:
            resend_ms = self._config.resend_ms
            self._queues[broker] = BrokerQueue(self._context, broker, epochs[broker], resend_ms)
        changed = self._elect(self.topics.values())
        for broker in started:
            self._send_full_requests(broker)
        others = [broker for broker in self._live if broker not in started]
        self._send_changes(changed, others)
        self.deletions.run()

    def _send_full_requests(self, broker: int) -> None:
        """Send a broker that starts, or has a new controller, all metadata and a FULL request.

        Topics whose deletion is staged are no part of the metadata.
        """
        queue = self._queues[broker]
        known = [each for each in self.topics.values() if not self.deletions.staged(each.name)]
        self._update(queue, [(topic, list(topic.partitions)) for topic in known])
        self._full(queue, broker)

    def _full(self, queue: BrokerQueue, broker: int) -> None:
        """All partitions of a broker, but for those that a staged deletion has removed from it."""
        mine = []
        for topic in self.topics.values():
            staged = self.deletions.staged(topic.name)
            on_it = topic.partitions_on(broker)
            numbers = on_it if staged is None else staged.remaining.get(broker, [])
            if numbers:
                mine.append((topic, numbers))
        queue.add(self._builder.leader_and_isr(queue.broker_epoch, mine, FULL, self._live))

    def _send_changes(self, parts: list[tuple[Topic, list[int]]], brokers: Iterable[int]) -> None:
        """Send brokers what has changed: the metadata, and the partitions that they host.

        Metadata goes first: a broker follows only a leader that it knows as live.
        """
        for broker in brokers:
            queue = self._queues[broker]
            self._update(queue, parts)
            mine = [
                (topic, [each for each in numbers if broker in topic.partitions[each].replicas])
                for topic, numbers in parts
            ]
            mine = [(topic, numbers) for topic, numbers in mine if numbers]
            if mine:
                epoch, live = queue.broker_epoch, self._live
                queue.add(self._builder.leader_and_isr(epoch, mine, INCREMENTAL, live))

    def _update(self, queue: BrokerQueue, parts: list[tuple[Topic, list[int]]]) -> None:
        epoch, live = queue.broker_epoch, self._live
        queue.add(self._builder.update_metadata(epoch, parts, live, deleted=False))

    def _elect(self, topics: Iterable[Topic]) -> list[tuple[Topic, list[int]]]:
        """Elect leaders where live brokers have changed; returns the partitions that changed."""
        changed = []
        for topic in topics:
            if self.deletions.staged(topic.name) is not None:
                continue
            numbers = [no for no, each in topic.partitions.items() if each.elect(self._live)]
            for number in numbers:
                self._store.write_state(topic, number, self.epoch)
            if numbers:
                changed.append((topic, numbers))
        return changed

    @property
    def _live(self) -> list[int]:
        return sorted(self._queues)

    def _create(
        self, name: str, assignment: dict[int, list[int]] | None, partitions: int, factor: int
    ) -> tuple[int, Topic | None]:
        if name in self.topics:
            return codes.TOPIC_ALREADY_EXISTS, None
        if assignment is None:
            if not 0 < factor <= len(self._live):
                return codes.INVALID_REPLICATION_FACTOR, None
            draw = self._context.random.sample
            assignment = {number: draw(self._live, factor) for number in range(partitions)}
        topic_id = new_topic_id(self._context.random) if self._config.topic_ids else None
        topic = Topic(name, topic_id, {})
        for number, replicas in sorted(assignment.items()):
            live = [each for each in replicas if each in self._queues]
            leader = live[0] if live else -1
            topic.partitions[number] = Partition(replicas, leader, sorted(live or replicas))
        self._store.create(topic, self.epoch)
        self.topics[name] = topic
        self._context.note("topic created", topic=name, topic_id=topic.text_id)
        self._send_changes([(topic, list(topic.partitions))], self._live)
        return codes.NONE, topic

    def _delete(
        self,
        name: str | None,
        topic_id: UUID | None,
        timeout_ms: int,
        answer: Callable[[int], None],
    ) -> None:
        if name is None:
            topics = [each for each in self.topics.values() if each.topic_id == topic_id]
            topic = topics[0] if topics else None
        else:
            topic = self.topics.get(name)
        if topic is None:
            answer(codes.UNKNOWN_TOPIC_ID if name is None else codes.UNKNOWN_TOPIC_OR_PARTITION)
        elif (staged := self.deletions.staged(topic.name)) is not None:
            self._wait(staged, timeout_ms, answer)
        elif self._config.topic_ids and self._config.rules.deletion_answered == "at_once":
            self._delete_at_once(topic)
            answer(codes.NONE)
        else:
            self._session.create(f"{DELETIONS_PATH}/{topic.name}", b"", check=self._check)
            self._context.note("deletion staged", topic=topic.name, topic_id=topic.text_id)
            deletion = self.deletions.add(topic, staged=True)
            self._send_deletion(topic)
            self._wait(deletion, timeout_ms, answer)
            self.deletions.run()

    def _delete_at_once(self, topic: Topic) -> None:
        """The new format: the topic leaves the store, its replicas are deleted afterwards."""
        self._store.delete(topic.name)
        del self.topics[topic.name]
        self._context.note("topic deleted", topic=topic.name, topic_id=topic.text_id)
        self.deletions.add(topic, staged=False)
        self._send_deletion(topic)
        self.deletions.run()

    def _send_deletion(self, topic: Topic) -> None:
        """Have every broker remove the topic from its metadata."""
        parts = [(topic, list(topic.partitions))]
        for queue in self._queues.values():
            epoch, live = queue.broker_epoch, self._live
            queue.add(self._builder.update_metadata(epoch, parts, live, deleted=True))

    def _wait(self, deletion: Deletion, timeout_ms: int, answer: Callable[[int], None]) -> None:
        deletion.waiting.append(answer)
        self._context.call_later(timeout_ms, lambda: answer(codes.REQUEST_TIMED_OUT))

    def _finish_staged(self, topic: Topic) -> bool:
        """The old format: the znodes go when the replicas have gone. False if the term is over."""

        def remove() -> None:
            self._store.delete(topic.name)
            self._session.delete(f"{DELETIONS_PATH}/{topic.name}", check=self._check)
            self.topics.pop(topic.name, None)

        self._while_active(remove)
        return self.active


def controller_data(node_id: int, now_ms: int) -> bytes:
    data = {"version": 1, "brokerid": node_id, "timestamp": str(now_ms)}
    return json.dumps(data, separators=(",", ":")).encode()
