"""What a real node that started again keeps of deleted topics is known by node and topic."""

from __future__ import annotations

import pytest

from tests.server.differential.outages import FormerConfigs

_LINE = (
    "node 2: DescribeConfigsResponse.results[a.b].configs[min.insync.replicas].value: '2' and '1'"
)


@pytest.fixture
def former() -> FormerConfigs:
    """Node 2 has started behind the end of `a.b`."""
    found = FormerConfigs()
    found.start(1, ["a.b"])
    return found


def test_configs_of_a_deleted_topic_are_explained(former: FormerConfigs) -> None:
    assert former.explain(_LINE)


@pytest.mark.parametrize(
    "line",
    [
        _LINE.replace("node 2", "node 1"),
        _LINE.replace("[a.b]", "[a]"),
        _LINE.replace("[a.b]", "[2]"),
        "node 2: MetadataResponse.topics[a.b].is_internal: True and False",
    ],
)
def test_others_are_not(former: FormerConfigs, line: str) -> None:
    assert not former.explain(line)


def test_they_go_with_the_next_topic_of_the_name(former: FormerConfigs) -> None:
    former.delete(["a.b"])
    assert not former.explain(_LINE)


def test_a_start_before_a_deletion_has_none_left(former: FormerConfigs) -> None:
    former.start(1, [])
    assert not former.explain(_LINE)
