"""The client of a connection without its start whose requests are all of unknown versions."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.capture.packets import CLIENT, SERVER, Packet, conversation, pcap
from tests.capture.test_captures import Turn, read


def newer(correlation_id: int, client_id: str = "me", key: int = 1) -> Turn:
    name = client_id.encode()
    head = struct.pack(f">hhih{len(name)}sx", key, 99, correlation_id, len(name), name)
    return True, len(head + b"body").to_bytes(4, "big") + head + b"body"


def answer(correlation_id: int, size: int = 12) -> Turn:
    return False, struct.pack(f">ii{size}x", 4 + size, correlation_id)


def calls(first: int, count: int, client_id: str = "me") -> list[Turn]:
    ids = range(first, first + count)
    return [turn for id_ in ids for turn in (newer(id_, client_id), answer(id_))]


def found(tmp_path: Path, packets: list[Packet]) -> set[tuple[str, str | None, str | None]]:
    frames = read(tmp_path, pcap(packets))
    return {(each.direction, each.client, each.server) for each in frames}


BOTH = {
    (direction, "10.0.0.1:40000", "10.0.0.2:9092") for direction in ("request", "response")
}  # fmt: skip
CLIENTS, SERVERS = ({each for each in BOTH if each[0] == one} for one in ("request", "response"))


@pytest.mark.parametrize("first", [0, 4, 98, 65_535, 1 << 24])
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("begins", ["client", "server"])
def test_both_ends(first: int, count: int, begins: str, tmp_path: Path) -> None:
    turns = calls(first, count)
    if begins == "server":
        turns = [answer(first - 1 if first else 0), *turns]
    assert found(tmp_path, conversation(turns, handshake=False)) == BOTH


@pytest.mark.parametrize("client_id", ["", "consumer-1"])
def test_whatever_the_ports_are(client_id: str, tmp_path: Path) -> None:
    """Correlation ids that the other end repeats say more than the ports do."""
    packets = conversation(
        calls(4, 2, client_id=client_id), handshake=False, client=SERVER, server=CLIENT
    )
    assert {(one, server, client) for one, client, server in found(tmp_path, packets)} == BOTH


@pytest.mark.parametrize("side", [True, False])
@pytest.mark.parametrize("count", [1, 3])
def test_one_end_alone(side: bool, count: int, tmp_path: Path) -> None:
    turns = [turn for turn in calls(4, count) if turn[0] == side]
    packets = conversation(turns, handshake=False, farewell=False)
    assert found(tmp_path, packets) == (CLIENTS if side else SERVERS)


def test_where_only_the_ports_are_left(tmp_path: Path) -> None:
    """Ids that do not count up, and a client without a name."""
    asks = [newer(9, ""), newer(5, ""), newer(7, "")]
    assert found(tmp_path, conversation(asks, handshake=False, farewell=False)) == CLIENTS
    gives = [answer(9), answer(5), answer(7)]
    assert found(tmp_path, conversation(gives, handshake=False, farewell=False)) == SERVERS
