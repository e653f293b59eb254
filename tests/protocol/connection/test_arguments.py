"""Arguments of connections and credentials: a wrong one is a sentence where it is given."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_admin_proto.errors import UnknownMessageError
from kafka_admin_proto.protocol.connection import (
    CLIENT,
    SERVER,
    Connection,
    SaslPlain,
    SaslScram,
    SaslServer,
    ScramCredential,
)

LOGIN = SaslPlain("alice", "secret")
SASL_SERVER = SaslServer(plain=lambda user, password: False)


async def trace(*_: Any) -> None: ...


#: Arguments of a client → what the error says of them.
OF_CLIENTS: list[tuple[dict[str, Any], str]] = [
    ({"sasl": ("alice", "secret")}, "sasl: expected Sasl or None, got tuple"),
    ({"sasl": SASL_SERVER}, "sasl: expected Sasl or None, got SaslServer"),
    ({"sasl": SaslPlain}, "sasl: expected Sasl or None, got"),
    ({"client_id": 3}, "client_id: expected str or None, got int"),
    ({"limits": 3}, "limits: expected Limits or None, got int"),
    ({"negotiate": "no"}, "negotiate: expected bool, got str"),
    ({"defer_proofs": 1}, "defer_proofs: expected bool, got int"),
    ({"software_name": 3}, "software_name: expected str, got int"),
    ({"first_correlation_id": "3"}, "first_correlation_id: expected int, got str"),
    ({"trace": 3}, "trace: expected a function or None, got int"),
    ({"trace": trace}, "trace: a coroutine function"),
]
OF_SERVERS: list[tuple[dict[str, Any], str]] = [
    ({"sasl": LOGIN}, "sasl: expected SaslServer or None, got SaslPlain"),
    ({"sasl": lambda user, password: True}, "sasl: expected SaslServer or None, got function"),
    ({"limits": {"in_flight": 3}}, "limits: expected Limits or None, got dict"),
    ({"dialect": None}, "dialect: expected str, got NoneType"),
]
OF_BOTH: list[tuple[dict[str, Any], str]] = [
    ({"apis": {3: 1}}, "apis: expected Apis, as shared_apis returns them, got int"),
    ({"apis": ["Metadata"]}, "apis: expected Apis, as shared_apis returns them, got str"),
    ({"apis": "Metadata"}, "apis: expected a collection, got str"),
    ({"apis": 3}, "apis: expected a collection, got int"),
]
CASES = [
    *((CLIENT, *case) for case in (*OF_CLIENTS, *OF_BOTH)),
    *((SERVER, *case) for case in (*OF_SERVERS, *OF_BOTH)),
]


@pytest.mark.parametrize(("role", "given", "words"), CASES)
def test_a_wrong_argument_of_a_connection(role: Any, given: dict[str, Any], words: str) -> None:
    with pytest.raises(TypeError) as refused:
        Connection(role, **given)
    kind = "ClientConnection" if role is CLIENT else "ServerConnection"
    assert str(refused.value).startswith(f"{kind}: {words}")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("role", "given", "error", "words"),
    [
        (
            SERVER,
            {"dialect": "nope"},
            UnknownMessageError,
            "unknown dialect 'nope'; there is kafka",
        ),
        (SERVER, {"apis": []}, ValueError, "ServerConnection: apis is empty"),
        (CLIENT, {"apis": []}, ValueError, "ClientConnection: apis is empty"),
        (CLIENT, {"apis": [], "negotiate": False}, ValueError, "ClientConnection: apis is empty"),
    ],
)
def test_a_connection_that_could_pass_nothing(
    role: Any, given: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=f"^{words}"):
        Connection(role, **given)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda wrong: SaslPlain("alice", wrong), "SaslPlain: password: expected str"),
        (lambda wrong: SaslPlain(wrong, "secret"), "SaslPlain: user: expected str"),
        (
            lambda wrong: SaslScram("SCRAM-SHA-256", "alice", wrong),
            "SaslScram: password: expected str",
        ),
        (lambda wrong: SaslScram(wrong, "alice", "secret"), "a SCRAM mechanism: expected str"),
        (
            lambda wrong: ScramCredential.of_password("SCRAM-SHA-256", wrong),
            "of_password: password: expected str",
        ),
    ],
)
@pytest.mark.parametrize("wrong", [None, b"hidden", 3, ["hidden"]])
def test_a_wrong_part_of_a_credential(make: Any, words: str, wrong: object) -> None:
    with pytest.raises(TypeError) as refused:
        make(wrong)
    assert str(refused.value) == f"{words}, got {type(wrong).__name__}"
