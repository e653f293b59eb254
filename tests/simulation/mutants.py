"""Wrong controllers and brokers by name: each breaks one rule, and the invariants find it.

A mutant is a rule's wrong value, or a function that patches one method. ``seeds_until_found``
counts the runs of random schedules, from seed 0 on, until an invariant is broken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import pytest

from kafka_admin_proto.simulation.broker import control, state
from kafka_admin_proto.simulation.controller import controller as controllers
from kafka_admin_proto.simulation.controller.controller import Controller
from kafka_admin_proto.simulation.controller.deletions import Deletions
from kafka_admin_proto.simulation.controller.messages import INCREMENTAL, Built, RequestBuilder
from kafka_admin_proto.simulation.controller.sending import BrokerQueue
from kafka_admin_proto.simulation.controller.topics import (
    Partition,
    Topic,
    TopicStore,
    new_topic_id,
)
from kafka_admin_proto.simulation.rules import TEXT
from kafka_admin_proto.simulation.scenarios.schedule import run_schedule
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID

#: Events of each schedule.
STEPS = 60
#: Within as many runs each mutant is found.
LIMIT = 500

Patch = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True, slots=True)
class Mutant:
    """What it does wrong, and how."""

    what: str
    rules: Mapping[str, Any] = field(default_factory=dict)
    patch: Patch | None = None


def seeds_until_found(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> int | None:
    """How many runs it takes, and None if LIMIT are not enough."""
    rules = replace(TEXT, **mutant.rules)
    with monkeypatch.context() as patched:
        if mutant.patch is not None:
            mutant.patch(patched)
        for seed in range(LIMIT):
            try:
                broken = run_schedule(seed, STEPS, rules=rules).invariants.broken
            except (AssertionError, KeyError, ValueError):  # it may also fall over its own mistake
                return seed + 1
            if broken:
                return seed + 1
    return None


def _full_is_incremental(patched: pytest.MonkeyPatch) -> None:
    build = RequestBuilder.leader_and_isr

    def wrong(self: RequestBuilder, epoch: int, parts: Any, kind: int, live: Any) -> Built:
        return build(self, epoch, parts, INCREMENTAL, live)

    patched.setattr(RequestBuilder, "leader_and_isr", wrong)


def _full_names_led_partitions_only(patched: pytest.MonkeyPatch) -> None:
    build = RequestBuilder.leader_and_isr

    def wrong(self: RequestBuilder, epoch: int, parts: Any, kind: int, live: Any) -> Built:
        led = [
            (topic, [number for number in numbers if topic.partitions[number].leader == min(live)])
            for topic, numbers in parts
        ]
        return build(self, epoch, parts if kind == INCREMENTAL else led, kind, live)

    patched.setattr(RequestBuilder, "leader_and_isr", wrong)


def _retry_forgotten(patched: pytest.MonkeyPatch) -> None:
    patched.setattr(Deletions, "_retry_later", lambda self: None)


def _old_stop_replica(patched: pytest.MonkeyPatch) -> None:
    build = RequestBuilder.stop_replica

    def wrong(self: RequestBuilder, epoch: int, topic: Topic, numbers: Any) -> Built:
        return build(replace(self, topic_ids=False), epoch, topic, numbers)

    patched.setattr(RequestBuilder, "stop_replica", wrong)


def _sentinel_assigned(patched: pytest.MonkeyPatch) -> None:
    choose = new_topic_id

    def wrong(random: Any) -> UUID:
        return METADATA_TOPIC_ID if random.random() < 0.1 else choose(random)

    patched.setattr(controllers, "new_topic_id", wrong)


def _same_id_again(patched: pytest.MonkeyPatch) -> None:
    patched.setattr(
        controllers, "new_topic_id", lambda random: UUID(int=random.getrandbits(2), version=4)
    )


def _name_taken_after_answer(patched: pytest.MonkeyPatch) -> None:
    def wrong(self: Controller, topic: Topic) -> None:
        del self.topics[topic.name]
        self.deletions.add(topic, staged=False)
        self.deletions.run()

    patched.setattr(Controller, "_delete_at_once", wrong)


def _staged_forgotten(patched: pytest.MonkeyPatch) -> None:
    start = Controller._start

    def wrong(self: Controller) -> None:
        children = self._session.children

        def without_deletions(path: str) -> list[str]:
            return [] if "delete_topics" in path else children(path)

        patched.setattr(self._session, "children", without_deletions)
        start(self)

    patched.setattr(Controller, "_start", wrong)


def _epoch_not_raised(patched: pytest.MonkeyPatch) -> None:
    make = Controller.__init__

    def wrong(self: Controller, *rest: Any) -> None:
        context, session, config, epoch, version, resigned = rest
        make(self, context, session, config, max(1, epoch - 1), version, resigned)

    patched.setattr(Controller, "__init__", wrong)


def _stop_by_name(patched: pytest.MonkeyPatch) -> None:
    def wrong(broker: Any, topic_id: UUID, index: int) -> Any:
        found = [partition for partition, _ in broker.logs if partition[1] == index]
        return found[0] if found else None

    patched.setattr(control, "_with_id", wrong)


def _fetch_ids_not_compared(patched: pytest.MonkeyPatch) -> None:
    def wrong(self: Any, topic_id: UUID, index: int) -> Any:
        found = [replica for (_, at), replica in self.replicas.items() if at == index]
        return found[0] if found else self.rules.fetch_of_unknown_id

    patched.setattr(state.BrokerState, "hosted_by_id", wrong)


def _id_given_anew(patched: pytest.MonkeyPatch) -> None:
    read = TopicStore.read

    def wrong(self: TopicStore, name: str) -> Topic:
        topic = read(self, name)
        topic.topic_id = None
        return topic

    patched.setattr(TopicStore, "read", wrong)


def _lost_request_not_sent_again(patched: pytest.MonkeyPatch) -> None:
    def wrong(self: BrokerQueue) -> None:
        if self._waiting:
            self._waiting.popleft()
        self._under_way = False
        self._send_next()

    patched.setattr(BrokerQueue, "_resend", wrong)


def _leader_epoch_not_raised(patched: pytest.MonkeyPatch) -> None:
    elect = Partition.elect

    def wrong(self: Any, live: Any) -> bool:
        before = self.leader_epoch
        changed = elect(self, live)
        self.leader_epoch = before
        return changed

    patched.setattr(Partition, "elect", wrong)


def _deletion_not_sent(patched: pytest.MonkeyPatch) -> None:
    patched.setattr(Controller, "_send_deletion", lambda self, topic: None)


def _staged_in_full_metadata(patched: pytest.MonkeyPatch) -> None:
    def wrong(self: Controller, broker: int) -> None:
        queue = self._queues[broker]
        self._update(queue, [(topic, list(topic.partitions)) for topic in self.topics.values()])
        self._full(queue, broker)

    patched.setattr(Controller, "_send_full_requests", wrong)


def _finalized_at_first_answer(patched: pytest.MonkeyPatch) -> None:
    stopped = Deletions._stopped

    def wrong(self: Deletions, deletion: Any, broker: int, body: Any) -> None:
        deletion.remaining = {broker: deletion.remaining.get(broker, [])}
        stopped(self, deletion, broker, body)

    patched.setattr(Deletions, "_stopped", wrong)


#: Name → the mutant.
MUTANTS: dict[str, Mutant] = {
    "full-reconciles-nothing": Mutant(
        "a FULL request leaves stale partitions alone", {"full_reconciles": "never"}
    ),
    "ids-not-compared": Mutant(
        "LeaderAndIsr with another id takes the log that is there", {"unequal_id": "ignore"}
    ),
    "epochs-ignored": Mutant(
        "requests of old controllers and old lives are obeyed", {"epochs_compared": False}
    ),
    "file-not-read-back": Mutant(
        "a broker does not read partition.metadata when it starts", {"ids_read_back": False}
    ),
    "file-not-written": Mutant(
        "a log from before the bump gets no partition.metadata", {"missing_file_written": False}
    ),
    "answered-when-gone": Mutant(
        "a deletion after the bump is staged as before", {"deletion_answered": "when_gone"}
    ),
    "full-is-incremental": Mutant("no request is of type FULL", patch=_full_is_incremental),
    "full-is-not-full": Mutant(
        "FULL names only what one broker leads", patch=_full_names_led_partitions_only
    ),
    "retry-forgotten": Mutant("StopReplica is not sent again", patch=_retry_forgotten),
    "v3-after-the-bump": Mutant("StopReplica stays at version 3", patch=_old_stop_replica),
    "sentinel-assigned": Mutant("a topic gets the reserved id", patch=_sentinel_assigned),
    "id-given-twice": Mutant("ids are drawn from four", patch=_same_id_again),
    "id-given-anew": Mutant("a new controller gives each topic another id", patch=_id_given_anew),
    "name-stays-taken": Mutant(
        "a deletion is answered before the znode has gone", patch=_name_taken_after_answer
    ),
    "staged-forgotten": Mutant(
        "a new controller does not look into /admin/delete_topics", patch=_staged_forgotten
    ),
    "controller-epoch-not-raised": Mutant(
        "a new controller has the old one's epoch", patch=_epoch_not_raised
    ),
    "leader-epoch-not-raised": Mutant(
        "another leader has the same leader epoch", patch=_leader_epoch_not_raised
    ),
    "stop-by-index": Mutant("StopReplica v4 takes any topic's partition", patch=_stop_by_name),
    "fetch-ignores-ids": Mutant("Fetch answers for any topic", patch=_fetch_ids_not_compared),
    "lost-not-sent-again": Mutant(
        "a LeaderAndIsr that was lost stays lost", patch=_lost_request_not_sent_again
    ),
    "one-answer-is-all": Mutant(
        "the first broker's answer finishes a deletion", patch=_finalized_at_first_answer
    ),
    "deletion-not-sent": Mutant(
        "no UpdateMetadata has a deleted topic's leader of -2", patch=_deletion_not_sent
    ),
    "staged-in-full-metadata": Mutant(
        "a broker's first UpdateMetadata has topics whose deletion is staged",
        patch=_staged_in_full_metadata,
    ),
    "first-metadata-is-not-full": Mutant(
        "a new controller's first UpdateMetadata has brokers forget nothing",
        {"full_update_forgets": "never"},
    ),
    "deleted-id-kept": Mutant(
        "UpdateMetadata that deletes what is unknown leaves the id",
        {"unknown_deletion_keeps_id": True},
    ),
}
