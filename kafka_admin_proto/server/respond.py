"""Answers of the handlers to requests, bounded and authorized."""

from __future__ import annotations

from typing import Any

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.protocol.error_answers import Failure, whole_answer
from kafka_admin_proto.server.apis import Answer, Caller, ServedApi, row_of
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import MOST_RECORDS, TOO_MANY_RECORDS, ApiFailure


def respond(state: View, api_key: int, request: Any, caller: Caller) -> Answer:
    """The answer to a request; a refusal if the caller is not authorized for it.

    An ApiFailure that a handler raises is one of the whole request: all its rows have the code, as
    Kafka's ``handleError`` answers any exception.
    """
    api = row_of(api_key, request.dialect, state.controller_state.rules)
    if request.dialect != "kafka":
        answer: Answer = api.handle(state, request, caller)
        return answer
    if api.check is not None:
        api.check(request)
    if api.needs is not None and state.is_authorized:
        from kafka_admin_proto.server.security.authorizer.access import refusal  # slow to import

        refused = refusal(state, api.needs, request, caller)
        if refused is not None:
            return Answer(refused)
    try:
        answer = api.handle(state, request, caller)
        # Handlers of apis that refuse a part of such a request have done so.
        if len(answer.records) > MOST_RECORDS and not _is_of_brokers(api):
            raise ApiFailure(codes.POLICY_VIOLATION, TOO_MANY_RECORDS)
    except ApiFailure as failure:
        return Answer(whole_answer(request, caller.version, Failure(failure.code, failure.message)))
    return answer


def _is_of_brokers(api: ServedApi) -> bool:
    """Whether brokers ask an api; a heartbeat changes all partitions of one, however many."""
    from kafka_admin_proto.server.security.authorizer.rules import (
        CLUSTER_ACTION,  # slow to import
    )

    return api.needs is not None and api.needs.operation == CLUSTER_ACTION
