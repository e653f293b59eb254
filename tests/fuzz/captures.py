"""A capture of packets, or a request log, gives frames and problems, and never anything else.

The first byte says which of the two the rest is taken for. Parts of a capture give what it gives,
and with the compiled engine its rows are the same, as lines and as the pipeline has them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from io import BytesIO

from kafka_admin_proto import CreateTopicsRequest, CreateTopicsResponse, MetadataRequest, codec
from kafka_admin_proto.capture import DecodedFrame, read_request_log
from kafka_admin_proto.capture.captures import CaptureDecoder
from kafka_admin_proto.capture.options import DecodeOptions
from kafka_admin_proto.capture.record import RECORD_KEYS, frame_field_rows, frame_record
from kafka_admin_proto.cli.captures.filters import Filter
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.protocol import frame, write_request, write_response
from kafka_admin_proto.wire.engine import compiled
from tests.capture.files.parts import Bytes, parts, small_packets, whole
from tests.capture.packets import KINDS, conversation, pcap, pcapng
from tests.fuzz.limits import bounded_memory
from tests.speed.rows import rows

#: What a frame, its record and the connections around it take, beside a multiple of the bytes.
ALLOWANCE = 4 << 20
#: Outputs, whether they have bodies, and the topic that is asked for.
_ROWS = (
    ("jsonl", True, None), ("tsv", False, None), ("summary", True, None), ("jsonl", True, "apples"),
)  # fmt: skip

_READING = (DecodeOptions(), DecodeOptions(mask=False), DecodeOptions(body=False))


def one_input(data: bytes) -> None:
    choice, rest = (data[0], data[1:]) if data else (0, b"")
    with bounded_memory(rest, allowance=ALLOWANCE):
        frames = list(decoded(choice, rest))
    for each in frames:
        assert each.error is None or isinstance(each.error, KafkaAdminProtoError)
        record = frame_record(each, raw=True, records=bool(choice & 2))
        assert tuple(record) == RECORD_KEYS
        json.dumps(record).encode()
        frame_field_rows(each)
    if not choice & 1:
        # No byte is in two rows: a direction's rows follow each other.
        reached: dict[tuple[str | None, str, str | None], int] = {}
        for each in frames:
            if each.direction == "data" or each.forwarded or each.skipped:
                continue
            side = (each.connection, each.direction, each.client)
            assert each.stream_offset >= reached.get(side, 0)
            reached[side] = each.stream_offset + each.size
        check_parts(rest)
        if compiled is not None:
            check_rows(rest)
            check_flows(rest)


def check_parts(data: bytes) -> None:
    """Those that the bytes' sum says, as if no packet were large."""
    step = 1 + sum(data[:64]) % max(len(data), 16)
    bounds = [0, *range(step, len(data), max(step, len(data) // 8)), len(data)]
    with small_packets():
        assert parts(Bytes(data), bounds) == whole(BytesIO(data))


def check_rows(data: bytes) -> None:
    """Those that the engine writes are those of plain Python."""
    output, body, topic = _ROWS[sum(data[:64]) % len(_ROWS)]
    files, wanted = [("fuzz", data)], Filter(topic=topic)
    found = rows(files, compiled, output=output, body=body, wanted=wanted)
    assert found.text == rows(files, None, output=output, body=body, wanted=wanted).text


def check_flows(data: bytes) -> None:
    """The rows that the engine gathers of chunks are those of plain Python."""
    if find_spec("pyarrow") is None:
        return
    from tests.speed.flows import flows

    files, options = [("fuzz", data)], _READING[sum(data[:64]) % len(_READING)]
    assert flows(files, compiled, options).rows == flows(files, None, options).rows


def decoded(choice: int, data: bytes) -> Iterator[DecodedFrame]:
    if choice & 1:
        yield from read_request_log(BytesIO(data), "fuzz")
        return
    connections = CaptureDecoder(DecodeOptions(limit=1 << 20))
    yield from connections.read(BytesIO(data), "fuzz")
    yield from connections.finish()


def seeds() -> Iterator[bytes]:
    request = CreateTopicsRequest(topics=[CreatableTopic(name="apples")])
    turns = [
        (True, frame(write_request(request, 7, 1, "me"))),
        (True, frame(write_request(MetadataRequest(), 12, 2, "me"))),
        (False, frame(write_response(CreateTopicsResponse(), 7, 1))),
        (True, frame(write_request(request, 1, 3, "me"))),
    ]
    for kind in KINDS:
        yield b"\0" + pcap(conversation(turns, size=40), kind)
    yield b"\2" + pcap(conversation(turns, handshake=False))
    yield b"\0" + pcap(conversation(turns)[:3] + conversation(turns)[4:])
    yield b"\0" + pcap([p for p in conversation(turns, size=20) if p.sequence % 3])
    yield b"\0" + pcap(conversation(turns * 3, size=20), snap=110)
    yield b"\0" + pcapng(conversation(turns), resolution=9)
    yield b"\0" + pcapng(conversation(turns), "cooked v2", order=">")
    entry = {
        "requestHeader": {"requestApiKey": 19, "requestApiVersion": 7, "correlationId": 1},
        "request": codec(CreateTopicsRequest, 7).to_json(request),
        "response": codec(CreateTopicsResponse, 7).to_json(CreateTopicsResponse()),
        "connection": "10.0.0.2:9092-10.0.0.1:40000-3",
        "totalTimeMs": 1.5,
    }
    text = f"Completed request:{json.dumps(entry)}"
    yield b"\1" + f"[2026-01-31 12:00:00,123] DEBUG {text} (kafka.request.logger)\n".encode()
    yield b"\1" + json.dumps({"timeMillis": 1, "message": text}).encode() + b"\n"
