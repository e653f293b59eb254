"""Why a connection could not be made: what OpenSSL and the system say, in words that help."""

from __future__ import annotations

import errno
import ssl

import pytest

from kafka_admin_proto.admin.network.errors import handshake_failed, unreachable
from kafka_admin_proto.protocol.addresses import Address

ADDRESS = Address("broker", 9093)


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("RECORD_LAYER_FAILURE", "the answer is not TLS"),
        ("TLSV13_ALERT_CERTIFICATE_REQUIRED", "asks for a certificate of the client, or shares"),
        ("SSLV3_ALERT_BAD_CERTIFICATE", "refuses the one that it got"),
        ("TLSV1_ALERT_PROTOCOL_VERSION", "the broker refused (tlsv1 alert protocol version)"),
        ("NO_PROTOCOLS_AVAILABLE", "no protocols available"),
    ],
)
def test_what_openssl_says_has_its_remedy(reason: str, said: str) -> None:
    error = ssl.SSLError(1, "failed")
    error.reason = reason
    assert said in str(handshake_failed(ADDRESS, error))


@pytest.mark.parametrize(
    ("code", "said"),
    [(9, "is not valid yet"), (10, "has expired"), (62, "is not for broker"),
     (18, "is not trusted (why)"), (26, "is not accepted (why)")],
)  # fmt: skip
def test_what_is_wrong_with_a_certificate(code: int, said: str) -> None:
    error = ssl.SSLCertVerificationError(1, "failed")
    error.verify_code, error.verify_message = code, "why"
    assert said in str(handshake_failed(ADDRESS, error))


def test_a_network_without_a_way() -> None:
    error = unreachable(ADDRESS, OSError(errno.EHOSTUNREACH, "No route to host"))
    assert str(error).endswith("no route to host; check the network in between")
