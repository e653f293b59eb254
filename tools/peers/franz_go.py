"""The tests of franz-go's client (Go) that ask a broker; kfake, which it brings, is not one."""

from __future__ import annotations

import re
from pathlib import Path

from tools.peers import go
from tools.peers.suite import Command, Suite

_MODULE, _VERSION = "github.com/twmb/franz-go", "v1.22.3"
#: The files whose tests take a cluster; those of the others are about functions.
_FILES = ("client_test.go", "consumer_test.go", "group_test.go", "share_test.go", "txn_test.go")
#: These need listeners with SASL of their own.
_NOT_HERE = re.compile(r"SCRAM|OAuth")
_PROGRAM = "kgo.test"
#: Of records that the tests of groups and transactions move: 500,000 are franz-go's own number.
_RECORDS = "20000"


def _prepare(folder: Path) -> None:
    source = go.download(folder, _MODULE, _VERSION)
    go.build(source, "./pkg/kgo", folder / _PROGRAM)


def _package(folder: Path) -> Path:
    return folder / "source" / "pkg" / "kgo"


def _tests(folder: Path) -> list[str]:
    names = go.tests_in(_package(folder) / each for each in _FILES)
    return [each for each in names if not _NOT_HERE.search(each)]


def _command(folder: Path, bootstrap: str, test: str) -> Command:
    environment = {
        "KGO_SEEDS": bootstrap, "KGO_TEST_RF": "3", "KGO_TEST_RECORDS": _RECORDS,
        "KGO_LOG_LEVEL": "none",
    }  # fmt: skip
    return Command(go.one(folder / _PROGRAM, test), _package(folder), environment)


SUITE = Suite(
    name="franz-go", version=_VERSION.removeprefix("v"), nodes=3,
    prepare=_prepare, tests=_tests, command=_command, result=go.result, limit_s=300.0,
)  # fmt: skip
