"""A filter that lets nothing through that changes something in the cluster."""

from __future__ import annotations

from typing import Any, Union

from kafka_admin_proto import messages
from kafka_admin_proto.messages import MetadataRequest
from kafka_admin_proto.protocol import api_keys, codes
from kafka_admin_proto.protocol.error_answers import Failure, whole_answer
from kafka_admin_proto.protocol.versions import api_versions
from kafka_admin_proto.proxy.apis import READING
from kafka_admin_proto.proxy.call import Call
from kafka_admin_proto.values import Message

#: The first version of Metadata that can ask for a topic without creating it.
FIRST_METADATA = 4

_OF_TOPICS = (
    api_keys.PRODUCE, api_keys.CREATE_TOPICS, api_keys.DELETE_TOPICS, api_keys.DELETE_RECORDS,
    api_keys.CREATE_PARTITIONS,
)  # fmt: skip
_OF_GROUPS = (
    api_keys.OFFSET_COMMIT, api_keys.JOIN_GROUP, api_keys.HEARTBEAT, api_keys.LEAVE_GROUP,
    api_keys.SYNC_GROUP, api_keys.DELETE_GROUPS, api_keys.OFFSET_DELETE,
    api_keys.CONSUMER_GROUP_HEARTBEAT, api_keys.SHARE_GROUP_HEARTBEAT, api_keys.SHARE_FETCH,
    api_keys.SHARE_ACKNOWLEDGE, api_keys.STREAMS_GROUP_HEARTBEAT,
    api_keys.ALTER_SHARE_GROUP_OFFSETS, api_keys.DELETE_SHARE_GROUP_OFFSETS,
)  # fmt: skip
_OF_TRANSACTIONS = (
    api_keys.ADD_PARTITIONS_TO_TXN, api_keys.ADD_OFFSETS_TO_TXN, api_keys.END_TXN,
    api_keys.TXN_OFFSET_COMMIT,
)  # fmt: skip
#: The error of each api, with which its clients give up at once; that of the others is the
#: cluster's.
_CODES = {
    **dict.fromkeys(_OF_TOPICS, codes.TOPIC_AUTHORIZATION_FAILED),
    **dict.fromkeys(_OF_GROUPS, codes.GROUP_AUTHORIZATION_FAILED),
    **dict.fromkeys(_OF_TRANSACTIONS, codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
}
_TEXT = "the proxy is read-only"


class ReadOnly:
    """Refuses what changes something, as brokers refuse those who may not do it.

    Requests that are only to be validated pass, and Metadata creates no topics: older versions
    than `FIRST_METADATA`, which always may, have to be denied besides.
    """

    def on_request(self, request: Any, call: Call) -> Message | None:
        """The answer to what would change something; None for what may pass."""
        if isinstance(request, MetadataRequest):
            request.allow_auto_topic_creation = False
            return None
        if getattr(request, "validate_only", False):
            return None
        code = _CODES.get(call.api_key, codes.CLUSTER_AUTHORIZATION_FAILED)
        return whole_answer(request, call.api_version, Failure(code, _TEXT))


# What only reads is not decoded: the annotation names all others.
ReadOnly.on_request.__annotations__["request"] = Union[
    (
        MetadataRequest,
        *(
            getattr(messages, f"{each.name}Request")
            for each in api_versions(unstable=True)
            if each.api_key not in READING
        ),
    )
]
