"""The client of a cluster: all operations, over one session."""

from __future__ import annotations

from kafka_admin_proto.admin.operations.acls import AclOperations
from kafka_admin_proto.admin.operations.cluster.description import DescribeCluster
from kafka_admin_proto.admin.operations.cluster.features import FeatureOperations
from kafka_admin_proto.admin.operations.cluster.log_dirs import LogDirOperations
from kafka_admin_proto.admin.operations.configs.changing import ChangeConfigs
from kafka_admin_proto.admin.operations.groups.resets import ResetOperations
from kafka_admin_proto.admin.operations.metadata_log import MetadataLogOperations
from kafka_admin_proto.admin.operations.partitions.elections import ElectLeaders
from kafka_admin_proto.admin.operations.partitions.reassignment import ReassignmentOperations
from kafka_admin_proto.admin.operations.quorum import QuorumOperations
from kafka_admin_proto.admin.operations.quotas import QuotaOperations
from kafka_admin_proto.admin.operations.records.fetching import FetchOperations
from kafka_admin_proto.admin.operations.records.producing import ProduceOperations
from kafka_admin_proto.admin.operations.topics.applying import ApplyTopics
from kafka_admin_proto.admin.operations.topics.deletion import DeleteTopics
from kafka_admin_proto.admin.operations.topics.reassignment_plans import PlanReassignments
from kafka_admin_proto.admin.operations.transactions import TransactionOperations
from kafka_admin_proto.admin.operations.users.delegation_tokens import TokenOperations
from kafka_admin_proto.admin.operations.users.scram_credentials import UserOperations
from kafka_admin_proto.admin.session.base_client import BaseClient


class AdminClient(
    DeleteTopics,
    FetchOperations,
    ApplyTopics,
    ElectLeaders,
    PlanReassignments,
    ReassignmentOperations,
    ChangeConfigs,
    DescribeCluster,
    FeatureOperations,
    QuorumOperations,
    MetadataLogOperations,
    LogDirOperations,
    AclOperations,
    UserOperations,
    QuotaOperations,
    ResetOperations,
    ProduceOperations,
    TransactionOperations,
    TokenOperations,
    BaseClient,
):
    """A client of one Kafka cluster, for asyncio.

        async with AdminClient("localhost:9092") as admin:
            print(await admin.describe_topics(["orders"]))

    Arguments, errors, timeouts and retries: ``docs/admin.md``.
    """
