"""Configs set and described: what releases answer unlike each other."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_admin_proto.messages import DescribeConfigsRequest, IncrementalAlterConfigsRequest
from kafka_admin_proto.messages.describe_configs_request import DescribeConfigsResource
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_admin_proto.protocol.codes import INVALID_CONFIG
from kafka_admin_proto.server.configs.definitions import definitions
from kafka_admin_proto.server.releases import RELEASES, ReleaseNumber
from tests.server.handlers.test_create_topics import create, topic
from tests.server.served import Served

TOPIC, BROKER, LOGGERS, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32


def set_config(served: Served, kind: int, resource: str, name: str, value: str) -> tuple[int, str]:
    """(code, message) of one config set."""
    row = AlterConfigsResource(kind, resource, [AlterableConfig(name, 0, value)])
    (found,) = served.ask(IncrementalAlterConfigsRequest([row])).responses
    return found.error_code, found.error_message or ""


def described(
    served: Served, kind: int, name: str, keys: list[str] | None = None, *, documented: bool = False
) -> list[Any]:
    """The configs of one resource."""
    resources = [DescribeConfigsResource(kind, name, keys)]
    request = DescribeConfigsRequest(resources, include_documentation=documented)
    (found,) = served.ask(request).results
    rows: list[Any] = found.configs
    return rows


def test_subscriptions_of_3_9_have_no_types_and_are_given_whole() -> None:
    served = Served("3.9")
    assert set_config(served, CLIENT_METRICS, "one", "metrics", "*") == (0, "")
    (row,) = described(served, CLIENT_METRICS, "one", ["match"])
    assert (row.name, row.value, row.config_type, row.documentation) == ("metrics", "*", 0, "")


def test_subscriptions_of_4_3_have_types_and_defaults() -> None:
    served = Served("4.3")
    assert set_config(served, CLIENT_METRICS, "one", "metrics", "*") == (0, "")
    (row,) = described(served, CLIENT_METRICS, "one", ["match"])
    assert (row.name, row.value, row.config_type, row.documentation) == ("match", "", 7, None)


def test_subscriptions_of_4_3_are_described_as_parsed() -> None:
    """4.3.1, asked on 2026-11-23."""
    served = Served("4.3")
    for name, value, shown in (
        ("metrics", " ", ""), ("metrics", "a,a", "a"), ("interval.ms", " 100 ", "100"),
        ("interval.ms", "+200", "200"),
    ):  # fmt: skip
        assert set_config(served, CLIENT_METRICS, "one", name, value) == (0, "")
        assert described(served, CLIENT_METRICS, "one", [name])[0].value == shown


@pytest.mark.parametrize("release", RELEASES)
def test_lists_drop_repeated_items_where_kafka_does(release: str) -> None:
    """``ConfigDef.parseValue`` of 4.x drops those of lists with a ValidList, and of no others."""
    served = Served(release)
    create(served, topic("t"))
    for name, value, in_4 in (
        ("cleanup.policy", "delete,delete", "delete"),
        ("leader.replication.throttled.replicas", "0:1,0:1", "0:1,0:1"),
    ):
        assert set_config(served, TOPIC, "t", name, value) == (0, "")
        shown = described(served, TOPIC, "t", [name])[0].value
        assert shown == (value if release == "3.9" else in_4)


@pytest.mark.parametrize("release", RELEASES)
def test_quotas_of_replication_are_set_while_brokers_run(release: str) -> None:
    served = Served(release)
    name = "leader.replication.throttled.rate"
    refused = f"Invalid value x for configuration {name}: Not a number of type LONG"
    assert set_config(served, BROKER, "", name, "x") == (42, refused)
    assert set_config(served, BROKER, "", name, "5") == (0, "")


@pytest.mark.parametrize(
    ("version", "known"),
    [("2.8", True), ("0.10.0", True), ("3.0-IV1", True), ("3.0-IV1.x", True), ("0.1", False),
     ("0.10", False), ("", False), ("5.0", False)],
)  # fmt: skip
def test_versions_of_message_formats(version: str, *, known: bool) -> None:
    served = Served("3.9")
    create(served, topic("a"))
    name = "message.format.version"
    code, text = set_config(served, TOPIC, "a", name, version)
    assert code == (0 if known else 40)
    assert known or text.endswith(f" {name}: Version {version} is not a valid version")


@pytest.mark.parametrize("release", RELEASES)
def test_levels_of_gzip(release: str) -> None:
    found = create(Served(release), topic("a", compression_gzip_level="10"))
    text = "Invalid value 10 for configuration compression.gzip.level: Value must be between 1 and"
    assert found[0][1] == 40
    assert found[0][2].startswith(text)


@pytest.mark.parametrize("value", ["x", " 100 ", "", "2147483648"])
def test_an_interval_that_is_no_number_breaks_3_9(value: str) -> None:
    served = Served("3.9")
    assert set_config(served, CLIENT_METRICS, "one", "interval.ms", value) == (-1, "")


@pytest.mark.parametrize("release", RELEASES)
def test_an_empty_pattern_is_one_in_3_9(release: str) -> None:
    found = set_config(Served(release), CLIENT_METRICS, "one", "match", "")
    refused = (40, "Illegal client matching pattern: ")
    assert found == (refused if release == "3.9" else (0, ""))


def test_no_config_is_a_default_in_version_0() -> None:
    served = Served("3.9")
    create(served, topic("a"))
    request = DescribeConfigsRequest(
        [DescribeConfigsResource(TOPIC, "a"), DescribeConfigsResource(BROKER, "1")]
    )
    results = served.ask(request, 0).results
    assert not any(row.is_default for result in results for row in result.configs)


@pytest.mark.parametrize(
    ("release", "kind", "text"),
    [
        ("4.3", BROKER, "Unexpected broker id, expected 1, but received 9"),
        ("4.3", LOGGERS, "Unexpected node id. Expected 1, but received 9"),
        ("3.9", LOGGERS, "Unexpected node id. Expected 1, but received 1"),
    ],
)
def test_configs_of_another_node(release: str, kind: int, text: str) -> None:
    assert set_config(Served(release), kind, "9", "root", "INFO") == (42, text)


@pytest.mark.parametrize(
    ("release", "text"),
    [
        ("4.3", "Configuration 'cleanup.policy' values must not be empty."),
        (
            "3.9",
            "Invalid value  for configuration cleanup.policy: String must be one of: compact, "
            "delete",
        ),
    ],
)
def test_an_empty_item_of_a_list(release: str, text: str) -> None:
    served = Served(release)
    create(served, topic("a"))
    assert set_config(served, TOPIC, "a", "cleanup.policy", "delete,") == (40, text)


@pytest.mark.parametrize(("release", "listed"), [("4.3", "[{}]"), ("3.9", "HashSet({})")])
def test_a_secured_config_without_a_listener(release: str, listed: str) -> None:
    name = "ssl.keystore.password"
    text = "These security configs can be dynamically updated only per-listener using the listener "
    found = set_config(Served(release), BROKER, "1", name, "x")
    assert found == (42, f"{text}prefix: {listed.format(name)}")


def test_threads_grow_back_by_double_at_most() -> None:
    served = Served()
    for count in ("4", "2"):
        assert set_config(served, BROKER, "1", "num.io.threads", count) == (0, "")
    row = AlterConfigsResource(BROKER, "1", [AlterableConfig("num.io.threads", 1, None)])
    (found,) = served.ask(IncrementalAlterConfigsRequest([row])).responses
    text = "for num.io.threads=8, value should not be greater than double the current value 2"
    assert found.error_code == 42
    assert text in found.error_message


@pytest.mark.parametrize(
    ("release", "answer"), [("4.3", (40, "Unknown config name: nope")), ("3.9", (-1, None))]
)
def test_an_unknown_config_appended_to_a_broker(
    release: str, answer: tuple[int, str | None]
) -> None:
    row = AlterConfigsResource(BROKER, "1", [AlterableConfig("nope", 2, "1")])
    (found,) = Served(release).ask(IncrementalAlterConfigsRequest([row])).responses
    assert (found.error_code, found.error_message) == answer


def test_configs_of_a_listener_are_defined_as_those_of_all() -> None:
    secret, mechanisms = "plain.sasl.jaas.config", "sasl.enabled.mechanisms"
    prefix = "listener.name.sasl."
    served = Served(configs={f"{prefix}{secret}": "x", f"{prefix}{mechanisms}": "PLAIN"})
    rows = {row.name: row for row in described(served, 4, "1")}
    row = rows[f"{prefix}{secret}"]
    assert (row.config_type, row.is_sensitive, row.value) == (9, True, None)
    row = rows[f"{prefix}{mechanisms}"]
    assert (row.config_type, row.is_sensitive, row.value) == (7, False, "PLAIN")


@pytest.mark.parametrize(
    ("taken", "texts"),
    [
        (True, "PT1H pt1h P1D PT0S PT1.5S PT1,5S PT1.S P-1DT25H -PT-1S +P1D P1DT1M"),
        (False, "P PT -PT1H PT-1H PxT P1Y PT1.5H P1DT PT1M1H P99999999999999999D PT.5S PT-0.1S"),
        (False, "PT0.1234567891S H P\u0661D"),
        (False, f"P{'9' * 5000}D PT-{'9' * 5000}S"),
    ],
)
def test_durations_are_those_of_java(taken: bool, texts: str) -> None:
    """ShareGroupAutoOffsetResetStrategy.fromString of 4.3.1, which parses by Duration.parse."""
    served = Served("4.3")
    for text in ("", *texts.split()) if not taken else texts.split():
        value = f"by_duration:{text}"
        code, _ = set_config(served, GROUP, "g", "share.auto.offset.reset", value)
        assert (code == 0) is taken, value


@pytest.mark.parametrize("value", ["BY_DURATION:PT1H", "by_duration", "none", "EARLIEST", "PT1H"])
def test_other_places_to_begin_at_are_refused(value: str) -> None:
    code, said = set_config(Served("4.3"), GROUP, "g", "share.auto.offset.reset", value)
    assert (code, said.partition(" for")[0]) == (40, f"Invalid value {value}")


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    "name", ["listeners", "advertised.listeners", "listener.security.protocol.map", "broker.rack"]
)
def test_what_the_start_decides_is_not_changed(release: str, name: str) -> None:
    """It would be described, and clients would get the addresses of the start nevertheless."""
    code, said = set_config(Served(release), BROKER, "1", name, "PLAINTEXT://other:9092")
    assert (code, said.partition(":")[0]) == (42, "Cannot update these configs dynamically")


@pytest.mark.parametrize(("release", "listed"), [("4.4", "[{}]"), ("3.9", "Set({})")])
@pytest.mark.parametrize(
    ("name", "is_refused"),
    [
        ("listeners", True),
        ("listener.security.protocol.map", True),
        ("sasl.enabled.mechanisms", True),
        ("listener.name.tls.ssl.keystore.location", True),
        ("listener.name.tls.of.a.plugin", True),
        ("listener.name.tls.max.connections", False),
        ("max.connections", False),
    ],
)
def test_configs_of_a_single_broker_are_not_those_of_all(
    release: str, listed: str, name: str, is_refused: bool
) -> None:
    """Texts of real brokers of 4.4.0."""
    text = "Cannot update these configs at default cluster level, broker id must be specified: "
    found = set_config(Served(release), BROKER, "", name, "1")
    assert found == ((42, text + listed.format(name)) if is_refused else (0, ""))


def test_each_bound_of_the_broker_holds_for_configs_of_groups() -> None:
    """Texts of ``GroupConfig.validateValues`` of 4.3.1."""
    known = definitions(ReleaseNumber(4, 3))
    bounds = [
        (kind, word, bound, config)
        for kind in ("consumer", "share", "streams")
        for word in ("min", "max")
        for bound in known.brokers
        if (rest := bound.removeprefix(f"group.{kind}.{word}.")) != bound
        for config in (f"{kind}.{rest}", f"{kind}.num.{rest}")
        if config in known.groups
    ]
    assert len(bounds) == 25
    for _, word, bound, config in bounds:
        own = known.groups[config].default
        assert own is not None
        step, how = (1, "greater") if word == "min" else (-1, "less")
        served = Served("4.3", configs={bound: str(int(own) + step)})
        text = f"{config} must be {how} than or equal to {bound}"
        assert set_config(served, GROUP, "g", config, own) == (INVALID_CONFIG, text)
        assert set_config(Served("4.3", configs={bound: own}), GROUP, "g", config, own) == (0, "")


@pytest.mark.parametrize("kind", ["consumer", "share", "streams"])
def test_what_a_group_does_not_set_it_has_from_the_broker(kind: str) -> None:
    session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
    most = {f"group.{kind}.max.heartbeat.interval.ms": "60000"}
    text = f"{session} must be greater than {heartbeat}"
    refused = set_config(Served(configs=most), GROUP, "g", heartbeat, "46000")
    assert refused == (INVALID_CONFIG, text)
    served = Served(configs={**most, f"group.{session}": "50000"})
    assert set_config(served, GROUP, "g", heartbeat, "46000") == (0, "")
    assert set_config(served, GROUP, "g", session, "46000") == (INVALID_CONFIG, text)


def test_an_assignment_interval_that_a_group_does_not_set_is_not_bounded() -> None:
    served = Served(configs={"group.consumer.min.assignment.interval.ms": "2000"})
    assert set_config(served, GROUP, "g", "consumer.session.timeout.ms", "50000") == (0, "")


@pytest.mark.parametrize("release", ["4.4", "4.3"])
def test_each_config_is_documented_where_that_is_asked_for(release: str) -> None:
    """As of 4.3.1: of its brokers' configs, those have none that Kafka does not define."""
    unknown, of_listener = "super.man", "listener.name.external.ssl.key.password"
    served = Served(release, configs={unknown: "x"})
    create(served, topic("a"))
    assert set_config(served, BROKER, "1", of_listener, "x") == (0, "")
    for kind, name in ((TOPIC, "a"), (BROKER, "1"), (CLIENT_METRICS, "m"), (GROUP, "g")):
        assert {row.documentation for row in described(served, kind, name)} == {None}
        rows = described(served, kind, name, documented=True)
        bare = {row.name for row in rows if not row.documentation}
        assert bare == ({unknown, of_listener} if kind == BROKER else set())


def test_documentation_has_the_values_and_the_default() -> None:
    served = Served("4.4")
    create(served, topic("a"))
    rows = {row.name: row for row in described(served, TOPIC, "a", documented=True)}
    words = {name: rows[name].documentation for name in ("retention.ms", "cleanup.policy")}
    assert words == {
        "retention.ms": "A value of type LONG, at least -1; 604800000 by default.",
        "cleanup.policy": "A value of type LIST, of compact, delete; delete by default.",
    }
