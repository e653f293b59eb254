"""Records that a ShareFetch acquires: as soon as there are enough, or its time is over."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple
from uuid import UUID

from kafka_admin_proto.messages import ShareFetchRequest
from kafka_admin_proto.messages.share_fetch_response import AcquiredRecords, PartitionData
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Caller, WaitKey
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.partitions.failures import OffsetOutOfRange
from kafka_admin_proto.server.partitions.indexes import AbortedRange
from kafka_admin_proto.server.partitions.log import PartitionLog
from kafka_admin_proto.server.partitions.segments import StoredBatch, bytes_below
from kafka_admin_proto.server.quotas.byte_rates import client_bytes
from kafka_admin_proto.server.replication.leaders import LeaderHints, hosted
from kafka_admin_proto.server.security.authorizer.access import allowed_topics
from kafka_admin_proto.server.security.authorizer.rules import READ
from kafka_admin_proto.server.share.acquiring import Acquired, Acquiring, LogBatch, number_of
from kafka_admin_proto.server.share.partition import SharePartition
from kafka_admin_proto.server.share.sessions import Owner, Place

_LAST = attrgetter("last_offset")
_STRICT = 1
_COMMITTED = "read_committed"
_HINTED = (codes.NOT_LEADER_OR_FOLLOWER, codes.FENCED_LEADER_EPOCH)


class _Open(NamedTuple):
    """A partition of which records can be acquired, and where it is read."""

    place: Place
    partition: SharePartition
    log: PartitionLog
    offset: int


class ShareReading:
    """The partitions of a request; ``rows`` are there when it ``is_over``.

    ``names`` are those that the session's topics have or had.
    """

    def __init__(
        self,
        view: View,
        caller: Caller,
        request: ShareFetchRequest,
        owner: Owner,
        places: Sequence[Place],
        names: Mapping[UUID, str],
    ) -> None:
        self._caller = caller
        self._request = request
        self._group, self._member = owner
        node = caller.node_id
        self._broker = view.controller_state.shares.of(node)
        most: int = view.broker_value("fetch.max.bytes", node)
        quota = client_bytes(view, caller, "consumer_byte_rate")
        most = most if quota is None else min(most, quota.most_bytes)
        self._max_bytes = min(request.max_bytes, most)
        isolation: str = view.group_value(self._group, "share.isolation.level", node)
        self._is_committed = isolation == _COMMITTED
        self.rows: dict[Place, PartitionData] = {}
        self.hints: LeaderHints = LeaderHints(view, caller)
        self.keys: list[WaitKey] = []
        #: Whether no share coordinator was found that has the state of a partition.
        self.is_loading: bool = False
        # Only 0 asks for nothing: with less, partitions that cannot be read have their errors.
        self._asks_nothing: bool = 0 in (request.max_records, self._max_bytes)
        found = self._found(view, places, names)
        turn = request.share_session_epoch % len(found) if found else 0
        # Other topics of a name that a session knows are turned too, and fail only then.
        turned = [*found[turn:], *found[:turn]]
        self._places = [each for each in turned if each not in self.rows]
        self.is_over: bool = not self._places or self._asks_nothing

    def _found(self, view: View, places: Iterable[Place], names: Mapping[UUID, str]) -> list[Place]:
        """The partitions whose names are there and may be read; others get the row of an error."""
        allowed = allowed_topics(view, self._caller, READ, {*names.values()})
        readable = []
        for place in places:
            name = names.get(place[0])
            topic = None if name is None else view.topic(name)
            if name is None:
                self._fail(place, codes.UNKNOWN_TOPIC_ID)
            elif name not in allowed:
                self._fail(place, codes.TOPIC_AUTHORIZATION_FAILED)
            elif topic is None or place[1] not in topic.partitions:
                self._fail(place, codes.UNKNOWN_TOPIC_OR_PARTITION)
            else:
                readable.append(place)
                # Another topic of the name: nobody reads the state, which is of another id.
                if topic.id != place[0] and not self._asks_nothing:
                    self._fail(place, codes.UNKNOWN_SERVER_ERROR)
        return readable

    def _fail(self, place: Place, code: int) -> None:
        self.rows[place] = PartitionData(place[1], code, records=b"")

    def read(self, view: View, *, is_late: bool) -> None:
        """Acquire records if there are enough of them; those that there are if it is late."""
        self.keys = [*self._places]
        self.is_loading = False
        opened = []
        failed: dict[Place, int] = {}
        for place in self._places:
            try:
                topic = view.topic_by_id(place[0])
                replica = hosted(view, self._caller, topic, place[1])
                partition, key = self._broker.partition(self._group, replica)
            except ApiFailure as failure:
                if failure.code == codes.COORDINATOR_NOT_AVAILABLE:
                    self.is_loading = True
                else:
                    failed[place] = failure.code
                continue
            self.keys.append(key)
            if partition.can_acquire:
                offset = partition.next_offset
                opened.append(_Open(place, partition, replica.replicas.log, offset))
        if self.is_loading:  # as in Kafka it has no error, but waits for the share coordinator
            self.keys.append(None)
        is_enough = self._is_enough(opened)
        new = [each for each in opened if each.partition.looked_at != each.offset]
        for each in new:
            each.partition.looked_at = each.offset
        if not (is_late or len(failed) == len(self._places) or is_enough):
            return
        self.is_over = True
        if self._max_bytes < 0:  # Kafka fails where it divides them among the partitions
            failed.update((each.place, codes.UNKNOWN_SERVER_ERROR) for each in opened)
            opened = new = []
        for place, code in failed.items():
            self._fail(place, code)
            if code in _HINTED:
                self.hints.add(self.rows[place], view.topic_by_id(place[0]), place[1])
        known = [each for each in opened if each not in new]
        share = self._max_bytes // max(1, len(opened))
        left = self._request.max_records
        # As in Kafka: where records are there at once, places that were looked at before are read
        # by themselves, and of each reading the first batch alone may be larger than all bytes.
        for group in (known, new) if is_enough else (opened,):
            bytes_left = self._max_bytes
            for candidate in group:
                batches = self._batches(
                    candidate,
                    min(share, bytes_left),
                    whole_first=bytes_left == self._max_bytes,
                )
                row, count = self._acquired(candidate, batches, left)
                self.rows[candidate.place] = row
                left -= count
                bytes_left = max(0, bytes_left - sum(batch.size_bytes for batch in batches or ()))

    def _batches(
        self, opened: _Open, max_bytes: int, *, whole_first: bool
    ) -> list[StoredBatch] | None:
        """What is read of a partition's log, None where the log begins later."""
        up_to = self._up_to(opened.log)
        try:
            return opened.log.batches(
                opened.offset, max_bytes, up_to=up_to, whole_first=whole_first
            )
        except OffsetOutOfRange:
            return None

    def _up_to(self, log: PartitionLog) -> int:
        return log.last_stable_offset if self._is_committed else log.high_watermark

    def _is_enough(self, opened: Sequence[_Open]) -> bool:
        """Whether so many bytes can be read as the member wants.

        Kafka gives a byte each to some partitions, at random, where there are fewer bytes, and what
        is left over to any one: here to the one that has the most.
        """
        share = max(1, self._max_bytes // max(1, len(opened)))
        over = self._max_bytes - share * len(opened)
        available = most = 0
        for candidate in opened:
            up_to = self._up_to(candidate.log)
            try:
                batches = candidate.log.batches(candidate.offset, 0, up_to=up_to)
            except OffsetOutOfRange:
                return True
            if batches:
                rest, is_rolled = bytes_below(candidate.log.segments, batches[0], up_to)
                if is_rolled:
                    return True
                available += min(rest, share)
                most = max(most, rest)
        available += max(0, min(over, most - share))
        return bool(opened) and available >= min(self._request.min_bytes, self._max_bytes)

    def _acquired(
        self, opened: _Open, batches: list[StoredBatch] | None, most: int
    ) -> tuple[PartitionData, int]:
        """The row of a partition with what the member gets, and the number of records."""
        place, partition, log, offset = opened
        row = PartitionData(place[1], records=b"")
        if batches is None:
            partition.log_starts_at(log.start_offset)
            return row, 0
        request = self._request
        is_strict = request.share_acquire_mode == _STRICT
        found = [LogBatch(each.base_offset, each.last_offset) for each in batches]
        aborted = _aborted(log, batches) if self._is_committed else []
        acquired = partition.acquire(
            self._member, Acquiring(most, request.batch_size, is_strict), offset, found, aborted
        )
        row.acquired_records = [AcquiredRecords(*each) for each in acquired]
        row.records = _records(batches, acquired)
        return row, number_of(acquired)


def _records(batches: Sequence[StoredBatch], acquired: Sequence[Acquired]) -> bytes:
    """The batches with the first acquired record and all up to the last one."""
    if not acquired:
        return b""
    first, last = acquired[0].first, acquired[-1].last
    start = max(
        (place for place, each in enumerate(batches) if each.base_offset <= first), default=0
    )
    return b"".join(each.data for each in batches[start:] if each.base_offset <= last)


def _aborted(log: PartitionLog, batches: Sequence[StoredBatch]) -> list[LogBatch]:
    if not batches:
        return []
    ranges: dict[int, list[AbortedRange]] = {}
    for one in log.aborted_transactions(batches[0].base_offset, batches[-1].last_offset + 1):
        ranges.setdefault(one.producer_id, []).append(one)
    aborted = []
    for batch in batches if ranges else ():
        header = batch.header
        if header.is_transactional and not header.is_control:
            # Those of a producer come one after the other.
            of_producer = ranges.get(header.producer_id, [])
            place = bisect_left(of_producer, batch.base_offset, key=_LAST)
            if place < len(of_producer) and of_producer[place].first_offset <= batch.base_offset:
                aborted.append(LogBatch(batch.base_offset, batch.last_offset))
    return aborted
