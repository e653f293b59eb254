"""Connections that the engine opens, ends and drops are what plain Python makes of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_admin_proto import MetadataRequest, MetadataResponse
from kafka_admin_proto.capture.captures import CaptureDecoder
from kafka_admin_proto.capture.connection import table
from kafka_admin_proto.capture.connection.conversation import LINGER_US
from kafka_admin_proto.capture.options import DecodeOptions
from kafka_admin_proto.capture.plain_rows import RowFilter
from kafka_admin_proto.capture.tcp.segments import ACK, FIN, RST, SYN, Segment
from kafka_admin_proto.cli.captures import decode
from kafka_admin_proto.protocol import frame, write_request, write_response
from tests.capture.packets import KINDS, Packet, conversation, pcap
from tests.helpers.profile import SEED
from tests.speed.compiled import speed

ASKS = [
    (True, frame(write_request(MetadataRequest(), 12, 1, "me"))),
    (False, frame(write_response(MetadataResponse(), 12, 1))),
]


class Counted(CaptureDecoder):
    """Counts the packets that plain Python takes."""

    slow = 0

    def _segment(self, segment: Segment, ts: int, ordinal: int) -> None:
        self.slow += 1
        super()._segment(segment, ts, ordinal)


def known(packets: Sequence[Packet], engine: Any, kind: str = "ethernet") -> tuple[object, int]:
    """All that a decoder knows behind these packets, and how many of them plain Python took."""
    sink, _ = decode.output_of("jsonl", {"mask": True, "body": True})
    assert sink is not None
    sink.write, sink.frames = len, SimpleNamespace(count=0, row_filter=RowFilter())
    decoder = Counted(DecodeOptions(), sink, engine)
    for _ in decoder.read(BytesIO(pcap(packets, kind)), "a"):
        pass
    of = decoder._table
    entries = [(key, end, each.state()) for key, (each, end) in of.entries.items()]
    ended = [(ts, key, each.state()) for ts, key, each in of.ended]
    return (entries, ended, list(of.remembered.items())), decoder.slow


def check(packets: Sequence[Packet], kind: str = "ethernet") -> int:
    """Compare behind each packet; returns how many packets plain Python took."""
    for count in range(1, len(packets) + 1):
        found, slow = known(packets[:count], speed(), kind)
        assert found == known(packets[:count], None, kind)[0], packets[count - 1]
    return slow


def later(packets: Sequence[Packet], us: int) -> list[Packet]:
    return [replace(each, ts=each.ts + us) for each in packets]


@pytest.mark.parametrize("kind", ["ethernet", "ethernet, IPv6"])
def test_a_connection(kind: str) -> None:
    assert kind in KINDS
    packets = conversation(ASKS)
    assert check([*packets, *later(packets[-1:], LINGER_US + 1)], kind) == 1
    others = conversation(ASKS[:1], client=("10.0.0.9", 40000))
    assert check([*packets, *later(others, 2 * LINGER_US)], kind) == 0


def test_the_same_endpoints_again() -> None:
    """A second connection has another name, whether the first was dropped, or ended just now."""
    packets = conversation(ASKS)
    for us in (10**6, 3 * LINGER_US):
        again = [*packets, *later(conversation([], client=("10.0.0.9", 1)), us - 10**5)]
        check([*again, *later(packets, us)])


@pytest.mark.parametrize("flags", [RST, RST | ACK, RST | FIN, FIN | ACK, SYN | ACK, SYN | FIN])
@pytest.mark.parametrize("amid", ["one direction", "a frame", "its end"])
def test_other_ends(flags: int, amid: str) -> None:
    packets = conversation(ASKS, farewell=amid == "its end")
    if amid == "one direction":
        packets = [each for each in packets if each.source == packets[0].source]
    if amid == "a frame":
        packets[-1] = replace(packets[-1], data=packets[-1].data[:-1])
    last = packets[-1]
    sequence = last.sequence + len(last.data) + bool(last.flags & FIN)
    for us in (0, 5, LINGER_US + 5):
        end = replace(last, sequence=sequence, flags=flags, data=b"", ts=last.ts + us)
        check([*packets, end, *later([end], 1)])
        check([*packets, end, *later(conversation(ASKS, client=("10.0.0.7", 7)), 3 * LINGER_US)])


def test_one_end_is_both() -> None:
    packets = conversation(ASKS, client=("10.0.0.2", 9092))
    one = packets[0].source
    check([replace(each, source=one, destination=one) for each in packets])


def test_many_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are forgotten, and counts of them, are the same at all bounds."""
    for module in ("connection.table", "plain_rows"):
        monkeypatch.setattr(f"kafka_admin_proto.capture.{module}.MAX_REMEMBERED", 6)
        monkeypatch.setattr(f"kafka_admin_proto.capture.{module}.MAX_ENTRIES", 40)
    assert table.MAX_ENTRIES == 40
    dice = random.Random(SEED)
    packets = []
    for number in range(120):
        client = ("10.0.0.1", dice.choice([number + 1000, dice.randrange(1000, 1020)]))
        made = conversation(ASKS if number % 5 else [], client=client, farewell=number % 7 > 0)
        packets += later(made, number * dice.choice([10**5, 10**6]))
    packets.sort(key=lambda each: each.ts)
    for count in range(0, len(packets), 7):
        assert known(packets[:count], speed())[0] == known(packets[:count], None)[0]
    assert known(packets, speed())[0] == known(packets, None)[0]


def test_what_a_pattern_cannot_have() -> None:
    pattern = speed().Pattern
    for wrong in ([1], {"a": 1}, object(), (1.5,), [].append):
        with pytest.raises(ValueError, match="neither copied nor shared"):
            pattern(wrong, (), ())
    with pytest.raises(ValueError, match="shared by all"):
        pattern(None, (), ())
