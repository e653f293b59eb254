"""Results with errors as an exception, wherever in the results they are."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from msgspec import Struct

from kafka_admin_proto import admin
from kafka_admin_proto.admin import (
    AclFilter,
    AlteredConfigs,
    BrokerFailure,
    CreatedPartitions,
    CreatedTopic,
    DeletedAcls,
    DeletedTopic,
    GroupListing,
    ItemsFailedError,
    ListedOffset,
    PartitionDescription,
    PartitionResult,
    RemovedMember,
    ResourceConfigs,
    TopicDescription,
    raise_for_errors,
)

#: Every class of results that may have an error.
RESULTS = [
    each
    for each in (getattr(admin, name) for name in dir(admin))
    if isinstance(each, type) and issubclass(each, Struct) and "error" in each.__struct_fields__
]

_PARTITION = PartitionDescription(
    partition=3, leader=None, leader_epoch=None, replicas=[], isr=[], offline=[], error="X"
)


def test_results_without_errors_are_returned() -> None:
    results = [CreatedTopic(name="a"), CreatedTopic(name="b", complete=False)]
    assert raise_for_errors(results) is results
    assert raise_for_errors({("a", 0): 1}) == {("a", 0): 1}
    assert raise_for_errors(None) is None


@pytest.mark.parametrize(
    ("results", "sentence"),
    [
        (CreatedTopic(name="a", error="E"), "1 item failed: a: E"),
        ([CreatedTopic(name="a"), CreatedTopic(name="b", error="E", message="why")],
         "1 item failed: b: E: why"),
        ([ListedOffset(topic="t", partition=2, offset=None, error="E")] * 12,
         "12 items failed: t partition 2: E; "),
        (GroupListing([], [BrokerFailure(2, "E", "gone")]), "1 item failed: 2: E: gone"),
        ([TopicDescription(name="a", partitions=[_PARTITION])], "1 item failed: 3: X"),
        ([DeletedAcls(AclFilter(), error="E")], "1 item failed: AclFilter"),
        ([CreatedPartitions(topic="a", count=3, error="E", message="why")],
         "1 item failed: a: E: why"),
        ([AlteredConfigs(type="topic", name="a", error="E")], "1 item failed: topic a: E"),
        ([ResourceConfigs(type="broker", name="", error="E")],
         "1 item failed: broker <default>: E"),
        ([DeletedTopic(name=None, topic_id="AA", error="E")], "1 item failed: AA: E"),
        ([TopicDescription(name=None, topic_id="AA", error="E")], "1 item failed: AA: E"),
        ([RemovedMember(member_id="", instance_id="i", error="E")], "1 item failed: i: E"),
        ({"a": CreatedTopic(name="a", error="E")}.values(), "1 item failed: a: E"),
        ({PartitionResult(topic="t", partition=0, error="E")}, "1 item failed: t partition 0: E"),
    ],
)  # fmt: skip
def test_errors_are_raised(results: object, sentence: str) -> None:
    with pytest.raises(ItemsFailedError) as caught:
        raise_for_errors(results)
    assert str(caught.value).startswith(sentence)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert all(each.error for each in caught.value.failed)


@pytest.mark.parametrize("kind", RESULTS, ids=lambda each: each.__name__)
def test_every_result_says_what_failed(kind: type[Struct]) -> None:
    names = kind.__struct_fields__
    values: dict[str, Any] = {name: f"the {name}" for name in names}
    with pytest.raises(ItemsFailedError) as caught:
        raise_for_errors([kind(**values)])
    item = next(name for name in ("name", names[0]) if name in names)
    said = str(caught.value)
    assert said.endswith(": the error: the message")
    assert f"the {item}" in said.removesuffix(": the error: the message")
    assert ("partition the partition" in said) == ({"topic", "partition"} <= set(names))


def test_what_is_read_only_once_is_refused() -> None:
    failed = CreatedTopic(name="a", error="E")
    with pytest.raises(TypeError, match="results: a generator is read only once; list it"):
        raise_for_errors(each for each in [failed])
