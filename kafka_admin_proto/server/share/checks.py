"""What requests about share groups are checked for, and the topic that they need."""

from __future__ import annotations

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Caller
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import NOT_AUTHORIZED, NOT_COORDINATING, ApiFailure
from kafka_admin_proto.server.security.authorizer.access import check_group
from kafka_admin_proto.server.security.authorizer.rules import READ
from kafka_admin_proto.server.share.sessions import Owner
from kafka_admin_proto.server.topics.auto_creation import created_topics
from kafka_admin_proto.server.topics.names import SHARE_GROUP_STATE
from kafka_admin_proto.values import Message

_MEMBER_ID_LENGTH = 36
_TEXTS = {
    **NOT_AUTHORIZED,
    **NOT_COORDINATING,
    codes.INVALID_GROUP_ID: "The group id is invalid.",
    codes.NON_EMPTY_GROUP: "The group is not empty.",
    codes.UNKNOWN_SERVER_ERROR: (
        "The server experienced an unexpected error when processing the request."
    ),
    codes.UNSUPPORTED_VERSION: "The version of API is not supported.",
}


def check_share_version(state: View) -> None:
    """Raises ApiFailure where the cluster has no share groups: by its feature share.version."""
    if not state.cluster.features.get("share.version", 0):
        raise ApiFailure(codes.UNSUPPORTED_VERSION)


def check_member_id(member_id: str | None) -> None:
    """Raises ApiFailure for an id that no member has, which are not longer than 36 characters."""
    if not member_id or len(member_id) > _MEMBER_ID_LENGTH:
        raise ApiFailure(codes.INVALID_REQUEST)


def check_member(state: View, caller: Caller, group: str | None, member_id: str | None) -> Owner:
    """The group and the member of a request for records. Raises ApiFailure.

    As in Kafka nobody looks whether the group has the member.
    """
    check_share_version(state)
    if group is None:
        raise ApiFailure(codes.INVALID_REQUEST)
    check_group(state, caller, READ, group)
    check_member_id(member_id)
    return group, member_id or ""


def text_of(code: int, message: str | None = None) -> str | None:
    """The message of a refused change of offsets: its own, or else Kafka's text of the code.

    Descriptions have the text of a code only where the broker does not coordinate the group.
    """
    return message or _TEXTS.get(code)


def lock_ms(view: View, caller: Caller, owner: Owner) -> int:
    """For how long a member has what it acquires now."""
    found: int = view.group_value(owner[0], "share.record.lock.duration.ms", caller.node_id)
    return found


def missing_state_topic(view: View, caller: Caller) -> list[Message]:
    """The records of the share coordinators' topic where it is not there; none where it is.

    As in Kafka, where each request of ``PersisterStateManager`` begins with FindCoordinator.
    """
    if view.topic(SHARE_GROUP_STATE) is not None:
        return []
    return created_topics(view, [SHARE_GROUP_STATE], caller)
