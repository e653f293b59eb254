"""A filter that lets no client have delegation tokens (KIP-48).

To the cluster the clients of a proxy that logs in itself, by SASL or by a certificate, are all the
proxy's user. A token of that user is a login without the proxy: past its filters, its list of users
and its tenant. Clients whose login passes through the proxy may have tokens of their own. Others
have no name where the proxy shows no certificate, and brokers refuse them tokens with this code.
"""

from __future__ import annotations

from kafka_admin_proto.messages import (
    CreateDelegationTokenRequest,
    DescribeDelegationTokenRequest,
    EnvelopeRequest,
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.protocol.error_answers import Failure, whole_answer
from kafka_admin_proto.proxy.call import Call
from kafka_admin_proto.values import Message

_NOT_ALLOWED = Failure(codes.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
_NO_BROKER = Failure(codes.CLUSTER_AUTHORIZATION_FAILED)


class NoTokens:
    """Refuses to make, renew, expire and show tokens, as a broker refuses a client with one.

    And an Envelope, in which any request may be, of anybody: where the proxy's user is a broker's.
    """

    def on_request(
        self,
        request: CreateDelegationTokenRequest
        | DescribeDelegationTokenRequest
        | EnvelopeRequest
        | ExpireDelegationTokenRequest
        | RenewDelegationTokenRequest,
        call: Call,
    ) -> Message | None:
        """The answer to each of these requests; None for a client that logs in at the broker."""
        if call.logs_in:
            return None
        failure = _NO_BROKER if isinstance(request, EnvelopeRequest) else _NOT_ALLOWED
        return whole_answer(request, call.api_version, failure)
