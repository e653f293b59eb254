"""Topologies of streams groups beside the topics that there are, in the order of Kafka's tables.

What is expected is what a real broker has answered.
"""

from __future__ import annotations

import pytest

from kafka_admin_proto.messages.streams_group_heartbeat_request import (
    CopartitionGroup,
    Subtopology,
    TopicInfo,
    Topology,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.streams.topology import Configured, configure, topology_value

_TOPICS = {"a3": 3, "b3": 3, "c5": 5, "d1": 1, "e2": 2}


def _configured(*subtopologies: Subtopology) -> Configured:
    return configure(topology_value(Topology(0, [*subtopologies])), _TOPICS.get)


def _between(*names: str) -> list[TopicInfo]:
    return [TopicInfo(each) for each in names]


def test_subtopologies_have_their_turn_in_the_order_of_a_table() -> None:
    """Both write to r1, which gets its partitions from the one that comes first there."""
    found = _configured(
        Subtopology("3", ["d1"], [], [TopicInfo("c0")], ["r1", "r2"], _between("r1")),
        Subtopology("1", ["b3"], [], [], ["r2", "r0", "r1"], _between("r2")),
    )
    assert {name: each.partitions for name, each in found.missing.items()} == {
        "r1": 3, "r2": 3, "c0": 3,
    }  # fmt: skip


def test_of_changelogs_named_twice_the_last_in_the_table_counts() -> None:
    """Ids of one hash stay in the order in which they came."""
    for ids, partitions in ((("1", "0"), 3), (("BB", "Aa"), 1), (("Aa", "BB"), 1)):
        found = _configured(
            Subtopology(ids[0], ["b3"], [], [TopicInfo("c0")]),
            Subtopology(ids[1], ["d1"], [], [TopicInfo("c0")]),
        )
        assert found.missing["c0"].partitions == partitions, ids


def test_the_first_topic_that_does_not_fit_is_named() -> None:
    """The two have one place in the table, in which the input of the subtopology stands first."""
    found = _configured(Subtopology("0", ["c5"], [], [TopicInfo("d1")], ["e2"], _between("e2")))
    assert found.problem == (
        2, "Existing topic e2 has different number of partitions: expected 5, found 2",
    )  # fmt: skip


def test_sinks_get_the_most_partitions_of_the_inputs_that_are_known_by_then() -> None:
    """Subtopology 1 does not wait for r3, which is found in the next round."""
    found = _configured(
        Subtopology("1", ["d1"], [], [], ["r1"], _between("r3")),
        Subtopology("2", [], [], [], ["r3"], _between("r2")),
        Subtopology("3", ["c5"], [], [], ["r2"], _between("r1")),
    )
    assert {name: each.partitions for name, each in found.missing.items()} == {
        "r1": 1, "r2": 5, "r3": 5,
    }  # fmt: skip


def test_a_loop_has_no_partitions() -> None:
    with pytest.raises(ApiFailure, match="There may be loops") as caught:
        _configured(
            Subtopology("0", ["a3"], [], [], ["r0"]),
            Subtopology("1", [], [], [], ["r1"], _between("r2", "r0")),
            Subtopology("2", [], [], [], ["r3"], _between("r4")),
            Subtopology("3", [], [], [], ["r4"], _between("r3")),
        )
    assert caught.value.code == codes.STREAMS_INVALID_TOPOLOGY


def test_sources_alone_are_copartitioned_too() -> None:
    found = _configured(Subtopology("0", ["a3", "c5"], [], [], [], [], [CopartitionGroup([0, 1])]))
    assert found.problem == (
        2, "Following topics do not have the same number of partitions: [{a3=3, c5=5}]",
    )  # fmt: skip
