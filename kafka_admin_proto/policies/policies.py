"""Policies of an operator: which topics may be created, which configs may be set (KIP-108).

A policy is any class with these methods; it is called as a broker calls Java's::

    class NoTests:
        def configure(self, configs): ...         # the controller's configs, once
        def validate(self, metadata):             # raises PolicyViolation
            if metadata.topic.startswith("test-"):
                raise PolicyViolation("tests have a cluster of their own")
        def close(self): ...                      # when the cluster ends

Any other exception of ``validate``, and any answer but None, fails the request; the logger
`POLICIES` has it with its traceback, in which values of secret configs are masked.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec.structs import force_setattr

from kafka_admin_proto.arguments import integer_check
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.loggers import POLICIES
from kafka_admin_proto.protocol.error_codes import sendable_text
from kafka_admin_proto.wire.secrets import MASK, is_secret_name

_Text = TypeVar("_Text", str, str | None)


class PolicyViolation(KafkaAdminProtoError):
    """Raised by a policy that refuses a request; the client gets its text.

    A string on the wire has 32,767 bytes of UTF-8 at most: a longer text is cut.
    """


class PolicyError(Exception):
    """Another error of a policy, which is its cause, or an answer that is not None."""


class RequestMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """A topic to be created: ``CreateTopicPolicy.RequestMetadata`` of KIP-108.

    Either ``partitions`` and ``replication_factor``, defaults filled in, or ``assignment``: the
    brokers of each partition by its number, the preferred leader first. The other is None.
    ``configs`` are those of the topic's own. Mappings are read-only and lists are tuples.

    Tests of a policy make it as the cluster does::

        RequestMetadata(topic="orders", partitions=6, replication_factor=3)
        RequestMetadata(topic="orders", assignment={0: [1, 2]}, configs={"retention.ms": "5"})

    Raises TypeError for a value of another type, and ValueError unless exactly one of the two is
    given, with numbers of 1 or more.
    """

    topic: str
    partitions: int | None = None
    replication_factor: int | None = None
    assignment: Mapping[int, Sequence[int]] | None = None
    configs: Mapping[str, str] = {}

    def __post_init__(self) -> None:
        _check_text("topic", self.topic)
        force_setattr(self, "configs", _texts("configs", self.configs))
        counts = {"partitions": self.partitions, "replication_factor": self.replication_factor}
        if self.assignment is None:
            for name, count in counts.items():
                if count is None:
                    raise ValueError(
                        f"{name} is missing: a topic has partitions and replication_factor, or an "
                        "assignment"
                    )
                if integer_check(f"{name} is an integer")(count) < 1:
                    raise ValueError(f"{name} is 1 or more, not {count}")
        elif any(count is not None for count in counts.values()):
            raise ValueError("a topic with an assignment has no partitions or replication_factor")
        else:
            force_setattr(self, "assignment", _assignment(self.assignment))


class AlterConfigRequestMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """Configs to be set: ``AlterConfigPolicy.RequestMetadata`` (KIP-133).

    ``resource_type`` is the code in requests: 2 a topic, 4 a broker. In ``configs``, which is
    read-only, None stands for a config that is deleted.

    Raises TypeError for a value of another type.
    """

    resource_type: int
    resource_name: str
    configs: Mapping[str, str | None] = {}

    def __post_init__(self) -> None:
        integer_check("resource_type is an integer, as 2 for a topic")(self.resource_type)
        _check_text("resource_name", self.resource_name)
        force_setattr(self, "configs", _texts("configs", self.configs, type(None)))


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{name} is a str, not an object of type {type(value).__name__}")


def _texts(name: str, given: Mapping[str, _Text], *more: type) -> Mapping[str, _Text]:
    """A read-only copy of texts by name."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} is a mapping, not an object of type {type(given).__name__}")
    for key, value in given.items():
        _check_text(f"a key of {name}", key)
        if not isinstance(value, more):
            _check_text(f"{name}[{key!r}]", value)
    return MappingProxyType(dict(given))


def _assignment(given: Mapping[int, Sequence[int]]) -> Mapping[int, tuple[int, ...]]:
    """A read-only copy of the brokers of each partition."""
    if not isinstance(given, Mapping):
        raise TypeError(
            "assignment is a mapping of partitions to brokers, not an object of type "
            f"{type(given).__name__}"
        )
    number = integer_check("assignment has integers, as {0: [1, 2]}")
    found = {number(each): tuple(map(number, brokers)) for each, brokers in given.items()}
    if not found or not all(found.values()):
        raise ValueError("assignment has a partition or more, and each of them a broker or more")
    return MappingProxyType(found)


class CreateTopicPolicy(Protocol):
    """Decides on each topic to be created, after all of Kafka's own checks."""

    def configure(self, configs: Mapping[str, str]) -> None: ...
    def validate(self, metadata: RequestMetadata) -> None: ...
    def close(self) -> None: ...


class AlterConfigPolicy(Protocol):
    """Decides on each change of configs, those of new topics included."""

    def configure(self, configs: Mapping[str, str]) -> None: ...
    def validate(self, metadata: AlterConfigRequestMetadata) -> None: ...
    def close(self) -> None: ...


#: What a user's own code may raise: it does not end the program that it is a part of.
OWN_FAILURES = (Exception, SystemExit)


def ask(policy: CreateTopicPolicy | AlterConfigPolicy, metadata: Any, name: str) -> None:
    """Raises PolicyViolation where the policy refuses, PolicyError for an error of its own.

    ``name`` is the topic's or the resource's, for the line in the log.
    """
    try:
        try:
            answer = policy.validate(metadata)
            if answer is not None:
                raise TypeError(
                    f"validate returned an object of type {type(answer).__name__}; it returns None "
                    "to accept, and raises PolicyViolation to refuse"
                )
        except PolicyViolation as violation:
            text = str(violation)
        else:
            return
    except OWN_FAILURES as error:
        kind, shown = type(policy).__qualname__, masked(traceback.format_exc(), metadata.configs)
        POLICIES.error("The policy %s failed for %r\n%s", kind, name, shown)
        raise PolicyError from error
    raise PolicyViolation(sendable_text(text))


def masked(text: str, configs: Mapping[str, str | None]) -> str:
    """The text of a policy's own error, without the secrets among the configs that it may quote."""
    secrets = {value for name, value in configs.items() if value and is_secret_name(name)}
    for secret in sorted(secrets, key=len, reverse=True):
        for shown in (secret, repr(secret)[1:-1]):
            text = text.replace(shown, MASK)
    return text
