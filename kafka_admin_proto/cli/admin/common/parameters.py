"""Types of parameters that several commands take, in the forms that Kafka's scripts have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from kafka_admin_proto.wire.secrets import is_secret_name

if TYPE_CHECKING:
    from kafka_admin_proto.admin.operations.configs.resources import ResourceType

#: What Kafka's script calls the types of resources that have configs.
ENTITY_TYPES: dict[str, ResourceType] = {
    "topics": "topic",
    "brokers": "broker",
    "broker-loggers": "broker_logger",
    "client-metrics": "client_metrics",
    "groups": "group",
}
#: What a topic's name may consist of: anything else in a name is a pattern.
_NAME = re.compile(r"[a-zA-Z0-9._-]+")
#: Names with commas between them, as Kafka's scripts take them.
_NAMES = re.compile(r"[a-zA-Z0-9._-]+(?: *, *[a-zA-Z0-9._-]+)+")
_PARTITION = re.compile("[0-9]{1,10}")
#: Partitions of a topic, as kafka-consumer-groups.sh takes them: orders:0,1.
_PARTITIONS = re.compile(r"([a-zA-Z0-9._-]+):([0-9]{1,10}(?:,[0-9]{1,10})*)")
#: A comma of a regular expression, "or" for Kafka's scripts, or {1,2} or [a,b], which hold no such.
_OR = re.compile(r"(\{[^{}]*\}|\[[^][]*\])| *, *")
#: What separates configs, and a name from its value, where it is in no [list].
_OUTSIDE_BRACKETS = r"(?![^\[]*\])"
_BETWEEN_CONFIGS = re.compile(f",{_OUTSIDE_BRACKETS}")
_EQUALS = re.compile(f"={_OUTSIDE_BRACKETS}")
#: Names of configs, and of loggers, whose classes may be within others.
_CONFIG_NAME = re.compile(r"[$a-zA-Z0-9._-]+")


class KeyValue(click.ParamType[tuple[str, str]]):
    """``name=value``; the value may be empty and contain more signs of equality."""

    name = "name=value"

    def convert(self, value: str, parameter: object, context: object) -> tuple[str, str]:
        key, sign, rest = value.partition("=")
        if not sign or not key.strip():
            self.fail(f"expected NAME=VALUE, as in retention.ms=86400000, not {key!r}")
        return key.strip(), rest


class AddedConfigs(click.ParamType[tuple[tuple[str, str], ...]]):
    """``k1=v1,k2=[v2,v3]``: what ``--add-config`` of kafka-configs.sh takes.

    Brackets hold a value with commas together, and are no part of it.
    """

    name = "configs"

    def convert(
        self, value: str, parameter: object, context: object
    ) -> tuple[tuple[str, str], ...]:
        pairs = [_EQUALS.split(each) for each in _BETWEEN_CONFIGS.split(value.rstrip(","))]
        where = ""
        for pair in pairs:
            name = pair[0].strip()
            if len(pair) != 2 or not _CONFIG_NAME.fullmatch(name):
                # Without a sign of equality it may be the end of a password.
                found = f", not {name!r}" if len(pair) > 1 else where
                self.fail(
                    f"expected NAME=VALUE,NAME=[VALUE,VALUE]{found}: a value with commas or a sign "
                    "of equality stands in brackets"
                )
            where = f" after {name}"
        return tuple((name.strip(), re.sub(r"[\[\]]", "", text).strip()) for name, text in pairs)


class Listed(click.ParamType[tuple[str, ...]]):
    """``a,b``, as Kafka's scripts take several names in one value."""

    name = "names"

    def convert(self, value: str, parameter: object, context: object) -> tuple[str, ...]:
        found = tuple(each.strip() for each in value.split(","))
        if "" in found:
            self.fail(f"expected names with commas between them, not {value!r}")
        return found


class Principal(click.ParamType[str]):
    """``User:bob``; brokers refuse ACLs of a principal without a type, and so list none of one."""

    name = "principal"

    def convert(self, value: str, parameter: object, context: object) -> str:
        kind, colon, name = value.partition(":")
        if not (kind and colon and name):
            self.fail(f"expected a type and a name, as in User:bob, not {value!r}")
        return value


class ReplicaAssignment(click.ParamType[dict[int, list[int]]]):
    """``1:2,2:3``: the replicas of partition 0, then those of partition 1, leaders first."""

    name = "assignment"

    def convert(self, value: str, parameter: object, context: object) -> dict[int, list[int]]:
        try:
            replicas = {
                partition: [int(broker) for broker in text.split(":")]
                for partition, text in enumerate(value.split(","))
            }
        except ValueError:
            self.fail(
                f"{value!r} is not an assignment: expected ids of brokers, as in 1:2,2:3 for the "
                "replicas of partition 0 and of partition 1"
            )
        if twice := [p for p, brokers in replicas.items() if len(set(brokers)) < len(brokers)]:
            self.fail(f"partition {twice[0]} has a broker twice; name each once")
        return replicas


class TopicPartition(click.ParamType[tuple[str, int]]):
    """``topic:partition``, or ``topic-partition`` as Kafka writes it in its logs."""

    name = "topic:partition"

    def convert(self, value: str, parameter: object, context: object) -> tuple[str, int]:
        topic, sign, partition = value.rpartition(":" if ":" in value else "-")
        if not sign or not _PARTITION.fullmatch(partition) or not topic:
            self.fail(f"{value!r} is not a partition: expected TOPIC:PARTITION, as in orders:3")
        return topic, int(partition)


class Numbers(click.ParamType[list[int]]):
    """``1,2,3``."""

    name = "numbers"

    def convert(self, value: str, parameter: object, context: object) -> list[int]:
        try:
            return [int(each) for each in value.split(",")]
        except ValueError:
            self.fail(f"{value!r} is not a list of numbers: expected 1,2,3")


def configs_of(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Configs of the command line; raises click.UsageError for one that holds a credential.

    Every user of the machine sees the command line of a process.
    """
    configs: dict[str, str] = {}
    for name, value in pairs:
        if is_secret_name(name):
            raise click.UsageError(
                f"{name} may be a credential, and everybody on this machine can read command "
                "lines: write it into a file of NAME=VALUE lines and give --config-file FILE"
            )
        if name in configs:
            raise click.UsageError(f"{name} is given twice")
        configs[name] = value
    return configs


def is_pattern(name: str) -> bool:
    """Whether this is a regular expression: it has a sign that no topic's name has."""
    return _NAME.fullmatch(name) is None


def topic_names(
    context: click.Context, parameter: click.Parameter, given: tuple[str, ...]
) -> tuple[str, ...]:
    """A callback for topics: "a,b" are two, and a comma in a regular expression means "or"."""
    names: list[str] = []
    for text in given:
        if _NAMES.fullmatch(text):
            names += (name.strip() for name in text.split(","))
        else:
            several = _OR.sub(lambda match: match[1] or "|", text)
            names.append(text if _PARTITIONS.fullmatch(text) else several)
    return tuple(names)


def split_partitions(topics: Iterable[str]) -> tuple[list[str], list[tuple[str, int]]]:
    """The topics that are meant whole, and the partitions of those given as ``orders:0,1``."""
    whole, partitions = [], []
    for text in topics:
        if match := _PARTITIONS.fullmatch(text):
            partitions += [(match[1], int(number)) for number in match[2].split(",")]
        else:
            whole.append(text)
    return whole, partitions


def unmatched(names: Sequence[str], topics: Iterable[str]) -> dict[str, str]:
    """A sentence for each name that no topic has, and each pattern that matches none."""
    there = list(topics)
    said = {}
    for name in names:
        if not is_pattern(name):
            if name not in there:
                said[name] = f"there is no topic {name}"
        elif not any(map(re.compile(name).fullmatch, there)):
            said[name] = (
                f"no topic matches '{name}', which is a regular expression for a whole name: "
                "'orders.*' finds all that begin with orders"
            )
    return said


def pattern_of(names: Sequence[str]) -> str:
    """One regular expression for all of the names and patterns. Raises click.UsageError."""
    for name in names:
        try:
            re.compile(name)
        except re.error as error:
            raise click.UsageError(
                f"{name!r} is neither a name nor a regular expression: {error}"
            ) from None
    return "|".join(f"(?:{name if is_pattern(name) else re.escape(name)})" for name in names)
