"""Records that tests produce and look at without a client.

They are appended by the partition's leader with its rules, as a producer with acks of 1 would do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_admin_proto.arguments import Buffer, listed
from kafka_admin_proto.protocol.error_codes import error_name
from kafka_admin_proto.records.batches.batches import read_batches, write_batch
from kafka_admin_proto.records.batches.model import Batch, Record
from kafka_admin_proto.records.partitioner import partition_of_key
from kafka_admin_proto.server.arguments.settings import is_integer
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.wire.types.base import shown

if TYPE_CHECKING:
    from kafka_admin_proto.records.metadata.entities import Topic
    from kafka_admin_proto.server.partitions.log import Appended
    from kafka_admin_proto.server.state import State

#: A record to produce: its value, (key, value), or a mapping of its parts by name.
NewRecord = bytes | str | None | tuple[Any, Any] | Mapping[str, Any]

_PARTS = ("key", "value", "headers", "timestamp", "partition")
_EVERYTHING = 1 << 62


class StoredRecord(msgspec.Struct, frozen=True):
    """A record of a topic; ``timestamp`` is in milliseconds since 1970.

    The key of a header that is not UTF-8 survives by ``surrogateescape``.
    """

    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


def produce(state: State, topic_name: str, records: Iterable[NewRecord]) -> list[StoredRecord]:
    """Append records to a topic; returns them with their partitions and offsets.

    Raises ValueError for a topic or partition that is not there or has no leader, for records of
    another form, and for those that the leader refuses; TypeError for one text or one record in the
    place of a list.
    """
    if isinstance(records, Mapping):
        raise TypeError("records: expected a collection, got one record; put it into a list")
    if isinstance(records, tuple):  # a key and a value would be two records
        raise TypeError("records: expected a list, got a tuple, which is a record; put it into one")
    records = listed(records, "records")
    topic = _topic(state, topic_name)
    now_ms = state.clock.now_ms()
    by_partition: dict[int, list[tuple[int, Record]]] = {}
    for index, given in enumerate(records):
        number, record = _record(given, index, len(topic.partitions), now_ms)
        if not is_integer(number) or number not in topic.partitions:
            raise ValueError(f"{topic_name} has no partition {number!r}; see record {index}")
        by_partition.setdefault(number, []).append((index, record))
    stored: dict[int, StoredRecord] = {}
    for number, group in by_partition.items():
        appended = _append(state, topic, number, [each for _, each in group])
        for place, (index, record) in enumerate(group):
            if appended.log_append_time_ms >= 0:
                record.timestamp = appended.log_append_time_ms
            stored[index] = _stored(number, appended.base_offset + place, record)
    return [stored[index] for index in sorted(stored)]


def records_of(state: State, topic_name: str) -> list[StoredRecord]:
    """The records of a topic that consumers can read, by partition and offset.

    Records of open and aborted transactions are among them. Raises ValueError for a topic that is
    not there.
    """
    topic = _topic(state, topic_name)
    return [each for number in sorted(topic.partitions) for each in _read(state, topic, number)]


def _read(state: State, topic: Topic, number: int) -> Iterator[StoredRecord]:
    log = state.partitions.log(topic, number).log
    offset = log.start_offset
    while data := log.read(offset, _EVERYTHING, up_to=log.high_watermark):
        for batch in read_batches(data):
            for each in () if batch.is_control else batch.records:
                if each.offset >= log.start_offset:
                    yield _stored(number, each.offset, each)
            offset = batch.last_offset + 1


def _stored(partition: int, offset: int, record: Record) -> StoredRecord:
    return StoredRecord(
        partition, offset, record.timestamp, record.key, record.value, record.headers
    )


def _topic(state: State, name: str) -> Topic:
    topic = state.topic(name) if isinstance(name, str) else None
    if topic is None:
        there = ", ".join(sorted(state.topic_names)) or "none"
        raise ValueError(f"there is no topic {shown(name)}; there are {there}")
    return topic


def _append(state: State, topic: Topic, number: int, records: list[Record]) -> Appended:
    partition = topic.partitions[number]
    where = f"{topic.name}-{number}"
    if partition.leader < 0:
        raise ValueError(f"{where} has no leader; start one of its brokers {partition.replicas}")
    for offset, each in enumerate(records):
        each.offset = offset
    replicas = state.partitions.log(topic, number)
    try:
        return replicas.append(
            write_batch(Batch.of(records)),
            leader_epoch=partition.leader_epoch,
            now_ms=state.clock.now_ms(),
        )
    except ApiFailure as failure:
        raise ValueError(
            f"{where} refused the records: {error_name(failure.code)}: {failure.message}"
        ) from None


def _record(given: Any, index: int, partitions: int, now_ms: int) -> tuple[int, Record]:
    """The partition and the record of what a test gives.

    A key decides the partition as in Kafka's own producer; records without one take turns.
    """
    parts = {"value": given}
    if isinstance(given, tuple) and len(given) == 2:
        parts = dict(zip(("key", "value"), given, strict=True))
    elif isinstance(given, Mapping):
        parts = dict(given)
    unknown = [each for each in parts if each not in _PARTS]
    if unknown:
        raise ValueError(f"record {index} has {unknown[0]!r}; it may have {', '.join(_PARTS)}")
    key, value = (_bytes(parts.get(each), each, index) for each in ("key", "value"))
    timestamp = parts.get("timestamp", now_ms)
    if not is_integer(timestamp) or not -1 << 63 <= timestamp < 1 << 63:
        raise ValueError(
            f"the timestamp of record {index} is {shown(timestamp)}; expected milliseconds"
        )
    number = parts.get("partition")
    if number is None:
        number = index % partitions if key is None else partition_of_key(key, partitions)
    headers = tuple(
        (name, _bytes(each, f"header {shown(name)}", index))
        for name, each in _headers(parts.get("headers"), index)
    )
    return number, Record(0, timestamp, key, value, headers)


def _headers(given: Any, index: int) -> list[tuple[str, Any]]:
    if given is None:
        return []
    pairs = given.items() if isinstance(given, Mapping) else given
    if not isinstance(pairs, Iterable) or isinstance(pairs, str | Buffer):
        pairs = [pairs]
    headers = list(pairs)
    for header in headers:
        if not (
            isinstance(header, tuple | list) and len(header) == 2 and isinstance(header[0], str)
        ):
            raise ValueError(
                f"record {index} has the header {shown(header)}; expected a text and a value"
            )
    return [(name, value) for name, value in headers]


def _bytes(value: Any, what: str, index: int) -> bytes | None:
    if isinstance(value, str):
        try:
            return value.encode()
        except UnicodeEncodeError:
            raise ValueError(f"the {what} of record {index} is no text: half a pair") from None
    if value is None or isinstance(value, bytes):
        return value
    raise ValueError(
        f"the {what} of record {index} is {shown(value)}; expected bytes, text or None"
    )
