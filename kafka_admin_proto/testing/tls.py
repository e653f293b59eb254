"""An authority for tests of TLS and its certificates, made by the command ``openssl``, as PEM.

    made = certificates(tmp_path)
    Cluster(listeners={"TLS": "SSL"}, configs=made.configs("TLS"))
    made.client_context()       # what a client of it needs

The keys are not encrypted and the certificates end after two days: they are for tests alone.
"""

from __future__ import annotations

import os
import re
import shutil
import ssl
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kafka_admin_proto.arguments import checked_arguments, listed

#: The names of this machine, in openssl's notation of alternative names.
_HOSTS = ("IP:127.0.0.1", "DNS:localhost")
#: One such name: its type, a colon and the name.
_HOST = re.compile(r"[A-Za-z]+:.")
#: Elliptic keys are made at once; RSA's take a second.
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Certificate:
    """Files in PEM: a certificate, its private key (PKCS #8, not encrypted), and both in one.

    Behind the certificate, ``file`` has those of issuing authorities, as a server shows them.
    """

    file: Path
    key: Path

    @property
    def bundle(self) -> Path:
        return self.file.with_suffix(".bundle.pem")


class Authority:
    """A certificate authority whose files are in ``folder``; ``certificate`` is its own.

    With an ``issuer`` it is an issuing (intermediate) authority, else it has signed itself. Raises
    FileNotFoundError where there is no command ``openssl``, and ValueError for the issuer's name.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        name: str = "authority",
        *,
        issuer: Authority | None = None,
    ) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        #: What stands behind the certificates that it issues.
        self._chain = ""
        self.certificate: Certificate
        if issuer is not None:
            self.certificate = issuer._signed(
                self._folder, name, f"/CN={name}", "basicConstraints=critical,CA:TRUE", days=2
            )
            self._chain = self.certificate.file.read_text()
            return
        self.certificate = Certificate(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        _openssl(
            "req", "-x509", *_KEY, "-days", "2", "-subj", f"/CN={name}",
            "-keyout", self.certificate.key, "-out", self.certificate.file,
        )  # fmt: skip
        _bundle(self.certificate)

    def issue(
        self, name: str, *, hosts: Sequence[str] = _HOSTS, days: int = 2, subject: str = ""
    ) -> Certificate:
        """A certificate for ``hosts`` (openssl's notation of alternative names) and its key.

        With negative ``days`` its time is already over. ``subject`` is in openssl's notation, the
        name as its CN by default. Raises ValueError for a name that the authority's files or none
        can have, and with openssl's words for what it refuses.
        """
        hosts = listed(hosts, "hosts")
        given = {"name": name, "hosts": hosts, "days": days, "subject": subject}
        checked_arguments(Authority.issue, given)
        for host in hosts:
            if not _HOST.match(host):
                raise ValueError(
                    f"hosts: {host!r} has no type; write DNS:localhost or IP:127.0.0.1"
                )
        names = f"subjectAltName={','.join(hosts)}" if hosts else ""
        return self._signed(self._folder, name, subject or f"/CN={name}", names, days)

    def _signed(
        self, folder: Path, name: str, subject: str, extension: str, days: int
    ) -> Certificate:
        """A certificate that this authority signs, in new files."""
        made = Certificate(folder / f"{name}.pem", folder / f"{name}.key")
        if Path(name).name != name or not name or made.file == self.certificate.file:
            raise ValueError(f"a certificate's name is that of new files, not {name!r}")
        request, extensions = folder / f"{name}.csr", folder / f"{name}.extensions"
        extensions.write_text(f"{extension}\n")
        _openssl("req", *_KEY, "-utf8", "-subj", subject, "-keyout", made.key, "-out", request)
        _openssl(
            "x509", "-req", "-in", request, "-days", str(days), "-extfile", extensions,
            "-CA", self.certificate.file, "-CAkey", self.certificate.key, "-CAcreateserial",
            "-out", made.file,
        )  # fmt: skip
        made.file.write_text(made.file.read_text() + self._chain)
        _bundle(made)
        return made


class Certificates(Authority):
    """An authority that has issued a certificate of servers and one of clients of this machine.

    ``authority``, ``server`` and ``client`` are files. Contexts are new ones at each call.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        super().__init__(folder)
        self.authority: Certificate = self.certificate
        self.server: Certificate = self.issue("server")
        self.client: Certificate = self.issue("client")

    def server_context(self, *, mutual: bool = False) -> ssl.SSLContext:
        """A server that shows ``server``; a mutual one requires a certificate of clients."""
        checked_arguments(Certificates.server_context, {"mutual": mutual})
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.server.file, self.server.key)
        if mutual:
            context.load_verify_locations(self.authority.file)
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    def client_context(self, *, mutual: bool = False) -> ssl.SSLContext:
        """A client that trusts the authority alone; a mutual one shows ``client``."""
        checked_arguments(Certificates.client_context, {"mutual": mutual})
        context = ssl.create_default_context(cafile=self.authority.file)
        if mutual:
            context.load_cert_chain(self.client.file, self.client.key)
        return context

    def configs(self, listener: str, *, mutual: bool = False) -> dict[str, str]:
        """The configs of ``Cluster`` for its listener of that name, as ``server_context``."""
        checked_arguments(Certificates.configs, {"listener": listener, "mutual": mutual})
        own = {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(self.server.bundle)}
        if mutual:
            own |= {
                "ssl.truststore.type": "PEM",
                "ssl.truststore.location": str(self.authority.file),
                "ssl.client.auth": "required",
            }
        return {f"listener.name.{listener.lower()}.{name}": value for name, value in own.items()}


def certificates(folder: str | os.PathLike[str]) -> Certificates:
    """Make an authority and its certificates in ``folder``, which is made where it is missing.

    Raises FileNotFoundError where there is no command ``openssl``.
    """
    return Certificates(folder)


def _bundle(made: Certificate) -> None:
    made.bundle.touch(0o600)
    made.bundle.write_text(made.key.read_text() + made.file.read_text())


def _openssl(*arguments: str | Path) -> None:
    program = shutil.which("openssl")
    if program is None:
        raise FileNotFoundError("openssl is not on the PATH; install the package openssl")
    ran = subprocess.run(
        [program, *arguments], check=False, capture_output=True, text=True, timeout=_SECONDS
    )
    if ran.returncode:
        raise ValueError(f"openssl {arguments[0]} failed: {'; '.join(ran.stderr.splitlines())}")
