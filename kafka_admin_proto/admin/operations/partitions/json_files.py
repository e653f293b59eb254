"""The JSON files of Kafka's kafka-reassign-partitions.sh and kafka-leader-election.sh.

Written texts are those that the tool of 4.3 prints, to the byte. Read is what it reads: a file
without ``version`` is of version 1, ``log_dirs`` may be left out, and unknown keys are passed over.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec

from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.admin.operations.common.topic_partitions import Partition
from kafka_admin_proto.arguments import checked_arguments, listed
from kafka_admin_proto.counts import counted
from kafka_admin_proto.structs import decodable

#: In the place of a log dir: the broker chooses.
ANY_LOG_DIR = "any"
_VERSION = 1

T = TypeVar("T")


class PartitionReplicas(msgspec.Struct, frozen=True):
    """A partition with the brokers of its replicas, and the log dir of each.

    ``log_dirs`` is None or has one entry for each replica, "any" where the broker chooses.
    """

    topic: str
    partition: int
    replicas: list[int]
    log_dirs: list[str] | None = None


@decodable
class _Reassignment(msgspec.Struct):
    partitions: list[PartitionReplicas] = []
    version: int = _VERSION


class _Topic(msgspec.Struct):
    topic: str


@decodable
class _Topics(msgspec.Struct):
    topics: list[_Topic] = []
    version: int = _VERSION


class _ElectedPartition(msgspec.Struct):
    topic: str
    partition: int


@decodable
class _Election(msgspec.Struct):
    partitions: list[_ElectedPartition]


def read_reassignment(text: str | bytes) -> list[PartitionReplicas]:
    """The partitions of a reassignment file, each once; raises InstructionError."""
    what = "reassignment JSON"
    found = _parse(text, _Reassignment, what)
    _check_version(found.version, what)
    check_reassignment(found.partitions)
    return found.partitions


def check_reassignment(partitions: Sequence[PartitionReplicas]) -> None:
    """Raise InstructionError for a reassignment that names nothing, or something twice."""
    if not partitions:
        raise InstructionError("the reassignment names no partitions; name one or more")
    _check_once(((each.topic, each.partition) for each in partitions), "the reassignment")
    for partition in partitions:
        place = f"partition {partition.partition} of topic {partition.topic!r}"
        if not partition.replicas:
            raise InstructionError(f"{place} has no replicas in the reassignment; name brokers")
        if len({*partition.replicas}) != len(partition.replicas):
            raise InstructionError(
                f"{place} has a broker twice in {partition.replicas}; name each broker once"
            )
        if partition.log_dirs is not None and len(partition.log_dirs) != len(partition.replicas):
            raise InstructionError(
                f"{place} has {counted(len(partition.replicas), 'replicas')} and "
                f"{counted(len(partition.log_dirs), 'log dirs')}; "
                f"give each replica one, {ANY_LOG_DIR!r} where the broker may choose"
            )


def write_reassignment(partitions: Iterable[PartitionReplicas]) -> str:
    """A reassignment file, partitions in order of their topic and number."""
    given = checked_arguments(write_reassignment, {"partitions": partitions})["partitions"]
    rows = [
        {
            "topic": each.topic,
            "partition": each.partition,
            "replicas": each.replicas,
            "log_dirs": each.log_dirs or [ANY_LOG_DIR] * len(each.replicas),
        }
        for each in sorted(given, key=lambda each: (each.topic, each.partition))
    ]
    return _dump({"version": _VERSION, "partitions": rows})


def read_topics_to_move(text: str | bytes) -> list[str]:
    """The names in a topics-to-move file, each once; raises InstructionError."""
    what = "topics-to-move JSON"
    found = _parse(text, _Topics, what)
    _check_version(found.version, what)
    names = [each.topic for each in found.topics]
    for name, count in Counter(names).items():
        if count > 1:
            raise InstructionError(
                f"topic {name!r} stands in the topics to move {counted(count, 'times')}; name "
                "it once"
            )
    return names


def write_topics_to_move(names: Iterable[str]) -> str:
    """A topics-to-move file."""
    return _dump(
        {"topics": [{"topic": name} for name in listed(names, "names")], "version": _VERSION}
    )


def read_election(text: str | bytes) -> list[Partition]:
    """The partitions of an election file, each once; raises InstructionError."""
    found = _parse(text, _Election, "election JSON")
    pairs = [(each.topic, each.partition) for each in found.partitions]
    _check_once(pairs, "the election")
    return pairs


def _parse(text: str | bytes, kind: type[T], what: str) -> T:
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InstructionError(f"this is no {what}: {error}") from None


def _check_version(version: int, what: str) -> None:
    if version != _VERSION:
        raise InstructionError(f"{what} of version {version} is not known; version 1 is")


def _check_once(partitions: Iterable[Partition], where: str) -> None:
    seen: set[Partition] = set()
    for topic, partition in partitions:
        if (topic, partition) in seen:
            raise InstructionError(
                f"partition {partition} of topic {topic!r} stands in {where} twice; name it once"
            )
        seen.add((topic, partition))


def _dump(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
