"""Any input is blocks of bytes or a DumpError; any blocks are frames that can be shown.

The first byte chooses the format, "auto" among them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from kafka_admin_proto.capture.frame_records import FrameDecoder
from kafka_admin_proto.capture.readers import READERS, read_blocks
from kafka_admin_proto.errors import DumpError
from tests.capture import formatters
from tests.fuzz import seeds as made

_FORMATS = ("auto", *READERS)


def one_input(data: bytes) -> None:
    if not data:
        return
    try:
        blocks = read_blocks(data[1:], _FORMATS[data[0] % len(_FORMATS)])
    except DumpError as error:
        assert str(error)
        return
    decoder = FrameDecoder()
    for block in blocks:
        assert block.line >= 0
        frames = list(decoder.decode(block, "fuzz"))
        assert b"".join(frame.data for frame in frames) == block.data  # nothing is dropped
        for frame in frames:
            repr(frame)
            for mask in (True, False):
                json.dumps(frame.record(mask=mask, raw=True))
                rows = frame.field_rows(mask=mask)
                if not mask:
                    assert frame.raw_hex(mask=False) == frame.data.hex()
                assert all(0 <= row.start <= row.end <= len(frame.data) for row in rows)


def seeds() -> Iterator[bytes]:
    yield b"\0" + made.SAMPLE
    stream = made.stream()[:2000]
    texts = [
        stream.hex(),
        stream.hex(" "),
        formatters.xxd(stream),
        formatters.hexdump(stream),
        formatters.od(stream),
    ]
    for text in texts:
        yield b"\0" + text.encode()
    for index in range(len(_FORMATS)):
        yield bytes([index]) + stream
        yield bytes([index]) + texts[0].encode()
