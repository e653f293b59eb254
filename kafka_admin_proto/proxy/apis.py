"""What the proxy has to know of apis: those that only read, and where brokers' addresses stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.protocol.versions import api_versions
from kafka_admin_proto.values import Message

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

#: The field with the brokers, or with the leaders that a response hints at (KIP-951).
_LISTS = {
    api_keys.METADATA: "brokers",
    api_keys.DESCRIBE_CLUSTER: "brokers",
    api_keys.FIND_COORDINATOR: "coordinators",
    api_keys.PRODUCE: "node_endpoints",
    api_keys.FETCH: "node_endpoints",
    api_keys.SHARE_FETCH: "node_endpoints",
    api_keys.SHARE_ACKNOWLEDGE: "node_endpoints",
}
#: The first version in which the list of an api may have an entry, where that is not 0.
_FIRST = {api_keys.PRODUCE: 10, api_keys.FETCH: 16}

#: A broker's id, host and port → the host and the port of the proxy that stand for it.
ToLocal = Callable[[int, str, int], tuple[str, int]]


def has_addresses(api_key: int, api_version: int) -> bool:
    """Whether responses of that version may have the address of a broker."""
    return api_key in _LISTS and api_version >= _FIRST.get(api_key, 0)


def rewrite(api_key: int, response: Message, to_local: ToLocal) -> bool:
    """Put the proxy's address in the place of each broker's; whether there was one."""
    changed = False
    for broker in _brokers(api_key, response):
        if broker.port > 0:  # FindCoordinator has none beside an error
            node_id = broker.broker_id if api_key == api_keys.DESCRIBE_CLUSTER else broker.node_id
            broker.host, broker.port = to_local(node_id, broker.host, broker.port)
            changed = True
    return changed


def _brokers(api_key: int, response: Any) -> Iterator[Any]:
    yield from getattr(response, _LISTS[api_key])
    if api_key == api_keys.FIND_COORDINATOR:  # before version 4 the response itself has one
        yield response
