"""Traffic that is not Kafka's, on ports where a broker might be: a TLS handshake and HTTP."""

from __future__ import annotations

import contextlib
import http.client
import http.server
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.clusters import HOST, free_ports
from tools.traffic.capture_files import Capture
from tools.traffic.tcpdump import tcpdump


def other_protocols(folder: Path) -> Capture:
    """One answer by HTTP, and one by HTTPS."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    request = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*request, *files], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    plain, secure = free_ports(2)
    with (
        tcpdump(folder / "capture.pcap", [plain, secure]),
        _serving(plain),
        _serving(secure) as tls,
    ):
        tls.socket = context.wrap_socket(tls.socket, server_side=True)
        trusting = ssl.create_default_context(cafile=certificate)
        trusting.check_hostname = False
        said = [
            _get(http.client.HTTPConnection(HOST, plain, timeout=30)),
            _get(http.client.HTTPSConnection(HOST, secure, timeout=30, context=trusting)),
        ]
    return Capture("other_protocols", [plain, secure], said=said)


@contextlib.contextmanager
def _serving(port: int) -> Iterator[http.server.HTTPServer]:
    """A web server in a thread."""
    server = http.server.HTTPServer((HOST, port), _Page)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"not Kafka\n" * 5000)

    def log_message(self, format: str, *args: Any) -> None:
        """The lines of a server's log are no part of what a tool prints."""


def _get(connection: http.client.HTTPConnection) -> str:
    with contextlib.closing(connection):
        connection.request("GET", "/")
        return f"{len(connection.getresponse().read())} bytes"
