"""Instructions: what to change about each topic of a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, TypeVar

from kafka_admin_proto.admin.config_values import ConfigSetter
from kafka_admin_proto.admin.errors import InstructionError

#: What to do with several instructions for one topic: refuse the batch, or carry out the last.
Duplicates = Literal["refuse", "last"]

T = TypeVar("T")


class TopicAlteration(ConfigSetter, frozen=True, forbid_unknown_fields=True):
    """What to change about a topic. None, -1 and empty collections stand for "not this".

    ``partitions`` is the number of all partitions afterwards, ``assignment`` the brokers of a
    partition's replicas by its number, the preferred leader first. ``configs`` are set and
    ``delete_configs`` go back to the cluster's default.
    """

    name: str
    partitions: int | None = None
    replication_factor: int | None = None
    assignment: dict[int, list[int]] | None = None
    configs: dict[str, str] = {}
    delete_configs: list[str] = []

    @property
    def wanted_partitions(self) -> int | None:
        return None if self.partitions == -1 else self.partitions

    @property
    def wanted_factor(self) -> int | None:
        return None if self.replication_factor == -1 else self.replication_factor


def once_each(
    items: Iterable[T],
    name_of: Callable[[T], str],
    *,
    duplicates: Duplicates = "refuse",
    what: str = "alter",
) -> list[T]:
    """The items of a batch, one for each topic, in the order of their first appearance.

    With "refuse" a topic that stands in the batch twice raises InstructionError before anything is
    sent: the second draft's MultipleTopicInstructionsInOneBatch. With "last" the last item of
    each topic is kept and those before it are ignored, as the first draft wants it.
    """
    if duplicates not in ("refuse", "last"):
        raise InstructionError(f"duplicates is {duplicates!r}; it is 'refuse' or 'last'")
    by_name: dict[str, T] = {}
    twice: dict[str, None] = {}
    for item in items:
        name = name_of(item)
        if name in by_name:
            twice[name] = None
        by_name[name] = item
    if twice and duplicates == "refuse":
        names = ", ".join(map(repr, twice))
        raise InstructionError(
            f"several instructions to {what} one topic in one batch, for {names}; give each topic "
            "one instruction, or ask for the last one of each (duplicates='last')"
        )
    return list(by_name.values())
