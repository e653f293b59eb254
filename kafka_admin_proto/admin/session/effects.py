"""What each request does to a cluster: what a call that timed out may do yet, and what is asked
before ``kap request`` sends one.
"""

from __future__ import annotations

from enum import Enum


class Effect(Enum):
    """The worst that a request may do, whatever its fields are."""

    READS = "reads"
    #: It adds, or sets what can be set back.
    CHANGES = "changes"
    #: It removes or overwrites data that cannot be restored, or speaks for a broker.
    DESTROYS = "destroys"


#: By api. Some are listed by what seldom happens: a Metadata request may create a topic, an
#: ElectLeaders one may be for an unclean election, an Envelope holds any request.
EFFECTS = {
    Effect.READS: (
        "Fetch", "ListOffsets", "Metadata", "OffsetFetch", "FindCoordinator", "DescribeGroups",
        "ListGroups", "SaslHandshake", "ApiVersions", "OffsetForLeaderEpoch", "DescribeAcls",
        "DescribeConfigs", "DescribeLogDirs", "SaslAuthenticate", "DescribeDelegationToken",
        "ListPartitionReassignments", "DescribeClientQuotas", "DescribeUserScramCredentials",
        "DescribeQuorum", "FetchSnapshot", "DescribeCluster", "DescribeProducers",
        "DescribeTransactions", "ListTransactions", "ConsumerGroupDescribe",
        "GetTelemetrySubscriptions", "ListConfigResources", "DescribeTopicPartitions",
        "ShareGroupDescribe", "ReadShareGroupState", "ReadShareGroupStateSummary",
        "StreamsGroupDescribe", "DescribeShareGroupOffsets", "TopicMetadata",
    ),
    Effect.CHANGES: (
        "Produce", "JoinGroup", "Heartbeat", "SyncGroup", "CreateTopics", "AddPartitionsToTxn",
        "AddOffsetsToTxn", "CreateAcls", "CreatePartitions", "CreateDelegationToken",
        "RenewDelegationToken", "IncrementalAlterConfigs", "AlterReplicaLogDirs",
        "AlterClientQuotas", "AllocateProducerIds", "ConsumerGroupHeartbeat", "PushTelemetry",
        "ShareGroupHeartbeat", "ShareFetch", "StreamsGroupHeartbeat",
        "StreamsGroupTopologyDescriptionUpdate", "AddRaftVoter", "CreateTopic",
    ),
    Effect.DESTROYS: (
        "LeaderAndIsr", "StopReplica", "UpdateMetadata", "ControlledShutdown", "OffsetCommit",
        "LeaveGroup", "DeleteTopics", "DeleteRecords", "InitProducerId", "EndTxn",
        "WriteTxnMarkers", "TxnOffsetCommit", "DeleteAcls", "AlterConfigs",
        "ExpireDelegationToken", "DeleteGroups", "ElectLeaders", "AlterPartitionReassignments",
        "OffsetDelete", "AlterUserScramCredentials", "Vote", "BeginQuorumEpoch", "EndQuorumEpoch",
        "AlterPartition", "UpdateFeatures", "Envelope", "BrokerRegistration", "BrokerHeartbeat",
        "UnregisterBroker", "ControllerRegistration", "AssignReplicasToDirs", "ShareAcknowledge",
        "RemoveRaftVoter", "UpdateRaftVoter", "InitializeShareGroupState",
        "WriteShareGroupState", "DeleteShareGroupState", "AlterShareGroupOffsets",
        "DeleteShareGroupOffsets", "UnregisterController", "AlterTopic", "DeleteTopic",
        "PreferredReplicaLeaderElection",
    ),
}  # fmt: skip

_BY_API = {api: effect for effect, apis in EFFECTS.items() for api in apis}


def effect_of(request: str) -> Effect:
    """The effect of a request by its name. An api that is not listed may do anything."""
    return _BY_API.get(request.removesuffix("Request"), Effect.DESTROYS)
