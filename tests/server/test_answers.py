"""Answers that are kept as bytes are those that would be made anew, and never of yesterday."""

from __future__ import annotations

from kafka_admin_proto.messages import CreateTopicsRequest, MetadataRequest
from kafka_admin_proto.protocol.payload_writers import write_request
from kafka_admin_proto.protocol.payloads import Request, read_request
from kafka_admin_proto.server.answers import Answers
from kafka_admin_proto.values import Message
from tests.everything import draws
from tests.server.differential.machine import run_steps
from tests.server.differential.requests.drawing import Step
from tests.server.served import DrawnSteps, Served
from tests.server.test_create_topics import topic


def seen(message: Message, version: int) -> Request:
    request = read_request(write_request(message, version, 1))
    request.read_body()
    return request


def test_kept_until_the_log_goes_on() -> None:
    served = Served()
    answers = Answers(served.state)
    question = seen(MetadataRequest(topics=None), 12)
    assert answers.encoded(1, question) is None
    first = answers.answer(1, question)
    assert answers.encoded(1, question) == first
    assert answers.encoded(2, question) is None
    served.ask(CreateTopicsRequest([topic("a")], timeout_ms=1000))
    assert answers.encoded(1, question) is None
    assert answers.answer(1, question) != first


class _Compared(DrawnSteps):
    """Each answer that is kept is the one that would be made."""

    def reset(self) -> None:
        super().reset()
        self._answers = Answers(self.served.state)

    def request(self, step: Step, request: Message) -> None:
        question = seen(request, step.version)
        kept = self._answers.encoded(step.node + 1, question)
        made = self._answers.answer(step.node + 1, question)
        assert kept is None or kept == made


def test_kept_answers_are_the_ones_that_would_be_made() -> None:
    run_steps(_Compared(), draws(240))
