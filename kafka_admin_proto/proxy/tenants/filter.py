"""A filter for one tenant of a cluster, whose names have a prefix there.

Clients see their own topics, groups and transactional ids alone, without the prefix. All else is
the cluster's own: brokers, quorum, quotas, users, features. Kafka's internal topics are no
tenant's, as ``__consumer_offsets`` has the names of all groups: a tenant that asks for them asks
for its own topics of these names, and there are none.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any
from uuid import UUID

from kafka_admin_proto.arguments import checked_arguments
from kafka_admin_proto.errors import RemoteProtocolError, SettingsError
from kafka_admin_proto.messages import (
    DeleteAclsRequest,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafka_admin_proto.protocol import api_keys, codes
from kafka_admin_proto.protocol.error_answers import Failure, whole_answer
from kafka_admin_proto.proxy.call import Call
from kafka_admin_proto.proxy.tenants.fields import has_names, topic_ids
from kafka_admin_proto.proxy.tenants.names import NAMED_BY_ACLS, BadPatternError, PrefixedNames
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID
from kafka_admin_proto.values import Message

_PREFIX = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,98}[._-]")
#: The first version of Metadata whose answer may leave out a topic's name.
_NULL_NAMES = 12
_MOST_IDS = 100_000
#: ``pattern_type_filter`` of all patterns that are about a name.
_MATCH = 2
_ACLS = (api_keys.DESCRIBE_ACLS, api_keys.CREATE_ACLS, api_keys.DELETE_ACLS)
#: What brokers and controllers say to each other, and no client: names that no definition marks.
BETWEEN_BROKERS = frozenset({
    api_keys.LEADER_AND_ISR, api_keys.STOP_REPLICA, api_keys.UPDATE_METADATA,
    api_keys.CONTROLLED_SHUTDOWN, api_keys.VOTE,
    api_keys.BEGIN_QUORUM_EPOCH, api_keys.END_QUORUM_EPOCH, api_keys.ALTER_PARTITION,
    api_keys.ENVELOPE, api_keys.FETCH_SNAPSHOT, api_keys.BROKER_REGISTRATION,
    api_keys.BROKER_HEARTBEAT, api_keys.ALLOCATE_PRODUCER_IDS, api_keys.CONTROLLER_REGISTRATION,
    api_keys.ASSIGN_REPLICAS_TO_DIRS, api_keys.INITIALIZE_SHARE_GROUP_STATE,
    api_keys.READ_SHARE_GROUP_STATE, api_keys.WRITE_SHARE_GROUP_STATE,
    api_keys.DELETE_SHARE_GROUP_STATE, api_keys.READ_SHARE_GROUP_STATE_SUMMARY,
})  # fmt: skip

_UNKNOWN_ID = Failure(codes.UNKNOWN_TOPIC_ID)
_Asking = Generator[Message, Any, Message | None]


class TenantFilter:
    """Puts ``prefix`` in front of the names of clients, and shows them no others.

    It has to be the first filter: others see the cluster's names then, as their questions to the
    broker have them. Raises SettingsError for a prefix that does not begin with a letter or digit,
    end with one of ``.``, ``_`` and ``-``, or has other characters than a topic, or more than 100.
    """

    def __init__(self, prefix: str) -> None:
        checked_arguments(TenantFilter.__init__, {"prefix": prefix})
        if not _PREFIX.fullmatch(prefix):
            raise SettingsError(
                f"the tenant's prefix is {prefix!r}; expected at most 100 of a-z, A-Z, 0-9, '.', "
                "'_' and '-', a letter or digit first, and '.', '_' or '-' last, as in 'team-'"
            )
        self._names = PrefixedNames(prefix)
        #: Ids of topics that are the tenant's.
        self._own_ids: set[UUID] = set()

    def takes(self, message_name: str, api_key: int, api_version: int) -> bool:
        """Whether a message may have a name."""
        return has_names(message_name, api_version) or api_key in BETWEEN_BROKERS

    def on_request(self, request: Message, call: Call) -> Message | _Asking | None:
        """Put the prefix in front of all names."""
        failure = _failure(request, call)
        if failure is not None:
            return whole_answer(request, call.api_version, failure)
        unknown = set()
        if not isinstance(request, MetadataRequest):  # its answer has the names
            unknown = topic_ids(request, call.api_version) - self._own_ids
        if METADATA_TOPIC_ID in unknown:  # the log of the quorum has all names
            return whole_answer(request, call.api_version, _UNKNOWN_ID)
        lists_all = isinstance(request, DescribeTopicPartitionsRequest) and not request.topics
        if unknown or lists_all:
            return self._asking(request, call, unknown)
        return self._with_prefix(request, call)

    def on_response(self, response: Message, call: Call) -> None:
        """Leave out other names, and take the prefix off."""
        assert call.request is not None
        if not self._names.remove(response, call.api_version, call.request):
            raise RemoteProtocolError(
                f"the broker answered with a {response.message_name} about what is not the tenant's"
            )
        if isinstance(response, MetadataResponse):
            no_name = None if call.api_version >= _NULL_NAMES else ""
            left = {each.topic_id for each in response.topics}
            response.topics += [
                response.MetadataResponseTopic(codes.UNKNOWN_TOPIC_ID, no_name, topic_id)
                for topic_id in sorted(topic_ids(call.request, call.api_version) - left)
            ]

    def _with_prefix(self, request: Message, call: Call) -> Message | None:
        try:
            self._names.add(request, call.api_version, request)
        except BadPatternError:
            failure = Failure(
                codes.INVALID_REGULAR_EXPRESSION,
                "The parentheses of the regular expression do not match.",
            )
            return whole_answer(request, call.api_version, failure)
        return None

    def _asking(self, request: Message, call: Call, unknown: set[UUID]) -> _Asking:
        """Ask whose the topics are that a request has by their ids, or wants all of."""
        if unknown:
            topic = MetadataRequest.MetadataRequestTopic
            answer = yield MetadataRequest(
                topics=[topic(topic_id=each, name=None) for each in sorted(unknown)],
                allow_auto_topic_creation=False,
            )
            if not unknown <= self._may_pass(answer.topics):
                return whole_answer(request, call.api_version, _UNKNOWN_ID)
        if isinstance(request, DescribeTopicPartitionsRequest) and not request.topics:
            # Its pages would end at topics of others.
            answer = yield MetadataRequest(topics=None, allow_auto_topic_creation=False)
            topics = [each.name for each in answer.topics if self._names.is_own(each.name)]
            if not topics:
                return DescribeTopicPartitionsResponse()
            request.topics = [request.TopicRequest(self._names.short(each)) for each in topics]
        return self._with_prefix(request, call)

    def _may_pass(self, topics: list[Any]) -> set[UUID]:
        """The ids of the tenant's own topics, and of those that are not there."""
        own = {each.topic_id for each in topics if self._names.is_own(each.name or "")}
        if len(self._own_ids) > _MOST_IDS:
            self._own_ids.clear()
        self._own_ids |= own
        gone = codes.UNKNOWN_TOPIC_ID
        return own | {each.topic_id for each in topics if each.error_code == gone}


def _failure(request: Any, call: Call) -> Failure | None:
    """Why a tenant cannot ask this of the cluster; None for what it can."""
    if call.api_key in BETWEEN_BROKERS:
        return Failure(codes.CLUSTER_AUTHORIZATION_FAILED)
    if call.api_key in _ACLS and call.api_version == 0:  # which has no patterns
        return Failure(codes.UNSUPPORTED_VERSION)
    if isinstance(request, DeleteAclsRequest) and any(map(_is_wide, request.filters)):
        return Failure(
            codes.INVALID_REQUEST,
            "A tenant deletes ACLs of topics, groups and transactional ids by the resource's name, "
            "and not by MATCH.",
        )
    return None


def _is_wide(acl_filter: Any) -> bool:
    """Whether a filter may be about resources of others."""
    return acl_filter.resource_type_filter in NAMED_BY_ACLS and (
        acl_filter.resource_name_filter is None or acl_filter.pattern_type_filter == _MATCH
    )
