"""The cluster's brokers and active controller, and the api versions that brokers support."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from kafka_admin_proto import __version__
from kafka_admin_proto.admin.caller import Caller, Reply, Target, call_deadline
from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.admin.operations.common.authorized_operations import operation_names
from kafka_admin_proto.admin.operations.common.failures import (
    error_name,
    failure,
    failure_of,
    raise_failure,
)
from kafka_admin_proto.admin.operations.quorum import read_leader
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.errors import UnsupportedVersionError
from kafka_admin_proto.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
    MetadataRequest,
    MetadataResponse,
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)
from kafka_admin_proto.render.meanings import api_name
from kafka_admin_proto.schema.versions import MAX_VERSION, VersionRange

EndpointType = Literal["brokers", "controllers"]

_ENDPOINTS: dict[EndpointType, int] = {"brokers": 1, "controllers": 2}
#: Since these versions of DescribeCluster one asks for controllers, and for fenced brokers.
_CONTROLLERS, FENCED_VERSION = 1, 2
#: Since this version of Metadata answers have the cluster's id, and in these its operations.
_CLUSTER_ID, _FIRST_OPERATIONS, _LAST_OPERATIONS = 2, 8, 10


class ClusterNode(msgspec.Struct, frozen=True):
    """A broker, or a controller. ``fenced`` is None where the cluster was not asked."""

    id: int
    host: str
    port: int
    rack: str | None
    fenced: bool | None = None


class ClusterDescription(msgspec.Struct, frozen=True, kw_only=True):
    """The cluster.

    ``controller`` is the id of the active controller: the quorum's leader, or with ZooKeeper the
    broker that has the role; None where it is not known. ``nodes`` are brokers, or controllers if
    those were asked for. ``authorized_operations`` are Kafka's names.
    """

    cluster_id: str | None
    controller: int | None
    endpoint_type: EndpointType
    nodes: list[ClusterNode]
    authorized_operations: list[str] | None = None


class ApiVersions(msgspec.Struct, frozen=True):
    """The versions of one api that a broker supports. ``name`` is None for an unknown api."""

    key: int
    name: str | None
    lowest: int
    highest: int


class BrokerVersions(msgspec.Struct, frozen=True, kw_only=True):
    """The apis and versions that one broker supports, or the error."""

    broker: int
    apis: list[ApiVersions] = []
    error: str | None = None
    message: str | None = None


class DescribeCluster(Caller):
    """DescribeCluster, ApiVersions, UnregisterBroker."""

    async def describe_cluster(
        self,
        *,
        include_fenced: bool = False,
        endpoint_type: EndpointType = "brokers",
        authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> ClusterDescription:
        """The cluster's id, nodes and active controller.

        ``include_fenced`` shows brokers that are registered and not live (brokers from 4.0).
        Controllers answer for "controllers" alone: the client must have been started from them.
        Brokers before 2.8 are asked by Metadata.
        """
        if endpoint_type not in _ENDPOINTS:
            raise InstructionError(
                f"endpoint type {endpoint_type!r}: expected brokers or controllers"
            )
        deadline = call_deadline(self, timeout)
        lowest = 0 if endpoint_type == "brokers" else _CONTROLLERS
        if include_fenced:
            lowest = FENCED_VERSION
        request = DescribeClusterRequest(
            include_cluster_authorized_operations=authorized_operations,
            endpoint_type=_ENDPOINTS[endpoint_type],
            include_fenced_brokers=include_fenced,
        )
        try:
            reply = await self.call(
                request,
                DescribeClusterResponse,
                timeout=deadline.left,
                versions=VersionRange(lowest, MAX_VERSION),
            )
        except UnsupportedVersionError:
            if lowest:
                raise
            return await _from_metadata(self, authorized_operations, deadline)
        body = reply.body
        raise_failure(body.error_code, body.error_message, context="DescribeCluster")
        fenced_known = include_fenced or None
        return ClusterDescription(
            cluster_id=body.cluster_id,
            controller=await _controller(self, body.controller_id, deadline),
            endpoint_type=endpoint_type,
            nodes=[
                ClusterNode(
                    each.broker_id, each.host, each.port, each.rack, fenced_known and each.is_fenced
                )
                for each in sorted(body.brokers, key=lambda broker: broker.broker_id)
            ],
            authorized_operations=operation_names(body.cluster_authorized_operations)
            if authorized_operations
            else None,
        )

    async def broker_versions(
        self, brokers: Sequence[int] | None = None, *, timeout: float | None = None
    ) -> list[BrokerVersions]:
        """The apis and versions of each broker, of all live ones by default."""
        deadline = call_deadline(self, timeout)
        if brokers is None:
            brokers = sorted(await self.brokers(refresh=True, timeout=deadline.left))
        ids = list(brokers)
        answers = await self.call_all(
            api_versions_request(), ApiVersionsResponse, brokers=ids, timeout=deadline.left
        )
        return [_broker_versions(broker, answers[broker], self.dialect) for broker in ids]

    async def unregister_broker(self, broker: int, *, timeout: float | None = None) -> None:
        """Make a KRaft cluster forget a broker that has ended; it may register itself anew.

        Raises BrokerError (BROKER_ID_NOT_REGISTERED), and UnsupportedVersionError with ZooKeeper.
        """
        reply = await self.call(
            UnregisterBrokerRequest(broker_id=broker),
            UnregisterBrokerResponse,
            to=Target.CONTROLLER,
            timeout=timeout,
        )
        body = reply.body
        if reply.maybe_repeated and error_name(body.error_code) == "BROKER_ID_NOT_REGISTERED":
            return
        raise_failure(body.error_code, body.error_message, about={"broker": broker})


async def _from_metadata(
    caller: Caller, authorized_operations: bool, deadline: Deadline
) -> ClusterDescription:
    """The description out of Metadata without topics, for brokers before 2.8."""
    versions = VersionRange(_CLUSTER_ID, MAX_VERSION)
    if authorized_operations:
        versions = VersionRange(_FIRST_OPERATIONS, _LAST_OPERATIONS)
    reply = await caller.call(
        MetadataRequest(topics=[], include_cluster_authorized_operations=authorized_operations),
        MetadataResponse,
        timeout=deadline.left,
        versions=versions,
    )
    body = reply.body
    return ClusterDescription(
        cluster_id=body.cluster_id,
        controller=body.controller_id if body.controller_id >= 0 else None,
        endpoint_type="brokers",
        nodes=[
            ClusterNode(each.node_id, each.host, each.port, each.rack)
            for each in sorted(body.brokers, key=lambda broker: broker.node_id)
        ],
        authorized_operations=operation_names(body.cluster_authorized_operations)
        if authorized_operations
        else None,
    )


async def _controller(caller: Caller, named: int, deadline: Deadline) -> int | None:
    """The active controller: KRaft brokers name a random one of themselves, and the quorum knows.

    None where the client may not ask for the quorum.
    """
    try:
        return await read_leader(caller, timeout=deadline.left)
    except UnsupportedVersionError:
        return named if named >= 0 else None


def api_versions_request() -> ApiVersionsRequest:
    return ApiVersionsRequest(
        client_software_name="kafka-admin-proto", client_software_version=__version__
    )


def _broker_versions(
    broker: int, answer: Reply[ApiVersionsResponse] | Exception, dialect: str
) -> BrokerVersions:
    if isinstance(answer, Exception):
        return BrokerVersions(broker=broker, **failure_of(answer))
    return BrokerVersions(
        broker=broker,
        apis=[
            ApiVersions(
                each.api_key,
                api_name(each.api_key, dialect) or None,
                each.min_version,
                each.max_version,
            )
            for each in sorted(answer.body.api_keys, key=lambda api: api.api_key)
        ],
        **failure(answer.body.error_code),
    )
