"""The interface between a node and the world that runs it.

A node does no input or output of its own: it gets requests, and sends, waits and notes by its
context. A crash drops the object; what outlives it is what it wrote to its disk.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from kafka_admin_proto.values import Message

#: Gets the body of the response, or None when the connection was lost before it came.
OnResponse = Callable[[Message | None], None]
#: Cancels what it was returned for; harmless once that has run.
Cancel = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Request:
    """A request as its receiver decoded it from the frame."""

    #: The node that sent it.
    source: int
    version: int
    correlation_id: int
    client_id: str | None
    body: Message

    @property
    def api(self) -> str:
        """The name without its ending: "LeaderAndIsr"."""
        return self.body.message_name.removesuffix("Request")


class ConnectionRefused(Exception):
    """Raised by ``handle``: the node closes the connection instead of answering."""


class NodeContext(Protocol):
    """One life of a node, from its start to its crash: afterwards none of its calls come back."""

    @property
    def node_id(self) -> int:
        """The node's own id, by which others send to it."""
        ...

    @property
    def now_ms(self) -> int:
        """Virtual time since the world began."""
        ...

    @property
    def random(self) -> Random:
        """This node's own source, seeded by the world's seed and the node's id."""
        ...

    def call_later(self, delay_ms: int, call: Callable[[], None]) -> Cancel:
        """Call once the delay has passed, unless it is cancelled or the node crashes before."""
        ...

    def send(self, node_id: int, body: Message, version: int, on_response: OnResponse) -> None:
        """Encode a request and send it on the connection to a node, which is opened if need be.

        ``on_response`` is called exactly once while the sender lives.
        """
        ...

    def respond(self, request: Request, body: Message) -> None:
        """Answer a request for which ``handle`` returned None, some time later."""
        ...

    def note(self, text: str, **fields: Any) -> None:
        """Put an event into the trace. Fields have values of JSON: ids of topics are texts."""
        ...


class Node(Protocol):
    """What the world runs."""

    def start(self) -> None:
        """Called once, when the node has its context; it may send and wait from here on."""
        ...

    def handle(self, request: Request) -> Message | None:
        """Return the response's body, or None when ``respond`` will be called or nobody answers.

        Raises ConnectionRefused to close the connection.
        """
        ...

    def state(self) -> dict[str, Any]:
        """What the node knows, as values of JSON in an order that is the same in each run."""
        ...
