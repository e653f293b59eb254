"""Topics that a broker creates because a client asked for their metadata or their coordinator.

As Kafka's ``AutoTopicCreationManager``: the partitions and the factor are in the configs of the
broker that got the request, and the topics of its coordinators have configs of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from kafka_admin_proto.messages.create_topics_request import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kafka_admin_proto.messages.create_topics_response import (
    CreatableTopicResult,
    CreateTopicsResponse,
)
from kafka_admin_proto.server.apis import Caller
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.configs.parsing import to_text
from kafka_admin_proto.server.topics.names import (
    CONSUMER_OFFSETS,
    SHARE_GROUP_STATE,
    TRANSACTION_STATE,
    is_valid,
)
from kafka_admin_proto.values import Message

#: The version of CreateTopics in which brokers send it to the controller.
_CREATION_VERSION = 7
_CREATION_TIMEOUT_MS = 30_000

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


def created_topics(view: View, names: Iterable[str], caller: Caller) -> list[Message]:
    """The records of topics that are created because a client requested them.

    The broker asks for them, so that KIP-4's rules for requests of clients do not apply. There are
    none of a topic that cannot be created.
    """
    topics = [
        creatable_topic(view, name, caller.node_id)
        for name in dict.fromkeys(filter(is_valid, names))
    ]
    return create_as_broker(view, topics, caller)[0]


def create_as_broker(
    view: View, topics: list[CreatableTopic], caller: Caller
) -> tuple[list[Message], list[CreatableTopicResult]]:
    """The records of topics that the broker asks for with the caller's rights, and their rows."""
    from kafka_admin_proto.server.handlers.topics import create_topics  # slow to import

    request = CreateTopicsRequest(topics=topics, timeout_ms=_CREATION_TIMEOUT_MS)
    asked = msgspec.structs.replace(caller, version=_CREATION_VERSION)
    answer = create_topics.handle(view.controller_state, request, asked)
    response = answer.response
    assert isinstance(response, CreateTopicsResponse)
    return answer.records, response.topics


def creatable_topic(view: View, name: str, node_id: int) -> CreatableTopic:
    """The topic that the broker asks the controller to create."""

    def value(config: str) -> Any:
        return view.broker_value(config, node_id)

    prefix, configs = _COORDINATORS.get(name, ("", {}))
    if not prefix or (prefix == _SHARE and view.release < (4,)):
        return CreatableTopic(name, value("num.partitions"), value("default.replication.factor"))
    rows = []
    for config, text in configs.items():
        found = to_text(value(prefix + text)) if text.startswith(".") else text
        rows.append(CreatableTopicConfig(config, found))
    partitions, factor = value(f"{prefix}.num.partitions"), value(f"{prefix}.replication.factor")
    return CreatableTopic(name, partitions, factor, configs=rows)
