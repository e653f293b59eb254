"""Steps of a controller that is not quite sane, drawn so that each rule comes up often.

A step is a request of the controller, or of a client that writes, or a restart, or a move. The
drawing remembers which epochs it sent, and draws around them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from uuid import UUID

from kafka_admin_proto import (
    FetchRequest,
    LeaderAndIsrRequest,
    ListOffsetsRequest,
    OffsetForLeaderEpochRequest,
    ProduceRequest,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from kafka_admin_proto.records.batches.batches import Batch, Record, write_batch
from kafka_admin_proto.schema.scalars import ZERO_UUID
from kafka_admin_proto.values import Message
from tests.simulation.broker.alone import FULL, INCREMENTAL, ME, OTHER

#: A broker that never lives, and no leader.
DEAD, NOBODY = 9, -1
#: A broker that is no partition's replica. One that is, and fetches, would make the real broker ask
#: its own controller for a larger ISR.
STRANGER = 8
TOPICS = ("a", "b", "c")
PARTITIONS = (0, 1)
#: Topic → the ids that it is given.
IDS = {name: (UUID(int=at << 8 | 1), UUID(int=at << 8 | 2)) for at, name in enumerate(TOPICS, 1)}
#: An id of no topic.
NOBODYS_ID = UUID(int=0xFF)
#: Nobody listens there.
_OTHER_PORT = 1


@dataclass(frozen=True, slots=True)
class Ask:
    """A request, and its version."""

    body: Message
    version: int


@dataclass(frozen=True, slots=True)
class Restart:
    """An ordered end and a start; ``lose`` are partitions whose file is removed in between."""

    migration: bool
    lose: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Move:
    """A partition moves to the log directory that it is not in."""

    topic: str
    partition: int


Step = Ask | Restart | Move


@dataclass(slots=True)
class Drawing:
    """Draws one step after the other; ``broker_epoch`` and ``now_ms`` are the real broker's."""

    random: random.Random
    port: int
    now_ms: int
    #: The highest controller epoch so far; above those of the broker's own controller.
    controller_epoch: int = 50
    broker_epoch: int = 0
    migration: bool = False
    _leader_epochs: dict[tuple[str, int], int] = field(default_factory=dict)

    def step(self) -> Step:
        """Any step but a restart, which costs seconds."""
        kinds = (self._lead, self._update, self._stop, self._produce, self._move)
        (kind,) = self.random.choices(kinds, (40, 22, 20, 12, 6))
        return kind()

    def restart(self, *, migration: bool) -> Restart:
        """A restart; now and then a file is lost."""
        self.migration = migration
        partitions = [(name, index) for name in TOPICS for index in PARTITIONS]
        lose = tuple(self.random.sample(partitions, self.random.choice((0, 0, 1, 2))))
        return Restart(migration, lose)

    def known(self, live: tuple[int, ...] = (ME, OTHER)) -> Ask:
        """The first word of a controller: its epoch, and who lives."""
        return Ask(self._metadata([], live), 7)

    def of_a_migration(self) -> list[Step]:
        """What drawing alone seldom brings about: full requests beside zero ids."""
        made = StopReplicaRequest.StopReplicaPartitionState
        states = [made(each, -2, True) for each in PARTITIONS]
        topics = [StopReplicaRequest.StopReplicaTopicState(name, states) for name in TOPICS]
        stop = StopReplicaRequest(
            controller_id=ME, controller_epoch=self.controller_epoch, topic_states=topics
        )
        known = self._metadata([self._known(name) for name in TOPICS[:2]], (ME, OTHER))
        full = self._metadata([self._known(TOPICS[0])], (ME, OTHER))
        full.is_kraft_controller, full.type = True, FULL
        return [
            Ask(stop, 3),
            self._led(TOPICS[0], IDS[TOPICS[0]][0], 5),
            self._led(TOPICS[0], ZERO_UUID, 7),
            self._led(TOPICS[1], ZERO_UUID, 5),
            self._led(TOPICS[0], IDS[TOPICS[0]][0], 7),
            Ask(stop, 3),
            Ask(known, 8),
            Ask(full, 8),
        ]

    def _led(self, name: str, topic_id: UUID, version: int) -> Ask:
        """A partition to lead, at version 7 in a full request of a KRaft controller."""
        state = LeaderAndIsrRequest.LeaderAndIsrPartitionState(
            leader=ME, leader_epoch=1, isr=[ME], replicas=[ME]
        )
        topic = LeaderAndIsrRequest.LeaderAndIsrTopicState(name, topic_id, [state])
        body = LeaderAndIsrRequest(
            controller_id=ME, is_kraft_controller=version == 7, topic_states=[topic],
            controller_epoch=self.controller_epoch, type=FULL if version == 7 else INCREMENTAL,
        )  # fmt: skip
        return Ask(body, version)

    def _known(self, name: str) -> UpdateMetadataRequest.UpdateMetadataTopicState:
        state = UpdateMetadataRequest.UpdateMetadataPartitionState(
            leader=ME, leader_epoch=1, isr=[ME], replicas=[ME]
        )
        return UpdateMetadataRequest.UpdateMetadataTopicState(name, IDS[name][0], [state])

    def looks(self) -> list[Ask]:
        """What a client and a follower see of all partitions, by name and by id."""
        epoch = self.random.choice((-1, -1, -1, 1, 3))
        follower = self.random.choice((-1, -1, STRANGER))
        return [
            Ask(fetch_of(ids=False, epoch=epoch, follower=follower), 12),
            Ask(fetch_of(ids=True, epoch=epoch, follower=follower), 13),
            Ask(_offsets_of(self.random.choice((-1, -2)), epoch, follower), 5),
            Ask(_epoch_ends_of(self.random.randint(0, 6), epoch), 3),
        ]

    def _lead(self) -> Step:
        draw = self.random
        topics = []
        for name in draw.sample(TOPICS, draw.choice((1, 1, 2, 3))):
            topic_id = draw.choice((IDS[name][0],) * 3 + (IDS[name][1],) * 2 + (ZERO_UUID,))
            states = [self._state(name, index) for index in self._indexes()]
            topics.append(LeaderAndIsrRequest.LeaderAndIsrTopicState(name, topic_id, states))
        version = draw.choice((4, 5, 5, 6, 7, 7, 7))
        kraft = version == 7 and draw.random() < (0.7 if self.migration else 0.2)
        if version == 4:
            for topic in topics:
                topic.topic_id = ZERO_UUID
        if self.migration and kraft and draw.random() < 0.6:
            for topic in topics:  # what a KRaft controller does; zero ids are rare
                if topic.topic_id == ZERO_UUID:
                    topic.topic_id = IDS[topic.topic_name][0]
        kind = draw.choice((0, INCREMENTAL, FULL, FULL)) if version >= 5 else 0
        body = LeaderAndIsrRequest(
            controller_id=draw.choice((ME, OTHER)),
            is_kraft_controller=kraft,
            controller_epoch=self._epoch(),
            broker_epoch=self._broker_epoch(kraft=kraft),
            type=kind,
            topic_states=topics,
        )
        return Ask(body, version)

    def _state(self, name: str, index: int) -> LeaderAndIsrRequest.LeaderAndIsrPartitionState:
        draw = self.random
        leader = draw.choice((ME, ME, ME, ME, OTHER, OTHER, DEAD, NOBODY))
        replicas = draw.choice(([ME], [ME], [ME, OTHER], [OTHER, ME], [OTHER]))
        return LeaderAndIsrRequest.LeaderAndIsrPartitionState(
            partition_index=index,
            controller_epoch=self.controller_epoch,
            leader=leader,
            leader_epoch=self._leader_epoch(name, index),
            isr=[leader] if leader >= 0 else [],
            partition_epoch=draw.choice((0, 0, 0, 1, 2)),
            replicas=replicas,
            is_new=draw.random() < 0.3,
        )

    def _update(self) -> Step:
        draw = self.random
        topics = []
        for name in draw.sample(TOPICS, draw.choice((1, 1, 2, 3))):
            topic_id = draw.choice((IDS[name][0],) * 3 + (IDS[name][1],) * 2 + (ZERO_UUID,))
            states = []
            gone = draw.random() < 0.2
            for index in self._indexes():
                leader = -2 if gone else draw.choice((ME, ME, OTHER))
                states.append(
                    UpdateMetadataRequest.UpdateMetadataPartitionState(
                        partition_index=index, controller_epoch=self.controller_epoch,
                        leader=leader, leader_epoch=self._leader_epoch(name, index, keep=True),
                        isr=[leader], zk_version=1, replicas=[ME, OTHER],
                    )
                )  # fmt: skip
            topics.append(UpdateMetadataRequest.UpdateMetadataTopicState(name, topic_id, states))
        body = self._metadata(topics, draw.choice(((ME, OTHER),) * 3 + ((ME,),)))
        version = draw.choice((6, 7, 7, 8, 8))
        if version == 6:
            for topic in topics:
                topic.topic_id = ZERO_UUID
        if version == 8:
            body.is_kraft_controller = draw.random() < (0.7 if self.migration else 0.2)
            body.type = draw.choice((0, INCREMENTAL, FULL, FULL))
        body.controller_epoch = self._epoch()
        body.broker_epoch = self._broker_epoch(kraft=body.is_kraft_controller)
        return Ask(body, version)

    def _metadata(
        self, topics: list[UpdateMetadataRequest.UpdateMetadataTopicState], live: tuple[int, ...]
    ) -> UpdateMetadataRequest:
        made = UpdateMetadataRequest
        brokers = []
        for each in live:
            port = self.port if each == ME else _OTHER_PORT
            endpoint = made.UpdateMetadataEndpoint(port, "127.0.0.1", "PLAINTEXT", 0)
            brokers.append(made.UpdateMetadataBroker(each, endpoints=[endpoint], rack=None))
        return made(
            controller_id=ME, controller_epoch=self.controller_epoch, topic_states=topics,
            live_brokers=brokers,
        )  # fmt: skip

    def _stop(self) -> Step:
        draw = self.random
        made = StopReplicaRequest
        version = draw.choice((0, 1, 2, 3, 3, 3, 4, 4))
        delete = draw.random() < 0.7
        rows = [
            (n, i) for n in draw.sample(TOPICS, draw.choice((1, 1, 2))) for i in self._indexes()
        ]
        body = made(controller_id=ME, controller_epoch=self._epoch())
        if version >= 1:
            body.broker_epoch = self._broker_epoch(kraft=False)
        if version == 4 and draw.random() < 0.3:
            body.is_kraft_controller = True
            body.broker_epoch = -1
        if version == 0:
            body.delete_partitions = delete
            body.ungrouped_partitions = [made.StopReplicaPartitionV0(*row) for row in rows]
        elif version <= 2:
            body.delete_partitions = delete
            body.topics = [made.StopReplicaTopicV1(name, [index]) for name, index in rows]
        else:
            for name, index in rows:
                epoch = self._stop_epoch(name, index)
                state = made.StopReplicaPartitionState(index, epoch, delete)
                body.topic_states.append(made.StopReplicaTopicState(name, [state]))
        return Ask(body, version)

    def _produce(self) -> Step:
        draw = self.random
        records = [
            Record(at, self.now_ms, None, draw.randbytes(4)) for at in range(draw.randint(1, 3))
        ]
        partition = ProduceRequest.PartitionProduceData(
            draw.choice(PARTITIONS), write_batch(Batch.of(records))
        )
        topic = ProduceRequest.TopicProduceData(draw.choice(TOPICS), partition_data=[partition])
        return Ask(ProduceRequest(acks=1, timeout_ms=1000, topic_data=[topic]), 9)

    def _move(self) -> Step:
        return Move(self.random.choice(TOPICS), self.random.choice(PARTITIONS))

    def _indexes(self) -> list[int]:
        return self.random.sample(PARTITIONS, self.random.choice((1, 2)))

    def _epoch(self) -> int:
        """Mostly the current controller epoch, now and then a new one or an old one."""
        draw = self.random.random()
        if draw < 0.05:
            self.controller_epoch += 1
        return self.controller_epoch - (1 if draw > 0.95 else 0)

    def _broker_epoch(self, *, kraft: bool) -> int:
        if kraft:  # of the quorum, where the broker never registers
            return -1
        return (
            self.broker_epoch + self.random.choice((0, 0, 0, 1, -1))
            if (self.random.random() < 0.3)
            else -1
        )

    def _leader_epoch(self, name: str, index: int, *, keep: bool = False) -> int:
        last = self._leader_epochs.get((name, index), 0)
        drawn = max(0, last + self.random.choice((1, 1, 1, 1, 2, 0, 0, -1)))
        if not keep:
            self._leader_epochs[name, index] = max(last, drawn)
        return drawn

    def _stop_epoch(self, name: str, index: int) -> int:
        last = self._leader_epochs.get((name, index), 0)
        return self.random.choice((-2, -2, -1, last, last + 1, last - 1, last - 2))


def fetch_of(*, ids: bool, epoch: int = -1, follower: int = -1) -> FetchRequest:
    """Fetch all partitions from the start, by each id or by each name.

    Not by the zero id: with more than one partition of it, the real broker fails to look up what
    it has refused (a NullPointerException, UNKNOWN_SERVER_ERROR for the whole request).
    """
    partitions = [
        FetchRequest.FetchPartition(
            partition=index, current_leader_epoch=epoch, partition_max_bytes=1 << 20
        )
        for index in PARTITIONS
    ]
    if ids:
        all_ids = [each for pair in IDS.values() for each in pair]
        wanted = [*all_ids, NOBODYS_ID]
        rows = [FetchRequest.FetchTopic(topic_id=each, partitions=partitions) for each in wanted]
    else:
        rows = [FetchRequest.FetchTopic(name, partitions=partitions) for name in TOPICS]
    return FetchRequest(replica_id=follower, max_bytes=1 << 20, topics=rows)


def _offsets_of(timestamp: int, epoch: int, replica: int) -> ListOffsetsRequest:
    made = ListOffsetsRequest
    partitions = [made.ListOffsetsPartition(index, epoch, timestamp) for index in PARTITIONS]
    return made(replica, topics=[made.ListOffsetsTopic(name, partitions) for name in TOPICS])


def _epoch_ends_of(leader_epoch: int, epoch: int) -> OffsetForLeaderEpochRequest:
    made = OffsetForLeaderEpochRequest
    partitions = [made.OffsetForLeaderPartition(index, epoch, leader_epoch) for index in PARTITIONS]
    return made(OTHER, [made.OffsetForLeaderTopic(name, partitions) for name in TOPICS])
