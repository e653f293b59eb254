"""The authorizer's resource for a resource that has configs."""

from __future__ import annotations

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.brokers.view import GROUP_RESOURCE, TOPIC_RESOURCE
from kafka_admin_proto.server.security.authorizer.rules import CLUSTER, CLUSTER_NAME, GROUP, TOPIC


def resource_of(kind: int, name: str) -> tuple[int, str, int]:
    """(type, name, error of an unauthorized caller) for a resource with configs.

    Brokers, their loggers and subscriptions to metrics belong to the cluster.
    """
    if kind == TOPIC_RESOURCE:
        return TOPIC, name, codes.TOPIC_AUTHORIZATION_FAILED
    if kind == GROUP_RESOURCE:
        return GROUP, name, codes.GROUP_AUTHORIZATION_FAILED
    return CLUSTER, CLUSTER_NAME, codes.CLUSTER_AUTHORIZATION_FAILED
