"""TLS as Kafka's ``ssl.*`` properties describe it, of clients and of brokers' listeners."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from kafka_admin_proto.errors import SettingsError

_BEGIN = "-----BEGIN "


class TlsSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What TLS is made of: PEM texts, the password of the key, and whether names are checked.

    ``authorities`` are the certificates to trust, None for those of the system. ``protocols`` are
    the versions allowed, none given for Python's own choice.
    """

    authorities: str | None = None
    certificate: str | None = None
    key: str | None = None
    key_password: str | None = None
    check_hostname: bool = True
    protocols: tuple[str, ...] = ()

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"TlsSettings({parts})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        has = [name for name in ("authorities", "certificate", "key") if getattr(self, name)]
        return [("has", has), ("check_hostname", self.check_hostname)]

    def __reduce__(self) -> str:
        raise TypeError(
            "a TlsSettings holds a private key and is not pickled; make another one there"
        )

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> TlsSettings:
        """Settings by Kafka's names, without blanks around values, as Kafka's ConfigDef has them.

        Raises SettingsError for stores that are not PEM.
        """
        properties = {name: text.strip() for name, text in properties.items()}
        _check_pairs(properties)
        store = _store(properties, "truststore", "ssl.truststore.certificates")
        pair = _store(properties, "keystore", "ssl.keystore.certificate.chain")
        algorithm = properties.get("ssl.endpoint.identification.algorithm", "https").lower()
        if algorithm not in ("", "https"):
            raise SettingsError(
                f"ssl.endpoint.identification.algorithm={algorithm} is not known; https checks "
                "the broker's name, and an empty value does not"
            )
        key_text = properties.get("ssl.keystore.key")
        key = _with_line_ends(key_text) if key_text else pair
        if pair and (key is None or "PRIVATE KEY" not in key):
            raise SettingsError(
                "there is a certificate and no private key for it; put the key into "
                "ssl.keystore.key, or into the file of ssl.keystore.location"
            )
        if key_text and not pair:
            raise SettingsError("ssl.keystore.key needs ssl.keystore.certificate.chain")
        text = properties.get("ssl.enabled.protocols") or ""
        return cls(
            authorities=store,
            certificate=pair,
            key=key,
            key_password=properties.get("ssl.key.password"),
            check_hostname=algorithm == "https",
            protocols=tuple(part.strip() for part in text.split(",") if part.strip()),
        )

    def client_context(self) -> ssl.SSLContext:
        """A client's context; SettingsError for PEM texts that OpenSSL does not take."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = self.check_hostname
        self._load_authorities(context)
        self._set_protocols(context)
        if self.certificate and self.key:
            self._load_pair(context, self.certificate, self.key)
        return context

    def server_context(self, client_auth: str) -> ssl.SSLContext:
        """A listener's context, with Kafka's ``ssl.client.auth``; SettingsError as above."""
        modes = {
            "none": ssl.CERT_NONE,
            "requested": ssl.CERT_OPTIONAL,
            "required": ssl.CERT_REQUIRED,
        }
        if client_auth not in modes:
            raise SettingsError(f"ssl.client.auth={client_auth} is none of {', '.join(modes)}")
        if not self.certificate or not self.key:
            raise SettingsError(
                "a listener with TLS needs a certificate; set ssl.keystore.location to a file of "
                "PEM that has the certificate and its private key"
            )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.options |= ssl.OP_NO_RENEGOTIATION
        context.verify_mode = modes[client_auth]
        if context.verify_mode is not ssl.CERT_NONE:
            self._load_authorities(context, ssl.Purpose.CLIENT_AUTH)
        self._set_protocols(context)
        self._load_pair(context, self.certificate, self.key)
        return context

    def _load_authorities(
        self, context: ssl.SSLContext, purpose: ssl.Purpose = ssl.Purpose.SERVER_AUTH
    ) -> None:
        if self.authorities is None:
            context.load_default_certs(purpose)
            return
        try:
            context.load_verify_locations(cadata=self.authorities)
        except (ssl.SSLError, ValueError) as error:
            raise SettingsError(
                f"the truststore's certificates cannot be read ({_reason(error)}); expected "
                f"PEM, {_BEGIN}CERTIFICATE-----"
            ) from None

    def _set_protocols(self, context: ssl.SSLContext) -> None:
        if not self.protocols:
            return
        known = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
        if unknown := [name for name in self.protocols if name not in known]:
            raise SettingsError(
                f"ssl.enabled.protocols has {', '.join(unknown)}; there are {', '.join(known)}"
            )
        allowed = sorted(known[name] for name in self.protocols)
        context.minimum_version, context.maximum_version = allowed[0], allowed[-1]

    def _load_pair(self, context: ssl.SSLContext, certificate: str, key: str) -> None:
        """Load the certificate of this end; Python takes it from files only."""

        def password() -> str:
            if self.key_password is None:  # OpenSSL would ask at the terminal
                raise SettingsError("the private key is encrypted; set ssl.key.password")
            return self.key_password

        import tempfile  # loads much

        with tempfile.TemporaryDirectory(prefix="kap-") as folder:
            path = Path(folder, "pair.pem")
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "w", encoding="utf-8") as file:
                file.write(certificate if key == certificate else f"{key}\n{certificate}\n")
            try:
                context.load_cert_chain(path, password=password)
            except (ssl.SSLError, ValueError) as error:
                raise SettingsError(
                    f"the certificate and key cannot be used ({_reason(error)}); check "
                    "that both are PEM, that they belong together, and ssl.key.password"
                ) from None


def check_role(setting: str, context: ssl.SSLContext | None, *, is_server: bool) -> None:
    """Raise SettingsError for a context that is only for the other end of connections."""
    wrong = ssl.PROTOCOL_TLS_CLIENT if is_server else ssl.PROTOCOL_TLS_SERVER
    if context is not None and context.protocol == wrong:
        own, other = ("SERVER", "clients") if is_server else ("CLIENT", "servers")
        raise SettingsError(
            f"{setting} is a context of {other}; make it with ssl.PROTOCOL_TLS_{own}"
        )


def _check_pairs(properties: Mapping[str, str]) -> None:
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


def _store(properties: Mapping[str, str], store: str, inline: str) -> str | None:
    """The PEM text of a store: in a property itself, or in the file of another."""
    text, location = properties.get(inline), properties.get(f"ssl.{store}.location")
    kind = properties.get(f"ssl.{store}.type", "PEM" if text else "JKS").upper()
    if text:
        if kind != "PEM":
            raise SettingsError(f"{inline} is PEM; set ssl.{store}.type=PEM")
        return _with_line_ends(text)
    if not location:
        return None
    try:
        data = Path(location).read_bytes()
    except OSError as error:
        raise SettingsError(
            f"ssl.{store}.location: cannot read {location}: {error.strerror or error}"
        ) from None
    if _BEGIN.encode() in data:  # what it is, whatever its type is said to be
        return data.decode("ascii", "ignore")  # comments in between may have other characters
    if kind == "PEM":
        raise SettingsError(f"ssl.{store}.location: {location} has no PEM in it")
    raise SettingsError(
        f"ssl.{store}.location: {location} is a {kind} store, which Python cannot read; "
        f"convert it to PEM: {_conversion(store, kind, location)}; then set "
        f"ssl.{store}.location to the new file and ssl.{store}.type=PEM"
    )


def _conversion(store: str, kind: str, location: str) -> str:
    """The commands that make PEM of a store of Java's."""
    to_pem = "-nokeys" if store == "truststore" else "-nodes"
    if kind == "PKCS12":
        return f"openssl pkcs12 -in {location} -out {store}.pem {to_pem}"
    return (
        f"keytool -importkeystore -srckeystore {location} -destkeystore {store}.p12 "
        f"-deststoretype PKCS12, and openssl pkcs12 -in {store}.p12 -out {store}.pem {to_pem}"
    )


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


def _reason(error: Exception) -> str:
    """Why OpenSSL refused, without the place in its sources."""
    return str(getattr(error, "reason", None) or error).lower().replace("_", " ")
