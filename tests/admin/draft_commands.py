"""The table of commands and messages in KIP-4's drafts, and the client's methods for them."""

from __future__ import annotations

from collections.abc import Mapping

#: Dialect → command → the message that it is sent as. The topic commands' text has no such table:
#: its rows are those of the admin schema's that it has a message for.
COMMANDS: Mapping[str, Mapping[str, str]] = {
    "kip-4a": {
        "alter-topic": "AlterTopicRequest",
        "delete-topic": "DeleteTopicRequest",
        "describe-topic": "TopicMetadataRequest_V1",
        "list-topics": "TopicMetadataRequest_V1",
        "reassign-partitions": "AlterTopicRequest",
    },
    "kip-4b": {
        "create-topic": "CreateTopicRequest",
        "alter-topic": "AlterTopicRequest",
        "delete-topic": "DeleteTopicRequest",
        "describe-topic": "TopicMetadataRequest_V1",
        "list-topics": "TopicMetadataRequest",
        "reassign-partitions": "AlterTopicRequest",
        "preferred-replica-leader-election": "PreferredReplicaLeaderElectionRequest",
    },
}

#: Command → the client's method.
METHODS = {
    "create-topic": "create_topics",
    "alter-topic": "run_alter_plan",
    "delete-topic": "delete_topics",
    "describe-topic": "describe_topics",
    "list-topics": "list_topics",
    "reassign-partitions": "alter_partition_reassignments",
    "preferred-replica-leader-election": "elect_leaders",
}
