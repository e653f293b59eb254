"""SCRAM credentials: their mechanisms, and the keys that Kafka stores for a password."""

from __future__ import annotations

import hashlib
import hmac

from kafka_admin_proto.messages import UserScramCredentialRecord
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.failures import ApiFailure

#: Hash functions by the mechanism's number.
MECHANISMS = {1: "sha256", 2: "sha512"}
_MIN_ITERATIONS = 4096
_MAX_ITERATIONS = 16384


def check_user(name: str, mechanism: int) -> None:
    """Raises ApiFailure for an empty user name or an unknown mechanism."""
    if not name:
        raise ApiFailure(codes.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    if mechanism not in MECHANISMS:
        raise ApiFailure(codes.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")


def check_iterations(iterations: int) -> None:
    """Raises ApiFailure for fewer or more iterations than Kafka accepts."""
    if iterations < _MIN_ITERATIONS:
        raise ApiFailure(codes.UNACCEPTABLE_CREDENTIAL, "Too few iterations")
    if iterations > _MAX_ITERATIONS:
        raise ApiFailure(codes.UNACCEPTABLE_CREDENTIAL, "Too many iterations")


def credential(
    name: str, mechanism: int, salt: bytes, salted_password: bytes, iterations: int
) -> UserScramCredentialRecord:
    """The record of a credential, with keys in place of the salted password (RFC 5802)."""
    algorithm = MECHANISMS[mechanism]
    client_key = hmac.digest(salted_password, b"Client Key", algorithm)
    return UserScramCredentialRecord(
        name,
        mechanism,
        salt,
        hashlib.new(algorithm, client_key).digest(),
        hmac.digest(salted_password, b"Server Key", algorithm),
        iterations,
    )
