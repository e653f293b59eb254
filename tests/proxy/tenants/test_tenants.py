"""Two tenants of one cluster: clients of each see what is theirs, under their own names."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple
from uuid import UUID

import pytest

from kafka_admin_proto import messages
from kafka_admin_proto.admin import NewTopic, SyncAdminClient
from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.protocol import api_keys, api_versions
from kafka_admin_proto.protocol.connection import Limits
from kafka_admin_proto.proxy import Call, SyncProxy, TenantFilter
from kafka_admin_proto.proxy.filters import Filters
from kafka_admin_proto.proxy.rules import Rules
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID, topic_id_from_text
from kafka_admin_proto.values import Message
from tests.proxy.tenants.clients import read_and_write, transact_and_read
from tests.server.differential.wire import Nodes

_CONFIGS = {
    "group.consumer.heartbeat.interval.ms": 200,
    "group.consumer.min.heartbeat.interval.ms": 200,
    "group.initial.rebalance.delay.ms": 0,
}


class _Two(NamedTuple):
    """A cluster, and the addresses of two tenants."""

    cluster: SyncCluster
    blue: str
    green: str


@pytest.fixture(scope="module")
def two() -> Iterator[_Two]:
    """The prefix of one begins as that of the other."""
    with (
        SyncCluster(3, configs=_CONFIGS, topics={"shared": 1}) as cluster,
        SyncProxy(cluster.bootstrap_servers, [TenantFilter("blue-")]) as blue,
        SyncProxy(cluster.bootstrap_servers, [TenantFilter("bluegreen.")]) as green,
    ):
        for each in (blue, green):
            with SyncAdminClient(each.bootstrap_servers) as client:
                client.create_topics([NewTopic("orders", 2, 3), NewTopic("bills", 1, 3)])
        yield _Two(cluster, blue.bootstrap_servers, green.bootstrap_servers)


def test_clients_of_two_tenants_meet_nowhere(two: _Two) -> None:
    """Topics, groups of both protocols and transactions have the same names for both."""
    for servers, mark in ((two.blue, b"blue"), (two.green, b"green")):
        assert read_and_write(servers, mark) == [mark]
        classic = {"group.id": "classic"}
        assert transact_and_read(servers, mark, **classic) == [mark]
        modern = {"group.id": "modern", "group.protocol": "consumer"}
        assert transact_and_read(servers, mark, **modern)[0] == mark
    assert [each.value for each in two.cluster.records("blue-orders")] == [b"blue"]
    for servers in (two.blue, two.green):
        with SyncAdminClient(servers) as client:
            assert [each.name for each in client.list_topics()] == ["bills", "orders"]
            groups = sorted(each.group_id for each in client.list_groups().groups)
            assert groups == ["classic", "modern", "readers"]
            assert [each.transactional_id for each in client.list_transactions().transactions] == [
                "writer"
            ]
            (described,) = client.describe_transactions(["writer"])
            assert (described.transactional_id, described.error) == ("writer", None)
            (offsets,) = client.list_group_offsets({"readers": None})
            committed = [each.topic for each in offsets.offsets if each.offset]
            assert committed == ["orders"]
    with SyncAdminClient(two.cluster.bootstrap_servers) as client:
        names = {each.group_id for each in client.list_groups().groups}
        assert names == {
            f"{front}{name}"
            for front in ("blue-", "bluegreen.")
            for name in ("classic", "modern", "readers")
        }


def test_what_lists_all_lists_the_tenants_own(two: _Two) -> None:
    with SyncAdminClient(two.blue) as client:
        described = client.describe_topics()
        dirs = client.describe_log_dirs()
        made, refused = client.create_topics([NewTopic("o" * 247, 1), NewTopic("a/b", 1)])
    assert [each.name for each in described] == ["bills", "orders"]
    assert {one.topic for each in dirs for log in each.log_dirs for one in log.replicas} == {
        "bills",
        "orders",
    }
    assert str(made.error) == str(refused.error) == "INVALID_TOPIC_EXCEPTION"
    assert made.message is not None
    assert refused.message is not None
    assert f"the length of '{'o' * 247}' is longer than the max allowed length 249" in made.message
    assert "blue" not in refused.message
    row = messages.DescribeTopicPartitionsRequest
    with Nodes(two.blue) as nodes:
        first = nodes.ask(0, row(response_partition_limit=1), 0)
        assert [each.name for each in first.topics] == ["bills"]
        assert (first.next_cursor.topic_name, first.next_cursor.partition_index) == ("orders", 0)
        cursor = row.Cursor("orders", 0)
        rest = nodes.ask(0, row(response_partition_limit=5, cursor=cursor), 0)
        assert [each.name for each in rest.topics] == ["orders"]


def test_a_topic_of_another_tenant_is_not_there_by_its_id(two: _Two) -> None:
    """Nor is the log of the quorum, which has all names. A deleted topic's id is the broker's."""
    with SyncAdminClient(two.green) as client:
        foreign = _id_of(client, "bills")
    with SyncAdminClient(two.blue) as client:
        own = _id_of(client, "bills")
    with Nodes(two.blue) as nodes:
        assert foreign != own
        for topic_id, code in ((foreign, 100), (own, 0), (UUID(int=7), 100)):
            topic = messages.MetadataRequest.MetadataRequestTopic(topic_id, None)
            (row,) = nodes.ask(0, messages.MetadataRequest([topic]), 12).topics
            assert (row.error_code, row.name) == (code, None if code else "bills")
            assert row.topic_id == topic_id
        state = messages.DeleteTopicsRequest.DeleteTopicState
        for topic_id in (foreign, METADATA_TOPIC_ID):
            request = messages.DeleteTopicsRequest([state(None, topic_id)], timeout_ms=1000)
            (deleted,) = nodes.ask(0, request, 6).responses
            assert deleted.error_code == 100
        fetched = nodes.ask(0, _fetch(foreign), 13)
        assert (fetched.error_code, fetched.responses) == (100, [])
        fetched = nodes.ask(0, _fetch(own), 13)
        assert [each.partitions[0].error_code for each in fetched.responses] == [0]
    with SyncAdminClient(two.green) as client:
        assert [each.name for each in client.list_topics()] == ["bills", "orders"]


def _id_of(client: SyncAdminClient, topic: str) -> UUID:
    found = next(each.topic_id for each in client.list_topics() if each.name == topic)
    assert found is not None
    return topic_id_from_text(found)


def _fetch(topic_id: UUID) -> messages.FetchRequest:
    partition = messages.FetchRequest.FetchPartition(0)
    topic = messages.FetchRequest.FetchTopic(topic_id=topic_id, partitions=[partition])
    return messages.FetchRequest(max_wait_ms=0, session_epoch=-1, topics=[topic])


def test_internal_topics_are_no_tenants(two: _Two) -> None:
    """A name that is the cluster's is another one of the tenant's."""
    with SyncAdminClient(two.blue) as client:
        for name in ("__consumer_offsets", "__cluster_metadata"):
            (described,) = client.describe_topics([name])
            assert str(described.error) == "UNKNOWN_TOPIC_OR_PARTITION"
        assert client.describe_quorum().leader in {1, 2, 3}


def test_a_group_without_an_id_is_refused_where_brokers_refuse_it(two: _Two) -> None:
    """No member gets in, and offsets, which such a group may have, are each tenant's own."""
    requests: list[tuple[Message, int]] = [
        (messages.JoinGroupRequest("", 10_000, 10_000, protocol_type="consumer"), 3),
        (messages.HeartbeatRequest("", 1, "m"), 3),
        (messages.LeaveGroupRequest(""), 4),
        (messages.OffsetDeleteRequest("", []), 0),
        (messages.ConsumerGroupHeartbeatRequest("", subscribed_topic_names=["orders"]), 0),
        (messages.ConsumerGroupDescribeRequest([""]), 0),
    ]
    with Nodes(two.blue) as blue, Nodes(two.cluster.bootstrap_servers) as direct:
        for request, version in requests:
            found = blue.ask(0, copy.deepcopy(request), version)
            assert found == direct.ask(0, request, version)
    with SyncAdminClient(two.blue) as client:
        client.alter_group_offsets("", {("orders", 0): 7})
        (offsets,) = client.list_group_offsets({"": None})
        assert [(each.topic, each.offset) for each in offsets.offsets] == [("orders", 7)]
    with SyncAdminClient(two.green) as client:
        (offsets,) = client.list_group_offsets({"": None})
        assert not [each for each in offsets.offsets if each.offset]


def _answer(request: Message, version: int) -> Any:
    assert request.api_key is not None
    call = Call(request.api_key, version, 1, "me", request=request)
    return TenantFilter("blue-").on_request(request, call)


def test_what_would_be_about_others_is_refused() -> None:
    """ACLs are deleted by name, and what brokers say to each other is not for clients."""
    acls = messages.DeleteAclsRequest.DeleteAclsFilter
    for refused in (acls(2, None), acls(1, None, 1), acls(5, "t", 2)):
        answer = _answer(messages.DeleteAclsRequest([refused]), 3)
        assert [each.error_code for each in answer.filter_results] == [42]
    for passes in (acls(2, "a", 4), acls(2, "*"), acls(4, None), acls(1, "a", 1)):
        assert _answer(messages.DeleteAclsRequest([passes]), 3) is None
    answer = _answer(messages.DescribeAclsRequest(2, "a"), 0)
    assert answer.error_code == 35
    for request in (messages.EnvelopeRequest(), messages.ReadShareGroupStateRequest("g")):
        assert _answer(request, 0) is not None
    pattern = messages.ConsumerGroupHeartbeatRequest("g", subscribed_topic_regex="a)|(b")
    answer = _answer(pattern, 1)
    assert answer.error_code == 128


@pytest.mark.parametrize(
    "prefix", ["", "team", "-", "_", "__consumer_", "a b-", "é-", "a" * 100 + "-", "team-\n"]
)
def test_prefixes_that_could_not_be_told_apart_are_refused(prefix: str) -> None:
    with pytest.raises(SettingsError, match="the tenant's prefix is"):
        TenantFilter(prefix)


def test_frames_without_names_are_not_decoded() -> None:
    """Records that are fetched by ids of topics pass as they came."""
    rules = Rules(Filters([TenantFilter("blue-")]), lambda *_: ("", 1), api_versions(), Limits())
    fetch = rules.route(api_keys.FETCH, 15)
    assert fetch is not None
    assert not fetch.response_filters
    assert not fetch.has_addresses
    for api_key in (api_keys.API_VERSIONS, api_keys.SASL_HANDSHAKE):
        found = rules.route(api_key, 0)
        assert found is not None
        assert [found.request_filters, found.response_filters] == [[], []]
