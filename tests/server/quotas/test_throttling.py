"""The quota of partitions that a client may create and delete (KIP-599)."""

from __future__ import annotations

import pytest

from kafka_admin_proto.messages import (
    AlterClientQuotasRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    MetadataRequest,
)
from kafka_admin_proto.messages.alter_client_quotas_request import EntityData, EntryData, OpData
from kafka_admin_proto.messages.create_partitions_request import CreatePartitionsTopic
from kafka_admin_proto.messages.delete_topics_request import DeleteTopicState
from kafka_admin_proto.messages.metadata_request import MetadataRequestTopic
from kafka_admin_proto.server.quotas import throttling
from tests.server.handlers.test_create_topics import topic
from tests.server.served import Served
from tests.server.still_clock import StillClock

_EXCEEDED = 89
_ANNA = "User:anna"


@pytest.fixture
def served() -> Served:
    found = Served()
    found.state.clock = StillClock()
    return found


def wait(served: Served, milliseconds: float) -> None:
    assert isinstance(served.state.clock, StillClock)
    served.state.clock.move(milliseconds / 1000)


def limit(served: Served, rate: float | None, **entity: str | None) -> None:
    """Set or remove a quota."""
    named = [EntityData(each.replace("_", "-"), name) for each, name in entity.items()]
    operation = OpData("controller_mutation_rate", rate or 0.0, rate is None)
    (row,) = served.ask(AlterClientQuotasRequest([EntryData(named, [operation])])).entries
    assert row.error_code == 0, row


def created(
    served: Served, name: str, partitions: int, version: int = 7, principal: str = _ANNA
) -> tuple[int, int]:
    """(error, throttle time) of a new topic."""
    request = CreateTopicsRequest([topic(name, partitions)], 1000)
    response = served.ask(request, version, principal=principal)
    return response.topics[0].error_code, response.throttle_time_ms


def test_a_bucket_is_overdrawn_once(served: Served) -> None:
    limit(served, 2.0, user="anna")  # the window holds 22
    assert created(served, "a", 20) == (0, 0)
    assert created(served, "b", 10) == (0, 0)
    assert created(served, "c", 1) == (_EXCEEDED, 4000)  # 8 are missing
    wait(served, 3999)
    assert created(served, "c", 1) == (_EXCEEDED, 1)
    wait(served, 1)
    assert created(served, "c", 1) == (0, 0)
    assert created(served, "d", 1) == (_EXCEEDED, 500)


def test_older_clients_only_wait(served: Served) -> None:
    limit(served, 1.0, user="anna")
    assert created(served, "a", 21, version=5) == (0, 10_000)
    assert created(served, "b", 1, version=5) == (0, 11_000)
    assert created(served, "c", 1) == (_EXCEEDED, 11_000)


def test_each_way_to_change_partitions(served: Served) -> None:
    assert created(served, "a", 2) == (0, 0)
    limit(served, 1.0, user="anna")
    more = CreatePartitionsRequest([CreatePartitionsTopic("a", 14, None)], 1000)
    response = served.ask(more, principal=_ANNA)
    assert (response.results[0].error_code, response.throttle_time_ms) == (0, 0)
    more.topics[0].count = 15
    response = served.ask(more, principal=_ANNA)
    (row,) = response.results
    assert (row.error_code, row.error_message) == (_EXCEEDED, None)
    assert response.throttle_time_ms == 1000
    gone = DeleteTopicsRequest([DeleteTopicState("a")], [], 1000)
    response = served.ask(gone, principal=_ANNA)
    (deleted,) = response.responses
    assert (deleted.error_code, deleted.error_message) == (_EXCEEDED, None)
    wait(served, 1000)
    assert served.ask(gone, principal=_ANNA).responses[0].error_code == 0
    asked = MetadataRequest([MetadataRequestTopic(name="new")], True)
    served.ask(asked, principal=_ANNA)
    assert served.state.topic("new") is None  # creating it would take tokens that are not there
    assert served.ask(asked).topics[0].name == "new"
    assert served.state.topic("new") is not None


def test_each_controller_counts_itself(served: Served) -> None:
    limit(served, 1.0, user="anna")
    assert created(served, "a", 20) == (0, 0)
    assert created(served, "b", 1)[0] == _EXCEEDED
    served.state.quorum.controller = 2
    assert created(served, "b", 1) == (0, 0)
    served.state.quorum.controller = 1
    assert created(served, "c", 1)[0] == _EXCEEDED


def test_the_most_specific_quota_counts() -> None:
    served = Served()
    levels: list[tuple[dict[str, str | None], tuple[str, str]]] = [
        ({"client_id": None}, ("", "web")),
        ({"client_id": "web"}, ("", "web")),
        ({"user": None}, ("anna", "")),
        ({"user": None, "client_id": None}, ("anna", "web")),
        ({"user": None, "client_id": "web"}, ("anna", "web")),
        ({"user": "anna"}, ("anna", "")),
        ({"user": "anna", "client_id": None}, ("anna", "web")),
        ({"user": "anna", "client_id": "web"}, ("anna", "web")),
    ]
    for rate, (entity, owner) in enumerate(levels, 1):
        limit(served, float(rate), **entity)
        assert throttling.quota_of(served.state, "anna", "web") == (owner, rate)
    assert throttling.quota_of(served.state, "bert", "web") == (("bert", "web"), 5)
    for entity, _ in levels:
        limit(served, None, **entity)
    assert throttling.quota_of(served.state, "anna", "web") is None
