"""Delegation tokens: principals as text, HMACs in the results and nowhere else."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kafka_admin_proto.admin import BrokerError, ConnectionFailedError, DelegationToken
from kafka_admin_proto.admin.operations.users.delegation_tokens import TokenOperations
from kafka_admin_proto.messages import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
    DescribeDelegationTokenRequest,
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from kafka_admin_proto.messages import describe_delegation_token_response as described
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.values import Message
from tests.admin.fake_caller import Call, FakeCaller

HMAC = b"hmac-of-the-token"
NOT_FOUND = 62


class Client(TokenOperations, FakeCaller):
    """A controller with one token."""

    def __init__(self, version: int = 3) -> None:
        super().__init__(
            {
                CreateDelegationTokenRequest: self._create,
                DescribeDelegationTokenRequest: self._describe,
                RenewDelegationTokenRequest: self._renew,
                ExpireDelegationTokenRequest: self._expire,
            },
            versions=dict.fromkeys((38, 41), VersionRange(0, version)),
        )

    def _create(self, request: Message, call: Call) -> Message:
        assert isinstance(request, CreateDelegationTokenRequest)
        assert not call.repeatable
        requester = ("User", "me") if call.version >= 3 else ("", "")
        owner = (request.owner_principal_type or "User", request.owner_principal_name or "me")
        return CreateDelegationTokenResponse(0, *owner, *requester, 1, 2, 3, "id", HMAC)

    def _describe(self, request: Message, call: Call) -> Message:
        renewer = described.DescribedDelegationTokenRenewer("User", "r")
        requester = ("User", "me") if call.version >= 3 else ("", "")
        token = described.DescribedDelegationToken(
            "User", "a", *requester, 1, 2, 3, "id", HMAC, [renewer]
        )
        return described.DescribeDelegationTokenResponse(tokens=[token])

    def _renew(self, request: Message, call: Call) -> Message:
        assert isinstance(request, RenewDelegationTokenRequest)
        if request.hmac != HMAC:
            return RenewDelegationTokenResponse(NOT_FOUND)
        return RenewDelegationTokenResponse(0, 1000 + request.renew_period_ms)

    def _expire(self, request: Message, call: Call) -> Message:
        assert isinstance(request, ExpireDelegationTokenRequest)
        return ExpireDelegationTokenResponse(0, 1000 + request.expiry_time_period_ms)


@pytest.mark.parametrize("version", [1, 3])
def test_a_token_is_created_described_renewed_and_expired(version: int) -> None:
    client = Client(version)
    requester = "User:me" if version >= 3 else None
    token = asyncio.run(client.create_delegation_token(renewers=["User:r"]))
    assert token == DelegationToken("id", HMAC, "User:me", requester, ["User:r"], 1, 2, 3)
    (found,) = asyncio.run(client.describe_delegation_tokens(["User:a"]))
    assert found == DelegationToken("id", HMAC, "User:a", requester, ["User:r"], 1, 2, 3)
    assert asyncio.run(client.renew_delegation_token(HMAC, period_ms=7)) == 1007
    assert asyncio.run(client.expire_delegation_token(HMAC)) == 999


def test_no_hmac_is_shown() -> None:
    client = Client()
    token = asyncio.run(client.create_delegation_token(owner="User:a:b"))
    assert token.owner == "User:a:b"
    for shown in (repr(token), str([token]), str(token.__rich_repr__())):
        assert "hmac-of" not in shown
        assert "User:a:b" in shown
    with pytest.raises(BrokerError, match="DELEGATION_TOKEN_NOT_FOUND") as caught:
        asyncio.run(client.renew_delegation_token(b"secret-word"))
    assert "secret-word" not in str(caught.value)


@pytest.mark.parametrize("text", ["alice", "User:", ":alice", ""])
def test_a_principal_needs_a_type_and_a_name(text: str) -> None:
    with pytest.raises(ValueError, match="User:alice"):
        asyncio.run(Client().create_delegation_token(owner=text))


class TwoTokens(Client):
    """A controller that is lost, or has lost an answer, after the first of two tokens."""

    def _describe(self, request: Message, call: Call) -> Message:
        row = described.DescribedDelegationToken
        tokens = [row("User", "a", token_id=each, hmac=each.encode()) for each in ("one", "two")]
        return described.DescribeDelegationTokenResponse(tokens=tokens)

    def _expire(self, request: Message, call: Call) -> Any:
        assert isinstance(request, ExpireDelegationTokenRequest)
        if request.hmac == b"two":
            return ConnectionFailedError("gone")
        return super()._expire(request, call)


def test_tokens_that_were_changed_are_told_where_a_later_one_was_not() -> None:
    one, two, three = asyncio.run(TwoTokens().expire_delegation_tokens(["one", "two", "three"]))
    assert (one.expires_ms, one.error) == (999, None)
    assert (two.expires_ms, two.error, two.message) == (None, "ConnectionFailedError", "gone")
    assert three.error == "DELEGATION_TOKEN_NOT_FOUND"
    with pytest.raises(ConnectionFailedError):
        asyncio.run(TwoTokens().expire_delegation_tokens(["two", "one"]))


def test_a_token_that_a_lost_attempt_may_have_removed() -> None:
    client = Client()
    gone = ExpireDelegationTokenResponse(NOT_FOUND)
    client.handlers[ExpireDelegationTokenRequest] = lambda request, call: gone
    client.lost.add(ExpireDelegationTokenRequest)
    with pytest.raises(BrokerError, match="its answer lost: it may have done this itself"):
        asyncio.run(client.expire_delegation_token(HMAC))
