"""Configs and quotas are listed in the order of a broker's maps: tests of clients compare lists."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from kafka_admin_proto.messages import (
    AlterClientQuotasRequest,
    CreateTopicsRequest,
    DescribeClientQuotasRequest,
    DescribeConfigsRequest,
    IncrementalAlterConfigsRequest,
)
from kafka_admin_proto.messages import alter_client_quotas_request as quotas
from kafka_admin_proto.messages.create_topics_request import CreatableTopicConfig
from kafka_admin_proto.messages.describe_client_quotas_request import ComponentData
from kafka_admin_proto.messages.describe_configs_request import DescribeConfigsResource
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from tests.server.configs.test_configs import BROKER, CLIENT_METRICS, GROUP, TOPIC, described
from tests.server.differential.wire import Nodes
from tests.server.groups.stories import beside
from tests.server.handlers.test_create_topics import create, topic
from tests.server.releases import real_releases
from tests.server.served import Served
from tools.clusters import Cluster
from tools.kafka_releases import LAST_WITH_ZOOKEEPER

_KEYS = (
    "producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate",
)  # fmt: skip
_PATIENCE_S = 20.0
_STEPS = 40


@pytest.mark.parametrize("release", ["4.4", "4.3", "3.9"])
def test_configs_of_a_topic(release: str) -> None:
    """However they are asked for; two of them are of one place, where 3.9 has another order."""
    served = Served(release)
    create(served, topic("orders"))
    expected = ["cleanup.policy", "segment.bytes", "retention.ms"]
    of_one_place = ["index.interval.bytes", "min.cleanable.dirty.ratio"]
    expected += reversed(of_one_place) if release == "3.9" else of_one_place
    found = [each.name for each in described(served, TOPIC, "orders", sorted(expected))]
    assert found == expected


def test_configs_that_kafka_does_not_define_come_first() -> None:
    served = Served(configs={"my.own": "1"})
    assert [each.name for each in described(served, BROKER, "1")][:2] == [
        "my.own",
        "log.cleaner.min.compaction.lag.ms",
    ]


def test_quotas_of_one_request() -> None:
    served = Served()
    ops = [quotas.OpData(each, 1000.0) for each in _KEYS[:3]]
    for whom in ([("user", "User1")], [("user", "User1"), ("client-id", "Client1")]):
        row = quotas.EntryData([quotas.EntityData(*each) for each in whom], ops)
        served.ask(AlterClientQuotasRequest([row]))
    response = served.ask(DescribeClientQuotasRequest([ComponentData("user", 0, "User1")]))
    assert [[each.entity_type for each in row.entity] for row in response.entries] == [
        ["user"],
        ["client-id", "user"],
    ]
    for row in response.entries:
        assert [each.key for each in row.values] == [_KEYS[1], _KEYS[2], _KEYS[0]]


def test_quotas_of_an_entity_that_had_all_four() -> None:
    """Its map stays as large, with the order of then where two share a place."""
    served = Served()
    entity = [quotas.EntityData("user", "u")]
    for key in (_KEYS[2], _KEYS[0], _KEYS[1], _KEYS[3]):
        ops = [quotas.OpData(key, 1.0)]
        served.ask(AlterClientQuotasRequest([quotas.EntryData(entity, ops)]))
    ops = [quotas.OpData(_KEYS[1], 0.0, True)]
    served.ask(AlterClientQuotasRequest([quotas.EntryData(entity, ops)]))
    (row,) = served.ask(DescribeClientQuotasRequest([])).entries
    assert [each.key for each in row.values] == [_KEYS[3], _KEYS[0], _KEYS[2]]


@pytest.mark.exhaustive
@pytest.mark.parametrize("release", real_releases("broker"))
def test_configs_as_a_real_broker(release: str, one_broker: Callable[[str], Cluster]) -> None:
    real = one_broker(release)
    with beside(real) as ours, Nodes(real.bootstrap) as theirs, Nodes(ours) as own:
        rows = [topic("in-order")]
        rows[0].configs = [
            CreatableTopicConfig("retention.ms", "1"), CreatableTopicConfig("flush.ms", "1"),
        ]  # fmt: skip
        changed = [
            AlterConfigsResource(CLIENT_METRICS, "m", [AlterableConfig("metrics", 0, "*")]),
            AlterConfigsResource(
                BROKER,
                "",
                [
                    AlterableConfig(name, 0, "2")
                    for name in ("num.io.threads", "log.cleaner.threads", "background.threads")
                ],
            ),
        ]
        kinds = [(TOPIC, "in-order"), (BROKER, "1"), (BROKER, ""), (CLIENT_METRICS, "m")]
        if release != LAST_WITH_ZOOKEEPER:
            kinds.append((GROUP, "g"))
        for side in (theirs, own):
            side.ask(0, CreateTopicsRequest(rows, 10_000), 5)
            side.ask(0, IncrementalAlterConfigsRequest(changed), 1)
        try:
            wanted = _configs(own, kinds)
            assert _until(partial(_configs, theirs, kinds), wanted) == wanted
        finally:
            for resource in changed:
                for each in resource.configs:
                    each.config_operation, each.value = 1, None
            theirs.ask(0, IncrementalAlterConfigsRequest(changed), 1)


def _configs(side: Nodes, kinds: list[tuple[int, str]]) -> list[list[str]]:
    asked = [DescribeConfigsResource(kind, name, None) for kind, name in kinds]
    answer = side.ask(0, DescribeConfigsRequest(asked), 4)
    return [[each.name for each in row.configs] for row in answer.results]


@pytest.mark.exhaustive
@pytest.mark.parametrize("release", real_releases("broker"))
def test_quotas_as_a_real_broker(release: str, one_broker: Callable[[str], Cluster]) -> None:
    """Entities that come, change and go, one request after another."""
    real, drawn = one_broker(release), random.Random(7)
    with beside(real) as ours, Nodes(real.bootstrap) as theirs, Nodes(ours) as own:
        there: dict[tuple[tuple[str, str | None], ...], set[str]] = {}
        for _ in range(_STEPS):
            _alter([theirs, own], drawn, there)
            for components in (
                [], [ComponentData("user", 2, None)], [ComponentData("user", 0, "u1")],
                [ComponentData("client-id", 1, None), ComponentData("user", 2, None)],
                [ComponentData("client-id", 0, "c"), ComponentData("user", 0, "u1")],
            ):  # fmt: skip
                request = DescribeClientQuotasRequest(components)
                wanted = own.ask(0, request, 1)
                assert _until(partial(theirs.ask, 0, request, 1), wanted) == wanted, components
        rows = [
            quotas.EntryData(
                [quotas.EntityData(*each) for each in entity],
                [quotas.OpData(each, 0.0, True) for each in keys],
            )
            for entity, keys in there.items()
        ]
        removal = AlterClientQuotasRequest(rows)
        real_answer, our_answer = (each.ask(0, removal, 1) for each in (theirs, own))
        assert len(rows) > 12
        assert real_answer == our_answer


def _alter(
    sides: list[Nodes],
    drawn: random.Random,
    there: dict[tuple[tuple[str, str | None], ...], set[str]],
) -> None:
    """Set and remove some quotas of an entity."""
    if there and drawn.random() < 0.4:
        entity = drawn.choice(list(there))
        chosen = drawn.sample(_KEYS, drawn.randint(1, 3))
        gone = there[entity].intersection(chosen[:2])
        ops = [quotas.OpData(each, 1.0, each in gone) for each in chosen]
        there[entity] = (there[entity] | set(chosen)) - gone
        if not there[entity]:
            del there[entity]
    else:
        names = drawn.choice((["user"], ["client-id"], ["user", "client-id"]))
        entity = tuple(
            (each, drawn.choice((None, each[0], f"{each[0]}{drawn.randrange(12)}")))
            for each in sorted(names)
        )
        ops = [
            quotas.OpData(each, float(drawn.randint(1, 9)))
            for each in drawn.sample(_KEYS, drawn.randint(1, 4))
        ]
        there.setdefault(entity, set()).update(each.key for each in ops)
    row = quotas.EntryData([quotas.EntityData(*each) for each in entity], ops)
    answers = [each.ask(0, AlterClientQuotasRequest([row]), 1) for each in sides]
    assert [[each.error_code for each in answer.entries] for answer in answers] == [[0], [0]]


def _until(ask: Callable[[], Any], wanted: Any) -> Any:
    """An answer as soon as the broker has heard of a change; the last one if it never does."""
    end = time.monotonic() + _PATIENCE_S
    while (found := ask()) != wanted and time.monotonic() < end:
        pass
    return found
