"""Faults as text, ``api=Metadata version=9+ error=NOT_CONTROLLER count=2``, parsed and written."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from kafka_admin_proto.errors import (
    KafkaAdminProtoError,
    SchemaError,
    UnknownErrorCodeError,
)
from kafka_admin_proto.protocol.error_codes import error_code
from kafka_admin_proto.protocol.versions import Api, api_versions
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.server.faults.error_answers import Failure
from kafka_admin_proto.server.faults.fault import Condition, Effect
from kafka_admin_proto.server.faults.topics import Target

_CONDITIONS = ("api", "version", "topic", "partition", "client-id", "node")
_EFFECTS = ("delay-ms", "throttle-ms", "error", "message", "cut", "drop", "garbage")
_NUMBERS = ("partition", "node", "count", "delay-ms", "throttle-ms")
_CHOICES = {
    "cut": ("before", "within", "after"),
    "drop": ("request", "answer"),
    "garbage": ("correlation-id", "size", "noise"),
}
#: Effects that exclude each other, since a request has one answer.
_EXCLUSIVE = ("cut", "drop", "garbage")


class FaultError(KafkaAdminProtoError, ValueError):
    """A fault that is not possible; the message names the wrong word and the right ones."""


def parse(text: str) -> tuple[dict[str, Any], dict[str, Any], int | None]:
    """The conditions, the effects and the count of a fault in words. Raises FaultError."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise FaultError(f"the fault {text!r} does not read: {error}") from None
    found: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise FaultError(f"{word!r} in the fault {text!r} is no NAME=VALUE")
        if name not in (*_CONDITIONS, *_EFFECTS, "count"):
            raise _unknown("a fault has no", name, (*_CONDITIONS, *_EFFECTS, "count"))
        if name in found:
            raise FaultError(f"{name} is there twice in the fault {text!r}")
        found[name] = _number(name, value) if name in _NUMBERS else value
    return (
        {name: found.get(name) for name in _CONDITIONS},
        {name: found.get(name) for name in _EFFECTS},
        found.get("count"),
    )


def text_of(values: Mapping[str, Any]) -> str:
    """The words of a fault."""
    return " ".join(
        f"{name}={shlex.quote(str(value))}" for name, value in values.items() if value is not None
    )


def condition_of(values: Mapping[str, Any]) -> Condition:
    """The Condition for these arguments. Raises FaultError."""
    topic, partition = values["topic"], values["partition"]
    everything = topic is None and partition is None
    return Condition(
        api_key=None if values["api"] is None else api_key_of(values["api"], api_versions()),
        versions=None if values["version"] is None else versions_of(values["version"]),
        target=None if everything else Target("*" if topic is None else topic, partition),
        client_id=values["client-id"],
        node=values["node"],
    )


def effect_of(values: Mapping[str, Any]) -> Effect:
    """The Effect for these arguments. Raises FaultError."""
    given = [name for name in _EFFECTS if values[name] is not None]
    if not given:
        raise FaultError(f"a fault does something: give one of {', '.join(_EFFECTS)}")
    for name in ("delay-ms", "throttle-ms"):
        if values[name] is not None and values[name] <= 0:
            raise FaultError(f"{name} is {values[name]}; it is 1 or more")
    for name, choices in _CHOICES.items():
        if values[name] is not None and values[name] not in choices:
            raise _unknown(f"{name} is not", values[name], choices)
    exclusive = [name for name in given if name in _EXCLUSIVE]
    if len(exclusive) > 1:
        raise FaultError(f"a fault has one of {' and '.join(exclusive)}, not both")
    if values["message"] is not None and values["error"] is None:
        raise FaultError("a message goes with an error; give error=NAME, too")
    return Effect(
        delay_ms=values["delay-ms"] or 0,
        throttle_ms=values["throttle-ms"] or 0,
        failure=(
            None
            if values["error"] is None
            else Failure(_error_code(values["error"]), values["message"])
        ),
        cut=values["cut"],
        drop=values["drop"],
        garbage=values["garbage"],
    )


def versions_of(text: str) -> VersionRange:
    """A range of versions in the notation of Kafka's definitions."""
    try:
        return VersionRange.parse(str(text))
    except SchemaError as error:
        raise FaultError(str(error)) from None


def api_key_of(name: str | int, apis: Iterable[Api]) -> int:
    """The key of an api by its name, however it is spelt, or by its key. Raises FaultError."""
    known = {each.api_key: each.name for each in apis}
    text = str(name)
    for key, own in known.items():
        if text == str(key) or _plain(text) == _plain(own):
            return key
    raise _unknown("there is no api", name, known.values())


def _plain(name: str) -> str:
    """A name without the differences of CreateTopics, create-topics and create_topics."""
    return name.replace("-", "").replace("_", "").casefold()


def _error_code(name: str | int) -> int:
    """The code of an error by its name, or a number, which need not be one of Kafka's."""
    text = str(name)
    if text.removeprefix("-").isdigit():
        code = int(text)
        if not -(1 << 15) <= code < 1 << 15 or not code:
            raise FaultError(f"the error code {code} is none: a number of 16 bits other than 0")
        return code
    try:
        return error_code(text).code or 0
    except UnknownErrorCodeError as error:
        raise FaultError(str(error)) from None


def _number(name: str, value: str) -> int:
    if not value.isdigit():
        raise FaultError(f"{name} is a whole number, not {value!r}")
    return int(value)


def _unknown(what: str, name: object, known: Iterable[str]) -> FaultError:
    names = list(known)
    plain = {_plain(each): each for each in names}
    close = difflib.get_close_matches(_plain(str(name)), plain, n=3)
    hint = ", ".join(plain[each] for each in close)
    if not hint and len(names) <= 20:
        return FaultError(f"{what} {name!r}; there are {', '.join(names)}")
    return FaultError(f"{what} {name!r}" + (f"; did you mean {hint}?" if hint else ""))
