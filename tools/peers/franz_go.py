"""The tests of franz-go's client (Go) that ask a broker; kfake, which it brings, is not one."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import msgspec

from tools.peers.suite import Command, Result, Suite, run

_MODULE, _VERSION = "github.com/twmb/franz-go", "v1.22.3"
#: The files whose tests take a cluster; those of the others are about functions.
_FILES = ("client_test.go", "consumer_test.go", "group_test.go", "share_test.go", "txn_test.go")
#: These need listeners with SASL of their own.
_NOT_HERE = re.compile(r"SCRAM|OAuth")
_PROGRAM, _SOURCE = "kgo.test", "source"
#: Of records that the tests of groups and transactions move: 500,000 are franz-go's own number.
_RECORDS = "20000"


def _prepare(folder: Path) -> None:
    module = {"GOFLAGS": "-mod=mod"}
    (folder / "go.mod").write_text("module peers\n")
    command = ["go", "mod", "download", "-json", f"{_MODULE}@{_VERSION}"]
    found = msgspec.json.decode(run(Command(command, folder, module)).encode())
    source = folder / _SOURCE
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(found["Dir"], source, copy_function=shutil.copyfile)
    for each in (source, *source.rglob("*")):
        each.chmod(0o755)
    run(Command(["go", "test", "-c", "-o", folder / _PROGRAM, "./pkg/kgo"], source))


def _tests(folder: Path) -> list[str]:
    names: list[str] = []
    for file in _FILES:
        text = (folder / _SOURCE / "pkg" / "kgo" / file).read_text()
        names += re.findall(r"^func (Test\w+)\(", text, re.MULTILINE)
    return [each for each in names if not _NOT_HERE.search(each)]


def _command(folder: Path, bootstrap: str, test: str) -> Command:
    arguments: list[str | Path] = [folder / _PROGRAM, "-test.v", f"-test.run=^{test}$"]
    environment = {
        "KGO_SEEDS": bootstrap, "KGO_TEST_RF": "3", "KGO_TEST_RECORDS": _RECORDS,
        "KGO_LOG_LEVEL": "none",
    }  # fmt: skip
    return Command(arguments, folder / _SOURCE / "pkg" / "kgo", environment)


def _result(code: int, output: str) -> Result:
    if code:
        return "failed"
    return "passed" if re.search(r"^--- PASS", output, re.MULTILINE) else "skipped"


SUITE = Suite(
    name="franz-go", version=_VERSION.removeprefix("v"), nodes=3,
    prepare=_prepare, tests=_tests, command=_command, result=_result, limit_s=300.0,
)  # fmt: skip
