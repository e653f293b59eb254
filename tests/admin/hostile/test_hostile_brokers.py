"""Brokers that break the protocol, lie or say nothing: an error in time, nothing left behind."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping

import pytest

from kafka_admin_proto import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafka_admin_proto.admin import AdminClient, ConnectionFailedError, RequestTimedOutError, Target
from kafka_admin_proto.errors import KafkaAdminProtoError, RemoteProtocolError
from kafka_admin_proto.protocol import Request
from kafka_admin_proto.protocol.error_codes import error_code
from tests.admin.hostile.faults import (
    API_VERSIONS,
    FAULTS,
    HALF_HONEST,
    METADATA,
    Answer,
    Fault,
    broker,
    metadata,
)
from tests.admin.hostile.servers import Peer, ScriptedServer
from tests.admin.leaks import no_sockets_left, run_without_tasks_left

#: Seconds for one call; no broker here answers in time by itself.
_TIMEOUT_S = 1.0
#: What the client may take beyond its timeout, on a busy machine.
_GRACE_S = 3.0
Outcome = MetadataResponse | KafkaAdminProtoError


async def topics_of(address: str, timeout: float = _TIMEOUT_S) -> MetadataResponse:
    async with AdminClient(
        address, timeout=timeout, connect_timeout=timeout, request_timeout=timeout
    ) as client:
        reply = await client.call(MetadataRequest(topics=None), MetadataResponse)
        return reply.body


async def outcome_of(address: str) -> Outcome:
    """What becomes of the call, which ends in time."""
    start = time.monotonic()
    try:
        return await topics_of(address)
    except KafkaAdminProtoError as error:
        return error
    finally:
        assert time.monotonic() - start < _TIMEOUT_S + _GRACE_S, address


def outcomes(api_key: int, faults: Mapping[str, Fault]) -> dict[str, Outcome]:
    """What becomes of a call to brokers with such a fault at an api, side by side.

    An error names the address that it is about.
    """

    async def ask(addresses: list[str]) -> list[Outcome]:
        return await asyncio.gather(*map(outcome_of, addresses))

    with no_sockets_left(), contextlib.ExitStack() as stack:
        addresses = []
        for fault in faults.values():
            server = stack.enter_context(ScriptedServer(broker({api_key: fault})))
            addresses.append(server.address)
        found = run_without_tasks_left(ask(addresses))
    for name, address, outcome in zip(faults, addresses, found, strict=True):
        assert isinstance(outcome, MetadataResponse) or address in str(outcome), name
    return dict(zip(faults, found, strict=True))


@pytest.mark.parametrize("api_key", [API_VERSIONS, METADATA], ids=["ApiVersions", "Metadata"])
def test_an_error_in_time(api_key: int) -> None:
    expected = (ConnectionFailedError, RequestTimedOutError, RemoteProtocolError)
    for fault, outcome in outcomes(api_key, FAULTS).items():
        assert isinstance(outcome, expected), (fault, outcome)


@pytest.mark.parametrize("api_key", [API_VERSIONS, METADATA], ids=["ApiVersions", "Metadata"])
def test_an_answer_or_an_error_in_time(api_key: int) -> None:
    for fault, outcome in outcomes(api_key, HALF_HONEST).items():
        if isinstance(outcome, MetadataResponse):
            assert outcome.cluster_id == "hostile", fault


def test_an_honest_broker() -> None:
    with no_sockets_left(), ScriptedServer(broker()) as server:
        assert run_without_tasks_left(topics_of(server.address, 20)).cluster_id == "hostile"


CREATE_TOPICS = CreateTopicsRequest.api_key or 0
NOT_CONTROLLER = error_code("NOT_CONTROLLER").code
#: Seconds for one call, and what it may take beyond on a busy machine.

#: What no resolver knows, or what is no name at all.
HOSTS = ["", " ", "\0", "a\0b", "a" * 70, "a." * 200, ".", "-", "1.2.3.4.5", "::1%9", "[", "é" * 40]
PORTS = [0, -1, 65536, 2**31 - 1, -(2**31)]


def at(host: str, port: int) -> Answer:
    """Metadata that names one broker, which is elsewhere."""

    def answer(peer: Peer, request: Request) -> MetadataResponse:
        row = MetadataResponse.MetadataResponseBroker(node_id=1, host=host, port=port)
        return MetadataResponse(brokers=[row], controller_id=1)

    return answer


async def ask_broker_1(address: str) -> KafkaAdminProtoError:
    """The error of a request to the broker that Metadata names, which has to come in time."""
    start = time.monotonic()
    try:
        async with AdminClient(
            address, timeout=_TIMEOUT_S, connect_timeout=_TIMEOUT_S, request_timeout=_TIMEOUT_S
        ) as admin:
            await admin.call(MetadataRequest(topics=[]), MetadataResponse, to=1)
    except KafkaAdminProtoError as error:
        assert time.monotonic() - start < _TIMEOUT_S + _GRACE_S
        return error
    raise AssertionError("a broker at no address has answered")


def test_addresses_that_lead_nowhere() -> None:
    wrong = [(host, 9092) for host in HOSTS] + [("127.0.0.1", port) for port in PORTS]

    async def ask(addresses: list[str]) -> list[KafkaAdminProtoError]:
        return await asyncio.gather(*map(ask_broker_1, addresses))

    with no_sockets_left(), contextlib.ExitStack() as stack:
        addresses = [
            stack.enter_context(ScriptedServer(broker(answers={METADATA: at(*each)}))).address
            for each in wrong
        ]
        found = run_without_tasks_left(ask(addresses))
    for each, error in zip(wrong, found, strict=True):
        assert isinstance(error, (ConnectionFailedError, RequestTimedOutError)), (each, error)


def no_brokers(peer: Peer, request: Request) -> MetadataResponse:
    return MetadataResponse(brokers=[], controller_id=-1)


def another_controller(peer: Peer, request: Request) -> MetadataResponse:
    """The controller is not among the brokers."""
    found = metadata(peer, request)
    found.controller_id = 77
    return found


def never_controller(peer: Peer, request: Request) -> CreateTopicsResponse:
    row = CreateTopicsResponse.CreatableTopicResult(name="t", error_code=NOT_CONTROLLER)
    return CreateTopicsResponse(topics=[row])


def throttled_for_weeks(peer: Peer, request: Request) -> MetadataResponse:
    found = metadata(peer, request)
    found.throttle_time_ms = 2**31 - 1
    return found


@pytest.mark.parametrize("answer", [no_brokers, another_controller, throttled_for_weeks])
def test_requests_to_the_controller_end_in_time(answer: Answer) -> None:
    """With an answer, or an error that says what was waited for."""
    start = time.monotonic()
    create = CreateTopicsRequest(topics=[])
    answers = {METADATA: answer, CREATE_TOPICS: lambda peer, request: CreateTopicsResponse()}

    async def ask(address: str) -> None:
        async with AdminClient(address, timeout=_TIMEOUT_S) as admin:
            await admin.call(create, CreateTopicsResponse, to=Target.CONTROLLER)
            await admin.call(create, CreateTopicsResponse, to=Target.CONTROLLER)

    with (
        no_sockets_left(),
        ScriptedServer(broker(answers=answers)) as server,
        contextlib.suppress(ConnectionFailedError, RequestTimedOutError),
    ):
        run_without_tasks_left(ask(server.address))
    assert time.monotonic() - start < 2 * _TIMEOUT_S + _GRACE_S


def test_nobody_is_the_controller() -> None:
    """A broker that goes on to answer NOT_CONTROLLER is asked until the time is over."""

    async def ask(address: str) -> int:
        async with AdminClient(address, timeout=_TIMEOUT_S) as admin:
            create = CreateTopicsRequest(topics=[])
            reply = await admin.call(create, CreateTopicsResponse, to=Target.CONTROLLER)
            return reply.body.topics[0].error_code

    start = time.monotonic()
    script = broker(answers={CREATE_TOPICS: never_controller})
    with no_sockets_left(), ScriptedServer(script) as server:
        assert run_without_tasks_left(ask(server.address)) == NOT_CONTROLLER
    assert time.monotonic() - start < _TIMEOUT_S + _GRACE_S
