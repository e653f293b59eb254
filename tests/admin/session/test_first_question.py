"""The first question to a broker, in an older version where a newer one ends the connection."""

from __future__ import annotations

import pytest

from kafka_admin_proto.admin import ConfigurationError, ConnectionFailedError, client_config
from kafka_admin_proto.admin.session.session import Session
from kafka_admin_proto.errors import UnsupportedVersionError
from kafka_admin_proto.messages import (
    ApiVersionsRequest,
    ListGroupsRequest,
    ListGroupsResponse,
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from kafka_admin_proto.protocol import Request, api_keys, api_versions
from kafka_admin_proto.protocol.releases import release
from kafka_admin_proto.schema.versions import VersionRange
from tests.admin.leaks import run_without_leaks
from tests.admin.scripted_broker import CLOSE, ScriptedBroker, ScriptedCluster

NEWEST = next(each for each in api_versions() if each.name == "ApiVersions").versions.highest


class ResettingBroker(ScriptedBroker):
    """It ends a connection that asks for versions in a version that it does not have."""

    def __init__(self, highest: int, cluster: ScriptedCluster) -> None:
        super().__init__(1, cluster)
        self.highest = highest
        self.asked: list[int] = []
        self.versions[api_keys.API_VERSIONS] = VersionRange(0, max(0, highest))

    async def _answer(self, request: Request) -> object:
        if isinstance(request.body, ApiVersionsRequest):
            self.asked.append(request.api_version)
            if request.api_version > self.highest:
                return CLOSE
        return await super()._answer(request)


def asked(highest: int, calls: int, timeout: float = 30) -> tuple[list[int], str]:
    """The versions that a broker was asked in by a client with so many calls, and its error."""

    async def run() -> tuple[list[int], str]:
        cluster = ScriptedCluster([1])
        broker = cluster.nodes[1] = ResettingBroker(highest, cluster)
        cluster.on(ListGroupsRequest, lambda request, broker: ListGroupsResponse())
        async with cluster:
            config = client_config(cluster.bootstrap, timeout=timeout)
            async with Session(config) as client:
                try:
                    for _ in range(calls):
                        await client.call(ListGroupsRequest(), ListGroupsResponse)
                except ConnectionFailedError as error:
                    return broker.asked, str(error)
        return broker.asked, ""

    return run_without_leaks(run())


@pytest.mark.parametrize(
    ("highest", "expected"), [(NEWEST, []), (3, [3]), (2, [3, 0]), (0, [3, 0])]
)
def test_an_older_version_is_tried_behind_a_reset(highest: int, expected: list[int]) -> None:
    assert asked(highest, calls=3) == ([NEWEST, *expected], "")


def test_a_broker_that_ends_all_connections_is_asked_three_times_at_once() -> None:
    versions, said = asked(-1, calls=1, timeout=2)
    assert versions[:3] == [NEWEST, 3, 0]
    assert "ended the connection before it answered" in said


def test_no_newer_versions_than_those_of_a_release() -> None:
    """The first question too, and what is sent behind it."""

    async def run() -> tuple[list[int], list[int]]:
        cluster = ScriptedCluster([1])
        broker = cluster.nodes[1] = ResettingBroker(NEWEST, cluster)
        cluster.on(ListGroupsRequest, lambda request, broker: ListGroupsResponse())
        async with cluster:
            config = client_config(cluster.bootstrap, max_release="2.8")
            async with Session(config) as client:
                reply = await client.call(ListGroupsRequest(), ListGroupsResponse)
                newer = r"does not have ListTransactions in a version of Kafka 2\.8 \(max_release\)"
                with pytest.raises(UnsupportedVersionError, match=newer):
                    await client.call(ListTransactionsRequest(), ListTransactionsResponse)
        return broker.asked, [reply.version]

    of_2_8 = release("2.8")
    highest = [of_2_8.versions_of(key).highest for key in (api_keys.API_VERSIONS, 16)]
    assert run_without_leaks(run()) == (highest[:1], highest[1:])
    with pytest.raises(ConfigurationError, match=r"max_release: no release '2\.88'"):
        client_config("a:1", max_release="2.88")
