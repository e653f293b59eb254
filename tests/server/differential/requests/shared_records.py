"""Requests for records of share groups: produced, acquired and acknowledged ones.

What a step asks for depends on what each cluster has given a member before: the epochs of its
sessions, and the records that it has acquired and not acknowledged yet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

from kafka_admin_proto.messages import ProduceRequest, ShareAcknowledgeRequest, ShareFetchRequest
from kafka_admin_proto.messages import share_acknowledge_request as acknowledging
from kafka_admin_proto.messages import share_fetch_request as fetching
from kafka_admin_proto.messages.produce_request import PartitionProduceData, TopicProduceData
from kafka_admin_proto.records import Batch, Record, write_batch
from kafka_admin_proto.values import Message
from tests.server.differential.requests.drawing import TIMEOUT_MS, Draws, Ids, Step
from tests.server.differential.requests.records import NOW_MS

GROUPS = ("one", "two")
CLASSIC, CONSUMER, ABSENT = "classic", "consumer", "absent"
#: A group whose members lose what they have acquired before the next step.
BRIEF = "brief"
BRIEF_LOCK_MS = 1000
_BRIEF_REST_S = 2.5
TOPICS = ("a", "compacted", "appended")
PARTITIONS = 3
#: How long a request for records waits, always, since it wants more bytes than there are: a real
#: leader has loaded the states of all its partitions by then, also of those that have none.
_WAIT_MS = 1000
_FULL_BYTES = 1 << 30
_ALL_RECORDS = 500
#: Types of acknowledgements.
_REJECT, _RENEW = 3, 4
_RowT = TypeVar("_RowT")


def group_name(draws: Draws) -> str:
    """A share group above all, or one of another type, or none."""
    if not draws.rarely(6):
        return draws.one(GROUPS)
    return draws.one([ABSENT, CLASSIC, CONSUMER, ""])


def topic_name(draws: Draws) -> str:
    """A topic with records above all."""
    return draws.name() if draws.rarely(20) else draws.one(TOPICS)


def partition_number(draws: Draws) -> int:
    """A partition, the first one above all, or seldom one that is not there."""
    return draws.one([0] * 8 + [1] * 4 + [2] * 4 + [7, -1])


class _Reader(msgspec.Struct):
    """A member that asks a node: the one that was drawn, or one of those that have records there.

    ``which`` says which of them; None leaves it at the one that was drawn.
    """

    node: int
    group: str
    member: str
    places: list[tuple[str, list[int]]]
    which: int | None

    def now(self, ids: Ids) -> tuple[str, str, list[tuple[str, list[int]]]]:
        """(group, member id, topics with partitions)."""
        holders = [each for each in ids.members.holders(self.node) if each[1] != BRIEF]
        if self.which is None or not holders:
            return self.group, self.member, self.places
        _, group, member, topic, number = holders[self.which % len(holders)]
        others = [each for each in self.places[3:] if each[0] != topic]
        return group, member, [(topic, [number]), *others]

    @property
    def rest_s(self) -> float:
        """How long to wait behind the answer."""
        return _BRIEF_REST_S if self.group == BRIEF else 0.0


def _reader(draws: Draws, *, acknowledges: bool) -> _Reader:
    group = draws.one(["one"] * 16 + ["two"] * 5 + [BRIEF] * 2 + [group_name(draws)])
    partition = draws.one([0] * 7 + [1]) if not draws.rarely(15) else partition_number(draws)
    names = list(dict.fromkeys(topic_name(draws) for _ in range(draws.one([1, 2, 3, 5]))))
    numbers = [partition, partition_number(draws)] if draws.rarely(12) else [partition]
    return _Reader(
        draws.node() if draws.rarely(15) else partition % PARTITIONS,
        group,
        draws.one(["m", "m", "m", "n"]),
        [(name, numbers) for name in names],
        draws.within(0, 59) if acknowledges and group != BRIEF and not draws.rarely(10) else None,
    )


def _session(draws: Draws) -> tuple[int, int | None]:
    """(what is added to the next epoch of a session, the epoch that is sent in its place)."""
    return draws.one([0] * 80 + [1, -1]), draws.one([None] * 60 + [0, -1, -1, -1, -1, 7, -2])


class _Batch(msgspec.Struct):
    """Acknowledged offsets: those that a member has acquired, or these; one type, or one of each.

    Of ``types`` one for each begins anew behind the last; where none are to ``fit`` they stay so.
    """

    first: int
    size: int
    types: list[int]
    is_acquired: bool
    fit: bool


def _batches(draws: Draws, most_type: int) -> list[_Batch]:
    rows = []
    for _ in range(draws.one([1, 1, 1, 1, 2, 3])):
        size = draws.one([1, 1, 1, 2, 3, 5]) if not draws.rarely(30) else 0
        kinds = [0, 1, 1, 2, 2, 2, 3, *([_RENEW] * 6 if most_type == _RENEW else [])]
        types = [draws.one(kinds) for _ in range(draws.one([1, 1, 2, 3]))]
        if draws.rarely(30):
            types = [draws.one([5, -1, 127, most_type + 1])]
        fit = not draws.rarely(30)
        if not fit:
            types = types[: draws.within(0, 2)]
        is_acquired = not draws.rarely(20)
        first = draws.one([0, 0, 0, 1, 2]) if is_acquired else draws.one([0, 1, 2, 3, 5, 8, -1])
        rows.append(_Batch(first, size, types, is_acquired, fit))
    return rows


def _rows(acquired: list[int], batches: list[_Batch], row: Callable[..., _RowT]) -> list[_RowT]:
    """Batches as rows of a request, those of acquired records each behind the one before it."""
    found, skipped = [], 0
    for each in batches:
        first, last = each.first, each.first + each.size - 1
        if each.is_acquired and acquired:
            rest = acquired[skipped:]
            place = min(each.first, max(0, len(rest) - 1))
            offsets = _neighbours(rest[place:], max(each.size, 1))
            if not offsets:
                break  # the rows before it are of all that there is
            first, last = offsets[0], offsets[-1] - (each.size == 0)
            skipped += place + len(offsets)
        types, size = each.types, max(1, last - first + 1)
        if each.fit and len(types) > 1:
            types = (types * size)[:size]
        found.append(row(first, last, types))
    return found


def _neighbours(offsets: list[int], most: int) -> list[int]:
    """The first offsets as far as none is missing between them."""
    return [each for index, each in enumerate(offsets[:most]) if each == offsets[0] + index]


def share_fetch(draws: Draws) -> Step:
    """Records for a member, with acknowledgements of those that it has or has not."""
    version = draws.version(78)
    renews = version >= 2 and draws.rarely(8)
    most_type = _RENEW if renews else _REJECT
    batches = _batches(draws, most_type) if renews or not draws.rarely(3) else []
    reader = _reader(draws, acknowledges=bool(batches))
    ahead, epoch = _session(draws)
    most = draws.one([_ALL_RECORDS] * 8 + [1, 2, 3, 5] * 2 + [0, -1])
    size = draws.one([500, 500, 1, 2])  # for 0 Kafka begins with a range of no records
    strict = version >= 2 and draws.rarely(3)
    forgotten = [topic_name(draws)] if draws.rarely(8) else []
    names_none = draws.rarely(3) and not batches
    most_bytes = draws.one([1 << 20] * 12 + [0])
    # Of fewer bytes than partitions Kafka gives one each to some of them, at random.
    few_bytes = draws.one([10, 100, 150, -1]) if draws.rarely(5) else None
    keeps_zeros = not draws.rarely(6)
    begins_so, row = draws.rarely(8), fetching.AcknowledgementBatch

    def make(ids: Ids) -> Message:
        group, member, places = reader.now(ids)
        owner = reader.node, group, member
        own = ids.members.session(*owner) + ahead if epoch is None else epoch
        given = batches if own or begins_so else []
        topics = [
            fetching.FetchTopic(
                ids.of(name),
                [
                    fetching.FetchPartition(
                        number,
                        acknowledgement_batches=_rows(
                            ids.members.acquired((*owner, name, number)), given, row
                        ),
                    )
                    for number in numbers
                ],
            )
            for name, numbers in places
        ]
        request = ShareFetchRequest(
            group, member, own, _WAIT_MS, _FULL_BYTES, most_bytes, most, size,
            topics=[] if own and names_none else topics,
            forgotten_topics_data=[
                fetching.ForgottenTopic(ids.of(each), places[0][1]) for each in forgotten
            ],
        )  # fmt: skip
        if not ids.members.is_ordered(*owner) and most > 0:
            request.max_records = _ALL_RECORDS  # with fewer the first partitions alone have any
        elif few_bytes is not None and own > 1 and not given:
            # It is answered at once: without partitions whose states a real leader still loads, and
            # before acknowledgements are kept.
            request.max_bytes, request.topics = few_bytes, []
        if version >= 2:
            request.share_acquire_mode = int(strict)
            request.is_renew_ack = renews
        if renews and keeps_zeros:
            request.max_wait_ms = request.min_bytes = request.max_bytes = request.max_records = 0
        return request

    return Step(reader.node, version, make, rest_s=reader.rest_s)


def first_fetch(draws: Draws, group: str) -> Step:
    """The first partitions of all topics, for a member that begins its session."""
    size = draws.one([500, 1])

    def make(ids: Ids) -> Message:
        topics = [
            fetching.FetchTopic(ids.of(each), [fetching.FetchPartition(0)]) for each in TOPICS
        ]
        return ShareFetchRequest(
            group, "m", 0, _WAIT_MS, _FULL_BYTES, 1 << 20, _ALL_RECORDS, size, topics=topics
        )

    return Step(0, 1, make)


def produce(draws: Draws, *, everywhere: bool = False) -> Step:
    """Sound batches for members to get, in one topic or in all."""
    partition = 0 if everywhere else draws.one([0] * 7 + [1])
    names = TOPICS if everywhere else draws.one([TOPICS, TOPICS[:1], TOPICS[1:2], TOPICS[2:]])
    rows = [Record(each, NOW_MS, b"k", b"v") for each in range(draws.one([1, 2, 3, 5, 8]))]
    data = PartitionProduceData(partition, write_batch(Batch.of(rows)))

    def make(ids: Ids) -> Message:
        topics = [TopicProduceData(topic_id=ids.of(each), partition_data=[data]) for each in names]
        return ProduceRequest(None, -1, TIMEOUT_MS, topics)

    return Step(partition, 13, make)


def share_acknowledge(draws: Draws) -> Step:
    """What becomes of records that a member has or has not."""
    version = draws.version(79)
    reader = _reader(draws, acknowledges=True)
    ahead, epoch = _session(draws)
    renews = version >= 2 and draws.rarely(3)
    batches = [] if draws.rarely(20) else _batches(draws, _RENEW if renews else _REJECT)
    row = acknowledging.AcknowledgementBatch

    def make(ids: Ids) -> Message:
        group, member, places = reader.now(ids)
        owner = reader.node, group, member
        own = ids.members.session(*owner) + ahead if epoch is None else epoch
        topics = [
            acknowledging.AcknowledgeTopic(
                ids.of(name),
                [
                    acknowledging.AcknowledgePartition(
                        number, _rows(ids.members.acquired((*owner, name, number)), batches, row)
                    )
                    for number in numbers
                ],
            )
            for name, numbers in places
        ]
        request = ShareAcknowledgeRequest(group, member, own, topics=topics)
        if version >= 2:
            request.is_renew_ack = renews
        return request

    return Step(reader.node, version, make, rest_s=reader.rest_s)
