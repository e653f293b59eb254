"""ExpireDelegationToken: another time at which a token expires, or its end (KIP-48).

Versions: 1 nothing, 2 flexible.
"""

from __future__ import annotations

from kafka_admin_proto.messages import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
    RemoveDelegationTokenRecord,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.delegation_tokens import (
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
def handle(state: State, request: ExpireDelegationTokenRequest, caller: Caller) -> Answer:
    """Let a token expire after a period; one below 0 removes it, also if it has expired."""
    try:
        check_allowed(caller)
    except ApiFailure as failure:
        return Answer(ExpireDelegationTokenResponse(failure.code, NO_TIME))
    try:
        token_id, token = state.delegation_tokens.of_hmac(request.hmac)
        if not may_renew(token, caller.principal):
            raise ApiFailure(codes.DELEGATION_TOKEN_OWNER_MISMATCH)
        now_ms = state.clock.now_ms()
        if request.expiry_time_period_ms < 0:
            response = ExpireDelegationTokenResponse(0, now_ms)
            return Answer(response, [RemoveDelegationTokenRecord(token_id)])
        if is_expired(token, now_ms):
            raise ApiFailure(codes.DELEGATION_TOKEN_EXPIRED)
    except ApiFailure as failure:
        return Answer(ExpireDelegationTokenResponse(failure.code))
    expires_ms = min(token.max_timestamp, later(now_ms, request.expiry_time_period_ms))
    record = record_of(token_id, token, expires_ms)
    return Answer(ExpireDelegationTokenResponse(0, expires_ms), [record])
