"""What clients do with delegation tokens, in a form for two clusters."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Sequence
from typing import Any

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages import create_delegation_token_request as creating
from kafka_admin_proto.messages.describe_delegation_token_request import (
    DescribeDelegationTokenOwner,
)
from kafka_admin_proto.protocol.connection.scram import HASHES
from kafka_admin_proto.values import Message
from tests.server.security.secured import PASSWORDS, Peer, peer, scram

KEY = {"delegation.token.secret.key": "a-key-of-the-tests"}
_PATIENCE_S = 20.0
_HOUR_MS = 3_600_000


def with_token(client: Peer, mechanism: str, token_id: str, hmac: bytes) -> tuple[int, int]:
    """Log in with a token: code and lifetime of the session."""
    password = base64.b64encode(hmac).decode()
    answer = scram(client, mechanism, token_id, password, by_token=True)
    return answer.error_code, answer.session_lifetime_ms


class TokenStory:
    """Tokens of bob's at a cluster, with addresses by listener; ``answers`` are the cluster's.

    Ids, HMACs and times of the machine are left out of it.
    """

    def __init__(self, address: Callable[[str], str]) -> None:
        self._address = address
        self.answers: list[object] = []

    def play(self) -> list[object]:
        """All of it."""
        with peer(self._address("PLAINTEXT")) as client:
            self._ask_for_all(client)
        with peer(self._address("SASL")) as bob, peer(self._address("SASL")) as admin:
            self._log_in(bob, "bob")
            self._log_in(admin, "admin")
            for version in (1, 2, 3):
                self._create(bob, version=version)
            self._create(bob, renewers=[("Group", "g")])
            self._create(bob, owner=(None, "anna"))
            self._create(bob, owner=("User", ""))
            self._create(bob, owner=("User", "anna"), renewers=[("User", "admin")])
            self._renew_and_expire(bob, admin)
            self._use(bob)
        return self.answers

    def _log_in(self, client: Peer, user: str) -> None:
        assert client.handshake("PLAIN").error_code == 0
        assert client.authenticate(f"\0{user}\0{PASSWORDS[user]}".encode()).error_code == 0

    def _ask_for_all(self, client: Peer) -> None:
        """Each request, of a client that may not."""
        self._create(client)
        for request in (
            m.RenewDelegationTokenRequest(b"h"),
            m.ExpireDelegationTokenRequest(b"h", -1),
        ):
            answer = client.ask(request, 2)
            self.answers.append((answer.error_code, answer.expiry_timestamp_ms))
        self.answers.append(client.ask(m.DescribeDelegationTokenRequest(None), 3).error_code)

    def _create(
        self,
        client: Peer,
        *,
        owner: tuple[str | None, str] | None = None,
        renewers: Sequence[tuple[str, str]] = (),
        lifetime_ms: int = -1,
        version: int = 3,
    ) -> Any:
        named = [creating.CreatableRenewers(*each) for each in renewers]
        asked = ("", "") if owner is None else owner
        answer = client.ask(
            creating.CreateDelegationTokenRequest(*asked, named, lifetime_ms), version
        )
        issued = answer.issue_timestamp_ms
        self.answers.append(
            (
                answer.error_code,
                answer.principal_type,
                answer.principal_name,
                answer.token_requester_principal_type,
                answer.token_requester_principal_name,
                issued if issued <= 0 else "now",
                answer.expiry_timestamp_ms - issued,
                answer.max_timestamp_ms - issued,
                len(answer.token_id),
                len(answer.hmac),
            )
        )
        return answer

    def _renew_and_expire(self, bob: Peer, admin: Peer) -> None:
        """Of the owner, and of another who may not."""
        token = self._create(bob, lifetime_ms=2 * _HOUR_MS)
        self._described(bob, token, is_there=True)
        for client, request in (
            (bob, m.RenewDelegationTokenRequest(token.hmac, _HOUR_MS)),
            (bob, m.RenewDelegationTokenRequest(token.hmac, 9 * _HOUR_MS)),
            (bob, m.RenewDelegationTokenRequest(b"no such token", 1)),
            (admin, m.RenewDelegationTokenRequest(token.hmac, 1)),
            (admin, m.ExpireDelegationTokenRequest(token.hmac, -1)),
            (bob, m.ExpireDelegationTokenRequest(token.hmac, 3 * _HOUR_MS)),
        ):
            self._change(client, request)
        self._expire(bob, token)
        self._change(bob, m.RenewDelegationTokenRequest(token.hmac, _HOUR_MS))
        self._change(bob, m.ExpireDelegationTokenRequest(token.hmac, _HOUR_MS))
        self._change(bob, m.ExpireDelegationTokenRequest(token.hmac, -1))
        self._described(bob, token, is_there=False)
        self._change(bob, m.ExpireDelegationTokenRequest(token.hmac, -1))
        for owners in (None, [], ["bob"], ["anna"], ["admin"], ["nobody"], ["bob", "anna"]):
            named = None
            if owners is not None:
                named = [DescribeDelegationTokenOwner("User", each) for each in owners]
            for version in (1, 3):
                answer = bob.ask(m.DescribeDelegationTokenRequest(named), version)
                self.answers.append((answer.error_code, sorted(map(_row, answer.tokens), key=str)))

    def _change(self, client: Peer, request: Message) -> None:
        answer = client.ask(request, 2)
        expires_ms = answer.expiry_timestamp_ms
        hours = (expires_ms - time.time() * 1000) / _HOUR_MS
        self.answers.append((answer.error_code, round(hours, 1) if expires_ms > 0 else expires_ms))

    def _expire(self, bob: Peer, token: Any) -> None:
        """Let a token expire, and wait until it has."""
        self._change(bob, m.ExpireDelegationTokenRequest(token.hmac, 0))
        self._described(bob, token, is_there=True, is_over=True)

    def _described(self, bob: Peer, token: Any, *, is_there: bool, is_over: bool = False) -> None:
        """Wait until the broker has heard of a token, of its expiry or its end."""
        end = time.monotonic() + _PATIENCE_S
        while time.monotonic() < end:
            answer = bob.ask(m.DescribeDelegationTokenRequest(None), 3)
            rows = [each for each in answer.tokens if each.token_id == token.token_id]
            now_ms = time.time() * 1000
            if bool(rows) == is_there and (not is_over or rows[0].expiry_timestamp < now_ms - 100):
                return
            time.sleep(0.02)
        raise AssertionError(f"the broker has not heard of a token: {is_there=}, {is_over=}")

    def _use(self, bob: Peer) -> None:
        """Logins with a token, with wrong ones, and with one that has expired."""
        token = self._create(bob)
        self._described(bob, token, is_there=True)
        for mechanism in HASHES:
            with peer(self._address("SASL")) as client:
                code, lifetime_ms = with_token(client, mechanism, token.token_id, token.hmac)
                self.answers.append((code, round(lifetime_ms / _HOUR_MS)))
                self.answers.append(len(client.ask(m.MetadataRequest(topics=None), 12).brokers))
                self._ask_for_all(client)
        for token_id, password in ((token.token_id, b"wrong"), ("none", token.hmac)):
            with peer(self._address("SASL")) as client:
                self.answers.append(with_token(client, "SCRAM-SHA-256", token_id, password))
        self._expire(bob, token)
        with peer(self._address("SASL")) as client:
            self.answers.append(with_token(client, "SCRAM-SHA-256", token.token_id, token.hmac))
            self.answers.append(client.ask(m.MetadataRequest(topics=None), 12))


def _row(token: Any) -> tuple[object, ...]:
    return (
        token.principal_type,
        token.principal_name,
        token.token_requester_principal_type,
        token.token_requester_principal_name,
        token.expiry_timestamp - token.issue_timestamp,
        token.max_timestamp - token.issue_timestamp,
        len(token.token_id),
        len(token.hmac),
        [(each.principal_type, each.principal_name) for each in token.renewers],
    )
