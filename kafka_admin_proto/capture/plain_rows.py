"""Rows of plain frames: the compiled engine decodes and writes them, without values in between.

Plain is a packet with the next bytes of a connection that speaks Kafka, and in it a request or a
response that decodes to its end. The engine follows such connections in the objects of this package
(`Conversation` and those in it), which it reads and fills, so that any packet may go either way. It
takes the plain ones and leaves all others to these objects' methods, which say what is wrong.

The row is that of `frame_record`, with the same keys in the same order; tests compare the two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal, Protocol
from uuid import UUID

import msgspec

from kafka_admin_proto.capture.connection.connection import Connection
from kafka_admin_proto.capture.connection.conversation import Conversation, both_ends
from kafka_admin_proto.capture.connection.endpoints import Endpoints
from kafka_admin_proto.capture.connection.envelope import envelope_principal
from kafka_admin_proto.capture.connection.exchange import (
    STATEFUL_REQUESTS,
    STATEFUL_RESPONSES,
    Exchange,
    software_of,
)
from kafka_admin_proto.capture.connection.pairing import (
    EarlyResponses,
    Holes,
    PendingRequest,
    RequestTable,
)
from kafka_admin_proto.capture.connection.sasl import SaslExchange
from kafka_admin_proto.capture.connection.stream_decoder import StreamDecoder
from kafka_admin_proto.capture.connection.table import (
    MAX_ENTRIES,
    MAX_REMEMBERED,
    ConversationTable,
)
from kafka_admin_proto.capture.connection.token_guard import BEFORE_LOGIN, TokenGuard
from kafka_admin_proto.capture.connection.topic_names import NAMING_API_KEYS, TopicNameIndex
from kafka_admin_proto.capture.files.buffered import BufferedSource
from kafka_admin_proto.capture.files.pcap import FileHeader
from kafka_admin_proto.capture.files.pcapng import Blocks
from kafka_admin_proto.capture.tcp.framing import Framer
from kafka_admin_proto.capture.tcp.reassembly import StreamReassembler
from kafka_admin_proto.capture.tcp.segments import BARE_LINK_HEADERS, LINK_HEADERS, SYN, Segment
from kafka_admin_proto.capture.topics_named import topics_in
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.errors import UnknownMessageError
from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.protocol.error_codes import error_name
from kafka_admin_proto.protocol.headers import request_header_version, response_header_version
from kafka_admin_proto.protocol.payload_values import body_codec
from kafka_admin_proto.protocol.payloads import api_name
from kafka_admin_proto.render.embedded import has_embedded, show_embedded
from kafka_admin_proto.render.text import printable_json
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.topic_ids import topic_id_to_text
from kafka_admin_proto.wire.engine import compiled
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8

#: Bytes of a body whose meaning is kept.
_KEPT_BYTES = 512
#: The objects whose slots the engine reads and fills.
_STATE = (
    Connection, Conversation, EarlyResponses, Endpoints, Exchange, Framer, Holes, PendingRequest,
    RequestTable, SaslExchange, StreamDecoder, StreamReassembler, TokenGuard, TopicNameIndex,
)  # fmt: skip
#: Headers that the engine reads: two numbers, the correlation id, the client id, and tags.
_REQUEST_HEADERS, _RESPONSE_HEADERS = (1, 2), (0, 1)
#: Api keys of messages that Python takes: logins.
_PYTHONS_RESPONSES = frozenset({api_keys.SASL_AUTHENTICATE})
_PYTHONS_REQUESTS = _PYTHONS_RESPONSES | {api_keys.SASL_HANDSHAKE}


class RowFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which frames have rows: those of the command line's `Filter`.

    ``connection`` says of a connection's name and the texts of its client and server whether it is
    meant.
    """

    api_keys: frozenset[int] | None = None
    client_id: str | None = None
    connection: Callable[[str, str, str], bool] | None = None
    topic: str | None = None
    errors_only: bool = False
    slower_than_us: int | None = None
    since: int | None = None
    until: int | None = None


class Frames(Protocol):
    """What numbers the frames of an input, and chooses among them.

    ``count`` is how many there were so far. ``row_filter`` is None as long as each frame has to be
    looked at, chosen or not; the engine takes none then.
    """

    count: int
    row_filter: RowFilter | None


class RowSink(msgspec.Struct, kw_only=True):
    """How the rows of plain frames are written, and where.

    ``columns`` are keys of `frame_record`, with "number" and "time", in the order of the row;
    ``mask`` and ``body`` are those of `frame_record`. ``write`` takes whole lines in UTF-8.
    ``second`` gives a time without its fraction and "Z", in ASCII, of seconds since 1970, None for
    one that no calendar has. ``text_cell`` gives the cell of a text in tab-separated values.
    ``frames`` numbers all frames, those of plain Python included; it is set before the first.
    """

    form: Literal["jsonl", "tsv"]
    columns: Sequence[str]
    mask: bool
    body: bool
    write: Callable[[bytes], object]
    second: Callable[[int], bytes | None]
    text_cell: Callable[[str], str]
    frames: Frames | None = None


class PlainRows:
    """Takes the plain packets of a capture, beside a `CaptureDecoder`, whose ``table`` it works on.

    ``segment`` decodes a segment that is not plain, at a time and with an ordinal, and returns when
    the next conversation is to be dropped.
    """

    def __init__(
        self,
        sink: RowSink,
        table: ConversationTable,
        segment: Callable[[Segment, int, int], int],
        engine: Any = compiled,
    ) -> None:
        self._engine = engine
        self._options = table.options
        self._sink = sink
        self._table = table
        self.write: Callable[[bytes], object] = sink.write
        self.second: Callable[[int], bytes | None] = sink.second
        self.text_cell: Callable[[str], str] = sink.text_cell
        self._filter: RowFilter | None = None
        self._rows = rows = engine.RowWriter(self, sink.form, sink.columns, sink.body)
        classes = {each.__name__: each for each in _STATE}
        naming = NAMING_API_KEYS | {api_keys.ENVELOPE}
        frames = engine.FrameReader(self, classes, rows, table.names, naming, sink.mask)
        shared = (table.options, table.names, table.out)
        pattern = engine.Pattern(_opened(table), tuple(_STATE), shared)
        conversations = engine.Conversations(table, pattern, both_ends, MAX_ENTRIES, MAX_REMEMBERED)
        self._reader = engine.CaptureReader(
            LINK_HEADERS, BARE_LINK_HEADERS, conversations, table.out, segment, frames
        )

    def take(self, source: BufferedSource, capture: str, ordinal: int) -> int:
        """Take the packets that follow in the buffer, up to one of an unusual shape.

        Returns the ordinal of the last segment; ``ordinal`` is that of the one before. Stops behind
        a packet with frames in the table's ``out``.
        """
        frames, layout = self._sink.frames, source.layout
        assert frames is not None
        wanted = frames.row_filter
        if wanted is None:
            return ordinal
        if wanted is not self._filter:
            self._filter = wanted
            self._rows.choose(wanted)
        if type(layout) is FileHeader:
            ordinal, frames.count = self._reader.read_pcap(
                source, layout, capture, ordinal, frames.count
            )
        elif type(layout) is Blocks:
            ordinal, frames.count = self._reader.read_pcapng(
                source, layout.order, layout.interfaces, capture, ordinal, frames.count
            )
        return ordinal

    # Methods for the engine -------------------------------------------------------------------

    def plan(self, is_response: bool, api_key: int, api_version: int) -> Any:
        """How the engine takes a message; None where it does not."""
        if api_key in (_PYTHONS_RESPONSES if is_response else _PYTHONS_REQUESTS):
            return None
        dialect = self._options.dialect
        kind = "response" if is_response else "request"
        try:
            codec: Codec[Any] = body_codec(
                catalog().generation, kind, api_key, api_version, dialect
            )
        except UnknownMessageError:
            return None
        of_header = response_header_version if is_response else request_header_version
        header = of_header(api_key, api_version, dialect)
        headers = _RESPONSE_HEADERS if is_response else _REQUEST_HEADERS
        name = api_name(api_key, dialect)
        stateful = STATEFUL_RESPONSES if is_response else STATEFUL_REQUESTS
        reads = api_key in stateful or self._options.reads_body(api_key)
        if header not in headers or name is None:
            return None
        if api_key == api_keys.ENVELOPE and codec.spec.dialect != "kafka":
            return None  # its fields may have other places
        plan = self._engine.CapturePlan(
            name,
            codec.spec.dialect,
            self._engine_of(codec),
            codec,
            flexible=header == headers[1],
            reads=reads,
            names=is_response and api_key in NAMING_API_KEYS,
            software=not is_response and api_key == api_keys.API_VERSIONS,
            falls_back=is_response and api_key == api_keys.API_VERSIONS,
            ends_login=api_key not in BEFORE_LOGIN,
            embeds=has_embedded(codec.name),
            encloses=api_key == api_keys.ENVELOPE,
        )
        return plan if plan.is_plain else None

    def _engine_of(self, codec: Codec[Any]) -> Any:
        """The engine for a message; None where it has no nodes for it."""
        if codec.engine is not None:
            return codec.engine
        node = codec.grammar.node()
        try:
            return None if node is None else self._engine.Engine(node)
        except ValueError:
            return None

    def topic(self, raw: bytes) -> tuple[str, bytes] | tuple[None, None]:
        """The name of a topic id, and both as members of a JSON object, a comma behind them."""
        topic_id = UUID(bytes=raw)
        # All names are those of packets before the current one, or in it.
        found = self._table.names.named.get(topic_id)
        if found is None:
            return None, None
        texts = (topic_id_to_text(topic_id), replace_invalid_utf8(found[0]))
        return texts[1], b"%b:%b," % tuple(map(msgspec.json.encode, texts))

    def names_topic(self, codec: Codec[Any], body: bytes, topic: str) -> bool:
        """Whether a body has the name of a topic in the place of one."""
        return topic in topics_in(codec, codec.decode(body))

    def with_embedded(self, codec: Codec[Any], text: bytes) -> bytes:
        """The JSON of a body, with the messages in its bytes."""
        shown = msgspec.json.decode(text)
        show_embedded(codec.name, shown)
        return msgspec.json.encode(shown)

    def software(self, codec: Codec[Any], body: bytes) -> str | None:
        """What a client says in an ApiVersions that it is."""
        return (_software if len(body) <= _KEPT_BYTES else _software.__wrapped__)(codec, body)

    def principal(self, data: bytes) -> str | None:
        """The principal in an Envelope."""
        return _principal(data)

    def error_names(self, dialect: str, codes: list[int]) -> bytes:
        """The names of the distinct error codes as a JSON array."""
        return _error_names(dialect, tuple(sorted(set(codes))))

    def printable(self, text: bytes) -> bytes:
        """JSON that is safe on a terminal."""
        return printable_json(text.decode()).encode()


def _opened(table: ConversationTable) -> Conversation:
    """A conversation that the SYN of a client has just opened; the engine makes others like it."""
    found = Conversation(bytes(12), table.options, table.names, table.out)
    found.segment(0, 0, SYN, b"", 0, 0, 0, 0, "")
    return found


_principal = lru_cache(maxsize=256)(envelope_principal)


@lru_cache(maxsize=256)
def _software(codec: Codec[Any], body: bytes) -> str | None:
    return software_of(codec.decode(body))


@lru_cache(maxsize=256)
def _error_names(dialect: str, codes: Sequence[int]) -> bytes:
    return msgspec.json.encode([error_name(code, dialect=dialect) or str(code) for code in codes])
