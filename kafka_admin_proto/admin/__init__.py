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

from kafka_admin_proto.admin.public_names import PUBLIC_NAMES
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
    from kafka_admin_proto.admin.alter.instructions import TopicAlteration
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
    from kafka_admin_proto.admin.operations.cluster.description import (
        BrokerVersions,
        ClusterDescription,
        ClusterNode,
    )
    from kafka_admin_proto.admin.operations.cluster.features import (
        Features,
        FeatureUpdate,
        UpdatedFeature,
    )
    from kafka_admin_proto.admin.operations.cluster.log_dirs import (
        BrokerLogDirs,
        LogDir,
        LogDirReplica,
        MovedReplica,
        ReplicaMove,
    )
    from kafka_admin_proto.admin.operations.common.routing import BrokerFailure
    from kafka_admin_proto.admin.operations.common.topic_partitions import TopicPartitions
    from kafka_admin_proto.admin.operations.configs.altering import AlteredConfigs, ConfigChange
    from kafka_admin_proto.admin.operations.configs.describing import ResourceConfigs
    from kafka_admin_proto.admin.operations.configs.entries import ConfigEntry, ConfigSynonym
    from kafka_admin_proto.admin.operations.configs.resources import ConfigResource
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
    from kafka_admin_proto.admin.operations.partitions.creation import (
        CreatedPartitions,
        NewPartitions,
    )
    from kafka_admin_proto.admin.operations.partitions.elections import ElectedLeader
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
    from kafka_admin_proto.admin.operations.partitions.progress import LogDirState, PartitionState
    from kafka_admin_proto.admin.operations.partitions.reassignment import (
        CancelledReassignment,
        ExecutedReassignment,
        GeneratedReassignment,
        VerifiedReassignment,
    )
    from kafka_admin_proto.admin.operations.partitions.records import (
        ALL_RECORDS,
        DeletedRecords,
        ListedOffset,
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
    from kafka_admin_proto.admin.operations.topics.alteration import AlteredTopic
    from kafka_admin_proto.admin.operations.topics.creation import CreatedTopic, NewTopic
    from kafka_admin_proto.admin.operations.topics.deletion import DeletedTopic
    from kafka_admin_proto.admin.operations.topics.descriptions import (
        ListedTopic,
        PartitionDescription,
        TopicDescription,
    )
    from kafka_admin_proto.admin.operations.topics.replica_lag import ReplicaLag
    from kafka_admin_proto.admin.operations.transactions import (
        AbortedTransaction,
        ActiveProducer,
        FencedProducer,
        ListedTransaction,
        PartitionProducers,
        TransactionDescription,
        TransactionListing,
    )
    from kafka_admin_proto.admin.operations.users.delegation_tokens import DelegationToken
    from kafka_admin_proto.admin.operations.users.scram_credentials import (
        AlteredUser,
        ScramCredential,
        ScramDeletion,
        ScramMechanism,
        ScramUpsertion,
        UserDescription,
    )
    from kafka_admin_proto.admin.settings.config import ClientConfig, client_config
    from kafka_admin_proto.admin.sync import SyncAdminClient
else:
    __getattr__, __dir__ = lazy_names(__name__, PUBLIC_NAMES)
