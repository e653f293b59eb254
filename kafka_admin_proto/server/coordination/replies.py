"""Responses that a coordinator gives when its log, or other clients, allow it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any
from uuid import uuid4
from weakref import WeakSet

from kafka_admin_proto.server.apis import Answer, Wait, WaitKey
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.values import Message


class Reply:
    """The response to one request; ``sent`` are called with its key once it is there.

    ``failed`` gives the response for an error code. A reply for which an answer waits adds itself
    to ``awaited``; most are there at once.
    """

    def __init__(
        self,
        failed: Callable[[int], Message],
        awaited: WeakSet[Reply],
        sent: Sequence[Callable[[WaitKey], None]],
    ) -> None:
        self.response: Message | None = None
        self.failed = failed
        self._awaited = awaited
        self._key: WaitKey = None
        self._sent = sent

    @property
    def key(self) -> WaitKey:
        """The key of answers that wait for it, made for the first one."""
        if self._key is None:
            self._key = (uuid4(), -1)
            self._awaited.add(self)
        return self._key

    def once_stored(self, response: Message) -> Callable[[int], None]:
        """A function that sends the response for 0, or the one of an error code."""

        def stored(code: int) -> None:
            self.send(self.failed(code) if code else response)

        return stored

    def send(self, response: Message) -> None:
        """Give the response; only the first one counts."""
        if self.response is None:
            self.response = response
            for each in self._sent if self._key is not None else ():
                each(self._key)


def answer_of(reply: Reply, empty: Message, mend: Callable[[Any], None] = lambda _: None) -> Answer:
    """The answer of a handler, which waits for the reply; ``empty`` stands in for it until then.

    ``mend`` changes the response to the form of the caller's version.
    """
    if reply.response is not None:
        mend(reply.response)
        return Answer(reply.response)

    def complete(answer: Answer, view: View, changed: Collection[WaitKey], is_over: bool) -> bool:
        if reply.response is not None:
            mend(reply.response)
            answer.response = reply.response
        return reply.response is not None

    return Answer(empty, wait=Wait(None, [reply.key], complete))


def answer_of_all(
    replies: Sequence[Reply], response: Message, records: Sequence[Message] = ()
) -> Answer:
    """The answer of a handler whose response is complete when all replies are there."""

    def complete(answer: Answer, view: View, changed: Collection[WaitKey], is_over: bool) -> bool:
        return all(each.response is not None for each in replies)

    answer = Answer(response, list(records))
    if any(each.response is None for each in replies):
        answer.wait = Wait(None, [each.key for each in replies], complete)
    return answer
