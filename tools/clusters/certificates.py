"""An authority for tests and its certificates, made by openssl when they are needed, as PEM."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.clusters.processes import HOST
from tools.oracles.jars import ToolMissingError

#: Elliptic keys are made at once; RSA's take a second.
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


@dataclass(frozen=True, slots=True)
class Certificate:
    """Files in PEM: a certificate, its private key (PKCS #8, not encrypted), and both in one."""

    file: Path
    key: Path

    @property
    def bundle(self) -> Path:
        return self.file.with_suffix(".bundle.pem")


class Authority:
    """A certificate authority whose files are in ``folder``; ``certificate`` is its own."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self.certificate = Certificate(folder / f"{name}.pem", folder / f"{name}.key")
        _openssl(
            "req", "-x509", *_KEY, "-days", "2", "-subj", f"/CN={name}",
            "-keyout", self.certificate.key, "-out", self.certificate.file,
        )  # fmt: skip
        _bundle(self.certificate)

    def issue(
        self,
        name: str,
        *,
        hosts: Sequence[str] = (f"IP:{HOST}", "DNS:localhost"),
        days: int = 2,
        subject: str = "",
    ) -> Certificate:
        """A certificate for ``hosts`` (openssl's notation of alternative names) and its key.

        With negative ``days`` its time is already over. ``subject`` is in openssl's notation, the
        name as its CN by default.
        """
        made = Certificate(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        request, extensions = self._folder / f"{name}.csr", self._folder / f"{name}.extensions"
        extensions.write_text(f"subjectAltName={','.join(hosts)}\n" if hosts else "")
        _openssl(
            "req", *_KEY, "-utf8", "-subj", subject or f"/CN={name}",
            "-keyout", made.key, "-out", request,
        )  # fmt: skip
        _openssl(
            "x509", "-req", "-in", request, "-days", str(days), "-extfile", extensions,
            "-CA", self.certificate.file, "-CAkey", self.certificate.key, "-CAcreateserial",
            "-out", made.file,
        )  # fmt: skip
        _bundle(made)
        return made


def _bundle(made: Certificate) -> None:
    made.bundle.write_text(made.key.read_text() + made.file.read_text())


def _openssl(*arguments: str | Path) -> None:
    program = shutil.which("openssl")
    if program is None:
        raise ToolMissingError("openssl is not on the PATH; install the package openssl")
    subprocess.run([program, *arguments], check=True, capture_output=True, timeout=60)
