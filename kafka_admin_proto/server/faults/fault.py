"""One fault: its condition, its effect, and how often it has fired."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from types import TracebackType
from typing import Literal, Self

import msgspec

from kafka_admin_proto.protocol.payload_values import Request
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.faults.error_answers import Failure
from kafka_admin_proto.server.faults.topics import Target
from kafka_admin_proto.server.handlers import Caller

#: When the connection is cut: before the request is carried out, within its answer or after it.
Cut = Literal["before", "within", "after"]
#: The message that is lost: the request, or the answer to a request that was carried out.
Lost = Literal["request", "answer"]
#: The part of the answer that is wrong: its correlation id, its size, or all bytes.
Garbage = Literal["correlation-id", "size", "noise"]


class Condition(msgspec.Struct, frozen=True):
    """The requests that a fault is for; None is any. ``client_id`` is a shell pattern."""

    api_key: int | None = None
    versions: VersionRange | None = None
    target: Target | None = None
    client_id: str | None = None
    node: int | None = None

    def holds(self, caller: Caller, request: Request, view: View) -> bool:
        """Whether a request meets the condition."""
        return (
            self.api_key in (None, request.api_key)
            and (self.versions is None or request.api_version in self.versions)
            and self.node in (None, caller.node_id)
            and (self.client_id is None or fnmatchcase(caller.client_id or "", self.client_id))
            and (
                self.target is None
                or (request.body is not None and self.target.is_asked_for(request.body, view))
            )
        )


class Effect(msgspec.Struct, frozen=True):
    """The effect of a fault on a request and its answer; times are in milliseconds."""

    delay_ms: int = 0
    throttle_ms: int = 0
    failure: Failure | None = None
    cut: Cut | None = None
    drop: Lost | None = None
    garbage: Garbage | None = None


class Fault:
    """A fault of a cluster, as ``Faults.add`` gives it. A context manager that removes it.

    ``fired`` is how often it has fired, and may be read in any thread; it fires at most ``count``
    times. ``text`` is the fault in the words of ``kap serve --fault``.
    """

    def __init__(
        self,
        text: str,
        condition: Condition,
        effect: Effect,
        count: int | None,
        remove: Callable[[Fault], None],
    ) -> None:
        self.text = text
        self.condition = condition
        self.effect = effect
        self.count = count
        self.fired = 0
        self._remove = remove

    def __repr__(self) -> str:
        return f"<Fault {self.text}, fired {self.fired} times>"

    @property
    def is_spent(self) -> bool:
        """Whether it has fired ``count`` times."""
        return self.count is not None and self.fired >= self.count

    def remove(self) -> None:
        """Let the fault fire no more; ``fired`` stays. A fault may be removed twice."""
        self._remove(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()
