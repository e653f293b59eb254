"""Requests that are refused for what they would cost, and the rows of those that cost little."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.create_acls_request import AclCreation
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.delete_acls_request import DeleteAclsFilter
from kafka_admin_proto.messages.elect_leaders_request import TopicPartitions
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_admin_proto.policies.altered import altered_list
from kafka_admin_proto.server.releases import RELEASES
from tests.server.handlers.samples import Resources, described, incremental
from tests.server.handlers.test_create_topics import create, topic
from tests.server.security.authorizer.test_apis import SECURED
from tests.server.served import Served

_TOO_MANY = "Unable to perform excessively large batch operation."


def test_a_resource_is_described_again_as_in_kafka() -> None:
    wanted: Resources = [(4, "1", None), (4, "1", ["log.dirs"]), (4, "01", None)]
    found = Served().ask(described(wanted))
    first, some, again = found.results
    assert [each.name for each in some.configs] == ["log.dirs"]
    assert (first.configs, again.resource_name) == (again.configs, "01")


def test_an_answer_has_ten_thousand_repeated_configs() -> None:
    wanted: Resources = [(4, "1", None)]
    rows = Served().ask(described(wanted * 100)).results
    full = [each for each in rows if not each.error_code]
    refused = rows[len(full) :]
    assert (len(full) - 1) * len(full[0].configs) <= 10_000 < len(full) * len(full[0].configs)
    assert {(each.error_code, each.error_message) for each in refused} == {
        (42, "The answer has 10000 configs of resources that it has described already. "
             "Name each once.")
    }  # fmt: skip


def test_groups_without_configs_count_as_one() -> None:
    wanted: Resources = [(32, f"g{number}", None) for number in range(2_000)]
    rows = Served().ask(described(wanted)).results
    assert [each.error_code for each in rows].count(42) > 1_000


def test_topics_are_described_however_many_they_are() -> None:
    served = Served()
    names = [f"t{number}" for number in range(400)]
    create(served, *map(topic, names))
    wanted: Resources = [(2, each, None) for each in names]
    rows = served.ask(described(wanted)).results
    assert {each.error_code for each in rows} == {0}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("count", "value", "code"),
    [(1_000, "x", 0), (1_001, "x", 40), (1_000, "x" * 2_000, 40), (10_001, "x", 40)],
)
def test_configs_that_kafka_does_not_define(
    release: str, count: int, value: str, code: int
) -> None:
    served = Served(release)
    change = incremental(4, "", [(f"plugin.{each}", 0, value) for each in range(count)])
    (row,) = served.ask(change).responses
    assert row.error_code == code
    if code:
        assert "does not define; at most 1000 of 1048576 characters are kept here." in (
            row.error_message
        )
    defined = incremental(4, "", [("log.retention.ms", 0, "100000")])
    assert served.ask(defined).responses[0].error_code == 0


@pytest.mark.parametrize("most", [10, pytest.param(10_000, marks=pytest.mark.explore)])
def test_a_request_makes_so_many_records(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka_admin_proto.server.configs.changes.MOST_RECORDS", most)
    served = Served()
    configs = [
        AlterableConfig(f"{kind}.session.timeout.ms", 0, "50000") for kind in ("consumer", "share")
    ]
    resources = [AlterConfigsResource(32, f"g{number}", configs) for number in range(most // 2 + 1)]
    unknown = AlterConfigsResource(99, "x")
    end = served.state.end_offset
    rows = served.ask(m.IncrementalAlterConfigsRequest([*resources, unknown])).responses
    assert {(each.error_code, each.error_message) for each in rows[:-1]} == {(44, _TOO_MANY)}
    assert rows[-1].error_code == 42
    assert served.state.end_offset == end
    rows = served.ask(m.IncrementalAlterConfigsRequest(resources[:-1])).responses
    assert {each.error_code for each in rows} == {0}


def _acls(count: int) -> m.CreateAclsRequest:
    return m.CreateAclsRequest(
        [AclCreation(2, f"t{number}", 3, "User:x", "*", 3, 3) for number in range(count)]
    )


@pytest.mark.exhaustive
def test_acls_of_one_request() -> None:
    served = Served(configs=SECURED)
    rows = served.ask(_acls(10_001)).results
    assert {(each.error_code, each.error_message) for each in rows} == {(44, _TOO_MANY)}
    assert {each.error_code for each in served.ask(_acls(10_000)).results} == {0}
    every = DeleteAclsFilter(1, None, 1, None, None, 1, 1)
    refused = served.ask(m.DeleteAclsRequest([every] * 2)).filter_results
    text = "Cannot remove more than 10000 acls in a single delete operation."
    assert [(each.error_code, each.error_message) for each in refused] == [(44, text)] * 2
    (row,) = served.ask(m.DeleteAclsRequest([every])).filter_results
    assert (row.error_code, len(row.matching_acls)) == (0, 10_000)


def test_a_text_has_as_much_of_a_name_as_a_topic_can_have() -> None:
    wanted = [TopicPartitions("x" * 250, [0]), TopicPartitions("y" * 249, [0])]
    rows = Served().ask(m.ElectLeadersRequest(0, wanted, 1000)).replica_election_results
    assert [row.partition_result[0].error_message for row in rows] == [
        f"No such topic as {'x' * 249}...", f"No such topic as {'y' * 249}",
    ]  # fmt: skip


def by_kip_4(wanted: list[CreatableTopic]) -> tuple[list[tuple[int, str | None]], int]:
    """The codes and texts of topics by KIP-4's rules, and the number of records."""
    served = Served()
    served.state.rules = "kip-4"
    before = served.state.end_offset
    found = served.ask(m.CreateTopicsRequest(wanted, 1000)).topics
    return [
        (each.error_code, each.error_message) for each in found
    ], served.state.end_offset - before


def test_kip_4_creates_ten_thousand_records() -> None:
    found, records = by_kip_4(
        [CreatableTopic(*each, 1) for each in (("a", 6_000), ("b", 6_000), ("c", 1))]
    )
    assert [code for code, _ in found] == [0, 44, 0]
    assert records == 6_003


def test_kip_4_names_some_repeated_topics() -> None:
    names = [f"t{number}" for number in range(12)] * 2
    found, _ = by_kip_4([CreatableTopic(each, 1, 1) for each in names])
    named = ", ".join(names[:10])
    assert found[0] == (42, f"Topics are named more than once: {named}, ...")


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        ("[\u4e00-\u9fa5]", 0), (r"[\u4e00-\u9fa5]", 0), (r"\\u4e00", 0), ("[\u4e00", 40),
        ("(" * 9_000, 40), ("a{99999999999999999999}", 40),
    ],
)  # fmt: skip
def test_patterns_of_client_metrics(pattern: str, code: int) -> None:
    change = incremental(16, "m", [("match", 0, f"client_id={pattern}")])
    (row,) = Served().ask(change).responses
    assert row.error_code == code


_ITEMS = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=6).map(",".join)


@given(_ITEMS, st.booleans(), _ITEMS)
def test_lists_change_item_by_item(old: str, appends: bool, value: str) -> None:
    items: Sequence[str] = [item for item in old.split(",") if item]
    for item in value.split(","):
        if appends and item not in items:
            items = [*items, item]
        elif not appends and item in items:
            place = items.index(item)
            items = [*items[:place], *items[place + 1 :]]
    assert altered_list(old, value, appends=appends) == ",".join(items)
