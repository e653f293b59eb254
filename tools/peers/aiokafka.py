"""aiokafka's tests that ask a broker, with the released client; its tag has them, its sdist not."""

from __future__ import annotations

import shutil
from pathlib import Path

from tools.kafka_releases import NEWEST
from tools.peers import python
from tools.peers.suite import Command, Suite

_VERSION = "0.14.0"
#: These need listeners with TLS or SASL, and Kerberos.
_NOT_HERE = "not ssl and not test_sasl"
#: In place of fixtures that start a broker in a container.
_CONFTEST = """\
import asyncio
import gc
import os

import pytest


def pytest_collection_modifyitems(items):
    items[:] = [each for each in items if "setup_test_class" in each.fixturenames]


@pytest.fixture(scope="class")
def loop():
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield loop
    loop.close()
    asyncio.set_event_loop(None)


@pytest.fixture(autouse=True)
def collect_garbage():
    yield
    gc.collect()


@pytest.fixture(scope="class")
def setup_test_class(request, loop):
    host, port = os.environ["PEERS_BOOTSTRAP"].split(":")
    request.cls.loop = loop
    request.cls.kafka_host, request.cls.kafka_port = host, int(port)
    request.cls.hosts = [f"{host}:{port}"]
    request.cls.kafka_version = os.environ["PEERS_RELEASE"]


@pytest.fixture(scope="class")
def setup_test_class_serverless(request, loop):
    request.cls.loop = loop
"""


def _prepare(folder: Path) -> None:
    tests = ["pytest<9", "pytest-asyncio", "pytest-mock"]
    python.install(folder, f"aiokafka[snappy,lz4,zstd]=={_VERSION}", *tests)
    shutil.rmtree(_tree(folder), ignore_errors=True)
    python.clone(folder, "https://github.com/aio-libs/aiokafka", f"v{_VERSION}")
    (_tree(folder) / "tests" / "conftest.py").write_text(_CONFTEST)
    # The tests import the installed client.
    (_tree(folder) / "aiokafka").rename(_tree(folder) / "aiokafka-of-the-tag")


def _tree(folder: Path) -> Path:
    return folder / "source"


def _pytest(folder: Path, *words: str, bootstrap: str = "127.0.0.1:9092") -> Command:
    environment = {"PEERS_BOOTSTRAP": bootstrap.split(",")[0], "PEERS_RELEASE": NEWEST}
    mode = ["-o", "asyncio_mode=auto", "-o", "markers=ssl"]
    return python.pytest(folder, _tree(folder), environment, *mode, *words)


def _tests(folder: Path) -> list[str]:
    return python.collected(_pytest(folder, "--collect-only", "-k", _NOT_HERE, "tests"))


def _command(folder: Path, bootstrap: str, test: str) -> Command:
    return _pytest(folder, test, bootstrap=bootstrap)


SUITE = Suite(
    name="aiokafka", version=_VERSION, nodes=1, configs={"num.partitions": "2"},
    prepare=_prepare, tests=_tests, command=_command, result=python.result, limit_s=180.0,
)  # fmt: skip
