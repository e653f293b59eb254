"""The state of one call: its request and target, its deadline, and its attempts so far."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from kafka_admin_proto.admin.caller import Target
from kafka_admin_proto.admin.errors import ConnectionLostError, RequestTimedOutError
from kafka_admin_proto.admin.network.connection import BrokerConnection
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.admin.session.effects import Effect, effect_of
from kafka_admin_proto.errors import UnsupportedVersionError
from kafka_admin_proto.protocol.addresses import Address
from kafka_admin_proto.protocol.payloads import api_name
from kafka_admin_proto.protocol.versions import supported
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.values import Message

_R = TypeVar("_R", bound=Message)

#: Addresses that an error message names.
_NAMED = 10
#: What may be an address in a sentence, with a colon behind it.
_WORD = re.compile(r"[^\s;,()]+")


class Call(Generic[_R]):
    """A request, where it goes, its time, and its attempts."""

    def __init__(
        self,
        request: Message,
        response: type[_R],
        to: int | Target,
        deadline: Deadline,
        *,
        repeatable: bool = True,
        versions: VersionRange | None = None,
        single_attempt: bool = False,
    ) -> None:
        self.request = request
        self.response = response
        self.to = to
        self.deadline = deadline
        self.repeatable = repeatable
        self.versions = versions
        #: Whether the caller itself makes the further attempts.
        self.single_attempt = single_attempt
        self.attempts = 0
        #: What the call waits for now, in the words of error messages.
        self.waiting = "a connection"
        self.last_error = ""
        #: Why the controller was not asked directly.
        self.controller_error = ""
        #: Whether the call waits for the list of brokers, which itself or another one asks for.
        self.needs_view = False
        self.is_sent = False
        self.maybe_repeated = False
        #: Where this call was not answered, in order; it goes to other brokers where it can.
        self.failed: dict[Address, None] = {}

    @property
    def api(self) -> str:
        request = self.request
        return api_name(request.api_key or 0, request.dialect) or request.message_name

    @property
    def only_reads(self) -> bool:
        return effect_of(self.request.message_name) is Effect.READS

    @property
    def fits_any(self) -> bool:
        """Whether another broker may be asked the same before the first one has answered."""
        return self.to is Target.ANY and self.repeatable and self.only_reads

    def unanswered(self, connection: BrokerConnection, seconds: float) -> ConnectionLostError:
        """The error for a broker that did not answer in time."""
        return ConnectionLostError(
            f"{connection.name} did not answer {self.api} for {round(seconds, 2):g} s",
            address=str(connection.address),
            may_have_acted=True,
        )

    def timed_out(self, reading: Call[Any] | None = None) -> RequestTimedOutError:
        """The error for a call whose deadline is over; ``reading`` asks for the list of brokers."""
        may_have_acted = not self.only_reads and (self.is_sent or self.maybe_repeated)
        parts = [f"{self.api} was not done within {round(self.deadline.seconds, 3):g} s"]
        asked = reading if reading and self.needs_view else self
        why = "" if asked is self else ", to know the brokers"
        parts.append(f"waiting for {asked.waiting}{why}")
        if last_error := asked.last_error or self.last_error:
            parts.append(f"the last error was: {last_error}")
        named = {word.rstrip(":") for word in _WORD.findall(" ".join(parts))}
        if others := [each for each in asked.failed if str(each) not in named]:
            parts.append(f"{listed(others, 'and')} did not answer either")
        if may_have_acted:
            parts.append("the request was sent, and the cluster may still act on it")
        return RequestTimedOutError("; ".join(parts), may_have_acted=may_have_acted)


def listed(addresses: Sequence[Address], joint: str) -> str:
    """Addresses in a sentence, with ``joint`` ("and", "or") between them; the first ten."""
    named = [*map(str, addresses[:_NAMED])]
    if len(addresses) > _NAMED:
        named.append(f"{len(addresses) - _NAMED} more")
    return f" {joint} ".join(named)


def highest_shared_version(call: Call[Any], connection: BrokerConnection) -> int:
    """The highest version that the broker, this package and the call have.

    Raises UnsupportedVersionError, which names the broker's versions and those that are needed.
    """
    ours = supported(call.request.message_name, dialect=call.request.dialect)
    wanted = ours if call.versions is None else call.versions
    theirs = connection.apis.get(call.request.api_key or 0)
    if theirs is None:
        release = connection.max_release
        limit = "" if release is None else f" in a version of Kafka {release} (max_release)"
        raise UnsupportedVersionError(f"{connection.name} does not have {call.api}{limit}")
    shared = theirs & wanted
    if call.versions is not None and not (shared & ours).empty:
        shared = shared & ours
    if shared.empty:
        raise UnsupportedVersionError(
            f"{connection.name} has {call.api} in versions {theirs}, and versions {wanted} are "
            "needed"
        )
    return shared.highest
