"""A batch of topics: each for itself, those that come twice not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.handlers.drafts.kip_4b.codes import (
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
    """(the draft's error code of each topic, the records of all that have none).

    ``records_of`` makes those of an item, given the records before it; it raises ApiFailure for
    an item that is refused.
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
