"""Delegation tokens (KIP-48): who may have them, and the passwords that they are.

A token's HMAC is the password of whoever logs in with it by SCRAM, its id the name. The secret key
of the brokers makes the one from the other, so that the metadata log has no HMAC.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafka_admin_proto.messages import DelegationTokenRecord, RemoveDelegationTokenRecord
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.entities import Token
from kafka_admin_proto.records.metadata.names import METADATA_VERSION
from kafka_admin_proto.server.failures import ApiFailure

if TYPE_CHECKING:
    from kafka_admin_proto.server.apis import Caller
    from kafka_admin_proto.server.brokers.view import View
    from kafka_admin_proto.server.clock import Timers
    from kafka_admin_proto.server.state import State
    from kafka_admin_proto.values import Message

EXPIRY_TIME = "delegation.token.expiry.time.ms"
MAX_LIFETIME = "delegation.token.max.lifetime.ms"
_CHECK_INTERVAL = "delegation.token.expiry.check.interval.ms"
#: The last is the older name, which 3.9 has too.
_SECRET_KEYS = ("delegation.token.secret.key", "delegation.token.master.key")
#: 3.6-IV2, the first level of metadata.version with tokens.
_FIRST_LEVEL = 14
#: The only type of principal that can renew a token.
USER_TYPE = "User"
#: A time in the response to a request that is not allowed.
NO_TIME = -1
_LATEST_MS = 2**63 - 1


def check_allowed(caller: Caller) -> None:
    """Raises ApiFailure over a connection that may not ask for tokens.

    That is one without TLS and SASL, of a client without a certificate, or with a token itself.
    """
    if not caller.may_ask_for_tokens:
        raise ApiFailure(codes.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)


def secret_key(view: View, node_id: int | None = None) -> bytes:
    """The key of a broker, or the controller's. Raises ApiFailure where tokens are off."""
    names = [each for each in _SECRET_KEYS if each in view.definitions.brokers]
    texts: list[str | None] = [view.broker_value(each, node_id) for each in names]
    key = next((each for each in texts if each is not None), "")
    if not key:
        raise ApiFailure(codes.DELEGATION_TOKEN_AUTH_DISABLED)
    return key.encode()


def has_key(view: View, node_id: int | None = None) -> bool:
    """Whether tokens are on."""
    try:
        return bool(secret_key(view, node_id))
    except ApiFailure:
        return False


def controllers_key(state: State) -> bytes:
    """The controller's key. Raises ApiFailure where tokens are off, or metadata.version is low."""
    key = secret_key(state)
    if state.cluster.features.get(METADATA_VERSION, _FIRST_LEVEL) < _FIRST_LEVEL:
        raise ApiFailure(codes.UNSUPPORTED_VERSION)
    return key


def hmac_of(key: bytes, token_id: str) -> bytes:
    return hmac.digest(key, token_id.encode(errors="surrogateescape"), "sha512")


def later(now_ms: int, lifetime_ms: int) -> int:
    """A time in ms since 1970; the last one of an int64 where there is no later one."""
    return min(now_ms + lifetime_ms, _LATEST_MS)


def is_expired(token: Token, now_ms: int) -> bool:
    """Whether a token can be renewed no more."""
    return min(token.max_timestamp, token.expiration_timestamp) < now_ms


def may_renew(token: Token, principal: str) -> bool:
    """Whether a principal ("User:alice") may renew a token, and let it expire."""
    return principal == token.owner or principal in token.renewers


def record_of(token_id: str, token: Token, expires_ms: int) -> DelegationTokenRecord:
    """The record of a token that expires at that time."""
    return DelegationTokenRecord(
        owner=token.owner,
        requester=token.requester,
        renewers=list(token.renewers),
        issue_timestamp=token.issue_timestamp,
        max_timestamp=token.max_timestamp,
        expiration_timestamp=expires_ms,
        token_id=token_id,
    )


class DelegationTokens:
    """The controller's tokens by their HMACs, and the end of those that have expired.

    HMACs are computed as tokens come, as by Kafka's ``DelegationTokenCache``: a request that names
    one does not pay for all tokens.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        #: HMAC → id; empty without a key.
        self._ids: dict[bytes, str] = {}
        if has_key(state):
            self._key = secret_key(state)
            self._ids = {hmac_of(self._key, each): each for each in self._tokens}
            state.followers.append(self._follow)

    def of_hmac(self, given: bytes) -> tuple[str, Token]:
        """The id and the token of an HMAC, which may be expired. Raises ApiFailure."""
        controllers_key(self._state)
        token_id = self._ids.get(given)
        if token_id is None:
            raise ApiFailure(codes.DELEGATION_TOKEN_NOT_FOUND)
        return token_id, self._tokens[token_id]

    def remove_expired(self, timers: Timers) -> None:
        """Remove the tokens that have expired, as often as the brokers' configs say."""

        def due() -> None:
            if self._state.quorum.available:
                now_ms = self._state.clock.now_ms()
                tokens = self._tokens.items()
                expired = [token_id for token_id, each in tokens if is_expired(each, now_ms)]
                self._state.append([RemoveDelegationTokenRecord(each) for each in expired])
            timers.later(interval_s, due)

        interval_s = self._state.broker_value(_CHECK_INTERVAL) / 1000
        if has_key(self._state):
            timers.later(interval_s, due)

    @property
    def _tokens(self) -> dict[str, Token]:
        return self._state.cluster.delegation_tokens

    def _follow(self, records: Sequence[Message], offset: int) -> None:
        """Keep the ids of new tokens, and forget those of removed ones."""
        for record in records:
            if isinstance(record, DelegationTokenRecord):
                self._ids[hmac_of(self._key, record.token_id)] = record.token_id
            elif isinstance(record, RemoveDelegationTokenRecord):
                self._ids.pop(hmac_of(self._key, record.token_id), None)
