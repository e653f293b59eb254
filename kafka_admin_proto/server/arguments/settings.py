"""The arguments of a cluster, checked where they are given: each wrong one is a sentence."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

from kafka_admin_proto.arguments import integer_check, is_async, is_time
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.protocol.addresses import HIGHEST_PORT, is_host, without_brackets
from kafka_admin_proto.protocol.connection import Limits
from kafka_admin_proto.server.network.limits import NetworkLimits
from kafka_admin_proto.server.releases import RELEASES
from kafka_admin_proto.wire.types.base import shown

Rules = Literal["shipped", "kip-4", "kip-4a", "kip-4b"]
RULES: tuple[str, ...] = get_args(Rules)
MOST_BROKERS = 1000

_Check = Callable[[Any], bool]


def is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_broker_id = integer_check("a broker is named by its id, a whole number")


def checked_broker(broker: int, brokers: int) -> int:
    """The id of one of 1 to ``brokers``. Raises TypeError for what is no number, and ValueError."""
    number = _broker_id(broker)
    if brokers == 0:
        raise ValueError(
            f"broker {number} is no node of this cluster, which is a controller alone: its brokers "
            "are processes of their own"
        )
    if not 1 <= number <= brokers:
        there = "broker 1 is the only one" if brokers == 1 else f"brokers are 1 to {brokers}"
        raise ValueError(f"there is no broker {number}; {there}")
    return number


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def is_utf8(text: str) -> bool:
    """Whether clients can be sent a text: it has no halves of surrogate pairs."""
    return text.encode(errors="replace").decode() == text


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != "" and is_utf8(value)


def _is_host(value: object) -> bool:
    return isinstance(value, str) and is_host(without_brackets(value))


def _are_texts(value: object) -> bool:
    return isinstance(value, Sequence) and all(map(_is_any_text, value))


def _is_any_text(value: object) -> bool:
    return isinstance(value, str)


def _is_by_name(value: object) -> bool:
    """Whether a value is a mapping whose keys are texts."""
    return isinstance(value, Mapping) and all(map(_is_any_text, value))


def _or_none(check: _Check) -> _Check:
    return lambda value: value is None or check(value)


_Rule = tuple[_Check, str]
#: Argument → (its check, what is expected). Policies have checks of their own.
_CHECKS: dict[str, _Rule] = {
    "brokers": (
        lambda value: is_integer(value) and 0 <= value <= MOST_BROKERS,
        f"how many nodes, a whole number from 1 to {MOST_BROKERS}, or 0 for a controller alone",
    ),
    "release": (lambda value: value in RELEASES, f"one of {', '.join(RELEASES)}, as text"),
    "host": (_is_host, "the name or address to listen on, without a port, as text"),
    "advertised_host": (
        _or_none(_is_host),
        "the host that clients get, a name or address without a port, as text, or None",
    ),
    "advertised_listeners": (
        _or_none(_is_by_name),
        'addresses by listener: {"PLAINTEXT": "kafka.example:9092"}, or None',
    ),
    "port": (
        lambda value: is_integer(value) and 0 <= value <= HIGHEST_PORT,
        f"the first node's port, a whole number from 0 (any free one) to {HIGHEST_PORT}",
    ),
    "listeners": (_is_by_name, 'security protocols by listener: {"PLAINTEXT": "PLAINTEXT"}'),
    "users": (_or_none(_is_by_name), "passwords by user, both as text, or None"),
    "configs": (_or_none(_is_by_name), "values by config, or None"),
    "data": (
        _or_none(lambda value: _is_text(value) or isinstance(value, os.PathLike)),
        "the path of a folder, or None for a cluster in memory",
    ),
    "sync_delay_s": (
        lambda value: is_time(value) and value < math.inf,
        "a number of seconds, 0 or more",
    ),
    "propagation_delay_s": (is_time, "a number of seconds, 0 or more"),
    "rules": (lambda value: value in RULES, f"one of {', '.join(RULES)}"),
    "api_versions": (_or_none(_is_by_name), 'versions by api: {"Metadata": "0-9"}, or None'),
    "limits": (_or_none(lambda value: isinstance(value, Limits)), "Limits(...), or None"),
    "network_limits": (
        _or_none(lambda value: isinstance(value, NetworkLimits)),
        "NetworkLimits(...), or None",
    ),
    "topics": (
        _or_none(_is_by_name),
        'partitions by topic, or a mapping of more by topic: {"orders": 3}, or None',
    ),
    "trace": (
        _or_none(lambda value: callable(value) and not is_async(value)),
        "a function of (node, request, response) without async, or None",
    ),
}
#: Argument that is a collection → (the check of an item, what is expected of it).
_ITEM_CHECKS: dict[str, _Rule] = {
    "listeners": (_is_any_text, "a security protocol, as text"),
    "advertised_listeners": (
        lambda value: _is_any_text(value) or (not isinstance(value, bytes) and _are_texts(value)),
        "host:port, or a list with that of each node",
    ),
    "users": (_is_any_text, "a password, as text"),
    "acls": (
        lambda row: isinstance(row, Mapping),
        "an ACL, a mapping as kap acls list --output json writes it",
    ),
    "configs": (
        lambda value: isinstance(value, str | int | float),
        "a text, a number or a bool; leave it out for the broker's default",
    ),
    "racks": (_is_name, "a rack, as text"),
    "api_versions": (_is_any_text, 'versions as text, such as "0-9"'),
    "topics": (
        lambda value: is_integer(value) or isinstance(value, Mapping),
        'a number of partitions, or a mapping of the fields of NewTopic: {"partitions": 3}',
    ),
}
#: Argument that a controller alone does not take → (its values where it is not given, why).
_OF_OWN_BROKERS: dict[str, tuple[list[Any], str]] = {
    "listeners": ([{"PLAINTEXT": "PLAINTEXT"}], "a controller has one listener, CONTROLLER"),
    "advertised_listeners": ([None, {}], "advertised_host is that of its one listener"),
    "users": ([None, {}], "its listener takes no logins"),
    "racks": ([[], ()], "each broker registers with its own rack"),
    "data": ([None], "its metadata log is in memory"),
    "topics": ([None, {}], "no broker is there yet that could have them"),
    "propagation_delay_s": ([0.0], "each broker fetches the log by itself"),
    "sync_delay_s": ([0.1], "each leader says by itself which replicas are in sync"),
    "rules": (["shipped"], "drafts are for clients of brokers"),
}
#: Arguments that hold credentials, or may: their values are in no error's text.
_SECRET = ("users", "configs")


def check_settings(given: Mapping[str, Any]) -> None:
    """Raise SettingsError, which names the argument, for one of a wrong type or value.

    ``given`` has the arguments of ``Cluster`` by name, ``acls`` and ``racks`` as lists.
    """
    for name, rule in _CHECKS.items():
        _check(name, name, given[name], rule)
    for name, rule in _ITEM_CHECKS.items():
        items = given[name] or ()
        keyed = items.items() if isinstance(items, Mapping) else enumerate(items)
        for key, item in keyed:
            _check(name, f"{name}[{shown(key)}]", item, rule)
    if given["brokers"] == 0:
        _check_without_brokers(given)
    _check_racks(given["racks"], given["brokers"])
    _check_ports(given["port"], given["brokers"] * len(given["listeners"]))


def _check_without_brokers(given: Mapping[str, Any]) -> None:
    """Refuse what a controller cannot have whose brokers are processes of their own."""
    for name, (none_given, why) in _OF_OWN_BROKERS.items():
        if given[name] not in none_given:
            raise SettingsError(
                f"{name} is given, and brokers is 0: {why}; leave it out, or give the cluster "
                "brokers of its own"
            )


def _check(name: str, place: str, value: Any, rule: _Rule) -> None:
    check, expected = rule
    try:
        fits = check(value)
    except TypeError:  # an unhashable value, or one that compares with nothing
        fits = False
    if not fits:
        raise SettingsError(
            f"{place} is {shown(value, secret=name in _SECRET)}; expected {expected}"
        )


def _check_racks(racks: Sequence[str], brokers: int) -> None:
    if racks and len(racks) != brokers:
        raise SettingsError(
            f"{counted(len(racks), 'racks')} for {counted(brokers, 'brokers')}; name one for each"
        )


def _check_ports(port: int, count: int) -> None:
    if port and port + count - 1 > HIGHEST_PORT:
        raise SettingsError(
            f"port is {port}, and the last of {counted(count, 'ports')} from there on is beyond "
            f"{HIGHEST_PORT}; give a lower "
            "one, or 0 for any free ones"
        )
