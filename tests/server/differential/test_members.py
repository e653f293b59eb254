"""What is known of share groups' members follows from answers alone."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages import share_acknowledge_request as asked
from kafka_admin_proto.messages import share_acknowledge_response as answered
from kafka_admin_proto.messages import share_fetch_request as requested
from kafka_admin_proto.messages import share_fetch_response as fetched
from kafka_admin_proto.protocol import codes
from tests.server.differential.members import ENDS, Members

_ID = UUID(int=7)
_NAMES = {_ID: "a"}
_PLACE = (0, "g", "m", "a", 0)


@pytest.fixture
def members() -> Members:
    """A member has five records of a partition."""
    found = Members()
    row = fetched.PartitionData(0, acquired_records=[fetched.AcquiredRecords(0, 4, 1)])
    answer = m.ShareFetchResponse(responses=[fetched.ShareFetchableTopicResponse(_ID, [row])])
    found.learn(0, m.ShareFetchRequest("g", "m", 0), answer, _NAMES)
    assert found.holders(0) == [_PLACE]
    return found


def _acknowledge(members: Members, types: list[int], code: int = 0, epoch: int = 1) -> None:
    batch = asked.AcknowledgementBatch(0, 2, types)
    topics = [asked.AcknowledgeTopic(_ID, [asked.AcknowledgePartition(0, [batch])])]
    row = answered.PartitionData(0, code)
    answer = m.ShareAcknowledgeResponse(
        responses=[answered.ShareAcknowledgeTopicResponse(_ID, [row])]
    )
    members.learn(0, m.ShareAcknowledgeRequest("g", "m", epoch, topics=topics), answer, _NAMES)


@pytest.mark.parametrize(
    ("types", "left", "counts"),
    [([1], [3, 4], {"accept": 3}), ([1, 4, 0], [1, 3, 4], {"accept": 1, "renew": 1, "gap": 1})],
)
def test_acknowledged_records_are_counted(
    members: Members, types: list[int], left: list[int], counts: dict[str, int]
) -> None:
    _acknowledge(members, types)
    assert members.acquired(_PLACE) == left
    assert (members.answers, members.acknowledged) == (1, counts)


@pytest.mark.parametrize(
    ("code", "left"),
    [(codes.INVALID_REQUEST, [0, 1, 2, 3, 4]), (codes.INVALID_RECORD_STATE, [3, 4])],
)
def test_refused_acknowledgements_are_not(members: Members, code: int, left: list[int]) -> None:
    _acknowledge(members, [1], code)
    assert members.acquired(_PLACE) == left
    assert members.answers == 0


def test_a_session_that_ends_gives_records_back(members: Members) -> None:
    _acknowledge(members, [1], epoch=ENDS)
    assert members.holders(0) == []
    assert members.session(0, "g", "m") == 0


def _fetched(members: Members, epoch: int, *numbers: int, forgets: tuple[int, ...] = ()) -> bool:
    """Fetch, get a record of each of these partitions, and say whether their order is known."""
    request = m.ShareFetchRequest("g", "m", epoch)
    request.forgotten_topics_data = [requested.ForgottenTopic(_ID, [*forgets])]
    rows = [fetched.PartitionData(each, records=b"batch") for each in numbers]
    rows.append(fetched.PartitionData(7, 3, records=b""))
    answer = m.ShareFetchResponse(responses=[fetched.ShareFetchableTopicResponse(_ID, rows)])
    members.learn(0, request, answer, _NAMES)
    return members.is_ordered(0, "g", "m")


def test_partitions_with_records_at_once_are_in_no_known_order(members: Members) -> None:
    """Until all of them but one have come last alone, are forgotten, or the session begins anew."""
    assert _fetched(members, 0, 0, 1, 2)
    assert _fetched(members, 1, 0)
    assert not _fetched(members, 2, 0, 1, 2)
    assert not _fetched(members, 3, 0)
    assert _fetched(members, 4, 1)
    assert not _fetched(members, 5, 1, 2)
    assert not _fetched(members, 6)
    assert _fetched(members, 7, forgets=(1,))
    assert not _fetched(members, 8, 0, 2)
    assert members.is_ordered(0, "g", "another")
    assert _fetched(members, 0)
