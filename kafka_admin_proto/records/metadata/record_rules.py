"""The registry of rules: class of a metadata record → the function that applies it to the state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from kafka_admin_proto.errors import MetadataReplayError
from kafka_admin_proto.records.metadata.cluster_state import ClusterState
from kafka_admin_proto.values import Message

M = TypeVar("M", bound=Message)


class Rules(dict[type[Message], Callable[[ClusterState, Any], None]]):
    """Rules by class of record. A rule that raises has changed nothing."""

    def rule(
        self, record: type[M]
    ) -> Callable[[Callable[[ClusterState, M], None]], Callable[[ClusterState, M], None]]:
        """A decorator that registers the rule of a class of records."""

        def register(
            apply: Callable[[ClusterState, M], None],
        ) -> Callable[[ClusterState, M], None]:
            self[record] = apply
            return apply

        return register


def refused(message: Message, fault: str) -> MetadataReplayError:
    """The error for a record that does not fit the state."""
    return MetadataReplayError(fault, record=message.message_name)
