"""Rows that explain a frame together with its records, masked where these may hold credentials.

Kafka's own log, ``__cluster_metadata``, holds SCRAM credentials, tokens and configs. Its records
travel in Fetch, and as pieces of snapshots, in which no batch need begin, in FetchSnapshot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.records.batches.rows import BatchRows
from kafka_admin_proto.records.metadata.records import METADATA_TOPIC
from kafka_admin_proto.render.explain import ExplainedRow, prefix_end
from kafka_admin_proto.render.fields import FieldRow
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID
from kafka_admin_proto.wire.secrets import MASK
from kafka_admin_proto.wire.types.fixed import uuid_from_text

_BEFORE = ("size", "header.")
_NAMES = ("topic", "name", "topic_name")


def with_records(
    rows: Iterable[FieldRow], frame: DecodedFrame, *, mask: bool, opened: bool
) -> Iterator[FieldRow | ExplainedRow]:
    """The rows of the frame; with ``opened``, ``records`` fields have rows for all their fields.

    With ``mask``, records of the metadata log are masked: their keys, values and headers if they
    are opened, otherwise the whole field. In a body that does not decode, all bytes that may belong
    to such records are masked. A piece of a snapshot that does not begin with a batch is one row.
    """
    return _Records(frame, mask, opened).rows(rows)


class _Records:
    def __init__(self, frame: DecodedFrame, mask: bool, opened: bool) -> None:
        self.frame = frame
        self.data = frame.data
        self.mask = mask
        self.opened = opened
        #: Paths of the structs around the last row that name a topic, outermost first → the topic.
        self.topics: list[tuple[str, str]] = []
        #: The position of the next records in a snapshot.
        self.position = 0
        #: In a body that does not decode, any field may have bytes of the metadata log.
        self.failed = mask and frame.error is not None and frame.direction != "request"
        self.doubtful = self.failed and self._is_snapshot()
        self.batches = BatchRows(frame.data)

    def rows(self, rows: Iterable[FieldRow]) -> Iterator[FieldRow | ExplainedRow]:
        has_records = self.frame.codec is None or _has_records(self.frame.codec.spec)
        for row in rows:
            if not has_records and row.type != "":
                yield row
            elif row.type.endswith("RECORDS"):
                yield from self._records(row)
            elif row.type == "":
                secret = self.mask and (row.secret or self._is_hidden(row))
                yield _hidden(row) if secret else row
            elif self._is_doubtful(row):
                yield _hidden(row)
            else:
                self._notice(row)
                yield row

    def _notice(self, row: FieldRow) -> None:
        parent, dot, name = row.path.rpartition(".")
        parent += dot
        if name == "position" and isinstance(row.value, int):
            self.position = row.value
        topic = self._topic_in(row, name)
        if topic is not None:
            self.topics = [each for each in self.topics if parent.startswith(each[0])]
            if topic:
                self.topics.append((parent, topic))
            self.doubtful = self.doubtful or (self.failed and topic == METADATA_TOPIC)

    def _is_doubtful(self, row: FieldRow) -> bool:
        """Whether a damaged length may have turned records of the metadata log into this field."""
        if row.type == "RAW_TAGGED_FIELD":
            return self.mask and self._is_hidden(row)
        return self.doubtful and not row.path.startswith(_BEFORE)

    def _topic_in(self, row: FieldRow, name: str) -> str | None:
        """The topic that a field names, "" for an unknown topic id; None for other fields."""
        if name in _NAMES and row.type.endswith("STRING"):
            return row.value or ""
        if name != "topic_id" or row.type != "UUID":
            return None
        topic_id = uuid_from_text(row.value)
        if topic_id == METADATA_TOPIC_ID:
            return METADATA_TOPIC
        return self.frame.topic_names.get(topic_id, "")

    def _topic_of(self, path: str) -> str | None:
        found = [topic for parent, topic in self.topics if path.startswith(parent)]
        # If any struct around the records names the metadata log, they may belong to it.
        return METADATA_TOPIC if METADATA_TOPIC in found else found[-1] if found else None

    def _is_snapshot(self) -> bool:
        return self.frame.api_key == api_keys.FETCH_SNAPSHOT and self.frame.direction != "request"

    def _is_hidden(self, unread: FieldRow) -> bool:
        """Whether bytes that were not decoded may be of the metadata log."""
        if self._is_snapshot() or any(topic == METADATA_TOPIC for _, topic in self.topics):
            return True
        rest = self.data[unread.start : unread.end]
        return METADATA_TOPIC.encode() in rest or METADATA_TOPIC_ID.bytes in rest

    def _records(self, row: FieldRow) -> Iterator[FieldRow | ExplainedRow]:
        snapshot = self._is_snapshot()
        topic = METADATA_TOPIC if snapshot else self._topic_of(row.path)
        secret = self.mask and (topic == METADATA_TOPIC or self.doubtful or row.secret)
        start = prefix_end(row, self.data)
        if start >= row.end:  # null or empty
            yield row
        elif not self.opened or (snapshot and self.position):
            yield _hidden(row) if secret else row
        else:
            value = self.data[start : row.end].hex()
            yield msgspec.structs.replace(row, end=start, value=value, secret=False)
            yield from self.batches.rows(
                start, row.end, row.path, topic=topic, secret=secret, mask=self.mask
            )


def _has_records(spec: MessageSpec) -> bool:
    structs = [spec.struct, *spec.structs().values()]
    return any(field.type.element == "records" for each in structs for field in each.fields)


def _hidden(row: FieldRow) -> FieldRow:
    return msgspec.structs.replace(row, secret=True, value=MASK)
