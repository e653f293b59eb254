"""Tokens out of Kafka's properties: of an endpoint on loopback, of a file, without a signature."""

from __future__ import annotations

import base64
import json
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.admin import ClientConfig, ConfigurationError, client_config
from kafka_admin_proto.errors import SaslError
from tools.clusters import free_ports

BROKER = "localhost:9092"
MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
URL = "sasl.oauthbearer.token.endpoint.url"
HANDLER = "sasl.login.callback.handler.class"
CLIENT = "sasl.oauthbearer.client.credentials.client"
ALICE = {"unsecuredLoginStringClaim_sub": "alice"}


def login(**options: str) -> str:
    return MODULE + "".join(f' {name}="{value}"' for name, value in options.items()) + ";"


def config(properties: dict[str, str], **settings: Any) -> ClientConfig:
    given = {"sasl.mechanism": "OAUTHBEARER", **properties}
    return client_config(BROKER, command_config=given, **settings)


def message(properties: dict[str, str]) -> str:
    """The first message of a login."""
    sasl = config(properties).credentials()
    assert sasl is not None
    return sasl.exchange(0).first().decode()


class Endpoint(HTTPServer):
    """An endpoint that answers as it is told, and keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status, self.answer = 200, b'{"access_token": "tok-hush", "expires_in": 3600}'
        self.asked: list[tuple[dict[str, str], str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/oauth2/token"


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.asked.append((dict(self.headers), body))
        self.send_response(self.server.status)
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", str(len(self.server.answer)))
        self.end_headers()
        self.wfile.write(self.server.answer)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as found:
        thread = threading.Thread(target=found.serve_forever, args=(0.01,))
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def test_an_endpoint_is_asked_with_the_clients_credentials(endpoint: Endpoint) -> None:
    options = {"clientId": "me", "clientSecret": "hush:1", "scope": "a b", "extension_cluster": "c"}
    properties = {URL: endpoint.url, "sasl.jaas.config": login(**options)}
    assert message(properties) == "n,,\x01auth=Bearer tok-hush\x01cluster=c\x01\x01"
    [(headers, body)] = endpoint.asked
    assert headers["Authorization"] == "Basic " + base64.b64encode(b"me:hush:1").decode()
    assert headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert body == "grant_type=client_credentials&scope=a+b"
    assert "hush" not in repr(config(properties))


def test_properties_go_before_options(endpoint: Endpoint) -> None:
    properties = {f"{CLIENT}.id": "i d", f"{CLIENT}.secret": "hush", URL: endpoint.url}
    properties["sasl.oauthbearer.header.urlencode"] = "true"
    message(properties)
    message({**properties, "sasl.jaas.config": login(clientId="other", clientSecret="other")})
    for headers, _ in endpoint.asked:
        assert headers["Authorization"] == "Basic " + base64.b64encode(b"i+d:hush").decode()


@pytest.mark.parametrize(
    ("status", "answer", "said"),
    [
        (401, b'{"error": "invalid_client", "error_description": "hush"}', "401 (invalid_client)"),
        (500, b"hush", "it answered 500"),
        (302, b"", "it answered 302"),
        (200, b'{"token": "hush"}', "its answer has no access_token"),
        (200, b"[]", "its answer has no access_token"),
        (200, b"hush", "its answer has no access_token"),
        (200, b"[" * 100_000, "its answer has no access_token"),
        (202, b'{"access_token": "hush"}', "it answered 202"),
    ],
)
def test_endpoints_without_a_token(
    endpoint: Endpoint, status: int, answer: bytes, said: str
) -> None:
    endpoint.status, endpoint.answer = status, answer
    properties = {
        URL: f"{endpoint.url}?key=hush",
        "sasl.jaas.config": login(clientId="me", clientSecret="hush"),
    }
    with pytest.raises(SaslError) as caught:
        message(properties)
    assert f"OAUTHBEARER: no token of {endpoint.url}: " in str(caught.value)
    assert said in str(caught.value)
    assert "hush" not in str(caught.value)
    assert len(endpoint.asked) == 1  # a redirect would take the secret elsewhere


def test_an_identity_token_does_as_well(endpoint: Endpoint) -> None:
    """As in Kafka's ``JwtResponseParser``."""
    endpoint.answer = b'{"id_token": "id-hush"}'
    properties = {URL: endpoint.url, "sasl.jaas.config": login(clientId="me", clientSecret="hush")}
    assert message(properties) == "n,,\x01auth=Bearer id-hush\x01\x01"


def test_an_answer_that_is_not_http() -> None:
    """Its words, which may be anything, are shown neither in the error nor in its cause."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            accepted, _ = listening.accept()
            with accepted:
                accepted.recv(1 << 16)
                accepted.sendall(b"hush\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/token"
        with pytest.raises(SaslError, match=f"no token of {url}: its answer is not") as caught:
            message({URL: url, "sasl.jaas.config": login(clientId="me", clientSecret="hush")})
        thread.join()
    assert caught.value.__cause__ is None


def test_no_proxy_is_asked_for_an_endpoint_of_this_machine(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would get the secret, in the clear and without a warning."""
    monkeypatch.setenv("http_proxy", endpoint.url)
    properties = {"sasl.jaas.config": login(clientId="me", clientSecret="hush")}
    url = f"http://127.0.0.1:{free_ports(1)[0]}/token"
    with pytest.raises(SaslError, match="Connection refused"):
        message({URL: url, **properties})
    assert endpoint.asked == []


def test_an_endpoint_that_is_not_there() -> None:
    url = f"http://127.0.0.1:{free_ports(1)[0]}/token"
    with pytest.raises(SaslError, match="Connection refused"):
        message({URL: url, "sasl.jaas.config": login(clientId="me", clientSecret="hush")})


def test_a_file_is_read_for_each_login(tmp_path: Path) -> None:
    file = tmp_path / "a token"
    properties = {URL: file.as_uri()}
    with pytest.raises(SaslError, match=r"no token of the file .*/a token: No such file"):
        message(properties)
    for token in ("one", "two"):
        file.write_text(f"{token}\n")
        assert message(properties) == f"n,,\x01auth=Bearer {token}\x01\x01"


def test_tokens_without_a_signature() -> None:
    """As ``OAuthBearerUnsecuredLoginCallbackHandler`` writes them."""
    options = {
        "unsecuredLoginStringClaim_sub": "alice",
        "unsecuredLoginNumberClaim_level": "3",
        "unsecuredLoginListClaim_scope": "|read|write",
        "unsecuredLoginLifetimeSeconds": "60",
        "unsecuredLoginExtension_traceId": "123",
    }
    before = int(time.time() * 1000) / 1000
    _, auth, extension, *_ = message({"sasl.jaas.config": login(**options)}).split("\x01")
    assert extension == "traceId=123"
    header, claims, signature = auth.removeprefix("auth=Bearer ").split(".")
    assert signature == ""
    read = [json.loads(base64.urlsafe_b64decode(each + "==")) for each in (header, claims)]
    assert read[0] == {"alg": "none"}
    issued = read[1].pop("iat")
    assert before <= issued <= time.time()
    assert read[1].pop("exp") == issued + 60
    assert read[1] == {"sub": "alice", "level": 3, "scope": ["read", "write"]}


@pytest.mark.parametrize(
    "names",
    [
        {"unsecuredLoginScopeClaimName": "level"},  # another claim is the scope then
        {"unsecuredLoginScopeClaimName": " level ", "unsecuredLoginPrincipalClaimName": " "},
    ],
)
def test_the_names_of_claims(names: dict[str, str]) -> None:
    """Blank ones are the usual, as in Kafka, and those of others have their claims as they are."""
    number = {"unsecuredLoginNumberClaim_scope": "1", "unsecuredLoginListClaim_level": "|read"}
    auth = message({"sasl.jaas.config": login(**ALICE, **number, **names)}).split("\x01")[1]
    claims = json.loads(base64.urlsafe_b64decode(auth.split(".")[1] + "=="))
    assert (claims["sub"], claims["scope"], claims["level"]) == ("alice", 1, ["read"])


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({}, f"needs tokens: set {URL}, or, .*, unsecuredLoginStringClaim_sub"),
        ({"sasl.jaas.config": login()}, "unsecuredLoginStringClaim_sub in sasl.jaas.config"),
        ({URL: "ftp://a/hush"}, "has the scheme 'ftp'"),
        ({URL: "https:///hush"}, "expected https"),
        ({URL: "file://a/token"}, "expected https"),
        ({URL: "https://a/b c"}, "is not a URL: write blanks"),
        ({URL: "https://me:hush@a/"}, "has a user in it; give clientId"),
        ({URL: "http://127.0.0.1:hush@a/"}, "has a user in it; give clientId"),
        ({URL: "https://a:b/hush"}, "is not a URL"),
        ({URL: "https://a"}, "needs clientId in sasl.jaas.config, or the property sasl.oauth"),
        (
            {URL: "https://a", "sasl.jaas.config": login(clientId="a", secret="hush")},
            "needs clientSecret in",
        ),
        (
            {URL: "file:///a", "sasl.jaas.config": login(clientSecret="hush")},
            "has clientSecret, which would have no effect beside",
        ),
        (
            {"sasl.jaas.config": login(unsecuredLoginStringClaim_sub="a", password="hush")},
            "has password, which would have no effect without",
        ),
        (
            {"sasl.jaas.config": login(unsecuredLoginNumberClaim_sub="hush")},
            "unsecuredLoginNumberClaim_sub in sasl.jaas.config is not a number",
        ),
        (
            {"sasl.jaas.config": login(unsecuredLoginNumberClaim_sub="1")},
            "unsecuredLoginStringClaim_sub in sasl.jaas.config",
        ),
        (
            {"sasl.jaas.config": login(**ALICE, unsecuredLoginNumberClaim_level="inf")},
            "unsecuredLoginNumberClaim_level in sasl.jaas.config is not a number",
        ),
        (
            {"sasl.jaas.config": login(**ALICE, unsecuredLoginNumberClaim_exp="1")},
            "unsecuredLoginNumberClaim_exp, a claim that the client sets",
        ),
        (
            {"sasl.jaas.config": login(**ALICE, unsecuredLoginLifetimeSeconds="0")},
            "unsecuredLoginLifetimeSeconds in sasl.jaas.config has to be a whole number of seconds",
        ),
        *(
            (
                {"sasl.jaas.config": login(**ALICE, unsecuredLoginLifetimeSeconds=each)},
                "has to be a whole number of seconds, 1 or more",
            )
            for each in ("1.5", "1e3", " 60", "1_000", "", "-1")
        ),
        (
            {"sasl.jaas.config": login(**ALICE, unsecuredLoginNumberClaim_level="1_000")},
            "unsecuredLoginNumberClaim_level in sasl.jaas.config is not a number",
        ),
        (
            {"sasl.jaas.config": login(**ALICE, unsecuredLoginNumberClaim_scope="1")},
            "unsecuredLoginNumberClaim_scope in sasl.jaas.config is the scope of the token",
        ),
        (
            {
                "sasl.jaas.config": login(
                    **ALICE,
                    unsecuredLoginScopeClaimName="level",
                    unsecuredLoginNumberClaim_level="1",
                )
            },
            "unsecuredLoginNumberClaim_level in sasl.jaas.config is the scope of the token",
        ),
        (
            {"sasl.jaas.config": login(**ALICE), f"{CLIENT}.secret": "hush"},
            f"{CLIENT}.secret would have no effect without",
        ),
        ({URL: "file:///a", f"{CLIENT}.id": "a"}, f"{CLIENT}.id would have no effect beside"),
        (
            {
                URL: "https://a",
                "sasl.jaas.config": login(clientId="a", clientSecret="hush"),
                "sasl.oauthbearer.header.urlencode": "yes",
            },
            "urlencode=yes is neither true nor false",
        ),
        (
            {HANDLER: "x.OAuthBearerLoginCallbackHandler", "sasl.jaas.config": login(**ALICE)},
            f"x.OAuthBearerLoginCallbackHandler needs {URL}",
        ),
        (
            {HANDLER: "x.OAuthBearerUnsecuredLoginCallbackHandler", URL: "file:///a"},
            f"x.OAuthBearerUnsecuredLoginCallbackHandler has no use for {URL}",
        ),
        ({HANDLER: "com.example.Hidden"}, "is a class of Java"),
        ({"sasl.jaas.config": "x.PlainLoginModule required;"}, "module PlainLoginModule; with"),
        ({URL: "file:///a", "sasl.mechanism": "PLAIN"}, "sasl.mechanism is PLAIN"),
    ],
)
def test_tokens_that_cannot_be_had(properties: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as caught:
        config(properties)
    assert "hush" not in str(caught.value)


def test_a_provider_is_given_instead() -> None:
    def provider() -> str:
        return "hush"

    found = client_config(BROKER, sasl_mechanism="OAUTHBEARER", sasl_oauth_token_provider=provider)
    assert found.security_protocol == "SASL_PLAINTEXT"
    assert "provider" not in repr(found).replace("sasl_oauth_token_provider='****", "")
    cases: list[tuple[dict[str, Any], str]] = [
        ({"sasl_mechanism": "OAUTHBEARER", "sasl_username": "a"}, "sasl_username would have no"),
        ({"sasl_mechanism": "PLAIN", "sasl_username": "a", "sasl_password": "b"}, "provider would"),
        ({"security_protocol": "PLAINTEXT"}, "there are SASL settings"),
    ]
    for settings, said in cases:
        with pytest.raises(ConfigurationError, match=said):
            client_config(BROKER, sasl_oauth_token_provider=provider, **settings)


@pytest.mark.parametrize(
    ("broker", "properties", "said"),
    [
        ("kafka.example:9092", {URL: "file:///a"}, "the token goes to kafka.example:9092 in the"),
        (
            BROKER,
            {
                URL: "http://auth.example/",
                "sasl.jaas.config": login(clientId="a", clientSecret="b"),
            },
            "the client's secret goes to auth.example in the clear",
        ),
    ],
)
def test_secrets_that_go_over_in_the_clear(
    broker: str, properties: dict[str, str], said: str
) -> None:
    with pytest.warns(UserWarning, match=said):
        client_config(broker, command_config={"sasl.mechanism": "OAUTHBEARER", **properties})
