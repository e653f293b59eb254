"""The integration tests of confluent-kafka-python, and so of librdkafka, out of its tag."""

from __future__ import annotations

import shutil
from pathlib import Path

from tools.peers import python
from tools.peers.suite import WITH_ACLS, Command, Suite

_VERSION = "2.15.0"
#: Those of the schema registry need one; those of share groups have not been tried.
_FOLDERS = tuple(f"tests/integration/{each}" for each in ("admin", "consumer", "producer"))
#: It needs a listener with SASL.
_NOT_HERE = "not test_describe_operations"
#: Fixtures that start a cluster import this; those of an address do not use it.
_TRIVUP = "class KafkaCluster:\n    pass\n"


def _prepare(folder: Path) -> None:
    tests = ["pytest<9", "pytest-timeout", "pytest-asyncio", "requests-mock", "respx"]
    python.install(folder, f"confluent-kafka[avro,json,protobuf,rules]=={_VERSION}", *tests)
    tree = _tree(folder)
    shutil.rmtree(tree, ignore_errors=True)
    python.clone(folder, "https://github.com/confluentinc/confluent-kafka-python", f"v{_VERSION}")
    clusters = tree / "trivup" / "clusters"
    clusters.mkdir(parents=True)
    for each in (tree / "trivup", clusters):
        (each / "__init__.py").touch()
    (clusters / "KafkaCluster.py").write_text(_TRIVUP)


def _tree(folder: Path) -> Path:
    return folder / "source"


def _pytest(folder: Path, *words: str, bootstrap: str = "127.0.0.1:9092") -> Command:
    return python.pytest(folder, _tree(folder), {"BROKERS": bootstrap}, *words)


def _tests(folder: Path) -> list[str]:
    return python.collected(_pytest(folder, "--collect-only", "-k", _NOT_HERE, *_FOLDERS))


def _command(folder: Path, bootstrap: str, test: str) -> Command:
    return _pytest(folder, test, bootstrap=bootstrap)


SUITE = Suite(
    name="confluent-kafka", version=_VERSION, nodes=1, configs=WITH_ACLS,
    prepare=_prepare, tests=_tests, command=_command, result=python.result, limit_s=180.0,
)  # fmt: skip
