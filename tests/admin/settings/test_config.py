"""Settings: from arguments and from properties files, what is refused, and that nothing leaks."""

from __future__ import annotations

import pickle
import ssl
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin import ClientConfig, ConfigurationError, client_config
from kafka_admin_proto.admin.retry import Backoff
from kafka_admin_proto.admin.settings.addresses import Address, parse_addresses
from kafka_admin_proto.admin.settings.config import UNDERSTOOD
from kafka_admin_proto.admin.settings.jaas import read_jaas

BROKER = "localhost:9092"
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
LOGIN = f'{PLAIN} required username="alice" password="hush hush";'


def test_nothing_but_an_address_is_needed() -> None:
    config = client_config(BROKER)
    assert config == ClientConfig(bootstrap_servers=(Address("localhost", 9092),))
    assert (config.timeout, config.request_timeout, config.connect_timeout) == (60, 30, 10)
    assert config.backoff == Backoff(0.1, 1.0, 0.2)


def test_a_properties_file_of_kafkas_tools() -> None:
    properties = {
        "bootstrap.servers": "a:1, b:2",
        "security.protocol": "sasl_plaintext",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": LOGIN,
        "request.timeout.ms": "1500",
        "default.api.timeout.ms": "20000",
        "socket.connection.setup.timeout.ms": "3000",
        "retry.backoff.ms": "50",
        "retry.backoff.max.ms": "200",
        "reconnect.backoff.max.ms": "2000",
        "client.id": "me",
        "retries": "5",
        "compression.type": "zstd",
    }
    config = client_config(command_config=properties)
    assert config.bootstrap_servers == (Address("a", 1), Address("b", 2))
    assert config.security_protocol == "SASL_PLAINTEXT"
    assert (config.sasl_username, config.sasl_password) == ("alice", "hush hush")
    assert (config.timeout, config.request_timeout, config.connect_timeout) == (20.0, 1.5, 3.0)
    assert config.backoff == Backoff(0.05, 0.2)
    assert config.reconnect_backoff == Backoff(0.05, 2.0)
    assert config.unused == ("compression.type", "retries")
    assert client_config("c:3", command_config=properties).addresses == (Address("c", 3),)
    controllers = client_config(bootstrap_controllers="c:3", command_config=properties)
    assert (controllers.bootstrap_servers, controllers.addresses) == ((), (Address("c", 3),))
    assert client_config(command_config=properties, timeout=5).timeout == 5


def test_the_password_is_in_no_text() -> None:
    config = client_config(BROKER, security_protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN",
                           sasl_username="alice", sasl_password="hush")  # fmt: skip
    for text in (repr(config), repr(config.__rich_repr__()), repr(config.credentials())):
        assert "hush" not in text
    assert "alice" in repr(config)


def test_passwords_are_not_pickled() -> None:
    config = client_config(BROKER, security_protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN",
                           sasl_username="alice", sasl_password="hush")  # fmt: skip
    with pytest.raises(TypeError, match="is not pickled"):
        pickle.dumps(config)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "bootstrap_servers is missing"),
        ({"bootstrap_servers": BROKER, "bootstrap_controllers": BROKER}, "exclude each other"),
        ({"bootstrap_servers": "localhost"}, "'localhost' is not an address: write host:port"),
        ({"bootstrap_servers": "a:99999"}, "a port is a number from 1 to 65535"),
        ({"bootstrap_servers": "::1:9092"}, r"in brackets, \[::1\]:9092"),
        ({"bootstrap_servers": BROKER, "security_protocol": "TLS"}, "there are PLAINTEXT, SSL"),
        ({"bootstrap_servers": BROKER, "timeout": 0}, "timeout is 0; it has to be more than 0"),
        (
            {"bootstrap_servers": BROKER, "security_protocol": "SASL_PLAINTEXT"},
            "sasl.mechanism is missing; this client can log in with PLAIN, SCRAM-SHA-256",
        ),
        (
            {"bootstrap_servers": BROKER, "security_protocol": "SASL_PLAINTEXT",
             "sasl_mechanism": "GSSAPI"},
            "sasl.mechanism 'GSSAPI'; this client",
        ),
        (
            {"bootstrap_servers": BROKER, "security_protocol": "SASL_PLAINTEXT",
             "sasl_mechanism": "PLAIN"},
            "needs a user and a password",
        ),
        (
            {"bootstrap_servers": BROKER, "sasl_username": "a", "sasl_password": "b",
             "security_protocol": "PLAINTEXT"},
            "PLAINTEXT does not use them",
        ),
        (
            {"bootstrap_servers": BROKER, "security_protocol": "PLAINTEXT",
             "ssl_context": ssl.create_default_context()},
            "has no use for an ssl_context",
        ),
        (
            {"bootstrap_servers": BROKER, "sasl_mechanism": "PLAIN", "sasl_username": "a",
             "sasl_password": "\udc80"},
            "are UTF-8 without NULs",
        ),
        ({"bootstrap_servers": BROKER, "client_id": "\udc80"}, "client_id is not UTF-8"),
        ({"bootstrap_servers": BROKER, "client_id": "ä" * 16384}, "client_id has 32768 bytes"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as caught:
        client_config(**settings)
    assert isinstance(caught.value, ValueError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({"request.timeout.ms": "soon"}, "request.timeout.ms=soon is not a number of milliseconds"),
        (
            {"config.providers": "file", "sasl.jaas.config": "${file:/x:y}"},
            "sasl.jaas.config: values of config.providers are not looked up",
        ),
        (
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN",
             "sasl.jaas.config": f'{PLAIN} required tokenauth="true" username="a" password="b";'},
            "delegation token",
        ),
    ],
)  # fmt: skip
def test_properties_that_cannot_work_are_refused(properties: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        client_config(BROKER, command_config=properties)


def test_an_argument_that_there_is_not() -> None:
    with pytest.raises(TypeError, match="no setting is called nonsense"):
        client_config(BROKER, nonsense=1)


def test_a_context_or_a_user_says_the_protocol() -> None:
    context = ssl.create_default_context()
    login: dict[str, Any] = {"sasl_mechanism": "PLAIN", "sasl_username": "a", "sasl_password": "b"}
    assert client_config(BROKER, ssl_context=context).security_protocol == "SSL"
    assert client_config(BROKER, ssl_context=context, **login).security_protocol == "SASL_SSL"
    assert client_config(BROKER, **login).security_protocol == "SASL_PLAINTEXT"


# Addresses.

hosts = st.one_of(
    st.from_regex(r"[a-z0-9]([a-z0-9.-]{0,20}[a-z0-9])?", fullmatch=True),
    st.ip_addresses(v=4).map(str),
    st.ip_addresses(v=6).map(str),
)


@given(st.lists(st.builds(Address, hosts, st.integers(1, 65535)), min_size=1, unique=True))
def test_addresses_are_read_as_they_are_written(addresses: list[Address]) -> None:
    assert parse_addresses(",".join(map(str, addresses))) == tuple(addresses)
    assert parse_addresses([f" PLAINTEXT://{each} ," for each in addresses]) == tuple(addresses)


# Logins.


@given(st.text(st.characters(blacklist_categories=["Cs"])), st.sampled_from("\"'"))
def test_any_password_can_be_written(password: str, quote: str) -> None:
    text = "".join(f"\\{char}" if char in "\"\\'" else char for char in password)
    text = text.replace("\n", "\\n")
    head = f"{PLAIN} required // a comment\n /* one\n more */ username=alice"
    found = read_jaas(f"{head} password={quote}{text}{quote};")
    assert found == {"username": "alice", "password": password}


@given(st.text())
def test_any_text_is_a_login_or_refused(text: str) -> None:
    for each in (text, f"{PLAIN} required {text}"):
        try:
            read_jaas(each)
        except ConfigurationError as error:
            assert str(error)


@pytest.mark.parametrize(
    ("login", "said"),
    [
        ("", "is not a login"),
        ("x.OAuthBearerLoginModule required;", "login module OAuthBearerLoginModule; this client"),
        (f'{PLAIN} maybe password="hush";', "lacks 'required'"),
        (f'{PLAIN} required password="hush"', 'does not end with ";"'),
        (f"{PLAIN} required password hush;", "breaks off after PlainLoginModule"),
        (f'{PLAIN} required password="hush;', "cannot be read at character"),
    ],
)
def test_logins_that_cannot_be_read(login: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as caught:
        read_jaas(login)
    assert "hush" not in str(caught.value)


# TLS.


@pytest.mark.parametrize("kind", ["JKS", "PKCS12"])
def test_stores_of_java_are_refused_with_the_commands_that_convert(
    tmp_path: Path, kind: str
) -> None:
    store = tmp_path / "store"
    store.write_bytes(b"\xfe\xed\xfe\xed\x00")
    properties = {"security.protocol": "SSL", "ssl.truststore.location": str(store)}
    if kind == "PKCS12":
        properties["ssl.truststore.type"] = kind
    with pytest.raises(ConfigurationError) as caught:
        client_config(BROKER, command_config=properties)
    assert f"is a {kind} store, which Python cannot read" in str(caught.value)
    assert "openssl pkcs12 -in" in str(caught.value)
    assert ("keytool -importkeystore" in str(caught.value)) == (kind == "JKS")
    assert "ssl.truststore.type=PEM" in str(caught.value)


def test_tls_that_cannot_work_is_a_mistake_of_configuration() -> None:
    properties = {"security.protocol": "SSL", "ssl.enabled.protocols": "TLSv1.1"}
    with pytest.raises(ConfigurationError, match=r"has TLSv1.1; there are TLSv1.2"):
        client_config(BROKER, command_config=properties)


def test_each_understood_property_is_documented() -> None:
    docs = (Path(__file__).parents[3] / "docs" / "admin.md").read_text("utf-8")
    assert {name for name in UNDERSTOOD if f"`{name}`" not in docs} == set()
