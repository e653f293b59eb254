"""Acknowledgements of records by their types, and who may give them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.share.in_flight import InFlight, Part
from kafka_admin_proto.server.share.state import ACKNOWLEDGED, ACQUIRED, ARCHIVED, AVAILABLE

#: The types of acknowledgements: a gap is an offset of no record.
GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)
_FIRST = attrgetter("first")
#: The states of records that get them.
STATES = {GAP: ARCHIVED, ACCEPT: ACKNOWLEDGED, RELEASE: AVAILABLE, REJECT: ARCHIVED}


class Acknowledgement(NamedTuple):
    """What a member says of records: one type for all, or one for each."""

    first: int
    last: int
    types: Sequence[int]


def runs(ack: Acknowledgement, first: int, last: int) -> Iterator[tuple[int, int, int]]:
    """The (first offset, last offset, type) of neighbours of one type, of these offsets."""
    if len(ack.types) == 1:
        yield first, last, ack.types[0]
        return
    for kind, run in groupby(ack.types[first - ack.first : last - ack.first + 1]):
        size = len(list(run))
        yield first, first + size - 1, kind
        first += size


def acknowledged_batches(
    ack: Acknowledgement, batches: Sequence[InFlight], start: int
) -> list[InFlight]:
    """Those of the batches in flight, from ``start`` on, that it is about. Raises ApiFailure."""
    place = _place(batches, ack.first)
    if place < 0 and ack.first < start <= ack.last:
        place = _place(batches, start)
    if place < 0:
        text = "The request batch offsets are not found in the cache."
        raise invalid(f"Batch record not found. {text}")
    end = bisect_right(batches, ack.last, key=_FIRST)
    acknowledged = [each for each in batches[place:end] if not each.is_gap]
    for offset, name in ((ack.first, "first"), (ack.last, "last")):
        if acknowledged[-1].last < offset:
            raise ApiFailure(
                codes.INVALID_REQUEST,
                f"Batch record not found. The {name} offset in request is past acquired records.",
            )
    return acknowledged


def _place(batches: Sequence[InFlight], offset: int) -> int:
    """Where the records are that begin last up to an offset, whatever gaps follow; -1: nowhere."""
    place = bisect_right(batches, offset, key=_FIRST) - 1
    while place >= 0 and batches[place].is_gap:
        place -= 1
    return place


def check_owner(part: Part, member: str, what: str) -> None:
    """Raises ApiFailure unless a member has the records."""
    if what == "batch" and not part.member:
        raise invalid("The batch cannot be acknowledged. The batch is not in the acquired state.")
    if part.state != ACQUIRED:
        raise invalid("The offset cannot be acknowledged. The offset is not acquired.")
    if part.before is not None:
        raise invalid(
            "The record state is invalid. The acknowledgement of delivery could not be completed."
        )
    if part.member != member:
        raise invalid(f"Member is not the owner of {'batch record' if what == 'batch' else what}")


def invalid(text: str) -> ApiFailure:
    """The failure of an acknowledgement of records that the member has not."""
    return ApiFailure(codes.INVALID_RECORD_STATE, text)
