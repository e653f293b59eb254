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
from kafka_admin_proto.admin.settings.config import PROTOCOLS, UNDERSTOOD
from kafka_admin_proto.admin.settings.jaas import read_jaas
from kafka_admin_proto.protocol.addresses import Address, parse_addresses
from kafka_admin_proto.testing import Authority
from tests.helpers.requirements import require_program

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
    with pytest.warns(UserWarning, match="goes to a:1, b:2 in the clear: PLAIN without TLS"):
        config = client_config(command_config=properties)
    assert config.bootstrap_servers == (Address("a", 1), Address("b", 2))
    assert config.security_protocol == "SASL_PLAINTEXT"
    assert (config.sasl_username, config.sasl_password) == ("alice", "hush hush")
    assert (config.timeout, config.request_timeout, config.connect_timeout) == (20.0, 1.5, 3.0)
    assert config.backoff == Backoff(0.05, 0.2)
    assert config.reconnect_backoff == Backoff(0.05, 2.0)
    assert config.unused == ("compression.type", "retries")
    properties["sasl.mechanism"] = "SCRAM-SHA-256"  # sends no password
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
            {"config.providers": "vault", "sasl.jaas.config": "${vault:/x:y}"},
            "sasl.jaas.config: the provider vault is not one that this client looks values up with",
        ),
        (
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN",
             "sasl.jaas.config": f'{PLAIN} required tokenauth="true" username="a" password="b";'},
            "sasl_delegation_token would have no effect with PLAIN",
        ),
    ],
)  # fmt: skip
def test_properties_that_cannot_work_are_refused(properties: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        client_config(BROKER, command_config=properties)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file of PEM with an authority's certificate."""
    require_program("openssl")
    return str(Authority(tmp_path_factory.mktemp("tls")).certificate.file)


LOGIN_ARGUMENTS: dict[str, Any] = {
    "sasl_mechanism": "SCRAM-SHA-256", "sasl_username": "a", "sasl_password": "b",
}  # fmt: skip
#: Settings that say the protocol, and what is refused beside a protocol that has no use for them.
ABOUT_TLS: list[dict[str, str]] = [
    {"ssl.truststore.location": "FILE"},
    {"ssl.truststore.location": "FILE", "ssl.endpoint.identification.algorithm": ""},
    {"ssl.protocol": "TLSv1.3"},
]
ABOUT_SASL: list[tuple[dict[str, str], dict[str, Any]]] = [
    ({}, LOGIN_ARGUMENTS),
    ({"sasl.mechanism": "SCRAM-SHA-256"}, {"sasl_username": "a", "sasl_password": "b"}),
    ({"sasl.mechanism": "SCRAM-SHA-256", "sasl.jaas.config": LOGIN}, {}),
    ({"sasl.jaas.config": LOGIN}, {"sasl_mechanism": "SCRAM-SHA-256"}),
]


@pytest.mark.parametrize("protocol", [None, *PROTOCOLS])
@pytest.mark.parametrize("as_argument", [True, False])
@pytest.mark.parametrize("tls", [{}, *ABOUT_TLS])
@pytest.mark.parametrize("sasl", [({}, {}), *ABOUT_SASL])
def test_settings_say_the_protocol_or_are_refused_beside_another(
    monkeypatch: pytest.MonkeyPatch,
    certificate: str,
    protocol: str | None,
    as_argument: bool,
    tls: dict[str, str],
    sasl: tuple[dict[str, str], dict[str, Any]],
) -> None:
    properties = {name: value.replace("FILE", certificate) for name, value in tls.items()}
    properties |= sasl[0]
    monkeypatch.setenv("SSL_CERT_FILE", certificate)  # those of the system take long to read
    arguments = dict(sasl[1])
    if protocol is not None and as_argument:
        arguments["security_protocol"] = protocol
    elif protocol is not None:
        properties["security.protocol"] = protocol
    with_sasl, with_tls = sasl != ({}, {}), bool(tls)
    implied = "SASL_" * with_sasl + ("SSL" if with_tls else "PLAINTEXT")
    wanted = protocol or implied
    lacks_tls = with_tls and not wanted.endswith("SSL")
    lacks_sasl = with_sasl != wanted.startswith("SASL")
    if lacks_tls or lacks_sasl:
        with pytest.raises(ConfigurationError) as caught:
            client_config(BROKER, command_config=properties, **arguments)
        if lacks_tls:
            assert all(name in str(caught.value) for name in tls)
        return
    config = client_config(BROKER, command_config=properties, **arguments)
    assert config.security_protocol == wanted
    assert (config.ssl_context is not None) == wanted.endswith("SSL")


@pytest.mark.parametrize(
    "properties",
    [
        {"ssl.truststore.password": "x"},
        {"ssl.truststore.type": "PEM"},
        {"ssl.keystore.password": "x"},
        {"ssl.keystore.type": "PEM"},
        {"ssl.key.password": "x"},
        {"ssl.keystore.key": "x"},
        {"ssl.keystore.certificate.chain": "x"},
        {"ssl.truststore.location": "FILE", "ssl.truststore.certificates": "x"},
        {"ssl.keystore.location": "FILE", "ssl.keystore.certificate.chain": "x"},
        {"ssl.keystore.location": "FILE", "ssl.keystore.key": "x"},
        {"ssl.trustore.location": "FILE"},
        {"ssl.cipher.suites": "x"},
        {"sasl.login.class": "x"},
        {"security.protocl": "SSL"},
        {"sasl.mechanism": "GSSAPI"},
        {"sasl.jaas.config": LOGIN},
    ],
    ids=" ".join,
)
def test_a_setting_of_security_without_effect_is_refused(
    certificate: str, properties: dict[str, str]
) -> None:
    given = {name: value.replace("FILE", certificate) for name, value in properties.items()}
    with pytest.raises(ConfigurationError) as caught:
        client_config(BROKER, command_config=given)
    assert any(
        name in str(caught.value) for name in [*properties, "ssl.keystore.key", "sasl.mechanism"]
    )


@pytest.mark.parametrize("name", ["sasl_mechanism", "sasl_username", "sasl_password"])
@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL"])
def test_a_login_without_sasl_is_refused_even_if_it_is_empty(name: str, protocol: str) -> None:
    settings: dict[str, Any] = {"security_protocol": protocol, name: ""}
    with pytest.raises(ConfigurationError, match="does not use them"):
        client_config(BROKER, **settings)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.9.10", "[::1]", "LOCALHOST"])
@pytest.mark.parametrize("far", ["kafka-1", "10.0.0.1", "[fe80::1]", "0.0.0.0", "128.0.0.1"])
def test_a_password_in_the_clear_is_warned_of_beyond_this_machine(host: str, far: str) -> None:
    login = {**LOGIN_ARGUMENTS, "sasl_mechanism": "PLAIN"}
    client_config(f"{host}:1", **login)
    client_config(f"{far}:1", ssl_context=ssl.create_default_context(), **login)
    client_config(f"{far}:1", **LOGIN_ARGUMENTS)  # SCRAM sends no password
    with pytest.warns(UserWarning, match="in the clear: PLAIN without TLS") as caught:
        client_config(f"{host}:1,{far}:2", **login)
    assert len(caught) == 1
    assert f"goes to {far}:2 in" in str(caught[0].message)
    assert "'b'" not in str(caught[0].message)


def test_an_argument_that_there_is_not() -> None:
    with pytest.raises(TypeError, match="no setting is called nonsense"):
        client_config(BROKER, nonsense=1)


@pytest.mark.parametrize(
    "name", ["ssl.truststore.location", "ssl.endpoint.identification.algorithm"]
)
def test_properties_of_tls_beside_a_context_are_refused(name: str) -> None:
    context = ssl.create_default_context()
    with pytest.raises(ConfigurationError, match=f"{name}: no effect beside an ssl_context"):
        client_config(BROKER, command_config={name: "x"}, ssl_context=context)
    config = client_config(BROKER, command_config={"ssl.key.password": ""}, ssl_context=context)
    assert config.ssl_context is context


def test_a_context_or_a_user_says_the_protocol() -> None:
    context = ssl.create_default_context()
    login: dict[str, Any] = {"sasl_mechanism": "PLAIN", "sasl_username": "a", "sasl_password": "b"}
    assert client_config(BROKER, ssl_context=context).security_protocol == "SSL"
    of_servers = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with pytest.raises(ConfigurationError, match="ssl_context is a context of servers"):
        client_config(BROKER, ssl_context=of_servers)
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
        ("x.OAuthBearerLoginModule required;", "login module OAuthBearerLoginModule; with this"),
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


def test_a_store_of_java_is_refused_with_the_command_that_converts(tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.write_bytes(b"\xfe\xed\xfe\xed\x00")
    properties = {"security.protocol": "SSL", "ssl.truststore.location": str(store)}
    with pytest.raises(ConfigurationError, match=r"is a JKS store, .* keytool -importkeystore"):
        client_config(BROKER, command_config=properties)


def test_tls_that_cannot_work_is_a_mistake_of_configuration() -> None:
    properties = {"security.protocol": "SSL", "ssl.enabled.protocols": "TLSv1.1"}
    with pytest.raises(ConfigurationError, match=r"has TLSv1.1; there are TLSv1.2"):
        client_config(BROKER, command_config=properties)


def test_each_understood_property_is_documented() -> None:
    docs = (Path(__file__).parents[3] / "docs" / "admin.md").read_text("utf-8")
    assert {name for name in UNDERSTOOD if f"`{name}`" not in docs} == set()
