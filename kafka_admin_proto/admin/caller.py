"""The interface that operations send requests by: ``Caller``, with what it takes and returns.

`session.session.Session` implements it. Operations use nothing else of the network, so that tests
run them without one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import Enum
from inspect import iscoroutinefunction
from typing import Any, Generic, TypeVar

import msgspec

from kafka_admin_proto.admin.retry import Backoff, Deadline
from kafka_admin_proto.arguments import checks_arguments
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.values import Message

_R = TypeVar("_R", bound=Message)


class Target(Enum):
    """Which broker a request is for, where no id is given."""

    #: Any live broker.
    ANY = "any"
    #: The active controller, or in a KRaft cluster a broker, which forwards to it.
    CONTROLLER = "controller"


class Broker(msgspec.Struct, frozen=True):
    """A broker, or a controller when the client was started from controllers."""

    id: int
    host: str
    port: int
    rack: str | None = None


class Reply(msgspec.Struct, Generic[_R], frozen=True):
    """An answer, and what the client did to get it.

    ``maybe_repeated`` says that an earlier attempt was sent and its answer lost, so that the
    broker may have seen this request twice: TOPIC_ALREADY_EXISTS may then mean that the earlier
    attempt created the topic.
    """

    body: _R
    broker: int
    version: int
    maybe_repeated: bool = False


class Caller(ABC):
    """Sends requests to the brokers of one cluster.

    Every operation, a public coroutine of a subclass, has its arguments held against their
    annotations before it runs: a wrong one is a TypeError, and nothing is sent. Annotations whose
    names exist for type checkers alone are not looked at.
    """

    #: Seconds for all attempts of a call without a timeout of its own.
    default_timeout: float = 60.0
    #: Whether the cluster is its controllers: the client was started from them.
    asks_controllers: bool = False
    #: "kafka", or the draft of KIP-4 whose messages are sent where it has them.
    dialect: str = "kafka"
    #: Pauses between attempts of a call, and between those of an operation's single items.
    backoff: Backoff = Backoff()

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        for name, method in list(vars(cls).items()):
            if iscoroutinefunction(method) and not name.startswith("_"):
                setattr(cls, name, checks_arguments(method))

    @abstractmethod
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
        """The answer to ``request``, at the highest version that both sides have.

        ``versions`` narrows what may be used (features that older versions lack). ``timeout`` is
        in seconds for all attempts together, the client's own by default. ``repeatable`` says
        that sending it twice does no harm beyond what Reply.maybe_repeated says; without it the
        request is sent again only if it surely was not sent. A response whose top-level
        error_code is transient (retry.TRANSIENT) is repeated too, and NOT_CONTROLLER (on top or in
        any item) with ``to=Target.CONTROLLER`` finds the controller anew and asks there.

        Raises ConnectionFailedError, RequestTimedOutError, UnsupportedVersionError (naming the
        broker and what it has), RemoteProtocolError. Error codes in the answer are left to the
        caller.
        """

    async def call_owner(
        self,
        request: Message,
        response: type[_R],
        *,
        to: int,
        timeout: float | None = None,
        versions: VersionRange | None = None,
    ) -> Reply[_R]:
        """The answer of the broker that an item belongs to, as far as the caller knows.

        There is one attempt, because a second one may have to go to another broker: a connection
        that fails raises at once, and a transient error_code is left in the answer.
        ``operations.common.routing`` then looks the broker up again. Otherwise as ``call``.
        """
        return await self.call(request, response, to=to, timeout=timeout, versions=versions)

    @abstractmethod
    async def brokers(
        self, *, refresh: bool = False, timeout: float | None = None
    ) -> Mapping[int, Broker]:
        """The live brokers by id, as the client last read them; ``refresh`` reads them again."""

    @abstractmethod
    async def versions(
        self, broker: int | Target = Target.ANY, *, timeout: float | None = None
    ) -> Mapping[int, VersionRange]:
        """The versions that a broker supports, by api key."""

    @abstractmethod
    async def call_all(
        self,
        request: Message,
        response: type[_R],
        *,
        brokers: Sequence[int] | None = None,
        timeout: float | None = None,
    ) -> Mapping[int, Reply[_R] | Exception]:
        """The same request to each of the brokers (all live ones by default), side by side.

        A broker that fails has its exception in the mapping; the others are not affected.
        """


def call_deadline(caller: Caller, timeout: float | None) -> Deadline:
    """The end of a call that begins now: ``timeout`` seconds, or the client's own where None."""
    return Deadline(caller.default_timeout if timeout is None else timeout)
