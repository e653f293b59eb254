"""A ``Caller`` without a network: functions answer in the place of brokers.

    caller = FakeCaller({ListGroupsRequest: lambda request, call: ListGroupsResponse(...)})

Requests and responses pass through their codecs at the version that the client would use, so that
a field that the version lacks is an error here as well. Mix it with the operations under test:
``class Client(GroupOperations, FakeCaller): ...``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from kafka_admin_proto.admin.caller import Broker, Caller, Reply, Target
from kafka_admin_proto.admin.errors import RequestTimedOutError
from kafka_admin_proto.admin.retry import Backoff
from kafka_admin_proto.codec import codec
from kafka_admin_proto.errors import UnsupportedVersionError
from kafka_admin_proto.protocol.versions import api_versions
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.values import Message

_R = TypeVar("_R", bound=Message)

ALL_VERSIONS = {api.api_key: api.versions for api in api_versions()}


class Call(msgspec.Struct, frozen=True):
    """One request as a broker saw it. ``broker`` is the id of the broker that was asked."""

    request: Message
    broker: int
    version: int
    to: int | Target
    repeatable: bool


#: An answer, or the exception that the client would raise.
Handler = Callable[[Message, Call], Message | Exception]


class FakeCaller(Caller):
    """Brokers (ids from 1 by default) whose answers come from ``handlers`` by request class.

    ``versions`` replaces what brokers speak for some api keys (``VersionRange.NONE``: not at all).
    ``calls`` keeps what was asked, in order. ``lost`` are requests whose next answer is lost, so
    that they are sent again, but for those that only validate.
    """

    default_timeout = 5.0
    backoff = Backoff(0, 0)

    def __init__(
        self,
        handlers: Mapping[type[Message], Handler],
        *,
        brokers: Sequence[int] = (1, 2, 3),
        controller: int | None = None,
        versions: Mapping[int, VersionRange] | None = None,
    ) -> None:
        self.handlers = dict(handlers)
        self.known = {id_: Broker(id_, "127.0.0.1", 9092 + id_) for id_ in brokers}
        self.controller = brokers[0] if controller is None else controller
        self.spoken = {**ALL_VERSIONS, **(versions or {})}
        self.calls: list[Call] = []
        self.lost: set[type[Message]] = set()
        #: Brokers that are no longer live when that is looked up again.
        self.gone: set[int] = set()
        #: What a look-up of the brokers waits for in vain; it may take 0.1 s.
        self.silent = ""

    async def call(
        self,
        request: Message,
        response: type[_R],
        *,
        to: int | Target = Target.ANY,
        timeout: float | None = None,
        repeatable: bool = True,
        versions: VersionRange | None = None,
    ) -> Reply[_R]:
        asked = (request, response, to, repeatable, versions)
        reply = self._sent(*asked)
        if type(request) in self.lost and not getattr(request, "validate_only", False):
            self.lost.discard(type(request))
            return msgspec.structs.replace(self._sent(*asked), maybe_repeated=True)
        return reply

    def _sent(
        self,
        request: Message,
        response: type[_R],
        to: int | Target,
        repeatable: bool,
        versions: VersionRange | None,
    ) -> Reply[_R]:
        assert request.api_key is not None
        usable = self.spoken.get(request.api_key, VersionRange.NONE)
        if versions is not None:
            usable = usable & versions
        broker = self._broker(to)
        if usable.empty:
            raise UnsupportedVersionError(f"{request.message_name}: broker {broker} has none of it")
        version = usable.highest
        seen = type(request).decode(request.encode(version), version)
        call = Call(seen, broker, version, to, repeatable)
        self.calls.append(call)
        answer = self.handlers[type(request)](seen, call)
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, response), f"{answer} is no {response}"
        made = codec(response, version)
        return Reply(made.decode(made.encode(answer)), broker, version)

    def _broker(self, to: int | Target) -> int:
        if isinstance(to, int):
            return to
        return self.controller if to is Target.CONTROLLER else next(iter(self.known))

    async def brokers(
        self, *, refresh: bool = False, timeout: float | None = None
    ) -> Mapping[int, Broker]:
        if self.silent:
            assert timeout is not None
            assert timeout <= 0.1
            raise RequestTimedOutError(f"waiting for {self.silent}")
        if refresh:
            return {id_: each for id_, each in self.known.items() if id_ not in self.gone}
        return self.known

    async def versions(
        self, broker: int | Target = Target.ANY, *, timeout: float | None = None
    ) -> Mapping[int, VersionRange]:
        return {key: spoken for key, spoken in self.spoken.items() if not spoken.empty}

    async def call_all(
        self,
        request: Message,
        response: type[_R],
        *,
        brokers: Sequence[int] | None = None,
        timeout: float | None = None,
    ) -> Mapping[int, Reply[_R] | Exception]:
        answers: dict[int, Reply[_R] | Exception] = {}
        for broker in self.known if brokers is None else brokers:
            try:
                answers[broker] = await self.call(request, response, to=broker, timeout=timeout)
            except Exception as error:
                answers[broker] = error
        return answers


def by_partition(request: Any, topic: Any, row: Callable[[str, Any], Any]) -> list[Any]:
    """The answer to a request for partitions: a row for each, within a row of ``topic``."""
    return [
        topic(each.name, partitions=[row(each.name, one) for one in each.partitions])
        for each in request.topics
    ]
