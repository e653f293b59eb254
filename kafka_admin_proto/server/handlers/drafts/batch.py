"""A batch of topics, handled separately; topics that are twice in the batch are refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.handlers.drafts.codes import (
    MULTIPLE_IN_BATCH,
    code_of,
    repeated,
)
from kafka_admin_proto.values import Message


class _Item(Protocol):
    topic_name: str


Item = TypeVar("Item", bound=_Item)


def codes_and_records(
    items: Sequence[Item], records_of: Callable[[Item, Sequence[Message]], list[Message]]
) -> tuple[dict[str, int], list[Message]]:
    """(the draft's error code of each topic, the records of all topics without an error).

    ``records_of`` makes the records of an item, given those of the items before it. It raises
    ApiFailure to refuse an item.
    """
    twice = repeated(each.topic_name for each in items)
    codes: dict[str, int] = {}
    records: list[Message] = []
    for name, item in {each.topic_name: each for each in items}.items():
        codes[name] = MULTIPLE_IN_BATCH if name in twice else 0
        if name not in twice:
            try:
                records += records_of(item, records)
            except ApiFailure as failure:
                codes[name] = code_of(failure)
    return codes, records
