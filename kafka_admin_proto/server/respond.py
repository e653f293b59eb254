"""Answers of the handlers to requests, bounded and authorized."""

from __future__ import annotations

from typing import Any

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.protocol.error_answers import Failure, whole_answer
from kafka_admin_proto.server.apis import Answer, Caller, ServedApi, served
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import MOST_RECORDS, TOO_MANY_RECORDS, ApiFailure
from kafka_admin_proto.values import Message


def respond(state: View, api_key: int, request: Any, caller: Caller) -> Answer:
    """The answer to a request; a refusal if the caller is not authorized for it.

    An ApiFailure that a handler raises is one of the whole request: all its rows have the code, as
    Kafka's ``handleError`` answers any exception.
    """
    api = _api(state, api_key, request)
    if request.dialect != "kafka":
        answer: Answer = api.handle(state, request, caller)
        return answer
    refused = _refused(state, api, request, caller)
    if refused is not None:
        return refused
    try:
        return _bounded(api.handle(state, request, caller))
    except ApiFailure as failure:
        return _failed(request, caller, failure)


def _api(state: View, api_key: int, request: Message) -> ServedApi:
    """The row of a request's api. KIP-4's rules are those of Kafka's own message."""
    rules = state.controller_state.rules
    return served(api_key, rules if rules == "kip-4" else request.dialect)


def _refused(state: View, api: ServedApi, request: Any, caller: Caller) -> Answer | None:
    if api.check is not None:
        api.check(request)
    if api.needs is not None and state.is_authorized:
        from kafka_admin_proto.server.security.authorizer.gates import refusal  # slow to import

        refused = refusal(state, api.needs, request, caller)
        if refused is not None:
            return Answer(refused)
    return None


def _bounded(answer: Answer) -> Answer:
    """The answer. Raises ApiFailure if it makes more records than one request may.

    Handlers of apis that refuse a part of such a request have done so.
    """
    if len(answer.records) > MOST_RECORDS:
        raise ApiFailure(codes.POLICY_VIOLATION, TOO_MANY_RECORDS)
    return answer


def _failed(request: Message, caller: Caller, failure: ApiFailure) -> Answer:
    """The answer of a request that fails as a whole."""
    return Answer(whole_answer(request, caller.version, Failure(failure.code, failure.message)))
