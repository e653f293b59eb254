"""StreamsGroupTopologyDescriptionUpdate: an application describes its topology to a plugin.

Kafka has no plugin of its own (``group.streams.topology.description.plugin.class``), nor has this
cluster: a broker without one asks no member for a description, and takes none.
"""

from __future__ import annotations

from kafka_admin_proto.messages import (
    StreamsGroupTopologyDescriptionUpdateRequest,
    StreamsGroupTopologyDescriptionUpdateResponse,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.handlers.groups.streams_group_heartbeat import check_protocol
from kafka_admin_proto.server.security.authorizer.access import check_group
from kafka_admin_proto.server.security.authorizer.rules import READ

_NO_PLUGIN = "The broker has no streams group topology description plugin configured."


@handler(of_broker=True, needs=None, kept=False)
def handle(
    state: View, request: StreamsGroupTopologyDescriptionUpdateRequest, caller: Caller
) -> Answer:
    """Refuse the description."""
    try:
        check_protocol(state, caller)
        check_group(state, caller, READ, request.group_id)
    except ApiFailure as failure:
        return Answer(StreamsGroupTopologyDescriptionUpdateResponse(error_code=failure.code))
    return Answer(
        StreamsGroupTopologyDescriptionUpdateResponse(
            error_code=codes.UNSUPPORTED_VERSION, error_message=_NO_PLUGIN
        )
    )
