"""Any exchange of any messages, in any pieces and any order of answers: nothing lost, or mixed."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto.protocol import Request, api_versions, expects_response
from kafka_admin_proto.protocol.connection import (
    NEED_DATA,
    PAUSED,
    Limits,
    Ready,
    RequestReceived,
    ResponseReceived,
)
from kafka_admin_proto.testing import messages
from kafka_admin_proto.values import Message
from tests.helpers.profile import draws
from tests.protocol.connection.pair import SASL_SERVER, Pair, login

#: All apis but those of SASL, which the connection answers itself.
APIS = [each for each in api_versions() if not each.name.startswith("Sasl")]
EXAMPLES = draws(150)


class Exchange:
    """What was sent so far, what is under way, and what has to arrive."""

    def __init__(self, data: st.DataObject, pair: Pair) -> None:
        self.data = data
        self.pair = pair
        self.to_server = bytearray()
        self.to_client = bytearray()
        self.sent: deque[tuple[int, int, Message]] = deque()
        self.unanswered: list[RequestReceived] = []
        self.answers: dict[int, Message] = {}
        self.contexts: deque[int] = deque()
        self.received = 0

    def ask(self) -> None:
        api = self.data.draw(st.sampled_from(APIS))
        version = self.data.draw(st.sampled_from(list(api.versions)))
        body = self.data.draw(messages(f"{api.name}Request", version))
        number = self.received + len(self.sent)
        if len(self.pair.client.unanswered) >= self.pair.client.limits.in_flight:
            return
        self.to_server += self.pair.client.send(body, version, context=number)
        self.sent.append((api.api_key, version, body))
        if expects_response(api.api_key, body):
            self.contexts.append(number)

    def answer(self) -> None:
        if not self.unanswered:
            return
        chosen = self.data.draw(st.integers(0, len(self.unanswered) - 1))
        event = self.unanswered.pop(chosen)
        request = event.request
        body = self.data.draw(messages(f"{request.api}Response", request.api_version))
        self.answers[event.turn] = body
        self.to_client += self.pair.server.send(body, to=event)

    def carry_to_server(self, size: int) -> None:
        if size and self.to_server:
            self.pair.server.receive_data(bytes(self.to_server[:size]))
            del self.to_server[:size]
        while True:
            event = self.pair.server.next_event()
            if event is NEED_DATA or event is PAUSED:
                break
            assert isinstance(event, RequestReceived)
            self.check_request(event.request)
            if event.turn >= 0:
                self.unanswered.append(event)
        assert self.pair.server.data_to_send() == b""

    def check_request(self, request: Request) -> None:
        api_key, version, body = self.sent.popleft()
        self.received += 1
        assert (request.api_key, request.api_version) == (api_key, version)
        assert request.body == body
        assert request.error is None
        assert request.header is not None
        without_client_id = (request.api, version) == ("ControlledShutdown", 0)
        assert request.header.client_id == ("" if without_client_id else "me")

    def carry_to_client(self, size: int) -> None:
        if size and self.to_client:
            self.pair.client.receive_data(bytes(self.to_client[:size]))
            del self.to_client[:size]
        while True:
            event = self.pair.client.next_event()
            if event is NEED_DATA:
                break
            assert isinstance(event, ResponseReceived)
            assert event.request.context == self.contexts.popleft()
            assert event.response.body == self.answers.pop(min(self.answers))
        assert self.pair.client.data_to_send() == b""

    def finish(self) -> None:
        for _ in range(1000):  # each round answers one request at least
            if not (self.to_server or self.to_client or self.unanswered or self.sent):
                break
            self.carry_to_server(len(self.to_server))
            self.answer()
            self.carry_to_client(len(self.to_client))
        assert not self.sent
        assert not self.contexts
        assert not self.answers
        assert not self.pair.client.unanswered
        assert not self.pair.server.unanswered


STEPS = st.lists(
    st.one_of(
        st.just(("ask", 0)),
        st.just(("answer", 0)),
        st.tuples(st.sampled_from(["carry_to_server", "carry_to_client"]), st.integers(1, 200)),
    ),
    min_size=10,
    max_size=80,
)


@pytest.mark.exhaustive
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_no_frame_is_lost_or_mixed(data: st.DataObject) -> None:
    mechanism = data.draw(st.sampled_from([None, "PLAIN", "SCRAM-SHA-256"]))
    limits = Limits(in_flight=data.draw(st.sampled_from([1, 3, 1000])))
    first_id = data.draw(st.sampled_from([0, (1 << 31) - 3]))
    pair = Pair(
        client={
            "client_id": "me",
            "first_correlation_id": first_id,
            "limits": Limits(in_flight=data.draw(st.sampled_from([2, 1000]))),
            "sasl": mechanism and login(mechanism),
        },
        server={"limits": limits, "sasl": mechanism and SASL_SERVER},
    ).start()
    assert isinstance(pair.at_client[-1], Ready)
    exchange = Exchange(data, pair)
    for name, size in data.draw(STEPS):
        getattr(exchange, name)(*([size] if size else []))
    exchange.finish()
