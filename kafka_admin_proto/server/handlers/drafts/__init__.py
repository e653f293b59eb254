"""KIP-4's drafts by their text: the messages of ``kip-4a`` and ``kip-4b``, beside Kafka's own.

A cluster with ``rules="kip-4b"`` serves them under the api keys in ``schemas/overlay.json``, which
the drafts do not define. TopicMetadata v1 replaces Metadata v1, since the texts call it the next
version of that request. The handlers change the same state as Kafka's own apis. docs/drafts.md
lists each sentence of the texts with its tests.
"""

from __future__ import annotations

import importlib
from functools import cache

from kafka_admin_proto.protocol.versions import Api
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.server.handlers import HANDLERS, Handler

#: Dialect → its requests, and the module in its folder here whose ``handle`` answers one.
DRAFTS = {
    "kip-4a": {
        "AlterTopicRequest": "alter_topic",
        "DeleteTopicRequest": "delete_topic",
        "TopicMetadataRequest": "topic_metadata",
    },
    "kip-4b": {
        "CreateTopicRequest": "create_topic",
        "AlterTopicRequest": "alter_topic",
        "DeleteTopicRequest": "delete_topic",
        "TopicMetadataRequest": "topic_metadata",
        "PreferredReplicaLeaderElectionRequest": "preferred_replica_leader_election",
    },
}


@cache
def draft_handler(dialect: str, message_name: str) -> Handler:
    """The function that answers a draft's request."""
    folder = dialect.replace("-", "_")
    module = importlib.import_module(f"{__name__}.{folder}.{DRAFTS[dialect][message_name]}")
    found: Handler = module.handle
    return found


@cache
def draft_apis(dialect: str) -> tuple[Api, ...]:
    """The apis of a draft, which a node lists after Kafka's own."""
    found = []
    for name in DRAFTS[dialect]:
        entry = catalog().entry(name, dialect)
        assert entry.api_key is not None
        if entry.api_key not in HANDLERS:
            found.append(Api(entry.api_key, name.removesuffix("Request"), entry.versions))
    return tuple(found)
