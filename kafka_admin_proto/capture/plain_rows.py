"""Rows of plain frames as lines, which the compiled engine writes; see `plain_frames`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal, Protocol
from uuid import UUID

import msgspec

from kafka_admin_proto.capture.connection.conversation import both_ends
from kafka_admin_proto.capture.connection.table import (
    MAX_ENTRIES,
    MAX_REMEMBERED,
    ConversationTable,
)
from kafka_admin_proto.capture.files.buffered import BufferedSource
from kafka_admin_proto.capture.files.pcap import FileHeader
from kafka_admin_proto.capture.files.pcapng import Blocks
from kafka_admin_proto.capture.plain_frames import PlainFrames, error_text
from kafka_admin_proto.capture.tcp.segments import BARE_LINK_HEADERS, LINK_HEADERS, Segment
from kafka_admin_proto.capture.topics_named import topics_in
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.render.text import printable_json
from kafka_admin_proto.topic_ids import topic_id_to_text
from kafka_admin_proto.wire.engine import compiled
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8


class RowFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which frames have rows: those of the command line's `Filter`.

    ``connection`` says of a connection's name and the texts of its client and server whether it is
    meant. Frames that are wanted are left to plain Python as long as there are ``others``, which
    count those that are not, and where their api key is ``unseen``.
    """

    api_keys: frozenset[int] | None = None
    client_id: str | None = None
    connection: Callable[[str, str, str], bool] | None = None
    topic: str | None = None
    errors_only: bool = False
    slower_than_us: int | None = None
    since: int | None = None
    until: int | None = None
    unseen: frozenset[int] = frozenset()
    others: OtherFrames | None = None


class OtherFrames(Protocol):
    """Counts the frames that are not wanted.

    The engine adds to the counts of their values, where they are wanted, and tells the rest: how
    many frames there were, their first and last time, and the largest latency.
    """

    @property
    def apis(self) -> dict[str, int] | None: ...
    @property
    def client_ids(self) -> dict[str, int] | None: ...
    @property
    def connections(self) -> dict[str, int] | None: ...

    def add_all(self, count: int, times: list[int], slowest_us: int | None) -> None: ...


class Frames(Protocol):
    """What numbers the frames of an input, and chooses among them.

    ``count`` is how many there were so far. ``row_filter`` is None as long as each frame has to be
    looked at, wanted or not; the engine takes none then.
    """

    count: int
    row_filter: RowFilter | None


class RowSink(msgspec.Struct, kw_only=True):
    """How the rows of plain frames are written, and where.

    ``columns`` are keys of `frame_record`, with "number" and "time", in the order of the row;
    ``mask`` and ``body`` are those of `frame_record`. ``write`` takes whole lines in UTF-8.
    ``second`` gives a time without its fraction and "Z", in ASCII, of seconds since 1970, None for
    one that no calendar has. ``text_cell`` gives the cell of a text in tab-separated values.
    ``error_text`` is what stands for an error code in a dialect.
    ``frames`` numbers all frames, those of plain Python included; it is set before the first.
    """

    form: Literal["jsonl", "tsv"]
    columns: Sequence[str]
    mask: bool
    body: bool
    write: Callable[[bytes], object]
    second: Callable[[int], bytes | None]
    text_cell: Callable[[str], str]
    error_text: Callable[..., str] = error_text
    frames: Frames | None = None


class PlainRows(PlainFrames):
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
        super().__init__(table.options, engine)
        self._sink = sink
        self._table = table
        self.write: Callable[[bytes], object] = sink.write
        self.second: Callable[[int], bytes | None] = sink.second
        self.text_cell: Callable[[str], str] = sink.text_cell
        self._filter: RowFilter | None = None
        self._rows = rows = engine.RowWriter(self, sink.form, sink.columns, sink.body)
        frames = self._frames(rows, table.names, mask=sink.mask)
        pattern = self._pattern(table.names, table.out)
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
        self._rows.note_others()
        return ordinal

    # Methods for the engine -------------------------------------------------------------------

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

    def error_names(self, dialect: str, codes: list[int]) -> bytes:
        """The texts of the distinct error codes as a JSON array."""
        return _error_texts(self._sink.error_text, dialect, tuple(sorted(set(codes))))

    def printable(self, text: bytes) -> bytes:
        """JSON that is safe on a terminal."""
        return printable_json(text.decode()).encode()


@lru_cache(maxsize=256)
def _error_texts(text_of: Callable[..., str], dialect: str, codes: tuple[int, ...]) -> bytes:
    return msgspec.json.encode([text_of(code, dialect=dialect) for code in codes])
