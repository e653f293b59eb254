"""Every operation of the client against a broker that fails at what it is asked.

The operations run side by side, each with a client of its own; what is honest and what is not is
decided by api. An operation ends in time, with an error of this package or with an error for each
of its items, and leaves no task and no socket behind.
"""

from __future__ import annotations

import asyncio
import inspect
import random
import time
from collections.abc import Callable
from typing import Any

import pytest

from kafka_admin_proto.admin import (
    AclBinding,
    AclFilter,
    AclOperation,
    AddPartitionsStep,
    AdminClient,
    AlterPlan,
    ApplyPlan,
    ConfigChange,
    ConfigResource,
    FeatureUpdate,
    MemberToRemove,
    NewPartitions,
    NewRecord,
    NewTopic,
    OffsetReset,
    OffsetResets,
    OpenTransaction,
    PartitionReplicas,
    QuorumListener,
    QuotaAlteration,
    ReplicaMove,
    ResourceType,
    ScramUpsertion,
    TopicAlteration,
    TopicDescription,
    TopicPlan,
)
from kafka_admin_proto.codec import codec
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.messages import (
    ApiVersionsRequest,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    ListGroupsRequest,
    MetadataRequest,
    MetadataResponse,
)
from kafka_admin_proto.protocol import Request, frame, write_response
from kafka_admin_proto.values import Message
from tests.admin.leaks import run_without_leaks
from tests.admin.scripted_broker import CLOSE, SILENCE, ScriptedBroker, ScriptedCluster

#: Seconds that an operation has, and that a busy machine may add; what its client has by default.
_TIMEOUT_S, _GRACE_S, _DEFAULT_S = 0.3, 20.0, 120.0

_TOPIC, _PARTITION = "orders", ("orders", 0)
_ROWS = [PartitionReplicas("orders", 0, [1])]
_RESET = OffsetReset(topic=_TOPIC, partition=0, offset=2, new_offset=1)
_ALTERED = AlterPlan("first", [TopicPlan(_TOPIC, [AddPartitionsStep(1, 2, [[1]])])])
_OPEN = OpenTransaction(topic=_TOPIC, partition=0, producer_id=1, producer_epoch=0)
_DIRECTORY = "AAAAAAAAAAAAAAAAAAAAAQ"
_ACL = AclBinding(ResourceType.TOPIC, "orders", "User:a", AclOperation.READ)
_CHANGE = ConfigChange(resource=ConfigResource("topic", "orders"), set={"retention.ms": "1"})

#: Method → its arguments; each gets ``timeout`` as well.
OPERATIONS: dict[str, tuple[Any, ...]] = {
    "abort_transaction": (_OPEN,),
    "add_raft_voter": (2, _DIRECTORY, [QuorumListener("C", "localhost", 1)]),
    "alter_client_quotas": ([QuotaAlteration({"user": "a"}, {"request_percentage": 1.0})],),
    "alter_configs": ([_CHANGE],),
    "alter_group_offsets": ("g", {_PARTITION: 1}),
    "alter_partition_reassignments": ({_PARTITION: [1], (_TOPIC, 1): None},),
    "alter_replica_log_dirs": ([ReplicaMove(_TOPIC, 0, 1, "/a")],),
    "alter_share_group_offsets": ("g", {_PARTITION: 1}),
    "alter_topics": ([TopicAlteration(_TOPIC, partitions=2)],),
    "alter_users": ([ScramUpsertion("a", "word")],),
    "broker_versions": (),
    "brokers": (),
    "cancel_reassignment": (_ROWS,),
    "change_configs": ([_CHANGE],),
    "check_alter_plan": (_ALTERED,),
    "create_acls": ([_ACL],),
    "create_delegation_token": (),
    "create_partitions": ([NewPartitions(_TOPIC, 2)],),
    "create_topics": ([NewTopic("new", 1, 1)],),
    "delete_acls": ([AclFilter(name=_TOPIC)],),
    "delete_group_offsets": ("g", [_PARTITION]),
    "delete_groups": (["g"],),
    "delete_records": ({_PARTITION: 1},),
    "delete_share_group_offsets": ("g", [_TOPIC]),
    "delete_topics": ([_TOPIC],),
    "delete_users": (["a"],),
    "describe_acls": (),
    "describe_client_quotas": (),
    "describe_cluster": (),
    "describe_configs": ([ConfigResource("topic", _TOPIC)],),
    "describe_delegation_tokens": (),
    "describe_features": (),
    "describe_group_lags": (["g"],),
    "describe_groups": (["g"],),
    "describe_log_dirs": (),
    "describe_producers": ([_PARTITION],),
    "describe_quorum": (),
    "describe_topics": ([_TOPIC],),
    "describe_transactions": (["t"],),
    "describe_users": (["a"],),
    "elect_leaders": ([_PARTITION],),
    "execute_reassignment": (_ROWS,),
    "expire_delegation_token": (b"hmac",),
    "expire_delegation_tokens": (["id"],),
    "fence_producers": (["t"],),
    "find_open_transaction": (_TOPIC, 0, 7),
    "find_partitions": ([_TOPIC],),
    "generate_reassignment": ([_TOPIC], [1]),
    "list_config_resources": (),
    "list_group_offsets": ({"g": None},),
    "list_groups": (),
    "fetch": ({_PARTITION: 0},),
    "list_offsets": ({_PARTITION: "latest"},),
    "list_share_group_offsets": ({"g": None},),
    "list_partition_reassignments": (),
    "list_topics": (),
    "list_transactions": (),
    "plan_alter_topics": ([TopicAlteration(_TOPIC, partitions=2)],),
    "plan_apply_topics": ([NewTopic(_TOPIC, 2)],),
    "plan_offset_deletions": ("g",),
    "plan_offset_resets": ("g", [_PARTITION]),
    "plan_reading": ([_TOPIC],),
    "plan_reassignment": (_ROWS,),
    "produce": (_TOPIC, [NewRecord(value=b"v")]),
    "remove_group_members": ("g", [MemberToRemove("m")]),
    "remove_raft_voter": (2, _DIRECTORY),
    "renew_delegation_token": (b"hmac",),
    "renew_delegation_tokens": (["id"],),
    "replace_configs": ({ConfigResource("topic", _TOPIC): {}},),
    "run_alter_plan": (_ALTERED,),
    "run_apply_plan": (ApplyPlan([TopicDescription(name=_TOPIC)], [], _ALTERED),),
    "run_offset_deletions": (OffsetResets(group_id="g", offsets=[_RESET]),),
    "run_offset_resets": (OffsetResets(group_id="g", offsets=[_RESET]),),
    "send": (ListGroupsRequest(),),
    "unregister_broker": (2,),
    "unset_all_configs": ([_CHANGE.resource],),
    "update_features": ([FeatureUpdate("metadata.version", 7)],),
    "verify_reassignment": (_ROWS,),
    "versions": (),
}
MORE: dict[str, dict[str, Any]] = {
    "plan_offset_deletions": {"topics": [_TOPIC]},
    "plan_offset_resets": {"to": "latest"},
}
#: Those that are done with what the broker answers honestly.
_ANSWERED = {"broker_versions", "brokers", "describe_features", "list_topics", "versions"}
#: Those for which an answer with nothing in it is one: nothing is listed, nothing moves, no error.
_MAY_BE_EMPTY = {
    "add_raft_voter", "cancel_reassignment", "create_delegation_token", "describe_acls",
    "describe_client_quotas", "describe_delegation_tokens", "describe_log_dirs",
    "expire_delegation_token", "fence_producers", "generate_reassignment",
    "list_config_resources", "list_groups", "list_partition_reassignments", "list_transactions",
    "plan_alter_topics", "remove_raft_voter", "renew_delegation_token", "send",
    "unregister_broker", "update_features", "verify_reassignment",
}  # fmt: skip

HONEST = (ApiVersionsRequest, MetadataRequest, FindCoordinatorRequest)

#: Of a request, the bytes of a frame, SILENCE or CLOSE.
Fault = Callable[[Request], Any]


def silence(request: Request) -> Any:
    return SILENCE


def close(request: Request) -> Any:
    return CLOSE


def garbage(request: Request) -> Any:
    """Its own correlation id, and no body that reads."""
    assert request.header is not None
    noise = random.Random(request.api_key).randbytes(200)
    return frame(request.header.correlation_id.to_bytes(4, "big") + b"\xff" * 8 + noise)


def nothing(request: Request) -> Any:
    """A response whose fields are all at their defaults: no result for anything."""
    assert request.header is not None
    assert request.api is not None
    body: Message = codec(f"{request.api}Response", request.api_version).value_class()
    return frame(write_response(body, request.api_version, request.header.correlation_id))


class Broker(ScriptedBroker):
    """Honest about some requests, and ``fault`` is what comes of the others."""

    def __init__(self, cluster: ScriptedCluster, fault: Fault, honest: tuple[type, ...]) -> None:
        super().__init__(1, cluster)
        self._fault, self._honest = fault, honest

    async def _answer(self, request: Request) -> Any:
        if isinstance(request.body, self._honest):
            return await super()._answer(request)
        return self._fault(request)


def metadata(request: MetadataRequest, broker: ScriptedBroker) -> MetadataResponse:
    """One broker with topic "orders" of one partition; others are unknown."""
    r = MetadataResponse
    partition = r.MetadataResponsePartition(leader_id=1, replica_nodes=[1], isr_nodes=[1])
    names = [_TOPIC] if request.topics is None else [each.name for each in request.topics]
    return r(
        brokers=[r.MetadataResponseBroker(1, broker.host, broker.port)],
        controller_id=1,
        topics=[
            r.MetadataResponseTopic(name=name, partitions=[partition])
            if name == _TOPIC
            else r.MetadataResponseTopic(error_code=3, name=name)
            for name in names
        ],
    )


def coordinators(request: FindCoordinatorRequest, broker: ScriptedBroker) -> Message:
    r = FindCoordinatorResponse
    rows = [r.Coordinator(key, 1, broker.host, broker.port) for key in request.coordinator_keys]
    return r(coordinators=rows)


async def outcome(address: str, name: str, timeout: float, *, is_clients: bool) -> Any:
    """What the operation returns, or the error that it raises, in time."""
    async with AdminClient(address, timeout=timeout if is_clients else _DEFAULT_S) as client:
        if not is_clients:
            await client.brokers()  # its time is for the operation
        operation = getattr(client, name)
        more = MORE.get(name, {}) | ({} if is_clients else {"timeout": timeout})
        start = time.monotonic()
        try:
            return await operation(*OPERATIONS[name], **more)
        except KafkaAdminProtoError as error:
            return error
        finally:
            assert time.monotonic() - start < timeout + _GRACE_S, name


def outcomes(
    fault: Fault, timeout: float, *, honest: tuple[type, ...] = HONEST, is_clients: bool = False
) -> dict[str, Any]:
    """The outcome of each operation; the timeout is its own, or else that of its client."""

    async def run() -> dict[str, Any]:
        cluster = ScriptedCluster([1])
        cluster.nodes[1] = Broker(cluster, fault, honest)
        cluster.on(MetadataRequest, metadata)
        cluster.on(FindCoordinatorRequest, coordinators)
        async with cluster:
            found = await asyncio.gather(
                *(
                    outcome(cluster.bootstrap, name, timeout, is_clients=is_clients)
                    for name in OPERATIONS
                )
            )
        return dict(zip(OPERATIONS, found, strict=True))

    return run_without_leaks(run())


def is_failure(found: Any) -> bool:
    """Whether an operation says that it failed: an error, or one for each item."""
    if isinstance(found, KafkaAdminProtoError) or getattr(found, "failed", None):
        return True
    if isinstance(found, AlterPlan):
        found = found.topics
    elif isinstance(found, ApplyPlan):
        found = found.described
    items = getattr(found, "partitions", found)
    return isinstance(items, list) and bool(items) and all(each.error for each in items)


def test_the_operations_are_all_of_the_clients() -> None:
    public = {
        name
        for name, method in inspect.getmembers(AdminClient, inspect.iscoroutinefunction)
        if not name.startswith("_")
    }
    assert set(OPERATIONS) == public - {"close", "call", "call_all", "call_owner"}


@pytest.mark.exhaustive
def test_answers_with_nothing_in_them() -> None:
    """Each operation gets to its own request, and reports the items that the answer leaves out."""
    for name, found in outcomes(nothing, _DEFAULT_S).items():
        if name not in _ANSWERED | _MAY_BE_EMPTY:
            assert is_failure(found), (name, found)


@pytest.mark.exhaustive
@pytest.mark.parametrize("fault", [silence, close, garbage])
def test_an_error_in_time(fault: Fault) -> None:
    for name, found in outcomes(fault, _TIMEOUT_S).items():
        if name not in _ANSWERED:
            assert is_failure(found), (name, found)


@pytest.mark.exhaustive
@pytest.mark.parametrize("honest", [(), HONEST])
def test_the_clients_timeout_counts_for_each(honest: tuple[type, ...]) -> None:
    """Also for those that wait for brokers, and where nothing is ever answered."""
    found = outcomes(silence, _TIMEOUT_S, honest=honest, is_clients=True)
    for name in OPERATIONS.keys() - (_ANSWERED if honest else set()):
        assert is_failure(found[name]), (name, found[name])


@pytest.mark.parametrize("name", OPERATIONS)
def test_no_signature_has_a_timeout_that_is_not_the_clients(name: str) -> None:
    timeout = inspect.signature(getattr(AdminClient, name)).parameters["timeout"]
    assert (timeout.annotation, timeout.default) == ("float | None", None)
