"""Peers that send anything: events or RemoteProtocolError come of it, and memory stays bounded."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto import MetadataRequest, MetadataResponse, RemoteProtocolError
from kafka_admin_proto.protocol import frame, write_response
from kafka_admin_proto.protocol.connection import (
    CLIENT,
    NEED_DATA,
    SERVER,
    Connection,
    RequestReceived,
    State,
)
from tests.fuzz import connections as target
from tests.fuzz.choice import number_of
from tests.helpers.memory import traced
from tests.helpers.profile import EXHAUSTIVE, SEED, draws
from tests.protocol.connection.pair import SASL_SERVER, Pair, events, login

by_state = pytest.mark.parametrize("name", target.STATES)
STATE_OF = {
    "client, new": State.NEW,
    "client, negotiating": State.NEGOTIATING,
    "client, ready": State.READY,
    "client, re-authenticating": State.REAUTHENTICATING,
    "server": State.READY,
    "server, ready": State.READY,
    "server, re-authenticating": State.REAUTHENTICATING,
}


@by_state
def test_the_states_are_what_they_are_called(name: str) -> None:
    assert target.STATES[name]().state is STATE_OF.get(name, State.AUTHENTICATING)


@pytest.mark.exhaustive
@by_state
@settings(max_examples=draws(200))
@given(
    data=st.one_of(
        st.binary(max_size=300),
        st.lists(st.binary(max_size=40)).map(lambda payloads: b"".join(map(frame, payloads))),
    ),
    size=st.integers(0, 60),
)
def test_any_bytes_in_any_pieces(name: str, data: bytes, size: int) -> None:
    target.one_input(number_of(name) + bytes([size]) + data)


class Recorded:
    """The bytes of both directions of a login and two requests."""

    def __init__(self, mechanism: str) -> None:
        self.to_server = bytearray()
        self.to_client = bytearray()
        pair = Pair(client={"sasl": login(mechanism)}, server={"sasl": SASL_SERVER})
        record(pair.server.receive_data, self.to_server, pair.server)
        record(pair.client.receive_data, self.to_client, pair.client)
        pair.start()
        pair.exchange(pair.client.send(MetadataRequest()))
        for event in pair.at_server[1:]:
            assert isinstance(event, RequestReceived)
            pair.exchange(to_client=pair.server.send(MetadataResponse(), to=event))
        pair.exchange(pair.client.reauthenticate())


def record(receive: Callable[[bytes], None], copy: bytearray, connection: Any) -> None:
    def receive_and_copy(data: bytes) -> None:
        copy.extend(data)
        receive(data)

    connection.receive_data = receive_and_copy


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_damaged_exchanges(mechanism: str) -> None:
    """Each cut, and bits flipped at random places: what is received is an event or an error."""
    found = Recorded(mechanism)
    dice = random.Random(SEED)
    for sent, is_server in ((found.to_server, True), (found.to_client, False)):
        damaged = [sent[:size] for size in range(0, len(sent), 1 if EXHAUSTIVE else 7)]
        for _ in range(300 if EXHAUSTIVE else 60):
            flipped = bytearray(sent)
            for _ in range(dice.randint(1, 3)):
                flipped[dice.randrange(len(flipped))] ^= 1 << dice.randrange(8)
            damaged.append(flipped)
        for data in damaged:
            if is_server:
                target.reported(Connection(SERVER, sasl=SASL_SERVER), [bytes(data)])
            else:
                client = Connection(CLIENT, sasl=login(mechanism))
                client.start()
                target.reported(client, [bytes(data)])


def test_the_undamaged_exchange_is_read_to_its_end() -> None:
    found = Recorded("PLAIN")
    server = Connection(SERVER, sasl=SASL_SERVER)
    server.receive_data(bytes(found.to_server))
    names = [type(event).__name__ for event in events(server)]
    assert names == ["RequestReceived", "Authenticated", "RequestReceived", "Authenticated"]


def peak_of(work: Callable[[], object]) -> int:
    """Bytes in use at most while it runs."""
    with traced() as memory:
        work()
    return memory.peak


def test_a_large_size_and_a_trickle_cost_what_was_sent() -> None:
    server = Connection(SERVER)
    server.receive_data((100 * 1024 * 1024).to_bytes(4, "big"))

    def trickle() -> None:
        for _ in range(2000):
            server.receive_data(b"x")
            assert server.next_event() is NEED_DATA

    assert peak_of(trickle) < 64 * 1024


def test_nothing_is_kept_of_what_was_reported() -> None:
    client = Pair().start().client
    answer = MetadataResponse(cluster_id="x" * 1000)

    numbers = itertools.count(1)

    def exchange(times: int = 500) -> None:
        for number in itertools.islice(numbers, times):
            client.send(MetadataRequest())
            client.receive_data(frame(write_response(answer, 13, number)))
            assert len(list(events(client))) == 1

    exchange(1)  # the first one makes the codecs
    assert peak_of(exchange) < 128 * 1024


def test_nothing_is_kept_after_an_error() -> None:
    server = Connection(SERVER)
    server.receive_data(b"\xff" * 4 + bytes(1 << 20))
    with pytest.raises(RemoteProtocolError):
        server.next_event()

    def flood() -> None:
        for _ in range(64):
            server.receive_data(bytes(1 << 14))

    assert peak_of(flood) < 64 * 1024
    assert server._reader.buffered == 0


def test_a_name_that_takes_long_to_prepare_is_refused_at_once() -> None:
    """U+FDFA becomes 18 characters in SASLprep: half a megabyte of it would take many seconds."""
    exchange = SASL_SERVER.exchange("SCRAM-SHA-256")
    assert exchange is not None
    step = exchange.take(f"n,,n={'ﷺ' * 100_000},r=abc".encode())
    assert step.refusal == ""
