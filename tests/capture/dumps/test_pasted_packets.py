"""Packets in dumps, with the headers around Kafka's bytes: recognised, and read as frames."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto import CreateTopicsRequest, CreateTopicsResponse, MetadataRequest
from kafka_admin_proto.capture import Block, DecodedFrame, FrameDecoder, read_blocks, read_captures
from kafka_admin_proto.capture.dumps.pasted_packets import without_headers
from kafka_admin_proto.capture.tcp.segments import link_type_of
from kafka_admin_proto.errors import DumpError
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.protocol import DEFAULT_FRAME_LIMIT, frame, write_request, write_response
from tests.capture.packets import FIN, KINDS, SYN, Packet, conversation, ethernet

SAMPLES = Path(__file__).parents[3] / "samples"
TOPICS = [CreatableTopic(name=f"topic-{i}") for i in range(40)]
ASKED = frame(write_request(CreateTopicsRequest(topics=TOPICS), 1, 5, "c"))
ANSWER = frame(write_response(CreateTopicsResponse(), 1, 5))
NEXT = frame(write_request(MetadataRequest(), 12, 6, "c"))
TURNS = [(True, ASKED), (False, ANSWER), (True, NEXT)]


def decoded(blocks: Sequence[Block]) -> list[DecodedFrame]:
    decoder = FrameDecoder()
    found = without_headers(list(blocks), DEFAULT_FRAME_LIMIT)
    return [each for block in found for each in decoder.decode(block)]


def blocks_of(packets: Sequence[Packet], wrap: Callable[[Packet], bytes] = ethernet) -> list[Block]:
    return [Block(wrap(packet), line) for line, packet in enumerate(packets, 1)]


def apis(frames: Sequence[DecodedFrame]) -> list[tuple[str | None, str]]:
    assert not [each.problem for each in frames if each.error is not None]
    return [(each.api, each.direction) for each in frames]


ALL = [("CreateTopics", "request"), ("CreateTopics", "response"), ("Metadata", "request")]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1448, 100, 7])
def test_every_kind_of_packet(kind: str, size: int) -> None:
    packets = conversation(TURNS, size=size)
    found = decoded(blocks_of(packets, KINDS[kind][1]))
    assert apis(found) == ALL
    assert [each.data for each in found] == [ASKED, ANSWER, NEXT]
    sent = [line for line, packet in enumerate(packets, 1) if packet.data]
    assert found[0].line == sent[0]


@given(st.data())
def test_packets_sent_again_change_nothing(data: st.DataObject) -> None:
    packets = conversation(TURNS, size=50, farewell=False)
    again = [packet for packet in packets for _ in range(data.draw(st.integers(1, 2)))]
    assert apis(decoded(blocks_of(again))) == ALL


def test_one_packet_alone() -> None:
    (packet,) = conversation([(True, NEXT)], handshake=False, farewell=False)
    (found,) = decoded(blocks_of([packet]))
    assert (found.api, found.data, found.line) == ("Metadata", NEXT, 1)


def test_what_is_missing_is_a_problem_and_the_rest_is_there() -> None:
    packets = conversation(TURNS, size=300, handshake=False, farewell=False)
    left = [packets[0], *packets[2:]]
    found = decoded(blocks_of(left))
    assert "the data ends 300 bytes into a frame of 974" in str(found[0].error)
    assert ("Metadata", "request") in [(each.api, each.direction) for each in found] or any(
        each.data.endswith(NEXT) for each in found
    )
    assert sum(len(each.data) for each in found) == sum(len(each.data) for each in left)


def test_data_behind_the_end_of_its_connection_is_read() -> None:
    packets = conversation([(True, NEXT)], handshake=False)
    end = next(packet for packet in packets if packet.flags & FIN)
    assert apis(decoded(blocks_of([end, packets[0]]))) == [ALL[2]]


def test_blocks_that_are_no_packets_stay() -> None:
    (packet,) = conversation([(True, NEXT)], handshake=False, farewell=False)
    blocks = [Block(ASKED, 1), Block(ethernet(packet), 5), Block(ANSWER, 9)]
    assert apis(decoded(blocks)) == [ALL[0], ALL[2], ALL[1]]
    plain = [Block(ASKED, 1), Block(ANSWER, 2)]
    assert without_headers(plain, DEFAULT_FRAME_LIMIT) == plain


def test_headers_alone_are_said_to_be_that() -> None:
    packets = [packet for packet in conversation([]) if packet.flags & SYN]
    with pytest.raises(DumpError, match="line 1: packets without data"):
        without_headers(blocks_of(packets), DEFAULT_FRAME_LIMIT)


def test_what_tshark_puts_together_is_there_once() -> None:
    packets = conversation([(True, ASKED)], size=300, handshake=False, farewell=False)
    whole = Block(ASKED, 99, "Reassembled TCP (999 bytes)")
    assert apis(decoded([*blocks_of(packets), whole])) == [ALL[0]]
    assert apis(decoded([*blocks_of(packets[-1:]), whole])) == [ALL[0]]
    foreign = Block(ASKED[3:] + b"\0\0\0", 99, "Reassembled TCP (999 bytes)")
    assert apis(decoded([*blocks_of(packets), foreign])) == [ALL[0]]


@pytest.mark.parametrize("form", ["wireshark", "xxd", "stream", "bytes"])
def test_as_people_paste_them(form: str) -> None:
    (packet,) = conversation([(True, NEXT)], handshake=False, farewell=False)
    data = ethernet(packet)
    rows = [(at, data[at : at + 16]) for at in range(0, len(data), 16)]
    shown = re.sub(r"[^ -~]", ".", data.decode("latin-1"))
    text = {
        "wireshark": "\n".join(f"{at:04x}   {row.hex(' '):47}   {shown[at : at + 16]}"
                               for at, row in rows).encode(),
        "xxd": "\n".join(f"{at:08x}: {row.hex(' ', 2):39}  {shown[at : at + 16]}"
                         for at, row in rows).encode(),
        "stream": data.hex().encode(),
        "bytes": data,
    }[form]  # fmt: skip
    assert apis(decoded(read_blocks(text))) == [ALL[2]]


def test_no_frame_is_taken_for_a_packet() -> None:
    names = [SAMPLES / "admin42.pcap.gz", SAMPLES / "controller39.pcap.gz"]
    frames = [each.data for each in read_captures(names)]
    assert len(frames) > 400
    assert not [each for each in frames if link_type_of(each) is not None]
    for at in range(len(NEXT)):
        link_type_of(NEXT[:at])


@given(st.sampled_from(sorted(KINDS)), st.lists(st.tuples(st.integers(0, 90), st.integers(0, 255))))
def test_damaged_packets_do_no_harm(kind: str, damage: list[tuple[int, int]]) -> None:
    blocks = []
    for block in blocks_of(conversation(TURNS, size=100), KINDS[kind][1]):
        data = bytearray(block.data)
        for at, value in damage:
            data[at % len(data)] = value
        blocks += [
            Block(bytes(data), block.line),
            Block(bytes(data[: damage[0][0]] if damage else b"")),
        ]
    with contextlib.suppress(DumpError):  # and nothing else
        decoded(blocks)
