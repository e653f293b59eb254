"""Tokens with a signature at a listener, checked by a JWKS as Kafka's class checks them."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import json
import os
import re
import shlex
import threading
import time
from collections.abc import Iterator
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.admin import AuthenticationError, SyncAdminClient
from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.security.jwks import Jwks
from kafka_admin_proto.server.security.signed_tokens import SignedTokens
from tests.helpers.java_tool import JavaTool
from tools.kafka_releases import NEWEST
from tools.oracles.jars import fetch_runtime

pytest.importorskip("cryptography")

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils

_TOOL = Path(__file__).parents[2] / "java" / "TokenTool.java"
CLASS = "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler"
FRONT = "listener.name.sasl."
HANDLER = f"{FRONT}oauthbearer.sasl.server.callback.handler.class"
URL = f"{FRONT}sasl.oauthbearer.jwks.endpoint.url"
#: The rules of a listener, in the order of the Java program's line.
RULES = {"audience": "orders,bills", "issuer": "https://id.example", "skew_s": 30,
         "subject": "sub", "scope": "scope"}  # fmt: skip
CLAIMS = ("audience", "issuer")
_CURVES: list[tuple[str, ec.EllipticCurve]] = [("P-256", ec.SECP256R1()), ("P-521", ec.SECP521R1())]


def text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def number(value: int) -> str:
    return text(value.to_bytes((value.bit_length() + 7) // 8, "big"))


@lru_cache
def private_key(kind: str) -> Any:
    """A key by its id: RSA, "other" (RSA), "short" (RSA of 1024 bits), P-256 or P-521."""
    curve = dict(_CURVES).get(kind)
    if curve is not None:
        return ec.generate_private_key(curve)
    return rsa.generate_private_key(65537, 1024 if kind == "short" else 2048)


def jwk(kind: str, **more: Any) -> dict[str, Any]:
    public = private_key(kind).public_key().public_numbers()
    if isinstance(public, rsa.RSAPublicNumbers):
        return {"kty": "RSA", "kid": kind, "n": number(public.n), "e": number(public.e), **more}
    size = 66 if kind == "P-521" else 32
    x, y = (text(each.to_bytes(size, "big")) for each in (public.x, public.y))
    return {"kty": "EC", "kid": kind, "crv": kind, "x": x, "y": y, **more}


def signed(
    claims: Any, kind: str = "RSA", alg: str = "RS256", encoding: str = "utf-8", **header: Any
) -> str:
    front = {"alg": alg, "kid": kind, **header}
    parts = [text(json.dumps(each).encode(encoding)) for each in (front, claims)]
    data = ".".join(parts).encode()
    key = private_key(kind)
    hash_: Any = {"256": hashes.SHA256(), "384": hashes.SHA384(), "512": hashes.SHA512()}[alg[2:]]
    if isinstance(key, rsa.RSAPrivateKey):
        pss = padding.PSS(padding.MGF1(hash_), hash_.digest_size)
        signature = key.sign(data, pss if alg[0] == "P" else padding.PKCS1v15(), hash_)
    else:
        pair = utils.decode_dss_signature(key.sign(data, ec.ECDSA(hash_)))
        size = 66 if kind == "P-521" else 32
        signature = b"".join(each.to_bytes(size, "big") for each in pair)
    return ".".join([*parts, text(signature)])


def tokens(now_s: int) -> Iterator[tuple[str, str | None]]:
    """Tokens, and whose they are by ``RULES``."""
    good: dict[str, Any] = {
        "sub": "alice", "iss": "https://id.example", "aud": "orders", "iat": now_s - 60,
        "exp": now_s + 600,
    }  # fmt: skip

    def lacks(name: str) -> dict[str, Any]:
        return {key: value for key, value in good.items() if key != name}

    yield signed(good), "alice"
    for alg in ("RS384", "RS512", "PS256", "PS384", "PS512"):
        yield signed(good, alg=alg), "alice"
    yield signed(good, "P-256", "ES256"), "alice"
    yield signed(good, "P-521", "ES512"), "alice"
    changes: list[tuple[dict[str, Any], str | None]] = [
        ({"sub": " bob "}, "bob"), ({"aud": ["bills", "x"]}, "alice"), ({"aud": "other"}, None),
        ({"aud": ["other"]}, None), ({"aud": 1}, None), ({"aud": []}, None), ({"aud": [1]}, None),
        ({"iss": "https://id.example/"}, None), ({"iss": 1}, None),
        ({"exp": now_s - 10}, "alice"), ({"exp": now_s - 60}, None), ({"exp": now_s - 50}, None),
        ({"exp": now_s - 100}, None), ({"exp": str(now_s + 600)}, None), ({"exp": True}, None),
        ({"exp": now_s + 600.9}, "alice"), ({"iat": now_s + 100}, "alice"),
        ({"iat": now_s + 700}, None), ({"iat": -1}, None), ({"iat": "now"}, None),
        ({"nbf": now_s + 10}, "alice"), ({"nbf": now_s + 100}, None), ({"nbf": "now"}, None),
        ({"nbf": now_s + 601}, None), ({"sub": ""}, None), ({"sub": " "}, None), ({"sub": 1}, None),
        ({"jti": 1}, None), ({"jti": "1"}, "alice"), ({"scope": "read"}, "alice"),
        ({"scope": ""}, None), ({"scope": " "}, None), ({"scope": ["read", "write"]}, "alice"),
        ({"scope": ["read", "read "]}, None), ({"scope": []}, "alice"), ({"scope": 1}, "alice"),
        ({"exp": 1 << 70}, None), ({"exp": 10**16}, None), ({"exp": 1e300}, None),
        ({"exp": 9 * 10**15}, "alice"), ({"iat": 10**16, "exp": 10**17}, None),
        ({"more": 1 << 70}, "alice"),
    ]  # fmt: skip
    for changed, owner in changes:
        yield signed({**good, **changed}), owner
    for name in ("sub", "iss", "aud", "iat", "exp"):
        yield signed(lacks(name)), None
    yield signed([good]), None
    yield signed(good, "other"), None  # a key that the JWKS does not have
    yield signed(good, "short"), None
    yield signed(good, "other", kid="RSA"), None
    yield signed(good, "RSA", kid="P-256"), None
    yield signed(good, "P-521", "ES256"), None
    yield signed(good, kid="RSA", crit=["exp"]), None
    headers: list[tuple[dict[str, Any], str | None]] = [
        ({"crit": []}, "alice"), ({"crit": None}, "alice"), ({"b64": False}, None),
        ({"b64": True}, "alice"), ({"cty": "JWT"}, None), ({"cty": "application/jwt"}, None),
        ({"cty": "text"}, "alice"), ({"cty": 1}, None), ({"x5t": "other"}, "alice"),
        ({"x5t": 1}, None), ({"kid": "of a certificate", "x5t": "its"}, "alice"),
        ({"kid": "of a certificate", "x5t": "other"}, None),
        ({"kid": "of a certificate", "x5t#S256": "other"}, None),
        ({"kid": "signs", "alg": "RS256"}, None), ({"kid": "says nothing"}, "alice"),
    ]  # fmt: skip
    for header, owner in headers:
        yield signed(good, **header), owner
    for encoding in ("utf-8-sig", "utf-16-le", "utf-16", "utf-32"):
        yield signed(good, encoding=encoding), None
    yield signed(good, kid=None), "alice"  # the first key that fits
    yield signed(good, "P-521", "ES512", kid=None), "alice"
    yield signed(good, "P-256", "ES256", kid=None), "alice"
    yield signed(good, kid=1), None
    front, claims, signature = signed(good).split(".")
    yield f"{front}.{claims}.", None
    yield f"{front}.{claims}", None
    yield f"{front}..{signature}", None
    yield f" {front}.{claims}.{signature}\r", "alice"
    yield f"{front}.{text(json.dumps({**good, 'sub': 'root'}).encode())}.{signature}", None
    yield f"{front}.{claims}.{signature[:-8]}AAAAAAAA", None
    none = text(b'{"alg":"none"}')
    yield f"{none}.{claims}.", None
    yield f"{none}.{claims}.{signature}", None
    for unknown in (b"{}", b'{"alg":""}', b'{"alg":"none","kid":"without a type"}'):
        yield f"{text(unknown)}.{claims}.{signature}", None
    secret = text(b'{"alg":"HS256","kid":"RSA"}')  # the public key as a secret
    mac = hmac.digest(jwk("RSA")["n"].encode(), f"{secret}.{claims}".encode(), hashlib.sha256)
    yield f"{secret}.{claims}.{text(mac)}", None
    yield "a.b.c", None
    yield "", None


@pytest.fixture(scope="module")
def jwks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("jwks") / "keys.json"
    its = {"x5t": "its", "x5t#S256": "its"}
    keys = [jwk("P-521"), jwk("RSA", kid="of a certificate", **its),
            jwk("RSA", kid="signs", key_ops=["sign"]),
            jwk("RSA", kid="says nothing", use=None, key_ops=None),
            jwk("RSA", kid="enc", use="enc"), jwk("RSA", use="sig", alg="RS256"),
            jwk("short"), jwk("P-256")]  # fmt: skip
    faulty = [
        {"kty": "RSA", "kid": "faulty"},
        {"kty": "", "kid": "without a type"},
        {"kty": "oct", "kid": "secret", "k": "c2VjcmV0"},
    ]
    file.write_text(json.dumps({"keys": [*faulty, *keys]}))
    return file


def tokens_for_whomever(now_s: int) -> Iterator[str]:
    good = {"sub": "alice", "iss": "https://id.example", "iat": now_s - 60, "exp": now_s + 600}
    yield signed(good)
    for audience in (None, "orders", ["orders"], [], 1):
        yield signed({**good, "aud": audience})


def rules(
    file: Path, audience: str = str(RULES["audience"]), *, any_audience: bool = False
) -> SignedTokens:
    keys = Jwks(file.as_uri(), 3_600_000)
    keys.start(0)
    return SignedTokens(
        keys=keys.keys, audiences=audience.split(",") if audience else [],
        issuer=str(RULES["issuer"]), any_audience=any_audience, skew_s=30,
        subject_claim="sub", scope_claim="scope",
    )  # fmt: skip


def test_how_long_a_token_is_valid(jwks: Path) -> None:
    """Until its ``exp``, without the skew of clocks: less than 0 for one that has just ended."""
    now_s = 1_800_000_000
    for left_s in (60, -20):
        claims = {
            "sub": "alice", "iat": now_s - 60, "exp": now_s + left_s, "aud": "orders",
            "iss": RULES["issuer"],
        }  # fmt: skip
        found = rules(jwks).owner_of(signed(claims), now_s * 1000)
        assert found == ("alice", left_s * 1000)


def test_whose_a_token_is(jwks: Path) -> None:
    checked, now_s = rules(jwks), 1_800_000_000
    for each, owner in tokens(now_s):
        found = checked.owner_of(each, now_s * 1000 + 999)
        assert (found and found.name) == owner, each


def test_tokens_where_no_audience_is_expected(jwks: Path) -> None:
    """Until 4.3 jose4j refuses those that name one; 4.4 lets it look at none."""
    now_s = 1_800_000_000

    def owners(*, any_audience: bool) -> list[str | None]:
        checked = rules(jwks, audience="", any_audience=any_audience)
        found = [checked.owner_of(each, now_s * 1000) for each in tokens_for_whomever(now_s)]
        return [each and each.name for each in found]

    assert owners(any_audience=False) == ["alice", "alice", None, None, None, None]
    assert owners(any_audience=True) == ["alice"] * 6


@pytest.mark.exhaustive
def test_kafka_says_the_same(jwks: Path) -> None:
    with contextlib.closing(JavaTool(_TOOL, fetch_runtime(NEWEST))) as tool:
        now_s = int(time.time())  # tokens age while a machine with much to do starts Java
        drawn = [(RULES, *each) for each in tokens(now_s) if not each[0].endswith("\r")]
        without = {**RULES, "audience": ""}
        drawn += [(without, each, "alice") for each in tokens_for_whomever(now_s)]
        answers = tool.ask([
            "\t".join([jwks.as_uri(), *map(str, rules.values()), token])
            for rules, token, _ in drawn
        ])  # fmt: skip
    found = [each.removeprefix("=") if each.startswith("=") else None for each in answers]
    assert found == [owner for *_, owner in drawn], answers


ANYBODY = {f"{FRONT}sasl.oauthbearer.allow.unverified.{each}": "true" for each in CLAIMS}


def cluster(file: Path, **more: str) -> SyncCluster:
    configs = {"sasl.enabled.mechanisms": "OAUTHBEARER", HANDLER: CLASS, URL: file.as_uri()}
    return SyncCluster(listeners={"SASL": "SASL_PLAINTEXT"}, configs={**configs, **ANYBODY, **more})


def test_a_client_logs_in_with_a_signature_alone(jwks: Path) -> None:
    claims = {"user": "alice", "iat": int(time.time()), "exp": int(time.time()) + 600}
    good = signed(claims)
    unsigned = f"{text(json.dumps({'alg': 'none'}).encode())}.{good.split('.')[1]}."
    name = "listener.name.sasl.oauthbearer.sasl.oauthbearer.sub.claim.name"
    with cluster(jwks, **{name: "user"}) as served:
        for token, refusal in ((good, None), (unsigned, "invalid_token")):
            with SyncAdminClient(
                served.bootstrap_servers,
                sasl_mechanism="OAUTHBEARER",
                sasl_oauth_token_provider=lambda token=token: token,
            ) as admin:
                if refusal is None:
                    assert admin.list_topics() == []
                else:
                    with pytest.raises(AuthenticationError, match=refusal):
                        admin.list_topics()


def test_the_example_of_the_page(jwks: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "server-security.md").read_text("utf-8")
    (block,) = [each for each in re.findall(r"```sh\n(.*?)```", page, re.DOTALL) if "jwks" in each]
    words = shlex.split(block.replace("file:///etc/keys.json", jwks.as_uri()))
    given = [each for flag, each in pairwise(words) if flag == "--config"]
    configs = dict(each.split("=", 1) for each in given)
    assert {HANDLER, URL} < {*configs}
    with SyncCluster(listeners={"SASL": "SASL_PLAINTEXT"}, configs=configs):
        pass


@pytest.mark.parametrize("claim", CLAIMS)
def test_whom_a_token_is_for_and_from_is_said_since_4_4(jwks: Path, claim: str) -> None:
    configs = {"sasl.enabled.mechanisms": "OAUTHBEARER", HANDLER: CLASS, URL: jwks.as_uri()}
    expected = {f"{FRONT}sasl.oauthbearer.expected.{each}": "x" for each in CLAIMS}
    expected[f"{FRONT}sasl.oauthbearer.expected.{claim}"] = ""
    listeners = {"SASL": "SASL_PLAINTEXT"}
    said = f"set sasl.oauthbearer.expected.{claim}, or sasl.oauthbearer.allow.unverified.{claim}="
    with pytest.raises(SettingsError, match=said):
        SyncCluster(listeners=listeners, configs=configs | expected)
    SyncCluster(listeners=listeners, configs=configs | expected, release="4.3")
    SyncCluster(listeners=listeners, configs=configs | ANYBODY)


def test_a_file_is_read_again_when_it_has_changed(tmp_path: Path) -> None:
    file = tmp_path / "a file.json"
    file.write_text('{"keys": [{"kid": "1"}]}')
    keys = Jwks(file.as_uri(), 0)
    keys.start(0)
    assert keys.keys("2", 0) == []
    file.write_text('{"keys": [{"kid": "2"}]}')
    os.utime(file, ns=(1, 1))
    assert keys.keys("2", 0) == keys.keys(None, 0) == [{"kid": "2"}]
    file.write_text("no JSON")
    os.utime(file, ns=(2, 2))
    assert keys.keys("2", 0) == [{"kid": "2"}]  # those that there are stay
    file.unlink()
    assert keys.keys("2", 0) == [{"kid": "2"}]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ('{"keys": [], "keys": []}', "expected a JWKS"),
        ('\ufeff{"keys": []}', "expected a JWKS"),
        ("[" * 100_000, "expected a JWKS"),
        (None, "it is no regular file"),
    ],
)
def test_files_that_have_no_keys(tmp_path: Path, content: str | None, fault: str) -> None:
    file = tmp_path / "keys.json"
    if content is None:
        os.mkfifo(file)  # reading it would block the listeners
    else:
        file.write_text(content, "utf-8")
    with pytest.raises(SettingsError, match=f"keys.json: {fault}"):
        Jwks(file.as_uri(), 0).start(0)


@pytest.fixture
def endpoint() -> Iterator[tuple[str, list[bytes]]]:
    """Its URL, and its answers, of which it gives the first until there is another."""
    answers = [b'{"keys": [{"kid": "1"}]}']

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = answers[0] if len(answers) == 1 else answers.pop(0)
            place = answer.removeprefix(b"at ")
            self.send_response(500 if not answer else 200 if place == answer else 302)
            if place != answer:
                self.send_header("Location", place.decode())
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/keys", answers
        server.shutdown()
        thread.join()


def test_an_endpoint_is_asked_again_for_a_key_it_lacked(endpoint: tuple[str, list[bytes]]) -> None:
    url, answers = endpoint
    keys = Jwks(url, 3_600_000)

    def asked(kid: str | None, now_ms: int) -> tuple[list[Any], list[Any]]:
        """The keys that count at once, and those after the endpoint has answered."""
        now = list(keys.keys(kid, now_ms))
        with keys._asks:
            return now, list(keys._keys)

    keys.start(0)
    answers[:] = [b'{"keys": [{"kid": "2"}]}']
    one, two = [{"kid": "1"}], [{"kid": "2"}]
    assert asked("2", 59_999) == ([], one)  # not for each token of a stranger
    assert asked("1", 60_000) == (one, one)
    assert asked("2", 60_000) == ([], two)
    answers[:] = [b""]
    assert asked("3", 200_000) == ([], two)  # it fails: those that there are stay
    with pytest.raises(SettingsError, match=r"keys: it answered 500$"):
        Jwks(url, 0).start(0)
    answers[:] = [b'{"keys": [{"kid": "1"}]}']
    assert asked("2", 3_799_999) == (two, two)
    assert asked("2", 3_800_000) == (two, one)


def test_a_redirect_leads_to_no_other_scheme(endpoint: tuple[str, list[bytes]]) -> None:
    """As in Java: keys of https do not come in the clear."""
    url, answers = endpoint
    keys = Jwks(url, 0)
    answers[:] = [f"at {url}/more".encode(), *answers]
    keys.start(0)
    assert keys._keys == [{"kid": "1"}]
    for scheme in ("https", "ftp", "file"):
        answers[:] = [f"at {scheme}{url.removeprefix('http')}".encode()]
        with pytest.raises(SettingsError, match=r"keys: it answered 302$"):
            keys.start(0)


@pytest.mark.parametrize(
    ("configs", "sentence"),
    [
        ({URL: ""}, "needs sasl.oauthbearer.jwks.endpoint.url"),
        ({URL: "file:///no/such"}, "No such file or directory"),
        ({URL: "ftp://id.example/keys?hush"}, "has the scheme 'ftp' and the host 'id.example'"),
        ({URL: "https://me:hush@id.example/keys"}, "has a user in it"),
        ({URL: "https://id.example:hush/keys"}, "is not a URL"),
        ({URL: "https://id.example/a key?hush"}, "is not a URL: write blanks"),
        ({URL: "file:///k\u00e9ys"}, "is not a URL: write blanks"),
        ({URL: "http://127.0.0.1:1/keys?hush"}, "127.0.0.1:1/keys: Connection refused"),
        ({HANDLER: "org.example.Mine"}, "is a class of Java"),
        ({f"{FRONT}sasl.oauthbearer.sub.claim.name": " "}, "sub.claim.name is empty"),
        ({HANDLER: ""}, "tokens are let in without a signature"),
        ({"sasl.enabled.mechanisms": "SCRAM-SHA-256"}, "no effect without OAUTHBEARER"),
        ({"sasl.server.callback.handler.class": CLASS}, "give listener.name.sasl.oauthbearer"),
        ({f"{FRONT}plain.sasl.server.callback.handler.class": CLASS}, "give listener.name"),
        ({f"{FRONT}oauthbearer.sasl.jaas.config": "x required;"}, "in this cluster; leave it out"),
        ({f"{FRONT}oauthbearer.connections.max.reauth.ms": "9"}, "give it without oauthbearer"),
        ({"sasl.oauthbearer.jwks.endpoint.retry.backoff.ms": "9"}, "has no effect in this cluster"),
        ({f"{FRONT}oauthbearer.sasl.oauthbearer.clock.skew.seconds": "x"}, "Invalid value x"),
    ],
)  # fmt: skip
def test_settings_that_would_have_no_effect(
    jwks: Path, configs: dict[str, str], sentence: str
) -> None:
    with pytest.raises(SettingsError, match=sentence) as caught, cluster(jwks, **configs):
        pass
    assert "hush" not in str(caught.value)


def test_a_config_of_all_listeners_needs_one_that_reads_it() -> None:
    configs = {"sasl.oauthbearer.expected.issuer": "x", "sasl.enabled.mechanisms": "OAUTHBEARER"}
    with pytest.raises(SettingsError, match=r"expected.issuer would have no effect: tokens"):
        SyncCluster(listeners={"SASL": "SASL_PLAINTEXT"}, configs=configs)
