"""The brokers and the controller that a client knows, and the request that asks for them."""

from __future__ import annotations

import time
from collections.abc import Mapping

import msgspec

from kafka_admin_proto.admin.caller import Broker, Target
from kafka_admin_proto.admin.errors import NoSuchBrokerError
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.admin.session.calls import Call
from kafka_admin_proto.admin.settings.config import ClientConfig
from kafka_admin_proto.messages import (
    DescribeClusterRequest,
    DescribeClusterResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.schema.versions import MAX_VERSION, VersionRange
from kafka_admin_proto.values import StructValue

#: Brokers that an error message names.
_NAMED = 20
#: DescribeCluster's endpoint type for controllers (KIP-919), and the first version that has it.
_CONTROLLERS, _ENDPOINT_TYPES = 2, 1
#: Version 0 of Metadata names no controller.
_METADATA = VersionRange(1, MAX_VERSION)


class ClusterView(msgspec.Struct, frozen=True):
    """Live brokers (or controllers) by id, and the controller's id, None while there is none.

    ``seen_at`` is on the clock of time.monotonic.
    """

    brokers: Mapping[int, Broker]
    controller: int | None
    seen_at: float

    @property
    def age(self) -> float:
        """Seconds since the broker's answer."""
        return time.monotonic() - self.seen_at

    @property
    def ids(self) -> str:
        """The ids of the live brokers, as error messages name them."""
        ids = sorted(self.brokers)
        more = [f"and {len(ids) - _NAMED} more"] if len(ids) > _NAMED else []
        return ", ".join([*map(str, ids[:_NAMED]), *more]) or "none"


def cluster_call(
    deadline: Deadline, *, asks_controllers: bool
) -> Call[MetadataResponse | DescribeClusterResponse]:
    """The request for all live brokers, or for all controllers."""
    if asks_controllers:
        request = DescribeClusterRequest(endpoint_type=_CONTROLLERS)
        versions = VersionRange(_ENDPOINT_TYPES, MAX_VERSION)
        return Call(request, DescribeClusterResponse, Target.ANY, deadline, versions=versions)
    no_topics = MetadataRequest(topics=[])
    return Call(no_topics, MetadataResponse, Target.ANY, deadline, versions=_METADATA)


def wrong_listener(config: ClientConfig, fault: str) -> NoSuchBrokerError:
    """The error for bootstrap addresses of brokers given as controllers', or the reverse."""
    start = ", ".join(str(each) for each in config.addresses)
    if config.bootstrap_controllers:
        return NoSuchBrokerError(
            f"{start} is not a controller's listener of Kafka 3.7 or newer ({fault}); brokers "
            "are given as bootstrap_servers"
        )
    return NoSuchBrokerError(
        f"{start} does not answer as a broker ({fault}); a controller's listener is given as "
        "bootstrap_controllers"
    )


def read_view(response: MetadataResponse | DescribeClusterResponse) -> ClusterView:
    brokers: dict[int, Broker] = {}
    if isinstance(response, MetadataResponse):
        for row in response.brokers:
            brokers[row.node_id] = Broker(row.node_id, row.host, row.port, row.rack)
    else:
        for each in response.brokers:
            brokers[each.broker_id] = Broker(each.broker_id, each.host, each.port, each.rack)
    controller = response.controller_id if response.controller_id in brokers else None
    return ClusterView(brokers, controller, time.monotonic())


def says_not_controller(answer: object) -> bool:
    """Whether an answer, or any of its items, has the error NOT_CONTROLLER."""
    if getattr(answer, "error_code", 0) == codes.NOT_CONTROLLER:
        return True
    if isinstance(answer, StructValue):
        return any(says_not_controller(getattr(answer, name)) for name in answer.__struct_fields__)
    return isinstance(answer, list) and any(map(says_not_controller, answer))
