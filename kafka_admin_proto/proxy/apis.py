"""What the proxy has to know of apis."""

from __future__ import annotations

from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.protocol.versions import api_versions

#: The apis of a login by SASL.
LOGIN = (api_keys.SASL_HANDSHAKE, api_keys.SASL_AUTHENTICATE)
#: Apis that change nothing but what a connection and a broker's sessions need. Every other one is
#: taken for one that changes something, as an api of a new release may be.
READING = frozenset({
    api_keys.FETCH, api_keys.LIST_OFFSETS, api_keys.METADATA, api_keys.OFFSET_FETCH,
    api_keys.FIND_COORDINATOR, api_keys.OFFSET_FOR_LEADER_EPOCH, api_keys.API_VERSIONS,
    *LOGIN, api_keys.GET_TELEMETRY_SUBSCRIPTIONS, api_keys.PUSH_TELEMETRY,
    *(each.api_key for each in api_versions(unstable=True)
      if each.name.startswith(("Describe", "List")) or each.name.endswith("Describe")),
})  # fmt: skip
