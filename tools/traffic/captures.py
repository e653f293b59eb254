"""Captures that tcpdump makes of real brokers and clients, for tests and the benchmark.

Run as ``python -m tools.traffic.captures [--keep] [NAME ...]``. Each is made once and kept in the
cache's folder ``captures/``: NAME.pcap, NAME.json (a `Capture` but its paths) and, where brokers
took part, NAME.request.log (the lines of their RequestLoggers). ``--keep`` also writes them,
compressed, into ``tools/traffic/kept/``, from where `kept` takes them: making them takes a minute
and depends on the machine and its load.

kraft             4.4.0, three nodes, the active controller ends; compression, transactions, groups
zk                3.9.2 with ZooKeeper, brokers that talk as 3.0 did
sasl              4.4.0, PLAIN and SCRAM, right and wrong passwords, tokens without headers
other_protocols   a TLS handshake and an HTTP exchange
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import importlib.util
import lzma
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
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
#: Captures that are in git, compressed.
_KEPT = Path(__file__).resolve().parent / "kept"
_SUFFIXES = ("pcap", "request.log", "json")


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
    with _locked(name):
        if (captures_folder() / f"{name}.json").exists():
            found = _described(name)
            if found.made_by == _digest():
                return found
        for last in (False, False, True):
            # Not in the cache: brokers say where their logs are.
            with tempfile.TemporaryDirectory(prefix="capture-") as part:
                made = replace(_SCENARIOS[name](Path(part)), made_by=_digest())
                if last or not _cut_off(Path(part) / "capture.pcap"):
                    _keep(Path(part), made)
                    break
        return made


def kept(name: str) -> Capture:
    """The capture of that name that is in git; one that is not there is made."""
    packed = [each for suffix in _SUFFIXES if (each := _KEPT / f"{name}.{suffix}.xz").exists()]
    if not packed:
        return capture(name)
    with _locked(name):
        for each in packed:
            content = lzma.decompress(each.read_bytes())
            file = captures_folder() / each.stem
            if not file.exists() or file.read_bytes() != content:
                file.write_bytes(content)
        return _described(name)


def _keep_in_git(made: Capture) -> None:
    _KEPT.mkdir(exist_ok=True)
    for suffix in _SUFFIXES:
        if (file := captures_folder() / f"{made.name}.{suffix}").exists():
            (_KEPT / f"{file.name}.xz").write_bytes(lzma.compress(file.read_bytes(), preset=9))


def _cut_off(capture: Path) -> bool:
    """Whether a client left before its whole answer came, which happens on a busy machine."""
    found = (each.problem for each in read_captures([capture]))
    return any(problem is not None and "no more were captured" in problem for problem in found)


@contextlib.contextmanager
def _locked(name: str) -> Iterator[None]:
    """One process at a time makes or unpacks a capture."""
    with (captures_folder() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _described(name: str) -> Capture:
    return msgspec.json.decode((captures_folder() / f"{name}.json").read_bytes(), type=Capture)


def _keep(part: Path, made: Capture) -> None:
    described = captures_folder() / f"{made.name}.json"
    described.unlink(missing_ok=True)
    for suffix in ("pcap", "request.log"):
        if (file := part / f"capture.{suffix}").exists():
            shutil.move(file, captures_folder() / f"{made.name}.{suffix}")
    described.write_bytes(msgspec.json.encode(made))  # last, so that a description has its files


def _digest() -> str:
    """A digest of the sources that captures depend on."""
    names = ("traffic/*.py", "traffic/*.java", "clusters/*.py")
    sources = sorted(each for name in names for each in _TOOLS.glob(name))
    return hashlib.sha256(b"".join(each.read_bytes() for each in sources)).hexdigest()[:16]


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the captures that are not there yet."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--keep", action="store_true", help="into git's folder too, compressed")
    options = parser.parse_args(arguments)
    names = options.names or NAMES
    if unknown := set(names) - set(NAMES):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    reason = why_unavailable()
    if reason is not None:
        raise ToolMissingError(reason)
    for name in names:
        start = time.monotonic()
        made = capture(name)
        if options.keep:
            _keep_in_git(made)
        seconds, size = time.monotonic() - start, made.path.stat().st_size
        print(f"{name}: {size / 1e6:.1f} MB, {seconds:.0f} s, {made.path}", flush=True)


if __name__ == "__main__":
    main()
