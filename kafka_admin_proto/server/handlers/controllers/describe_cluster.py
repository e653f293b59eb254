"""DescribeCluster: the cluster's id and controllers, as a controller describes it (KIP-919).

Versions: 1 controllers or brokers, 2 fenced brokers too (KIP-1073).
"""

from __future__ import annotations

from kafka_admin_proto.messages import DescribeClusterRequest
from kafka_admin_proto.messages.describe_cluster_response import (
    DescribeClusterBroker,
    DescribeClusterResponse,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.security.authorizer.access import cluster_operations
from kafka_admin_proto.server.security.authorizer.rules import ALTER
from kafka_admin_proto.server.state import State

_BROKERS, _CONTROLLERS = 1, 2


@handler(of_broker=False, needs=Gate(ALTER, "code"), kept=False)
def handle(state: State, request: DescribeClusterRequest, caller: Caller) -> Answer:
    """Describe the controllers; MISMATCHED_ENDPOINT_TYPE for brokers, which have their own."""
    if request.endpoint_type != _CONTROLLERS:
        code = codes.UNSUPPORTED_ENDPOINT_TYPE
        text = f"Unsupported endpoint type {request.endpoint_type}"
        if request.endpoint_type == _BROKERS:
            code = codes.MISMATCHED_ENDPOINT_TYPE
            text = "The request was sent to an endpoint of type CONTROLLER, but we wanted an "
            text += "endpoint of type BROKER"
        return Answer(DescribeClusterResponse(error_code=code, error_message=text))
    response = DescribeClusterResponse(
        cluster_id=state.cluster_id,
        controller_id=state.controller,
        endpoint_type=_CONTROLLERS,
        brokers=[
            DescribeClusterBroker(number, found.host, found.port)
            for number, each in sorted(state.cluster.controllers.items())
            if (found := each.endpoints.get(caller.listener)) is not None
        ],
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = cluster_operations(state, caller)
    return Answer(response)
