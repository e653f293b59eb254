"""One fault: its condition, its effect, and how often it has fired."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Literal, Self

import msgspec

from kafka_admin_proto.counts import counted
from kafka_admin_proto.faults.groups import groups_of
from kafka_admin_proto.faults.topics import Target
from kafka_admin_proto.protocol.error_answers import Failure
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.values import Message

#: When the connection is cut: before the request is carried out, within its answer or after it.
Cut = Literal["before", "within", "after"]
#: The message that is lost: the request, or the answer to a request that was carried out.
Lost = Literal["request", "answer"]
#: The part of the answer that is wrong: its correlation id, its size, all bytes, or the last byte
#: of each batch of records, whose checksum it does not fit.
Garbage = Literal["correlation-id", "size", "noise", "records"]


class Condition(msgspec.Struct, frozen=True):
    """The requests that a fault is for; None is any. ``client_id`` and ``group`` are patterns."""

    api_key: int | None = None
    versions: VersionRange | None = None
    target: Target | None = None
    client_id: str | None = None
    node: int | None = None
    group: str | None = None

    def holds(self, api_key: int, version: int, client_id: str | None, node: int | None) -> bool:
        """Whether a request meets the condition, whatever it is about."""
        return (
            self.api_key in (None, api_key)
            and (self.versions is None or version in self.versions)
            and self.node in (None, node)
            and (self.client_id is None or fnmatchcase(client_id or "", self.client_id))
        )

    def names_group(self, request: Message | None) -> bool:
        """Whether a request names a group of the condition."""
        return self.group is None or (
            request is not None
            and any(fnmatchcase(each, self.group) for each in groups_of(request))
        )


class Effect(msgspec.Struct, frozen=True):
    """The effect of a fault on a request and its answer; times are in milliseconds."""

    delay_ms: int = 0
    throttle_ms: int = 0
    failure: Failure | None = None
    cut: Cut | None = None
    drop: Lost | None = None
    garbage: Garbage | None = None

    @property
    def changes_fields(self) -> bool:
        """Whether it changes fields of an answer, and not its bytes alone."""
        return bool(self.failure or self.throttle_ms or self.garbage == "records")


class Fault:
    """A fault as ``Faults.add`` gives it. A context manager that removes it.

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
        return f"<Fault {self.text}, fired {counted(self.fired, 'times')}>"

    @property
    def is_spent(self) -> bool:
        """Whether it has fired ``count`` times."""
        return self.count is not None and self.fired >= self.count

    def remove(self) -> None:
        """Let the fault fire no more; ``fired`` stays. A fault may be removed twice."""
        self._remove(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()
