"""Captures that tcpdump makes of real brokers and clients, for tests and the benchmark.

Run as ``python -m tools.traffic.captures [NAME ...]``. Each is made once and kept in the cache's
folder ``captures/``: NAME.pcap, NAME.json (a `Capture` but its paths) and, where brokers took part,
NAME.request.log (the lines of their RequestLoggers). They depend on the machine and its load, so
that they are not in git.

kraft             4.3.1, three nodes, the active controller ends; compression, transactions, groups
zk                3.9.2 with ZooKeeper, brokers that talk as 3.0 did
sasl              4.3.1, PLAIN and SCRAM, right and wrong passwords, tokens without headers
other_protocols   a TLS handshake and an HTTP exchange
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import importlib.util
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from kafka_admin_proto.capture.captures import read_captures
from tools.oracles.jars import ToolMissingError
from tools.traffic.brokers import kraft_traffic, sasl_traffic, zookeeper_traffic
from tools.traffic.capture_files import Capture, captures_folder
from tools.traffic.other_protocols import other_protocols

_TOOLS = Path(__file__).resolve().parents[1]
#: Name of a capture → what makes it in a folder.
_SCENARIOS: dict[str, Callable[[Path], Capture]] = {
    "kraft": kraft_traffic,
    "zk": zookeeper_traffic,
    "sasl": sasl_traffic,
    "other_protocols": other_protocols,
}
NAMES = tuple(_SCENARIOS)


def why_unavailable() -> str | None:
    """Why captures cannot be made here, in plain words; None if they can."""
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
    """The capture of that name, made first if need be.

    It is made again when the sources that make it have changed, by one process at a time, and up to
    three times until no client leaves before its answer. Raises CaptureError, ClusterError and
    FetchError.
    """
    described = captures_folder() / f"{name}.json"
    with (captures_folder() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if described.exists():
            found = msgspec.json.decode(described.read_bytes(), type=Capture)
            if found.made_by == _digest():
                return found
        for last in (False, False, True):
            with tempfile.TemporaryDirectory(dir=captures_folder(), prefix=".part-") as part:
                made = replace(_SCENARIOS[name](Path(part)), made_by=_digest())
                if last or not _cut_off(Path(part) / "capture.pcap"):
                    _keep(Path(part), made)
                    break
        return made


def _cut_off(capture: Path) -> bool:
    """Whether a client left before its whole answer came, which happens on a busy machine."""
    found = (each.problem for each in read_captures([capture]))
    return any(problem is not None and "no more were captured" in problem for problem in found)


def _keep(part: Path, made: Capture) -> None:
    described = captures_folder() / f"{made.name}.json"
    described.unlink(missing_ok=True)
    for suffix in ("pcap", "request.log"):
        if (file := part / f"capture.{suffix}").exists():
            file.replace(captures_folder() / f"{made.name}.{suffix}")
    (part / "json").write_bytes(msgspec.json.encode(made))
    (part / "json").replace(described)  # last, so that a description has its files


def _digest() -> str:
    """A digest of the sources that captures depend on."""
    names = ("traffic/*.py", "traffic/*.java", "clusters/*.py")
    sources = sorted(each for name in names for each in _TOOLS.glob(name))
    return hashlib.sha256(b"".join(each.read_bytes() for each in sources)).hexdigest()[:16]


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
