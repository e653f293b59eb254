"""Topics listed and described: in pages and without, by name, id and pattern; lag and configs."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin import (
    AdminError,
    ConnectionFailedError,
    PartitionDescription,
    ReplicaLag,
    TopicDescription,
)
from kafka_admin_proto.messages import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    ListOffsetsRequest,
    MetadataRequest,
)
from kafka_admin_proto.messages.describe_topic_partitions_response import Cursor
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.topic_ids import topic_id_to_text
from kafka_admin_proto.values import Message
from tests.admin.fake_caller import Call
from tests.admin.operations.topics.fake_cluster import ZOOKEEPER, Topic, Topics

_NAMES = st.sampled_from(["a", "a.b", "b", "c", "__consumer_offsets"])
_TOPICS = st.lists(
    st.builds(
        Topic,
        _NAMES,
        st.lists(st.permutations([1, 2, 3]).map(lambda ids: ids[:2]), min_size=1, max_size=7),
        configs=st.dictionaries(
            st.sampled_from(["retention.ms", "flush.ms"]), st.sampled_from(["1", "2"])
        ),
    ),
    unique_by=lambda topic: topic.name,
)


def expected(topic: Topic, *, paged: bool = False) -> TopicDescription:
    """The topic as it is described; only pages have its eligible leader replicas."""
    elr: list[int] | None = [] if paged else None
    return TopicDescription(
        name=topic.name,
        topic_id=topic_id_to_text(topic.id),
        internal=topic.name.startswith("__"),
        partitions=[
            PartitionDescription(
                partition=index,
                leader=leader,
                leader_epoch=index,
                replicas=replicas,
                isr=replicas,
                offline=[],
                elr=elr,
                last_known_elr=elr,
            )
            for index, (leader, replicas) in enumerate(
                zip(topic.leaders, topic.replicas, strict=True)
            )
        ],
    )


@given(topics=_TOPICS, page=st.integers(1, 9), paged=st.booleans())
def test_all_topics(topics: list[Topic], page: int, paged: bool) -> None:
    """Pages of any size say what one answer of Metadata says."""
    cluster = Topics(topics, page=page, versions={} if paged else ZOOKEEPER)
    described = asyncio.run(cluster.describe_topics())
    in_order = sorted(topics, key=lambda each: each.name)
    assert described == [expected(topic, paged=paged) for topic in in_order]
    pages = [
        call for call in cluster.calls if isinstance(call.request, DescribeTopicPartitionsRequest)
    ]
    partitions = sum(len(topic.replicas) for topic in topics)
    assert len(pages) <= partitions // page + 1 if paged else not pages


@given(topics=_TOPICS, names=st.lists(_NAMES), page=st.integers(1, 9), paged=st.booleans())
def test_topics_by_name(topics: list[Topic], names: list[str], page: int, paged: bool) -> None:
    """In the order of the call, each once; an unknown one has its error, and none is created."""
    cluster = Topics(topics, page=page, versions={} if paged else ZOOKEEPER)
    described = asyncio.run(cluster.describe_topics(names))
    assert [each.name for each in described] == list(dict.fromkeys(names))
    for each in described:
        topic = cluster.topics.get(each.name or "")
        if topic is None:
            assert (each.error, each.partitions) == ("UNKNOWN_TOPIC_OR_PARTITION", [])
        else:
            assert each == expected(topic, paged=paged)


@given(topics=_TOPICS, old=st.booleans())
def test_topics_by_id(topics: list[Topic], old: bool) -> None:
    """Brokers that cannot be asked by id have it in their Metadata from version 10 on."""
    versions = {**ZOOKEEPER, 3: VersionRange(0, 11)} if old else {}
    cluster = Topics(topics, versions=versions)
    unknown = uuid4()
    ids = [*(topic.id for topic in topics), unknown]
    described = asyncio.run(cluster.describe_topics(topic_ids=ids))
    assert described[:-1] == [expected(each, paged=not old) for each in topics]
    assert described[-1].name is None
    assert (described[-1].topic_id, described[-1].error) == (
        topic_id_to_text(unknown),
        "UNKNOWN_TOPIC_ID",
    )


@given(topics=_TOPICS, include_internal=st.booleans())
def test_patterns_choose_among_all_topics(topics: list[Topic], include_internal: bool) -> None:
    """A pattern matches a whole name."""
    cluster = Topics(topics)
    wanted = sorted(
        topic.name
        for topic in topics
        if topic.name in ("a", "b") or (include_internal and topic.name[0] == "_")
    )
    described = asyncio.run(
        cluster.describe_topics(pattern="[ab]|__.*", include_internal=include_internal)
    )
    assert [each.name for each in described] == wanted
    listed = asyncio.run(
        cluster.list_topics(pattern="[ab]|__.*", include_internal=include_internal)
    )
    assert [(each.name, each.topic_id, each.internal, each.partitions) for each in listed] == [
        (each.name, each.topic_id, each.internal, len(each.partitions)) for each in described
    ]


def test_no_request_creates_a_topic_whatever_the_brokers_version() -> None:
    """Metadata before version 4 would: such a broker is asked for all topics."""
    old = {**ZOOKEEPER, 3: VersionRange(0, 3)}
    cluster = Topics([Topic("a", [[1]]), Topic("b", [[2]])], versions=old)
    described = asyncio.run(cluster.describe_topics(["b", "c"]))
    assert [each.error for each in described] == [None, "UNKNOWN_TOPIC_OR_PARTITION"]
    asked = [call.request for call in cluster.calls if isinstance(call.request, MetadataRequest)]
    assert [each.topics for each in asked] == [None]


def test_overridden_configs() -> None:
    cluster = Topics([Topic("a", [[1]], {"flush.ms": "1"}), Topic("b", [[1]])])
    described = asyncio.run(cluster.describe_topics(["a", "b", "c"], configs=True))
    assert [each.configs for each in described] == [{"flush.ms": "1"}, {}, None]


def test_lag_is_the_leaders_end_less_the_replicas() -> None:
    """A broker that does not answer leaves the others."""
    cluster = Topics([Topic("a", [[1, 2, 3], [3, 1]]), Topic("b", [[2]], leaders=[None])])
    cluster.ends = {(1, "a", 0): 100, (2, "a", 0): 60, (3, "a", 1): 5, (1, "a", 1): 7}
    offsets = cluster.handlers[ListOffsetsRequest]
    failure = ConnectionFailedError("broker 3 is gone")
    cluster.handlers[ListOffsetsRequest] = lambda request, call: (
        failure
        if call.broker == 3 and not cluster.ends.get((3, "a", 0))
        else offsets(request, call)
    )
    first = asyncio.run(cluster.describe_topics(["a", "b"], lag=True))
    assert first[0].partitions[0].lag == [
        ReplicaLag(1, 100, 0),
        ReplicaLag(2, 60, 40),
        ReplicaLag(3, error="ConnectionFailedError", message="broker 3 is gone"),
    ]
    assert first[0].partitions[1].lag == [
        ReplicaLag(3, error="ConnectionFailedError", message="broker 3 is gone"),
        ReplicaLag(1, 7, error="ConnectionFailedError", message="broker 3 is gone"),
    ]
    assert [each.error for each in first[1].partitions[0].lag or []] == ["KAFKA_STORAGE_ERROR"]
    cluster.ends[3, "a", 0] = 100
    again = asyncio.run(cluster.describe_topics(["a"], lag=True))
    # The leader was asked first and had less than the follower a moment later.
    assert again[0].partitions[1].lag == [ReplicaLag(3, 5, 0), ReplicaLag(1, 7, 0)]


def test_a_topic_that_is_deleted_between_its_pages_is_left_out() -> None:
    cluster = Topics([Topic("a", [[1]] * 4), Topic("b", [[1]])], page=2)
    page = cluster.handlers[DescribeTopicPartitionsRequest]

    def deletes(request: Message, call: Call) -> Message | Exception:
        answer = page(request, call)
        cluster.topics.pop("a", None)
        return answer

    cluster.handlers[DescribeTopicPartitionsRequest] = deletes
    assert [each.name for each in asyncio.run(cluster.describe_topics())] == ["b"]


def test_pages_without_end_are_an_error() -> None:
    cluster = Topics([Topic("a", [[1]])])
    again = DescribeTopicPartitionsResponse(next_cursor=Cursor(topic_name="a", partition_index=1))
    cluster.handlers[DescribeTopicPartitionsRequest] = lambda request, call: again
    with pytest.raises(AdminError, match="the pages would have no end"):
        asyncio.run(cluster.describe_topics())


def test_mistakes_of_the_caller() -> None:
    with pytest.raises(ValueError, match="no regular expression"):
        asyncio.run(Topics().list_topics(pattern="("))
    with pytest.raises(ValueError, match="a pattern chooses among all"):
        asyncio.run(Topics().describe_topics(["a"], pattern="b"))
    assert asyncio.run(Topics([Topic("a", [[1]])]).describe_topics([])) == []


def test_results_are_ready_for_json() -> None:
    cluster = Topics([Topic("a", [[1]], {"flush.ms": "1"})])
    [described] = asyncio.run(cluster.describe_topics(configs=True, authorized_operations=True))
    assert msgspec.json.decode(msgspec.json.encode(described)) == msgspec.to_builtins(described)
