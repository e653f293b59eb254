"""The cluster, its features, its quorum: what brokers of KRaft, of ZooKeeper and old ones say."""

from __future__ import annotations

import asyncio

import pytest

from kafka_admin_proto.admin.errors import BrokerError, ConnectionFailedError
from kafka_admin_proto.admin.operations.cluster.description import ClusterNode, DescribeCluster
from kafka_admin_proto.admin.operations.cluster.features import (
    FeatureOperations,
    FeatureUpdate,
    FinalizedFeature,
    SupportedFeature,
)
from kafka_admin_proto.admin.operations.quorum import QuorumListener, QuorumOperations
from kafka_admin_proto.errors import RemoteProtocolError, UnsupportedVersionError
from kafka_admin_proto.messages import (
    AddRaftVoterRequest,
    AddRaftVoterResponse,
    ApiVersionsRequest,
    DescribeClusterRequest,
    DescribeQuorumRequest,
    MetadataRequest,
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
    UpdateFeaturesRequest,
)
from kafka_admin_proto.messages import api_versions_response as versions_messages
from kafka_admin_proto.messages import describe_cluster_response as cluster_messages
from kafka_admin_proto.messages import describe_quorum_response as quorum_messages
from kafka_admin_proto.messages import metadata_response as metadata_messages
from kafka_admin_proto.messages import update_features_response as features_messages
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.values import Message
from tests.admin.fake_caller import Call, FakeCaller, Handler

_CLUSTER_AUTHORIZATION_FAILED = 31
_ZOOKEEPER = {55: VersionRange.NONE, 60: VersionRange(0, 1)}


class Client(DescribeCluster, FeatureOperations, QuorumOperations, FakeCaller):
    """Three brokers, 2 the quorum's leader; DescribeCluster names broker 3 as KRaft may."""

    def __init__(
        self,
        handlers: dict[type[Message], Handler] | None = None,
        versions: dict[int, VersionRange] | None = None,
    ) -> None:
        own: dict[type[Message], Handler] = {
            DescribeClusterRequest: self._cluster,
            DescribeQuorumRequest: self._quorum,
        }
        super().__init__({**own, **(handlers or {})}, versions=versions)

    def _cluster(self, request: Message, call: Call) -> Message:
        assert isinstance(request, DescribeClusterRequest)
        operations = (
            1 << 8 | 1 << 3 if request.include_cluster_authorized_operations else -(1 << 31)
        )
        return cluster_messages.DescribeClusterResponse(
            cluster_id="id",
            controller_id=3,
            endpoint_type=request.endpoint_type,
            brokers=[
                cluster_messages.DescribeClusterBroker(
                    broker_id=id_, host="h", port=id_, is_fenced=call.version >= 2 and id_ == 1
                )
                for id_ in (3, 1)
            ],
            cluster_authorized_operations=operations,
        )

    def _quorum(self, request: Message, call: Call) -> Message:
        states = [
            quorum_messages.ReplicaState(replica_id=id_, log_end_offset=end)
            for id_, end in ((1, 90), (2, 100), (3, -1))
        ]
        partition = quorum_messages.PartitionData(
            leader_id=2, leader_epoch=7, high_watermark=95, current_voters=states
        )
        topic = quorum_messages.TopicData(topic_name="__cluster_metadata", partitions=[partition])
        return quorum_messages.DescribeQuorumResponse(topics=[topic])


def test_the_controller_is_the_quorums_leader() -> None:
    """KRaft brokers name one of themselves as controller, whoever it is."""
    described = asyncio.run(Client().describe_cluster(authorized_operations=True))
    assert (described.cluster_id, described.controller) == ("id", 2)
    assert described.nodes == [ClusterNode(1, "h", 1, None), ClusterNode(3, "h", 3, None)]
    assert described.authorized_operations == ["READ", "DESCRIBE"]
    fenced = asyncio.run(Client().describe_cluster(include_fenced=True))
    assert [each.fenced for each in fenced.nodes] == [True, False]
    assert fenced.authorized_operations is None


def test_the_controller_with_zookeeper() -> None:
    client = Client(versions=_ZOOKEEPER)
    assert asyncio.run(client.describe_cluster()).controller == 3
    with pytest.raises(UnsupportedVersionError):
        asyncio.run(client.describe_cluster(include_fenced=True))


def test_a_client_that_may_not_ask_for_the_quorum() -> None:
    refused = quorum_messages.DescribeQuorumResponse(error_code=_CLUSTER_AUTHORIZATION_FAILED)
    client = Client({DescribeQuorumRequest: lambda request, call: refused})
    assert asyncio.run(client.describe_cluster()).controller is None


def test_the_cluster_by_metadata() -> None:
    """Brokers before 2.8; Metadata has the cluster's operations in versions 8 to 10."""

    def answer(request: Message, call: Call) -> Message:
        assert isinstance(request, MetadataRequest)
        assert request.topics == []
        operations = 1 << 3 if request.include_cluster_authorized_operations else -(1 << 31)
        return metadata_messages.MetadataResponse(
            cluster_id="old",
            controller_id=1,
            brokers=[metadata_messages.MetadataResponseBroker(node_id=1, host="h", port=1)],
            cluster_authorized_operations=operations,
        )

    versions = {55: VersionRange.NONE, 60: VersionRange.NONE}
    client = Client({MetadataRequest: answer}, versions)
    described = asyncio.run(client.describe_cluster())
    assert (described.cluster_id, described.controller) == ("old", 1)
    assert described.authorized_operations is None
    described = asyncio.run(client.describe_cluster(authorized_operations=True))
    assert described.authorized_operations == ["READ"]


def test_the_quorum() -> None:
    quorum = asyncio.run(Client().describe_quorum())
    assert (quorum.leader, quorum.epoch, quorum.high_watermark) == (2, 7, 95)
    assert [(each.id, each.end_offset, each.lag) for each in quorum.voters] == [
        (1, 90, 10),
        (2, 100, 0),
        (3, None, None),
    ]
    with pytest.raises(UnsupportedVersionError, match="with ZooKeeper has no quorum"):
        asyncio.run(Client(versions=_ZOOKEEPER).describe_quorum())
    empty = quorum_messages.DescribeQuorumResponse()
    with pytest.raises(RemoteProtocolError, match="answered about 0"):
        asyncio.run(Client({DescribeQuorumRequest: lambda *_: empty}).describe_quorum())


def test_a_voter_is_added() -> None:
    def answer(request: Message, call: Call) -> Message:
        assert isinstance(request, AddRaftVoterRequest)
        assert [(each.name, each.host, each.port) for each in request.listeners] == [("C", "h", 9)]
        code = 126 if request.voter_id == 1 else 0
        return AddRaftVoterResponse(
            error_code=code, error_message="already there" if code else None
        )

    client = Client({AddRaftVoterRequest: answer})
    listeners = [QuorumListener("C", "h", 9)]
    asyncio.run(client.add_raft_voter(4, "AAAAAAAAAAAAAAAAAAAAAg", listeners))
    with pytest.raises(BrokerError, match="voter 1: DUPLICATE_VOTER: already there"):
        asyncio.run(client.add_raft_voter(1, "AAAAAAAAAAAAAAAAAAAAAg", listeners))


def test_features() -> None:
    answer = versions_messages.ApiVersionsResponse(
        finalized_features_epoch=5,
        supported_features=[
            versions_messages.SupportedFeatureKey(name=name, min_version=1, max_version=9)
            for name in ("m", "a")
        ],
        finalized_features=[
            versions_messages.FinalizedFeatureKey(
                name="m", max_version_level=7, min_version_level=7
            )
        ],
    )
    features = asyncio.run(Client({ApiVersionsRequest: lambda *_: answer}).describe_features())
    assert features.epoch == 5
    assert features.supported == [SupportedFeature("a", 1, 9), SupportedFeature("m", 1, 9)]
    assert features.finalized == [FinalizedFeature("m", 7)]


@pytest.mark.parametrize("version", [1, 2])
def test_features_updated(version: int) -> None:
    """One error for all of them from version 2 on, one for each before."""
    results = [features_messages.UpdatableFeatureResult(feature="a", error_code=42)]
    answer = features_messages.UpdateFeaturesResponse(
        error_code=0 if version == 1 else 42,
        error_message=None,
        results=results if version == 1 else [],
    )
    client = Client({UpdateFeaturesRequest: lambda *_: answer}, {57: VersionRange(0, version)})
    updates = [FeatureUpdate("a", 2), FeatureUpdate("b", 0, "unsafe_downgrade")]
    found = asyncio.run(client.update_features(updates, validate_only=True))
    other = None if version == 1 else "INVALID_REQUEST"
    assert [each.error for each in found] == ["INVALID_REQUEST", other]
    [request] = [call.request for call in client.calls]
    assert isinstance(request, UpdateFeaturesRequest)
    assert [each.upgrade_type for each in request.feature_updates] == [1, 3]


def test_what_each_broker_speaks() -> None:
    """A broker that does not answer leaves the others."""

    def answer(request: Message, call: Call) -> Message | Exception:
        if call.broker == 2:
            return ConnectionFailedError("gone")
        keys = [versions_messages.ApiVersion(api_key=key, max_version=3) for key in (30_000, 3)]
        return versions_messages.ApiVersionsResponse(api_keys=keys)

    found = asyncio.run(Client({ApiVersionsRequest: answer}).broker_versions())
    assert [(each.broker, each.error) for each in found] == [
        (1, None),
        (2, "ConnectionFailedError"),
        (3, None),
    ]
    assert [(each.key, each.name) for each in found[0].apis] == [(3, "Metadata"), (30_000, None)]


def test_a_broker_unregistered() -> None:
    def answer(request: Message, call: Call) -> Message:
        assert isinstance(request, UnregisterBrokerRequest)
        return UnregisterBrokerResponse(error_code=102 if request.broker_id == 7 else 0)

    client = Client({UnregisterBrokerRequest: answer})
    asyncio.run(client.unregister_broker(1))
    with pytest.raises(BrokerError, match="broker 7: BROKER_ID_NOT_REGISTERED"):
        asyncio.run(client.unregister_broker(7))
