"""A broker's request log → decoded frames: the lines of ``kafka.request.logger`` at DEBUG.

Each line has ``Completed request:`` and an object with the request's header, request and response
in the shape of Kafka's JsonConverters, and times (``RequestConvertToJson``, Kafka 2.8 and newer).
The text around it comes from the log's layout; a layout of JSON objects, and what collects logs,
have it as a string somewhere in an object.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, Any, Literal, NamedTuple

from kafka_admin_proto.arguments import check_stream
from kafka_admin_proto.capture.connection.envelope import enclosed_request, enclosed_response
from kafka_admin_proto.capture.frames import DecodedFrame, LoggedBody, fault_frame
from kafka_admin_proto.capture.request_log_lines import (
    DAMAGE,
    DAMAGED,
    MARK,
    NO_REQUEST,
    logged_lines,
)
from kafka_admin_proto.capture.request_log_texts import JSON, NOT_JSON, request_texts
from kafka_admin_proto.codec import Codec, codec
from kafka_admin_proto.errors import DumpError, JsonError, KafkaAdminProtoError, UnknownMessageError
from kafka_admin_proto.protocol import api_keys, codes
from kafka_admin_proto.protocol.headers import message_of
from kafka_admin_proto.protocol.payloads import api_name
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.credentials import looks_like_credential
from kafka_admin_proto.values import Message
from kafka_admin_proto.wire.secrets import is_secret_name

_MARK = MARK.decode()
_OLD_STARTS = ("RequestHeader(", "Name:", "{api_key=")
#: What a request log had before 2.8 in the place of an object.
_OLD_TEXT = (
    "a request as brokers before 2.8 log it, as text with values left out, which is not read: "
    "2.8 and newer log JSON"
)
_SIZE = "SizeInBytes"
#: The problem of a request that the broker could not read: its log has ``{}`` instead.
_EMPTY = "the log has an empty request, since the broker does not know {}"
#: The broker's end, the client's end, and numbers that make the name unique.
_CONNECTION = re.compile(r"(.+?:\d+)-(.+?:\d+)(?:-\d+)*")
_MAX_NAME_CHARS = 600


def read_request_log(
    stream: IO[bytes], capture: str, dialect: str = "kafka"
) -> Iterator[DecodedFrame]:
    """The requests and responses of a log, two frames a line; other lines are passed over.

    Those inside of an Envelope and its response are frames of their own behind them.

    The log may be gzipped, and its lines cut into pieces by Docker or CRI. One without any request
    is a frame with that problem.
    Times are those of the layout, taken as UTC where it names no zone; the time of a request is
    that of its response less the total time. Values that Kafka hides in its log stay hidden. A
    damaged line is a frame with a problem. A response has its request as ``request``.
    """
    check_stream(stream, "read_request_log: stream")
    number = 0
    try:
        for number, line in logged_lines(stream):
            yield from frames_of_line(number, line, capture, dialect)
    except DAMAGE as error:
        yield fault_frame(capture, DumpError(DAMAGED.format(error)))
        return
    if not number:
        yield fault_frame(capture, DumpError(NO_REQUEST))


def frames_of_line(
    number: int, line: bytes, capture: str, dialect: str = "kafka"
) -> list[DecodedFrame]:
    """The frames of one line, see ``read_request_log``."""
    try:
        return list(_frames(line.decode("utf-8", "replace"), dialect, capture, number))
    except (DumpError, ValueError, OverflowError, RecursionError) as caught:
        error = caught if isinstance(caught, DumpError) else DumpError(NOT_JSON + str(caught))
        error.line = number
        logged = LoggedBody(may_be_secret=True)
        return [
            DecodedFrame(
                capture=capture, line=number, direction="data", data=line, error=error,
                logged=logged,
            )
        ]  # fmt: skip


class _Side(NamedTuple):
    """The request or the response of a line; ``logged`` is there as in `LoggedBody`."""

    direction: Literal["request", "response"]
    codec: Codec[Any] | None
    body: Message | None
    error: KafkaAdminProtoError | None
    logged: Any


def _frames(line: str, dialect: str, capture: str, number: int) -> Iterator[DecodedFrame]:
    for text, ts in request_texts(line):
        yield from _frames_of(_entry(text), ts, line, dialect, capture, number)


def _frames_of(
    entry: dict[str, Any], ts: int | None, line: str, dialect: str, capture: str, number: int
) -> Iterator[DecodedFrame]:
    header = entry.get("requestHeader")
    if not isinstance(header, dict):
        raise DumpError("a request log's line without a requestHeader")
    key, version = header.get("requestApiKey"), header.get("requestApiVersion")
    if not isinstance(key, int) or not isinstance(version, int):
        raise DumpError("a request log's line without requestApiKey and requestApiVersion")
    total = entry.get("totalTimeMs")
    latency = round(total * 1000) if isinstance(total, (int, float)) else None
    request = _side("request", entry.get("request"), key, version, dialect)
    response = _side("response", entry.get("response"), key, version, dialect)
    sides = [each for each in (request, response) if each is not None]
    ends = _CONNECTION.fullmatch((_text(entry.get("connection")) or "")[:_MAX_NAME_CHARS])
    server, client = (None, None) if ends is None else ends.groups()
    secret = _may_be_secret(sides, entry, key, dialect)
    data, api = line.encode(), api_name(key, dialect)
    before: DecodedFrame | None = None
    enclosed: DecodedFrame | None = None
    for side in sides:
        is_response = side.direction == "response"
        asked_at = ts if ts is None or latency is None else ts - latency
        before = DecodedFrame(
            capture=capture,
            line=number,
            connection=_text(entry.get("connection")),
            direction=side.direction,
            ts=ts if is_response else asked_at,
            client=client,
            server=server,
            data=data,
            api=api,
            api_key=key,
            api_version=version,
            correlation_id=_integer(header.get("correlationId")),
            client_id=_text(header.get("clientId")),
            principal=_text(entry.get("principal")),
            latency_us=latency if is_response else None,
            forwarded=entry.get("isForwarded") is True,
            codec=side.codec,
            body=side.body,
            error=side.error,
            client_software=_software(entry.get("clientInformation")),
            logged=LoggedBody(side.logged, secret),
            request=before,
        )
        yield before
        enclosed = _enclosed(before, enclosed, dialect)
        if enclosed is not None:
            yield enclosed


def _enclosed(
    outer: DecodedFrame, request: DecodedFrame | None, dialect: str
) -> DecodedFrame | None:
    """The frame inside an Envelope, or in the response to one whose ``request`` was inside."""
    if outer.api_key != api_keys.ENVELOPE or outer.body is None:
        return None
    if outer.direction == "request":
        return enclosed_request(outer, dialect)
    if request is None or request.api_key is None or request.api_version is None:
        return None
    return enclosed_response(
        outer, request.api_key, request.api_version, request.client_id, request, dialect
    )


def _side(
    direction: Literal["request", "response"], logged: Any, key: int, version: int, dialect: str
) -> _Side | None:
    """One side of a line; None for a response that was not sent (acks=0) or not logged."""
    if logged in ("", None):
        return None
    try:
        codec, body, sized = _read(direction, logged, key, version, dialect)
    except (JsonError, UnknownMessageError) as error:
        api = api_name(key, dialect)
        if direction == "request" and logged == {} and api is not None:
            unknown = UnknownMessageError(_EMPTY.format(f"{api} v{version}"))
            return _Side(direction, None, None, unknown, logged)
        if direction == "response" and (fallback := _fallback(logged, key)) is not None:
            return fallback
        return _Side(direction, None, None, error, logged)
    return _Side(direction, codec, body, None, logged if sized else None)


def _read(
    direction: str, logged: Any, key: int, version: int, dialect: str
) -> tuple[Codec[Any], Message, bool]:
    """The codec and the body of logged JSON, and whether it has the sizes of records."""
    codec = _codec(direction, key, version, dialect)
    # A message with records has no secrets; in others such a field is not the message's own.
    sized = not codec.spec.has_secrets and _with_sizes(logged)
    return codec, codec.from_json(_without_sizes(logged) if sized else logged), sized


def _fallback(logged: Any, key: int) -> _Side | None:
    """The ApiVersions response of version 0 by which a broker refuses the request's version."""
    if key != api_keys.API_VERSIONS:
        return None
    try:
        codec, body, _ = _read("response", logged, key, 0, "kafka")
    except JsonError:
        return None
    refused = getattr(body, "error_code", 0) == codes.UNSUPPORTED_VERSION
    return _Side("response", codec, body, None, None) if refused else None


def _may_be_secret(sides: list[_Side], entry: dict[str, Any], key: int, dialect: str) -> bool:
    """Whether request or response may hold a credential; errors then forget what they quote."""
    secret = any(_may_hold_secrets(each, key, dialect) for each in ("request", "response"))
    unread = [each for each in sides if each.error is not None and each.logged != {}]
    # The api key may be a wrong one: the names in the bodies show their messages.
    if unread and any(_has_secret_names(entry.get(each.direction)) for each in sides):
        secret = True
        for side in unread:
            if isinstance(side.error, JsonError):  # about another message: it may quote a value
                side.error.forget_value()
    return secret


def _software(information: Any) -> str | None:
    if not isinstance(information, dict):
        return None
    names = (_text(information.get(name)) for name in ("softwareName", "softwareVersion"))
    return " ".join(each for each in names if each and each != "unknown") or None


def _codec(direction: str, key: int, version: int, dialect: str) -> Codec[Any]:
    found = message_of(key, version, direction, dialect)
    if found is None:
        raise UnknownMessageError(f"unknown api key {key}")
    return codec(found[0], version, dialect=found[1])


def _may_hold_secrets(direction: str, key: int, dialect: str) -> bool:
    """Whether a body that does not read may have a credential in it."""
    try:
        found = message_of(key, -1, direction, dialect)
    except UnknownMessageError:
        return False
    return found is not None and catalog().spec(*found).has_secrets


def _has_secret_names(logged: Any) -> bool:
    """Whether any key, or any config's name, is one that credentials have."""
    if isinstance(logged, list):
        return any(map(_has_secret_names, logged))
    if not isinstance(logged, dict):
        return False
    return any(
        looks_like_credential(key)
        or is_secret_name(key)
        or (isinstance(value, str) and is_secret_name(value))
        or _has_secret_names(value)
        for key, value in logged.items()
    )


def _entry(text: str) -> dict[str, Any]:
    start = text.find(_MARK) + len(_MARK)
    if text[start:].startswith(_OLD_STARTS):
        raise DumpError(_OLD_TEXT)
    try:
        entry, _ = JSON.raw_decode(text[start:].lstrip())
    except (ValueError, RecursionError) as error:
        raise DumpError(f"{NOT_JSON}{error}") from None
    if not isinstance(entry, dict):
        raise DumpError("a request log's line without an object")
    return entry


def _with_sizes(logged: Any) -> bool:
    """Whether the log has the sizes of records in their place."""
    if isinstance(logged, dict):
        return any(key.endswith(_SIZE) or _with_sizes(value) for key, value in logged.items())
    return isinstance(logged, list) and any(map(_with_sizes, logged))


def _without_sizes(logged: Any) -> Any:
    """The same with empty records in the place of their sizes."""
    if isinstance(logged, list):
        return [_without_sizes(each) for each in logged]
    if not isinstance(logged, dict):
        return logged
    return {
        key.removesuffix(_SIZE): "" if key.endswith(_SIZE) else _without_sizes(value)
        for key, value in logged.items()
    }


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
