"""The share groups' partitions and sessions of each broker (``SharePartitionManager`` in Kafka)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid5

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.failures import NOT_HOSTED, ApiFailure
from kafka_admin_proto.server.share.coordinators import ATTEMPTS, RETRY_MS
from kafka_admin_proto.server.share.partition import Kept, ShareLimits, SharePartition
from kafka_admin_proto.server.share.sessions import Owner, Place, ShareSessions
from kafka_admin_proto.server.share.state import UNKNOWN_OFFSET, ShareKey, StateBatch
from kafka_admin_proto.server.topics.names import SHARE_GROUP_STATE

if TYPE_CHECKING:
    from kafka_admin_proto.server.apis import WaitKey
    from kafka_admin_proto.server.partitions.log import PartitionLog
    from kafka_admin_proto.server.replication.leaders import Hosted
    from kafka_admin_proto.server.state import State

#: The codes of the share coordinator as members get them; UNKNOWN_SERVER_ERROR is for all others.
_CODES = {
    codes.NONE: codes.NONE,
    codes.NOT_COORDINATOR: codes.COORDINATOR_NOT_AVAILABLE,
    codes.COORDINATOR_NOT_AVAILABLE: codes.COORDINATOR_NOT_AVAILABLE,
    codes.GROUP_ID_NOT_FOUND: codes.GROUP_ID_NOT_FOUND,
    codes.UNKNOWN_TOPIC_OR_PARTITION: codes.UNKNOWN_TOPIC_OR_PARTITION,
    codes.FENCED_LEADER_EPOCH: codes.NOT_LEADER_OR_FOLLOWER,
    codes.FENCED_STATE_EPOCH: codes.NOT_LEADER_OR_FOLLOWER,
}
#: Kafka's texts of what the coordinator refuses a change with.
_TEXTS = {
    codes.FENCED_LEADER_EPOCH: (
        "The leader epoch in the request is older than the epoch on the broker."
    ),
    codes.FENCED_STATE_EPOCH: (
        "The coordinator rejected the request because the state epoch did not match."
    ),
    codes.UNKNOWN_TOPIC_OR_PARTITION: NOT_HOSTED,
}
#: The failures after which a partition is read anew from the share coordinator.
_FENCES = (
    codes.NOT_LEADER_OR_FOLLOWER, codes.GROUP_ID_NOT_FOUND, codes.UNKNOWN_TOPIC_OR_PARTITION,
)  # fmt: skip


class _Led(NamedTuple):
    """A share group's partition on its leader, and the key of what waits for free records."""

    leader_epoch: int
    partition: SharePartition
    key: WaitKey


class ShareBroker:
    """What one broker has; ``sent`` are called with the key of a partition with free records."""

    def __init__(self, state: State, node: int, sent: list[Callable[[WaitKey], None]]) -> None:
        self._state = state
        self._node = node
        self._sent = sent
        most = state.broker_value("group.share.max.share.sessions", node)
        self.sessions: ShareSessions = ShareSessions(most)
        #: By partition, since each append asks who has something of it, and by group.
        self._led: dict[Place, dict[str, _Led]] = {}

    def find(self, key: ShareKey) -> SharePartition | None:
        """A partition that a member has asked for since the broker leads it."""
        led = self._found(key)
        return None if led is None else led.partition

    def _found(self, key: ShareKey) -> _Led | None:
        return self._led.get(key.place, {}).get(key.group)

    def partition(self, group: str, hosted: Hosted) -> tuple[SharePartition, WaitKey]:
        """A group's partition, as its coordinator has it if it is new. Raises ApiFailure."""
        key = ShareKey(group, hosted.topic.id, hosted.number)
        epoch = hosted.partition.leader_epoch
        led = self._found(key)
        if led is None or led.leader_epoch != epoch:
            self.drop(key)
            led = self._load(key, hosted.replicas.log, epoch)
            self._led.setdefault(key.place, {})[group] = led
        return led.partition, led.key

    def _load(self, key: ShareKey, log: PartitionLog, epoch: int) -> _Led:
        state = self._state
        try:
            kept = state.share_states.led(key.text).read(key, epoch)
        except ApiFailure as failure:
            code = _CODES.get(failure.code, codes.UNKNOWN_SERVER_ERROR)
            raise ApiFailure(code, failure.message) from None
        start = kept.start_offset
        if start == UNKNOWN_OFFSET:
            start = self._first_offset(key.group, log)
        # Of the group's partition, not of this load: requests wait for it meanwhile.
        wait_key: WaitKey = (uuid5(key.topic_id, key.group), key.partition)
        partition = SharePartition(
            kept,
            start,
            state.clock,
            partial(self._limits, key.group),
            partial(self._keep, key, (kept.state_epoch, epoch)),
            partial(self._wake, wait_key),
        )
        return _Led(epoch, partition, wait_key)

    def _first_offset(self, group: str, log: PartitionLog) -> int:
        """Where a group begins that nobody has read for. Raises ApiFailure."""
        state = self._state
        policy: str = state.group_value(group, "share.auto.offset.reset", self._node)
        if policy == "latest":
            return log.high_watermark
        if policy == "earliest":
            return log.start_offset
        from kafka_admin_proto.server.configs.values import duration_ms  # slow to import

        since_ms = state.clock.now_ms() - (duration_ms(policy) or 0)
        record = log.offset_for_time(since_ms, up_to=log.high_watermark)
        if record is None:
            raise ApiFailure(codes.OFFSET_NOT_AVAILABLE)
        return record.offset

    def _limits(self, group: str) -> ShareLimits:
        value = partial(self._state.group_value, group, node_id=self._node)
        return ShareLimits(
            value("share.record.lock.duration.ms"),
            value("share.delivery.count.limit"),
            value("share.partition.max.record.locks"),
            value("share.renew.acknowledge.enable"),
        )

    def _keep(
        self,
        key: ShareKey,
        epochs: tuple[int, int],
        start: int,
        completed: int,
        changes: Sequence[StateBatch],
        then: Kept,
        attempt: int = 1,
    ) -> None:
        """Let the share coordinator keep a change, some time later while its topic is not there."""
        state = self._state
        if attempt < ATTEMPTS and state.topic(SHARE_GROUP_STATE) is None:
            again = partial(self._keep, key, epochs, start, completed, changes, then, attempt + 1)
            state.clock.later(RETRY_MS / 1000, again)
            return
        led = self._found(key)

        def kept(failed: int, message: str | None = None) -> None:
            code = _CODES.get(failed, codes.UNKNOWN_SERVER_ERROR)
            if code in _FENCES and self._found(key) is led:
                self.drop(key)
            text = message or _TEXTS.get(failed)
            then(code, None if text is None else f"Error in write state RPC. {text}")

        try:
            shard = state.share_states.led(key.text)
            shard.change(key, epochs, start, completed, changes, kept)
        except ApiFailure as failure:
            kept(failure.code, failure.message)

    def _wake(self, key: WaitKey) -> None:
        for each in self._sent:
            each(key)

    def release(self, owner: Owner) -> None:
        """End a member's session, and give back what it has."""
        group, member = owner
        for topic_id, number in self.sessions.end(owner):
            partition = self.find(ShareKey(group, topic_id, number))
            if partition is not None:
                partition.release(member, lambda *_: None)

    def lost(self, connection: object) -> None:
        """A connection is closed: the session that it began last ends; as in Kafka others stay.

        What the broker has of a group that has no session then is forgotten, so that it is read
        anew with offsets that were reset: also where the member had ended its session before.
        """
        owner = self.sessions.last_of(connection)
        if owner is None:
            return
        if self.sessions.is_of(owner, connection):
            self.release(owner)
        group = owner[0]
        if not self.sessions.has_group(group):
            for place in [each for each, groups in self._led.items() if group in groups]:
                self.drop(ShareKey(group, *place))

    def follow(self, place: Place) -> None:
        """A partition has changed: if the broker leads it no more, it forgets what groups have."""
        if place not in self._led:
            return
        topic = self._state.topic_by_id(place[0])
        current = None if topic is None else topic.partitions.get(place[1])
        for group, led in list(self._led[place].items()):
            if current is None or (current.leader, current.leader_epoch) != (
                self._node, led.leader_epoch,
            ):  # fmt: skip
                self.drop(ShareKey(group, *place))

    def drop(self, key: ShareKey) -> None:
        """Forget a group's partition, as one that is led by another broker."""
        led = self._found(key)
        if led is not None:
            groups = self._led[key.place]
            del groups[key.group]
            if not groups:
                del self._led[key.place]
            led.partition.close()
            self._wake(led.key)

    def end(self) -> None:
        for place, groups in list(self._led.items()):
            for group in list(groups):
                self.drop(ShareKey(group, *place))


class ShareBrokers:
    """The brokers of a cluster, by their ids."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._brokers: dict[int, ShareBroker] = {}
        self.sent: list[Callable[[WaitKey], None]] = []
        state.partitions.changed.append(self._changed)

    def of(self, node: int) -> ShareBroker:
        """What a broker has."""
        if node not in self._brokers:
            self._brokers[node] = ShareBroker(self._state, node, self.sent)
        return self._brokers[node]

    def wake(self, key: WaitKey) -> None:
        """Look at the answers that wait for a key."""
        for each in self.sent:
            each(key)

    def lost(self, connection: object) -> None:
        for each in self._brokers.values():
            each.lost(connection)

    def left(self, node: int) -> None:
        broker = self._brokers.pop(node, None)
        if broker is not None:
            broker.end()

    def end(self) -> None:
        for each in list(self._brokers):
            self.left(each)

    def _changed(self, place: Place) -> None:
        for each in self._brokers.values():
            each.follow(place)
