"""ApiVersions: the apis and features of a node.

Versions: 1 a throttle time, 2 nothing, 3 software of the client and features (KIP-511, KIP-584),
4 features from level 0 (KIP-1022).
"""

from __future__ import annotations

import re

from kafka_admin_proto.messages.api_versions_request import ApiVersionsRequest
from kafka_admin_proto.messages.api_versions_response import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import INVALID_REQUEST
from kafka_admin_proto.server.handlers import Answer, Caller, served_apis

_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
_FROM_LEVEL_0 = 4


def handle(state: View, request: ApiVersionsRequest, caller: Caller) -> Answer:
    """List the apis in the versions of the release, and the supported and finalized features."""
    if caller.version >= 3:
        texts = (request.client_software_name, request.client_software_version)
        if not all(map(_SOFTWARE.fullmatch, texts)):
            return Answer(ApiVersionsResponse(error_code=INVALID_REQUEST))
    return Answer(
        ApiVersionsResponse(
            api_keys=[
                ApiVersion(each.api_key, each.versions.lowest, each.versions.highest)
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
