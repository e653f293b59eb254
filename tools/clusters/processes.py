"""Java processes and ports: what starting a cluster takes, whatever the cluster is."""

from __future__ import annotations

import random
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.oracles.java import java

HOST = "127.0.0.1"

#: Seconds until a process says that it has started.
START_S = 180.0
#: Below what Linux gives to clients by itself (from 32768), so that no client takes such a port
#: and a filter by port means servers.
_PORTS = range(20_000, 32_000)
_given: set[int] = set()
#: The kernel ends a process that setpriv has bound with the thread that started it, so one thread
#: that lives as long as this process starts them all.
_starter = ThreadPoolExecutor(1, "java")
#: What Kafka's own start script gives a broker where nobody sets anything.
SHIPPED_JVM_OPTIONS = (
    "-Xmx1G", "-Xms1G", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent",
    "-XX:MaxInlineLevel=15", "-Djava.awt.headless=true",
)  # fmt: skip

_LOG4J2 = """\
status = error
appender.server.type = File
appender.server.name = server
appender.server.fileName = {folder}/server.log
appender.server.layout.type = PatternLayout
appender.server.layout.pattern = [%d] %p %m (%c)%n
appender.requests.type = File
appender.requests.name = requests
appender.requests.fileName = {folder}/request.log
appender.requests.layout.type = PatternLayout
appender.requests.layout.pattern = [%d] %p %m (%c)%n
logger.requests.name = kafka.request.logger
logger.requests.level = {level}
logger.requests.additivity = false
logger.requests.appenderRef.requests.ref = requests
rootLogger.level = info
rootLogger.appenderRef.server.ref = server
"""

_LOG4J = """\
log4j.rootLogger=INFO, server
log4j.appender.server=org.apache.log4j.FileAppender
log4j.appender.server.File={folder}/server.log
log4j.appender.server.layout=org.apache.log4j.PatternLayout
log4j.appender.server.layout.ConversionPattern=[%d] %p %m (%c)%n
log4j.logger.kafka.request.logger={level}, requests
log4j.additivity.kafka.request.logger=false
log4j.appender.requests=org.apache.log4j.FileAppender
log4j.appender.requests.File={folder}/request.log
log4j.appender.requests.layout=org.apache.log4j.PatternLayout
log4j.appender.requests.layout.ConversionPattern=[%d] %p %m (%c)%n
"""


class ClusterError(Exception):
    """A broker did not start, or a command of Kafka's failed; the message ends with its log."""


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that nobody listens on, none of them twice in this process."""
    found: list[int] = []
    untouched = [port for port in _PORTS if port not in _given]
    for port in random.sample(untouched, len(untouched)):
        with socket.socket() as probe:
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
        found.append(port)
        _given.add(port)
        if len(found) == count:
            return found
    raise ClusterError(f"{count} free ports are not to be had on {HOST}")


def start_java(command: Sequence[str], folder: Path) -> subprocess.Popen[bytes]:
    """A Java process whose output goes to the folder's file `output`, and its libraries there."""
    setpriv = shutil.which("setpriv")
    bound = [setpriv, "--pdeathsig", "KILL"] if setpriv else []
    with (folder / "output").open("ab") as output:
        return _starter.submit(
            subprocess.Popen,
            [*bound, java(), f"-Djava.io.tmpdir={folder}", *command],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        ).result()


def log_options(release: str, folder: Path, *, requests: bool = True) -> list[str]:
    """Java's options for logs in the folder, of requests too; 4.0 went from log4j to log4j2."""
    new = int(release.split(".")[0]) >= 4
    file = folder / ("log4j2.properties" if new else "log4j.properties")
    level = "DEBUG" if requests else "WARN"
    file.write_text((_LOG4J2 if new else _LOG4J).format(folder=folder, level=level))
    return [f"-Dlog4j2.configurationFile={file}" if new else f"-Dlog4j.configuration=file:{file}"]


def wait_for_line(
    log: Path, line: str, process: subprocess.Popen[bytes], *, after: int = 0
) -> None:
    """Wait until the log has the line behind its first ``after`` bytes; ClusterError if never."""

    def said() -> bool:
        return log.exists() and line.encode() in log.read_bytes()[after:]

    if not _within(START_S, said, process):
        raise ClusterError(_failure("did not start", log))


def wait_for_port(port: int, process: subprocess.Popen[bytes], log: Path | None = None) -> None:
    """Wait until somebody listens on the port; ClusterError if nobody does in time."""

    def answers() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((HOST, port)) == 0

    if not _within(START_S, answers, process):
        ended = process.poll()
        why = f"after {START_S:.0f} seconds" if ended is None else f"its process ended with {ended}"
        what = f"does not listen on port {port}: {why}"
        raise ClusterError(f"a process {what}" if log is None else _failure(what, log))


def _within(seconds: float, happened: Callable[[], bool], process: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        if happened():
            return True
        time.sleep(0.2)
    return False


def _failure(what: str, log: Path) -> str:
    output = log.with_name("output")
    texts = [each.read_text(errors="replace")[-2000:] for each in (output, log) if each.exists()]
    return f"{log.parent.name} {what}:\n" + "\n".join(texts)
