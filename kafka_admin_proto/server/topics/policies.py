"""What a policy refuses, as Kafka's error codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_admin_proto.policies.policies import (
    AlterConfigPolicy,
    AlterConfigRequestMetadata,
    CreateTopicPolicy,
    PolicyError,
    PolicyViolation,
    RequestMetadata,
    ask,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.failures import ApiFailure


class PolicyFailure(ApiFailure):
    """Another error of a policy, for which Kafka fails the whole request without a message."""

    def __init__(self) -> None:
        super().__init__(codes.UNKNOWN_SERVER_ERROR)


def check_topic(
    policy: CreateTopicPolicy | None,
    topic: str,
    counts: tuple[int, int] | None,
    assignment: Mapping[int, Sequence[int]] | None,
    configs: Mapping[str, str],
) -> None:
    """Raises ApiFailure (POLICY_VIOLATION), or PolicyFailure for an error of the policy's own.

    ``counts`` are partitions and replication factor; they are None where there is an assignment.
    """
    if policy is None:
        return
    partitions, factor = counts or (None, None)
    metadata = RequestMetadata(
        topic=topic,
        partitions=partitions,
        replication_factor=factor,
        assignment=assignment,
        configs=configs,
    )
    _check(policy, metadata, topic)


def check_configs(
    policy: AlterConfigPolicy | None, kind: int, name: str, configs: Mapping[str, str | None]
) -> None:
    """Raises ApiFailure: POLICY_VIOLATION, or UNKNOWN_SERVER_ERROR for the policy's own errors.

    The configs are of the resource of that kind, a code in requests, and name.
    """
    if policy is None:
        return
    metadata = AlterConfigRequestMetadata(resource_type=kind, resource_name=name, configs=configs)
    try:
        _check(policy, metadata, name)
    except PolicyFailure as failure:
        raise ApiFailure(codes.UNKNOWN_SERVER_ERROR) from failure.__cause__


def _check(policy: Any, metadata: Any, name: str) -> None:
    try:
        ask(policy, metadata, name)
    except PolicyViolation as violation:
        raise ApiFailure(codes.POLICY_VIOLATION, str(violation)) from None
    except PolicyError as error:
        raise PolicyFailure from error.__cause__
