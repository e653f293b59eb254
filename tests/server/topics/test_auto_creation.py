"""Topics created by a question for their metadata, as brokers of 4.3.1 and 3.9.2 create them."""

from __future__ import annotations

import pytest

from kafka_admin_proto.messages import MetadataRequest
from kafka_admin_proto.messages.metadata_request import MetadataRequestTopic
from kafka_admin_proto.server.brokers.view import TOPIC_RESOURCE
from tests.server.served import Served

_SEGMENT = {"segment.bytes": "104857600"}
_OFFSETS = {"cleanup.policy": "compact", "compression.type": "producer", **_SEGMENT}
_TRANSACTIONS = {
    "cleanup.policy": "compact",
    "compression.type": "uncompressed",
    "min.insync.replicas": "2",
    "unclean.leader.election.enable": "false",
    **_SEGMENT,
}
_SHARES = {
    "cleanup.policy": "delete",
    "compression.type": "producer",
    "min.insync.replicas": "2",
    "retention.ms": "-1",
    **_SEGMENT,
}


@pytest.mark.parametrize(
    ("release", "name", "partitions", "factor", "configs"),
    [
        ("4.3", "mine", 1, 1, {}),
        ("4.3", "__consumer_offsets", 50, 3, _OFFSETS),
        ("3.9", "__consumer_offsets", 50, 3, _OFFSETS),
        ("4.3", "__transaction_state", 50, 3, _TRANSACTIONS),
        ("4.3", "__share_group_state", 50, 3, _SHARES),
        ("3.9", "__share_group_state", 1, 1, {}),
    ],
)
def test_counts_and_configs(
    release: str, name: str, partitions: int, factor: int, configs: dict[str, str]
) -> None:
    served = Served(release)
    served.ask(MetadataRequest([MetadataRequestTopic(name=name)]))
    (topic,) = served.ask(MetadataRequest(topics=None)).topics
    replicas = {len(each.replica_nodes) for each in topic.partitions}
    assert (len(topic.partitions), replicas) == (partitions, {factor})
    assert served.state.configs(TOPIC_RESOURCE, name) == configs
