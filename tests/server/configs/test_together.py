"""Configs that contradict each other: no node starts with them, and no change leads there."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.protocol.codes import INVALID_REQUEST
from kafka_admin_proto.server.configs.definitions import definitions
from kafka_admin_proto.server.configs.given import checked_configs
from kafka_admin_proto.server.releases import ReleaseNumber
from tests.helpers.java_tool import JavaTool
from tests.server.configs.test_configs import BROKER, set_config
from tests.server.served import Served
from tools.oracles.jars import fetch_runtime

_TOOL = Path(__file__).parents[2] / "java" / "BrokerConfigs.java"
_START = "Kafka's brokers do not start with these configs: "
_Given = dict[str, str | float | bool]
#: What Kafka 4.3.1 says of configs, and what 3.9.2 says (None: it takes them).
#: What 4.4 refuses and older releases do not know.
_SINCE_4_4: list[tuple[_Given, str]] = [
    (
        {"group.streams.task.offset.interval.ms": 14999},
        "group.streams.task.offset.interval.ms must be greater than or equal to "
        "group.streams.min.task.offset.interval.ms",
    ),
    (
        {"group.streams.num.warmup.replicas": 21},
        "group.streams.num.warmup.replicas must be less than or equal to "
        "group.streams.max.warmup.replicas",
    ),
    (
        {"group.streams.rack.aware.assignment.tags": "a , b,a"},
        "group.streams.rack.aware.assignment.tags must not contain duplicate tag keys.",
    ),
]
_REFUSED: list[tuple[_Given, str | None, str | None]] = [
    (
        {"group.consumer.max.session.timeout.ms": "44000"},
        "group.consumer.max.session.timeout.ms must be greater than or equal to "
        "group.consumer.min.session.timeout.ms",
        "group.consumer.max.session.timeout.ms must be greater than or equals to "
        "group.consumer.min.session.timeout.ms",
    ),
    (
        {"group.share.heartbeat.interval.ms": 9000, "group.share.session.timeout.ms": 9000,
         "group.share.min.session.timeout.ms": 9000},
        "group.share.heartbeat.interval.ms must be less than group.share.session.timeout.ms",
        None,
    ),
    (
        {"group.consumer.assignment.interval.ms": 15001},
        "group.consumer.assignment.interval.ms must be less than or equal to "
        "group.consumer.max.assignment.interval.ms",
        None,
    ),
    (
        {"group.coordinator.rebalance.protocols": "consumer"},
        "Disabling the 'classic' protocol is not supported.",
        "Disabling the 'classic' protocol is not supported.",
    ),
    (
        {"log.cleaner.threads": 129},
        "log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread.",
        "log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread.",
    ),
    (
        {"log.roll.jitter.ms": -1},
        "log.roll.jitter.ms must be greater than or equal to 0",
        "log.roll.jitter.ms must be greater than or equal to 0",
    ),
    (
        {"queued.max.request.bytes": 100},
        "queued.max.request.bytes must be larger or equal to socket.request.max.bytes",
        "queued.max.request.bytes must be larger or equal to socket.request.max.bytes",
    ),
    (
        {"max.connections.per.ip": 0},
        "max.connections.per.ip can be set to zero only if max.connections.per.ip.overrides "
        "property is set.",
        "max.connections.per.ip can be set to zero only if max.connections.per.ip.overrides "
        "property is set.",
    ),
    (
        {"connections.max.idle.ms": 100},
        "connection.failed.authentication.delay.ms=100 should always be less than "
        "connections.max.idle.ms=100 to prevent failed authentication responses from timing out",
        "connection.failed.authentication.delay.ms=100 should always be less than "
        "connections.max.idle.ms=100 to prevent failed authentication responses from timing out",
    ),
    (
        {"offsets.commit.required.acks": 2, "offsets.topic.replication.factor": 1},
        None,
        "offsets.commit.required.acks must be greater or equal to -1 and less or equal to "
        "offsets.topic.replication.factor",
    ),
]  # fmt: skip
_ASSIGNOR = "org.apache.kafka.coordinator.group.assignor"
_STREAMS_ASSIGNOR = "org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor"
#: Values that Kafka reads at the start alone: those that it takes, and those that it refuses.
_READ_AT_START: dict[str, tuple[list[str], list[str]]] = {
    "offsets.topic.compression.codec": (["0", "4"], ["-1", "5"]),
    "max.connections.per.ip.overrides": (
        ["", ",", ":3", "a:1:2", "::1:5", "a:1,", " a : +5 , b:-1 ", "nosuch.invalid:3"],
        ["a", "a:", "a:x", "a:1.0", "a:2147483648", "a:1,,b:2", "[::1]:5", "a b:5", "a/b:1"],
    ),
    "early.start.listeners": (
        ["", "PLAINTEXT", "CONTROLLER,PLAINTEXT"], ["x", "plaintext", "CONTROLLER,x"],
    ),
}  # fmt: skip
_READ_AT_START_4: dict[str, tuple[list[str], list[str]]] = {
    "share.coordinator.state.topic.compression.codec": (["0", "4"], ["-1", "5"]),
    "group.consumer.assignors": (
        ["range", " uniform ", f"range,{_ASSIGNOR}.UniformAssignor"],
        ["RANGE", "x", "range,x", "simple", f"{_ASSIGNOR}.SimpleAssignor", "java.lang.String"],
    ),
    "group.share.assignors": (
        ["simple", f"{_ASSIGNOR}.SimpleAssignor"],
        ["x", "simple,x", "range"],
    ),
}
_READ_AT_START_4_4: dict[str, tuple[list[str], list[str]]] = {
    "group.streams.assignors": (
        ["sticky", "sticky,sticky", _STREAMS_ASSIGNOR],
        ["Sticky", "x", "sticky,x", f"{_STREAMS_ASSIGNOR},sticky", f"{_ASSIGNOR}.SimpleAssignor"],
    ),
    "group.consumer.assignors": (["range,range"], [f"range,{_ASSIGNOR}.RangeAssignor"]),
}
_READ_AT_START_3_9: dict[str, tuple[list[str], list[str]]] = {
    "group.consumer.assignors": (
        [f"{_ASSIGNOR}.RangeAssignor,{_ASSIGNOR}.UniformAssignor"],
        ["range", "x", f"{_ASSIGNOR}.SimpleAssignor", f"{_ASSIGNOR}.RangeAssignor,range"],
    ),
    "group.share.assignors": (["x", "simple,x"], []),
}


def read_at_start(release: str) -> list[tuple[str, str, bool]]:
    """A config, its text, and whether Kafka starts with it."""
    of_release = _READ_AT_START_3_9 if release == "3.9" else _READ_AT_START_4
    since_4_4 = _READ_AT_START_4_4 if release == "4.4" else {}
    return [
        (name, text, is_taken)
        for rows in (_READ_AT_START, of_release, since_4_4)
        for name, (taken, refused) in rows.items()
        for is_taken, texts in ((True, taken), (False, refused))
        for text in texts
    ]


#: Values around those that a config is compared with.
_EDGES: dict[str, list[int]] = {
    "log.roll.ms": [0, 1],
    "log.roll.jitter.ms": [-1, 0],
    "log.retention.ms": [-2, -1, 0, 1],
    "log.cleaner.threads": [1, 2, 128],
    "log.cleaner.dedupe.buffer.size": [1048576, 1048577, 2097153, 2097154],
    "replica.fetch.wait.max.ms": [500, 30000, 30001],
    "replica.socket.timeout.ms": [499, 500],
    "replica.lag.time.max.ms": [499, 500],
    "queued.max.request.bytes": [-1, 0, 1, 104857600],
    "socket.request.max.bytes": [1, 2, 104857601],
    "max.connections.per.ip": [0, 1],
    "connections.max.idle.ms": [-1, 0, 100, 101],
    "offsets.commit.required.acks": [-2, -1, 3, 4],
    "offsets.topic.replication.factor": [2, 3, 4],
}


def answer(configs: _Given, release: str) -> str:
    """ "taken", or the sentence of the refusal."""
    try:
        number = ReleaseNumber.parse(release)
        checked_configs(configs, number, {"PLAINTEXT": "PLAINTEXT"}, has_policy=True)
    except SettingsError as refused:
        return str(refused)
    return "taken"


@pytest.mark.parametrize(("configs", "in_4_3", "in_3_9"), _REFUSED, ids=lambda each: str(each)[:50])
def test_no_cluster_starts_with_them(
    configs: _Given, in_4_3: str | None, in_3_9: str | None
) -> None:
    for release, said in (("4.3", in_4_3), ("3.9", in_3_9)):
        assert answer(configs, release) == ("taken" if said is None else _START + said)


@pytest.mark.parametrize("release", ["4.4", "4.3", "3.9"])
def test_values_that_are_read_at_the_start(release: str) -> None:
    for name, text, is_taken in read_at_start(release):
        said = answer({name: text}, release)
        assert (said == "taken") is is_taken, (name, text, said)
        assert is_taken or name in said, said


def test_groups_are_assigned_by_the_class_that_the_config_names() -> None:
    served = Served(configs={"group.consumer.assignors": f"{_ASSIGNOR}.RangeAssignor"})
    assert served.state.coordinators.limits(1).assignors == ["range"]


@pytest.mark.parametrize(("configs", "said"), _SINCE_4_4, ids=lambda each: str(each)[:50])
def test_no_cluster_of_4_4_starts_with_them(configs: _Given, said: str) -> None:
    for release, text in (("4.4", _START + said), ("4.3", "taken"), ("3.9", "taken")):
        assert answer(configs, release) == text


def test_a_cleaner_without_threads_has_a_sentence() -> None:
    """Kafka ends with "/ by zero"."""
    for release in ("4.3", "3.9"):
        said = answer({"log.cleaner.threads": 0}, release)
        assert said == f"{_START}log.cleaner.threads must be at least 1"


@pytest.mark.parametrize(
    ("name", "value"),
    [("group.share.assignment.interval.ms", "15001"), ("max.connections.per.ip", "0")],
)
def test_a_running_broker_takes_no_change_that_leads_to_them(name: str, value: str) -> None:
    code, said = set_config(Served(), BROKER, "", name, value)
    assert code == INVALID_REQUEST
    assert name in said


#: Texts that many a config cannot have.
_WRONG = ("", "x", "-2", "a,,b", "9223372036854775808")


def _wrong(release: str) -> list[tuple[str, str]]:
    """Each config of a node but those that the cluster sets itself, with texts wrong for many."""
    known = definitions(ReleaseNumber.parse(release)).in_properties.values()
    return [
        (each.name, text)
        for each in known
        if each.type not in ("CLASS", "PASSWORD")  # Java's classes, and what any text may be
        and not answer({each.name: "x"}, release).startswith("the cluster sets the config")
        for text in _WRONG
    ]


def _of_config_def(said: str, name: str) -> list[str] | None:
    """The words of Kafka's ConfigDef on a config's value, sorted, for some are of a set of Java's.

    None where the value is taken, or refused by others than ConfigDef.
    """
    said = said.removesuffix(": expected a value that Kafka takes")
    is_its = f" for configuration {name}: " in said or said.startswith(f"Configuration '{name}' ")
    is_of_class = said.endswith("Class cannot be found")
    return sorted(said.replace(",", "").split()) if is_its and not is_of_class else None


def _drawn(release: str, count: int) -> Iterator[_Given]:
    """So many of groups and so many others, with values around those they are compared with."""
    chosen = random.Random(29)
    known = definitions(ReleaseNumber.parse(release)).in_properties
    families = [
        [each for each in known if each.startswith(f"group.{kind}.") and known[each].type == "INT"]
        for kind in ("consumer", "share", "streams")
    ]
    families = [each for each in families if each]
    for _ in range(count):
        names = chosen.sample(sorted(_EDGES), chosen.randint(2, 4))
        yield {name: chosen.choice(_EDGES[name]) for name in names}
        family = chosen.choice(families)
        drawn: _Given = {}
        for name in chosen.sample(family, chosen.randint(1, 4)):
            like = known[chosen.choice(family)].default
            drawn[name] = max(1, int(like or 1) + chosen.choice((-1, 0, 1)))
        yield drawn


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("release", "jars"), [("4.4", "4.4.0"), pytest.param("3.9", "3.9.2", marks=pytest.mark.explore)]
)
def test_beside_kafka_config(release: str, jars: str) -> None:
    """What the class refuses for a contradiction is refused in its words, and nothing else is."""
    refused = [*(given for given, *_ in _REFUSED), *(given for given, _ in _SINCE_4_4)]
    drawn = [*_drawn(release, 200), *refused]
    lines = ["\t".join(f"{name}={value}" for name, value in each.items()) for each in drawn]
    single, wrong = read_at_start(release), _wrong(release)
    with contextlib.closing(JavaTool(_TOOL, fetch_runtime(jars))) as tool:
        answers = tool.ask(lines)
        of_single = tool.ask([f"{name}={text}" for name, text, _ in single])
        of_wrong = tool.ask([f"{name}={text}" for name, text in wrong])
    said = [(*each[:2], one == "taken") for each, one in zip(single, of_single, strict=True)]
    assert said == single
    for (name, text), theirs in zip(wrong, of_wrong, strict=True):
        ours = answer({name: text}, release)
        assert _of_config_def(ours, name) == _of_config_def(theirs, name), (name, text)
    assert sum(each.startswith(("Invalid value", "Configuration '")) for each in of_wrong) > 900
    for each, theirs in zip(drawn, answers, strict=True):
        ours = answer(each, release)
        if theirs.startswith("Invalid value"):  # of one config: either names one of several
            assert ours.startswith("Invalid value"), each
        else:
            words = theirs.removeprefix("requirement failed: ")
            assert ours == (theirs if theirs == "taken" else _START + words), each
    assert 40 < answers.count("taken") < 300
