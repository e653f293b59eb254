"""Logging in, logging in again before the session ends, and what refusals look like."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from typing import Any

import pytest

from kafka_admin_proto.admin import AuthenticationError, TraceEvent, client_config
from kafka_admin_proto.admin.network.opening import _ConnectionAttempt
from kafka_admin_proto.admin.session.session import Session
from kafka_admin_proto.errors import SaslError
from kafka_admin_proto.messages import ListGroupsRequest, ListGroupsResponse
from kafka_admin_proto.protocol.connection import (
    NEED_DATA,
    PAUSED,
    SERVER,
    Connection,
    RequestReceived,
    SaslServer,
    ScramCredential,
    ServerConnection,
)
from kafka_admin_proto.protocol.connection import Authenticated as LoggedIn
from tests.admin.leaks import run_without_leaks

PASSWORD = "correct horse"
CREDENTIAL = ScramCredential.of_password("SCRAM-SHA-256", PASSWORD)


class SaslBroker:
    """A broker with PLAIN, one user, and sessions that end."""

    def __init__(self, lifetime_ms: int = 0) -> None:
        self.logins: list[bool] = []
        self._sasl = SaslServer(
            plain=lambda user, password: (user, password) == ("alice", PASSWORD),
            scram_sha_256={"alice": CREDENTIAL}.get,
            oauthbearer={"token-hush": "alice"}.get,
            session_lifetime_ms=lifetime_ms,
        )
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> SaslBroker:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1")
        self.address = "127.0.0.1:{1}".format(*self._server.sockets[0].getsockname())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()
        await asyncio.gather(*self._tasks)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        connection = Connection(SERVER, sasl=self._sasl)
        try:
            while data := await reader.read(65536):
                connection.receive_data(data)
                self._take_events(connection, writer)
        except SaslError:
            writer.write(connection.data_to_send())
        except ConnectionResetError:
            pass  # the client has left while an answer was on its way
        writer.close()
        with contextlib.suppress(ConnectionResetError):
            await writer.wait_closed()

    def _take_events(self, connection: ServerConnection, writer: asyncio.StreamWriter) -> None:
        while (event := connection.next_event()) is not NEED_DATA and event is not PAUSED:
            writer.write(connection.data_to_send())
            if isinstance(event, LoggedIn):
                self.logins.append(event.again)
            elif isinstance(event, RequestReceived):
                asks_groups = isinstance(event.request.body, ListGroupsRequest)
                answer = ListGroupsResponse() if asks_groups else connection.api_versions()
                writer.write(connection.send(answer, to=event))
        writer.write(connection.data_to_send())


def with_tokens(broker: SaslBroker, provider: Any, **settings: Any) -> Session:
    config = client_config(
        broker.address, sasl_mechanism="OAUTHBEARER", sasl_oauth_token_provider=provider, **settings
    )
    return Session(config)


async def test_a_provider_is_asked_in_a_thread_before_each_login() -> None:
    threads: list[int] = []

    def token() -> str:
        threads.append(threading.get_ident())
        return "token-hush"

    async with SaslBroker(lifetime_ms=1) as broker, with_tokens(broker, token) as client:
        while len(broker.logins) < 2:
            await client.call(ListGroupsRequest(), ListGroupsResponse)
            await asyncio.sleep(0.02)
    assert broker.logins[:2] == [False, True]
    assert len(threads) >= 2
    assert threading.get_ident() not in threads


@pytest.mark.parametrize(
    ("token", "said"),
    [
        ("other-hush", 'refused the token: SASL_AUTHENTICATION_FAILED (58): {"status":"invalid'),
        (None, "OAUTHBEARER: the token provider's token failed: KeyError"),
        ("a hush", "the token provider returned text with other characters"),
    ],
)
async def test_a_token_that_is_refused_or_none(token: str | None, said: str) -> None:
    tokens = {} if token is None else {"hush": token}

    async with SaslBroker() as broker, with_tokens(broker, lambda: tokens["hush"]) as client:
        with pytest.raises(AuthenticationError) as caught:
            await client.call(ListGroupsRequest(), ListGroupsResponse)
    text = str(caught.value)
    assert said in text
    assert "hush" not in text


def test_a_provider_that_does_not_answer() -> None:
    """The error names the provider, and not the broker, which has said all that it has to say."""
    is_asked, is_over = threading.Event(), threading.Event()

    def token() -> str:
        is_asked.set()
        is_over.wait(30)
        return "token-hush"

    async def run() -> str:
        async with SaslBroker() as broker:
            config = with_tokens(broker, token).config
            attempt = _ConnectionAttempt(config.addresses[0], config)
            task = asyncio.create_task(attempt.run(None, None))
            await asyncio.to_thread(is_asked.wait, 30)
            task.cancel()  # as when its time is over
            await asyncio.wait([task])
            is_over.set()
        return attempt.waiting_for

    assert run_without_leaks(run()) == "the provider of tokens did not answer"


def session(
    broker: SaslBroker, password: str, *, mechanism: str = "PLAIN", **settings: Any
) -> Session:
    trace = settings.pop("trace", None)
    config = client_config(
        broker.address,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism=mechanism,
        sasl_username="alice",
        sasl_password=password,
        **settings,
    )
    return Session(config, trace=trace)


async def test_a_session_is_renewed_before_it_ends_while_requests_pass() -> None:
    async with SaslBroker(lifetime_ms=1200) as broker, session(broker, PASSWORD) as client:
        while len(broker.logins) < 3:
            await client.call(ListGroupsRequest(), ListGroupsResponse)
            await asyncio.sleep(0.02)
        assert broker.logins == [False, True, True]


async def test_a_session_of_a_millisecond_is_renewed_once_a_second() -> None:
    async with SaslBroker(lifetime_ms=1) as broker, session(broker, PASSWORD) as client:
        began = time.monotonic()
        for _ in range(100):
            await client.call(ListGroupsRequest(), ListGroupsResponse)
            await asyncio.sleep(0.002)
        assert len(broker.logins) <= 1 + (time.monotonic() - began)


async def test_the_loop_computes_no_scram_proofs(monkeypatch: pytest.MonkeyPatch) -> None:
    """PBKDF2 may take a second: a thread does it, for each login of a session."""
    scramp = pytest.importorskip("scramp", reason="SCRAM needs the extra live")
    threads: list[int] = []
    final = scramp.ScramClient.get_client_final

    def watched(client: Any) -> Any:
        threads.append(threading.get_ident())
        return final(client)

    monkeypatch.setattr(scramp.ScramClient, "get_client_final", watched)

    async with (
        SaslBroker(lifetime_ms=1) as broker,
        session(broker, PASSWORD, mechanism="SCRAM-SHA-256") as client,
    ):
        while len(broker.logins) < 2:
            await client.call(ListGroupsRequest(), ListGroupsResponse)
            await asyncio.sleep(0.02)
    assert len(threads) >= 2
    assert threading.get_ident() not in threads


async def test_a_wrong_password_is_refused_at_once_and_never_shown() -> None:
    async with SaslBroker() as broker, session(broker, "wrong horse") as client:
        with pytest.raises(AuthenticationError) as caught:
            await client.call(ListGroupsRequest(), ListGroupsResponse, timeout=20)
        for text in (str(caught.value), repr(caught.value), repr(client.config)):
            assert "horse" not in text


async def test_a_mechanism_that_the_broker_lacks_is_named() -> None:
    pytest.importorskip("scramp", reason="SCRAM needs the extra live")
    async with (
        SaslBroker() as broker,
        session(broker, PASSWORD, mechanism="SCRAM-SHA-512") as client,
    ):
        with pytest.raises(AuthenticationError, match=r"SCRAM-SHA-512.*PLAIN"):
            await client.call(ListGroupsRequest(), ListGroupsResponse)


async def test_the_password_is_masked_where_messages_are_shown() -> None:
    seen: list[TraceEvent] = []

    async with SaslBroker() as broker, session(broker, PASSWORD, trace=seen.append) as client:
        await client.call(ListGroupsRequest(), ListGroupsResponse)
    assert [each.api for each in seen[::2]] == [
        "ApiVersions",
        "SaslHandshake",
        "SaslAuthenticate",
        "ListGroups",
    ]
    assert "horse" not in repr(seen)
