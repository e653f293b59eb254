"""Topics created: each on its own, waited for on every broker, and after a lost answer."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin.errors import InstructionError, RequestTimedOutError
from kafka_admin_proto.admin.operations.common.waiting import Missing
from kafka_admin_proto.admin.operations.topics.creation import CreatedTopic, NewTopic
from kafka_admin_proto.messages import CreateTopicsRequest
from kafka_admin_proto.messages.create_topics_response import (
    CreatableTopicResult,
    CreateTopicsResponse,
)
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.topic_ids import topic_id_to_text
from kafka_admin_proto.values import Message
from tests.admin.fake_caller import Call
from tests.admin.operations.topics.fake_cluster import ZOOKEEPER, Topic, Topics, code

_NAMES = st.sampled_from(["a", "b", "c", "d", "e"])
_NEW = st.builds(
    NewTopic,
    _NAMES,
    st.integers(1, 4),
    st.integers(1, 3),
    configs=st.dictionaries(
        st.sampled_from(["retention.ms", "flush.ms"]), st.sampled_from(["1", "2"])
    ),
)


def one(cluster: Topics, topic: NewTopic, *, timeout: float = 5.0) -> CreatedTopic:
    [result] = asyncio.run(cluster.create_topics([topic], timeout=timeout))
    return result


@given(
    wanted=st.lists(_NEW, unique_by=lambda topic: topic.name, min_size=1),
    there=st.sets(_NAMES),
    delay=st.dictionaries(st.sampled_from([1, 2, 3]), st.integers(0, 2)),
)
def test_each_topic_on_its_own_in_the_order_of_the_call(
    wanted: list[NewTopic], there: set[str], delay: dict[int, int]
) -> None:
    cluster = Topics([Topic(name, [[1]]) for name in there], delay=delay)
    results = asyncio.run(cluster.create_topics(wanted, timeout=5))
    assert [each.name for each in results] == [each.name for each in wanted]
    for topic, result in zip(wanted, results, strict=True):
        if topic.name in there:
            assert (result.error, result.complete) == ("TOPIC_ALREADY_EXISTS", None)
            continue
        made = cluster.topics[topic.name]
        assert result == CreatedTopic(
            name=topic.name,
            topic_id=topic_id_to_text(made.id),
            partitions=topic.partitions,
            replication_factor=topic.replication_factor,
            configs=result.configs,
            complete=True,
        )
        assert {each.name: each.value for each in result.configs or []} == topic.configs
    # Every broker knew all of it when the call returned.
    if any(each.complete for each in results):
        for broker in cluster.known:
            assert cluster.late[broker][0].keys() | there == cluster.topics.keys()


def test_a_config_without_a_value_is_refused_before_anything_is_sent() -> None:
    cluster = Topics()
    with pytest.raises(InstructionError, match=r"topic 'new' .* config x as None; leave it out"):
        one(cluster, NewTopic("new", configs={"x": None}))
    assert cluster.calls == []


def test_a_topic_that_a_broker_does_not_hear_of() -> None:
    """The call returns in time and says who lacks what, and that it may still come."""
    cluster = Topics(delay={3: 10_000})
    result = one(cluster, NewTopic("new", 2, 1), timeout=0.3)
    assert (result.error, result.complete) == (None, False)
    assert result.missing == [Missing("new", "topic 'new' is unknown", broker=3)]
    assert result.message == (
        "created, but not complete after 0.3 s: broker 3: topic 'new' is unknown; "
        "the rest may still come"
    )


def test_a_partition_without_a_leader() -> None:
    cluster = Topics()
    create = cluster.handlers[CreateTopicsRequest]

    def without_leader(request: Message, call: Call) -> Message | Exception:
        answer = create(request, call)
        cluster.topics["new"].leaders[1] = None
        return answer

    cluster.handlers[CreateTopicsRequest] = without_leader
    result = one(cluster, NewTopic("new", 2, 1), timeout=0.2)
    assert result.missing == [
        Missing("new", "partition 1 of topic 'new' has no leader", partition=1, broker=broker)
        for broker in (1, 2, 3)
    ]


def test_an_older_topic_of_the_name_is_not_the_new_one() -> None:
    """A broker that still has the topic that was deleted before is waited for."""
    cluster = Topics([Topic("new", [[1]])])
    for broker in (1, 2, 3):
        cluster.late[broker] = [dict(cluster.topics)] * 3
        cluster.delay[broker] = 3
    del cluster.topics["new"]
    result = one(cluster, NewTopic("new", 1, 1))
    assert (result.error, result.complete) == (None, True)
    assert {each["new"].id for each in (cluster.late[1][0], cluster.late[3][0])} == {
        cluster.topics["new"].id
    }


@pytest.mark.parametrize("timeout", [0, -1])
def test_without_a_timeout_nothing_is_waited_for(timeout: float) -> None:
    cluster = Topics(delay={1: 100, 2: 100, 3: 100})
    result = one(cluster, NewTopic("new", 1, 1), timeout=timeout)
    assert (result.error, result.complete, result.missing) == (None, None, [])
    [asked] = [
        call.request for call in cluster.calls if isinstance(call.request, CreateTopicsRequest)
    ]
    assert asked.timeout_ms > 0, "a KRaft controller would do nothing"


def test_with_zookeeper_a_controller_only_takes_the_request() -> None:
    cluster = Topics(versions=ZOOKEEPER)

    def takes(request: Message, call: Call) -> Message:
        assert isinstance(request, CreateTopicsRequest)
        assert request.timeout_ms == 0
        timed_out = code("REQUEST_TIMED_OUT")
        return CreateTopicsResponse(topics=[CreatableTopicResult(name="new", error_code=timed_out)])

    cluster.handlers[CreateTopicsRequest] = takes
    result = one(cluster, NewTopic("new"), timeout=0)
    assert (result.error, result.topic_id) == (None, None)
    assert "taken the request" in (result.message or "")


@pytest.mark.parametrize("comes", [True, False])
def test_a_controller_whose_time_was_over(comes: bool) -> None:
    """With ZooKeeper it waits for leaders itself: what is missing is looked up all the same."""
    cluster = Topics(versions=ZOOKEEPER)

    def late(request: Message, call: Call) -> Message:
        cluster.topics["new"] = Topic("new", [[1], [2]], leaders=[1, 2 if comes else None])
        timed_out = code("REQUEST_TIMED_OUT")
        return CreateTopicsResponse(topics=[CreatableTopicResult(name="new", error_code=timed_out)])

    cluster.handlers[CreateTopicsRequest] = late
    result = one(cluster, NewTopic("new", 2, 1), timeout=0.3)
    assert (result.error, result.complete) == (
        (None, True) if comes else ("REQUEST_TIMED_OUT", False)
    )
    if not comes:
        assert str(result.missing[0]) == "broker 1: partition 1 of topic 'new' has no leader"
        assert "the rest may still come" in (result.message or "")


def test_validation_creates_nothing_and_waits_for_nothing() -> None:
    cluster = Topics([Topic("there", [[1]])])
    results = asyncio.run(
        cluster.create_topics([NewTopic("new", 3, 2), NewTopic("there")], validate_only=True)
    )
    assert [(each.error, each.partitions, each.topic_id) for each in results] == [
        (None, 3, None),
        ("TOPIC_ALREADY_EXISTS", None, None),
    ]
    assert list(cluster.topics) == ["there"]


@pytest.mark.parametrize("delay", [0, 3])
def test_a_lost_answer_is_compared_with_what_is_there(delay: int) -> None:
    """The topic was not there before this call, and is there now as asked: it is ours.

    The broker that is asked may hear of it later than the controller says that it exists.
    """
    cluster = Topics(delay={1: delay})
    cluster.lost.add(CreateTopicsRequest)
    result = one(cluster, NewTopic("new", 2, 3, configs={"flush.ms": "1"}))
    assert (result.error, result.repeated, result.complete) == (None, True, True)
    assert (result.partitions, result.replication_factor) == (2, 3)
    assert result.topic_id == topic_id_to_text(cluster.topics["new"].id)
    assert result.message is not None
    assert "the answer to an earlier attempt was lost" in result.message


def test_a_lost_answer_and_a_topic_that_was_there_before() -> None:
    cluster = Topics([Topic("new", [[1]])])
    cluster.lost.add(CreateTopicsRequest)
    result = one(cluster, NewTopic("new", 1, 1))
    assert (result.error, result.repeated) == ("TOPIC_ALREADY_EXISTS", False)
    assert "was there before this call" in (result.message or "")


def test_a_lost_answer_and_another_clients_topic() -> None:
    """What is there is not what was asked for: that is an error, and says all that is known."""
    cluster = Topics()
    cluster.lost.add(CreateTopicsRequest)
    create = cluster.handlers[CreateTopicsRequest]

    def another(request: Message, call: Call) -> Message | Exception:
        cluster.topics.setdefault("new", Topic("new", [[1], [2]], {"flush.ms": "2"}))
        return create(request, call)

    cluster.handlers[CreateTopicsRequest] = another
    result = one(cluster, NewTopic("new", 3, 2, configs={"flush.ms": "1"}))
    assert (result.error, result.repeated) == ("TOPIC_ALREADY_EXISTS", True)
    for part in (
        "an earlier attempt was lost",
        "2 partitions where 3",
        "another value of flush.ms",
    ):
        assert part in (result.message or "")


def test_throttled_topics_are_asked_for_again_and_no_others() -> None:
    cluster = Topics()
    cluster.refused["b"] = ["THROTTLING_QUOTA_EXCEEDED"] * 2
    results = asyncio.run(cluster.create_topics([NewTopic("a", 1, 1), NewTopic("b", 1, 1)]))
    assert [(each.error, each.complete) for each in results] == [(None, True)] * 2
    asked = [
        [topic.name for topic in call.request.topics]
        for call in cluster.calls
        if isinstance(call.request, CreateTopicsRequest)
    ]
    assert asked == [["a", "b"], ["b"], ["b"]]


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=40))
def test_a_request_creates_no_more_than_a_controller_takes(counts: list[int]) -> None:
    """10,000 records at most; a KRaft controller refuses the whole request otherwise."""
    cluster = Topics()
    topics = [NewTopic(f"t{index}", count, 1) for index, count in enumerate(counts)]
    results = asyncio.run(cluster.create_topics(topics, timeout=0))
    assert [each.error for each in results] == [None] * len(topics)
    requests = [
        call.request for call in cluster.calls if isinstance(call.request, CreateTopicsRequest)
    ]
    assert [topic.name for each in requests for topic in each.topics] == [t.name for t in topics]
    for request in requests:
        assert sum(1 + topic.num_partitions for topic in request.topics) <= 5000


def test_a_later_request_that_fails_leaves_the_results_of_the_first() -> None:
    cluster = Topics()
    create = cluster.handlers[CreateTopicsRequest]
    failure = RequestTimedOutError("no answer", may_have_acted=True)
    cluster.handlers[CreateTopicsRequest] = lambda request, call: (
        failure if cluster.topics else create(request, call)
    )
    topics = [NewTopic("a", 3000, 1), NewTopic("b", 3000, 1)]
    results = asyncio.run(cluster.create_topics(topics, timeout=0))
    assert [each.error for each in results] == [None, "RequestTimedOutError"]


def test_old_brokers_and_what_they_cannot_do() -> None:
    """Before 2.4 there are no defaults, and answers say less."""
    old = {19: VersionRange(0, 3)}
    result = one(Topics(versions=old), NewTopic("new", 2, 1))
    assert (result.partitions, result.replication_factor, result.configs) == (2, None, None)
    with pytest.raises(Exception, match="has none of it"):
        one(Topics(versions=old), NewTopic("new"))


def test_mistakes_of_the_caller() -> None:
    with pytest.raises(ValueError, match="'a' is to be created twice"):
        asyncio.run(Topics().create_topics([NewTopic("a"), NewTopic("a", 2)]))
    assert asyncio.run(Topics().create_topics([])) == []
    assert "hunter2" not in repr(NewTopic("a", configs={"some.password": "hunter2"}))
