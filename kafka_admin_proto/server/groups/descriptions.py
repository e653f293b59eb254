"""What the descriptions of consumer groups and of share groups have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Caller
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.repeats import Repeats, rows_in
from kafka_admin_proto.server.security.authorizer.access import (
    allowed_topics,
    check_group,
    group_operations,
)
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE

_HIDDEN = "The group has described topic(s) that the client is not authorized to describe."


class _Request(Protocol):
    group_ids: list[str]
    include_authorized_operations: bool


class _Row(Protocol):
    members: Any
    authorized_operations: int


RowT = TypeVar("RowT", bound=_Row)


def described_groups(
    state: View,
    caller: Caller,
    request: _Request,
    *,
    check: Callable[[], None],
    describe: Callable[[Shard, str], RowT],
    topics: Callable[[RowT], set[str]],
    failed: Callable[[int, str | None, str], RowT],
) -> list[RowT]:
    """A row for each group that the caller may describe with all its topics, or one that failed.

    ``check`` and ``describe`` raise ApiFailure; ``topics`` are the names in a row.
    """
    rows: list[RowT] = []
    repeats = Repeats("members, partitions and topics of groups")
    for name in request.group_ids:
        try:
            check()
            check_group(state, caller, DESCRIBE, name)
            repeats.describe(name)
            if not name:
                raise ApiFailure(codes.INVALID_GROUP_ID)
            shard = state.controller_state.coordinators.shard(state, caller, name)
            row = describe(shard, name)
        except ApiFailure as failure:
            rows.append(failed(failure.code, failure.message, name))
            continue
        repeats.described(name, rows_in(row))
        named = topics(row)
        if len(allowed_topics(state, caller, DESCRIBE, named)) < len(named):
            row = failed(codes.TOPIC_AUTHORIZATION_FAILED, _HIDDEN, name)
        elif request.include_authorized_operations:
            row.authorized_operations = group_operations(state, caller, name)
        rows.append(row)
    return rows
