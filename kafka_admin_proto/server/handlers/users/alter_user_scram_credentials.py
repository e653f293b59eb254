"""AlterUserScramCredentials: sets and deletes the passwords of users (KIP-554).

Versions: 0.
"""

from __future__ import annotations

from typing import Any

from kafka_admin_proto.messages import RemoveUserScramCredentialRecord
from kafka_admin_proto.messages.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kafka_admin_proto.messages.alter_user_scram_credentials_response import (
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.security.authorizer.rules import ALTER
from kafka_admin_proto.server.security.scram import check_iterations, check_user, credential
from kafka_admin_proto.server.state import State
from kafka_admin_proto.values import Message


@handler(of_broker=False, needs=Gate(ALTER, "operation"), kept=False)
def handle(state: State, request: AlterUserScramCredentialsRequest, caller: Caller) -> Answer:
    """One change for each user; a user who is in the request twice stays unchanged."""
    deletions: dict[str, ScramCredentialDeletion] = {}
    upsertions: dict[str, ScramCredentialUpsertion] = {}
    failures: dict[str, ApiFailure] = {}
    for deletion in request.deletions:
        name = deletion.name
        try:
            _check_once(name, failures, deletions)
            check_user(name, deletion.mechanism)
            if (name, deletion.mechanism) not in state.cluster.scram_users:
                text = "Attempt to delete a user credential that does not exist"
                raise ApiFailure(codes.RESOURCE_NOT_FOUND, text)
            deletions[name] = deletion
        except ApiFailure as failure:
            failures[name] = failure
    for upsertion in request.upsertions:
        name = upsertion.name
        try:
            _check_once(name, failures, deletions, upsertions)
            check_user(name, upsertion.mechanism)
            check_iterations(upsertion.iterations)
            if not upsertion.salted_password:  # Java makes no key of no bytes
                raise ApiFailure(codes.UNKNOWN_SERVER_ERROR)
            upsertions[name] = upsertion
        except ApiFailure as failure:
            failures[name] = failure
    records: list[Message] = [
        RemoveUserScramCredentialRecord(name, each.mechanism) for name, each in deletions.items()
    ]
    records += [
        credential(name, each.mechanism, each.salt, each.salted_password, each.iterations)
        for name, each in upsertions.items()
    ]
    rows = [AlterUserScramCredentialsResult(name, 0, None) for name in (*deletions, *upsertions)]
    rows += [
        AlterUserScramCredentialsResult(name, failure.code, failure.message)
        for name, failure in failures.items()
    ]
    return Answer(AlterUserScramCredentialsResponse(results=rows), records)


def _check_once(name: str, failures: dict[str, ApiFailure], *planned: dict[str, Any]) -> None:
    """Raises the user's ApiFailure, or one for a second change, which undoes the first."""
    if name in failures:
        raise failures[name]
    if any([each.pop(name, None) for each in planned]):
        text = "A user credential cannot be altered twice in the same request"
        raise ApiFailure(codes.DUPLICATE_RESOURCE, text)
