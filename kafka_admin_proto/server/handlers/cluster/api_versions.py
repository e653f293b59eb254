"""ApiVersions: the apis and features of a node.

Versions: 1 a throttle time, 2 nothing, 3 software of the client and features (KIP-511, KIP-584),
4 features from level 0 (KIP-1022), 5 the cluster and node that the client has connected to.
"""

from __future__ import annotations

from kafka_admin_proto.messages import ApiVersionsRequest
from kafka_admin_proto.messages.api_versions_response import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from kafka_admin_proto.protocol import api_keys, codes
from kafka_admin_proto.protocol.software import SOFTWARE
from kafka_admin_proto.protocol.versions import Api
from kafka_admin_proto.server.apis import Answer, Caller, handler, served_apis
from kafka_admin_proto.server.brokers.view import View

_FROM_LEVEL_0, _CHECKED = 4, 5
_NO_NODE = -1
#: Kafka 4's lowest version of Produce.
_PRODUCE_SINCE_4 = 3


@handler(of_broker=True, needs=None, kept=True)
def handle(state: View, request: ApiVersionsRequest, caller: Caller) -> Answer:
    """List the apis in the versions of the release, and the supported and finalized features.

    A client that names both a cluster and a node, and has connected to another one, is sent to its
    bootstrap servers.
    """
    if caller.version >= 3:
        texts = (request.client_software_name, request.client_software_version)
        if not all(map(SOFTWARE.fullmatch, texts)):
            return Answer(ApiVersionsResponse(error_code=codes.INVALID_REQUEST))
    if caller.version >= _CHECKED:
        expected = request.cluster_id, request.node_id
        if (expected[0] is None) != (expected[1] == _NO_NODE):
            return Answer(ApiVersionsResponse(error_code=codes.INVALID_REQUEST))
        if expected not in ((None, _NO_NODE), (state.cluster_id, caller.node_id)):
            return Answer(ApiVersionsResponse(error_code=codes.REBOOTSTRAP_REQUIRED))
    return Answer(
        ApiVersionsResponse(
            api_keys=[
                ApiVersion(each.api_key, _lowest(each), each.versions.highest)
                for each in state.controller_state.apis
                or served_apis(state.release, state.controller_state.rules)
            ],
            supported_features=[
                SupportedFeatureKey(each.name, each.min, each.max)
                for each in state.definitions.features
                if each.min > 0 or caller.version >= _FROM_LEVEL_0
            ],
            finalized_features_epoch=state.cluster.offset,
            finalized_features=[
                FinalizedFeatureKey(name, level, level)
                for name, level in state.cluster.features.items()
            ],
        )
    )


def _lowest(api: Api) -> int:
    """The lowest version that is listed.

    Kafka 4 lists Produce from 0 and refuses versions below 3: older librdkafka does not compress
    for a broker that lists no version 0.
    """
    since_kafka_4 = api.api_key == api_keys.PRODUCE and api.versions.lowest == _PRODUCE_SINCE_4
    return 0 if since_kafka_4 else api.versions.lowest
