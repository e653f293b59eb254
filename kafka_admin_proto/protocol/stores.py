"""Key stores and truststores of Kafka's ``ssl.*`` properties as PEM: texts, PEM files, PKCS12.

The content of a file says what it is, as in Java, which reads PKCS12 under the type JKS (Kafka's
default) and the reverse. cryptography, an extra, reads PKCS12. JKS has no library that is kept
up, so that its error says how to convert it.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from kafka_admin_proto.errors import MissingExtraError, SettingsError
from kafka_admin_proto.wire.secrets import MASK

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12KeyAndCertificates
    from cryptography.x509 import Certificate

_BEGIN_PEM = b"-----BEGIN "
_BEGIN_JKS = (b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce")
#: A SEQUENCE of ASN.1.
_BEGIN_PKCS12 = b"\x30"
#: The last is Kafka's default, under which Java reads PKCS12 as well.
_TYPES = ("PEM", "PKCS12", "JKS")


class KeyStore(NamedTuple):
    """A certificate, with those of its issuers, and its private key, as PEM."""

    certificate: str
    key: str
    #: Of the key, None where it is not encrypted.
    key_password: str | None

    def __repr__(self) -> str:
        return f"KeyStore({MASK!r})"


def check_pairs(properties: Mapping[str, str]) -> None:
    """Refuse what has no effect beside the other properties, most of it as Kafka does."""
    for store, *texts in (
        ("truststore", "ssl.truststore.certificates"),
        ("keystore", "ssl.keystore.certificate.chain", "ssl.keystore.key"),
    ):
        location = f"ssl.{store}.location"
        given = [name for name in (location, *texts) if properties.get(name)]
        if len(given) > 1 and location in given:
            raise SettingsError(f"{' and '.join(given)} exclude each other; remove one")
        needing = [f"ssl.{store}.password", f"ssl.{store}.type"]
        needing += ["ssl.key.password"] if store == "keystore" else []
        lonely = [name for name in needing if properties.get(name)]
        if lonely and not given:
            raise SettingsError(
                f"{', '.join(lonely)}: there is no {store} for it; set {location}, or remove it"
            )
        kind = properties.get(f"ssl.{store}.type") or "PEM"
        if kind.upper() not in _TYPES:
            raise SettingsError(
                f"ssl.{store}.type={kind} is not known; there are {', '.join(_TYPES)}"
            )


def truststore(properties: Mapping[str, str]) -> str | None:
    """The certificates to trust as PEM, None where the properties name none.

    Raises SettingsError, and MissingExtraError for PKCS12 without its library.
    """
    text = _text(properties, "truststore", "ssl.truststore.certificates")
    data = None if text else _content(properties, "truststore")
    if text or (data is not None and _BEGIN_PEM in data):
        _refuse_password(properties, "truststore")
    if data is None:
        return text
    if _BEGIN_PEM in data:
        return _pem(data)
    found = _open_pkcs12(properties, "truststore", data)
    own, _, others = _certificates(found)
    # As Java: of a chain beside a private key its first certificate is trusted, not its issuers.
    trusted = others if own is None else [own, *others]
    if not trusted:
        raise SettingsError(
            f"ssl.truststore.location: {properties['ssl.truststore.location']} has no certificate "
            "to trust; add that of the issuer: keytool -importcert -alias issuer -file …"
        )
    return _as_pem(trusted)


def keystore(properties: Mapping[str, str]) -> KeyStore | None:
    """The certificate and key to show, None where the properties name none; raises as above."""
    chain = _text(properties, "keystore", "ssl.keystore.certificate.chain")
    key_text = properties.get("ssl.keystore.key")
    if key_text and not chain:
        raise SettingsError("ssl.keystore.key needs ssl.keystore.certificate.chain")
    data = None if chain else _content(properties, "keystore")
    if data is not None and _BEGIN_PEM not in data:
        return _pkcs12_pair(properties, data)
    pair = _pem(data) if data is not None else chain
    if pair is None:
        return None
    _refuse_password(properties, "keystore")
    key = _with_line_ends(key_text) if key_text else pair
    if "PRIVATE KEY" not in key:
        raise SettingsError(
            "there is a certificate and no private key for it; put the key into "
            "ssl.keystore.key, or into the file of ssl.keystore.location"
        )
    return KeyStore(pair, key, properties.get("ssl.key.password"))


def _refuse_password(properties: Mapping[str, str], store: str) -> None:
    """Refuse the password of a store that is PEM and has none, as Kafka does."""
    if properties.get(f"ssl.{store}.password"):
        instead = "set ssl.key.password for an encrypted key, or " if store == "keystore" else ""
        raise SettingsError(
            f"ssl.{store}.password has no effect: the {store} is PEM, which has no password of its "
            f"own; {instead}remove it"
        )


def _text(properties: Mapping[str, str], store: str, name: str) -> str | None:
    """The PEM text that a property itself has."""
    text = properties.get(name)
    if not text:
        return None
    if properties.get(f"ssl.{store}.type", "PEM").upper() != "PEM":
        raise SettingsError(f"{name} is PEM; set ssl.{store}.type=PEM")
    return _with_line_ends(text)


def read_file(name: str, location: str, of_text: str) -> bytes:
    """The bytes of the file that a property names; ``of_text`` is the property for PEM itself.

    Raises SettingsError, which shows no PEM: there may be a private key in it.
    """
    if _BEGIN_PEM.decode() in location:
        raise SettingsError(f"{name} has PEM in the place of a file's name; set {of_text}")
    try:
        return Path(location).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or error
        raise SettingsError(f"{name}: cannot read {location}: {reason}") from None


def _content(properties: Mapping[str, str], store: str) -> bytes | None:
    """The bytes of a store's file, which are PEM or may be PKCS12; None without a file."""
    location, kind = properties.get(f"ssl.{store}.location"), properties.get(f"ssl.{store}.type")
    if not location:
        return None
    texts = {"truststore": "certificates", "keystore": "certificate.chain and ssl.keystore.key"}
    data = read_file(f"ssl.{store}.location", location, f"ssl.{store}.{texts[store]}")
    if _BEGIN_PEM in data:
        return data
    if data.startswith(_BEGIN_JKS):
        raise SettingsError(
            f"ssl.{store}.location: {location} is a JKS store, which Python cannot read; make a "
            f"PKCS12 store of it: keytool -importkeystore -srckeystore {quote(location)} "
            f"-destkeystore {store}.p12 -deststoretype PKCS12; then set ssl.{store}.location to "
            f"the new file and ssl.{store}.type=PKCS12"
        )
    if not data.startswith(_BEGIN_PKCS12):
        raise SettingsError(f"ssl.{store}.location: {location} has neither PEM nor PKCS12 in it")
    if kind is not None and kind.upper() == "PEM":
        raise SettingsError(
            f"ssl.{store}.location: {location} has no PEM in it; set ssl.{store}.type=PKCS12 if it "
            "is a PKCS12 store"
        )
    return data


def _open_pkcs12(
    properties: Mapping[str, str], store: str, data: bytes
) -> PKCS12KeyAndCertificates:
    location, password = properties[f"ssl.{store}.location"], f"ssl.{store}.password"
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12
    except ImportError:
        raise MissingExtraError(
            f"ssl.{store}.location: {location} is a PKCS12 store, which needs the library "
            "cryptography: pip install 'kafka-admin-proto[security]'"
        ) from None
    given = properties.get(password)
    try:
        return load_pkcs12(data, given.encode() if given else None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        reason = str(error)
    if "password" in reason.lower():
        wrong = "is not its password" if given else "is missing"
        raise SettingsError(
            f"ssl.{store}.location: {location} cannot be opened: {password} {wrong}"
        )
    raise SettingsError(
        f"ssl.{store}.location: {location} cannot be read as a PKCS12 store ({reason}); expected "
        "PEM or PKCS12"
    )


def _pkcs12_pair(properties: Mapping[str, str], data: bytes) -> KeyStore:
    """The private key of a PKCS12 store, encrypted anew for OpenSSL's file, and its chain."""
    location, password = "ssl.keystore.location", properties.get("ssl.keystore.password")
    if not password:  # Kafka refuses it, too
        raise SettingsError(
            f"{location}: {properties[location]} is a PKCS12 store; set ssl.keystore.password"
        )
    if properties.get("ssl.key.password") not in (None, "", password):
        raise SettingsError(
            "ssl.key.password differs from ssl.keystore.password; a PKCS12 store has one password "
            "for itself and its keys: give it in both, or in ssl.keystore.password alone"
        )
    store = _open_pkcs12(properties, "keystore", data)
    own, issuers, _ = _certificates(store)
    if store.key is None or own is None:
        raise SettingsError(
            f"{location}: {properties[location]} has no private key with a certificate"
        )
    from cryptography.hazmat.primitives import serialization

    once = secrets.token_hex(16)  # the store's own may be longer than OpenSSL takes here
    key = store.key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(once.encode()),
    )
    return KeyStore(_as_pem([own, *issuers]), key.decode("ascii"), once)


def _certificates(
    store: PKCS12KeyAndCertificates,
) -> tuple[Certificate | None, list[Certificate], list[Certificate]]:
    """The certificate of the private key, those of its issuers, and all others."""
    own = None if store.cert is None else store.cert.certificate
    others = [each.certificate for each in store.additional_certs]
    issuers: list[Certificate] = []
    last = own
    while last is not None and last.issuer != last.subject:
        last = next((each for each in others if each.subject == last.issuer), None)
        if last is not None:
            others.remove(last)  # one of two that are equal: the other may be there to be trusted
            issuers.append(last)
    return own, issuers, others


def _as_pem(certificates: list[Certificate]) -> str:
    from cryptography.hazmat.primitives.serialization import Encoding

    return "".join(each.public_bytes(Encoding.PEM).decode("ascii") for each in certificates)


def _pem(data: bytes) -> str:
    return data.decode("ascii", "ignore")  # comments in between may have other characters


def _with_line_ends(text: str) -> str:
    """PEM in one line, as properties often have it, as lines: OpenSSL wants them."""
    parts = text.replace("\\n", "\n").split("-----")
    # Text, "BEGIN X", body, "END X", text, ...: only bodies and what is between are reformed.
    lines = []
    for number, part in enumerate(parts):
        if number % 2:
            lines.append(f"-----{part}-----")
        elif part.strip():
            lines.extend(part.split() if ":" not in part else [part.strip()])
    return "\n".join(lines) + "\n"
