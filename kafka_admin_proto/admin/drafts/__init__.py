"""KIP-4's drafts: ``AdminClient(dialect="kip-4b")`` sends the messages of a draft.

``COMMANDS`` is the text's table of commands and messages. What a draft has no message for is asked
with Kafka's own; docs/drafts.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from kafka_admin_proto.admin.errors import ConfigurationError
from kafka_admin_proto.wire.types.base import shown

Dialect = Literal["kafka", "kip-4a", "kip-4b"]

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


@cache
def client_class(kind: type[Any], dialect: str) -> type[Any]:
    """A client's class whose operations send that draft's messages where it has them.

    Raises ConfigurationError for what is no draft.
    """
    if dialect not in COMMANDS:
        raise ConfigurationError(
            f"dialect is {shown(dialect)}; it is 'kafka', {', '.join(map(repr, COMMANDS))}"
        )
    from kafka_admin_proto.admin.drafts.altering import ReassignByDraft
    from kafka_admin_proto.admin.drafts.elections import ElectByDraft
    from kafka_admin_proto.admin.drafts.topics import CreateDraftTopics, DraftTopics

    bases: list[type[Any]] = [DraftTopics, ReassignByDraft]
    if dialect == "kip-4b":
        bases += [CreateDraftTopics, ElectByDraft]
    return type(f"Draft{kind.__name__}", (*bases, kind), {"dialect": dialect})
