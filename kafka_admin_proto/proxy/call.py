"""One request on its way through the proxy, and the answer to it."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import msgspec

from kafka_admin_proto.faults.fault import Fault
from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.values import Message


class Call(msgspec.Struct, eq=False):
    """A request and what is known of it; filters get the same object with its response.

    ``node_id`` is the broker that the client has connected to, None for the bootstrap address.
    ``client`` is the client's address as host:port. ``request`` is the request as it was passed
    on, None where no filter names it. ``notes`` are for filters, which may keep there what they
    need for the response. ``client_id`` goes on as a filter's ``on_request`` leaves it.
    """

    api_key: int
    api_version: int
    correlation_id: int
    client: str
    node_id: int | None = None
    client_id: str | None = None
    request: Message | None = None
    #: False for a Produce with acks 0.
    expects_response: bool = True
    notes: dict[str, Any] = {}
    #: Whether the broker has let the client begin a login by SASL, which it takes no request amid.
    logs_in: bool = False
    #: Whether the request is ApiVersions in a version that is not known here, to be answered in 0.
    unknown_version: bool = False
    #: The fault that fires for the request, and the rows of its answer that fail by it.
    fault: Fault | None = None
    refused: Message | None = None
    #: An answer of the proxy's own that waits for those before it.
    answer: bytes | None = None
    #: The filters that go on with the response, where one of them has asked the broker.
    asker: Generator[Message, Message, None] | None = None

    @property
    def precedes_tokens(self) -> bool:
        """Whether bare tokens may follow, or no login, by what the broker answers."""
        return self.api_key == api_keys.SASL_HANDSHAKE and self.api_version == 0
