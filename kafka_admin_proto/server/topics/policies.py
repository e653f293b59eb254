"""Policies of an operator: which topics may be created, which configs may be set (KIP-108).

A policy is any class with these methods; it is called as a broker calls Java's::

    class AtLeastTwo:
        def configure(self, configs): ...         # the controller's configs, once
        def validate(self, metadata):             # raises PolicyViolation
            if metadata.replication_factor == 1:
                raise PolicyViolation("two replicas at least")
        def close(self): ...                      # when the cluster ends
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

import msgspec

from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.server.failures import POLICY_VIOLATION, UNKNOWN_SERVER_ERROR, ApiFailure

_Metadata = TypeVar("_Metadata")


class PolicyViolation(KafkaAdminProtoError):
    """Raised by a policy that refuses a request; the client gets its text."""


class PolicyFailure(ApiFailure):
    """Another error of a policy, for which Kafka fails the whole request without a message."""

    def __init__(self) -> None:
        super().__init__(UNKNOWN_SERVER_ERROR)


class TopicMetadata(msgspec.Struct, frozen=True):
    """A topic to be created.

    Either ``partitions`` and ``replication_factor``, defaults filled in, or ``assignment`` by
    partition; the other is None.
    """

    topic: str
    partitions: int | None
    replication_factor: int | None
    assignment: dict[int, list[int]] | None
    configs: dict[str, str]


class ConfigMetadata(msgspec.Struct, frozen=True):
    """Configs to be set; None stands for a config that is deleted.

    ``resource_type`` is the code in requests: 2 a topic, 4 a broker.
    """

    resource_type: int
    resource_name: str
    configs: dict[str, str | None]


class CreateTopicPolicy(Protocol):
    """Decides on each topic to be created, after all of Kafka's own checks."""

    def configure(self, configs: Mapping[str, str]) -> None: ...
    def validate(self, metadata: TopicMetadata) -> None: ...
    def close(self) -> None: ...


class AlterConfigPolicy(Protocol):
    """Decides on each change of configs, those of new topics included."""

    def configure(self, configs: Mapping[str, str]) -> None: ...
    def validate(self, metadata: ConfigMetadata) -> None: ...
    def close(self) -> None: ...


def load_policy(name: str) -> CreateTopicPolicy | AlterConfigPolicy:
    """A policy by ``module:Class``. Raises ValueError if it cannot be loaded."""
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"no policy {name!r}: {error}; name it as module:Class") from error
    policy: CreateTopicPolicy = found()
    return policy


def check_topic(policy: CreateTopicPolicy | None, metadata: TopicMetadata) -> None:
    """Raises ApiFailure (POLICY_VIOLATION), or PolicyFailure for an error of the policy's own."""
    if policy is not None:
        _check(policy.validate, metadata)


def check_configs(policy: AlterConfigPolicy | None, metadata: ConfigMetadata) -> None:
    """Raises ApiFailure: POLICY_VIOLATION, or UNKNOWN_SERVER_ERROR for the policy's own errors."""
    if policy is None:
        return
    try:
        _check(policy.validate, metadata)
    except PolicyFailure as failure:
        raise ApiFailure(UNKNOWN_SERVER_ERROR) from failure.__cause__


def _check(validate: Callable[[_Metadata], None], metadata: _Metadata) -> None:
    try:
        validate(metadata)
    except PolicyViolation as violation:
        raise ApiFailure(POLICY_VIOLATION, str(violation)) from violation
    except Exception as error:
        raise PolicyFailure from error
