"""The admin client beside kafka-python's: from the start of a process to its answer.

    python -m tools.bench_admin --topics 10000

starts three brokers, creates the topics, and has each client list and describe all of them, turn by
turn, in processes of their own; medians, and the peak of each process's memory. With ``--write``
the table goes into ``docs/benchmarks-admin.md``.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from kafka_admin_proto.admin import NewTopic, SyncAdminClient
from tools.clusters import NEWEST_BROKER, Cluster, kraft

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks-admin.md"

#: What each script prints at its end: the number of topics, and its peak memory in kB. The kernel's
#: rusage would have that of this process before it became another one.
_END = """
with open("/proc/self/status") as status:
    print(count, next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""
_OURS = """
from kafka_admin_proto.admin import SyncAdminClient
with SyncAdminClient({bootstrap!r}) as admin:
    count = len({call})
"""
_KAFKA_PYTHON = """
import warnings
warnings.simplefilter("ignore")
from kafka import KafkaAdminClient
admin = KafkaAdminClient(bootstrap_servers={bootstrap!r})
count = len({call})
admin.close()
"""
_CLIENTS = ("kafka_admin_proto", "kafka-python")
#: Task → the call of each client.
_TASKS = {
    "list": ("admin.list_topics()", "admin.list_topics()"),
    "describe": ("admin.describe_topics()", "admin.describe_topics()"),
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--topics", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, kraft(Path(folder), nodes=3) as cluster:
        create(cluster, options.topics)
        text = report(cluster, options.topics, options.rounds)
    print(text)
    if options.write:
        PAGE.write_text(text, "utf-8")


def create(cluster: Cluster, count: int) -> None:
    """So many topics of one partition with one replica, and none other."""
    topics = [NewTopic(f"topic-{index:05}", 1, 1) for index in range(count)]
    with SyncAdminClient(cluster.bootstrap) as admin:
        created = admin.create_topics(topics, timeout=600)
    failed = [each for each in created if each.error or not each.complete]
    if failed:
        raise SystemExit(f"{len(failed)} topics were not created, the first: {failed[0]}")


def report(cluster: Cluster, count: int, rounds: int) -> str:
    """The page."""
    rows = []
    for task, calls in _TASKS.items():
        scripts = [
            template.format(bootstrap=cluster.bootstrap, call=call) + _END
            for template, call in zip((_OURS, _KAFKA_PYTHON), calls, strict=True)
        ]
        runs = [[run(script, count) for script in scripts] for _ in range(rounds)]
        for name, own in zip(
            ("kafka_admin_proto", "kafka-python"), zip(*runs, strict=True), strict=True
        ):
            seconds = statistics.median(each[0] for each in own)
            peak = statistics.median(each[1] for each in own)
            rows.append(f"| {task} | {name} | {seconds:.2f} s | {peak / 2**20:.0f} MiB |")
    return f"""# The admin client beside kafka-python's

From the start of a Python process to its answer: {count:,} topics of one partition, three brokers
of Kafka {NEWEST_BROKER} on the same machine ({os.cpu_count()} processors), CPython
{platform.python_version()}; medians of {rounds} turns, in which the clients take turns. Made by
`python -m tools.bench_admin --topics {count} --rounds {rounds} --write`.

| task | client | start to answer | peak memory |
|---|---|---|---|
{chr(10).join(rows)}
"""


def run(script: str, count: int) -> tuple[float, int]:
    """Seconds that the script took in a process of its own, and its peak memory in bytes."""
    begin = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    answer, _ = process.communicate()
    seconds = time.perf_counter() - begin
    found, peak = answer.split() if process.returncode == 0 else ("", "")
    if found != str(count):
        raise SystemExit(f"status {process.returncode}, {answer!r}, of:\n{script}")
    return seconds, int(peak) * 1024


if __name__ == "__main__":
    main()
