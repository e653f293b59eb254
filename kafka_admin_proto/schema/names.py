"""One name in four spellings: definitions', Python's and the grammars', JSON's, modules'."""

from __future__ import annotations

import re
from functools import cache


@cache
def python_name(name: str) -> str:
    """A definition's name as a Python attribute: ``NumPartitions`` → ``num_partitions``.

    A run of capitals is one word, and so is ``KRaft``.
    """
    name = name.replace("KRaft", "Kraft")
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return spaced.lower()


def json_name(name: str) -> str:
    """A definition's name in JSON: its first letter small, as Kafka's JsonConverters do."""
    return name[0].lower() + name[1:]


def definition_name(name: str) -> str:
    """``topic_id`` or ``TopicId`` → ``TopicId``, as Kafka's definitions spell names."""
    return "".join(part[0].upper() + part[1:] for part in name.split("_") if part)


def messages_package(dialect: str) -> str:
    """Where the generated value classes of a shipped dialect are."""
    package = "kafka_admin_proto.messages"
    return package if dialect == "kafka" else f"{package}.{dialect.replace('-', '_')}"
