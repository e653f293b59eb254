"""The trace of a world: every event of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal

import msgspec

#: - ``send``, ``receive``: a frame leaves ``node`` for ``peer``, or reaches ``node`` from ``peer``
#: - ``lose``: a frame that ``node`` sent never reaches ``peer``, and their connection breaks
#: - ``cut``, ``heal``: the link between ``node`` and ``peer`` goes down, or is up again
#: - ``start``, ``crash``: ``node`` begins a life, or ends it
#: - ``store``: ``node`` changed the store that is in ZooKeeper's place, or its session ended
#: - ``note``: ``node`` says what it has done; ``step`` is the scenario's own sentence
#: - ``state``: ``fields`` is all that ``node`` knows now
EventKind = Literal[
    "send", "receive", "lose", "cut", "heal", "start", "crash", "store", "note", "step", "state"
]

#: The node of events that are the scenario's or the store's own.
NO_NODE = -1


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """One event. Events without a frame have the defaults where they have nothing to say."""

    #: Position in the trace, from 0: events of one millisecond are in this order.
    number: int
    #: Virtual time since the world began.
    at_ms: int
    kind: EventKind
    node: int = NO_NODE
    peer: int = NO_NODE
    #: The name of a frame's api without its ending ("LeaderAndIsr"); empty without a frame.
    api: str = ""
    type: Literal["request", "response", ""] = ""
    version: int = -1
    correlation_id: int = -1
    #: The whole frame: size, header and body.
    frame: bytes | None = None
    text: str = ""
    #: Values of JSON.
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Trace:
    """All events of a run, and what is needed to read them."""

    #: Whose definitions the frames are of: "kip-516" under the text's rules, else "kafka".
    dialect: str
    #: Node → what it is called: "broker 1", "client".
    names: dict[int, str] = field(default_factory=dict)
    events: list[TraceEvent] = field(default_factory=list)
    #: How many of the first events are nodes that start, before the scenario begins.
    start_up: int = 0

    def add(self, at_ms: int, kind: EventKind, node: int = NO_NODE, **rest: Any) -> None:
        self.events.append(TraceEvent(len(self.events), at_ms, kind, node, **rest))

    def to_bytes(self) -> bytes:
        """The run as lines of JSON: two runs of a seed give the same bytes."""
        return b"".join(msgspec.json.encode(event) + b"\n" for event in self.events)

    def digest(self) -> str:
        """A checksum of ``to_bytes``."""
        return sha256(self.to_bytes()).hexdigest()
