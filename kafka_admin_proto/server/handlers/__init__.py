"""The handlers of the apis: one module for each api, in a folder for each subject.

A handler is a function of (state, request, caller) that gives the response and the records to
append; it does no IO. The apis in ``OF_BROKERS`` are answered from the view of the broker that gets
the request, all others from the active controller's state. ``HANDLERS`` lists the served apis:
ApiVersions follows from it and from the versions of the release (``schemas/releases.json``).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator
from functools import cache
from typing import Any

import msgspec

from kafka_admin_proto.protocol.releases import release as release_facts
from kafka_admin_proto.protocol.versions import Api
from kafka_admin_proto.records.metadata.cluster_state import ClusterState
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.values import Message

#: Api key → the module in this package whose ``handle`` answers it.
HANDLERS = {
    3: "topics.metadata",
    10: "groups.find_coordinator",
    16: "groups.list_groups",
    18: "cluster.api_versions",
    19: "topics.create_topics",
    20: "topics.delete_topics",
    29: "acls.describe_acls",
    30: "acls.create_acls",
    31: "acls.delete_acls",
    32: "configs.describe_configs",
    33: "configs.alter_configs",
    35: "cluster.describe_log_dirs",
    37: "topics.create_partitions",
    43: "topics.elect_leaders",
    44: "configs.incremental_alter_configs",
    45: "topics.alter_partition_reassignments",
    46: "topics.list_partition_reassignments",
    48: "quotas.describe_client_quotas",
    49: "quotas.alter_client_quotas",
    50: "users.describe_user_scram_credentials",
    51: "users.alter_user_scram_credentials",
    55: "quorum.describe_quorum",
    57: "cluster.update_features",
    60: "cluster.describe_cluster",
    74: "configs.list_config_resources",
    75: "topics.describe_topic_partitions",
    80: "quorum.add_raft_voter",
    81: "quorum.remove_raft_voter",
}

#: Apis that a broker answers from its own view of the log; others go to the controller.
OF_BROKERS = frozenset({3, 10, 16, 18, 29, 32, 35, 48, 50, 60, 74, 75})

_CREATE_TOPICS = 19
#: Apis whose requests may be large and are answered in steps, by ``in_steps`` of their modules.
IN_STEPS = frozenset({19, 20, 37})

#: Rules that are dialects; their messages are served beside Kafka's own (``handlers/drafts``).
DIALECTS = ("kip-4a", "kip-4b")


#: SaslHandshake and SaslAuthenticate: the connection answers them by itself.
_OF_CONNECTIONS = (17, 36)


class Caller(msgspec.Struct, frozen=True):
    """The client of a request, the node and listener that got it, and the request's version.

    ``principal`` is the client's principal as Kafka writes it, ``host`` its address.
    """

    node_id: int
    version: int
    client_id: str | None = None
    principal: str = "User:ANONYMOUS"
    listener: str = "PLAINTEXT"
    host: str = ""


class Answer(msgspec.Struct):
    """A response, and the records that are appended to the log before it is sent."""

    response: Message
    records: list[Message] = []
    #: The response encoded in the caller's version, if that is done already.
    body: bytes | None = None
    #: The state that many records of new topics make of an empty one, or None.
    staged: ClusterState | None = None


#: Called with a ``View`` for an api in ``OF_BROKERS``, with the ``State`` for another one.
Handler = Callable[[Any, Any, Caller], Answer]


@cache
def handler(api_key: int) -> Handler:
    """The function that answers an api; its module is imported when it is first asked for."""
    found: Handler = _module(api_key).handle
    return found


@cache
def _module(api_key: int) -> Any:
    return importlib.import_module(f"{__name__}.{HANDLERS[api_key]}")


def respond(state: View, api_key: int, request: Any, caller: Caller) -> Answer:
    """The answer to a request; a refusal if the caller is not authorized for it."""
    if request.dialect != "kafka":
        from kafka_admin_proto.server.handlers.drafts import (
            draft_handler,  # only clusters with drafts need it
        )

        return draft_handler(request.dialect, request.message_name)(state, request, caller)
    return _refused(state, api_key, request, caller) or handler(api_key)(state, request, caller)


def respond_in_steps(
    state: View, api_key: int, request: Any, caller: Caller
) -> Generator[None, None, Answer]:
    """The answer to one of Kafka's requests in ``IN_STEPS``, encoded, in steps of microseconds."""
    refused = _refused(state, api_key, request, caller)
    if refused is not None:
        return refused
    answer: Answer = yield from _module(api_key).in_steps(state, request, caller)
    from kafka_admin_proto.server.handlers.steps import encode_in_steps, stage  # slow to import

    answer.body = yield from encode_in_steps(answer.response, caller.version)
    if api_key == _CREATE_TOPICS:
        answer.staged = yield from stage(answer.records)
    return answer


def _refused(state: View, api_key: int, request: Any, caller: Caller) -> Answer | None:
    if state.is_authorized:
        from kafka_admin_proto.server.security.authorizer.gates import (
            refusal,  # it imports this module
        )

        refused = refusal(state, api_key, request, caller)
        if refused is not None:
            return Answer(refused)
    return None


@cache
def served_apis(release: str, rules: str = "shipped") -> tuple[Api, ...]:
    """The apis that a node of that release lists in ApiVersions, with the release's versions.

    If ``rules`` is a draft with messages of its own, these follow.
    """
    facts = release_facts(release)
    drafts: tuple[Api, ...] = ()
    if rules in DIALECTS:
        from kafka_admin_proto.server.handlers.drafts import draft_apis

        drafts = draft_apis(rules)
    shipped = tuple(
        Api(
            key,
            (catalog().name_of(key, "request") or "").removesuffix("Request"),
            facts.versions_of(key),
        )
        for key in sorted((*HANDLERS, *_OF_CONNECTIONS))
        if not facts.versions_of(key).empty
    )
    return shipped + drafts
