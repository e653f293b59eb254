"""kafka-python's integration tests, out of its sdist, with the released client."""

from __future__ import annotations

import sys
from pathlib import Path

from tools.peers.suite import Command, Result, Suite, bounded, run

_VERSION = "3.0.12"
_FILES = tuple(f"test/integration/test_{each}_integration.py" for each in
               ("admin", "consumer", "producer"))  # fmt: skip
_LIST_S = 120.0
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
    run(Command([sys.executable, "-m", "venv", "venv"], folder))
    pip: list[str | Path] = [_python(folder), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    packages = ["pytest<9", "pytest-mock", "pytest-timeout", "py", f"kafka-python=={_VERSION}"]
    codecs = ["crc32c", "lz4", "python-snappy", "zstandard"]
    run(Command([*pip, "install", *packages, *codecs], folder))
    source = ["--no-deps", "--no-binary", "kafka-python", f"kafka-python=={_VERSION}"]
    run(Command([*pip, "download", *source], folder))
    run(Command(["tar", "xzf", f"kafka_python-{_VERSION}.tar.gz"], folder))
    tree = _tree(folder)
    (tree / "test" / "__init__.py").touch()
    (tree / "test" / "service.py").write_text(_SERVICE)
    # The tests import the installed client.
    (tree / "kafka").rename(tree / "kafka-of-the-sdist")


def _python(folder: Path) -> Path:
    return folder / "venv" / "bin" / "python"


def _tree(folder: Path) -> Path:
    return folder / f"kafka_python-{_VERSION}"


def _pytest(folder: Path, *words: str, bootstrap: str = "127.0.0.1:9092") -> Command:
    tree = _tree(folder)
    arguments: list[str | Path] = [
        _python(folder), "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider",
        "-c", "/dev/null", "--rootdir", tree, *words,
    ]  # fmt: skip
    environment = {
        "KAFKA_URI": f"kafka://{bootstrap.split(',')[0]}", "KAFKA_VERSION": "4.3.0",
        "KAFKA_ROOT": str(tree), "PYTHONPATH": str(tree),
    }  # fmt: skip
    return Command(arguments, tree, environment)


def _tests(folder: Path) -> list[str]:
    _, said = bounded(_pytest(folder, "--collect-only", *_FILES), _LIST_S)
    return [each for each in said.splitlines() if "::" in each]


def _command(folder: Path, bootstrap: str, test: str) -> Command:
    return _pytest(folder, "-x", test, bootstrap=bootstrap)


def _result(code: int, output: str) -> Result:
    if code:
        return "failed"
    last = output.splitlines()[-1]
    return "skipped" if " skipped" in last and " passed" not in last else "passed"


SUITE = Suite(
    name="kafka-python", version=_VERSION, nodes=1, configs={"num.partitions": "4"},
    prepare=_prepare, tests=_tests, command=_command, result=_result,
)  # fmt: skip
