"""Runs suites, and writes the page of their results: see the package."""

from __future__ import annotations

import argparse
import contextlib
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec

from kafka_admin_proto.admin import SyncAdminClient
from tools.clusters import kraft
from tools.kafka_releases import NEWEST
from tools.peers import (
    aiokafka,
    confluent_kafka,
    franz_go,
    kafka_go,
    kafka_python,
    librdkafka,
    rskafka,
    sarama,
)
from tools.peers.suite import Result, Suite

_ROOT = Path(__file__).parents[2]
_RESULTS, _PAGE = _ROOT / "build" / "peers", _ROOT / "docs" / "peers.md"
_SUITES = {
    each.SUITE.name: each.SUITE
    for each in (
        kafka_python,
        aiokafka,
        librdkafka,
        confluent_kafka,
        rskafka,
        franz_go,
        kafka_go,
        sarama,
    )
}
_END_S = 20.0
#: What tools/clusters gives to real brokers, and tests can tell.
_SHARED_CONFIGS = {"group.initial.rebalance.delay.ms": "0"}
#: Why a test does not pass, by suite and test.
_EXPLAINED = Path(__file__).with_name("explained.json")
_HEAD = """\
# Other projects' tests

Suites that other projects wrote for real brokers, out of their released sources, on `kap serve`
and on Kafka {release} with as many nodes and the same configs. Each test has a process of its own,
which is ended at its limit. The table is that of the last run of each; made by `make peers`,
`python -m tools.peers --cluster real`, the same with `--proxy`, which asks the cluster through `kap
proxy`, and `python -m tools.peers --write`. The last two columns count of the tests that pass on
Kafka those that pass on `kap serve` too, and through `kap proxy` in front of Kafka.

| suite | tests | pass on Kafka | pass on `kap serve` | of Kafka's | through the proxy |
|---|--:|--:|--:|--:|--:|
"""


def main() -> int:
    """Run the named suites, or write the page; 0 if every test has passed or was skipped."""
    parser = argparse.ArgumentParser(prog="python -m tools.peers")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=", ".join(_SUITES))
    parser.add_argument("--cluster", choices=("kap", "real"), default="kap")
    parser.add_argument("--proxy", action="store_true", help="ask it through kap proxy")
    parser.add_argument("--jobs", type=int, default=1, help="tests at a time [1]")
    parser.add_argument("--write", action="store_true", help="write the page of the last results")
    arguments = parser.parse_args()
    if arguments.write:
        _PAGE.write_text(_page())
        return 0
    failed = False
    for name in arguments.suites or _SUITES:
        results = _run(
            _SUITES[name], arguments.cluster, arguments.jobs, behind_proxy=arguments.proxy
        )
        print(name, dict(Counter(results.values())), flush=True)
        failed |= not set(results.values()) <= {"passed", "skipped"}
    return int(failed)


def _run(suite: Suite, cluster: str, jobs: int, *, behind_proxy: bool = False) -> dict[str, Result]:
    """The result of each test on a new cluster, which is stored too."""
    kind = _kind(cluster) if behind_proxy else cluster
    folder, stored = suite.installed(), _RESULTS / kind / suite.name
    stored.mkdir(parents=True, exist_ok=True)
    names = suite.tests(folder)
    if not names:
        raise SystemExit(f"{suite.name}: no tests were found in {folder}")
    with contextlib.ExitStack() as opened:
        server = _kap(suite, stored) if cluster == "kap" else _real(suite)
        bootstrap = opened.enter_context(server)
        if behind_proxy:
            words = ["proxy", "--upstream", bootstrap]
            proxy = opened.enter_context(_server(words, stored / "proxy.log"))
            with SyncAdminClient(proxy) as client:  # sarama's tests name each broker
                nodes = client.describe_cluster().nodes
            bootstrap = ",".join(f"{each.host}:{each.port}" for each in nodes)

        def run(test: str) -> Result:
            result, output = suite.run(folder, bootstrap, test)
            file = "".join(each if each.isalnum() else "_" for each in test)
            (stored / f"{file}.log").write_text(output)
            print(f"{suite.name}: {test}: {result}", file=sys.stderr, flush=True)
            return result

        at_a_time = 1 if suite.one_by_one else jobs
        with ThreadPoolExecutor(at_a_time) as pool:
            results = dict(zip(names, pool.map(run, names), strict=True))
        if at_a_time > 1:  # what failed beside others has another chance by itself
            for test, result in results.items():
                if result not in ("passed", "skipped"):
                    results[test] = run(test)
    _stored(kind, suite.name).write_bytes(msgspec.json.format(msgspec.json.encode(results)))
    return results


def _kind(cluster: str) -> str:
    """The name of the results of a cluster that was asked through a proxy."""
    return f"{cluster} behind a proxy"


def _stored(cluster: str, name: str) -> Path:
    return _RESULTS / cluster / f"{name}.json"


def _kap(suite: Suite, folder: Path) -> AbstractContextManager[str]:
    """The address of `kap serve`, whose log goes into the folder."""
    given = {**_SHARED_CONFIGS, **suite.configs}
    configs = [f"--config={name}={value}" for name, value in given.items()]
    words = ["serve", "--brokers", str(suite.nodes), *configs]
    return _server(words, folder / "serve.log")


@contextlib.contextmanager
def _server(words: Sequence[str], log_file: Path) -> Iterator[str]:
    """The address that a command of ours prints first, while it runs."""
    command = [str(Path(sys.executable).with_name("kap")), *words]
    with log_file.open("wb") as log:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.send_signal(signal.SIGTERM)
            try:
                server.communicate(timeout=_END_S)
            except subprocess.TimeoutExpired:
                server.kill()
                server.communicate()


@contextlib.contextmanager
def _real(suite: Suite) -> Iterator[str]:
    with (
        tempfile.TemporaryDirectory(prefix="peers-") as folder,
        kraft(Path(folder), nodes=suite.nodes, properties=suite.configs) as cluster,
    ):
        yield cluster.bootstrap


def _page() -> str:
    """The counts of each suite that has run, and why each test that failed did."""
    explained = msgspec.json.decode(_EXPLAINED.read_bytes(), type=dict[str, dict[str, str]])
    lines, rest = [_HEAD.format(release=NEWEST)], []
    for name, suite in _SUITES.items():
        ours, theirs, proxied = (_results(each, name) for each in ("kap", "real", _kind("real")))
        if not ours:
            continue
        passed = {test for test, result in theirs.items() if result == "passed"}
        counts = [len(ours), "not run", Counter(ours.values())["passed"], "", "not run"]
        if theirs:
            counts[1], counts[3] = len(passed), _passed(ours, passed)
        if proxied and theirs:
            counts[4] = _passed(proxied, passed)
        lines.append(f"| {name} {suite.version} | {' | '.join(map(str, counts))} |\n")
        why = explained.get(name, {})
        failed: dict[str, str] = {
            test: result for test, result in ours.items() if result != "passed"
        }
        behind = {test: proxied.get(test, "passed") for test in passed - failed.keys()}
        failed |= {
            test: f"{result}, through the proxy alone"
            for test, result in sorted(behind.items())
            if result != "passed"
        }
        rest += [
            f"| {name} | `{test}` | {result} | {why.get(test, 'not explained yet')} |\n"
            for test, result in failed.items()
        ]
    if rest:
        lines += ["\n## What does not pass\n\n| suite | test | result | why |\n|---|---|---|---|\n"]
    return "".join(lines + rest)


def _passed(results: Mapping[str, Result], tests: Collection[str]) -> int:
    return sum(results.get(each) == "passed" for each in tests)


def _results(cluster: str, name: str) -> dict[str, Result]:
    file = _stored(cluster, name)
    return msgspec.json.decode(file.read_bytes(), type=dict[str, Result]) if file.exists() else {}


if __name__ == "__main__":
    sys.exit(main())
