"""Derive the rows of the tables other than ``frames`` from decoded frames.

The connection has paired responses with requests and decoded each body once, so that rows are made
here frame by frame, without parsing anything again. Topic names and dates depend on the whole
capture; `merge` adds them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec

from kafka_admin_proto.capture.connection.topic_names import TopicNamesAt, named_topics
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.record import json_value, shown_text
from kafka_admin_proto.tables.rows.calls import Call, Json
from kafka_admin_proto.tables.rows.derived.metadata import (
    fetched_logs,
    fetched_records,
    record_rows,
)
from kafka_admin_proto.tables.rows.derived_table import CALL, DerivedTable
from kafka_admin_proto.tables.rows.registry import DERIVED
from kafka_admin_proto.topic_ids import topic_id_to_text
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8

#: The table of a derived row, and the row.
DerivedRow = tuple[str, Json]
#: What becomes of the rows that a frame completes: a cell of the column ``derived``, or null.
DerivedCell = Callable[[Iterable[DerivedRow]], bytes | None]

#: Api, and whether its response is waited for → the tables that have rows of its calls.
_BY_API: dict[tuple[str, bool], list[DerivedTable]] = {}
for _table in DERIVED:
    for _api in _table.apis:
        _BY_API.setdefault((_api, _table.waits), []).append(_table)
#: The api keys of requests that are kept until their responses come.
CALL_KEYS = frozenset(key for table in DERIVED if table.waits for key in table.api_keys())
#: Those of requests that have rows at once.
REQUEST_KEYS = frozenset(key for table in DERIVED if not table.waits for key in table.api_keys())
_NAMING_APIS = ("Metadata", "CreateTopics", "DescribeTopicPartitions", "DeleteTopics")
_DERIVING = {
    *((api, "response" if waits else "request") for api, waits in _BY_API),
    *((api, "response") for api in (*_NAMING_APIS, "Fetch")),
}
#: The columns about a call that are filled in, those of a table which its schema has.
_ABOUT = ("ts", "capture", "connection", *(name for name, _ in CALL))
#: The keys of a frame record that are taken as they are, and those of texts.
_TEXTS = ("client_id", "principal", "client_software")
_AS_THEY_ARE = ("latency_us", *(name for name in _ABOUT if name not in _TEXTS))
#: Records of the metadata log that are remembered, because all brokers fetch the same ones.
_MAX_SEEN = 100_000
#: Bytes of ``records`` fields of the metadata log that are remembered, so that equal ones are not
#: parsed again.
_MAX_SEEN_BYTES = 16 * 1024 * 1024


def packed(rows: Iterable[DerivedRow]) -> bytes | None:
    """A cell with the rows, which go through Spark with their frame."""
    found = list(rows)
    return msgspec.msgpack.encode(found) if found else None


class RowDeriver:
    """Derives rows from the frames of a task. With ``mask``, secrets are masked.

    ``cell`` is called by the caller with the rows of each frame.
    """

    def __init__(self, *, mask: bool, cell: DerivedCell = packed) -> None:
        self._mask = mask
        self.cell: DerivedCell = cell
        #: ``records`` fields of the metadata log, records in them, and topic ids with a name, as
        #: bytes → the ordinal of their first packet. The engine looks into two of these.
        self.seen_logs: dict[bytes, int] = {}
        self._seen_bytes = 0
        self._seen_records: dict[tuple[int, int, bytes], int] = {}
        self.named: dict[bytes, int] = {}

    def rows(self, frame: DecodedFrame, ordinal: int) -> Iterable[DerivedRow]:
        """The rows that a frame in the packet with this ordinal completes."""
        api = frame.api
        if (api, frame.direction) not in _DERIVING:
            return ()
        return self._rows(frame, ordinal)

    def _rows(self, frame: DecodedFrame, ordinal: int) -> Iterator[DerivedRow]:
        if frame.direction == "request":
            yield from self._call_rows(frame, None, ordinal, waits=False)
            return
        if frame.request is not None:
            yield from self._call_rows(frame.request, frame, ordinal)
        if frame.logged is None and frame.error is None and frame.body is not None:
            if frame.api == "Fetch":
                yield from self._log_rows(frame, ordinal)
            elif frame.codec is not None:
                yield from self._topic_names(frame, ordinal)

    def unanswered(self, request: DecodedFrame, ordinal: int) -> Iterator[DerivedRow]:
        """The rows of a request to which no response was captured."""
        return self._call_rows(request, None, ordinal)

    def _call_rows(
        self,
        request: DecodedFrame,
        response: DecodedFrame | None,
        ordinal: int,
        *,
        waits: bool = True,
    ) -> Iterator[DerivedRow]:
        tables = _BY_API.get((request.api or "", waits), ())
        if not tables:
            return
        names = request.topic_names
        asked_at = names.ordinal if isinstance(names, TopicNamesAt) else ordinal
        asked = self._record(request)
        call = Call(asked, None if response is None else self._record(response))
        about = {name: asked[name] for name in _ABOUT} | {"packet_ordinal": asked_at}
        if request.logged is None:
            about["named_at"] = asked_at if response is None else max(asked_at, ordinal)
        for table in tables:
            for row in table.made(call):
                yield table.name, about | row

    def _record(self, frame: DecodedFrame) -> Json:
        """What rows are made of: those keys of the frame record.

        The names of topics are left out, which `merge` takes from the whole capture.
        """
        shown = frame.shown(mask=self._mask)
        record = {name: getattr(shown, name) for name in _AS_THEY_ARE}
        record |= {name: shown_text(getattr(shown, name)) for name in _TEXTS}
        record["body"] = json_value(shown, mask=self._mask)
        return record

    def _topic_names(self, frame: DecodedFrame, ordinal: int) -> Iterator[DerivedRow]:
        assert frame.codec is not None
        for topic_id, name in named_topics(frame.codec.name, frame.body):
            known = self.named.get(topic_id.bytes)
            if known is None or ordinal < known:
                if len(self.named) >= _MAX_SEEN:
                    self.named.clear()
                self.named[topic_id.bytes] = ordinal
                yield (
                    "topic_names",
                    {
                        "topic_id": topic_id_to_text(topic_id),
                        "name": replace_invalid_utf8(name),
                        "packet_ordinal": ordinal,
                    },
                )

    def _log_rows(self, frame: DecodedFrame, ordinal: int) -> Iterator[DerivedRow]:
        assert frame.body is not None
        for log in fetched_logs(frame.body):
            known = self.seen_logs.get(log)
            if known is None or ordinal < known:
                self._remember(log, ordinal)
                yield from self._record_rows(frame, log, ordinal)

    def _remember(self, log: bytes, ordinal: int) -> None:
        if log not in self.seen_logs:
            self._seen_bytes += len(log)
            if self._seen_bytes > _MAX_SEEN_BYTES:
                self.seen_logs.clear()
                self._seen_bytes = len(log)
        self.seen_logs[log] = ordinal

    def _record_rows(self, frame: DecodedFrame, log: bytes, ordinal: int) -> Iterator[DerivedRow]:
        for record in fetched_records(log):
            key = record["offset"], record["timestamp"], record["value"]
            known = self._seen_records.get(key)
            if known is not None and known <= ordinal:
                continue
            if len(self._seen_records) >= _MAX_SEEN:
                self._seen_records.clear()
            self._seen_records[key] = ordinal
            about = {
                "capture": frame.capture,
                "connection": frame.connection,
                "packet_ordinal": ordinal,
            }
            for row in record_rows([record]):
                yield "metadata_changes", about | row
