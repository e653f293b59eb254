"""The configs that a cluster is given for its brokers, held to Kafka's definitions before a start.

As in Kafka a value that cannot be read is refused, and a name that Kafka does not know is kept,
for plugins may read it. Here a line of the log says so, since most of these are mistyped.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.loggers import SERVER
from kafka_admin_proto.near_names import did_you_mean, near_names
from kafka_admin_proto.policies.loading import ALTER_CONFIG_CONFIG, CREATE_TOPIC_CONFIG
from kafka_admin_proto.server.arguments.settings import is_utf8
from kafka_admin_proto.server.configs.definitions import Definitions, definitions
from kafka_admin_proto.server.configs.parsing import ConfigFailure, to_text
from kafka_admin_proto.server.configs.sources import BrokerConfigs
from kafka_admin_proto.server.configs.together import check_together
from kafka_admin_proto.server.configs.topics import TopicDefaults
from kafka_admin_proto.server.configs.values import parse_checked
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.java import trim
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.server.security.authorizer.rules import (
    ALLOW_CONFIG,
    CLASS_CONFIG,
    SUPER_USERS_CONFIG,
    authorizer_settings,
)
from kafka_admin_proto.server.security.listeners import (
    LISTENER_PREFIX,
    check_read,
    is_of_listener,
    of_mechanism,
)

#: Configs whose values the cluster makes by itself → the arguments that they follow from.
_OWN = {
    "node.id": "brokers",
    "broker.id": "brokers",
    "process.roles": "brokers",
    "controller.quorum.voters": "brokers",
    "controller.quorum.bootstrap.servers": "brokers",
    "controller.listener.names": "brokers",
    "listeners": "listeners, host and port",
    "advertised.listeners": "advertised_host or advertised_listeners",
    "listener.security.protocol.map": "listeners",
    "inter.broker.listener.name": "listeners",
    "security.inter.broker.protocol": "listeners",
    "log.dir": "data",
    "log.dirs": "data",
    "metadata.log.dir": "data",
    "broker.rack": "racks",
}
_EARLY = "early.start.listeners"
#: Configs that Kafka's authorizer reads, which no definition lists.
_OF_AUTHORIZER = (SUPER_USERS_CONFIG, ALLOW_CONFIG)


def checked_configs(
    configs: Mapping[str, str | float | bool],
    release: ReleaseNumber,
    listeners: Mapping[str, str],
    *,
    has_policy: bool,
) -> dict[str, str]:
    """The configs as texts. ``listeners`` are the security protocols by listener.

    A name that Kafka does not define is logged, but with a policy, which ``has_policy`` or a
    config says: policies get all configs.
    Raises SettingsError for a value that Kafka refuses, and for a config of Kafka's that the
    cluster sets itself or that would have no effect.
    """
    known = definitions(release)
    texts = {name: to_text(value) or "" for name, value in configs.items()}
    has_policy = has_policy or CREATE_TOPIC_CONFIG in texts or ALTER_CONFIG_CONFIG in texts
    for name, text in texts.items():
        if not is_utf8(name + text):
            raise SettingsError(
                f"the config {name!r} is no text of UTF-8; clients could not read it"
            )
        if name in _OWN:
            raise SettingsError(
                f"the cluster sets the config {name} itself: give {_OWN[name]} instead"
            )
        own = in_listener = name
        read_by = listeners
        if name.startswith(LISTENER_PREFIX):
            listener, in_listener = _of_listener(name, listeners)
            _, own = of_mechanism(in_listener)
            read_by = {listener: listeners[listener]}
        if own in known.in_properties and (name == own or is_of_listener(own)):
            _check(known, own, text, name)
            check_read(name, in_listener, read_by, texts)
        elif name not in _OF_AUTHORIZER and not has_policy:
            if name in known.brokers:
                raise SettingsError(
                    f"the config {name} is not of a properties file: set it on the running "
                    "cluster, with kap configs set or IncrementalAlterConfigs"
                )
            SERVER.warning("%s", _unknown(known, name, release))
    _check_authorizer(texts)
    _check_early(texts, listeners)
    broker = BrokerConfigs({}, {}, texts)
    try:
        check_together(known, broker, release)
        TopicDefaults(known, broker).check({})
    except ApiFailure as failure:
        message = (failure.message or "").removeprefix("requirement failed: ")
        raise SettingsError(f"Kafka's brokers do not start with these configs: {message}") from None
    return texts


def _of_listener(name: str, listeners: Mapping[str, str]) -> tuple[str, str]:
    for listener in listeners:
        prefix = f"{LISTENER_PREFIX}{listener.lower()}."
        if name.startswith(prefix):
            return listener, name.removeprefix(prefix)
    there = ", ".join(map(str.lower, listeners))
    raise SettingsError(f"the config {name} is of no listener of the cluster; there are {there}")


def _check(known: Definitions, own: str, text: str, name: str) -> None:
    try:
        parse_checked(known.in_properties[own], {own: text})
    except ConfigFailure as failure:
        of_listener = f"{name}: " if name != own else ""
        message = f"{of_listener}{failure.message}: expected a value that Kafka takes"
        raise SettingsError(message) from None


def _check_early(texts: Mapping[str, str], listeners: Mapping[str, str]) -> None:
    for name in map(trim, texts.get(_EARLY, "").split(",")):
        if name and name not in (*listeners, "CONTROLLER"):
            raise SettingsError(
                f"{_EARLY} has {name}, which is no listener; there are {', '.join(listeners)}"
            )


def _unknown(known: Definitions, name: str, release: ReleaseNumber) -> str:
    """That a name has no effect, and which one is meant."""
    topic = known.topics.get(name)
    if topic is not None and topic.synonyms:
        return (
            f"the config {name} is one of topics, and has no effect on brokers; all topics' "
            f"default is {topic.synonyms[0]}"
        )
    hint = did_you_mean(near_names(name, known.in_properties))
    return f"brokers of Kafka {release} have no config {name}, so it has no effect{hint}"


def _check_authorizer(texts: Mapping[str, str]) -> None:
    """Check the settings of the authorizer, and that there is one if there are any."""
    if texts.get(CLASS_CONFIG, "-").strip() == "":
        raise SettingsError(f"{CLASS_CONFIG} is empty; leave it out, and any ACLs")
    if authorizer_settings(texts) is not None:
        allow = texts.get(ALLOW_CONFIG, "false")
        if allow.strip().lower() not in ("true", "false"):
            raise SettingsError(f"{ALLOW_CONFIG} is {allow!r}; expected true or false")
        return
    for name in _OF_AUTHORIZER:
        if name in texts:
            raise SettingsError(f"{name} has no effect without {CLASS_CONFIG}: set both, or none")
