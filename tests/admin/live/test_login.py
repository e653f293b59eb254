"""Every way into a cluster, right and wrong: a refused client gets a clear error, nothing hangs."""

from __future__ import annotations

import functools
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto import DescribeClusterRequest, DescribeClusterResponse
from kafka_admin_proto.admin import AdminClient, errors
from kafka_admin_proto.admin.errors import AuthenticationError, ConnectionFailedError, TlsError
from tests.admin.leaks import no_sockets_left, run_without_leaks
from tests.admin.live.helpers.secured import MECHANISMS, NOWHERE, PASSWORDS, Secured
from tests.helpers.kap import run_kap

#: Seconds for one call, and what it may take beyond: each of these errors comes at once.
_TIMEOUT_S = 30.0
_AT_ONCE_S = 15.0
#: What no message may have in it.
_PASSWORDS = "wrong-password|bob-secret|mallory-secret"
#: Properties of Kafka's tools, by name.
Properties = dict[str, str]


def tls(secured: Secured) -> Properties:
    return {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(secured.authority.file)}


def certificate(secured: Secured) -> Properties:
    """The client's own, for MUTUAL."""
    return {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(secured.client.bundle)}


def login(mechanism: str, user: str = "bob", password: str = PASSWORDS["bob"]) -> Properties:
    module = "plain.PlainLoginModule" if mechanism == "PLAIN" else "scram.ScramLoginModule"
    return {
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": (
            f"org.apache.kafka.common.security.{module} required "
            f'username="{user}" password="{password}";'
        ),
    }


def wrong_password(mechanism: str, secured: Secured) -> Properties:
    return login(mechanism, "bob", "wrong-password")


@pytest.fixture
def brokers_at(secured: Secured, tmp_path: Path) -> Callable[[str, str, Properties], list[int]]:
    """The ports of the brokers, for a client with such a --command-config."""

    async def asked(listener: str, file: Path) -> list[int]:
        async with AdminClient(
            secured.address(listener), command_config=file, timeout=_TIMEOUT_S
        ) as client:
            reply = await client.call(DescribeClusterRequest(), DescribeClusterResponse)
            return [each.port for each in reply.body.brokers]

    def ask(listener: str, protocol: str, properties: Properties) -> list[int]:
        return run_without_leaks(asked(listener, write(tmp_path, protocol, properties)))

    return ask


def write(folder: Path, protocol: str, properties: Properties) -> Path:
    """A file as Kafka's tools take it."""
    file = folder / "client.properties"
    rows = {"security.protocol": protocol, **properties}
    file.write_text("".join(f"{name}={value}\n" for name, value in rows.items()))
    return file


def described(address: str, file: Path) -> tuple[int, dict[str, Any]]:
    """The exit code of ``kap cluster describe`` and the one object that it prints."""
    options = ["--bootstrap-server", address, "--command-config", str(file), "--output", "json"]
    with no_sockets_left():
        run = run_kap("cluster describe", *options)
    assert not run.stderr, run.stderr
    return run.exit_code, json.loads(run.stdout)


def test_ways_in(
    secured: Secured, tmp_path: Path, brokers_at: Callable[[str, str, Properties], list[int]]
) -> None:
    trusting = tls(secured)
    unnamed = {**trusting, "ssl.endpoint.identification.algorithm": ""}
    ways: list[tuple[str, str, Properties]] = [
        ("PLAINTEXT", "PLAINTEXT", {}),
        ("TLS", "SSL", trusting),
        ("OTHER_NAME", "SSL", unnamed),
        ("MUTUAL", "SSL", {**trusting, **certificate(secured)}),
        *(("SASL", "SASL_PLAINTEXT", login(each)) for each in MECHANISMS),
        *(("SASL_TLS", "SASL_SSL", {**trusting, **login(each)}) for each in MECHANISMS),
        ("SCRAM_ONLY", "SASL_PLAINTEXT", login("SCRAM-SHA-512")),
    ]
    for listener, protocol, properties in ways:
        found = brokers_at(listener, protocol, properties)
        assert found == [secured.cluster.nodes[1].ports[listener]], (listener, properties)
        file = write(tmp_path, protocol, properties)
        code, answer = described(secured.address(listener), file)
        assert (code, [each["port"] for each in answer["brokers"]]) == (0, found)


#: What goes wrong: listener, protocol, properties, the error, what it says.
WRONG: dict[
    str, tuple[str, str, Callable[[Secured], Properties], type[ConnectionFailedError], str]
] = {
    "another authority": (
        *("TLS", "SSL"),
        lambda s: {**tls(s), "ssl.truststore.location": str(s.foreign.file)},
        *(TlsError, "not trusted .*ssl.truststore.location"),
    ),
    "expired": ("EXPIRED", "SSL", tls, TlsError, "has expired"),
    "another host's": ("OTHER_NAME", "SSL", tls, TlsError, "not for 127.0.0.1"),
    "no certificate of the client": (
        *("MUTUAL", "SSL", tls),
        *(TlsError, "certificate of the client.*ssl.keystore.location"),
    ),
    "a certificate of a foreign authority": (
        *("MUTUAL", "SSL"),
        lambda s: {**tls(s), "ssl.keystore.location": str(s.foreign.bundle)},
        *(TlsError, "refused|certificate"),
    ),
    "plain text to TLS": ("TLS", "PLAINTEXT", lambda s: {}, TlsError, "TLS.*security.protocol"),
    "TLS to plain text": ("PLAINTEXT", "SSL", tls, TlsError, "without TLS"),
    **{
        f"a wrong password, {mechanism}": (
            *("SASL", "SASL_PLAINTEXT"),
            functools.partial(wrong_password, mechanism),
            *(AuthenticationError, f"{mechanism}|[Aa]uthentication"),
        )
        for mechanism in MECHANISMS
    },
    "a wrong password over TLS": (
        *("SASL_TLS", "SASL_SSL"),
        lambda s: {**tls(s), **login("SCRAM-SHA-256", "bob", "wrong-password")},
        *(AuthenticationError, "[Aa]uthentication"),
    ),
    "an unknown user": (
        *("SASL", "SASL_PLAINTEXT"),
        lambda s: login("SCRAM-SHA-512", "mallory", "mallory-secret"),
        *(AuthenticationError, "[Aa]uthentication"),
    ),
    "a mechanism that is not enabled": (
        *("SCRAM_ONLY", "SASL_PLAINTEXT"),
        lambda s: login("PLAIN"),
        *(AuthenticationError, "PLAIN.*SCRAM-SHA-512"),
    ),
    "no login": ("SASL", "PLAINTEXT", lambda s: {}, ConnectionFailedError, "SASL"),
    "no login over TLS": ("SASL_TLS", "SSL", tls, ConnectionFailedError, "SASL"),
    "a login that nobody asks for": (
        *("PLAINTEXT", "SASL_PLAINTEXT"),
        lambda s: login("PLAIN"),
        *(AuthenticationError, "SASL|PLAINTEXT"),
    ),
    "a login in plain text to TLS": (
        *("SASL_TLS", "SASL_PLAINTEXT"),
        lambda s: login("PLAIN"),
        *(TlsError, "TLS.*SASL_SSL"),
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_ways_that_are_refused(
    case: str, secured: Secured, brokers_at: Callable[[str, str, Properties], list[int]]
) -> None:
    """The error names the address, says what to do, and has no password in it."""
    listener, protocol, properties, kind, said = WRONG[case]
    start = time.monotonic()
    with pytest.raises(kind, match=f"(?s){said}") as raised:
        brokers_at(listener, protocol, properties(secured))
    assert time.monotonic() - start < _AT_ONCE_S
    text = f"{raised.value} {raised.value!r}"
    assert secured.address(listener) in text
    assert not re.search(_PASSWORDS, text)


@pytest.mark.parametrize("case", WRONG)
def test_commands_that_are_refused(case: str, secured: Secured, tmp_path: Path) -> None:
    """The same at the command line: exit code 1 and one object that says so."""
    listener, protocol, properties, kind, said = WRONG[case]
    start = time.monotonic()
    file = write(tmp_path, protocol, properties(secured))
    code, answer = described(secured.address(listener), file)
    assert time.monotonic() - start < _AT_ONCE_S
    (error,) = answer["errors"]
    assert code == 1
    assert issubclass(getattr(errors, error["error"]), kind), error
    assert re.search(said, error["message"], re.DOTALL), error
    assert not re.search(_PASSWORDS, json.dumps(answer))


def test_an_advertised_address_that_does_not_resolve(secured: Secured) -> None:
    """The error names it beside the address that the client started from."""

    async def asked() -> None:
        async with AdminClient(secured.address("NOWHERE"), timeout=_TIMEOUT_S) as client:
            await client.call(DescribeClusterRequest(), DescribeClusterResponse, to=1)

    with pytest.raises(ConnectionFailedError, match=re.escape(NOWHERE)) as raised:
        run_without_leaks(asked())
    assert secured.address("NOWHERE") in str(raised.value)
    assert "advertised.listeners" in str(raised.value)
