"""Kafka's own generated classes as an oracle: a Java process that answers line by line.

    with JavaOracle("4.4.0") as oracle:
        data, json = oracle.encode("CreateTopicsRequest", 1, {"topics": [], ...})
        oracle.decode("CreateTopicsRequest", 1, data).json

`java/Oracle.java` describes the lines.  Sweeps use `encode_many` and `decode_many`:
they keep Java busy while Python reads, which is several times as fast as asking one by one.
"""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar

from tools.kafka_releases import NEWEST
from tools.oracles.jars import definition_artifacts, fetch
from tools.oracles.libraries import JACKSON, SLF4J
from tools.oracles.line_program import LineProgram

_Answer = TypeVar("_Answer")

_SOURCE = Path(__file__).parent / "Oracle.java"

#: Lines that are written before their answers are read: enough to hide the latency of the pipes,
#: and few enough to keep in memory.
_BATCH = 2000


class JavaRefusal(Exception):
    """Java threw on this request: `kind` is the simple name of the exception's class."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(kind, message)
        self.kind = kind
        self.message = message

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


@dataclass(frozen=True, slots=True)
class Message:
    """One generated message class; `api_key` is -1 where the message has none."""

    name: str
    lowest: int
    highest: int
    api_key: int
    class_name: str


@dataclass(frozen=True, slots=True)
class Decoded:
    """What Java read from bytes, the bytes it writes for that, and how many it left unread.

    `reencoded` is None where Java refuses to write what it has just read.
    """

    reencoded: bytes | None
    json: object
    left: int


def why_unavailable() -> str | None:
    """Why the oracle cannot run on this machine, in plain words; None if it can."""
    missing = [program for program in ("java", "javac", "mvn") if shutil.which(program) is None]
    if not missing:
        return None
    return f"the Java oracle needs {' and '.join(missing)} on the PATH (a JDK 17 and Apache Maven)"


class JavaOracle:
    """A running Java process with the message classes of one Kafka release.

    Names are those of the definitions ("CreateTopicsRequest", "TopicRecord").  JSON values are what
    the standard json module gives.  Every method raises JavaRefusal where Java throws; the `_many`
    methods give the refusal in place of the answer.
    """

    def __init__(self, release: str = NEWEST) -> None:
        self.release = release
        jars = fetch(release, [*definition_artifacts(release), *JACKSON, *SLF4J])
        self._program = LineProgram(_SOURCE, jars)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process and wait for it."""
        self._program.close()

    def messages(self) -> list[Message]:
        """Every message of the release, by name."""
        (rows,) = self._columns("messages")
        return [
            Message(row["name"], row["lowest"], row["highest"], row["apiKey"], row["className"])
            for row in json.loads(rows)
        ]

    def errors(self) -> list[dict[str, object]]:
        """Every constant of Java's Errors: "name", "code", "retriable"."""
        (rows,) = self._columns("errors")
        found: list[dict[str, object]] = json.loads(rows)
        return found

    def encode(self, name: str, version: int, obj: object) -> tuple[bytes, object]:
        """Java's bytes for a JSON value, and the JSON it writes for those bytes."""
        return _encoded(self._columns(_encode_line(name, version, obj)))

    def decode(self, name: str, version: int, data: bytes) -> Decoded:
        """What Java reads from bytes."""
        return _decoded(self._columns(_decode_line(name, version, data)))

    def random(self, name: str, version: int, seed: int) -> tuple[bytes, object]:
        """Bytes and JSON of a value filled at random, the same for the same seed."""
        return _encoded(self._columns(_random_line(name, version, seed)))

    def encode_many(
        self, requests: Iterable[tuple[str, int, object]]
    ) -> Iterator[tuple[bytes, object] | JavaRefusal]:
        """`encode` for each (name, version, obj), in order."""
        return self._stream(itertools.starmap(_encode_line, requests), _encoded)

    def decode_many(
        self, requests: Iterable[tuple[str, int, bytes]]
    ) -> Iterator[Decoded | JavaRefusal]:
        """`decode` for each (name, version, data), in order."""
        return self._stream(itertools.starmap(_decode_line, requests), _decoded)

    def random_many(
        self, requests: Iterable[tuple[str, int, int]]
    ) -> Iterator[tuple[bytes, object] | JavaRefusal]:
        """`random` for each (name, version, seed), in order."""
        return self._stream(itertools.starmap(_random_line, requests), _encoded)

    def _columns(self, line: str) -> list[str]:
        (columns,) = self._ask([line])
        if isinstance(columns, JavaRefusal):
            raise columns
        return columns

    def _stream(
        self, lines: Iterable[str], read: Callable[[Sequence[str]], _Answer]
    ) -> Iterator[_Answer | JavaRefusal]:
        """Answers batch by batch: each is read to its end, so a caller may stop where it likes."""
        remaining = iter(lines)
        while batch := list(itertools.islice(remaining, _BATCH)):
            for columns in self._ask(batch):
                yield columns if isinstance(columns, JavaRefusal) else read(columns)

    def _ask(self, lines: Sequence[str]) -> Iterator[list[str] | JavaRefusal]:
        for answer in self._program.ask(lines):
            verdict, *columns = answer.split("\t")
            yield columns if verdict == "ok" else JavaRefusal(*columns)


def _encode_line(name: str, version: int, obj: object) -> str:
    return f"json2bytes\t{name}\t{version}\t{json.dumps(obj)}"


def _decode_line(name: str, version: int, data: bytes) -> str:
    return f"bytes2json\t{name}\t{version}\t{data.hex()}"


def _random_line(name: str, version: int, seed: int) -> str:
    return f"random\t{name}\t{version}\t{seed}"


def _encoded(columns: Sequence[str]) -> tuple[bytes, object]:
    data, text = columns
    return bytes.fromhex(data), json.loads(text)


def _decoded(columns: Sequence[str]) -> Decoded:
    again, text, left = columns
    reencoded = None if again == "-" else bytes.fromhex(again)
    return Decoded(reencoded, json.loads(text), int(left))
