"""The refusals of each api, and the operations that it needs: the rows of the docs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages import (
    add_partitions_to_txn_request,
    alter_client_quotas_request,
    alter_configs_request,
    alter_partition_reassignments_request,
    alter_replica_log_dirs_request,
    alter_user_scram_credentials_request,
    create_acls_request,
    create_partitions_request,
    create_topics_request,
    delete_acls_request,
    delete_records_request,
    delete_topics_request,
    describe_configs_request,
    describe_producers_request,
    describe_quorum_request,
    describe_topic_partitions_request,
    describe_user_scram_credentials_request,
    elect_leaders_request,
    fetch_request,
    incremental_alter_configs_request,
    join_group_request,
    leave_group_request,
    list_offsets_request,
    metadata_request,
    offset_commit_request,
    offset_fetch_request,
    offset_for_leader_epoch_request,
    produce_request,
    update_features_request,
    write_txn_markers_request,
)
from kafka_admin_proto.records import Batch, Record, write_batch
from tests.server.security.authorizer.case import Case
from tests.server.security.authorizer.refused_shares import share_cases

_NO_SUCH_ID = UUID(int=9)


def cases(topic_id: UUID) -> Iterator[tuple[str, Case]]:
    """By the words of the docs' table: api and what is asked."""

    def top(response: Any) -> list[int]:
        return [response.error_code]

    def rows(field: str) -> Callable[[Any], list[int]]:
        return lambda response: [each.error_code for each in getattr(response, field)]

    def name(kind: int) -> str:
        return {2: "a", 4: "1", 8: "1", 16: "s", 32: "g"}[kind]

    yield "Metadata", Case(
        m.MetadataRequest([metadata_request.MetadataRequestTopic(name="a")]),
        [("DESCRIBE", "topic")], 29, rows("topics"),
    )  # fmt: skip
    yield "Metadata, topics by id", Case(
        m.MetadataRequest([metadata_request.MetadataRequestTopic(topic_id, None)]),
        [("DESCRIBE", "topic")], 29, rows("topics"),
    )  # fmt: skip
    yield "DescribeTopicPartitions", Case(
        m.DescribeTopicPartitionsRequest([describe_topic_partitions_request.TopicRequest("a")]),
        [("DESCRIBE", "topic")], 29, rows("topics"),
    )  # fmt: skip
    yield "CreateTopics", Case(
        m.CreateTopicsRequest([create_topics_request.CreatableTopic("new", 1, 1)], 1000, True),
        [("CREATE", "cluster"), ("CREATE", "topic")], 29, rows("topics"),
    )  # fmt: skip
    yield "CreatePartitions", Case(
        m.CreatePartitionsRequest(
            [create_partitions_request.CreatePartitionsTopic("a", 9, None)], 1000, True
        ),
        [("ALTER", "topic")], 29, rows("results"),
    )  # fmt: skip
    yield "DeleteTopics", Case(
        m.DeleteTopicsRequest([delete_topics_request.DeleteTopicState("a")], [], 1000),
        [("DELETE", "cluster"), ("DELETE", "topic")], 29, rows("responses"),
    )  # fmt: skip
    yield "DeleteTopics, topics by id", Case(
        m.DeleteTopicsRequest([delete_topics_request.DeleteTopicState(None, topic_id)], [], 1000),
        [("DELETE", "cluster"), ("DELETE", "topic")], 29, rows("responses"),
    )  # fmt: skip
    for kind, label, resource, error in (
        (2, "topics", "topic", 29), (4, "brokers", "cluster", 31), (8, "loggers", "cluster", 31),
        (16, "metrics", "cluster", 31), (32, "groups", "group", 30),
    ):  # fmt: skip
        described = describe_configs_request.DescribeConfigsResource(kind, name(kind), None)
        yield f"DescribeConfigs, {label}", Case(
            m.DescribeConfigsRequest([described]),
            [("DESCRIBE_CONFIGS", resource)], error, rows("results"),
        )  # fmt: skip
        altered = incremental_alter_configs_request.AlterConfigsResource(kind, name(kind), [])
        yield f"IncrementalAlterConfigs, {label}", Case(
            m.IncrementalAlterConfigsRequest([altered]),
            [("ALTER_CONFIGS", resource)], error, rows("responses"),
        )  # fmt: skip
        if kind != 8:
            legacy = alter_configs_request.AlterConfigsResource(kind, name(kind), [])
            yield f"AlterConfigs, {label}", Case(
                m.AlterConfigsRequest([legacy], True),
                [("ALTER_CONFIGS", resource)], error, rows("responses"),
            )  # fmt: skip
    for kind, label, resource, error in ((0, "groups", "group", 30), (1, "transactions", "id", 53)):
        yield f"FindCoordinator, {label}", Case(
            m.FindCoordinatorRequest(key_type=kind, coordinator_keys=["g"]),
            [("DESCRIBE", resource)], error, rows("coordinators"), 15,
        )  # fmt: skip
    yield from _of_groups(topic_id)
    yield from share_cases(topic_id)
    yield from _of_transactions()
    yield from _of_records(topic_id)
    yield "FindCoordinator, share groups", Case(
        m.FindCoordinatorRequest(key_type=2, coordinator_keys=["g"]),
        [("CLUSTER_ACTION", "cluster")], 31, rows("coordinators"), 42,
    )  # fmt: skip
    yield (
        "DescribeLogDirs",
        Case(m.DescribeLogDirsRequest(None), [("DESCRIBE", "cluster")], 31, top),
    )
    moved = alter_replica_log_dirs_request.AlterReplicaLogDirTopic("a", [0])
    yield "AlterReplicaLogDirs", Case(
        m.AlterReplicaLogDirsRequest(
            [alter_replica_log_dirs_request.AlterReplicaLogDir("/other", [moved])]
        ),
        [("ALTER", "cluster")], 31,
        lambda response: [each.error_code for row in response.results for each in row.partitions],
        57,
    )  # fmt: skip
    yield "ElectLeaders", Case(
        m.ElectLeadersRequest(0, [elect_leaders_request.TopicPartitions("a", [0])], 1000),
        [("ALTER", "cluster")], 31,
        lambda response: [each.error_code for row in response.replica_election_results
                          for each in row.partition_result], 84,
    )  # fmt: skip
    move = alter_partition_reassignments_request.ReassignableTopic(
        "no-such-topic", [alter_partition_reassignments_request.ReassignablePartition(0, [1])]
    )
    yield "AlterPartitionReassignments", Case(
        m.AlterPartitionReassignmentsRequest(1000, True, [move]), [("ALTER", "cluster")], 31,
        lambda response: [each.error_code for row in response.responses for each in row.partitions],
        3,
    )  # fmt: skip
    yield (
        "ListPartitionReassignments",
        Case(m.ListPartitionReassignmentsRequest(1000, None), [("DESCRIBE", "cluster")], 31, top),
    )
    yield (
        "DescribeClientQuotas",
        Case(m.DescribeClientQuotasRequest(), [("DESCRIBE_CONFIGS", "cluster")], 31, top),
    )
    quota = alter_client_quotas_request.EntryData(
        [alter_client_quotas_request.EntityData("user", "anna")], []
    )
    yield (
        "AlterClientQuotas",
        Case(
            m.AlterClientQuotasRequest([quota]), [("ALTER_CONFIGS", "cluster")], 31, rows("entries")
        ),
    )
    yield "DescribeUserScramCredentials", Case(
        m.DescribeUserScramCredentialsRequest(
            [describe_user_scram_credentials_request.UserName("anna")]
        ),
        [("DESCRIBE", "cluster")], 31, rows("results"), 91,
    )  # fmt: skip
    deletion = alter_user_scram_credentials_request.ScramCredentialDeletion("anna", 1)
    yield "AlterUserScramCredentials", Case(
        m.AlterUserScramCredentialsRequest([deletion]), [("ALTER", "cluster")], 31,
        rows("results"), 91,
    )  # fmt: skip
    yield (
        "CreateDelegationToken, another's",
        Case(
            m.CreateDelegationTokenRequest("User", "anna"), [("CREATE_TOKENS", "user")], 65, top, 61
        ),
    )
    quorum = describe_quorum_request.TopicData(
        "__cluster_metadata", [describe_quorum_request.PartitionData(0)]
    )
    yield (
        "DescribeQuorum",
        Case(m.DescribeQuorumRequest([quorum]), [("DESCRIBE", "cluster")], 31, top),
    )
    yield "UpdateFeatures", Case(
        m.UpdateFeaturesRequest(
            1000, [update_features_request.FeatureUpdateKey("no.such", 1, False, 1)]
        ),
        [("ALTER", "cluster")], 31, top, 95,
    )  # fmt: skip
    yield (
        "ListConfigResources",
        Case(m.ListConfigResourcesRequest(), [("DESCRIBE_CONFIGS", "cluster")], 31, top),
    )
    yield (
        "AddRaftVoter",
        Case(
            m.AddRaftVoterRequest(None, 1000, 4, _NO_SUCH_ID, []),
            [("ALTER", "cluster")],
            31,
            top,
            35,
        ),
    )
    yield (
        "RemoveRaftVoter",
        Case(m.RemoveRaftVoterRequest(None, 3, _NO_SUCH_ID), [("ALTER", "cluster")], 31, top, 35),
    )
    yield (
        "DescribeAcls",
        Case(
            m.DescribeAclsRequest(1, None, 1, None, None, 1, 1), [("DESCRIBE", "cluster")], 31, top
        ),
    )
    created = create_acls_request.AclCreation(2, "x", 3, "User:anna", "*", 3, 3)
    yield (
        "CreateAcls",
        Case(m.CreateAclsRequest([created]), [("ALTER", "cluster")], 31, rows("results")),
    )
    found = delete_acls_request.DeleteAclsFilter(2, "no-such-topic", 3, None, None, 1, 1)
    yield (
        "DeleteAcls",
        Case(m.DeleteAclsRequest([found]), [("ALTER", "cluster")], 31, rows("filter_results")),
    )


def _of_groups(topic_id: UUID) -> Iterator[tuple[str, Case]]:
    """Nothing coordinates groups there: 16 is NOT_COORDINATOR."""

    def top(response: Any) -> list[int]:
        return [response.error_code]

    def partitions(response: Any) -> list[int]:
        topics = [
            *response.topics,
            *(each for group in getattr(response, "groups", ()) for each in group.topics),
        ]
        return [part.error_code for each in topics for part in each.partitions]

    read, describe, delete = ([(what, "group")] for what in ("READ", "DESCRIBE", "DELETE"))
    protocol = join_group_request.JoinGroupRequestProtocol("range")
    yield "JoinGroup", Case(
        m.JoinGroupRequest("g", 10_000, 10_000, "", None, "consumer", [protocol]),
        read, 30, top, 16,
    )  # fmt: skip
    yield (
        "SyncGroup",
        Case(m.SyncGroupRequest("g", 1, "m", None, "consumer", "range"), read, 30, top, 16),
    )
    yield "Heartbeat", Case(m.HeartbeatRequest("g", 1, "m"), read, 30, top, 16)
    leaving = leave_group_request.MemberIdentity("m", None)
    yield "LeaveGroup", Case(m.LeaveGroupRequest("g", members=[leaving]), read, 30, top, 16)
    row = offset_commit_request.OffsetCommitRequestPartition(0, 1)
    commit = offset_commit_request.OffsetCommitRequestTopic("", _NO_SUCH_ID, [row])
    yield (
        "OffsetCommit, the group",
        Case(m.OffsetCommitRequest("g", topics=[commit]), read, 30, partitions, 100),
    )
    fetch = offset_fetch_request.OffsetFetchRequestGroup("g", topics=None)
    yield "OffsetFetch, the group", Case(
        m.OffsetFetchRequest(groups=[fetch]), describe, 30,
        lambda response: [each.error_code for each in response.groups], 16,
    )  # fmt: skip
    yield "OffsetDelete, the group", Case(m.OffsetDeleteRequest("g"), delete, 30, top, 16)
    yield "DescribeGroups", Case(
        m.DescribeGroupsRequest(["g"]), describe, 30,
        lambda response: [each.error_code for each in response.groups], 16,
    )  # fmt: skip
    yield (
        "ConsumerGroupHeartbeat, the group",
        Case(m.ConsumerGroupHeartbeatRequest("g", "m", 1), read, 30, top, 16),
    )
    yield "ConsumerGroupDescribe, the group", Case(
        m.ConsumerGroupDescribeRequest(["g"]), describe, 30,
        lambda response: [each.error_code for each in response.groups], 16,
    )  # fmt: skip
    yield (
        "StreamsGroupHeartbeat, the group",
        Case(m.StreamsGroupHeartbeatRequest("g", "m", 1), read, 30, top, 16),
    )
    yield "StreamsGroupDescribe, the group", Case(
        m.StreamsGroupDescribeRequest(["g"]), describe, 30,
        lambda response: [each.error_code for each in response.groups], 16,
    )  # fmt: skip
    yield "StreamsGroupTopologyDescriptionUpdate, the group", Case(
        m.StreamsGroupTopologyDescriptionUpdateRequest("g", "m"), read, 30, top, 35,
    )  # fmt: skip
    yield "DeleteGroups", Case(
        m.DeleteGroupsRequest(["g"]), delete, 30,
        lambda response: [each.error_code for each in response.results], 16,
    )  # fmt: skip


def _of_transactions() -> Iterator[tuple[str, Case]]:
    """Nothing coordinates transactions there: 16 is NOT_COORDINATOR."""

    def top(response: Any) -> list[int]:
        return [response.error_code]

    def partitions(response: Any) -> list[int]:
        return [part.error_code for each in response.topics for part in each.partitions]

    write, describe = ([(what, "id")] for what in ("WRITE", "DESCRIBE"))
    yield (
        "InitProducerId, a transactional id",
        Case(m.InitProducerIdRequest("t", 60_000), write, 53, top, 16),
    )
    added = add_partitions_to_txn_request.AddPartitionsToTxnTopic("a", [0])
    yield "AddPartitionsToTxn, from version 4 on", Case(
        m.AddPartitionsToTxnRequest(
            [add_partitions_to_txn_request.AddPartitionsToTxnTransaction("t", topics=[added])]
        ),
        [("CLUSTER_ACTION", "cluster")], 31,
        lambda response: [
            response.error_code
            or response.results_by_transaction[0]
            .topic_results[0]
            .results_by_partition[0]
            .partition_error_code
        ],
        16,
    )  # fmt: skip
    yield "EndTxn", Case(m.EndTxnRequest("t", 0, 0, True), write, 53, top, 16)
    ended = write_txn_markers_request.WritableTxnMarkerTopic("nowhere", [0])
    marker = write_txn_markers_request.WritableTxnMarker(0, 0, True, [ended])
    yield "WriteTxnMarkers", Case(
        m.WriteTxnMarkersRequest([marker]),
        [("CLUSTER_ACTION", "cluster"), ("ALTER", "cluster")], 31,
        lambda response: partitions(response.markers[0]), 3,
    )  # fmt: skip
    yield "DescribeTransactions", Case(
        m.DescribeTransactionsRequest(["t"]), describe, 53,
        lambda response: [each.error_code for each in response.transaction_states], 16,
    )  # fmt: skip


def _of_records(topic_id: UUID) -> Iterator[tuple[str, Case]]:
    def parts(lists: str, rows: str) -> Callable[[Any], list[int]]:
        return lambda response: [
            row.error_code for each in getattr(response, lists) for row in getattr(each, rows)
        ]

    batch = write_batch(Batch.of([Record(0, 0, None, b"value")]))
    data = [produce_request.PartitionProduceData(0, batch)]
    yield "Produce", Case(
        m.ProduceRequest(None, 1, 1000, [produce_request.TopicProduceData("a", topic_id, data)]),
        [("WRITE", "topic")], 29, parts("responses", "partition_responses"),
    )  # fmt: skip
    wanted = [fetch_request.FetchPartition(partition=0, partition_max_bytes=100)]
    yield "Fetch", Case(
        m.FetchRequest(topics=[fetch_request.FetchTopic("a", topic_id, wanted)]),
        [("READ", "topic")], 29, parts("responses", "partitions"),
    )  # fmt: skip
    ends = [list_offsets_request.ListOffsetsPartition(0, timestamp=-1)]
    yield "ListOffsets", Case(
        m.ListOffsetsRequest(-1, 0, [list_offsets_request.ListOffsetsTopic("a", ends)]),
        [("DESCRIBE", "topic")], 29, parts("topics", "partitions"),
    )  # fmt: skip
    epochs = offset_for_leader_epoch_request
    epoch = [epochs.OffsetForLeaderPartition(0, leader_epoch=0)]
    yield "OffsetForLeaderEpoch", Case(
        m.OffsetForLeaderEpochRequest(-1, [epochs.OffsetForLeaderTopic("a", epoch)]),
        [("DESCRIBE", "topic")], 29, parts("topics", "partitions"),
    )  # fmt: skip
    first = [delete_records_request.DeleteRecordsPartition(0, 0)]
    yield "DeleteRecords", Case(
        m.DeleteRecordsRequest([delete_records_request.DeleteRecordsTopic("a", first)], 1000),
        [("DELETE", "topic")], 29, parts("topics", "partitions"),
    )  # fmt: skip
    yield "DescribeProducers", Case(
        m.DescribeProducersRequest([describe_producers_request.TopicRequest("a", [0])]),
        [("READ", "topic")], 29, parts("topics", "partitions"),
    )  # fmt: skip
    yield "InitProducerId", Case(
        m.InitProducerIdRequest(None, 1000),
        [("IDEMPOTENT_WRITE", "cluster"), ("WRITE", "topic")], 31,
        lambda response: [response.error_code],
    )  # fmt: skip
