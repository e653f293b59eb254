"""DescribeCluster: the cluster's id, controller and brokers (KIP-700).

Versions: 1 controllers or brokers (KIP-919), 2 fenced brokers too (KIP-1073).
"""

from __future__ import annotations

from kafka_admin_proto.messages import DescribeClusterRequest
from kafka_admin_proto.messages.describe_cluster_response import (
    DescribeClusterBroker,
    DescribeClusterResponse,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.security.authorizer.access import cluster_operations
from kafka_admin_proto.server.topics.views import named_controller

_BROKERS, _CONTROLLERS = 1, 2


@handler(of_broker=True, needs=None, kept=True)
def handle(state: View, request: DescribeClusterRequest, caller: Caller) -> Answer:
    """Describe the brokers, as a broker's listener does; controllers are refused."""
    if caller.version >= 1 and request.endpoint_type != _BROKERS:
        if request.endpoint_type == _CONTROLLERS:
            code = codes.MISMATCHED_ENDPOINT_TYPE
            text = "The request was sent to an endpoint of type BROKER, but we wanted an endpoint "
            text += "of type CONTROLLER"
        else:
            code = codes.UNSUPPORTED_ENDPOINT_TYPE
            text = f"Unsupported endpoint type {request.endpoint_type}"
        return Answer(DescribeClusterResponse(error_code=code, error_message=text))
    brokers = []
    for number in sorted(state.cluster.brokers):
        broker = state.cluster.brokers[number]
        if broker.fenced and not request.include_fenced_brokers:
            continue
        endpoint = broker.endpoints[caller.listener]
        brokers.append(
            DescribeClusterBroker(number, endpoint.host, endpoint.port, broker.rack, broker.fenced)
        )
    response = DescribeClusterResponse(
        cluster_id=state.cluster_id, controller_id=named_controller(state), brokers=brokers
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = cluster_operations(state, caller)
    return Answer(response)
