"""The tests of librdkafka (C) that ask a broker, out of the crate that has its whole source."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tools.kafka_releases import NEWEST
from tools.peers import crates
from tools.peers.suite import WITH_ACLS, Command, Result, Suite, run

_CRATE, _VERSION = "rdkafka-sys", "4.10.0+2.12.1"
#: A row of the list of tests: name and flags.
_TEST = re.compile(r"_TEST\((\w+),\s*([\w |]+)")
#: Tests with these flags need no broker, a library that cuts connections, somebody who looks on, or
#: more than librdkafka can do.
_NOT_HERE = ("LOCAL", "SOCKEM", "KNOWN_ISSUE", "MANUAL")
#: These need TLS, SASL, or Kafka's own commands.
_OTHERS = re.compile(r"0052|0077|0097|0109|0115|0119|0126|0135|0142")
_CONFIGS = {"num.partitions": "4", "default.replication.factor": "3", **WITH_ACLS}
#: Some wait for nine of their ten seconds where nothing else runs.
_CONF = """\
bootstrap.servers={bootstrap}
test.topic.random=true
test.timeout.multiplier=3
"""
_CONFIGURE = ("--disable-ssl", "--disable-gssapi", "--disable-curl")


def _prepare(folder: Path) -> None:
    source = folder / "source"
    shutil.rmtree(source, ignore_errors=True)
    (crates.vendor(folder, _CRATE, _VERSION) / "librdkafka").rename(source)
    shutil.rmtree(folder / "empty")
    run(Command(["./configure", *_CONFIGURE], source))
    run(Command(["make", "-j2", "libs"], source))
    run(Command(["make", "-j2", "-C", "tests", "test-runner"], source))


def _tests(folder: Path) -> list[str]:
    text = (folder / "source" / "tests" / "test.c").read_text()
    rows = _TEST.findall(text[text.index("struct test tests[]") :])
    return [
        name
        for name, flags in rows
        if not any(each in flags for each in _NOT_HERE) and not _OTHERS.match(name)
    ]


def _command(folder: Path, bootstrap: str, test: str) -> Command:
    tests = folder / "source" / "tests"
    # Tests run side by side, and against two clusters at once.
    conf = folder / f"{test}-{bootstrap.rpartition(':')[2]}.conf"
    conf.write_text(_CONF.format(bootstrap=bootstrap))
    libraries = f"{tests.parent / 'src'}:{tests.parent / 'src-cpp'}"
    environment = {
        "RDKAFKA_TEST_CONF": str(conf), "TESTS": test, "TEST_KAFKA_VERSION": NEWEST,
        "LD_LIBRARY_PATH": libraries,
    }  # fmt: skip
    # One test at a time, in the quick mode.
    return Command([tests / "test-runner", "-p1", "-Q", "-L"], tests, environment)


def _result(code: int, output: str) -> Result:
    """A row of the table at the end; tests whose names begin as this one's have rows, too."""
    if code:
        return "failed"
    return "passed" if re.search(r"^\|\S* \d\w+ +\| +PASSED", output, re.MULTILINE) else "skipped"


SUITE = Suite(
    name="librdkafka", version=_VERSION.partition("+")[2], nodes=3, configs=_CONFIGS,
    prepare=_prepare, tests=_tests, command=_command, result=_result, limit_s=180.0,
)  # fmt: skip
