"""CreateDelegationToken: a new token for the client, or for another owner (KIP-48, KIP-373).

Versions: 1 nothing, 2 flexible, 3 another owner, and who asked for the token in the response.
"""

from __future__ import annotations

from kafka_admin_proto.messages import CreateDelegationTokenRequest, CreateDelegationTokenResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.protocol.error_forms import FIRST_REQUESTER
from kafka_admin_proto.records.metadata.entities import Token
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.delegation_tokens import (
    EXPIRY_TIME,
    MAX_LIFETIME,
    NO_TIME,
    USER_TYPE,
    check_allowed,
    controllers_key,
    hmac_of,
    later,
    record_of,
)
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.security.authorizer.access import allows
from kafka_admin_proto.server.security.authorizer.rules import CREATE_TOKENS, USER
from kafka_admin_proto.server.state import State
from kafka_admin_proto.topic_ids import random_topic_id, topic_id_to_text


@handler(of_broker=False, needs=None, kept=False)
def handle(state: State, request: CreateDelegationTokenRequest, caller: Caller) -> Answer:
    """A token for an owner who is the client, or by an ACL."""
    owner = caller.principal
    if request.owner_principal_name:
        if request.owner_principal_type is None:  # Java makes no principal without a type
            raise ApiFailure(codes.UNKNOWN_SERVER_ERROR)
        owner = f"{request.owner_principal_type}:{request.owner_principal_name}"
    response = CreateDelegationTokenResponse()
    response.principal_type, _, response.principal_name = owner.partition(":")
    if caller.version >= FIRST_REQUESTER:
        type_, _, name = caller.principal.partition(":")
        response.token_requester_principal_type = type_
        response.token_requester_principal_name = name
    try:
        _check(state, request, caller, owner)
    except ApiFailure as failure:
        response.error_code = failure.code
        response.issue_timestamp_ms = response.expiry_timestamp_ms = NO_TIME
        response.max_timestamp_ms = NO_TIME
        return Answer(response)
    try:
        key = controllers_key(state)
    except ApiFailure as failure:
        response.error_code = failure.code
        return Answer(response)
    now_ms, lifetime_ms = state.clock.now_ms(), state.broker_value(MAX_LIFETIME)
    if request.max_lifetime_ms > 0:
        lifetime_ms = min(lifetime_ms, request.max_lifetime_ms)
    max_ms = later(now_ms, lifetime_ms)
    expires_ms = min(max_ms, later(now_ms, state.broker_value(EXPIRY_TIME)))
    renewers = [f"{each.principal_type}:{each.principal_name}" for each in request.renewers]
    token = Token(owner, caller.principal, renewers, now_ms, expires_ms, max_ms)
    token_id = topic_id_to_text(random_topic_id())  # made as those are
    response.issue_timestamp_ms, response.max_timestamp_ms = now_ms, max_ms
    response.expiry_timestamp_ms = expires_ms
    response.token_id, response.hmac = token_id, hmac_of(key, token_id)
    return Answer(response, [record_of(token_id, token, expires_ms)])


def _check(state: State, request: CreateDelegationTokenRequest, caller: Caller, owner: str) -> None:
    """What a broker checks before it forwards the request. Raises ApiFailure."""
    check_allowed(caller)
    if owner != caller.principal and not allows(state, caller, CREATE_TOKENS, USER, owner):
        raise ApiFailure(codes.DELEGATION_TOKEN_AUTHORIZATION_FAILED)
    if any(each.principal_type != USER_TYPE for each in request.renewers):
        raise ApiFailure(codes.INVALID_PRINCIPAL_TYPE)
