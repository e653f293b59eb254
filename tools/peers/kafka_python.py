"""kafka-python's integration tests, out of its sdist, with the released client."""

from __future__ import annotations

from pathlib import Path

from tools.kafka_releases import NEWEST
from tools.peers import python
from tools.peers.suite import Command, Suite

_VERSION = "3.0.12"
_FILES = tuple(f"test/integration/test_{each}_integration.py" for each in
               ("admin", "consumer", "producer"))  # fmt: skip
#: The sdist leaves out what starts brokers; those of a URI need no more than these names.
_SERVICE = """\
class ExternalService:
    def __init__(self, host, port):
        self.host, self.port = host, port

    def open(self): pass

    close = join = stop = open


class SpawnedService:
    def __init__(self, *words):
        raise RuntimeError("brokers are started outside")
"""


def _prepare(folder: Path) -> None:
    tests = ["pytest<9", "pytest-mock", "pytest-timeout", "py"]
    codecs = ["crc32c", "lz4", "python-snappy", "zstandard"]
    python.install(folder, f"kafka-python=={_VERSION}", *tests, *codecs)
    python.download(folder, f"kafka-python=={_VERSION}")
    tree = _tree(folder)
    (tree / "test" / "__init__.py").touch()
    (tree / "test" / "service.py").write_text(_SERVICE)
    # The tests import the installed client.
    (tree / "kafka").rename(tree / "kafka-of-the-sdist")


def _tree(folder: Path) -> Path:
    return folder / f"kafka_python-{_VERSION}"


def _pytest(folder: Path, *words: str, bootstrap: str = "127.0.0.1:9092") -> Command:
    tree = _tree(folder)
    environment = {
        "KAFKA_URI": f"kafka://{bootstrap.split(',')[0]}", "KAFKA_VERSION": NEWEST,
        "KAFKA_ROOT": str(tree),
    }  # fmt: skip
    return python.pytest(folder, tree, environment, *words)


def _tests(folder: Path) -> list[str]:
    return python.collected(_pytest(folder, "--collect-only", *_FILES))


def _command(folder: Path, bootstrap: str, test: str) -> Command:
    return _pytest(folder, test, bootstrap=bootstrap)


SUITE = Suite(
    name="kafka-python", version=_VERSION, nodes=1, configs={"num.partitions": "4"},
    prepare=_prepare, tests=_tests, command=_command, result=python.result,
)  # fmt: skip
