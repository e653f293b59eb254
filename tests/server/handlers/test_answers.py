"""Answers that are kept as bytes are those that would be made anew, and never of yesterday."""

from __future__ import annotations

import math

from kafka_admin_proto.errors import RemoteProtocolError
from kafka_admin_proto.messages import CreateTopicsRequest, MetadataRequest, MetadataResponse
from kafka_admin_proto.protocol import Request, read_request, write_request
from kafka_admin_proto.server.answers import Answers
from kafka_admin_proto.server.apis import Caller
from kafka_admin_proto.server.brokers.views import Views
from kafka_admin_proto.server.respond import respond
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE, TOPIC
from kafka_admin_proto.values import Message
from tests.helpers.profile import draws
from tests.server.differential.machine import run_steps
from tests.server.differential.requests import security
from tests.server.differential.requests.drawing import Step
from tests.server.handlers.test_create_topics import topic
from tests.server.security.authorizer.test_apis import SECURED, allow
from tests.server.served import DrawnSteps, Served


def seen(message: Message, version: int) -> Request:
    request = read_request(write_request(message, version, 1))
    request.read_body()
    return request


def asked(node: int, question: Request, user: str = "ANONYMOUS") -> Caller:
    return Caller(node, question.api_version, principal=f"User:{user}", host="127.0.0.1")


def kept(answers: Answers, caller: Caller, question: Request) -> bytes | None:
    return answers.kept(answers.view(caller, question), caller, question)


def test_kept_until_the_log_goes_on() -> None:
    served = Served()
    answers = Answers(Views(served.state))
    question = seen(MetadataRequest(topics=None), 12)
    assert kept(answers, asked(1, question), question) is None
    first = answers.answer(asked(1, question), question)
    assert kept(answers, asked(1, question), question) is first
    assert answers.answer(asked(1, question), question) is first
    assert kept(answers, asked(2, question), question) is None
    served.ask(CreateTopicsRequest([topic("a")], timeout_ms=1000))
    assert kept(answers, asked(1, question), question) is None
    assert answers.answer(asked(1, question), question) != first


class _Compared(DrawnSteps):
    """Each answer that is kept is the one that would be made."""

    def reset(self) -> None:
        super().reset()
        self._answers = Answers(Views(self.served.state))

    def request(self, step: Step, request: Message) -> None:
        question = seen(request, step.version)
        for user in dict.fromkeys(self.users) or ("ANONYMOUS",):
            caller = asked(step.node + 1, question, user)
            found = kept(self._answers, caller, question)
            try:
                if found is None:
                    self._answers.answer(caller, question)
                    continue
                view = self._answers.view(caller, question)
                made = respond(view, question.api_key, question.body, caller)
            except RemoteProtocolError:  # its connection ends
                continue
            assert found == made.response.encode(question.api_version)


def test_kept_answers_are_the_ones_that_would_be_made() -> None:
    run_steps(_Compared(), draws(240))


def test_kept_answers_are_of_their_callers_alone() -> None:
    clusters = _Compared(configs=SECURED, users=["admin", "alice", "bob"])
    run_steps(clusters, draws(240), requests=security.REQUESTS, first=[security.first_topics])


def test_nobody_gets_an_answer_to_somebody_else() -> None:
    served = Served(configs=SECURED)
    served.ask(CreateTopicsRequest([topic("a")], timeout_ms=1000))
    answers = Answers(Views(served.state))
    question = seen(MetadataRequest(topics=None), 12)
    everything = answers.answer(asked(1, question, "admin"), question)
    assert kept(answers, asked(1, question, "admin"), question) is everything
    assert kept(answers, asked(1, question, "eve"), question) is None
    assert answers.answer(asked(1, question, "eve"), question) != everything
    elsewhere = Caller(1, 12, principal="User:admin", host="10.0.0.1")
    assert kept(answers, elsewhere, question) is None


def test_a_broker_that_is_behind_decides_by_what_it_knows() -> None:
    served = Served(configs=SECURED)
    served.ask(CreateTopicsRequest([topic("a")], timeout_ms=1000))
    views = Views(served.state)
    views.delay(2, math.inf)
    answers = Answers(views)
    allow(served, DESCRIBE, TOPIC, "a", "User:eve")
    question = seen(MetadataRequest(topics=None), 12)

    def listed(node: int) -> list[str | None]:
        body = answers.answer(asked(node, question, "eve"), question)
        assert isinstance(body, bytes)
        return [each.name for each in MetadataResponse.decode(body, version=12).topics]

    assert (listed(1), listed(2)) == (["a"], [])
    views.catch_up(2)
    assert listed(2) == ["a"]
