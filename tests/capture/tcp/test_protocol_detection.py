"""What is not Kafka is recognised by its first bytes, in the middle of a stream more strictly."""

from __future__ import annotations

import pytest

from kafka_admin_proto import ApiVersionsRequest
from kafka_admin_proto.capture.tcp.protocol_detection import HEAD_BYTES, ForeignTraffic, is_foreign
from kafka_admin_proto.protocol import frame, write_request

TLS_DATA = b"\x17\x03\x03\x00\x05hello"


@pytest.mark.parametrize("start", [TLS_DATA, b"GET / HTTP/1.1\r\n", b"SSH-2.0-x", b"PROXY TCP4"])
def test_other_protocols_are_foreign(start: bytes) -> None:
    assert is_foreign(start)


def test_kafka_is_not_foreign() -> None:
    data = frame(write_request(ApiVersionsRequest(), 3, 1))
    assert not is_foreign(data)
    assert not is_foreign(data, mid_stream=True)


def test_in_the_middle_of_a_stream_a_few_bytes_are_not_enough() -> None:
    assert is_foreign(TLS_DATA, mid_stream=True)
    assert is_foreign(b"\x16\x03garbage")
    assert not is_foreign(b"\x16\x03garbage", mid_stream=True)
    assert not is_foreign(b"GET it", mid_stream=True)
    assert is_foreign(b"GET / HTTP/1.1\r\n", mid_stream=True)


def test_bytes_are_counted_and_few_are_kept() -> None:
    traffic = ForeignTraffic()
    for _ in range(3):
        traffic.add(1, b"SSH-2.0-" + b"x" * HEAD_BYTES)
    assert traffic.size == 3 * (8 + HEAD_BYTES)
    assert [len(each) for each in traffic.starts] == [0, HEAD_BYTES]
    assert traffic.describe() == "not Kafka: SSH, 12 kB not decoded"
    assert ForeignTraffic("no Kafka", size=7).describe() == "no Kafka; 7 more bytes not decoded"
