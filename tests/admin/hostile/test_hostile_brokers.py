"""Brokers that break the protocol, lie or say nothing: an error in time, nothing left behind."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping

import pytest

from kafka_admin_proto import MetadataRequest, MetadataResponse
from kafka_admin_proto.admin import AdminClient, ConnectionFailedError, RequestTimedOutError
from kafka_admin_proto.errors import KafkaAdminProtoError, RemoteProtocolError
from tests.admin.hostile.faults import API_VERSIONS, FAULTS, HALF_HONEST, METADATA, Fault, broker
from tests.admin.hostile.servers import ScriptedServer
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
