"""Decoded frames → rows of the tables beside ``frames``, while both are at hand.

The connection pairs responses with requests and decodes bodies once; what the other tables say of
these is taken here, frame by frame. Rows lack what only the whole capture tells (names of topics,
dates): see `merge`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from kafka_admin_proto.capture.connection.topic_names import TopicNamesAt, named_topics
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.record import frame_record
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.spark.tables.audit_rows import OPERATIONS, audit_rows
from kafka_admin_proto.spark.tables.calls import Call, Json
from kafka_admin_proto.spark.tables.metadata_rows import (
    CONTROLLER_APIS,
    controller_rows,
    fetched_records,
    record_rows,
)
from kafka_admin_proto.spark.tables.quorum_rows import QUORUM_APIS, quorum_rows
from kafka_admin_proto.spark.tables.schemas import (
    ADMIN_AUDIT,
    METADATA_CHANGES,
    QUORUM_EVENTS,
    undated,
)
from kafka_admin_proto.topic_ids import topic_id_to_text
from kafka_admin_proto.wire.blobs import replace_invalid_utf8

#: Name → columns of the rows that are derived. ``admin_audit`` has ``named_at`` beside its own: the
#: place up to which the capture has to name a topic id, null where no order is known.
#: ``topic_names`` are the names that responses tell.
DERIVED = {
    "admin_audit": undated(ADMIN_AUDIT).append(pa.field("named_at", pa.int64())),
    "quorum_events": undated(QUORUM_EVENTS),
    "metadata_changes": undated(METADATA_CHANGES),
    "topic_names": pa.schema(
        [("topic_id", pa.string()), ("name", pa.string()), ("place", pa.int64())]
    ),
}
#: A derived row, and the table that it is of.
DerivedRow = tuple[str, Json]

_CALL_APIS = frozenset({*OPERATIONS, *QUORUM_APIS})
#: The api keys of requests that are kept until their responses come.
CALL_KEYS = frozenset(
    key for api in _CALL_APIS if (key := catalog().entry(f"{api}Request").api_key) is not None
)
_NAMING_APIS = ("Metadata", "CreateTopics", "DescribeTopicPartitions", "DeleteTopics")
_DERIVING = {
    *((api, "response") for api in (*_CALL_APIS, *_NAMING_APIS, "Fetch")),
    *((api, "request") for api in CONTROLLER_APIS),
}
_CALL_COLUMNS = (
    "ts", "capture", "connection", "client", "server", "client_id", "client_software",
    "principal", "api", "api_version", "forwarded",
)  # fmt: skip
#: Records of the metadata log that are remembered: all brokers fetch the same ones.
_MAX_SEEN = 100_000


class RowDeriver:
    """Derives rows from the frames of a task. With ``mask`` secrets stay hidden."""

    def __init__(self, *, mask: bool) -> None:
        self._mask = mask
        #: Records of the metadata log that had rows, and topic ids that were named: where.
        self._seen_records: dict[tuple[int, int, bytes], int] = {}
        self._named: dict[Any, int] = {}

    def rows(self, frame: DecodedFrame, place: int) -> Iterable[DerivedRow]:
        """The rows that a frame at this place completes."""
        api = frame.api
        if (api, frame.direction) not in _DERIVING:
            return ()
        return self._rows(frame, place)

    def _rows(self, frame: DecodedFrame, place: int) -> Iterator[DerivedRow]:
        api = frame.api
        if frame.direction == "request":
            yield from self._controller_rows(frame, place)
            return
        if frame.request is not None and api in _CALL_APIS:
            yield from self._call_rows(frame.request, frame, place)
        if frame.logged is None and frame.error is None and frame.body is not None:
            if api == "Fetch":
                yield from self._log_rows(frame, place)
            elif frame.codec is not None:
                yield from self._topic_names(frame, place)

    def unanswered(self, request: DecodedFrame, place: int) -> Iterator[DerivedRow]:
        """The rows of a request to which no response was captured."""
        return self._call_rows(request, None, place)

    def _call_rows(
        self, request: DecodedFrame, response: DecodedFrame | None, place: int
    ) -> Iterator[DerivedRow]:
        names = request.topic_names
        asked_at = names.ordinal if isinstance(names, TopicNamesAt) else place
        asked = self._record(request)
        call = Call(asked, None if response is None else self._record(response))
        about = {name: asked[name] for name in _CALL_COLUMNS}
        about["place"] = asked_at
        if asked["api"] in QUORUM_APIS:
            for row in quorum_rows(call):
                yield "quorum_events", about | row
        elif asked["api"] in OPERATIONS:
            if request.logged is None:
                about["named_at"] = asked_at if response is None else max(asked_at, place)
            for row in audit_rows(call):
                yield "admin_audit", about | row

    def _record(self, frame: DecodedFrame) -> Json:
        """The frame record; names of topics are those of the whole capture, and come later."""
        return frame_record(frame, mask=self._mask, topic_names=False)

    def _controller_rows(self, frame: DecodedFrame, place: int) -> Iterator[DerivedRow]:
        record = self._record(frame)
        about = {name: record[name] for name in ("ts", "capture", "connection")}
        for row in controller_rows(record["api"], record["body"]):
            yield "metadata_changes", about | {"place": place} | row

    def _topic_names(self, frame: DecodedFrame, place: int) -> Iterator[DerivedRow]:
        assert frame.codec is not None
        for topic_id, name in named_topics(frame.codec.name, frame.body):
            known = self._named.get(topic_id)
            if known is None or place < known:
                if len(self._named) >= _MAX_SEEN:
                    self._named.clear()
                self._named[topic_id] = place
                yield (
                    "topic_names",
                    {
                        "topic_id": topic_id_to_text(topic_id),
                        "name": replace_invalid_utf8(name),
                        "place": place,
                    },
                )

    def _log_rows(self, frame: DecodedFrame, place: int) -> Iterator[DerivedRow]:
        assert frame.body is not None
        for record in fetched_records(frame.body):
            key = record["offset"], record["timestamp"], record["value"]
            known = self._seen_records.get(key)
            if known is not None and known <= place:
                continue
            if len(self._seen_records) >= _MAX_SEEN:
                self._seen_records.clear()
            self._seen_records[key] = place
            about = {"capture": frame.capture, "connection": frame.connection, "place": place}
            for row in record_rows([record]):
                yield "metadata_changes", about | row
