"""RenewDelegationToken: a later time at which a token expires (KIP-48).

Versions: 1 nothing, 2 flexible.
"""

from __future__ import annotations

from kafka_admin_proto.messages import RenewDelegationTokenRequest, RenewDelegationTokenResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.delegation_tokens import (
    EXPIRY_TIME,
    NO_TIME,
    check_allowed,
    is_expired,
    later,
    may_renew,
    record_of,
)
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.state import State


@handler(of_broker=False, needs=None, kept=False)
def handle(state: State, request: RenewDelegationTokenRequest, caller: Caller) -> Answer:
    """Renew a token until its longest lifetime at the latest; its owner and renewers may."""
    try:
        check_allowed(caller)
    except ApiFailure as failure:
        return Answer(RenewDelegationTokenResponse(failure.code, NO_TIME))
    try:
        token_id, token = state.delegation_tokens.of_hmac(request.hmac)
        now_ms = state.clock.now_ms()
        if is_expired(token, now_ms):
            raise ApiFailure(codes.DELEGATION_TOKEN_EXPIRED)
        if not may_renew(token, caller.principal):
            raise ApiFailure(codes.DELEGATION_TOKEN_OWNER_MISMATCH)
    except ApiFailure as failure:
        return Answer(RenewDelegationTokenResponse(failure.code))
    period_ms = state.broker_value(EXPIRY_TIME)
    if request.renew_period_ms > 0:
        period_ms = min(period_ms, request.renew_period_ms)
    expires_ms = min(token.max_timestamp, later(now_ms, period_ms))
    record = record_of(token_id, token, expires_ms)
    return Answer(RenewDelegationTokenResponse(0, expires_ms), [record])
