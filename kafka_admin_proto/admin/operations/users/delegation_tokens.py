"""Delegation tokens: create, renew, expire, describe.

A token's HMAC is the password of whoever logs in with it: it is in the results, and in no ``repr``.
Brokers take these requests over connections that are authenticated, and not with a token itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import msgspec

from kafka_admin_proto.admin.caller import Caller, Target, call_deadline
from kafka_admin_proto.admin.errors import BrokerError, InstructionError
from kafka_admin_proto.admin.operations.common.failures import (
    failure,
    failure_of,
    note_lost_answer,
    raise_failure,
)
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.messages import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
    DescribeDelegationTokenResponse,
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from kafka_admin_proto.messages.describe_delegation_token_request import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.wire.secrets import MASK, MaskedStruct

_UNSEEN = "there is no such token, or this client may not see it"
#: Versions in which a token can have another owner than the client.
_WITH_OWNER = VersionRange.parse("3+")


class DelegationToken(MaskedStruct, frozen=True):
    """A token; principals are "User:alice". Brokers before 3.3 do not name the ``requester``."""

    token_id: str
    hmac: bytes
    owner: str
    requester: str | None
    renewers: Sequence[str]
    issued_ms: int
    expires_ms: int
    max_ms: int

    def _shown(self, field: str) -> Any:
        return MASK if field == "hmac" else getattr(self, field)


class ChangedToken(msgspec.Struct, frozen=True):
    """A token that was renewed or expires, unless there is an error; ``expires_ms`` since 1970."""

    token_id: str
    expires_ms: int | None
    error: str | None = None
    message: str | None = None


class TokenOperations(Caller):
    """Delegation tokens; operations on a single one raise BrokerError."""

    async def create_delegation_token(
        self,
        *,
        owner: str | None = None,
        renewers: Iterable[str] = (),
        max_lifetime_ms: int = -1,
        timeout: float | None = None,
    ) -> DelegationToken:
        """A new token for ``owner`` (the client, by default). -1 is the broker's longest lifetime.

        The request is not repeated where its answer was lost: the token may exist all the same.
        """
        named = list(renewers)
        # Empty, and so left out before version 3: the client is the owner.
        owner_type, owner_name = ("", "") if owner is None else _principal(owner)
        request = CreateDelegationTokenRequest(
            owner_type,
            owner_name,
            [CreateDelegationTokenRequest.CreatableRenewers(*_principal(each)) for each in named],
            max_lifetime_ms,
        )
        reply = await self.call(
            request,
            CreateDelegationTokenResponse,
            to=Target.CONTROLLER,
            timeout=timeout,
            repeatable=False,
            versions=None if owner is None else _WITH_OWNER,
        )
        body = reply.body
        raise_failure(body.error_code, context="CreateDelegationToken")
        return DelegationToken(
            body.token_id,
            bytes(body.hmac),
            f"{body.principal_type}:{body.principal_name}",
            _requester(body.token_requester_principal_type, body.token_requester_principal_name),
            named,
            body.issue_timestamp_ms,
            body.expiry_timestamp_ms,
            body.max_timestamp_ms,
        )

    async def renew_delegation_token(
        self, hmac: bytes, *, period_ms: int = -1, timeout: float | None = None
    ) -> int:
        """Renew a token; returns when it expires, in ms since 1970. -1 is the broker's period."""
        reply = await self.call(
            RenewDelegationTokenRequest(hmac, period_ms),
            RenewDelegationTokenResponse,
            to=Target.CONTROLLER,
            timeout=timeout,
        )
        raise_failure(reply.body.error_code, context="RenewDelegationToken")
        return reply.body.expiry_timestamp_ms

    async def expire_delegation_token(
        self, hmac: bytes, *, period_ms: int = -1, timeout: float | None = None
    ) -> int:
        """Let a token expire; returns when, in milliseconds since 1970.

        With a ``period_ms`` of -1, as with any below 0, brokers remove the token at once, also one
        that has expired. Otherwise it expires when so many milliseconds have passed, and at the end
        of its longest lifetime at the latest (KIP-48, ``DelegationTokenControlManager``).
        """
        reply = await self.call(
            ExpireDelegationTokenRequest(hmac, period_ms),
            ExpireDelegationTokenResponse,
            to=Target.CONTROLLER,
            timeout=timeout,
        )
        code = reply.body.error_code
        why = note_lost_answer(failure(code), reply.maybe_repeated, "DELEGATION_TOKEN_NOT_FOUND")
        raise_failure(code, why["message"], context="ExpireDelegationToken")
        return reply.body.expiry_timestamp_ms

    async def renew_delegation_tokens(
        self, ids: Iterable[str], *, period_ms: int = -1, timeout: float | None = None
    ) -> list[ChangedToken]:
        """`renew_delegation_token` of tokens by their ids, as far as the client may see them."""
        return await self._changed(ids, self.renew_delegation_token, period_ms, timeout)

    async def expire_delegation_tokens(
        self, ids: Iterable[str], *, period_ms: int = -1, timeout: float | None = None
    ) -> list[ChangedToken]:
        """`expire_delegation_token` of tokens by their ids, as far as the client may see them."""
        return await self._changed(ids, self.expire_delegation_token, period_ms, timeout)

    async def _changed(
        self,
        ids: Iterable[str],
        change: Callable[..., Awaitable[int]],
        period_ms: int,
        timeout: float | None,
    ) -> list[ChangedToken]:
        """Brokers want HMACs, and show them to who may change a token."""
        named = dict.fromkeys(ids)
        deadline = call_deadline(self, timeout)
        seen = await self.describe_delegation_tokens(timeout=deadline.left)
        hmacs = {each.token_id: each.hmac for each in seen}
        changed = []
        for token_id in named:
            try:
                if token_id not in hmacs:
                    raise BrokerError(codes.DELEGATION_TOKEN_NOT_FOUND, _UNSEEN)
                ends_ms = await change(hmacs[token_id], period_ms=period_ms, timeout=deadline.left)
                changed.append(ChangedToken(token_id, ends_ms))
            except KafkaAdminProtoError as error:
                if not changed and not isinstance(error, BrokerError):
                    raise
                changed.append(ChangedToken(token_id, None, **failure_of(error)))
        return changed

    async def describe_delegation_tokens(
        self, owners: Iterable[str] | None = None, *, timeout: float | None = None
    ) -> list[DelegationToken]:
        """The tokens of owners (of all by default) that the client may see, sorted by id."""
        wanted = None
        if owners is not None:
            wanted = [DescribeDelegationTokenOwner(*_principal(each)) for each in owners]
        reply = await self.call(
            DescribeDelegationTokenRequest(wanted), DescribeDelegationTokenResponse, timeout=timeout
        )
        raise_failure(reply.body.error_code, context="DescribeDelegationToken")
        return sorted(
            (
                DelegationToken(
                    each.token_id,
                    bytes(each.hmac),
                    f"{each.principal_type}:{each.principal_name}",
                    _requester(
                        each.token_requester_principal_type, each.token_requester_principal_name
                    ),
                    sorted(f"{own.principal_type}:{own.principal_name}" for own in each.renewers),
                    each.issue_timestamp,
                    each.expiry_timestamp,
                    each.max_timestamp,
                )
                for each in reply.body.tokens
            ),
            key=lambda token: token.token_id,
        )


def _principal(text: str) -> tuple[str, str]:
    """Type and name of "User:alice"; raises InstructionError."""
    type_, colon, name = text.partition(":")
    if not (type_ and colon and name):
        raise InstructionError(
            f"{text!r} is no principal; write its type in front, as in User:alice"
        )
    return type_, name


def _requester(type_: str, name: str) -> str | None:
    return f"{type_}:{name}" if type_ else None
