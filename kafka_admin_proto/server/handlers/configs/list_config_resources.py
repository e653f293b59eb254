"""ListConfigResources: the resources that have configs, or can have them.

Versions: 0 names subscriptions to clients' metrics alone (KIP-714), 1 every kind (KIP-1142).
"""

from __future__ import annotations

from kafka_admin_proto.messages import ListConfigResourcesRequest
from kafka_admin_proto.messages.list_config_resources_response import (
    ConfigResource,
    ListConfigResourcesResponse,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.brokers.view import (
    BROKER_LOGGER_RESOURCE,
    BROKER_RESOURCE,
    CLIENT_METRICS_RESOURCE,
    RESOURCES,
    TOPIC_RESOURCE,
    View,
)
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE_CONFIGS


@handler(of_broker=True, needs=Gate(DESCRIBE_CONFIGS, "none"), kept=True)
def handle(state: View, request: ListConfigResourcesRequest, caller: Caller) -> Answer:
    """List every topic and broker, and the groups and subscriptions that have configs."""
    kinds = (
        [CLIENT_METRICS_RESOURCE] if caller.version == 0 else request.resource_types or RESOURCES
    )
    if any(each not in RESOURCES for each in kinds):
        return Answer(ListConfigResourcesResponse(error_code=codes.UNSUPPORTED_VERSION))
    rows = [
        ConfigResource(name, kind) for kind in dict.fromkeys(kinds) for name in _names(state, kind)
    ]
    return Answer(ListConfigResourcesResponse(config_resources=rows))


def _names(state: View, kind: int) -> list[str]:
    if kind == TOPIC_RESOURCE:
        return list(state.topic_names)
    if kind in (BROKER_RESOURCE, BROKER_LOGGER_RESOURCE):
        return [str(each.id) for each in state.live_brokers()]
    return sorted(name for found, name in state.cluster.configs if found == kind)
