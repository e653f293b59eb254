"""Fetch: records of partitions from offsets on, as soon as there are enough of them.

Versions: 0 message sets of magic 0, 2 of magic 1, 3 a first batch that is whole, 4 isolation
levels, 5 the log's first offset, 7 sessions (KIP-227), 9 leader epochs, 11 racks (KIP-392), 12
flexible, with the epoch of the last record, 13 topic ids (KIP-516), 16 the leader for clients of
others (KIP-951).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple
from uuid import UUID

from kafka_admin_proto.messages.fetch_request import FetchPartition, FetchRequest
from kafka_admin_proto.messages.fetch_response import (
    AbortedTransaction,
    EpochEndOffset,
    FetchResponse,
    NodeEndpoint,
    PartitionData,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.entities import Topic
from kafka_admin_proto.server.apis import Answer, Caller, Wait, WaitKey, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.partitions.log import PartitionLog
from kafka_admin_proto.server.partitions.segments import (
    StoredBatch,
    aborted_beside,
    bytes_below,
)
from kafka_admin_proto.server.quotas.byte_rates import client_bytes
from kafka_admin_proto.server.replication.fetch_sessions import Asked, Key
from kafka_admin_proto.server.replication.leaders import NO_EPOCH, Hosted, LeaderHints, hosted
from kafka_admin_proto.server.replication.old_fetches import ReadAt, convert_rows
from kafka_admin_proto.server.security.authorizer.access import allowed_topics, allows_on_cluster
from kafka_admin_proto.server.security.authorizer.rules import CLUSTER_ACTION, READ

#: The first versions with a first batch that is whole, failures of a disk, racks, topic ids, the
#: state of replicas, and hints.
_WHOLE_FIRST, _STORAGE, _RACKS, _IDS, _STATES, _HINTS = 3, 6, 11, 13, 15, 16
_READ_COMMITTED = 1
_RACK_SELECTOR = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
#: The failures that name the leader.
_HINTED = (codes.NOT_LEADER_OR_FOLLOWER, codes.FENCED_LEADER_EPOCH)


@handler(of_broker=True, needs=None, kept=False, at_once=True)
def handle(state: View, request: FetchRequest, caller: Caller) -> Answer:
    """Read partitions in their order; wait while there are fewer bytes than the client wants."""
    state_of = request.replica_state if caller.version >= _STATES else request
    is_follower = state_of.replica_id >= 0
    controller_state = state.controller_state

    def name_of(topic_id: UUID) -> str | None:
        topic = state.topic_by_id(topic_id)
        return None if topic is None else topic.name

    try:
        context = controller_state.partitions.sessions(caller.node_id).context(
            request, caller.version,
            of_follower=is_follower,
            name_of=name_of,
            now_ms=controller_state.clock.now_ms(),
        )  # fmt: skip
    except ApiFailure as failure:
        if failure.code == codes.UNKNOWN_SERVER_ERROR:
            raise
        return Answer(FetchResponse(error_code=failure.code))
    reading = _Reading(state, request, caller, context.partitions, state_of.replica_id)
    reading.read(state)

    def response(view: View) -> FetchResponse:
        quota = None if is_follower else client_bytes(view, caller, "consumer_byte_rate")
        if quota is not None:
            size = context.size_bytes(reading.rows, caller.version)
            throttled_ms = quota.throttle_ms(size)
            if throttled_ms > 0:
                quota.uncount(size)
                fetched = context.throttled()
                fetched.throttle_time_ms = throttled_ms
                return fetched
        fetched = context.response(reading.rows, controller_state.clock.now_ms())
        convert_rows(view, caller, fetched, reading.read_at, of_follower=is_follower)
        # Brokers of 4.0 and later name no addresses to followers.
        if not fetched.error_code and (not is_follower or view.release < (4,)):
            fetched.node_endpoints = reading.hints.endpoints(NodeEndpoint)
        return fetched

    def complete(answer: Answer, view: View, changed: Collection[WaitKey], is_over: bool) -> bool:
        if not (is_over or reading.may_be_over(view, changed)):
            return False
        reading.read(view)
        if not (is_over or reading.is_over):
            return False
        answer.response = response(view)
        return True

    if request.max_wait_ms <= 0 or not reading.available or reading.is_over or reading.is_enough:
        return Answer(response(state))
    return Answer(
        FetchResponse(), wait=Wait(request.max_wait_ms, list(reading.available), complete)
    )


class _Reading:
    """The readings of all partitions of a request, in their order.

    As in Kafka, what is refused when the request comes stands behind the rows that are read.
    """

    def __init__(
        self,
        state: View,
        request: FetchRequest,
        caller: Caller,
        partitions: dict[Key, Asked],
        replica: int,
    ) -> None:
        self._request = request
        self._caller = caller
        self._replica = replica
        limit: int = state.broker_value("fetch.max.bytes", caller.node_id)
        quota = None if replica >= 0 else client_bytes(state, caller, "consumer_byte_rate")
        most = limit if quota is None else min(limit, quota.most_bytes)
        self._max_bytes = min(request.max_bytes, most)
        self._least = min(request.min_bytes, self._max_bytes)
        self._selects = (
            state.broker_value("replica.selector.class", caller.node_id) == _RACK_SELECTOR
        )
        self._refused = self._refusals(state, partitions)
        self._asked = {
            key: (each.name, each.part)
            for key, each in partitions.items()
            if key not in self._refused and each.name is not None
        }

    def read(self, view: View) -> None:
        self.hints = LeaderHints(view, self._caller)
        self.rows: dict[Key, PartitionData] = {}
        #: The partitions that were read without an error, and the bytes that are available of each.
        self.available: dict[WaitKey, int] = {}
        self.read_at: dict[Key, ReadAt] = {}
        #: Whether nothing has to be waited for: something failed, or there are enough bytes.
        self.is_over = False
        left, whole_first = self._max_bytes, self._caller.version >= _WHOLE_FIRST
        readable = self._available = 0
        for key, (name, part) in self._asked.items():
            row = self.rows[key] = PartitionData(key[1], high_watermark=-1, records=b"")
            row.aborted_transactions = None
            try:
                topic = view.topic(name)
                replica = self._hosted(view, topic, key, part)
                read = self._read_one(view, replica, part, row, left, whole_first=whole_first)
            except ApiFailure as failure:
                row.error_code = failure.code
                if failure.code == codes.KAFKA_STORAGE_ERROR and self._caller.version < _STORAGE:
                    row.error_code = codes.NOT_LEADER_OR_FOLLOWER
                self.is_over = True
                if failure.code in _HINTED and self._caller.version >= _HINTS:
                    self.hints.add(row, topic, key[1])
                continue
            self.read_at[key] = ReadAt(part.fetch_offset, read.readable)
            self.is_over = self.is_over or read.is_over
            readable += read.readable
            self._available += read.available
            left = max(0, left - read.readable)
            whole_first = whole_first and not read.readable
        self.rows.update(self._refused)
        self.is_over = self.is_over or self._available >= self._least
        #: Whether the request is answered at once, though it would wait for what comes later.
        self.is_enough = readable >= self._least

    def may_be_over(self, view: View, changed: Collection[WaitKey]) -> bool:
        """Whether all have to be read anew; only the partitions that have changed are looked at.

        Else a Fetch of many partitions would read all of them at every change of one.
        """
        if len(changed) == len(self.available):
            return True
        for key in changed:
            topic = None if key is None else view.topic_by_id(key[0])
            if key is None or topic is None:
                return True
            asked = key if key in self._asked else (topic.name, key[1])
            _, part = self._asked[asked]
            before = self.available[key]
            try:
                row = PartitionData()
                replica = self._hosted(view, topic, asked, part)
                read = self._read_one(view, replica, part, row, self._max_bytes, whole_first=True)
            except ApiFailure:
                return True
            self._available += read.available - before
            if read.is_over or self._available >= self._least:
                return True
        return False

    def _refusals(self, view: View, partitions: dict[Key, Asked]) -> dict[Key, PartitionData]:
        refusals: dict[Key, int] = {}
        names = {each.name for each in partitions.values() if each.name is not None}
        unknown = {
            key: codes.UNKNOWN_TOPIC_ID for key, each in partitions.items() if each.name is None
        }
        if not self._is_follower:
            allowed = allowed_topics(view, self._caller, READ, names)
            refusals = unknown
        elif allows_on_cluster(view, self._caller, CLUSTER_ACTION):
            allowed = names
        else:
            allowed, unknown = set(), {}
        for key, part in partitions.items():
            topic = None if part.name is None else view.topic(part.name)
            if key in unknown:
                refusals[key] = codes.UNKNOWN_TOPIC_ID
            elif part.name not in allowed:
                refusals[key] = codes.TOPIC_AUTHORIZATION_FAILED
            elif topic is None or key[1] not in topic.partitions:
                refusals[key] = codes.UNKNOWN_TOPIC_OR_PARTITION
        return {
            key: PartitionData(key[1], code, high_watermark=-1, records=b"")
            for key, code in refusals.items()
        }

    @property
    def _is_follower(self) -> bool:
        return self._replica >= 0

    def _hosted(self, view: View, topic: Topic | None, key: Key, part: FetchPartition) -> Hosted:
        """The replica that is read. Raises ApiFailure."""
        return hosted(
            view, self._caller, topic, part.partition,
            topic_id=key[0] if isinstance(key[0], UUID) else None,
            epoch=part.current_leader_epoch,
            leader_only=self._is_follower or self._caller.version < _RACKS,
        )  # fmt: skip

    def _read_one(
        self,
        view: View,
        replica: Hosted,
        part: FetchPartition,
        row: PartitionData,
        most_bytes: int,
        *,
        whole_first: bool,
    ) -> _Read:
        """Fill the row of a partition. Raises ApiFailure."""
        log, offset = replica.replicas.log, part.fetch_offset
        own_end = replica.replicas.end_on(self._caller.node_id)
        preferred = self._preferred(view, replica, offset)
        diverging = None
        if preferred < 0:
            self._check_follower(replica, part)
            diverging = _diverging(log, part, own_end, of_leader=self._leads(replica))
        read = _Read(b"", 0, 0, is_over=True)
        if preferred < 0 and diverging is None:
            if offset > own_end:
                raise ApiFailure(codes.OFFSET_OUT_OF_RANGE)
            up_to = log.high_watermark
            if self._is_follower:
                up_to = log.end_offset
            elif self._request.isolation_level == _READ_COMMITTED:
                up_to = log.last_stable_offset
            up_to = min(up_to, own_end)
            read = _read(
                log, part, most_bytes, up_to,
                whole_first=whole_first, cuts_first=self._caller.version < _WHOLE_FIRST,
            )  # fmt: skip
            if self._request.isolation_level == _READ_COMMITTED and not self._is_follower:
                row.aborted_transactions = _aborted(log, offset, read, up_to)
        row.records = read.records
        row.preferred_read_replica = preferred
        if diverging is not None:
            row.diverging_epoch = EpochEndOffset(*diverging)
        row.high_watermark = min(log.high_watermark, own_end)
        row.last_stable_offset = min(log.last_stable_offset, own_end)
        row.log_start_offset = log.start_offset
        self.available[replica.key] = read.available
        return read

    def _leads(self, replica: Hosted) -> bool:
        return replica.partition.leader == self._caller.node_id

    def _check_follower(self, replica: Hosted, part: FetchPartition) -> None:
        """Raises ApiFailure for a broker that is no other replica of the partition."""
        others = {*replica.partition.replicas} - {self._caller.node_id}
        if self._is_follower and self._replica not in others:
            known = part.current_leader_epoch != NO_EPOCH
            raise ApiFailure(codes.UNKNOWN_LEADER_EPOCH if known else codes.NOT_LEADER_OR_FOLLOWER)

    def _preferred(self, view: View, replica: Hosted, offset: int) -> int:
        """The replica in the consumer's rack that it is to read from; -1 for the leader."""
        rack, partition, caller = self._request.rack_id, replica.partition, self._caller
        if not (self._selects and rack and caller.version >= _RACKS) or self._is_follower:
            return -1
        if not self._leads(replica):
            return -1
        brokers = view.cluster.brokers
        near = [
            each
            for each in partition.isr
            if each in brokers and not brokers[each].fenced and brokers[each].rack == rack
            if replica.replicas.end_on(each) >= offset
        ]
        if partition.leader in near or offset < replica.replicas.log.start_offset:
            return -1
        return max(near, key=lambda each: (replica.replicas.end_on(each), each), default=-1)


class _Read(NamedTuple):
    """The whole batches that were read of a partition."""

    records: bytes
    #: The bytes that Kafka reads, which cuts the last batch off, and those that it could read if
    #: the partition were alone. They count for the bytes that a client asks for.
    readable: int
    available: int
    #: Whether nothing has to be waited for.
    is_over: bool = False
    #: The first batch that could be read, and whether it is left out since it is too large.
    first: StoredBatch | None = None
    is_cut: bool = False


def _read(
    log: PartitionLog, part: FetchPartition, most_bytes: int, up_to: int,
    *, whole_first: bool, cuts_first: bool,
) -> _Read:  # fmt: skip
    """Read batches below ``up_to``; a first one that does not fit in is ``readable`` if it is cut.

    Raises OffsetOutOfRange, and ApiFailure for a negative number of bytes, with which Kafka's own
    code fails where there is something to read (``LogSegment.read``).
    """
    offset = part.fetch_offset
    most = min(part.partition_max_bytes, most_bytes)
    batches = log.batches(offset, max(0, part.partition_max_bytes), up_to=up_to)
    if most < 0 and offset < up_to:
        raise ApiFailure(codes.UNKNOWN_SERVER_ERROR)
    if not batches:
        # A log that has lost records since is not waited for.
        return _Read(b"", 0, 0, is_over=offset > up_to)
    # What is not in the last segment of what may be read is not waited for (DelayedFetch in Kafka).
    rest, is_rolled = bytes_below(log.segments, batches[0], up_to)
    first = batches[0].size_bytes
    limit = max(most, first) if whole_first else most
    readable = min(rest, limit) if limit >= first or cuts_first else 0
    taken, left = [], readable
    for batch in batches:
        left -= batch.size_bytes
        if left < 0:
            break
        taken.append(batch.data)
    available = min(rest, part.partition_max_bytes)
    return _Read(
        b"".join(taken), readable, available, is_rolled, batches[0], is_cut=0 < limit < first
    )


def _aborted(
    log: PartitionLog, offset: int, read: _Read, up_to: int
) -> list[AbortedTransaction] | None:
    """The aborted transactions beside what was read for a consumer of committed records.

    As in Kafka there is a list, empty or not, but for a first batch that is larger than the bytes
    that are left, and for an offset behind which compaction has left no batch.
    """
    if read.first is None:
        has_more = offset >= up_to or log.batches(offset, 0, up_to=log.end_offset)
        return [] if has_more else None
    if read.is_cut:
        return None
    aborted = aborted_beside(log.segments, offset, read.first, read.readable)
    return [AbortedTransaction(each.producer_id, each.first_offset) for each in aborted]


def _diverging(
    log: PartitionLog, part: FetchPartition, own_end: int, *, of_leader: bool
) -> tuple[int, int] | None:
    """The epoch and its end at which the log of the one who asks parts from this one, if it does.

    Raises ApiFailure if that is not known any more, or to a follower not yet.
    """
    last_epoch = part.last_fetched_epoch
    if last_epoch == NO_EPOCH:
        return None
    epoch, end = log.end_of_epoch(last_epoch, of_leader=of_leader)
    end = min(end, own_end)
    if NO_EPOCH in (epoch, end) or part.fetch_offset < log.start_offset:
        raise ApiFailure(codes.OFFSET_OUT_OF_RANGE)
    return (epoch, end) if epoch < last_epoch or end < part.fetch_offset else None
