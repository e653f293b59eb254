"""Whether each registered broker answers, and how fast."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

import msgspec

from kafka_admin_proto.admin.caller import Broker, Caller, call_deadline
from kafka_admin_proto.admin.errors import ConnectionLostError
from kafka_admin_proto.admin.operations.cluster.description import (
    FENCED_VERSION,
    ClusterNode,
    api_versions_request,
)
from kafka_admin_proto.admin.operations.common.failures import (
    Failure,
    failure,
    failure_of,
    raise_failure,
)
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.errors import KafkaAdminProtoError, UnsupportedVersionError
from kafka_admin_proto.messages import (
    ApiVersionsResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from kafka_admin_proto.schema.versions import MAX_VERSION, VersionRange

#: The error of a broker that is registered and gets no requests of clients.
FENCED = "Fenced"
_FENCED_MESSAGE = (
    "it is registered and fenced: the controller has no heartbeats of it, and sends no client to it"
)


class PingedBroker(msgspec.Struct, frozen=True, kw_only=True):
    """A broker, and the milliseconds until it had answered; ``ms`` is None with an ``error``.

    ``fenced`` is None where the cluster does not say it (before 4.0): brokers that are not live are
    not in the list then. A fenced broker is not asked.
    """

    broker: int
    host: str
    port: int
    rack: str | None
    fenced: bool | None
    ms: float | None = None
    error: str | None = None
    message: str | None = None


async def ping_brokers(caller: Caller, *, timeout: float | None = None) -> list[PingedBroker]:
    """Ask all registered brokers side by side, or all controllers where these are asked.

    The time of a first request has the connection in it: TCP, TLS, SASL, versions. All of it ends
    within ``timeout`` seconds. Raises the error where no broker says which ones there are.
    """
    deadline = call_deadline(caller, timeout)
    live = await caller.brokers(refresh=True, timeout=deadline.left)
    nodes = await _registered(caller, live, deadline)
    return list(await asyncio.gather(*(_ping(caller, node, deadline) for node in nodes)))


async def _registered(
    caller: Caller, live: Mapping[int, Broker], deadline: Deadline
) -> list[ClusterNode]:
    """The registered brokers by id; the live ones where the cluster does not name the others."""
    if not caller.asks_controllers:
        try:
            reply = await caller.call(
                DescribeClusterRequest(include_fenced_brokers=True),
                DescribeClusterResponse,
                timeout=deadline.left,
                versions=VersionRange(FENCED_VERSION, MAX_VERSION),
            )
        except UnsupportedVersionError:
            pass
        else:
            body = reply.body
            raise_failure(body.error_code, body.error_message, context="DescribeCluster")
            return [
                ClusterNode(each.broker_id, each.host, each.port, each.rack, each.is_fenced)
                for each in sorted(body.brokers, key=lambda broker: broker.broker_id)
            ]
    return [ClusterNode(e.id, e.host, e.port, e.rack) for _, e in sorted(live.items())]


async def _ping(caller: Caller, node: ClusterNode, deadline: Deadline) -> PingedBroker:
    start = time.perf_counter()
    why = Failure(error=FENCED, message=_FENCED_MESSAGE)
    if not node.fenced:
        why = await _ask(caller, node.id, deadline)
    took = round((time.perf_counter() - start) * 1000, 1)
    return PingedBroker(
        broker=node.id,
        host=node.host,
        port=node.port,
        rack=node.rack,
        fenced=node.fenced,
        ms=None if why["error"] else took,
        **why,
    )


async def _ask(caller: Caller, broker: int, deadline: Deadline, *, again: bool = True) -> Failure:
    """The failure of one attempt, and of another where a connection from before has ended."""
    try:
        reply = await caller.call_owner(
            api_versions_request(), ApiVersionsResponse, to=broker, timeout=deadline.left
        )
    except ConnectionLostError as lost:
        return await _ask(caller, broker, deadline, again=False) if again else failure_of(lost)
    except KafkaAdminProtoError as failed:
        return failure_of(failed)
    return failure(reply.body.error_code)
