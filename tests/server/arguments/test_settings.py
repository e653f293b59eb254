"""The arguments of a cluster: each wrong one is refused where it is given, with its name."""

from __future__ import annotations

import inspect
import math
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from kafka_admin_proto.cli.server.serve import serve
from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.policies.loading import ALTER_CONFIG_CONFIG, CREATE_TOPIC_CONFIG
from kafka_admin_proto.protocol.connection import Limits
from kafka_admin_proto.server import Cluster, SyncCluster
from kafka_admin_proto.server.arguments.resolved_settings import LISTENERS
from kafka_admin_proto.server.arguments.settings import _ITEM_CHECKS
from kafka_admin_proto.server.configs.definitions import definitions
from kafka_admin_proto.server.configs.given import checked_configs
from kafka_admin_proto.server.network.limits import NetworkLimits
from kafka_admin_proto.server.releases import RELEASES, ReleaseNumber
from tests.helpers.kap import run_kap
from tests.server.served import Served

ARGUMENTS = [name for name in inspect.signature(Cluster.__init__).parameters if name != "self"]


class Strange:
    """Compares with nothing, has no length and no hash."""

    __hash__ = None  # type: ignore[assignment]


def generated() -> Iterator[Any]:
    yield 3.5


#: Values that no argument takes.
WRONG = [Strange(), generated, {1: 2}, [3.5], -1, math.nan, b"x", "", True]


async def unawaited(*_: Any) -> None: ...


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("wrong", WRONG, ids=lambda each: type(each).__name__)
def test_each_argument_is_checked(name: str, wrong: Any) -> None:
    arguments: dict[str, Any] = {name: wrong() if wrong is generated else wrong}
    with pytest.raises(SettingsError, match=f"^{name}"):
        SyncCluster(**arguments)


@pytest.mark.parametrize("name", [name for name in ARGUMENTS if name in _ITEM_CHECKS])
@pytest.mark.parametrize("wrong", [None, [3.5], b"x", Strange()], ids=lambda e: type(e).__name__)
def test_each_item_of_a_collection_is_checked(name: str, wrong: Any) -> None:
    """The error has the key, and no value that may be a secret."""
    in_list = name in ("acls", "racks")
    arguments: dict[str, Any] = {name: [wrong] if in_list else {"some": wrong}}
    with pytest.raises(SettingsError) as refused:
        SyncCluster(**arguments)
    assert str(refused.value).startswith(f"{name}[{0 if in_list else repr('some')}] is ")
    assert "3.5" not in str(refused.value) or name not in ("users", "configs")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            {"brokers": "3"},
            "brokers is '3'; expected how many nodes, a whole number from 1 to 1000",
        ),
        ({"brokers": -1}, "brokers is -1"),
        ({"brokers": 0, "listeners": {"A": "SSL"}}, "a controller has one listener, CONTROLLER"),
        ({"brokers": 0, "advertised_listeners": {"A": "h:1"}}, "advertised_host is that of its"),
        ({"brokers": 0, "users": {"a": "b"}}, "users is given, and brokers is 0"),
        ({"brokers": 0, "racks": ["a"]}, "racks is given, and brokers is 0"),
        ({"brokers": 0, "data": "d"}, "data is given, and brokers is 0: its metadata log is in"),
        ({"brokers": 0, "topics": {"a": 1}}, "topics is given, and brokers is 0"),
        ({"brokers": 0, "propagation_delay_s": 1}, "each broker fetches the log by itself"),
        ({"brokers": 0, "sync_delay_s": 1}, "sync_delay_s is given, and brokers is 0"),
        ({"brokers": 0, "rules": "kip-4b"}, "drafts are for clients of brokers"),
        ({"brokers": 1001}, "brokers is 1001"),
        ({"release": "4.1"}, "release is '4.1'; expected one of 4.4, 4.3, 3.9"),
        ({"release": 4.3}, "release is 4.3; expected one of 4.4, 4.3, 3.9, as text"),
        ({"port": 65536}, "port is 65536"),
        ({"port": 65534, "brokers": 3}, "the last of 3 ports from there on is beyond 65535"),
        ({"rules": "kip-5"}, "rules is 'kip-5'; expected one of shipped, kip-4, kip-4a, kip-4b"),
        ({"racks": ["a", "b"]}, "2 racks for 1 broker; name one for each"),
        ({"sync_delay_s": math.inf}, "sync_delay_s is inf"),
        ({"racks": "abc"}, "racks: expected a collection, got str; put a single one into a list"),
        (
            {"users": {"a": 5}},
            "users['a'] is an int that may hold a secret and is not shown; expected a password",
        ),
        ({"acls": [["User:a"]]}, "acls[0] is ['User:a']; expected an ACL, a mapping as"),
        (
            {"configs": {"num.partitions": None}},
            "configs['num.partitions'] is None; expected a text, a number or a bool; leave it out",
        ),
        ({"limits": {"in_flight": 5}}, "limits is"),
        ({"trace": unawaited}, "expected a function of (node, request, response) without async"),
        (
            {"limits": Limits(), "configs": {"socket.request.max.bytes": 1000}},
            "limits and the config socket.request.max.bytes both set it; leave one out",
        ),
        (
            {"network_limits": NetworkLimits(), "configs": {"max.connections": 1}},
            "network_limits and the config max.connections both set it; leave one out",
        ),
    ],
)
def test_values_that_cannot_be(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError) as refused:
        Cluster(**arguments)
    assert str(refused.value).startswith(said) or said in str(refused.value)


@pytest.mark.parametrize(
    "error",
    [
        socket.gaierror(socket.EAI_NONAME, "Name or service not known"),
        UnicodeError("label too long"),
        ValueError("embedded null character"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_host_without_an_address(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """The resolver is a stub: no name is looked up."""

    def resolve(*_: Any) -> None:
        raise error

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with pytest.raises(SettingsError, match=r"^host is 'brokr', which has no address \(.+\); "):
        SyncCluster(host="brokr").start()
    ended = run_kap("serve --host brokr")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "host is 'brokr', which has no address" in " ".join(ended.stderr.split())


@pytest.mark.parametrize("make", [Limits, NetworkLimits])
def test_each_limit_is_checked(make: type[Any]) -> None:
    for name in make.__struct_fields__:
        for wrong in ("500", 0.5, None, True):
            with pytest.raises(TypeError, match=f"the limit {name} is a whole number"):
                make(**{name: wrong})
        if name != "idle_ms":
            with pytest.raises(ValueError, match=f"the limit {name} is -1; the least is"):
                make(**{name: -1})


@pytest.mark.parametrize("release", RELEASES)
def test_each_config_is_held_to_its_definition(release: str) -> None:
    """Every config of a number or a bool refuses a word."""
    words, number = 0, ReleaseNumber.parse(release)
    for name, config in definitions(number).in_properties.items():
        if config.type in ("INT", "LONG", "SHORT", "DOUBLE", "BOOLEAN"):
            words += 1
            with pytest.raises(SettingsError, match=name):
                checked_configs({name: "abc"}, number, {"A": "SASL_SSL"}, has_policy=False)
    assert words > 200


@pytest.mark.parametrize(
    ("configs", "said"),
    [
        ({"num.partitions": "abc"}, "Invalid value abc for configuration num.partitions: Not a"),
        ({"num.partitions": 0}, "configuration num.partitions: Value must be at least 1"),
        ({"num.partitions": True}, "Invalid value true for configuration num.partitions"),
        ({"auto.create.topics.enable": 1}, "Expected value to be either true or false"),
        ({"log.cleanup.policy": "shred"}, "String must be one of"),
        ({"leader.replication.throttled.rate": 5}, "set it on the running cluster"),
        ({"node.id": 4}, "the cluster sets the config node.id itself: give brokers instead"),
        ({"broker.rack": "a"}, "give racks instead"),
        ({"metadata.log.dir": "/a"}, "sets the config metadata.log.dir itself: give data instead"),
        ({"controller.quorum.bootstrap.servers": "a:1"}, "itself: give brokers instead"),
        ({"listener.name.b.ssl.client.auth": "none"}, "of no listener of the cluster; there are"),
        ({"listener.name.plaintext.max.connections": "9"}, "all listeners of a node together"),
        ({"num.partitions": "3.0"}, "Invalid value 3.0 for configuration num.partitions: Not a"),
        ({"num.partitions": 3.0}, "Invalid value 3.0 for configuration num.partitions: Not a"),
        ({"message.max.bytes": "1.000000012e+09"}, "configuration message.max.bytes: Not a"),
        ({"log.retention.ms": "soon"}, "configuration log.retention.ms: Not a number of type LONG"),
        ({"log.retention.ms": "0"}, "log.retention.ms must be unlimited (-1) or, greater than or"),
        ({"log.retention.hours": "0"}, "log.retention.ms must be unlimited (-1) or, greater than"),
        ({"auto.create.topics.enable": "maybe"}, "Expected value to be either true or false"),
        ({"advertised.listeners": "A://h:1"}, "give advertised_host or advertised_listeners ins"),
        *[
            ({name: "1"}, f"the cluster sets the config {name} itself: give ")
            for name in ("broker.id", "listeners", "process.roles", "log.dirs", "log.dir")
        ],
        ({"super.users": "User:a"}, "super.users has no effect without authorizer.class.name"),
        ({"authorizer.class.name": "mine"}, "authorizer.class.name can only be"),
        ({"authorizer.class.name": " "}, "authorizer.class.name is empty; leave it out"),
        ({"log.roll.hours": "0"}, "log.roll.hours"),
        (
            {"log.cleaner.min.compaction.lag.ms": 6, "log.cleaner.max.compaction.lag.ms": 5},
            "Kafka's brokers do not start with these configs: conflict topic config setting",
        ),
    ],
)
def test_configs_without_an_effect_are_refused(configs: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError) as refused:
        Cluster(configs=configs)
    assert said in str(refused.value)
    name, value = next(iter(configs.items()))
    if len(configs) == 1 and isinstance(value, str):
        ended = run_kap("serve --config", f"{name}={value}")
        assert (ended.exit_code, ended.stdout) == (2, "")
        assert said in " ".join(ended.stderr.split())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("num.partition", "have no config num.partition, so it has no effect; did you mean num."),
        ("nothing.like.it", "have no config nothing.like.it, so it has no effect"),
        ("retention.ms", "is one of topics, and has no effect on brokers; all topics' default is"),
        ("listener.name.plaintext.no", "have no config listener.name.plaintext.no, so it has no"),
        *[
            (f"listener.name.plaintext.{own}", f"no config listener.name.plaintext.{own}, so it ")
            for own in ("node.id", "num.partitions", "connections.max.idle.ms", "log.segment.bytes")
        ],
    ],
)
def test_names_that_kafka_does_not_know_are_kept(
    name: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Kafka takes them; a line of the log says that they do nothing. A policy may read them."""
    assert checked_configs({name: "3"}, ReleaseNumber(4, 3), LISTENERS, has_policy=False) == {
        name: "3"
    }
    (line,) = caplog.messages
    assert said in line
    checked_configs({name: "3"}, ReleaseNumber(4, 3), LISTENERS, has_policy=True)
    assert len(caplog.messages) == 1


@pytest.mark.parametrize("unit", ["ms", "minutes", "hours"])
def test_each_negative_retention_is_unlimited(unit: str) -> None:
    """KafkaConfig.logRetentionTimeMillis: -1 for all of them."""
    name = f"log.retention.{unit}"
    state = Served(
        configs=checked_configs({name: -5}, ReleaseNumber(4, 3), LISTENERS, has_policy=False)
    ).state
    assert state.topic_value("t", "retention.ms") == -1


def test_numbers_and_bools_are_values_of_configs() -> None:
    given = {
        "num.partitions": 3,
        "auto.create.topics.enable": False,
        "log.cleaner.min.cleanable.ratio": 0.5,
    }
    assert checked_configs(given, ReleaseNumber(4, 3), {}, has_policy=False) == {
        "num.partitions": "3",
        "auto.create.topics.enable": "false",
        "log.cleaner.min.cleanable.ratio": "0.5",
    }


OPTIONS = [
    each.opts[0] for each in serve.params if isinstance(each, click.Option) and not each.is_flag
]
#: Those whose values may be any text or path but an empty one.
FREE = ("--host", "--advertised-host", "--data", "--control")
#: Options whose errors name the config that they set.
CONFIGS = {"--policy": CREATE_TOPIC_CONFIG, "--alter-config-policy": ALTER_CONFIG_CONFIG}


@pytest.mark.parametrize(
    ("option", "wrong"),
    [(each, "") for each in OPTIONS]
    + [(each, "\udcff:?==") for each in OPTIONS if each not in FREE],
)
def test_each_option_of_kap_serve_is_checked(
    option: str, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its own name or its setting's, before the first line of the output."""
    monkeypatch.chdir(tmp_path)
    ended = run_kap("serve", option, wrong)
    error = ended.stderr.partition("Error: ")[2].lower().replace("_", "-")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert CONFIGS.get(option, option.removeprefix("--")) in error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--propagation-delay", "nan", "expected a number of seconds, 0 or more, not 'nan'"),
        ("--host", "", "host is ''"),
        ("--advertised-host", "", "advertised_host is ''"),
        ("--port", "65536", "expected a whole number, 0 to 65535, not '65536'"),
        ("--data", "", "data is ''"),
        ("--listener", "A:TLS", "security protocol 'TLS'"),
        ("--host", "0.0.0.0", "clients cannot connect to 0.0.0.0, which is all addresses of this"),
        ("--host", "::", "clients cannot connect to ::, which is all addresses of this machine"),
        ("--host", "[]", "host is '[]'; expected the name or address to listen on, without a port"),
        ("--host", "127.0.0.1:9092", "host is '127.0.0.1:9092'; expected the name or address to l"),
        ("--advertised-host", "a:9", "advertised_host is 'a:9'; expected the host that clients"),
        ("--advertised-listener", "a:9", "takes NAME://HOST:PORT, not 'a:9'"),
        ("--advertised-listener", "B://a:9", "'B'] is of no listener; there are PLAINTEXT"),
        ("--rack", "", "racks[0] is ''; expected a rack, as text"),
        ("--api-versions", "StopReplica=0-1", "there is no api 'StopReplica'"),
    ],
)
def test_options_of_kap_serve_are_checked(option: str, value: str, said: str) -> None:
    ended = run_kap("serve", option, value)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert said in " ".join(ended.stderr.split())
