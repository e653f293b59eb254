"""Requests of every api that tests begin with and enlarge; most name something that is there."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages import (
    add_partitions_to_txn_request,
    alter_configs_request,
    alter_replica_log_dirs_request,
    create_acls_request,
    create_delegation_token_request,
    delete_acls_request,
    delete_topics_request,
    describe_client_quotas_request,
    describe_configs_request,
    describe_delegation_token_request,
    describe_log_dirs_request,
    describe_quorum_request,
    elect_leaders_request,
    incremental_alter_configs_request,
    join_group_request,
    leave_group_request,
    list_partition_reassignments_request,
    metadata_request,
    offset_commit_request,
    offset_delete_request,
    offset_fetch_request,
    sync_group_request,
    txn_offset_commit_request,
    update_features_request,
    write_txn_markers_request,
)
from kafka_admin_proto.messages import alter_client_quotas_request as quotas
from kafka_admin_proto.messages import alter_partition_reassignments_request as moves
from kafka_admin_proto.messages import alter_user_scram_credentials_request as users
from kafka_admin_proto.messages import create_partitions_request as partitions
from kafka_admin_proto.messages import create_topics_request as topics
from kafka_admin_proto.messages import describe_topic_partitions_request as pages
from kafka_admin_proto.messages.kip_4a import alter_topic_request as alter_a
from kafka_admin_proto.messages.kip_4a import delete_topic_request as delete_a
from kafka_admin_proto.messages.kip_4a import topic_metadata_request as metadata_a
from kafka_admin_proto.messages.kip_4b import alter_topic_request as alter_b
from kafka_admin_proto.messages.kip_4b import create_topic_request as create_b
from kafka_admin_proto.messages.kip_4b import delete_topic_request as delete_b
from kafka_admin_proto.messages.kip_4b import (
    preferred_replica_leader_election_request as election_b,
)
from kafka_admin_proto.messages.kip_4b import topic_metadata_request as metadata_b
from kafka_admin_proto.values import Message
from tests.server.security.authorizer.refused import cases

#: (type, name, keys)
Resources = list[tuple[int, str, list[str] | None]]

TOPICS = [f"topic-{number}" for number in range(100)]
#: The first topic has many partitions.
_LARGE, _SMALL = TOPICS[:2]
_TIMEOUT_MS = 1000
#: (type, name, config, value)
_CONFIGS = (
    (2, _SMALL, "cleanup.policy", "compact"),
    (2, _SMALL, "leader.replication.throttled.replicas", "0:1"),
    (2, _SMALL, "min.insync.replicas", "2"),
    (4, "", "log.cleanup.policy", "delete"),
    (4, "1", "listener.name.x.sasl.enabled.mechanisms", "a"),
    (4, "1", "sasl.enabled.mechanisms", "a"),
    (4, "", "unknown", "a"),
    (4, "1", "num.io.threads", "9"),
    (16, "metrics-1", "match", "client_id=a"),
    (32, "group-1", "consumer.session.timeout.ms", "50000"),
)


def samples() -> Iterator[Message]:
    """At least one request of each api of Kafka and of the drafts."""
    for _, case in cases(UUID(int=1)):
        yield case.request
    yield from _of_configs()
    yield from _of_topics()
    yield from _of_others()
    yield from _of_drafts()


def _of_configs() -> Iterator[Message]:
    for kind, name, config, value in _CONFIGS:
        entry = alter_configs_request.AlterableConfig(config, value)
        row = alter_configs_request.AlterConfigsResource(kind, name, [entry])
        yield m.AlterConfigsRequest([row])
        for operation in (0, 2, 3):
            yield incremental(kind, name, [(config, operation, value)])
    for kind, name, keys in (
        (4, "1", None), (4, "", None), (2, _SMALL, None), (2, _SMALL, ["retention.ms"]),
        (4, "1", ["unknown.1"]), (32, "g", None), (32, "group-1", None), (16, "metrics-1", None),
    ):  # fmt: skip
        yield described([(kind, name, keys)])
    yield m.ListConfigResourcesRequest([2])


def incremental(kind: int, name: str, configs: list[tuple[str, int, str]]) -> Message:
    """A change of one resource by (config, operation, value)."""
    entries = [incremental_alter_configs_request.AlterableConfig(*each) for each in configs]
    row = incremental_alter_configs_request.AlterConfigsResource(kind, name, entries)
    return m.IncrementalAlterConfigsRequest([row])


def described(resources: Resources) -> Message:
    """A question for the configs of resources, and their synonyms."""
    rows = [describe_configs_request.DescribeConfigsResource(*each) for each in resources]
    return m.DescribeConfigsRequest(rows, include_synonyms=True)


def _of_topics() -> Iterator[Message]:
    config = topics.CreatableTopicConfig("cleanup.policy", "compact")
    for topic in (
        topics.CreatableTopic("new", 1, 1, configs=[config]),
        topics.CreatableTopic("new", 2**31 - 1, 1),
        topics.CreatableTopic("new", 9_000, 1),
        topics.CreatableTopic("new", -1, -1, [topics.CreatableReplicaAssignment(0, [1, 2])]),
        topics.CreatableTopic(_SMALL, 1, 1),
    ):
        yield m.CreateTopicsRequest([topic], _TIMEOUT_MS)
    for more in (
        partitions.CreatePartitionsTopic(_SMALL, 9, None),
        partitions.CreatePartitionsTopic(_SMALL, 2**31 - 1, None),
        partitions.CreatePartitionsTopic(
            _SMALL, 3, [partitions.CreatePartitionsAssignment([1, 2, 3])]
        ),
    ):
        yield m.CreatePartitionsRequest([more], _TIMEOUT_MS)
    yield m.DeleteTopicsRequest([delete_topics_request.DeleteTopicState(_SMALL)], [], _TIMEOUT_MS)
    yield m.DeleteTopicsRequest([], [_SMALL], _TIMEOUT_MS)
    named = metadata_request.MetadataRequestTopic(name=_LARGE)
    yield m.MetadataRequest([named], True, False, True)
    yield m.MetadataRequest([metadata_request.MetadataRequestTopic(name="no")])
    yield m.DescribeTopicPartitionsRequest(
        [pages.TopicRequest(_LARGE)], 10, pages.Cursor(_LARGE, 5)
    )
    for replicas in ([2, 1], None):
        moved = moves.ReassignableTopic(_LARGE, [moves.ReassignablePartition(0, replicas)])
        yield m.AlterPartitionReassignmentsRequest(_TIMEOUT_MS, True, [moved])
    listed = list_partition_reassignments_request.ListPartitionReassignmentsTopics(_LARGE, [0])
    yield m.ListPartitionReassignmentsRequest(_TIMEOUT_MS, [listed])
    for name, election in ((_LARGE, 0), (_LARGE, 1), ("no", 0)):
        elected = elect_leaders_request.TopicPartitions(name, [1])
        yield m.ElectLeadersRequest(election, [elected], _TIMEOUT_MS)
    yield m.ElectLeadersRequest(0, None, _TIMEOUT_MS)
    placed = alter_replica_log_dirs_request.AlterReplicaLogDirTopic(_LARGE, [0])
    yield m.AlterReplicaLogDirsRequest(
        [alter_replica_log_dirs_request.AlterReplicaLogDir("/other", [placed])]
    )
    yield m.DescribeLogDirsRequest([describe_log_dirs_request.DescribableLogDirTopic(_LARGE, [0])])


def _of_others() -> Iterator[Message]:
    for kind, name in ((0, "user-1"), (2, None)):
        component = describe_client_quotas_request.ComponentData("user", kind, name)
        yield m.DescribeClientQuotasRequest([component])
    for whom, key in (
        ([("user", "user-1"), ("client-id", "c")], "producer_byte_rate"),
        ([("ip", "10.0.0.1")], "connection_creation_rate"),
    ):
        entity = [quotas.EntityData(*each) for each in whom]
        yield m.AlterClientQuotasRequest([quotas.EntryData(entity, [quotas.OpData(key, 5.0)])])
    yield m.AlterUserScramCredentialsRequest(
        [users.ScramCredentialDeletion("user-1", 1)],
        [users.ScramCredentialUpsertion("anna", 2, 16384, b"s", b"p")],
    )
    for wanted in (
        (2, None, 1, "User:1", None, 1, 1), (1, None, 1, None, None, 1, 1),
        (2, _SMALL, 2, None, "*", 3, 1), (2, "p" * 99, 2, None, None, 1, 1),
        (2, _SMALL, 3, None, None, 1, 1),
    ):  # fmt: skip
        yield m.DeleteAclsRequest([delete_acls_request.DeleteAclsFilter(*wanted)])
        yield m.DescribeAclsRequest(*wanted)
    for kind in (2, 9):
        acl = create_acls_request.AclCreation(kind, "p", 4, "User:x", "*", 3, 3)
        yield m.CreateAclsRequest([acl])
    yield m.FindCoordinatorRequest("g", 0)
    yield m.FindCoordinatorRequest("", 2, ["g:AAAAAAAAAAAAAAAAAAAAAA:1"])
    yield m.ApiVersionsRequest("name", "1.0")
    yield m.ListGroupsRequest(["Empty"])
    yield m.ListGroupsRequest()
    yield from _of_groups()
    yield from _of_transactions()
    yield from _of_tokens()
    yield m.DescribeClusterRequest(True)
    unknown = describe_quorum_request.TopicData("a", [describe_quorum_request.PartitionData(0)])
    yield m.DescribeQuorumRequest([unknown])
    feature = update_features_request.FeatureUpdateKey("group.version", 1, False, 1)
    yield m.UpdateFeaturesRequest(_TIMEOUT_MS, [feature])


def _of_tokens() -> Iterator[Message]:
    renewer = create_delegation_token_request.CreatableRenewers("User", "anna")
    yield m.CreateDelegationTokenRequest("", "", [renewer], 1000)
    yield m.CreateDelegationTokenRequest("User", "bob")
    yield m.RenewDelegationTokenRequest(b"hmac", 1000)
    yield m.ExpireDelegationTokenRequest(b"hmac", -1)
    owner = describe_delegation_token_request.DescribeDelegationTokenOwner("User", "anna")
    yield m.DescribeDelegationTokenRequest([owner])
    yield m.DescribeDelegationTokenRequest(None)


def _of_groups() -> Iterator[Message]:
    protocol = join_group_request.JoinGroupRequestProtocol("range", b"")
    yield m.JoinGroupRequest("g", 10_000, 10_000, "", None, "consumer", [protocol])
    assignment = sync_group_request.SyncGroupRequestAssignment("member", b"")
    yield m.SyncGroupRequest("g", 1, "member", None, "consumer", "range", [assignment])
    yield m.HeartbeatRequest("g", 1, "member")
    leaving = leave_group_request.MemberIdentity("member", None, None)
    yield m.LeaveGroupRequest("g", members=[leaving])
    yield m.LeaveGroupRequest("g", "member")
    row = offset_commit_request.OffsetCommitRequestPartition(0, 1)
    unknown = UUID(int=77)
    yield m.OffsetCommitRequest(
        "g", topics=[offset_commit_request.OffsetCommitRequestTopic("", unknown, [row])]
    )
    asked = offset_fetch_request.OffsetFetchRequestTopics("", unknown, [0])
    group = offset_fetch_request.OffsetFetchRequestGroup("g", topics=[asked])
    yield m.OffsetFetchRequest(groups=[group])
    one = offset_fetch_request.OffsetFetchRequestTopic(_SMALL, [0])
    yield m.OffsetFetchRequest("g", [one])
    partition = offset_delete_request.OffsetDeleteRequestPartition(0)
    yield m.OffsetDeleteRequest(
        "g", [offset_delete_request.OffsetDeleteRequestTopic(_SMALL, [partition])]
    )
    yield m.DescribeGroupsRequest(["g"], True)
    yield m.DeleteGroupsRequest(["g"])


def _of_transactions() -> Iterator[Message]:
    yield m.InitProducerIdRequest("t", 60_000)
    added = add_partitions_to_txn_request.AddPartitionsToTxnTopic(_SMALL, [0])
    one = add_partitions_to_txn_request.AddPartitionsToTxnTransaction("t", 0, 0, False, [added])
    yield m.AddPartitionsToTxnRequest([one])
    yield m.AddPartitionsToTxnRequest([], "t", 0, 0, [added])
    yield m.AddOffsetsToTxnRequest("t", 0, 0, "g")
    yield m.EndTxnRequest("t", 0, 0, True)
    ended = write_txn_markers_request.WritableTxnMarkerTopic(_SMALL, [0])
    marker = write_txn_markers_request.WritableTxnMarker(0, 0, True, [ended], 0)
    yield m.WriteTxnMarkersRequest([marker])
    row = txn_offset_commit_request.TxnOffsetCommitRequestPartition(0, 1)
    commit = txn_offset_commit_request.TxnOffsetCommitRequestTopic(_SMALL, partitions=[row])
    yield m.TxnOffsetCommitRequest("t", "g", 0, 0, topics=[commit])
    yield m.DescribeTransactionsRequest(["t"])
    yield m.ListTransactionsRequest(["Ongoing"], [0])


def _of_drafts() -> Iterator[Message]:
    for count, factor in ((10_000, -1), (2**31 - 1, -1), (-1, 2)):
        yield alter_a.AlterTopicRequest([alter_a.AlterTopicRequestItem(_SMALL, count, factor)])
        yield alter_b.AlterTopicRequest([alter_b.AlterTopicRequestItem(_SMALL, count, factor)])
    assigned = [alter_a.ReplicaAssignment(0, [1, 2])]
    yield alter_a.AlterTopicRequest([alter_a.AlterTopicRequestItem(_LARGE, -1, -1, assigned)])
    config = alter_b.AddedConfigEntry("cleanup.policy", "compact")
    item = alter_b.AlterTopicRequestItem(_SMALL, -1, -1, [], [config], ["retention.ms"])
    yield alter_b.AlterTopicRequest([item])
    entry = create_b.ConfigEntry("cleanup.policy", "compact")
    for count in (1, 9_000):
        created = create_b.CreateTopicRequestItem("new", count, 1, [], [entry])
        yield create_b.CreateTopicRequest([created])
    yield delete_a.DeleteTopicRequest([_SMALL])
    yield delete_b.DeleteTopicRequest([_SMALL])
    yield metadata_a.TopicMetadataRequest([_LARGE])
    yield metadata_b.TopicMetadataRequest([_LARGE])
    elected = election_b.PreferredReplicaLeaderElectionRequestItem(_LARGE, [0])
    yield election_b.PreferredReplicaLeaderElectionRequest([elected])
