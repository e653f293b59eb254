"""From start to answer: ``kap topics list`` beside Kafka's command and kafka-python's script.

    python -m tools.benchmarks.start

starts one broker with two topics, and runs the three in turn, each as a process of its own. Prints
the medians, and the ratios pair by pair, as the table of ``docs/kafka-shell.md``.
"""

from __future__ import annotations

import argparse
import compileall
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import kafka_admin_proto
from kafka_admin_proto.admin import NewTopic, SyncAdminClient
from tools.clusters import kraft
from tools.oracles.java import class_path

_KAP = "from kafka_admin_proto.cli import main; main()"
#: Wall-clock seconds, and seconds of processor time, of a process.
_Times = tuple[float, float]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args(arguments)
    # As pip does with packages that it installs, kafka-python among them.
    compileall.compile_dir(str(Path(kafka_admin_proto.__file__).parent), quiet=2)
    with tempfile.TemporaryDirectory() as folder, kraft(Path(folder), nodes=1) as cluster:
        where = cluster.bootstrap
        with SyncAdminClient(where) as admin:
            admin.create_topics([NewTopic("orders"), NewTopic("payments")])
        tool = ("org.apache.kafka.tools.TopicCommand", "--bootstrap-server", where, "--list")
        commands = {
            "`kap topics list`": [sys.executable, "-c", _KAP, "topics", "list", "-b", where],
            "kafka-python's `python -m kafka.admin topics list`": [
                sys.executable, "-m", "kafka.admin", "-b", where, "topics", "list",
            ],
            "Kafka's `TopicCommand --list` (JVM)": [
                "java", "-cp", class_path(cluster.jars), *tool,
            ],
        }  # fmt: skip
        rounds = [
            {name: measure(command) for name, command in commands.items()}
            for _ in range(options.rounds + 1)
        ][1:]  # the first one warms up
    print(table(list(commands), rounds))


def measure(command: Sequence[str]) -> _Times:
    """Run a command to its end. Raises CalledProcessError."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def table(names: Sequence[str], rounds: Sequence[dict[str, _Times]]) -> str:
    """A row for each command: seconds, and how many times those of the first they are."""
    lines = ["| | wall s | of kap's | processor s | of kap's |", "|---|--:|--:|--:|--:|"]
    for name in names:
        cells = [name]
        for kind in (0, 1):
            seconds = statistics.median(each[name][kind] for each in rounds)
            ratio = statistics.median(each[name][kind] / each[names[0]][kind] for each in rounds)
            cells += [f"{seconds:.2f}", f"{ratio:.1f} ×"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
