"""The credentials of clients that log in with a delegation token (KIP-48)."""

from __future__ import annotations

import base64
from functools import lru_cache

from kafka_admin_proto.protocol.connection import ScramCredential
from kafka_admin_proto.protocol.connection.sasl_server import DelegatedCredential
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.delegation_tokens import has_key, hmac_of, secret_key


def credential_of(
    view: View, node_id: int, mechanism: str, token_id: str, now_ms: int
) -> DelegatedCredential | None:
    """What a client proves that logs in with a token at a broker; None without such a token."""
    token = view.cluster.delegation_tokens.get(token_id)
    if token is None or not has_key(view, node_id):
        return None
    _, _, owner = token.owner.partition(":")
    credential = _credential(mechanism, hmac_of(secret_key(view, node_id), token_id))
    return DelegatedCredential(credential, owner, token.expiration_timestamp - now_ms)


@lru_cache(maxsize=1024)
def _credential(mechanism: str, password: bytes) -> ScramCredential:
    """The credential of an HMAC: 4,096 rounds, which take milliseconds, once for each token."""
    return ScramCredential.of_password(mechanism, base64.b64encode(password).decode())
