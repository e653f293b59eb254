"""Topics deleted: by name and by id, waited for, and after a lost answer."""

from __future__ import annotations

import asyncio
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin import DeletedTopic, InstructionError, Missing
from kafka_admin_proto.messages import DeleteTopicsRequest, DeleteTopicsResponse
from kafka_admin_proto.messages.delete_topics_response import DeletableTopicResult
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.topic_ids import topic_id_to_text
from kafka_admin_proto.values import Message
from tests.admin.fake_caller import Call
from tests.admin.operations.topics.fake_cluster import ZOOKEEPER, Topic, Topics, code

_NAMES = st.sampled_from(["a", "b", "c", "d"])
#: Brokers before 2.8 have no topic ids.
_OLD = {20: VersionRange(0, 5), 3: VersionRange(0, 9)}


def one(cluster: Topics, name: str, *, if_exists: bool = False) -> DeletedTopic:
    [result] = asyncio.run(cluster.delete_topics([name], if_exists=if_exists))
    return result


@given(
    there=st.sets(_NAMES),
    by_name=st.sets(_NAMES).map(sorted),
    by_id=st.sets(_NAMES),
    old=st.booleans(),
    if_exists=st.booleans(),
)
def test_each_topic_on_its_own(
    there: set[str], by_name: list[str], by_id: set[str], old: bool, if_exists: bool
) -> None:
    cluster = Topics([Topic(name, [[1]]) for name in there], versions=_OLD if old else {})
    kept = there - {*by_name, *by_id}
    before = {name: topic.id for name, topic in cluster.topics.items()}
    ids: list[UUID] = [] if old else [before.get(name, uuid4()) for name in by_id - set(by_name)]
    if old:
        kept |= there & (by_id - set(by_name))
    results = asyncio.run(cluster.delete_topics(by_name, topic_ids=ids, if_exists=if_exists))
    assert cluster.topics.keys() == kept
    assert [each.name for each in results[: len(by_name)]] == by_name
    assert [each.topic_id for each in results[len(by_name) :]] == list(map(topic_id_to_text, ids))
    for result in results:
        if result.name in before:
            assert (result.error, result.complete) == (None, True)
        elif if_exists:
            assert (result.error, result.message) == (None, "there was no such topic")
        else:
            assert result.error in ("UNKNOWN_TOPIC_OR_PARTITION", "UNKNOWN_TOPIC_ID")
            assert result.complete is None


def test_an_id_where_brokers_have_none() -> None:
    topic = Topic("a", [[1]])
    results = asyncio.run(Topics([topic], versions=_OLD).delete_topics(topic_ids=[topic.id]))
    assert [each.error for each in results] == ["UNKNOWN_TOPIC_ID"]


def test_a_broker_that_still_has_the_topic_is_waited_for() -> None:
    cluster = Topics([Topic("a", [[1]])])
    for broker in (2, 3):
        cluster.late[broker] = [dict(cluster.topics)] * 3
        cluster.delay[broker] = 3
    assert one(cluster, "a").complete is True
    assert not any("a" in cluster.late[broker][0] for broker in (1, 2, 3))


def test_a_broker_that_never_forgets() -> None:
    cluster = Topics([Topic("a", [[1]])])
    cluster.late[2] = [dict(cluster.topics)] * 10_000
    cluster.delay[2] = 10_000
    [result] = asyncio.run(cluster.delete_topics(["a"], timeout=0.2))
    assert (result.error, result.complete) == (None, False)
    assert result.missing == [Missing("a", "topic 'a' is still known", broker=2)]
    assert "may still come" in (result.message or "")


def test_a_new_topic_of_the_name_is_not_the_deleted_one() -> None:
    cluster = Topics([Topic("a", [[1]])])
    delete = cluster.handlers[DeleteTopicsRequest]

    def recreated(request: Message, call: Call) -> Message | Exception:
        answer = delete(request, call)
        cluster.topics["a"] = Topic("a", [[2]])
        return answer

    cluster.handlers[DeleteTopicsRequest] = recreated
    assert one(cluster, "a").complete is True


def test_a_lost_answer_is_no_unknown_topic() -> None:
    cluster = Topics([Topic("a", [[1]])])
    cluster.lost.add(DeleteTopicsRequest)
    result = one(cluster, "a")
    assert (result.error, result.repeated, result.complete) == (None, True, True)
    assert "the answer to an earlier attempt was lost" in (result.message or "")


def test_a_lost_answer_never_deletes_a_new_topic_of_the_name() -> None:
    """The second attempt names the id that the topic had when the call began."""
    cluster = Topics([Topic("a", [[1]])])
    cluster.lost.add(DeleteTopicsRequest)
    delete = cluster.handlers[DeleteTopicsRequest]

    def recreated(request: Message, call: Call) -> Message | Exception:
        answer = delete(request, call)
        cluster.topics.setdefault("a", Topic("a", [[2]]))
        return answer

    cluster.handlers[DeleteTopicsRequest] = recreated
    result = one(cluster, "a")
    assert (result.error, result.repeated) == (None, True)
    assert cluster.topics["a"].replicas == [[2]]


def test_a_lost_answer_and_a_topic_that_was_not_there() -> None:
    """The broker that did not know it may only not have heard of it yet."""
    cluster = Topics()
    cluster.lost.add(DeleteTopicsRequest)
    result = one(cluster, "a")
    assert (result.error, result.repeated) == ("UNKNOWN_TOPIC_OR_PARTITION", True)
    assert "its answer lost: it may have done this itself" in (result.message or "")


def test_a_broker_that_has_only_heard_of_an_older_topic_of_the_name() -> None:
    """Its id deletes nothing; the name does."""
    old, new = Topic("a", [[1]]), Topic("a", [[2]])
    cluster = Topics([new])
    cluster.late[1] = [{"a": old}, {"a": old}]
    cluster.delay[1] = 1
    result = one(cluster, "a")
    assert (result.error, result.complete) == (None, True)
    assert result.topic_id == topic_id_to_text(new.id)
    assert not cluster.topics


def test_throttled_topics_are_asked_for_again_and_no_others() -> None:
    cluster = Topics([Topic("a", [[1]]), Topic("b", [[1]])])
    cluster.refused["b"] = ["THROTTLING_QUOTA_EXCEEDED"] * 2
    results = asyncio.run(cluster.delete_topics(["a", "b"]))
    assert [each.error for each in results] == [None, None]
    asked = [
        len(call.request.topics)
        for call in cluster.calls
        if isinstance(call.request, DeleteTopicsRequest)
    ]
    assert asked == [2, 1, 1]


def test_with_zookeeper_a_controller_only_takes_the_request() -> None:
    cluster = Topics([Topic("a", [[1]])], versions=ZOOKEEPER)

    def takes(request: Message, call: Call) -> Message:
        assert isinstance(request, DeleteTopicsRequest)
        assert request.timeout_ms == 0
        [asked] = request.topics
        timed_out = code("REQUEST_TIMED_OUT")
        answer = DeletableTopicResult(name="a", topic_id=asked.topic_id, error_code=timed_out)
        return DeleteTopicsResponse(responses=[answer])

    cluster.handlers[DeleteTopicsRequest] = takes
    [result] = asyncio.run(cluster.delete_topics(["a"], timeout=0))
    assert (result.error, result.complete) == (None, None)


def test_results_without_an_answer_name_their_topics() -> None:
    """Also those that were asked for by an id that has no name."""
    there, lost = Topic("a", [[1]]), uuid4()
    cluster = Topics([there])
    cluster.handlers[DeleteTopicsRequest] = lambda request, call: DeleteTopicsResponse()
    found = asyncio.run(cluster.delete_topics(["a"], topic_ids=[lost], timeout=0))
    assert [(each.name, each.topic_id) for each in found] == [
        ("a", topic_id_to_text(there.id)),
        (None, topic_id_to_text(lost)),
    ]
    assert [each.error for each in found] == ["RemoteProtocolError"] * 2


def test_mistakes_of_the_caller() -> None:
    with pytest.raises(InstructionError, match="several instructions to delete one topic"):
        asyncio.run(Topics().delete_topics(["a", "a"]))
    once = Topics([Topic("a", [[1]])]).delete_topics(["a", "a"], duplicates="last")
    assert [each.error for each in asyncio.run(once)] == [None]
    with pytest.raises(ValueError, match="topic id"):
        asyncio.run(Topics().delete_topics(topic_ids=["a"]))
    assert asyncio.run(Topics().delete_topics()) == []
