"""rskafka's integration tests (Rust), out of its crate."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tools.peers import crates
from tools.peers.suite import Command, Result, Suite, bounded, run

_CRATE, _VERSION = "rskafka", "0.6.0"
_FILES = ("client", "consumer", "producer")
#: What only tests of other clients in the same process need: a JVM and librdkafka.
_OTHER_CLIENTS = ("j4rs", "rdkafka", "criterion")
_TESTS_OF_OTHER_CLIENTS = ("java_helper", "produce_consume", "rdkafka_helper")
#: These need a proxy, certificates or SASL, or are about the helpers of the tests.
_NOT_HERE = re.compile(r"test_helpers|socks5|tls|sasl")
_LIST_S = 60.0


def _prepare(folder: Path) -> None:
    source, target = folder / "source", folder / "target"
    if not source.exists():
        vendored = crates.vendor(folder, _CRATE, _VERSION)
        _write_manifest(vendored)
        vendored.rename(source)
        shutil.rmtree(folder / "empty")
    words = [word for each in _FILES for word in ("--test", each)]
    environment = {"CARGO_TARGET_DIR": str(target), "RUSTFLAGS": "-C debuginfo=0"}
    said = run(Command(["cargo", "test", "--no-run", *words], source, environment))
    for each in _FILES:
        built = re.search(rf"tests/{each}\.rs \((.*?)\)", said)
        assert built, said
        shutil.copy(built[1], folder / each)
    shutil.rmtree(target)


def _write_manifest(source: Path) -> None:
    """Leave out the dependencies and tests of other clients."""
    for each in (".cargo-checksum.json", "rust-toolchain.toml", "Cargo.lock"):
        (source / each).unlink(missing_ok=True)
    sections = re.split(r"(?m)^(?=\[)", (source / "Cargo.toml").read_text())
    heads = tuple(f"[dev-dependencies.{each}]" for each in _OTHER_CLIENTS)
    names = tuple(f'name = "{each}"' for each in _TESTS_OF_OTHER_CLIENTS)
    kept = [
        each
        for each in sections
        if not each.startswith((*heads, "[[bench]]"))
        and not (each.startswith("[[test]]") and any(name in each for name in names))
    ]
    (source / "Cargo.toml").write_text("".join(kept))
    for each in _TESTS_OF_OTHER_CLIENTS:
        (source / "tests" / f"{each}.rs").unlink(missing_ok=True)


def _tests(folder: Path) -> list[str]:
    names = []
    for file in _FILES:
        _, said = bounded(Command([folder / file, "--list"], folder), _LIST_S)
        found = re.findall(r"^(\w[\w:]*): test$", said, re.MULTILINE)
        names += [f"{file}::{each}" for each in found if not _NOT_HERE.search(each)]
    return names


def _command(folder: Path, bootstrap: str, test: str) -> Command:
    file, _, name = test.partition("::")
    environment = {
        "TEST_INTEGRATION": "1", "KAFKA_CONNECT": bootstrap, "TEST_BROKER_IMPL": "kafka",
    }  # fmt: skip
    arguments: list[str | Path] = [folder / file, "--exact", name, "--nocapture"]
    return Command(arguments, folder / "source", environment)


def _result(code: int, output: str) -> Result:
    if code:
        return "failed"
    return "passed" if "1 passed" in output else "skipped"


SUITE = Suite(
    name=_CRATE, version=_VERSION, nodes=3,
    prepare=_prepare, tests=_tests, command=_command, result=_result,
)  # fmt: skip
