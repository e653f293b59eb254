"""DescribeUserScramCredentials: the mechanisms and iterations of users' credentials (KIP-554).

Versions: 0.
"""

from __future__ import annotations

from collections import Counter

from kafka_admin_proto.messages import DescribeUserScramCredentialsRequest
from kafka_admin_proto.messages.describe_user_scram_credentials_response import (
    CredentialInfo,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE
from kafka_admin_proto.server.security.scram import MECHANISMS

_TWICE = "Cannot describe SCRAM credentials for the same user twice in a single request: "
_ABSENT = "Attempt to describe a user credential that does not exist: "


@handler(of_broker=True, needs=Gate(DESCRIBE, "none"), kept=False)
def handle(state: View, request: DescribeUserScramCredentialsRequest, caller: Caller) -> Answer:
    """Describe the named users, or all users if none is named."""
    users = state.cluster.scram_users
    if request.users:
        names = Counter(each.name for each in request.users)
    else:
        names = Counter({name: 1 for name, _ in users})
    rows = []
    for name in names:
        infos = [
            CredentialInfo(mechanism, users[name, mechanism].iterations)
            for mechanism in MECHANISMS
            if (name, mechanism) in users
        ]
        if names[name] > 1:
            row = DescribeUserScramCredentialsResult(name, codes.DUPLICATE_RESOURCE, _TWICE + name)
        elif not infos:
            row = DescribeUserScramCredentialsResult(name, codes.RESOURCE_NOT_FOUND, _ABSENT + name)
        else:
            row = DescribeUserScramCredentialsResult(name, 0, "", infos)
        rows.append(row)
    return Answer(DescribeUserScramCredentialsResponse(results=rows))
