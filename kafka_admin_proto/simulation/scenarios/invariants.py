"""Invariants of every world under the text's rules, whatever happens to it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.simulation.broker.storage.disk import Folder
from kafka_admin_proto.simulation.controller.cluster import DELETIONS_PATH, TOPICS_PATH
from kafka_admin_proto.simulation.controller.topics import RESERVED_IDS
from kafka_admin_proto.simulation.scenarios.client import Call
from kafka_admin_proto.simulation.scenarios.cluster import Cluster
from kafka_admin_proto.simulation.world.frames import read_request_frame
from kafka_admin_proto.simulation.world.trace import TraceEvent
from kafka_admin_proto.topic_ids import topic_id_from_text, topic_id_to_text

_IDS_SINCE = {"LeaderAndIsr": 5, "StopReplica": 4, "UpdateMetadata": 7}


class LiveTopic(NamedTuple):
    """A topic that the store has; ``made`` is the transaction that created its znode."""

    name: str
    made: int
    topic_id: UUID | None
    #: Partition → brokers with a replica.
    replicas: dict[int, list[int]]
    #: Whether its deletion is staged.
    staged: bool


class Hosted(NamedTuple):
    """A replica on a disk, of a topic with an id and the transaction that created its znode."""

    broker: int
    name: str
    partition: int
    topic: tuple[UUID | None, int]


@dataclass(slots=True)
class Invariants:
    """Checks a cluster when asked to; each broken invariant is a sentence in ``broken``."""

    cluster: Cluster
    broken: list[str] = field(default_factory=list)
    _events_seen: int = 0
    #: Replicas of live topics that were on a disk.
    _hosted: set[Hosted] = field(default_factory=set)
    #: Live folders without an id, and the transaction of the topic they were first seen under.
    _without_id: dict[tuple[int, str, int], int] = field(default_factory=dict)
    #: Transactions of topics that were created before the bump.
    _older_than_ids: set[int] = field(default_factory=set)
    #: Broker, id and partition of such a folder that another topic's id was written to: the text
    #: leaves this open, and its replica takes its old leader with it.
    _adopted: set[tuple[int, UUID, int]] = field(default_factory=set)
    _controllers: dict[int, int] = field(default_factory=dict)
    _leaders: dict[tuple[str, int, int], int] = field(default_factory=dict)
    _ids: dict[UUID, str] = field(default_factory=dict)
    _id_of: dict[tuple[str, int], UUID] = field(default_factory=dict)

    def live_topics(self) -> dict[str, LiveTopic]:
        store = self.cluster.world.store
        staged = store.children(DELETIONS_PATH)
        live = {}
        for name in store.children(TOPICS_PATH):
            znode = store.znodes[f"{TOPICS_PATH}/{name}"]
            data = json.loads(znode.data)
            text = data.get("topic_id")
            topic_id = None if text is None else topic_id_from_text(text)
            replicas = {int(number): brokers for number, brokers in data["partitions"].items()}
            live[name] = LiveTopic(name, znode.created_zxid, topic_id, replicas, name in staged)
        return live

    def check(self) -> None:
        """Check what holds at any moment; call it after each step of a schedule."""
        topics = self.live_topics()
        self._check_ids(topics)
        self._check_disks(topics)
        self._check_events()
        self._check_leaders()

    def deletion_answered(self, call: Call, made: int | None) -> None:
        """A deletion has ended; ``made`` is the topic's transaction when it was asked for."""
        at_once = self.cluster.config.topic_ids and self.cluster.bumped_at_epoch is None
        if call.error_code == codes.REQUEST_TIMED_OUT and at_once:
            self._break(f"the deletion of {call.topic} was not answered at once")
        if call.error_code == codes.NONE and made is not None:
            topic = self.live_topics().get(call.topic)
            if topic is not None and topic.made == made:
                self._break(f"the deletion of {call.topic} was answered, and its name is taken")

    def fetch_answered(self, call: Call) -> None:
        """A Fetch by id has ended: its records were written to a topic of that id, or of none."""
        assert call.topic_id is not None, "clients fetch by id"
        self._check_values(f"a Fetch of {call.topic}", call.topic_id, call.values)

    def restarted(self, broker: int) -> None:
        """A broker has just started: it knows the ids that its files have, and no others."""
        state = self.cluster.process(broker).broker.state()
        known = {(each["topic"], each["partition"]): each["topic_id"] for each in state["logs"]}
        on_disk = {
            (each.topic, each.partition): topic_id_to_text(each.topic_id) if each.topic_id else None
            for each in self.cluster.disks[broker].folders()
            if each.kind == "live"
        }
        if known != on_disk:
            self._break(f"broker {broker} knows {known} after its start, its files say {on_disk}")

    def check_quiet(self) -> None:
        """Invariants for when all nodes are up and have the full metadata."""
        self.check()
        topics = self.live_topics()
        for call in self.cluster.client.calls:
            if not call.ended:
                self._break(f"{call.what} of {call.topic} waits for ever")
        for topic in topics.values():
            if topic.staged:
                self._break(f"the staged deletion of {topic.name} waits for ever")
        self._check_metadata(topics)
        wanted = {
            (broker, topic.name, partition, topic.topic_id)
            for topic in topics.values()
            for partition, brokers in topic.replicas.items()
            for broker in brokers
        }
        kept = {
            (broker, each.topic, each.partition, each.topic_id)
            for broker, disk in self.cluster.disks.items()
            for each in disk.folders()
        }
        for broker, name, partition, topic_id in sorted(kept - wanted, key=str):
            self._break(f"folder {name}-{partition} of {topic_id} on broker {broker} is nobody's")
        for broker, name, partition, topic_id in sorted(wanted - kept, key=str):
            self._break(f"{name}-{partition} of {topic_id} is not on broker {broker}")

    def _check_metadata(self, topics: dict[str, LiveTopic]) -> None:
        """Every broker knows the store's topics by their ids, and no others."""
        stored = {
            name: topic_id_to_text(topic.topic_id) if topic.topic_id else None
            for name, topic in topics.items()
        }
        for broker in self.cluster.brokers:
            state = self.cluster.process(broker).broker.state()
            ids = state["topic_ids"]
            known = {name: ids.get(name) for name in (*state["topics"], *ids)}
            for name, topic_id in sorted(known.items() - stored.items(), key=str):
                self._break(f"broker {broker} knows {name} of {topic_id}, which the store lacks")
            for name, topic_id in sorted(stored.items() - known.items(), key=str):
                self._break(f"broker {broker} does not know {name} of {topic_id}")

    def _check_ids(self, topics: dict[str, LiveTopic]) -> None:
        """No reserved id, none twice, and each for good."""
        for topic in topics.values():
            if topic.topic_id is None:
                self._older_than_ids.add(topic.made)
                continue
            if topic.topic_id in RESERVED_IDS:
                self._break(f"topic {topic.name} has the reserved id {topic.topic_id}")
            owner = self._ids.setdefault(topic.topic_id, f"{topic.name} of {topic.made}")
            if owner != f"{topic.name} of {topic.made}":
                self._break(f"{topic.name} of {topic.made} has the id of {owner}")
            first = self._id_of.setdefault((topic.name, topic.made), topic.topic_id)
            if first != topic.topic_id:
                self._break(f"{topic.name} of {topic.made} had id {first}, now {topic.topic_id}")

    def _check_disks(self, topics: dict[str, LiveTopic]) -> None:
        """Replicas of live topics stay, and logs have records of their own id."""
        hosted = set()
        for broker, disk in self.cluster.disks.items():
            for folder in disk.folders():
                if folder.topic_id is not None:
                    if folder.topic_id in RESERVED_IDS:
                        self._break(f"a file on broker {broker} has the id {folder.topic_id}")
                    values = [(each.value or b"").decode() for each in disk.records(folder)]
                    where = f"{folder.name} on broker {broker}"
                    self._check_values(where, folder.topic_id, values)
                topic = topics.get(folder.topic)
                if folder.kind == "live":
                    self._note_adoption(broker, folder, _NO_TOPIC if topic is None else topic.made)
                if topic is None or topic.staged or folder.kind != "live":
                    continue
                is_replica = broker in topic.replicas.get(folder.partition, ())
                if is_replica and folder.topic_id == topic.topic_id:
                    id_and_transaction = topic.topic_id, topic.made
                    hosted.add(Hosted(broker, topic.name, folder.partition, id_and_transaction))
        for gone in sorted(self._hosted - hosted, key=str):
            topic = topics.get(gone.name)
            if topic is None or topic.staged or (topic.topic_id, topic.made) != gone.topic:
                continue
            replica = f"{gone.name}-{gone.partition}"
            self._break(f"replica {replica} of a live topic has left broker {gone.broker}")
        self._hosted = hosted

    def _note_adoption(self, broker: int, folder: Folder, made: int) -> None:
        """A log without an id cannot be distinguished from that of a later topic of the same
        name.
        """
        key = broker, folder.topic, folder.partition
        if folder.topic_id is None:
            self._without_id.setdefault(key, made)
        elif key in self._without_id:
            first = self._without_id.pop(key)
            if first != made or made not in self._older_than_ids:
                self._adopted.add((broker, folder.topic_id, folder.partition))

    def _check_values(self, where: str, topic_id: UUID, values: list[str]) -> None:
        """Records have the id that they were written for; those from before ids have a name."""
        for value in values:
            if len(value) == _ID_LENGTH and value != topic_id_to_text(topic_id):
                self._break(f"{where}: id {topic_id} has a record of {value}")

    def _check_events(self) -> None:
        """Each epoch has one controller; after the bump its requests have ids."""
        events = self.cluster.world.trace.events
        for event in events[self._events_seen :]:
            if event.kind == "note" and event.text == "became controller":
                epoch = event.fields["epoch"]
                if self._controllers.setdefault(epoch, event.node) != event.node:
                    self._break(f"controller epoch {epoch} has two controllers")
            elif event.kind == "send" and event.type == "request" and event.api in _IDS_SINCE:
                self._check_version(event)
        self._events_seen = len(events)

    def _check_version(self, event: TraceEvent) -> None:
        """A controller that was elected after the bump names topics by id."""
        bumped = self.cluster.bumped_at_epoch
        has_ids = event.version >= _IDS_SINCE[event.api]
        if not has_ids and bumped is None and self.cluster.config.topic_ids:
            self._break(f"{event.api} v{event.version} was sent, and the protocol has ids")
        if event.frame is None or has_ids or bumped is None:
            return
        _, body = read_request_frame(event.frame, self.cluster.world.trace.dialect)
        if getattr(body, "controller_epoch", bumped) > bumped:
            self._break(f"{event.api} v{event.version} was sent after the bump")

    def _check_leaders(self) -> None:
        """Each leader epoch of a partition with an id has one leader."""
        cluster = self.cluster
        for broker in cluster.brokers:
            if not cluster.world.is_up(broker):
                continue
            for replica in cluster.process(broker).broker.state()["replicas"]:
                if replica["leader"] != broker or replica["topic_id"] is None:
                    continue
                topic_id = topic_id_from_text(replica["topic_id"])
                if (broker, topic_id, replica["partition"]) in self._adopted:
                    continue
                key = replica["topic_id"], replica["partition"], replica["leader_epoch"]
                if self._leaders.setdefault(key, broker) != broker:
                    self._break(f"{key} is led by {broker} and by {self._leaders[key]}")

    def _break(self, sentence: str) -> None:
        if sentence not in self.broken:
            self.broken.append(sentence)


_NO_TOPIC = -1
#: Characters of an id in Kafka's form; names of topics are shorter here.
_ID_LENGTH = 22
