"""The configuration that all processes of a cluster share, and the store's paths."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_admin_proto.simulation.rules import TEXT, Rules

CONTROLLER_PATH = "/controller"
CONTROLLER_EPOCH_PATH = "/controller_epoch"
BROKERS_PATH = "/brokers/ids"
TOPICS_PATH = "/brokers/topics"
DELETIONS_PATH = "/admin/delete_topics"


@dataclass(slots=True)
class ClusterConfig:
    """One for all processes of a cluster; only ``topic_ids`` changes while they run."""

    rules: Rules = TEXT
    #: Whether inter.broker.protocol.version is MIN_TOPIC_ID_VERSION or later: the bump sets it.
    topic_ids: bool = True
    #: The text's retryMs: when StopReplica requests that failed are sent again.
    retry_ms: int = 500
    #: In-memory deletions are given up after as many tries, and only when as much time has passed.
    deletion_tries: int = 8
    deletion_give_up_ms: int = 10_000
    #: When a controller's request to a broker is sent again after its connection broke.
    resend_ms: int = 200
