"""Envelopes: requests of clients that a broker forwards to the controller (KIP-590).

An envelope has a whole request, and the principal and address of its client. The answer to it has a
whole response. The rules are those of ``EnvelopeUtils`` and ``DefaultKafkaPrincipalBuilder``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from kafka_admin_proto.codec import codec
from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.messages import DefaultPrincipalData, EnvelopeRequest, EnvelopeResponse
from kafka_admin_proto.protocol import api_keys, codes
from kafka_admin_proto.protocol.connection import RequestReceived
from kafka_admin_proto.protocol.payload_values import Request
from kafka_admin_proto.protocol.payload_writers import write_encoded_response, write_response
from kafka_admin_proto.protocol.payloads import read_request
from kafka_admin_proto.render.field_scan import error_codes
from kafka_admin_proto.server.apis import Caller
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.java import host_address
from kafka_admin_proto.values import Message

if TYPE_CHECKING:
    from kafka_admin_proto.server.state import State

#: The apis whose requests brokers forward (``ApiKeys.forwardable``).
_FORWARDABLE = frozenset(
    {
        api_keys.CREATE_TOPICS, api_keys.DELETE_TOPICS, api_keys.CREATE_ACLS, api_keys.DELETE_ACLS,
        api_keys.ALTER_CONFIGS, api_keys.CREATE_PARTITIONS, api_keys.CREATE_DELEGATION_TOKEN,
        api_keys.RENEW_DELEGATION_TOKEN, api_keys.EXPIRE_DELEGATION_TOKEN, api_keys.ELECT_LEADERS,
        api_keys.INCREMENTAL_ALTER_CONFIGS, api_keys.ALTER_PARTITION_REASSIGNMENTS,
        api_keys.LIST_PARTITION_REASSIGNMENTS, api_keys.ALTER_CLIENT_QUOTAS,
        api_keys.ALTER_USER_SCRAM_CREDENTIALS, api_keys.DESCRIBE_QUORUM, api_keys.UPDATE_FEATURES,
        api_keys.UNREGISTER_BROKER, api_keys.ALLOCATE_PRODUCER_IDS, api_keys.ADD_RAFT_VOTER,
        api_keys.REMOVE_RAFT_VOTER, api_keys.UNREGISTER_CONTROLLER,
    }
)  # fmt: skip
_PRINCIPAL_VERSION = bytes(2)
_ADDRESS_BYTES = (4, 16)


class Forwarded(RequestReceived, frozen=True, eq=False):
    """A request that came in an envelope, which is the request that is answered."""

    envelope: RequestReceived


def opened(state: State, event: RequestReceived, caller: Caller) -> tuple[Forwarded, Caller]:
    """The request in an envelope, and its client as the caller.

    Raises ApiFailure with the code of the envelope's answer: CLUSTER_AUTHORIZATION_FAILED,
    PRINCIPAL_DESERIALIZATION_FAILURE, INVALID_REQUEST for an address that is none or an api that is
    not forwarded, and UNSUPPORTED_VERSION for a request that cannot be read.
    """
    envelope = event.request.body
    assert isinstance(envelope, EnvelopeRequest)
    if state.is_authorized:
        _check_right(state, caller)
    principal, by_token = _principal(envelope.request_principal)
    if len(envelope.client_host_address) not in _ADDRESS_BYTES:
        raise ApiFailure(codes.INVALID_REQUEST)
    request = read_request(envelope.request_data, body=False)
    if request.header is None:
        raise ApiFailure(codes.UNSUPPORTED_VERSION)
    if request.api_key not in _FORWARDABLE:
        raise ApiFailure(codes.INVALID_REQUEST)
    if not _is_served(state, request) or request.read_body() is None:
        raise ApiFailure(codes.UNSUPPORTED_VERSION)
    client = msgspec.structs.replace(
        caller,
        version=request.api_version,
        client_id=request.header.client_id,
        principal=principal,
        host=_host(envelope.client_host_address),
        request_bytes=len(envelope.request_data),
        may_ask_for_tokens=not by_token,  # the rest was checked by the broker
    )
    return Forwarded(request, event.turn, event), client


def sealed(event: Forwarded, body: Message | bytes) -> EnvelopeResponse:
    """The answer to an envelope, with the one to the request in it.

    NOT_CONTROLLER is the envelope's own, so that the broker looks for another controller.
    """
    request = event.request
    assert request.header is not None
    number = request.header.correlation_id
    if isinstance(body, bytes):
        data = write_encoded_response(body, request.api_key, request.api_version, number)
    else:
        if codes.NOT_CONTROLLER in error_codes(codec(type(body), request.api_version), body):
            return EnvelopeResponse(error_code=codes.NOT_CONTROLLER)
        data = write_response(body, request.api_version, number)
    return EnvelopeResponse(response_data=data)


def _check_right(state: State, caller: Caller) -> None:
    """Raises ApiFailure for a caller that may not act for others."""
    from kafka_admin_proto.server.security.authorizer.access import (
        allows_on_cluster,  # slow to import
    )
    from kafka_admin_proto.server.security.authorizer.rules import CLUSTER_ACTION

    if not allows_on_cluster(state, caller, CLUSTER_ACTION):
        raise ApiFailure(codes.CLUSTER_AUTHORIZATION_FAILED)


def _principal(data: bytes | None) -> tuple[str, bool]:
    """A principal as Kafka's authorizer has it, and whether it came by a delegation token.

    Its version stands before it.
    """
    if data is None or not data.startswith(_PRINCIPAL_VERSION):
        raise ApiFailure(codes.PRINCIPAL_DESERIALIZATION_FAILURE)
    try:
        found = codec(DefaultPrincipalData, 0).decode(data.removeprefix(_PRINCIPAL_VERSION))
    except DecodeError:
        raise ApiFailure(codes.PRINCIPAL_DESERIALIZATION_FAILURE) from None
    return f"{found.type}:{found.name}", found.token_authenticated


def _is_served(state: State, request: Request) -> bool:
    return any(
        each.api_key == request.api_key and request.api_version in each.versions
        for each in state.apis
    )


def _host(address: bytes) -> str:
    from ipaddress import ip_address  # slow to import

    return host_address(str(ip_address(address)))
