"""SCRAM against the RFCs' examples, kafka-python's client and both ends of Kafka's own."""

from __future__ import annotations

import base64
import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import scramp
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto.errors import MissingExtraError
from kafka_admin_proto.protocol.connection import SaslScram, SaslServer, ScramCredential, scram
from kafka_admin_proto.protocol.connection.sasl_client import ClientExchange
from kafka_admin_proto.protocol.connection.sasl_server import ServerExchange
from tests.helpers.java_tool import JavaTool
from tests.helpers.profile import draws
from tests.helpers.requirements import require_oracle
from tools.kafka_releases import NEWEST
from tools.oracles.jars import fetch
from tools.oracles.libraries import SLF4J

TOOL = Path(__file__).parents[2] / "java" / "ScramTool.java"
MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")
LIMIT = 100_000

#: What SASLprep would change or forbid is among them. Kafka's own ends take names of ASCII only.
names = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12
)
ascii_names = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=12)
EXAMPLES = draws(60)


def server_for(mechanism: str, credential: ScramCredential | None) -> ServerExchange:
    found = SaslServer(
        scram_sha_256=lambda user: credential, scram_sha_512=lambda user: credential
    ).exchange(mechanism)
    assert found is not None
    return found


def proof_of(client: ClientExchange, challenge: bytes) -> bytes:
    """The client's last token."""
    compute = client.next(challenge)
    assert compute is not None
    return compute()


def test_the_example_of_rfc_7677(monkeypatch: pytest.MonkeyPatch) -> None:
    """RFC 7677, section 3: the whole exchange of user "user" with password "pencil"."""
    salt = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    credential = ScramCredential.of_password("SCRAM-SHA-256", "pencil", salt=salt)
    nonce = scramp.core.Nonce
    monkeypatch.setattr(nonce, "create", classmethod(lambda cls: cls("rOprNGfwEbeRWgbNEkqO")))
    client = SaslScram("SCRAM-SHA-256", "user", "pencil").exchange(LIMIT)
    assert client.first() == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    own = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    monkeypatch.setattr(scram, "new_nonce", lambda: own)
    server = server_for("SCRAM-SHA-256", credential)
    first = server.take(b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO").answer
    both = b"r=rOprNGfwEbeRWgbNEkqO" + own.encode()
    assert first == both + b",s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    final = proof_of(client, first)
    assert final == b"c=biws," + both + b",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    step = server.take(final)
    assert step.answer == b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    assert step.user == "user"
    assert client.next(step.answer) is None


@settings(max_examples=EXAMPLES)
@given(st.sampled_from(MECHANISMS), names, names, st.integers(4096, 5000))
def test_both_ends_agree_about_any_password(
    mechanism: str, user: str, password: str, iterations: int
) -> None:
    credential = ScramCredential.of_password(mechanism, password, iterations=iterations)
    client = SaslScram(mechanism, user, password).exchange(LIMIT)
    server = server_for(mechanism, credential)
    step = server.take(client.first())
    if step.refusal is not None:  # Kafka's pattern of a message
        assert not user.isascii()
        return
    final = proof_of(client, step.answer)
    assert server.take(final).user == user


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_kafka_python_is_let_in(mechanism: str) -> None:
    from kafka.net.sasl.scram import SaslMechanismScram

    password = "pass ª\u00ad"
    credential = ScramCredential.of_password(mechanism, password)
    server = server_for(mechanism, credential)
    client = SaslMechanismScram(
        sasl_plain_username="me", sasl_plain_password=password, sasl_mechanism=mechanism
    )
    client.receive(server.take(client.auth_bytes()).answer)
    step = server.take(client.auth_bytes())
    assert step.user == "me"
    client.receive(step.answer)
    assert client.is_done()


Ask = Callable[..., list[str]]


@pytest.fixture(scope="module")
def kafka() -> Iterator[Ask]:
    """What Kafka's classes answer to a line of ScramTool, its words decoded."""
    require_oracle()
    tool = JavaTool(TOOL, fetch(NEWEST, ["kafka-clients", *SLF4J]))

    def ask(verb: str, *values: str | bytes) -> list[str]:
        words = (each.encode() if isinstance(each, str) else each for each in values)
        line = " ".join([verb, *(base64.b64encode(each).decode() for each in words)])
        return tool.ask([line])[0].split(" ")

    yield ask
    tool.close()


@settings(max_examples=EXAMPLES)
@given(st.sampled_from(MECHANISMS), ascii_names, names, st.binary(min_size=12, max_size=30))
@pytest.mark.exhaustive
def test_kafkas_server_lets_us_in(
    kafka: Ask, mechanism: str, user: str, password: str, salt: bytes
) -> None:
    """With its own keys of the password, which are those that we make of it."""
    keys = kafka("server", mechanism, password, salt, "4100")
    ours = ScramCredential.of_password(mechanism, password, salt=salt, iterations=4100)
    assert [*map(base64.b64decode, keys)] == [ours.stored_key, ours.server_key]
    client = SaslScram(mechanism, user, password).exchange(LIMIT)
    state, challenge = kafka("to-server", client.first())
    assert state == "more"
    final = proof_of(client, base64.b64decode(challenge))
    state, proof, name = kafka("to-server", final)
    assert (state, base64.b64decode(name).decode()) == ("done", user)
    assert client.next(base64.b64decode(proof)) is None


@settings(max_examples=EXAMPLES)
@pytest.mark.exhaustive
@given(st.sampled_from(MECHANISMS), ascii_names, names)
def test_kafkas_client_is_let_in(kafka: Ask, mechanism: str, user: str, password: str) -> None:
    server = server_for(mechanism, ScramCredential.of_password(mechanism, password))
    _, first = kafka("client", mechanism, user, password)
    _, final = kafka("to-client", server.take(base64.b64decode(first)).answer)
    step = server.take(base64.b64decode(final))
    assert step.user == user
    assert kafka("to-client", step.answer)[0] == "done"


@pytest.mark.exhaustive
def test_kafka_and_we_refuse_the_same(kafka: Ask) -> None:
    kafka("server", "SCRAM-SHA-256", "right", b"salt" * 4, "4096")
    client = SaslScram("SCRAM-SHA-256", "me", "wrong").exchange(LIMIT)
    _, challenge = kafka("to-server", client.first())
    final = proof_of(client, base64.b64decode(challenge))
    assert kafka("to-server", final) == ["refused"]


def test_mechanisms_and_credentials_that_are_none() -> None:
    with pytest.raises(ValueError, match="no SCRAM mechanism of Kafka's: SCRAM-SHA-256, SCRAM"):
        SaslScram("SCRAM-SHA-1", "me", "x")
    with pytest.raises(ValueError, match="at least 4096"):
        ScramCredential.of_password("SCRAM-SHA-256", "x", iterations=4095)
    with pytest.raises(ValueError, match="without a mechanism lets nobody in"):
        SaslServer()


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scramp", None)
    with pytest.raises(MissingExtraError, match=r"kafka-admin-proto\[live\]"):
        SaslScram("SCRAM-SHA-256", "me", "x")
    server = SaslServer(scram_sha_256=lambda user: None).exchange("SCRAM-SHA-256")
    assert server is not None
    assert server.take(b"n,,n=me,r=x").refusal == ""


def test_a_credential_is_masked_and_kept() -> None:
    credential = ScramCredential.of_password("SCRAM-SHA-512", "hunter2")
    assert repr(credential) == "ScramCredential(iterations=4096, keys and salt not shown)"
    assert pickle.loads(pickle.dumps(credential)) == credential
