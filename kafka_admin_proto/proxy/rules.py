"""What all connections of a proxy do with the requests and responses of each api."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from kafka_admin_proto.messages.api_versions_response import ApiVersion, ApiVersionsResponse
from kafka_admin_proto.protocol import api_keys, codes
from kafka_admin_proto.protocol.connection import Limits
from kafka_admin_proto.protocol.payload_writers import write_response
from kafka_admin_proto.protocol.versions import Api
from kafka_admin_proto.proxy.apis import READING, ToLocal, has_addresses
from kafka_admin_proto.proxy.call import Call
from kafka_admin_proto.proxy.filters import Filters, OnRequest, OnResponse
from kafka_admin_proto.values import Message

if TYPE_CHECKING:
    from kafka_admin_proto.protocol.connection.sasl_server import SaslServer
    from kafka_admin_proto.proxy.faults import ProxyFaults
    from kafka_admin_proto.proxy.read_only import ReadOnly

#: The error code at the beginning of a body.
_UNSUPPORTED = codes.UNSUPPORTED_VERSION.to_bytes(2, "big")


class Route(msgspec.Struct, frozen=True):
    """What is done with the requests of an api in one version, and with their responses."""

    request_filters: list[tuple[int, OnRequest]]
    response_filters: list[tuple[int, OnResponse]]
    has_addresses: bool
    #: Whether the proxy itself has to know what the response says.
    is_read: bool


class Rules:
    """What all connections of a proxy share: filters, addresses, limits, and the versions known."""

    def __init__(
        self,
        filters: Filters,
        to_local: ToLocal,
        apis: Iterable[Api],
        limits: Limits,
        read_only: ReadOnly | None = None,
        sasl: SaslServer | None = None,
    ) -> None:
        self.to_local = to_local
        #: Who may log in where SASL ends at the proxy; None where it passes through.
        self.sasl = sasl
        self.limits = limits
        self._filters = filters
        self._read_only = read_only
        #: The faults on request; None until there are some.
        self.faults: ProxyFaults | None = None
        self.apis: dict[int, Api] = {each.api_key: each for each in apis}
        self._routes: dict[tuple[int, int], Route] = {}

    def route(self, api_key: int, api_version: int) -> Route | None:
        """None for an api or a version that is not known here."""
        route = self._routes.get((api_key, api_version))
        if route is None and self._knows(api_key, api_version):
            route = self._routes[api_key, api_version] = Route(
                self._filters.requests(api_key, api_version),
                self._filters.responses(api_key, api_version),
                has_addresses(api_key, api_version),
                api_key in (api_keys.API_VERSIONS, api_keys.SASL_HANDSHAKE),
            )
        return route

    def named(self, places: Iterable[int | None]) -> str:
        """For errors: "the filter A", or "one of the filters A, B"; a fault has no place."""
        filters = self._filters.all
        names = [type(filters[each]).__qualname__ for each in places if each is not None]
        if len(names) > 1:
            return f"one of the filters {', '.join(names)}"
        return f"the filter {names[0]}" if names else "a fault"

    def refused(self, asked: Message, call: Call) -> Message | None:
        """The answer to what a filter asks the broker and a read-only proxy refuses."""
        reads = call.api_key in READING and call.api_key != api_keys.METADATA  # it creates topics
        if self._read_only is None or reads:
            return None
        return self._read_only.on_request(asked, call)

    def refused_version(self, call: Call, payload: bytes) -> bytes:
        """The answer to ApiVersions in an unknown version, which is one in version 0 (KIP-511).

        It is the broker's own answer, ``payload``, or the proxy's where the broker has the version.
        """
        if payload[4:6] == _UNSUPPORTED:
            return payload
        known = self.apis[api_keys.API_VERSIONS].versions
        row = ApiVersion(api_keys.API_VERSIONS, known.lowest, known.highest)
        body = ApiVersionsResponse(error_code=codes.UNSUPPORTED_VERSION, api_keys=[row])
        return write_response(body, 0, call.correlation_id)

    def _knows(self, api_key: int, api_version: int) -> bool:
        api = self.apis.get(api_key)
        return api is not None and api_version in api.versions
