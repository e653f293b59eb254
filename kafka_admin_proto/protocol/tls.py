"""TLS as Kafka's ``ssl.*`` properties describe it, of clients and of brokers' listeners."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.protocol.stores import check_pairs, keystore, truststore
from kafka_admin_proto.wire.secrets import MaskedStruct


class TlsSettings(MaskedStruct, frozen=True, kw_only=True):
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

        Raises SettingsError for stores that are neither PEM nor PKCS12, and MissingExtraError for
        PKCS12 without its library.
        """
        properties = {name: text.strip() for name, text in properties.items()}
        check_pairs(properties)
        trusted, shown = truststore(properties), keystore(properties)
        algorithm = properties.get("ssl.endpoint.identification.algorithm", "https").lower()
        if algorithm not in ("", "https"):
            raise SettingsError(
                f"ssl.endpoint.identification.algorithm={algorithm} is not known; https checks "
                "the broker's name, and an empty value does not"
            )
        text = properties.get("ssl.enabled.protocols") or ""
        return cls(
            authorities=trusted,
            certificate=shown and shown.certificate,
            key=shown and shown.key,
            key_password=shown and shown.key_password,
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
        # As in Java, any certificate of the truststore ends a chain, be it an issuing authority's
        # or the peer's own; OpenSSL wants one that is signed by itself.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        if self.authorities is None:
            context.load_default_certs(purpose)
            return
        try:
            context.load_verify_locations(cadata=self.authorities)
        except (ssl.SSLError, ValueError) as error:
            raise SettingsError(
                f"the truststore's certificates cannot be read ({_reason(error)}); expected "
                "PEM, -----BEGIN CERTIFICATE-----"
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


def _reason(error: Exception) -> str:
    """Why OpenSSL refused, without the place in its sources."""
    return str(getattr(error, "reason", None) or error).lower().replace("_", " ")
