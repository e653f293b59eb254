"""Principals: the name that a SASL exchange shows, once the server has agreed."""

from __future__ import annotations

import pytest

from kafka_admin_proto.capture.connection.sasl import SaslExchange

SCRAM = [b"n,,n=a=2Cb=3Dc,r=abc", b"c=biws,r=abcdef,p=proof"]


def exchange(mechanism: str, tokens: list[bytes], answer: bytes) -> SaslExchange:
    found = SaslExchange()
    found.handshake(mechanism, 1)
    for token in tokens:
        found.from_client(token)
    assert found.principal is None
    found.from_server(answer)
    return found


@pytest.mark.parametrize(
    ("mechanism", "tokens", "answer", "principal"),
    [
        ("PLAIN", [b"\0alice\0secret"], b"", "User:alice"),
        ("PLAIN", [b"alice\0secret"], b"", None),
        ("PLAIN", [b"\0\xff\0secret"], b"", None),
        ("PLAIN", [b"\0" + b"a" * 2000 + b"\0secret"], b"", None),
        ("SCRAM-SHA-256", SCRAM, b"v=verifier", "User:a,b=c"),
        ("SCRAM-SHA-256", SCRAM, b"e=other-error", None),
        ("SCRAM-SHA-256", [b"n,,n=token,r=abc,tokenauth=true"], b"v=x", None),
        ("GSSAPI", [b"\0alice\0secret"], b"", None),
    ],
)
def test_the_principal(
    mechanism: str, tokens: list[bytes], answer: bytes, principal: str | None
) -> None:
    found = exchange(mechanism, tokens, answer)
    assert found.principal == principal
    assert "secret" not in repr(found)
    found.from_server(b"", failed=True)
    assert found.principal is None


def test_an_empty_answer_agrees_to_a_bearer_token() -> None:
    """An error is JSON, which the client answers with a byte (RFC 7628)."""
    token = b"n,,\x01auth=Bearer secret\x01\x01"
    for answer, agreed in ((b"", True), (b'{"status":"invalid_token"}', False)):
        found = exchange("OAUTHBEARER", [token, b"\x01"], answer)
        assert found.agreed is agreed
        assert found.principal is None


def test_raw_tokens_follow_version_0_alone() -> None:
    found = SaslExchange()
    for version, raw_tokens in ((1, False), (0, True), (1, False)):
        found.handshake("PLAIN", version)
        assert found.raw_tokens is raw_tokens
