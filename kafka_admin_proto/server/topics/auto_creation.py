"""Topics that a broker creates because a client asked for their metadata.

As Kafka's ``AutoTopicCreationManager``: the partitions and the factor are in the configs of the
broker that got the request, and the topics of its coordinators have configs of their own.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_admin_proto.messages.create_topics_request import CreatableTopic, CreatableTopicConfig
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.topics.names import (
    CONSUMER_OFFSETS,
    SHARE_GROUP_STATE,
    TRANSACTION_STATE,
)

_SHARE = "share.coordinator.state.topic"
#: Topic → (how the names of its broker configs begin, config of the topic → text, or the end of the
#: name of the broker's config that has the text).
_COORDINATORS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    CONSUMER_OFFSETS: (
        "offsets.topic",
        {
            "cleanup.policy": "compact",
            "compression.type": "producer",
            "segment.bytes": ".segment.bytes",
        },
    ),
    TRANSACTION_STATE: (
        "transaction.state.log",
        {
            "cleanup.policy": "compact",
            "compression.type": "uncompressed",
            "min.insync.replicas": ".min.isr",
            "segment.bytes": ".segment.bytes",
            "unclean.leader.election.enable": "false",
        },
    ),
    SHARE_GROUP_STATE: (
        _SHARE,
        {
            "cleanup.policy": "delete",
            "compression.type": "producer",
            "min.insync.replicas": ".min.isr",
            "retention.ms": "-1",
            "segment.bytes": ".segment.bytes",
        },
    ),
}


def creatable_topic(view: View, name: str, node_id: int) -> CreatableTopic:
    """The topic that the broker asks the controller to create."""

    def count(config: str) -> int:
        return int(view.broker_value(config, node_id) or 0)

    prefix, configs = _COORDINATORS.get(name, ("", {}))
    if not prefix or (prefix == _SHARE and view.release < "4"):
        return CreatableTopic(name, count("num.partitions"), count("default.replication.factor"))
    rows = []
    for config, text in configs.items():
        value = view.broker_value(prefix + text, node_id) if text.startswith(".") else text
        rows.append(CreatableTopicConfig(config, value))
    partitions, factor = count(f"{prefix}.num.partitions"), count(f"{prefix}.replication.factor")
    return CreatableTopic(name, partitions, factor, configs=rows)
