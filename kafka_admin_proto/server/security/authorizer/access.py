"""Questions of handlers to the authorizer: the operations that a caller may do.

Without an authorizer every client may do everything. A request whose api needs an operation on the
cluster is refused before its handler.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.protocol.error_answers import Failure, whole_answer
from kafka_admin_proto.server.apis import Caller, Gate
from kafka_admin_proto.server.brokers.view import GROUP_RESOURCE, TOPIC_RESOURCE, View
from kafka_admin_proto.server.failures import NOT_AUTHORIZED, ApiFailure
from kafka_admin_proto.server.security.authorizer.rules import (
    ALTER,
    ALTER_CONFIGS,
    CLUSTER,
    CLUSTER_ACTION,
    CLUSTER_NAME,
    CREATE,
    DELETE,
    DESCRIBE,
    DESCRIBE_CONFIGS,
    GROUP,
    IDEMPOTENT_WRITE,
    READ,
    TOPIC,
    TRANSACTIONAL_ID,
    WRITE,
)
from kafka_admin_proto.values import Message

_TOPIC_OPERATIONS = (
    READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS,
)  # fmt: skip
_GROUP_CONFIGS = (DESCRIBE_CONFIGS, ALTER_CONFIGS)
_CLUSTER_OPERATIONS = (
    CREATE, ALTER, DESCRIBE, CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE,
)  # fmt: skip
#: The operations that a refusal names.
NAMED_OPERATIONS = {ALTER: "ALTER", DESCRIBE: "DESCRIBE"}
#: The bits of all operations on a topic, and on the cluster.
_EVERY_TOPIC_BIT = sum(1 << code for code in _TOPIC_OPERATIONS)
_EVERY_CLUSTER_BIT = sum(1 << code for code in _CLUSTER_OPERATIONS)


def allows(state: View, caller: Caller, operation: int, kind: int, name: str) -> bool:
    """Whether the caller may do an operation on a resource."""
    found = state.authorizer
    return found is None or found.allows(caller.principal, caller.host, operation, kind, name)


def allows_on_cluster(state: View, caller: Caller, operation: int) -> bool:
    return allows(state, caller, operation, CLUSTER, CLUSTER_NAME)


def allows_on_any_topic(state: View, caller: Caller, operation: int) -> bool:
    """Whether there is a topic, existing or not, on which the caller may do an operation."""
    found = state.authorizer
    return found is None or found.allows_any(caller.principal, caller.host, operation, TOPIC)


def allowed_topics(state: View, caller: Caller, operation: int, names: Iterable[str]) -> set[str]:
    """The names of topics, existing or not, on which the caller may do an operation."""
    if state.authorizer is None:
        return set(names)
    return {each for each in names if allows(state, caller, operation, TOPIC, each)}


def check_group(state: View, caller: Caller, operation: int, name: str) -> None:
    """Raises ApiFailure if the caller may not do an operation on a group."""
    if not allows(state, caller, operation, GROUP, name):
        raise ApiFailure(codes.GROUP_AUTHORIZATION_FAILED)


def check_named_group(state: View, caller: Caller, operation: int, name: str) -> None:
    """``check_group``, and then that the group has a name: only the offsets of "" are kept."""
    check_group(state, caller, operation, name)
    if not name:
        raise ApiFailure(codes.INVALID_GROUP_ID)


def check_transactional_id(state: View, caller: Caller, operation: int, name: str) -> None:
    """Raises ApiFailure if the caller may not do an operation on a transactional id."""
    if not allows(state, caller, operation, TRANSACTIONAL_ID, name):
        raise ApiFailure(codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)


def group_operations(state: View, caller: Caller, name: str) -> int:
    """The bits of the operations that the caller may do on a group; 3.9 leaves out its configs."""
    return sum(
        1 << code
        for code in (READ, DELETE, DESCRIBE, *(_GROUP_CONFIGS if state.release >= (4,) else ()))
        if allows(state, caller, code, GROUP, name)
    )


def creatable_topics(state: View, caller: Caller, names: Iterable[str]) -> set[str]:
    """The names of topics that the caller may create, by an ACL of the cluster or the topic."""
    if allows_on_cluster(state, caller, CREATE):
        return set(names)
    return allowed_topics(state, caller, CREATE, names)


def topic_operations(state: View, caller: Caller, name: str) -> int:
    """The bits of the operations that the caller may do on a topic."""
    if state.authorizer is None:
        return _EVERY_TOPIC_BIT
    return sum(1 << code for code in _TOPIC_OPERATIONS if allows(state, caller, code, TOPIC, name))


def cluster_operations(state: View, caller: Caller) -> int:
    """The bits of the operations on the cluster; 0 if the caller may not describe it."""
    if state.authorizer is None:
        return _EVERY_CLUSTER_BIT
    if not allows_on_cluster(state, caller, DESCRIBE):
        return 0
    return sum(1 << code for code in _CLUSTER_OPERATIONS if allows_on_cluster(state, caller, code))


def resource_of(kind: int, name: str) -> tuple[int, str, int]:
    """(type, name, error of an unauthorized caller) for a resource with configs.

    Brokers, their loggers and subscriptions to metrics belong to the cluster.
    """
    if kind == TOPIC_RESOURCE:
        return TOPIC, name, codes.TOPIC_AUTHORIZATION_FAILED
    if kind == GROUP_RESOURCE:
        return GROUP, name, codes.GROUP_AUTHORIZATION_FAILED
    return CLUSTER, CLUSTER_NAME, codes.CLUSTER_AUTHORIZATION_FAILED


def refusal(state: View, gate: Gate, request: Message, caller: Caller) -> Message | None:
    """The refusal for a caller without the operation; None if the request may be handled."""
    if allows_on_cluster(state, caller, gate.operation):
        return None
    text = None
    if gate.text == "code":
        text = NOT_AUTHORIZED[codes.CLUSTER_AUTHORIZATION_FAILED]
    elif gate.text == "operation":  # Kafka shows its own objects there
        where = f"Request Request(listenerName=ListenerName({caller.listener}))"
        missing = f"needs {NAMED_OPERATIONS[gate.operation]} permission."
        text = f"{where} {missing if state.release >= (4,) else 'is not authorized.'}"
    return whole_answer(request, caller.version, Failure(codes.CLUSTER_AUTHORIZATION_FAILED, text))
