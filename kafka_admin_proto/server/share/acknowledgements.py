"""The acknowledgements of a ShareFetch or ShareAcknowledge, with an answer for each partition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Caller
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import NOT_HOSTED, ApiFailure
from kafka_admin_proto.server.security.authorizer.access import allowed_topics
from kafka_admin_proto.server.security.authorizer.rules import READ
from kafka_admin_proto.server.share.acknowledged import REJECT, RENEW, Acknowledgement
from kafka_admin_proto.server.share.sessions import Owner, Place
from kafka_admin_proto.server.share.state import ShareKey

#: (error code, its message).
Result = tuple[int, str | None]
#: The first version in which locks are renewed.
RENEWS = 2


class AcknowledgementBatch(Protocol):
    """The row that both requests have."""

    first_offset: int
    last_offset: int
    acknowledge_types: list[int]


class Acknowledging:
    """The acknowledgements of a request; ``results`` has the rows of partitions when all are there.

    As in Kafka a partition without acknowledgements has a row only beside one that has some.
    """

    def __init__(
        self,
        view: View,
        caller: Caller,
        owner: Owner,
        asked: Mapping[Place, Sequence[AcknowledgementBatch]],
        *,
        renews: bool,
        then: Callable[[], None],
    ) -> None:
        self.results: dict[Place, Result] = {}
        self._then = then
        broker = view.controller_state.shares.of(caller.node_id)
        names = {each: topic.name for each in asked if (topic := view.topic_by_id(each[0]))}
        allowed = allowed_topics(view, caller, READ, set(names.values()))
        #: The partitions that are not answered yet, and one more while they are looked at.
        self._waiting: set[Place | None] = {*asked, None}
        without: list[Place] = []
        is_any = False
        for place, batches in asked.items():
            topic = view.topic_by_id(place[0])
            try:
                if topic is None:
                    raise ApiFailure(codes.UNKNOWN_TOPIC_ID)
                _check(batches, knows_renewal=caller.version >= RENEWS, renews=renews)
                if topic.name not in allowed:
                    raise ApiFailure(codes.TOPIC_AUTHORIZATION_FAILED)
                if place[1] not in topic.partitions:
                    raise ApiFailure(codes.UNKNOWN_TOPIC_OR_PARTITION)
                if not batches:
                    without.append(place)
                    continue
                is_any = True
                partition = broker.find(ShareKey(owner[0], *place))
                if partition is None:
                    raise ApiFailure(codes.UNKNOWN_TOPIC_OR_PARTITION, NOT_HOSTED)
                rows = [
                    Acknowledgement(each.first_offset, each.last_offset, each.acknowledge_types)
                    for each in batches
                ]
                partition.acknowledge(owner[1], rows, partial(self._answered, place))
            except ApiFailure as failure:
                self._answered(place, failure.code, failure.message)
        if is_any:
            self.results.update(dict.fromkeys(without, (codes.NONE, None)))
        self._waiting.difference_update([None, *without])
        if self.is_over:
            then()

    @property
    def is_over(self) -> bool:
        return not self._waiting

    def _answered(self, place: Place, code: int, message: str | None = None) -> None:
        self.results[place] = code, message
        self._waiting.discard(place)
        if self.is_over:
            self._then()


def _check(batches: Sequence[AcknowledgementBatch], *, knows_renewal: bool, renews: bool) -> None:
    """Raises ApiFailure for acknowledgements that no member may send."""
    highest, before = RENEW if knows_renewal else REJECT, -1
    for batch in batches:
        types = batch.acknowledge_types
        if (
            batch.first_offset > batch.last_offset
            or batch.first_offset < before
            or not types
            or (len(types) > 1 and batch.last_offset - batch.first_offset != len(types) - 1)
            or not all(0 <= kind <= highest for kind in types)
            or (RENEW in types and not renews)
        ):
            raise ApiFailure(codes.INVALID_REQUEST)
        before = batch.last_offset
