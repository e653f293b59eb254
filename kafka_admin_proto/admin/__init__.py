"""An admin client for Kafka clusters, asynchronous and synchronous.

Asynchronous::

    async with AdminClient("localhost:9092") as admin:
        print(await admin.describe_topics(["orders"]))

and the same without asyncio::

    with SyncAdminClient("localhost:9092") as admin:
        print(admin.describe_topics(["orders"]))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_admin_proto.lazy_names import lazy_names

__all__ = [
    "ALL_RECORDS",
    "AbortedTransaction",
    "AclBinding",
    "AclFilter",
    "AclOperation",
    "AclPermission",
    "ActiveProducer",
    "AddPartitionsStep",
    "AdminClient",
    "AdminError",
    "AlterPlan",
    "AlteredConfigs",
    "AlteredOffset",
    "AlteredQuota",
    "AlteredTopic",
    "AlteredUser",
    "AuthenticationError",
    "Broker",
    "BrokerError",
    "BrokerFailure",
    "BrokerLogDirs",
    "BrokerVersions",
    "CancelledReassignment",
    "ClientConfig",
    "ClientQuota",
    "ClusterDescription",
    "ClusterNode",
    "ConfigChange",
    "ConfigEntry",
    "ConfigResource",
    "ConfigSynonym",
    "ConfigurationError",
    "ConnectionFailedError",
    "ConnectionLostError",
    "CreatedAcl",
    "CreatedPartitions",
    "CreatedTopic",
    "DelegationToken",
    "DeleteConfigStep",
    "DeletedAcl",
    "DeletedAcls",
    "DeletedRecords",
    "DeletedTopic",
    "ElectedLeader",
    "ExecutedReassignment",
    "FeatureUpdate",
    "Features",
    "FencedProducer",
    "GeneratedReassignment",
    "GroupDescription",
    "GroupListing",
    "GroupMember",
    "GroupOffset",
    "GroupOffsets",
    "GroupResult",
    "InstructionError",
    "ListedGroup",
    "ListedOffset",
    "ListedTopic",
    "ListedTransaction",
    "LogDir",
    "LogDirReplica",
    "LogDirState",
    "MemberToRemove",
    "MovedReplica",
    "NewOffset",
    "NewPartitions",
    "NewTopic",
    "NoSuchBrokerError",
    "OngoingReassignment",
    "PartitionDescription",
    "PartitionProducers",
    "PartitionReplicas",
    "PartitionResult",
    "PartitionState",
    "PatternType",
    "Quorum",
    "QuorumListener",
    "QuorumNode",
    "QuorumReplica",
    "QuotaAlteration",
    "QuotaComponent",
    "QuotaMatch",
    "ReassignStep",
    "RemovedMember",
    "ReplicaLag",
    "ReplicaMove",
    "Reply",
    "RequestTimedOutError",
    "ResourceConfigs",
    "ResourceType",
    "ScramCredential",
    "ScramDeletion",
    "ScramMechanism",
    "ScramUpsertion",
    "SetConfigStep",
    "StreamsMember",
    "StreamsTasks",
    "StreamsTopology",
    "SyncAdminClient",
    "Target",
    "TlsError",
    "TopicAlteration",
    "TopicDescription",
    "TopicPartitions",
    "TopicPlan",
    "TraceEvent",
    "TransactionDescription",
    "TransactionListing",
    "UnresolvedError",
    "UpdatedFeature",
    "UserDescription",
    "VerifiedReassignment",
    "client_config",
    "read_election",
    "read_reassignment",
    "read_topics_to_move",
    "render_plan",
    "write_reassignment",
    "write_topics_to_move",
]

if TYPE_CHECKING:
    from kafka_admin_proto.admin.alter.instructions import (
        TopicAlteration,
    )
    from kafka_admin_proto.admin.alter.plans import (
        AddPartitionsStep,
        AlterPlan,
        DeleteConfigStep,
        ReassignStep,
        SetConfigStep,
        TopicPlan,
        render_plan,
    )
    from kafka_admin_proto.admin.caller import Broker, Reply, Target
    from kafka_admin_proto.admin.client import AdminClient
    from kafka_admin_proto.admin.config import ClientConfig, client_config
    from kafka_admin_proto.admin.errors import (
        AdminError,
        AuthenticationError,
        BrokerError,
        ConfigurationError,
        ConnectionFailedError,
        ConnectionLostError,
        InstructionError,
        NoSuchBrokerError,
        RequestTimedOutError,
        TlsError,
        UnresolvedError,
    )
    from kafka_admin_proto.admin.network.tracing import TraceEvent
    from kafka_admin_proto.admin.operations.acls import (
        AclBinding,
        AclFilter,
        AclOperation,
        AclPermission,
        CreatedAcl,
        DeletedAcl,
        DeletedAcls,
        PatternType,
        ResourceType,
    )
    from kafka_admin_proto.admin.operations.alter import (
        AlteredTopic,
    )
    from kafka_admin_proto.admin.operations.cluster import (
        BrokerVersions,
        ClusterDescription,
        ClusterNode,
        Features,
        FeatureUpdate,
        UpdatedFeature,
    )
    from kafka_admin_proto.admin.operations.configs.altering import (
        AlteredConfigs,
        ConfigChange,
    )
    from kafka_admin_proto.admin.operations.configs.describing import (
        ResourceConfigs,
    )
    from kafka_admin_proto.admin.operations.configs.entries import (
        ConfigEntry,
        ConfigSynonym,
    )
    from kafka_admin_proto.admin.operations.configs.resources import (
        ConfigResource,
    )
    from kafka_admin_proto.admin.operations.groups.model import (
        AlteredOffset,
        GroupDescription,
        GroupListing,
        GroupMember,
        GroupOffset,
        GroupOffsets,
        GroupResult,
        ListedGroup,
        MemberToRemove,
        NewOffset,
        RemovedMember,
        StreamsMember,
        StreamsTasks,
        StreamsTopology,
    )
    from kafka_admin_proto.admin.operations.log_dirs import (
        BrokerLogDirs,
        LogDir,
        LogDirReplica,
        MovedReplica,
        ReplicaMove,
    )
    from kafka_admin_proto.admin.operations.partitions.creation import (
        CreatedPartitions,
        NewPartitions,
    )
    from kafka_admin_proto.admin.operations.partitions.elections import (
        ElectedLeader,
    )
    from kafka_admin_proto.admin.operations.partitions.json_files import (
        PartitionReplicas,
        read_election,
        read_reassignment,
        read_topics_to_move,
        write_reassignment,
        write_topics_to_move,
    )
    from kafka_admin_proto.admin.operations.partitions.moves import (
        OngoingReassignment,
        PartitionResult,
    )
    from kafka_admin_proto.admin.operations.partitions.progress import (
        LogDirState,
        PartitionState,
    )
    from kafka_admin_proto.admin.operations.partitions.reassignment import (
        CancelledReassignment,
        ExecutedReassignment,
        GeneratedReassignment,
        VerifiedReassignment,
    )
    from kafka_admin_proto.admin.operations.quorum import (
        Quorum,
        QuorumListener,
        QuorumNode,
        QuorumReplica,
    )
    from kafka_admin_proto.admin.operations.quotas import (
        AlteredQuota,
        ClientQuota,
        QuotaAlteration,
        QuotaComponent,
        QuotaMatch,
    )
    from kafka_admin_proto.admin.operations.records import (
        ALL_RECORDS,
        DeletedRecords,
        ListedOffset,
    )
    from kafka_admin_proto.admin.operations.routing import (
        BrokerFailure,
    )
    from kafka_admin_proto.admin.operations.tokens import (
        DelegationToken,
    )
    from kafka_admin_proto.admin.operations.topic_partitions import (
        TopicPartitions,
    )
    from kafka_admin_proto.admin.operations.topics.creation import (
        CreatedTopic,
        NewTopic,
    )
    from kafka_admin_proto.admin.operations.topics.deletion import (
        DeletedTopic,
    )
    from kafka_admin_proto.admin.operations.topics.descriptions import (
        ListedTopic,
        PartitionDescription,
        TopicDescription,
    )
    from kafka_admin_proto.admin.operations.topics.replica_lag import (
        ReplicaLag,
    )
    from kafka_admin_proto.admin.operations.transactions import (
        AbortedTransaction,
        ActiveProducer,
        FencedProducer,
        ListedTransaction,
        PartitionProducers,
        TransactionDescription,
        TransactionListing,
    )
    from kafka_admin_proto.admin.operations.users import (
        AlteredUser,
        ScramCredential,
        ScramDeletion,
        ScramMechanism,
        ScramUpsertion,
        UserDescription,
    )
    from kafka_admin_proto.admin.sync import SyncAdminClient
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "alter.instructions": ["TopicAlteration"],
            "alter.plans": [
                "AddPartitionsStep",
                "AlterPlan",
                "DeleteConfigStep",
                "ReassignStep",
                "SetConfigStep",
                "TopicPlan",
                "render_plan",
            ],
            "operations.alter": ["AlteredTopic"],
            "operations.partitions.creation": ["CreatedPartitions", "NewPartitions"],
            "operations.partitions.elections": ["ElectedLeader"],
            "operations.partitions.json_files": [
                "PartitionReplicas",
                "read_election",
                "read_reassignment",
                "read_topics_to_move",
                "write_reassignment",
                "write_topics_to_move",
            ],
            "operations.partitions.moves": ["OngoingReassignment", "PartitionResult"],
            "operations.partitions.progress": ["LogDirState", "PartitionState"],
            "operations.partitions.reassignment": [
                "CancelledReassignment",
                "ExecutedReassignment",
                "GeneratedReassignment",
                "VerifiedReassignment",
            ],
            "caller": ["Broker", "Reply", "Target"],
            "client": ["AdminClient"],
            "config": ["ClientConfig", "client_config"],
            "errors": [name for name in __all__ if name.endswith("Error")],
            "network.tracing": ["TraceEvent"],
            "operations.cluster": [
                "BrokerVersions",
                "ClusterDescription",
                "ClusterNode",
                "FeatureUpdate",
                "Features",
                "UpdatedFeature",
            ],
            "operations.configs.altering": ["AlteredConfigs", "ConfigChange"],
            "operations.configs.describing": ["ResourceConfigs"],
            "operations.configs.entries": ["ConfigEntry", "ConfigSynonym"],
            "operations.configs.resources": ["ConfigResource"],
            "operations.log_dirs": [
                "BrokerLogDirs",
                "LogDir",
                "LogDirReplica",
                "MovedReplica",
                "ReplicaMove",
            ],
            "operations.quorum": ["Quorum", "QuorumListener", "QuorumNode", "QuorumReplica"],
            "operations.records": ["ALL_RECORDS", "DeletedRecords", "ListedOffset"],
            "operations.topics.creation": ["CreatedTopic", "NewTopic"],
            "operations.topics.deletion": ["DeletedTopic"],
            "operations.topics.descriptions": [
                "ListedTopic",
                "PartitionDescription",
                "TopicDescription",
            ],
            "operations.topics.replica_lag": ["ReplicaLag"],
            "operations.acls": [
                "AclBinding",
                "AclFilter",
                "AclOperation",
                "AclPermission",
                "CreatedAcl",
                "DeletedAcl",
                "DeletedAcls",
                "PatternType",
                "ResourceType",
            ],
            "operations.groups.model": [
                "AlteredOffset",
                "GroupDescription",
                "GroupListing",
                "GroupMember",
                "GroupOffset",
                "GroupOffsets",
                "GroupResult",
                "ListedGroup",
                "MemberToRemove",
                "NewOffset",
                "RemovedMember",
                "StreamsMember",
                "StreamsTasks",
                "StreamsTopology",
            ],
            "operations.quotas": [
                "AlteredQuota",
                "ClientQuota",
                "QuotaAlteration",
                "QuotaComponent",
                "QuotaMatch",
            ],
            "operations.routing": [
                "BrokerFailure",
            ],
            "operations.tokens": [
                "DelegationToken",
            ],
            "operations.topic_partitions": [
                "TopicPartitions",
            ],
            "operations.transactions": [
                "AbortedTransaction",
                "ActiveProducer",
                "FencedProducer",
                "ListedTransaction",
                "PartitionProducers",
                "TransactionDescription",
                "TransactionListing",
            ],
            "operations.users": [
                "AlteredUser",
                "ScramCredential",
                "ScramDeletion",
                "ScramMechanism",
                "ScramUpsertion",
                "UserDescription",
            ],
            "sync": ["SyncAdminClient"],
        },
    )
