"""DescribeDelegationToken: the tokens that a client may see, with their HMACs (KIP-48, KIP-373).

Versions: 1 nothing, 2 flexible, 3 who asked for a token.
"""

from __future__ import annotations

from kafka_admin_proto.messages import DescribeDelegationTokenRequest
from kafka_admin_proto.messages.describe_delegation_token_response import (
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenResponse,
)
from kafka_admin_proto.protocol.error_forms import FIRST_REQUESTER
from kafka_admin_proto.records.metadata.entities import Token
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.delegation_tokens import (
    check_allowed,
    hmac_of,
    secret_key,
)
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.security.authorizer.access import allows
from kafka_admin_proto.server.security.authorizer.rules import (
    DELEGATION_TOKEN,
    DESCRIBE,
    DESCRIBE_TOKENS,
    USER,
)


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: DescribeDelegationTokenRequest, caller: Caller) -> Answer:
    """The tokens of which one of those named has a part, or all tokens for None."""
    try:
        check_allowed(caller)
        key = secret_key(state, caller.node_id)
    except ApiFailure as failure:
        return Answer(DescribeDelegationTokenResponse(failure.code))
    named = None
    if request.owners is not None:
        named = {f"{each.principal_type}:{each.principal_name}" for each in request.owners}
    response = DescribeDelegationTokenResponse()
    for token_id, token in state.cluster.delegation_tokens.items():
        if named is not None and named.isdisjoint(_principals(token)):
            continue
        if _may_see(state, caller, token_id, token):
            row = _described(token_id, token, hmac_of(key, token_id), caller.version)
            response.tokens.append(row)
    return Answer(response)


def _principals(token: Token) -> list[str]:
    """The owner, who asked for the token, and the renewers (``TokenInformation``)."""
    return [token.owner, token.requester, *token.renewers]


def _may_see(state: View, caller: Caller, token_id: str, token: Token) -> bool:
    """Whether the client has a part in a token, or an ACL for it or for its owner's tokens."""
    return (
        caller.principal in _principals(token)
        or allows(state, caller, DESCRIBE, DELEGATION_TOKEN, token_id)
        or allows(state, caller, DESCRIBE_TOKENS, USER, token.owner)
    )


def _described(
    token_id: str, token: Token, password: bytes, version: int
) -> DescribedDelegationToken:
    owner_type, _, owner = token.owner.partition(":")
    requester_type, _, requester = token.requester.partition(":")
    if version < FIRST_REQUESTER:
        requester_type = requester = ""
    return DescribedDelegationToken(
        principal_type=owner_type,
        principal_name=owner,
        token_requester_principal_type=requester_type,
        token_requester_principal_name=requester,
        issue_timestamp=token.issue_timestamp,
        expiry_timestamp=token.expiration_timestamp,
        max_timestamp=token.max_timestamp,
        token_id=token_id,
        hmac=password,
        renewers=[
            DescribedDelegationTokenRenewer(type_, name)
            for type_, _, name in (each.partition(":") for each in token.renewers)
        ],
    )
