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

if TYPE_CHECKING:
    from kafka_admin_proto.admin.alter.instructions import TopicAlteration as TopicAlteration
    from kafka_admin_proto.admin.alter.plans import AddPartitionsStep as AddPartitionsStep
    from kafka_admin_proto.admin.alter.plans import AlterPlan as AlterPlan
    from kafka_admin_proto.admin.alter.plans import DeleteConfigStep as DeleteConfigStep
    from kafka_admin_proto.admin.alter.plans import ReassignStep as ReassignStep
    from kafka_admin_proto.admin.alter.plans import SetConfigStep as SetConfigStep
    from kafka_admin_proto.admin.alter.plans import TopicPlan as TopicPlan
    from kafka_admin_proto.admin.alter.plans import render_plan as render_plan
    from kafka_admin_proto.admin.caller import Broker as Broker
    from kafka_admin_proto.admin.caller import Reply as Reply
    from kafka_admin_proto.admin.caller import Target as Target
    from kafka_admin_proto.admin.client import AdminClient as AdminClient
    from kafka_admin_proto.admin.errors import AdminError as AdminError
    from kafka_admin_proto.admin.errors import AuthenticationError as AuthenticationError
    from kafka_admin_proto.admin.errors import BrokerError as BrokerError
    from kafka_admin_proto.admin.errors import ConfigurationError as ConfigurationError
    from kafka_admin_proto.admin.errors import ConnectionFailedError as ConnectionFailedError
    from kafka_admin_proto.admin.errors import ConnectionLostError as ConnectionLostError
    from kafka_admin_proto.admin.errors import InstructionError as InstructionError
    from kafka_admin_proto.admin.errors import ItemsFailedError as ItemsFailedError
    from kafka_admin_proto.admin.errors import NoSuchBrokerError as NoSuchBrokerError
    from kafka_admin_proto.admin.errors import RequestTimedOutError as RequestTimedOutError
    from kafka_admin_proto.admin.errors import TlsError as TlsError
    from kafka_admin_proto.admin.errors import UnresolvedError as UnresolvedError
    from kafka_admin_proto.admin.network.tracing import TraceEvent as TraceEvent
    from kafka_admin_proto.admin.operations.acls import AclBinding as AclBinding
    from kafka_admin_proto.admin.operations.acls import AclFilter as AclFilter
    from kafka_admin_proto.admin.operations.acls import AclOperation as AclOperation
    from kafka_admin_proto.admin.operations.acls import AclPermission as AclPermission
    from kafka_admin_proto.admin.operations.acls import CreatedAcl as CreatedAcl
    from kafka_admin_proto.admin.operations.acls import DeletedAcl as DeletedAcl
    from kafka_admin_proto.admin.operations.acls import DeletedAcls as DeletedAcls
    from kafka_admin_proto.admin.operations.acls import PatternType as PatternType
    from kafka_admin_proto.admin.operations.acls import ResourceType as ResourceType
    from kafka_admin_proto.admin.operations.cluster.description import (
        BrokerVersions as BrokerVersions,
    )
    from kafka_admin_proto.admin.operations.cluster.description import (
        ClusterDescription as ClusterDescription,
    )
    from kafka_admin_proto.admin.operations.cluster.description import ClusterNode as ClusterNode
    from kafka_admin_proto.admin.operations.cluster.features import Features as Features
    from kafka_admin_proto.admin.operations.cluster.features import FeatureUpdate as FeatureUpdate
    from kafka_admin_proto.admin.operations.cluster.features import UpdatedFeature as UpdatedFeature
    from kafka_admin_proto.admin.operations.cluster.log_dirs import BrokerLogDirs as BrokerLogDirs
    from kafka_admin_proto.admin.operations.cluster.log_dirs import LogDir as LogDir
    from kafka_admin_proto.admin.operations.cluster.log_dirs import LogDirReplica as LogDirReplica
    from kafka_admin_proto.admin.operations.cluster.log_dirs import MovedReplica as MovedReplica
    from kafka_admin_proto.admin.operations.cluster.log_dirs import ReplicaMove as ReplicaMove
    from kafka_admin_proto.admin.operations.common.routing import BrokerFailure as BrokerFailure
    from kafka_admin_proto.admin.operations.common.topic_partitions import (
        TopicPartitions as TopicPartitions,
    )
    from kafka_admin_proto.admin.operations.common.waiting import Missing as Missing
    from kafka_admin_proto.admin.operations.configs.altering import AlteredConfigs as AlteredConfigs
    from kafka_admin_proto.admin.operations.configs.altering import ConfigChange as ConfigChange
    from kafka_admin_proto.admin.operations.configs.changing import ChangedConfigs as ChangedConfigs
    from kafka_admin_proto.admin.operations.configs.describing import (
        ResourceConfigs as ResourceConfigs,
    )
    from kafka_admin_proto.admin.operations.configs.entries import ConfigEntry as ConfigEntry
    from kafka_admin_proto.admin.operations.configs.entries import ConfigSynonym as ConfigSynonym
    from kafka_admin_proto.admin.operations.configs.resources import (
        ConfigResource as ConfigResource,
    )
    from kafka_admin_proto.admin.operations.groups.lag import GroupLag as GroupLag
    from kafka_admin_proto.admin.operations.groups.lag import PartitionLag as PartitionLag
    from kafka_admin_proto.admin.operations.groups.model import AlteredOffset as AlteredOffset
    from kafka_admin_proto.admin.operations.groups.model import (
        DeletedShareOffsets as DeletedShareOffsets,
    )
    from kafka_admin_proto.admin.operations.groups.model import GroupDescription as GroupDescription
    from kafka_admin_proto.admin.operations.groups.model import GroupListing as GroupListing
    from kafka_admin_proto.admin.operations.groups.model import GroupMember as GroupMember
    from kafka_admin_proto.admin.operations.groups.model import GroupOffset as GroupOffset
    from kafka_admin_proto.admin.operations.groups.model import GroupOffsets as GroupOffsets
    from kafka_admin_proto.admin.operations.groups.model import GroupResult as GroupResult
    from kafka_admin_proto.admin.operations.groups.model import ListedGroup as ListedGroup
    from kafka_admin_proto.admin.operations.groups.model import MemberToRemove as MemberToRemove
    from kafka_admin_proto.admin.operations.groups.model import NewOffset as NewOffset
    from kafka_admin_proto.admin.operations.groups.model import RemovedMember as RemovedMember
    from kafka_admin_proto.admin.operations.groups.model import ShareOffset as ShareOffset
    from kafka_admin_proto.admin.operations.groups.model import ShareOffsets as ShareOffsets
    from kafka_admin_proto.admin.operations.groups.model import StreamsMember as StreamsMember
    from kafka_admin_proto.admin.operations.groups.model import StreamsTasks as StreamsTasks
    from kafka_admin_proto.admin.operations.groups.model import StreamsTopology as StreamsTopology
    from kafka_admin_proto.admin.operations.groups.resets import OffsetReset as OffsetReset
    from kafka_admin_proto.admin.operations.groups.resets import OffsetResets as OffsetResets
    from kafka_admin_proto.admin.operations.metadata_log import MetadataEvent as MetadataEvent
    from kafka_admin_proto.admin.operations.metadata_log import MetadataRecords as MetadataRecords
    from kafka_admin_proto.admin.operations.metadata_log import MetadataSnapshot as MetadataSnapshot
    from kafka_admin_proto.admin.operations.metadata_log import QuorumLeader as QuorumLeader
    from kafka_admin_proto.admin.operations.partitions.creation import (
        CreatedPartitions as CreatedPartitions,
    )
    from kafka_admin_proto.admin.operations.partitions.creation import (
        NewPartitions as NewPartitions,
    )
    from kafka_admin_proto.admin.operations.partitions.elections import (
        ElectedLeader as ElectedLeader,
    )
    from kafka_admin_proto.admin.operations.partitions.json_files import (
        PartitionReplicas as PartitionReplicas,
    )
    from kafka_admin_proto.admin.operations.partitions.json_files import (
        read_election as read_election,
    )
    from kafka_admin_proto.admin.operations.partitions.json_files import (
        read_reassignment as read_reassignment,
    )
    from kafka_admin_proto.admin.operations.partitions.json_files import (
        read_topics_to_move as read_topics_to_move,
    )
    from kafka_admin_proto.admin.operations.partitions.json_files import (
        write_reassignment as write_reassignment,
    )
    from kafka_admin_proto.admin.operations.partitions.json_files import (
        write_topics_to_move as write_topics_to_move,
    )
    from kafka_admin_proto.admin.operations.partitions.moves import (
        OngoingReassignment as OngoingReassignment,
    )
    from kafka_admin_proto.admin.operations.partitions.moves import (
        PartitionResult as PartitionResult,
    )
    from kafka_admin_proto.admin.operations.partitions.progress import LogDirState as LogDirState
    from kafka_admin_proto.admin.operations.partitions.progress import (
        PartitionState as PartitionState,
    )
    from kafka_admin_proto.admin.operations.partitions.reassignment import (
        CancelledReassignment as CancelledReassignment,
    )
    from kafka_admin_proto.admin.operations.partitions.reassignment import (
        ExecutedReassignment as ExecutedReassignment,
    )
    from kafka_admin_proto.admin.operations.partitions.reassignment import (
        GeneratedReassignment as GeneratedReassignment,
    )
    from kafka_admin_proto.admin.operations.partitions.reassignment import (
        VerifiedReassignment as VerifiedReassignment,
    )
    from kafka_admin_proto.admin.operations.partitions.records import ALL_RECORDS as ALL_RECORDS
    from kafka_admin_proto.admin.operations.partitions.records import (
        DeletedRecords as DeletedRecords,
    )
    from kafka_admin_proto.admin.operations.partitions.records import ListedOffset as ListedOffset
    from kafka_admin_proto.admin.operations.producers import ActiveProducer as ActiveProducer
    from kafka_admin_proto.admin.operations.producers import FencedProducer as FencedProducer
    from kafka_admin_proto.admin.operations.producers import (
        PartitionProducers as PartitionProducers,
    )
    from kafka_admin_proto.admin.operations.quorum import Quorum as Quorum
    from kafka_admin_proto.admin.operations.quorum import QuorumListener as QuorumListener
    from kafka_admin_proto.admin.operations.quorum import QuorumNode as QuorumNode
    from kafka_admin_proto.admin.operations.quorum import QuorumReplica as QuorumReplica
    from kafka_admin_proto.admin.operations.quotas import AlteredQuota as AlteredQuota
    from kafka_admin_proto.admin.operations.quotas import ClientQuota as ClientQuota
    from kafka_admin_proto.admin.operations.quotas import QuotaAlteration as QuotaAlteration
    from kafka_admin_proto.admin.operations.quotas import QuotaComponent as QuotaComponent
    from kafka_admin_proto.admin.operations.quotas import QuotaMatch as QuotaMatch
    from kafka_admin_proto.admin.operations.records.fetching import FetchedRecords as FetchedRecords
    from kafka_admin_proto.admin.operations.records.fetching import ReadingPlan as ReadingPlan
    from kafka_admin_proto.admin.operations.records.fetching import (
        UnreadPartition as UnreadPartition,
    )
    from kafka_admin_proto.admin.operations.records.producing import NewRecord as NewRecord
    from kafka_admin_proto.admin.operations.records.producing import (
        ProducedRecords as ProducedRecords,
    )
    from kafka_admin_proto.admin.operations.topics.alteration import AlteredTopic as AlteredTopic
    from kafka_admin_proto.admin.operations.topics.applying import AppliedTopic as AppliedTopic
    from kafka_admin_proto.admin.operations.topics.applying import ApplyPlan as ApplyPlan
    from kafka_admin_proto.admin.operations.topics.creation import CreatedTopic as CreatedTopic
    from kafka_admin_proto.admin.operations.topics.creation import NewTopic as NewTopic
    from kafka_admin_proto.admin.operations.topics.deletion import DeletedTopic as DeletedTopic
    from kafka_admin_proto.admin.operations.topics.descriptions import ListedTopic as ListedTopic
    from kafka_admin_proto.admin.operations.topics.descriptions import (
        PartitionDescription as PartitionDescription,
    )
    from kafka_admin_proto.admin.operations.topics.descriptions import (
        TopicDescription as TopicDescription,
    )
    from kafka_admin_proto.admin.operations.topics.partition_search import (
        FoundPartitions as FoundPartitions,
    )
    from kafka_admin_proto.admin.operations.topics.reassignment_plans import (
        PlannedMove as PlannedMove,
    )
    from kafka_admin_proto.admin.operations.topics.replica_lag import ReplicaLag as ReplicaLag
    from kafka_admin_proto.admin.operations.transactions import (
        AbortedTransaction as AbortedTransaction,
    )
    from kafka_admin_proto.admin.operations.transactions import (
        ListedTransaction as ListedTransaction,
    )
    from kafka_admin_proto.admin.operations.transactions import OpenTransaction as OpenTransaction
    from kafka_admin_proto.admin.operations.transactions import (
        TransactionDescription as TransactionDescription,
    )
    from kafka_admin_proto.admin.operations.transactions import (
        TransactionListing as TransactionListing,
    )
    from kafka_admin_proto.admin.operations.users.delegation_tokens import (
        ChangedToken as ChangedToken,
    )
    from kafka_admin_proto.admin.operations.users.delegation_tokens import (
        DelegationToken as DelegationToken,
    )
    from kafka_admin_proto.admin.operations.users.scram_credentials import (
        AlteredUser as AlteredUser,
    )
    from kafka_admin_proto.admin.operations.users.scram_credentials import (
        ScramCredential as ScramCredential,
    )
    from kafka_admin_proto.admin.operations.users.scram_credentials import (
        ScramDeletion as ScramDeletion,
    )
    from kafka_admin_proto.admin.operations.users.scram_credentials import (
        ScramMechanism as ScramMechanism,
    )
    from kafka_admin_proto.admin.operations.users.scram_credentials import (
        ScramUpsertion as ScramUpsertion,
    )
    from kafka_admin_proto.admin.operations.users.scram_credentials import (
        UserDescription as UserDescription,
    )
    from kafka_admin_proto.admin.results import raise_for_errors as raise_for_errors
    from kafka_admin_proto.admin.settings.config import ClientConfig as ClientConfig
    from kafka_admin_proto.admin.settings.config import client_config as client_config
    from kafka_admin_proto.admin.sync import SyncAdminClient as SyncAdminClient
else:
    __getattr__, __dir__ = lazy_names(__name__)
