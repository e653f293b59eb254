"""Faults as text, ``api=Metadata version=9+ error=NOT_CONTROLLER count=2``, parsed and written."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from kafka_admin_proto.errors import KafkaAdminProtoError, SchemaError, UnknownErrorCodeError
from kafka_admin_proto.faults.fault import Condition, Effect
from kafka_admin_proto.faults.groups import is_about_groups
from kafka_admin_proto.faults.topics import Target, has_message, is_about_topics
from kafka_admin_proto.near_names import did_you_mean, near_names
from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.protocol.error_answers import Failure
from kafka_admin_proto.protocol.error_codes import error_code
from kafka_admin_proto.protocol.versions import Api, api_versions
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.wire.types.base import shown

_CONDITIONS = ("api", "version", "topic", "partition", "group", "client-id", "node")
_EFFECTS = ("delay-ms", "throttle-ms", "error", "message", "cut", "drop", "garbage")
#: Words that are spelt otherwise as arguments of `Faults.add`.
_ARGUMENTS = {
    "version": "versions",
    "client-id": "client_id",
    "delay-ms": "delay_ms",
    "throttle-ms": "throttle_ms",
}
_NUMBERS = ("partition", "node", "count", "delay-ms", "throttle-ms")
_TEXTS = ("topic", "group", "client-id", "message")
#: Texts that may be numbers: an api's key, one version, an error's code.
_TEXTS_OR_NUMBERS = ("api", "version", "error")
_CHOICES = {
    "cut": ("before", "within", "after"),
    "drop": ("request", "answer"),
    "garbage": ("correlation-id", "size", "noise", "records"),
}
#: Effects that exclude each other, since a request has one answer.
_EXCLUSIVE = ("cut", "drop", "garbage")
#: Effects of which a client sees nothing beside another one.
_UNSEEN = {
    ("cut", "before"): ("error", "throttle-ms"),
    ("drop", "request"): ("error", "delay-ms", "throttle-ms"),
    ("drop", "answer"): ("delay-ms", "throttle-ms"),
}

#: Condition or effect → whether an api has it in some versions, and what to say where none has.
_POSSIBLE: tuple[tuple[str, Callable[[int, VersionRange], bool], str], ...] = (
    ("topic", is_about_topics, "requests of {} are about no topics"),
    ("partition", is_about_topics, "requests of {} are about no topics"),
    ("group", is_about_groups, "requests of {} are about no groups"),
    ("message", has_message, "answers of {} have no text for an error"),
)

#: How the errors spell a word: as it is, or as the `argument` that it was given by.
Spelling = Callable[[str], str]


class FaultError(KafkaAdminProtoError, ValueError):
    """A fault that is not possible; the message names the wrong word and the right ones."""


def parse(text: str) -> tuple[dict[str, Any], dict[str, Any], int | None]:
    """The conditions, the effects and the count of a fault in words. Raises FaultError."""
    if not isinstance(text, str):
        raise FaultError(f"a fault is a text, NAME=VALUE with blanks between, not {shown(text)}")
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise FaultError(f"the fault {text!r} does not read: {error}") from None
    values: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise FaultError(f"{word!r} in the fault {text!r} is no NAME=VALUE")
        if name not in (*_CONDITIONS, *_EFFECTS, "count"):
            raise _unknown("a fault has no", name, (*_CONDITIONS, *_EFFECTS, "count"))
        if name in values:
            raise FaultError(f"{name} is there twice in the fault {text!r}")
        values[name] = _number(name, value) if name in _NUMBERS else value
    return (
        {name: values.get(name) for name in _CONDITIONS},
        {name: values.get(name) for name in _EFFECTS},
        values.get("count"),
    )


def text_of(values: Mapping[str, Any]) -> str:
    """The words of a fault."""
    return " ".join(
        f"{name}={shlex.quote(str(value))}" for name, value in values.items() if value is not None
    )


def argument(word: str) -> str:
    """The argument of `Faults.add` that has the meaning of a word."""
    return _ARGUMENTS.get(word, word)


def check_types(values: Mapping[str, Any], spelt: Spelling) -> None:
    """Raise FaultError for a value of a wrong type; None is one that was not given."""
    for name, value in values.items():
        if value is None or (isinstance(value, str) and name not in _NUMBERS):
            continue
        if name in _NUMBERS:
            expected = "a whole number"
        else:
            expected = "a text" if name in _TEXTS else "a text or a number"
        takes_number = name in (*_NUMBERS, *_TEXTS_OR_NUMBERS)
        if name not in _CHOICES and not (takes_number and type(value) is int):
            raise FaultError(f"{spelt(name)} is {expected}, not {shown(value)}")


def condition_of(values: Mapping[str, Any], apis: Sequence[Api], spelt: Spelling) -> Condition:
    """The Condition for these values where these apis are served.

    Raises FaultError for one that no request can meet.
    """
    limits = _condition(values, apis)
    for name in ("partition", "node"):
        if values[name] is not None and values[name] < 0:
            raise FaultError(f"{name} is {values[name]}; it is 0 or more")
    if values["topic"] == "":
        raise FaultError("topic is empty; leave it out for any topic")
    asked = [
        each if limits.versions is None else replace(each, versions=each.versions & limits.versions)
        for each in apis
        if limits.api_key in (None, each.api_key)
    ]
    if all(each.versions.empty for each in asked):
        if limits.api_key is None:
            raise FaultError(f"no api is served in versions {limits.versions}")
        (served,) = (each for each in apis if each.api_key == limits.api_key)
        raise FaultError(
            f"{served.name} is not served in versions {limits.versions}, but in {served.versions}"
        )
    if values["garbage"] == "records" and limits.api_key != api_keys.FETCH:
        raise FaultError("garbage=records is for answers to Fetch; give api=Fetch, too")
    asked = [each for each in asked if not each.versions.empty]
    for name, is_possible, sentence in _POSSIBLE:
        if values[name] is None:
            continue
        left = [each for each in asked if is_possible(each.api_key, each.versions)]
        if not left:
            raise _not_together(values, limits, asked[0], f"{sentence}; leave {name} out", spelt)
        asked = left
    return limits


def _not_together(
    values: Mapping[str, Any], condition: Condition, api: Api, sentence: str, spelt: Spelling
) -> FaultError:
    """Why no request meets all conditions; ``sentence`` is about the requests of an api."""
    if condition.api_key is not None:
        versions = "" if condition.versions is None else f" in versions {api.versions}"
        return FaultError(sentence.format(f"{api.name}{versions}"))
    given = [
        text_of({spelt(each): values[each]})
        for each in ("version", "topic", "partition", "group")
        if values[each] is not None
    ]
    listed = f"{', '.join(given[:-1])} and {given[-1]}"
    return FaultError(f"no request meets {listed} together; leave one of them out")


def _condition(values: Mapping[str, Any], apis: Sequence[Api]) -> Condition:
    topic, partition = values["topic"], values["partition"]
    everything = topic is None and partition is None
    return Condition(
        api_key=None if values["api"] is None else api_key_of(values["api"], apis),
        versions=None if values["version"] is None else versions_of(values["version"]),
        target=None if everything else Target("*" if topic is None else topic, partition),
        client_id=values["client-id"],
        node=values["node"],
        group=values["group"],
    )


def effect_of(values: Mapping[str, Any], spelt: Spelling) -> Effect:
    given = [name for name in _EFFECTS if values[name] is not None]
    if not given:
        raise FaultError(f"a fault does something: give one of {', '.join(map(spelt, _EFFECTS))}")
    for name in ("delay-ms", "throttle-ms"):
        if values[name] is not None and values[name] <= 0:
            raise FaultError(f"{spelt(name)} is {values[name]}; it is 1 or more")
    for name, choices in _CHOICES.items():
        if values[name] is not None and values[name] not in choices:
            raise _unknown(f"{name} is not", values[name], choices)
    exclusive = [name for name in given if name in _EXCLUSIVE]
    if len(exclusive) > 1:
        raise FaultError(f"a fault has one of {' and '.join(exclusive)}, not both")
    if values["message"] is not None and values["error"] is None:
        raise FaultError("a message goes with an error; give error=NAME, too")
    for (name, choice), unseen in _UNSEEN.items():
        for each in unseen if values[name] == choice else ():
            if values[each] is not None:
                raise FaultError(
                    f"with {name}={choice} nothing is answered: leave {spelt(each)} out"
                )
    if values["garbage"] == "records" and values["error"] is not None:
        raise FaultError(
            "with error there are no records that could be garbage: leave one of the two out"
        )
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
    if any(
        _plain(text) == _plain(each.name) or text == str(each.api_key) for each in api_versions()
    ):
        raise FaultError(
            f"there is no api {name!r} in this cluster; kap cluster versions lists those it serves"
        )
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
        code = error_code(text).code
    except UnknownErrorCodeError as error:
        raise FaultError(str(error)) from None
    if not code:
        raise FaultError(f"{text} is no error: leave error out, or name one")
    return code


def _number(name: str, value: str) -> int:
    if not value.isdigit():
        raise FaultError(f"{name} is a whole number, not {value!r}")
    return int(value)


def _unknown(what: str, name: object, known: Iterable[str]) -> FaultError:
    names = list(known)
    plain = {_plain(each): each for each in names}
    near = [plain[each] for each in near_names(_plain(str(name)), plain)]
    if not near and len(names) <= 20:
        return FaultError(f"{what} {name!r}; there are {', '.join(names)}")
    return FaultError(f"{what} {name!r}{did_you_mean(near)}")
