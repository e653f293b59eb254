"""The tests of segmentio's kafka-go (Go) that ask a broker, out of its module."""

from __future__ import annotations

import re
from pathlib import Path

from tools.peers import go
from tools.peers.suite import WITH_ACLS, Command, Suite

_MODULE, _VERSION = "github.com/segmentio/kafka-go", "v0.4.51"
_PROGRAM = "kafka-go.test"
#: The tests have the address of a broker in their texts: here it is that of the environment.
_ADDRESS = """\
package kafka

import (
	"net"
	"os"
	"strconv"
)

var peersAddress = os.Getenv("PEERS_BOOTSTRAP")

var peersHost, peersPort = func() (string, int) {
	host, port, _ := net.SplitHostPort(peersAddress)
	number, _ := strconv.Atoi(port)
	return host, number
}()
"""
_REPLACED = (
    ("const (\n\t\ttcp ", "var (\n\t\ttcp "),
    ("const broker = ", "var broker = "),
    ('"localhost:9092"', "peersAddress"),
    ('Dial("tcp", "127.0.0.1:9092")', 'Dial("tcp", peersAddress)'),
    (".Port != 9092", ".Port != peersPort"),
    ('TCP("localhost")', "TCP(peersAddress)"),
    ('Host: "localhost", Port: 9092', "Host: peersHost, Port: peersPort"),
    ('!= "localhost"', "!= peersHost"),
)
#: Its texts are about addresses, none of which is asked.
_ABOUT_ADDRESSES = "address_test.go"
#: These need a listener with SASL, or port 9092 itself.
_NOT_HERE = re.compile(r"UnsupportedSASL|DialerResolver")
#: What a file has whose tests ask a broker.
_ASKING = re.compile(r"peersAddress|newLocalClient|NewReader\(")
#: As in the file that starts the broker for these tests.
_CONFIGS = {"message.max.bytes": "200000000", **WITH_ACLS}


def _prepare(folder: Path) -> None:
    source = go.download(folder, _MODULE, _VERSION)
    for file in _files(source):
        text = file.read_text()
        for old, new in _REPLACED:
            text = text.replace(old, new)
        file.write_text(text)
    (source / "peers_test.go").write_text(_ADDRESS)
    go.build(source, ".", folder / _PROGRAM)


def _files(source: Path) -> list[Path]:
    """The files of tests that belong to the package itself."""
    found = sorted(source.glob("*_test.go"))
    own = (each for each in found if each.read_text().startswith("package kafka\n"))
    return [each for each in own if each.name != _ABOUT_ADDRESSES]


def _tests(folder: Path) -> list[str]:
    files = _files(folder / "source")
    names = go.tests_in(each for each in files if _ASKING.search(each.read_text()))
    return [each for each in names if not _NOT_HERE.search(each)]


def _command(folder: Path, bootstrap: str, test: str) -> Command:
    environment = {"PEERS_BOOTSTRAP": bootstrap.split(",")[0], "KAFKA_VERSION": "4.0.0"}
    return Command(go.one(folder / _PROGRAM, test), folder / "source", environment)


SUITE = Suite(
    name="kafka-go", version=_VERSION.removeprefix("v"), nodes=1, configs=_CONFIGS,
    prepare=_prepare, tests=_tests, command=_command, result=go.result, limit_s=180.0,
)  # fmt: skip
