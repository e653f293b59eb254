"""Frames: any split of the stream, sizes that lie, peers that are not Kafka."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto import EncodeError, FrameError
from kafka_admin_proto.protocol import DEFAULT_FRAME_LIMIT, FrameReader, frame
from tests.helpers.profile import draws


def test_the_default_limit_is_a_brokers() -> None:
    assert DEFAULT_FRAME_LIMIT == 104857600  # socket.request.max.bytes


@given(st.lists(st.binary(max_size=20)), st.data())
@settings(max_examples=draws(200))
def test_any_split_gives_the_same_payloads(payloads: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(frame(payload) for payload in payloads)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=10)))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    reader = FrameReader()
    found = [payload for piece in pieces for payload in reader.feed(piece)]
    assert found == payloads
    assert reader.buffered == 0
    assert reader.offset == len(stream)
    reader.close()


def test_byte_by_byte_and_an_early_stop() -> None:
    stream = frame(b"one") + frame(b"") + frame(b"three")
    reader = FrameReader()
    assert [p for byte in stream for p in reader.feed(bytes([byte]))] == [b"one", b"", b"three"]
    reader = FrameReader()
    assert next(reader.feed(memoryview(stream))) == b"one"
    assert list(reader.feed(b"")) == [b"", b"three"]  # nothing of the piece was lost


@pytest.mark.parametrize(
    ("prefix", "fault"),
    [
        (b"\xff\xff\xff\xff", "frame size -1 is negative"),
        (b"\x06\x40\x00\x01", "frame size 104857601 is over the limit of 104857600"),
        (b"\x16\x03\x01\x02", "TLS handshake"),
        (b"\x15\x03\x03\x00", "TLS alert"),
        (b"GET ", "HTTP request"),
        (b"HTTP", "HTTP response"),
        (b"SSH-", "SSH banner"),
    ],
)
def test_sizes_that_no_peer_sends(prefix: bytes, fault: str) -> None:
    good = frame(b"before")
    reader = FrameReader()
    payloads = reader.feed(good + prefix)
    assert next(payloads) == b"before"
    with pytest.raises(FrameError, match=fault) as caught:
        next(payloads)
    assert caught.value.offset == len(good)
    for _ in range(2):  # it stays lost, and keeps nothing
        with pytest.raises(FrameError, match=fault):
            list(reader.feed(b"\0" * 100))
    assert reader.buffered == 0


def test_the_limit_is_the_callers() -> None:
    assert list(FrameReader(limit=3).feed(frame(b"abc"))) == [b"abc"]
    with pytest.raises(FrameError, match="over the limit of 3"):
        list(FrameReader(limit=3).feed(frame(b"abcd")))


def test_the_end_inside_a_frame() -> None:
    reader = FrameReader()
    assert list(reader.feed(frame(b"abc") + b"\0\0\0\x09xy")) == [b"abc"]
    with pytest.raises(FrameError, match="ends 6 bytes into a frame of 13 bytes") as caught:
        reader.close()
    assert caught.value.offset == 7
    reader = FrameReader()
    assert list(reader.feed(b"\0\0")) == []
    with pytest.raises(FrameError, match="ends 2 bytes into a frame of unknown size"):
        reader.close()


def test_a_payload_too_large_for_any_frame() -> None:
    class Huge(bytes):
        def __len__(self) -> int:
            return 1 << 31

    with pytest.raises(EncodeError, match="does not fit a frame"):
        frame(Huge())
