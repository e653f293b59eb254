"""Any input is blocks of bytes or a DumpError; any blocks are frames that can be shown, and so is
what is left of them without the headers of packets.

The first three bytes choose the format, "auto" among them, the fourth how the blocks are read.
"""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Callable, Iterator

from kafka_admin_proto.capture import READERS, Block, DecodedFrame, FrameDecoder, read_blocks
from kafka_admin_proto.capture.dumps.pasted_packets import without_headers
from kafka_admin_proto.capture.record import frame_field_rows, frame_record
from kafka_admin_proto.errors import DumpError
from tests.capture.dumps import formatters
from tests.capture.packets import conversation, ethernet
from tests.fuzz import seeds as made
from tests.fuzz.choice import Choice, number_of
from tests.fuzz.limits import bounded_memory, is_measured

_FORMATS = Choice(("auto", *READERS))
_HEAD = 4
#: What showing takes: of one byte a row of a table with its path, of a struct a dict.
_SHOWN = 1024
#: What ``kap decode`` can be told of the blocks, and how often the fuzzer is to choose it.
_DECODERS: tuple[Callable[[], FrameDecoder], ...] = (
    *[FrameDecoder] * 4,
    lambda: FrameDecoder(limit=40),
    lambda: FrameDecoder(unit="payload"),
    lambda: FrameDecoder(direction="response", api="Metadata", version=12),
    lambda: FrameDecoder(unit="body", api="AlterUserScramCredentials", version=0),
)


def one_input(data: bytes) -> None:
    if len(data) < _HEAD:
        return
    dump = data[_HEAD:]
    try:
        with bounded_memory(dump):
            blocks = read_blocks(dump, _FORMATS[data])
    except DumpError as error:
        assert str(error)
        return
    new_decoder = _DECODERS[data[3] % len(_DECODERS)]
    decode(blocks, new_decoder())
    with contextlib.suppress(DumpError):
        decode(without_headers(blocks, new_decoder().limit), new_decoder())
    if is_measured(dump):  # what codecs it needs are made by now
        with bounded_memory(dump, factor=_SHOWN):
            decode(blocks, new_decoder())


def decode(blocks: list[Block], decoder: FrameDecoder) -> None:
    for block in blocks:
        assert block.line >= 0
        frames = list(decoder.decode(block, "fuzz"))
        assert b"".join(frame.data for frame in frames) == block.data  # nothing is dropped
        for frame in frames:
            show(frame)


def show(frame: DecodedFrame) -> None:
    """All that the command line does with a frame."""
    repr(frame)
    for mask in (True, False):
        record = frame_record(frame, mask=mask, raw=True)
        json.dumps(record)
        end = 0
        for row in frame_field_rows(frame, mask=mask):
            assert row.start == end, f"bytes {end} to {row.start} are in no row"
            end = row.end
        assert end == len(frame.data)
    assert record["raw"] == frame.data.hex()


def seeds() -> Iterator[bytes]:
    yield number_of("auto") + b"\0" + made.SAMPLE
    stream = made.stream()[:1000]
    turns = [(0, stream[:60]), (1, stream[60:80]), (0, stream[80:300])]
    texts = {
        "hex": stream.hex(" "),
        "xxd": formatters.xxd(stream),
        "hexdump": formatters.hexdump(stream),
        "od": formatters.od(stream),
        "wireshark": formatters.wireshark(stream),
        "tshark": formatters.tshark(stream),
        "follow_wireshark": formatters.follow_wireshark(turns),
        "follow_tshark": formatters.follow_tshark(turns),
        "c_arrays": formatters.c_arrays(turns),
        "escaped": formatters.escaped_string(stream),
        "c_string": formatters.c_string(stream),
        "go": formatters.go_literal(stream),
        "base64": base64.b64encode(stream).decode(),
        "python": repr(stream),
    }
    for text in texts.values():
        yield number_of("auto") + b"\0" + text.encode()
    packets = conversation([(side == 0, data) for side, data in turns], size=50)
    yield number_of("auto") + b"\0" + "\n\n".join(ethernet(each).hex() for each in packets).encode()
    for format in READERS:
        for decoder in range(len(_DECODERS)):
            start = number_of(format) + bytes([decoder])
            yield start + (stream if format == "raw" else texts.get(format, texts["hex"]).encode())
