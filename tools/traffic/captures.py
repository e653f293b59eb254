"""Captures that tcpdump makes of real brokers and clients, for tests and the benchmark.

Run as ``python -m tools.traffic.captures [NAME ...]``. Each is made once and kept in the cache's
folder ``captures/``: NAME.pcap, NAME.json (a `Capture` but its paths) and, where brokers took part,
NAME.request.log (the lines of their RequestLoggers). They hold what happened on one machine at one
time, so nothing here is in git.

kraft       4.3.1, three nodes, the active controller ends; every compression, transactions, groups
zk          3.9.2 with ZooKeeper, brokers that talk as 3.0 did
sasl        4.3.1, PLAIN and SCRAM, right and wrong passwords, tokens without headers
strangers   a TLS handshake and an HTTP exchange
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import http.client
import http.server
import importlib.util
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from kafka_admin_proto import ApiVersionsRequest, SaslHandshakeRequest
from kafka_admin_proto.capture.captures import read_captures
from kafka_admin_proto.protocol import write_request
from tools.clusters import (
    HOST,
    LAST_WITH_ZOOKEEPER,
    NEWEST_BROKER,
    Cluster,
    ClusterError,
    Listener,
    class_path,
    free_ports,
    java,
    kraft,
    sasl_properties,
    zookeeper,
)
from tools.oracles.jars import ToolMissingError, cache_folder

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parents[1]
_CLIENT_OPTIONS = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
#: Seconds for one program of clients.
_TRAFFIC = 240.0
#: Seconds until tcpdump has written what the kernel has seen.
_SETTLE = 1.0

#: What clients log in with in `sasl`, and a config's value in `kraft`: none of it may be shown.
SECRET_CONFIG = "do-not-show"
PASSWORDS = {"bob": "bob-secret", "alice": "alice-secret"}


class CaptureError(Exception):
    """tcpdump does not run, or has lost packets; the message says which."""


class Capture(msgspec.Struct, frozen=True):
    """One capture: its file, the ports that servers listened on, the release of its brokers.

    ``sasl`` is the address that clients have to log in at; ``said`` are the lines of the clients;
    ``made_by`` tells one version of this module from another.
    """

    name: str
    ports: list[int]
    release: str = ""
    sasl: str = ""
    said: list[str] = []
    made_by: str = ""

    @property
    def path(self) -> Path:
        return _folder() / f"{self.name}.pcap"

    @property
    def request_log(self) -> Path:
        return _folder() / f"{self.name}.request.log"


def why_unavailable() -> str | None:
    """In plain words, what keeps captures from being made here; None if nothing does."""
    programs = {
        "java": "a JDK 17",
        "mvn": "Apache Maven",
        "tcpdump": "tcpdump",
        "openssl": "openssl",
    }
    missing = [what for name, what in programs.items() if shutil.which(name) is None]
    if importlib.util.find_spec("kafka") is None:
        missing.append("the package kafka-python")
    if missing:
        return f"captures of real brokers need {', '.join(missing)}"
    opened = ["tcpdump", "-i", "lo", "--list-data-link-types"]
    run = subprocess.run(opened, capture_output=True, text=True, check=False)
    return f"tcpdump may not capture here: {run.stderr.strip()}" if run.returncode else None


def capture(name: str) -> Capture:
    """The capture of that name, made first if need be. CaptureError, ClusterError, FetchError.

    It is made again when what makes it has changed, by one process at a time, and up to three
    times until no client leaves before its answer.
    """
    described = _folder() / f"{name}.json"
    with (_folder() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if described.exists():
            found = msgspec.json.decode(described.read_bytes(), type=Capture)
            if found.made_by == _digest():
                return found
        for last in (False, False, True):
            with tempfile.TemporaryDirectory(dir=_folder(), prefix=".part-") as part:
                made = replace(_SCENARIOS[name](Path(part)), made_by=_digest())
                if last or not _cut_off(Path(part) / "capture.pcap"):
                    _keep(Path(part), made)
                    break
        return made


def _cut_off(capture: Path) -> bool:
    """Whether a client left before all of an answer came: on a busy machine one may."""
    found = (each.problem for each in read_captures([capture]))
    return any(problem is not None and "no more were captured" in problem for problem in found)


def _keep(part: Path, made: Capture) -> None:
    described = _folder() / f"{made.name}.json"
    described.unlink(missing_ok=True)
    for suffix in ("pcap", "request.log"):
        if (file := part / f"capture.{suffix}").exists():
            file.replace(_folder() / f"{made.name}.{suffix}")
    (part / "json").write_bytes(msgspec.json.encode(made))
    (part / "json").replace(described)  # last: what is described is there


def _digest() -> str:
    """Of the sources that captures depend on."""
    names = ("traffic/*.py", "traffic/*.java", "clusters/*.py")
    sources = sorted(each for name in names for each in _HERE.parent.glob(name))
    return hashlib.sha256(b"".join(each.read_bytes() for each in sources)).hexdigest()[:16]


def _folder() -> Path:
    folder = cache_folder() / "captures"
    folder.mkdir(exist_ok=True)
    return folder


@contextlib.contextmanager
def _tcpdump(file: Path, ports: Sequence[int]) -> Iterator[None]:
    """Capture what goes to and from the ports on the loopback interface."""
    log = file.with_suffix(".tcpdump")
    only = " or ".join(f"tcp port {port}" for port in ports)
    command = ["tcpdump", "-i", "lo", "-s", "0", "-B", "16384", "-Z", "root", "-w", str(file), only]
    with log.open("w") as stderr:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=stderr)
    try:
        deadline = time.monotonic() + 10
        while "listening on" not in log.read_text():
            if process.poll() is not None or time.monotonic() > deadline:
                raise CaptureError(f"tcpdump does not capture: {log.read_text()}")
            time.sleep(0.05)
        yield
        time.sleep(_SETTLE)
        process.send_signal(signal.SIGINT)
        process.wait(10)
    finally:
        process.kill()
        process.wait()
    if "\n0 packets dropped by kernel" not in log.read_text():
        raise CaptureError(f"tcpdump has lost packets, so a capture has holes: {log.read_text()}")


def _kraft(folder: Path) -> Capture:
    properties = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    around = _captured(folder)
    with kraft(folder, NEWEST_BROKER, nodes=3, properties=properties, around=around) as cluster:

        def change_leader(said: str) -> bool:
            leads = said.startswith("leader ")
            if leads:
                _kafka_python(cluster.bootstrap)
                cluster.end(int(said.split()[1]))
            return leads

        said = _traffic(cluster, "KraftTraffic", [cluster.bootstrap, SECRET_CONFIG], change_leader)
    return _finished(folder, cluster, "kraft", said)


def _zk(folder: Path) -> Capture:
    with zookeeper(folder, LAST_WITH_ZOOKEEPER, around=_captured(folder)) as cluster:
        said = _traffic(cluster, "ZkTraffic", [cluster.bootstrap])
        cluster.end(2)
        cluster.end(1)  # a broker that is killed may leave half a frame on the wire
    return _finished(folder, cluster, "zk", said)


def _sasl(folder: Path) -> Capture:
    sasl = sasl_properties(["PLAIN", "SCRAM-SHA-256"], {"bob": PASSWORDS["bob"]})
    options: dict[str, Any] = {
        "listeners": [Listener("SASL", "SASL_PLAINTEXT", sasl)],
        "properties": {"delegation.token.secret.key": "a-key-of-this-test"},
        "scram": [f"SCRAM-SHA-256=[name=alice,password={PASSWORDS['alice']}]"],
    }
    with kraft(folder, NEWEST_BROKER, around=_captured(folder), **options) as cluster:
        address = cluster.address("SASL")
        clients = [
            *("PLAIN", "bob", PASSWORDS["bob"]),
            *("PLAIN", "mallory", "wrong-password"),
            *("SCRAM-SHA-256", "alice", PASSWORDS["alice"]),
            *("SCRAM-SHA-256", "alice", "wrong-password"),
        ]
        said = _traffic(cluster, "SaslTraffic", [address, *clients])
        for password in (PASSWORDS["bob"], "wrong-password"):
            said.append(f"tokens without headers: {_login_by_tokens(address, password)}")
    return _finished(folder, cluster, "sasl", said)


def _login_by_tokens(address: str, password: str) -> str:
    """Log in as clients before Kafka 1.0 did: tokens behind their sizes, and nothing else."""
    requests = [
        write_request(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1, client_id="by-tokens"),
        f"\0bob\0{password}".encode(),
        write_request(ApiVersionsRequest(), 2, 2, client_id="by-tokens"),
    ]
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        answers = connection.makefile("rb")
        for request in requests:
            connection.sendall(len(request).to_bytes(4, "big") + request)
            size = answers.read(4)
            if len(size) < 4:
                return "closed"
            answers.read(int.from_bytes(size, "big"))
    return "ok"


def _strangers(folder: Path) -> Capture:
    """What is not Kafka, on ports where a broker might be."""
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
        _tcpdump(folder / "capture.pcap", [plain, secure]),
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
    return Capture("strangers", [plain, secure], said=said)


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


def _captured(folder: Path) -> Callable[[list[int]], contextlib.AbstractContextManager[None]]:
    return lambda ports: _tcpdump(folder / "capture.pcap", ports)


def _finished(folder: Path, cluster: Cluster, name: str, said: list[str]) -> Capture:
    (folder / "capture.request.log").write_bytes(cluster.request_log())
    address = cluster.address("SASL")
    return Capture(name, cluster.ports, cluster.release, address, said)


def _traffic(
    cluster: Cluster,
    program: str,
    arguments: Sequence[str],
    wanted: Callable[[str], bool] = lambda said: False,
) -> list[str]:
    """Run a program of ``tools/traffic`` on the cluster's jars; what it has printed.

    Where ``wanted`` is true of a line, the program waits for one, and gets it.
    """
    source = str(_HERE / f"{program}.java")
    command = [java(), *_CLIENT_OPTIONS, "-cp", class_path(cluster.jars), source, *arguments]
    said = []
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        )
        watch = threading.Timer(_TRAFFIC, process.kill)
        watch.start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            for line in process.stdout:
                said.append(line.rstrip("\n"))
                if wanted(line):
                    process.stdin.write("\n")
                    process.stdin.flush()
            status = process.wait()
        finally:
            watch.cancel()
            process.kill()
            process.communicate()
        if status:
            errors.seek(0)
            raise ClusterError(f"{program} ended with {status}:\n{errors.read()[-2000:]}")
    return said


def _kafka_python(bootstrap: str) -> None:
    """The same cluster as another project's client sees it."""
    command = [sys.executable, "-m", "tools.traffic.kafka_python_traffic", bootstrap]
    run = subprocess.run(
        command, cwd=_ROOT, capture_output=True, text=True, timeout=_TRAFFIC, check=False
    )
    if run.returncode:
        raise ClusterError(f"kafka-python ended with {run.returncode}:\n{run.stderr[-2000:]}")


_SCENARIOS: dict[str, Callable[[Path], Capture]] = {
    "kraft": _kraft,
    "zk": _zk,
    "sasl": _sasl,
    "strangers": _strangers,
}
NAMES = tuple(_SCENARIOS)


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the captures that are not there yet."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    names = parser.parse_args(arguments).names or NAMES
    if unknown := set(names) - set(NAMES):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    reason = why_unavailable()
    if reason is not None:
        raise ToolMissingError(reason)
    for name in names:
        start = time.monotonic()
        made = capture(name)
        seconds, size = time.monotonic() - start, made.path.stat().st_size
        print(f"{name}: {size / 1e6:.1f} MB, {seconds:.0f} s, {made.path}", flush=True)


if __name__ == "__main__":
    main()
