"""Real connections: each side's bytes, given to both roles, are the frames that were captured."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from kafka_admin_proto import RequestHeader
from kafka_admin_proto.capture import DecodedFrame, read_captures
from kafka_admin_proto.protocol import api_versions
from kafka_admin_proto.protocol.connection import (
    CLIENT,
    SERVER,
    Connection,
    Ready,
    RequestReceived,
    ResponseReceived,
)
from tests.helpers.profile import SEED
from tests.protocol.connection.pair import events

SAMPLES = Path(__file__).parents[3] / "samples"


@cache
def connections(name: str) -> list[list[DecodedFrame]]:
    """The frames of each connection of a capture that has whole ones."""
    found = defaultdict(list)
    for each in read_captures([str(SAMPLES / name)]):
        if not each.forwarded:
            found[each.connection].append(each)
    return [frames for frames in found.values() if all(frame.error is None for frame in frames)]


def pieces(frames: list[DecodedFrame]) -> Iterator[bytes]:
    """Their bytes, cut at random."""
    dice = random.Random(SEED)
    stream = b"".join(each.data for each in frames)
    while stream:
        size = dice.choice((1, 3, 40, 1000, 10_000))
        yield stream[:size]
        stream = stream[size:]


captures = pytest.mark.parametrize("name", ["admin42.pcap.gz", "controller39.pcap.gz"])


@captures
def test_a_server_reads_the_requests(name: str) -> None:
    assert len(connections(name)) > 10
    for frames in connections(name):
        requests = [each for each in frames if each.direction == "request"]
        answers = iter([each for each in frames if each.direction == "response"])
        server = Connection(SERVER)
        read = []
        for piece in pieces(requests):
            server.receive_data(piece)
            for event in events(server):
                assert isinstance(event, RequestReceived)
                read.append(event.request)
                if event.turn >= 0:
                    answer = next(answers, None)
                    if answer is None:
                        continue  # the capture ended first
                    assert answer.body is not None
                    assert server.send(answer.body, to=event) == answer.data
        assert [each.data for each in read] == [each.data[4:] for each in requests]
        assert [each.body for each in read] == [each.body for each in requests]


@captures
def test_a_client_sends_the_requests_and_reads_the_answers(name: str) -> None:
    """Headers are those of the capture; all else is the connection's."""
    for frames in connections(name):
        client = Connection(CLIENT, negotiate=False, apis=api_versions(unstable=True))
        assert client.start() == b""
        [ready] = events(client)
        assert isinstance(ready, Ready)
        for each in frames:
            if each.direction == "request":
                assert isinstance(each.header, RequestHeader)
                assert each.body is not None
                assert client.send(each.body, context=each, header=each.header) == each.data
        answers = [each for each in frames if each.direction == "response"]
        read = []
        for piece in pieces(answers):
            client.receive_data(piece)
            read += list(events(client))
        for event, answer in zip(read, answers, strict=True):
            assert isinstance(event, ResponseReceived)
            assert event.request.correlation_id == answer.correlation_id
            assert event.response.body == answer.body
            assert event.response.data == answer.data[4:]
