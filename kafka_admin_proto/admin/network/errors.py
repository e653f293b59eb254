"""The errors of connections that could not be opened, with messages that say what to do."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Sequence

from kafka_admin_proto.admin.errors import ConnectionFailedError, TlsError, UnresolvedError
from kafka_admin_proto.protocol.addresses import Address

#: OpenSSL's X509_V_ERR codes, as `SSLCertVerificationError.verify_code` has them.
_NOT_YET_VALID, _EXPIRED = 9, 10
_UNTRUSTED = (18, 19, 20, 21)
_WRONG_NAME = (62, 64)

_REFUSED = "connection refused; check that the broker runs and that this is its listener's port"


def unresolved(address: Address, error: socket.gaierror) -> UnresolvedError:
    reason = (error.strerror or str(error)).lower()
    return UnresolvedError(
        f"{address} does not resolve ({reason}); check the name, and the DNS of this machine",
        address=str(address),
    )


def unreachable(address: Address, error: OSError) -> ConnectionFailedError:
    """The error for a TCP connection that failed."""
    if error.errno == errno.ECONNREFUSED:
        reason = _REFUSED
    else:
        reason = f"{(error.strerror or str(error)).lower()}; check the network in between"
    return ConnectionFailedError(f"cannot connect to {address}: {reason}", address=str(address))


def handshake_failed(address: Address, error: Exception) -> TlsError:
    return TlsError(
        f"TLS with {address} failed: {tls_reason(address, error)}", address=str(address)
    )


def tls_reason(address: Address, error: Exception) -> str:
    """Why the handshake failed, and what to do."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return _certificate_reason(address, error)
    reason = str(getattr(error, "reason", None) or "")
    if reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG") or (
        reason == "RECORD_LAYER_FAILURE"
    ):
        return (
            "the answer is not TLS; the listener is likely one without TLS: use its own port, or "
            "security.protocol PLAINTEXT or SASL_PLAINTEXT"
        )
    if "CERTIFICATE_REQUIRED" in reason or "HANDSHAKE_FAILURE" in reason:
        return (
            "the broker asks for a certificate of the client, or shares no cipher with it; set "
            "ssl.keystore.location"
        )
    if "BAD_CERTIFICATE" in reason:  # what Java's TLS says to a client without one, too
        return (
            "the broker asks for a certificate of the client, and refuses the one that it got, if "
            "any; set ssl.keystore.location to one that the broker's truststore knows"
        )
    if "ALERT" in reason:
        said = reason.lower().replace("_", " ")
        return f"the broker refused ({said}); check the client's certificate and its issuer"
    if isinstance(error, (ssl.SSLEOFError, ssl.SSLZeroReturnError, ConnectionError)):
        return (
            "the broker ended the connection during the handshake; the listener may be one "
            "without TLS (use security.protocol PLAINTEXT or SASL_PLAINTEXT), or refuses the "
            "client's certificate"
        )
    return reason.lower().replace("_", " ") or str(error) or type(error).__name__


def _certificate_reason(address: Address, error: ssl.SSLCertVerificationError) -> str:
    code, said = error.verify_code, error.verify_message
    if code == _EXPIRED:
        return "the broker's certificate has expired; it has to be renewed on the broker"
    if code == _NOT_YET_VALID:
        return "the broker's certificate is not valid yet; check the clocks of both machines"
    if code in _WRONG_NAME:
        return (
            f"the broker's certificate is not for {address.host}; connect by a name that is in "
            "it, or set ssl.endpoint.identification.algorithm to nothing if the network is trusted"
        )
    if code in _UNTRUSTED:
        return (
            f"the broker's certificate is not trusted ({said}); put the certificate of its "
            "issuer into the truststore (ssl.truststore.location)"
        )
    return f"the broker's certificate is not accepted ({said})"


def advertised(
    broker: int, error: ConnectionFailedError, bootstrap: Sequence[Address]
) -> ConnectionFailedError:
    """The same error for an address that came from the cluster, which says so.

    A bootstrap address led to the cluster, which names its brokers by ``advertised.listeners``.
    """
    among = "one of the bootstrap addresses" if bootstrap[1:] else "the bootstrap address"
    start = f"{among} {', '.join(map(str, bootstrap))}"
    named = f"broker {broker} advertises {error.address}"
    if isinstance(error, UnresolvedError):
        return UnresolvedError(
            f"{named}, which does not resolve; {start} did: set "
            "advertised.listeners of the broker to a name that this machine knows, or add the name "
            "to its hosts file",
            address=error.address,
        )
    also = " and that its certificate is for" if isinstance(error, TlsError) else ""
    return type(error)(
        f"{named}: {error}; {start} did answer: unless the broker is down, set its "
        f"advertised.listeners to an address that this machine reaches{also}",
        address=error.address,
    )


def ended_early(address: Address, *, uses_tls: bool) -> ConnectionFailedError:
    """The error for a connection that was ended before the broker said its versions."""
    hint = (
        "it may ask for a certificate of the client (ssl.keystore.location), or is not Kafka's"
        if uses_tls
        else "the listener may expect TLS (security.protocol SSL or SASL_SSL), or is not Kafka's"
    )
    return ConnectionFailedError(
        f"{address} ended the connection before it answered; {hint}", address=str(address)
    )


def not_kafka(address: Address, fault: Exception, *, uses_tls: bool) -> ConnectionFailedError:
    """The error for bytes that are not Kafka's, received before the connection was ready."""
    text = str(fault)
    if "TLS" in text and not uses_tls:
        return TlsError(
            f"{address} answered with TLS, and the client speaks plain text; set security.protocol "
            "to SSL or SASL_SSL, or use the port of a listener without TLS",
            address=str(address),
        )
    return ConnectionFailedError(
        f"{address} does not answer as a Kafka broker does: {text}; check the port",
        address=str(address),
    )
